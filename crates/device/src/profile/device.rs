//! A device in numbers.

use ash::vk;
use bitflags::bitflags;
use serde::{Deserialize, Serialize};

use super::limits::{Limits, OptionalFeatures};
pub use crate::ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM as TILE_HEAP_FLAG;
use crate::names;
use crate::units::{Alignment, Bytes};

/// A device in numbers. Presets come from [`DeviceProfile::preset`], a driver's from the runtime.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceProfile {
    /// The preset's name, or the device's.
    pub name: String,
    /// Where the numbers come from: a driver, a public reading, or an estimate and what it was scaled from.
    pub source: String,
    /// Memory heaps, as the driver numbers them.
    pub heaps: Vec<MemoryHeap>,
    /// Memory types, as the driver numbers them; at most 32.
    pub memory_types: Vec<MemoryType>,
    /// The tile heap, if the whole chain from extension to function pointer is there.
    pub tile: Option<TileHeap>,
    /// On-chip memory that the tile heap and the driver's binning share; 0 if unknown.
    pub gmem: Bytes,
    /// What the driver runs as one render pass; `None` where no limit is known.
    pub merge: Option<MergeLimits>,
    /// What running passes otherwise costs; `None` where nobody measured it.
    pub costs: Option<MeasuredCosts>,
    /// Limits that a frame and its placement have to respect.
    pub limits: Limits,
    /// Features that change what is planned.
    pub features: Features,
    /// Features that a frame may need; `None` if they are not known, and nothing is checked against them.
    pub optional_features: Option<OptionalFeatures>,
}

/// A memory heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryHeap {
    /// Size in bytes.
    pub size: Bytes,
    /// Flags, `TILE_MEMORY_QCOM` (bit 3) included.
    #[serde(with = "names::bits")]
    pub flags: vk::MemoryHeapFlags,
}

/// A memory type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryType {
    /// Properties.
    #[serde(rename = "propertyFlags", with = "names::bits")]
    pub flags: vk::MemoryPropertyFlags,
    /// Index of its heap.
    #[serde(rename = "heapIndex")]
    pub heap: u32,
}

/// The tile heap of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TileHeap {
    /// Index of the heap.
    #[serde(rename = "heapIndex")]
    pub heap: u32,
    /// Index of the memory type on it that allocations use.
    #[serde(rename = "memoryTypeIndex")]
    pub memory_type: u32,
    /// Size of the heap; no tile memory object can be larger (VUID-vkAllocateMemory-pAllocateInfo-01713).
    /// A document states it with the heap.
    #[serde(skip)]
    pub size: Bytes,
    /// Contents survive until the end of the submit, not only of the batch (`queueSubmitBoundary`).
    pub queue_submit_boundary: bool,
    /// Buffers in tile memory can be copied from and to (`tileBufferTransfers`).
    #[serde(rename = "tileBufferTransfers")]
    pub buffer_transfers: bool,
    /// How the sizes of images and buffers are estimated without a driver.
    pub block: TileBlock,
}

/// The layout model behind estimated tile requirements: images are made of blocks of `bytes` bytes and `rows` texel
/// rows; everything is aligned to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TileBlock {
    /// Bytes of a block, and the alignment; not a power of two on real hardware (12,288).
    pub bytes: Alignment,
    /// Texel rows of a block.
    pub rows: u32,
}

/// What passes must keep to together so that a tiler's driver merges them, their attachments staying on chip in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MergeLimits {
    /// Bits of a pixel, all samples, in all color and input attachments but depth and stencil.
    pub color_bits: u32,
    /// Color and input attachments but depth and stencil.
    pub attachments: u32,
}

/// What was measured on a device that running passes otherwise costs, in bytes of memory traffic; `examples/calibrate` measures it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MeasuredCosts {
    /// One more bin of a render pass; `None` where the driver does not say how many there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bin: Option<Bytes>,
    /// One more execution of a pass, in place of what passes declare.
    pub repeat: Bytes,
    /// A byte of a halo that moves off chip once more.
    pub halo: f64,
    /// A render pass that runs as part of another one.
    pub merged: Bytes,
}

bitflags! {
    /// Device features that change what is planned or how it is recorded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Features: u32 {
        /// `vkCmdPipelineBarrier2` and `vkQueueSubmit2`.
        const SYNCHRONIZATION_2 = 1 << 0;
        /// `vkCmdBeginRendering`.
        const DYNAMIC_RENDERING = 1 << 1;
        /// Timeline semaphores.
        const TIMELINE_SEMAPHORE = 1 << 2;
        /// Requirements without creating the resource.
        const MAINTENANCE_4 = 1 << 3;
        /// `VK_ATTACHMENT_STORE_OP_NONE`: a read-only attachment is not written.
        const STORE_OP_NONE = 1 << 4;
        /// Input attachments in dynamic rendering: of colour and one sample, as Vulkan 1.4 demands.
        const LOCAL_READ = 1 << 5;
        /// Depth and stencil of one image in layouts of their own.
        const SEPARATE_DEPTH_STENCIL_LAYOUTS = 1 << 6;
        /// Several views of a render pass at once.
        const MULTIVIEW = 1 << 7;
        /// Slices of 3D images in layouts of their own.
        const MAINTENANCE_9 = 1 << 8;
        /// Depth and stencil are resolved in render pass objects, too (`VkSubpassDescriptionDepthStencilResolve`).
        const DEPTH_STENCIL_RESOLVE = 1 << 9;
    }
}

/// The requirements of a resource in tile memory (`VkTileMemoryRequirementsQCOM`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TileRequirements {
    /// Size in tile memory.
    pub size: Bytes,
    /// Alignment in tile memory: any positive number.
    pub alignment: Alignment,
}

impl DeviceProfile {
    /// Bits of the memory types on tile heaps. Ordinary allocations must never use them.
    pub fn tile_type_bits(&self) -> u32 {
        self.type_bits(|kind| self.heaps[kind.heap as usize].flags.contains(TILE_HEAP_FLAG))
    }

    /// Bits of the lazily allocated memory types; tile memory is none of them, though its types may have that flag.
    pub fn lazy_type_bits(&self) -> u32 {
        self.type_bits(|kind| kind.flags.contains(vk::MemoryPropertyFlags::LAZILY_ALLOCATED))
            & !self.tile_type_bits()
    }

    /// The memory types for which `wanted` holds, as bits.
    pub fn type_bits(&self, wanted: impl Fn(&MemoryType) -> bool) -> u32 {
        let types = self.memory_types.iter().enumerate();
        types
            .filter(|(_, kind)| wanted(kind))
            .fold(0, |bits, (index, _)| bits | 1 << index)
    }
}
