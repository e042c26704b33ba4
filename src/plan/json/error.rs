//! Errors of reading a plan from JSON.

/// The reason why JSON text is not a plan of a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("plan JSON: {what}")]
pub struct PlanJsonError {
    /// The position in the document, the value found, and the expected value.
    pub what: String,
}
