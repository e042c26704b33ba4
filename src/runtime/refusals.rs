//! Constructors of frequent errors of the runtime, converted to the crate's error type.

use super::error::{RuntimeError, RuntimeRule};

impl RuntimeError {
    pub(super) fn missing(missing_from: impl Into<String>, what: impl Into<String>) -> crate::Error {
        let (missing_from, what) = (missing_from.into(), what.into());
        RuntimeError::MissingFeature { missing_from, what }.into()
    }

    pub(super) fn unsupported(resource: impl Into<String>, why: impl Into<String>) -> crate::Error {
        let (resource, why) = (resource.into(), why.into());
        RuntimeError::Unsupported { resource, why }.into()
    }

    pub(super) fn unsupported_pass(pass: impl Into<String>, why: &'static str) -> crate::Error {
        let pass = pass.into();
        RuntimeError::UnsupportedPass { pass, why }.into()
    }
}

impl RuntimeRule {
    /// The error for breaking this rule, with `message`.
    pub(super) fn broken(self, message: String) -> crate::Error {
        RuntimeError::Misuse { rule: self, message }.into()
    }
}
