//! Memory of a description that was reset.

use super::tables::SemaphoreOp;

/// What a description had before it was reset, to be used again.
#[derive(Debug, Default)]
pub(super) struct Spare {
    pub(super) names: Vec<String>,
    pub(super) operations: Vec<Vec<SemaphoreOp>>,
}

impl Clone for Spare {
    /// Nothing: only the description itself uses it again.
    fn clone(&self) -> Spare {
        Spare::default()
    }
}
