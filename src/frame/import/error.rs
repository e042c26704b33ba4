//! What a loose description gets wrong.

/// Something in a loose description that means nothing, or contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {problem}")]
pub struct ImportError {
    /// The resource or pass.
    pub what: String,
    /// What is wrong with it.
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
