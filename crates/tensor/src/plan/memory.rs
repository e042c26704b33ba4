//! Memories that tensors are planned into.

use serde::{Deserialize, Serialize};

use super::item::SpaceItem;
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

    /// Whether an item may be in this memory: its pin, if any, names it, and they share a memory type.
    pub fn can_hold(&self, item: &SpaceItem) -> bool {
        let named = item.memory.as_ref().is_none_or(|name| *name == self.name);
        named && item.memory_type_bits & self.memory_type_bits != 0
    }
}
