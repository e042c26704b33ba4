//! What a caller decides about a plan.

use serde::{Deserialize, Serialize};

use crate::units::{Alignment, Bytes};

/// A memory that tensors can be in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryDesc {
    /// Its name: `sram`, `dram`, `device`.
    pub name: String,
    /// The bytes that are there; without, as many as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// Every tensor in it is aligned to this besides its own alignment.
    pub alignment: Alignment,
    /// The memory types that it is made of; a tensor with none of them cannot be in it.
    pub memory_type_bits: u32,
}

impl MemoryDesc {
    /// A memory without limits.
    pub fn new(name: impl Into<String>) -> MemoryDesc {
        MemoryDesc {
            name: name.into(),
            capacity: None,
            alignment: Alignment::ONE,
            memory_type_bits: u32::MAX,
        }
    }
}

/// What is done about values that loops carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CarryRule {
    /// In their place, by unrolling up to the limit; copied and counted past it.
    #[default]
    Avoid,
    /// In their place, or an error.
    Forbid,
    /// Always copied: the baseline.
    Copy,
}
