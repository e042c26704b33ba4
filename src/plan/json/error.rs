//! Why a text is no plan for a frame.

/// Why a text is no plan for a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("plan JSON: {what}")]
pub struct PlanJsonError {
    /// The place, what stands there, and what was expected.
    pub what: String,
}
