//! A rule of valid usage, and the error for a violation.

/// Replaces the VUID for usage that Vulkan allows but tileheap does not support.
pub const NOT_SUPPORTED: &str = "not supported by tileheap";

/// A violation of Vulkan's valid usage that prevents a frame from being created or recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{subject}: {problem} ({rule})")]
pub struct InvalidUsage {
    /// The identifier of the valid usage statement (`VUID-…`), or the section of the specification if it has none; [`NOT_SUPPORTED`] if Vulkan allows
    /// it.
    pub rule: &'static str,
    /// The kind and name of the resource, pass or semaphore.
    pub subject: String,
    /// The requirement, and the value that violates it.
    pub problem: String,
    /// The rule's row in the tables: several rows can share one VUID.
    pub row: RuleRow,
}

/// A row of the tables of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleRow {
    /// The name of the rule's table.
    pub table: &'static str,
    /// The rule's index in that table.
    pub index: usize,
}

/// A rule: a row of a table. `broken` returns the requirement and how a subject violates it; `None` if the subject satisfies it.
pub(super) struct Rule<F> {
    pub(super) rule: &'static str,
    pub(super) broken: F,
}

/// A table of rules, in the order in which they are checked.
pub(super) type Rules<F> = [Rule<F>];

/// A table of rules with its name.
pub(super) type Table<'t, F> = (&'static str, &'t Rules<F>);

/// Makes a [`Table`] that is named by the path to its rules.
macro_rules! table {
    ($table:path) => {
        (stringify!($table), $table)
    };
}
pub(super) use table;

/// The rows of a table, each with its rule.
pub(super) fn rows_of<F>((table, rules): Table<'_, F>) -> Vec<(RuleRow, &'static str)> {
    let rows = rules.iter().enumerate();
    rows.map(|(index, row)| (RuleRow { table, index }, row.rule))
        .collect()
}

/// A description of how a subject breaks a rule; `None` if it does not.
pub(super) type Problem = Option<String>;

/// Something that rules apply to.
pub(super) trait Subject {
    /// The subject's kind and name, for messages.
    fn words(&self) -> String;
}

impl InvalidUsage {
    pub(super) fn new(
        (row, rule): (RuleRow, &'static str),
        subject: &impl Subject,
        problem: String,
    ) -> InvalidUsage {
        InvalidUsage {
            rule,
            subject: subject.words(),
            problem,
            row,
        }
    }
}

/// Checks a subject against a table; the error is about the first rule that it breaks.
pub(super) fn check<S: Subject>(
    (table, rules): Table<'_, fn(&S) -> Problem>,
    subject: &S,
) -> Result<(), InvalidUsage> {
    for (index, row) in rules.iter().enumerate() {
        if let Some(problem) = (row.broken)(subject) {
            return Err(InvalidUsage::new(
                (RuleRow { table, index }, row.rule),
                subject,
                problem,
            ));
        }
    }
    Ok(())
}
