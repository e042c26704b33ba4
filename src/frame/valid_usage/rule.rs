//! A rule, and the error that it is broken.

/// A rule of Vulkan that a description breaks: nothing can be created or recorded from it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{subject}: {problem} ({rule})")]
pub struct InvalidUsage {
    /// The identifier of the valid usage statement (`VUID-…`), or the section of the specification where there is none.
    pub rule: &'static str,
    /// The kind and name of the resource, pass or semaphore.
    pub subject: String,
    /// The demand, and how the description misses it.
    pub problem: String,
}

/// A row of a table of rules. `broken` gives the demand, and how a subject misses it; `None` where it does not.
pub(super) struct Rule<F> {
    pub(super) rule: &'static str,
    pub(super) broken: F,
}

/// A table of rules, in the order in which they are checked.
pub(super) type Rules<F> = [Rule<F>];

/// How a subject breaks a rule, in words; `None` where it does not.
pub(super) type Problem = Option<String>;

/// Something that rules are about.
pub(super) trait Subject {
    /// Its kind and name, as in `image "a"`.
    fn words(&self) -> String;
}

impl InvalidUsage {
    /// An error where there is a problem.
    pub(super) fn check(
        rule: &'static str,
        subject: &impl Subject,
        problem: Problem,
    ) -> Result<(), InvalidUsage> {
        match problem {
            None => Ok(()),
            Some(problem) => Err(InvalidUsage {
                rule,
                subject: subject.words(),
                problem,
            }),
        }
    }
}

/// The first of `rules` that a subject breaks.
pub(super) fn check<S: Subject>(rules: &Rules<fn(&S) -> Problem>, subject: &S) -> Result<(), InvalidUsage> {
    rules
        .iter()
        .try_for_each(|row| InvalidUsage::check(row.rule, subject, (row.broken)(subject)))
}
