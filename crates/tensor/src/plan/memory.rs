//! Memories that tensors are planned into.

use serde::{Deserialize, Serialize};

use super::item::SpaceItem;
use crate::units::{Alignment, Bytes};

/// A memory in which tensors can be placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryDesc {
    /// The memory's name, such as `sram`, `dram` or `device`.
    pub name: String,
    /// The memory's size, if limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// The alignment of every tensor in the memory, in addition to the tensor's own.
    pub alignment: Alignment,
    /// The memory's Vulkan memory types; a tensor that supports none of them cannot be placed in it.
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

    /// A small memory, such as an accelerator's on-chip memory: it keeps the tensors with the most traffic that fit, if a memory
    /// without a limit comes after it.
    ///
    /// ```
    /// # use tileheap_tensor::{ElementType, GraphBuilder, MemoryDesc, StorageOptions, TensorPlanOptions, TensorRequirements, choose, plan};
    /// # use tileheap_tensor::units::{Alignment, Bytes};
    /// # let mut graph = GraphBuilder::new("two");
    /// # let x = graph.input("x", ElementType::Float32, [64]);
    /// # let y = graph.operator("y", "exp", [], &[x])?[0];
    /// # let z = graph.operator("z", "add", [], &[x, y])?[0];
    /// # graph.output(z);
    /// # let choice = choose(&graph.build()?, &StorageOptions::default())?;
    /// # let pitch = Alignment::new(64).expect("not 0");
    /// # let needs: Vec<_> = choice.layouts.iter().map(|of| TensorRequirements::of_layout(of, pitch)).collect();
    /// let memories = vec![MemoryDesc::limited("on chip", Bytes(256)), MemoryDesc::new("dram")];
    /// let options = TensorPlanOptions { memories, ..TensorPlanOptions::default() };
    /// let plan = plan(&choice.graph, &choice.layouts, &needs, &options)?;
    /// let (chip, dram) = (&plan.memories[0], &plan.memories[1]);
    /// println!("{} of {} stay on chip", chip.traffic, chip.traffic + dram.traffic);
    /// assert_eq!(chip.traffic, chip.traffic_bound); // nothing else that fits has more
    /// # Ok::<(), tileheap_tensor::Error>(())
    /// ```
    pub fn limited(name: impl Into<String>, capacity: Bytes) -> MemoryDesc {
        MemoryDesc {
            capacity: Some(capacity),
            ..MemoryDesc::new(name)
        }
    }

    /// Returns true if an item may be placed in this memory: it is not pinned to another one, and the two have a memory type in common.
    pub fn can_hold(&self, item: &SpaceItem) -> bool {
        let named = item.memory.as_ref().is_none_or(|name| *name == self.name);
        named && item.memory_type_bits & self.memory_type_bits != 0
    }
}
