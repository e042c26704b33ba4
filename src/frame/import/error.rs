//! Errors in a loose description.

/// Part of a loose description that is meaningless or contradictory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {problem}")]
pub struct ImportError {
    /// The resource or pass.
    pub what: String,
    /// Description of the problem.
    pub problem: String,
}

impl ImportError {
    pub(super) fn of_resource(name: &str, problem: impl Into<String>) -> ImportError {
        ImportError {
            what: format!("resource `{name}`"),
            problem: problem.into(),
        }
    }

    pub(super) fn of_pass(name: &str, problem: impl Into<String>) -> ImportError {
        ImportError {
            what: format!("pass `{name}`"),
            problem: problem.into(),
        }
    }
}
