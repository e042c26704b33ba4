//! Reusable memory of a description that was reset.

use super::tables::SemaphoreOp;

/// Allocations of a description from before its reset, for reuse.
#[derive(Debug, Default)]
pub(super) struct SpareAllocations {
    pub(super) names: Vec<String>,
    pub(super) operations: Vec<Vec<SemaphoreOp>>,
}

impl Clone for SpareAllocations {
    /// Returns an empty value: only the original description reuses its memory.
    fn clone(&self) -> SpareAllocations {
        SpareAllocations::default()
    }
}
