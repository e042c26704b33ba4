//! Buffers only.

use super::policy::{PackedTensor, StoragePolicy};
use crate::layout::LayoutRule;

/// Buffers only: for targets without a policy of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffers;

impl StoragePolicy for Buffers {
    fn name(&self) -> &str {
        "buffers"
    }

    fn rule(&self, tensor: &PackedTensor<'_>) -> LayoutRule {
        tensor.buffer()
    }
}
