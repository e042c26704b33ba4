//! Device profiles: the properties of a device as numbers.

use ash::vk;
use bitflags::bitflags;
use serde::{Deserialize, Serialize};

use super::limits::{Limits, OptionalFeatures};
pub use crate::ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM as TILE_HEAP_FLAG;
use crate::names;
use crate::units::{Alignment, Bytes};

/// The properties of a device as numbers. [`DeviceProfile::preset`] returns presets; the runtime queries the driver for the properties of a real
/// device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceProfile {
    /// The name of the preset or of the device.
    pub name: String,
    /// Source of the numbers: a driver, a published report of a device, or an estimate and its basis.
    pub source: String,
    /// Memory heaps, in the driver's order.
    pub heaps: Vec<MemoryHeap>,
    /// Memory types, in the driver's order; at most 32.
    pub memory_types: Vec<MemoryType>,
    /// The tile heap; `None` if the device has none, or if the driver lacks anything that tile memory needs, such as a function of the extension.
    pub tile: Option<TileHeap>,
    /// On-chip memory that the tile heap and the driver's binning share; 0 if unknown.
    pub gmem: Bytes,
    /// Limits within which the driver merges passes into one render pass; `None` if not known.
    pub merge: Option<MergeLimits>,
    /// Measured costs of alternative ways to run passes; `None` if not measured.
    pub costs: Option<MeasuredCosts>,
    /// Limits on frames and on the placement of their resources.
    pub limits: Limits,
    /// Features that change the plan.
    pub features: Features,
    /// Features that a frame may need; `None` if not known, and nothing is checked against them.
    pub optional_features: Option<OptionalFeatures>,
}

/// A memory heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryHeap {
    /// Size in bytes.
    pub size: Bytes,
    /// Flags, including `TILE_MEMORY_QCOM` (bit 3).
    #[serde(with = "names::bits")]
    pub flags: vk::MemoryHeapFlags,
}

/// A memory type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryType {
    /// Property flags.
    #[serde(rename = "propertyFlags", with = "names::bits")]
    pub flags: vk::MemoryPropertyFlags,
    /// Index of the heap that the memory type uses.
    #[serde(rename = "heapIndex")]
    pub heap: u32,
}

/// The tile heap of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TileHeap {
    /// Index of the tile heap among the memory heaps.
    #[serde(rename = "heapIndex")]
    pub heap: u32,
    /// Index of the memory type on the tile heap that allocations use.
    #[serde(rename = "memoryTypeIndex")]
    pub memory_type: u32,
    /// Size of the heap; the largest size of a tile memory object (VUID-vkAllocateMemory-pAllocateInfo-01713). JSON
    /// documents state it only as the size of the memory heap.
    #[serde(skip)]
    pub size: Bytes,
    /// True if contents persist until the end of the submit call, not only of the batch (`queueSubmitBoundary`).
    pub queue_submit_boundary: bool,
    /// True if buffers in tile memory can be the source or destination of a transfer (`tileBufferTransfers`).
    #[serde(rename = "tileBufferTransfers")]
    pub buffer_transfers: bool,
    /// The layout model that estimates sizes of images and buffers without a driver.
    pub block: TileBlock,
}

/// The layout model for estimated tile requirements: images consist of blocks of `bytes` bytes and `rows` texel
/// rows; everything is aligned to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TileBlock {
    /// Bytes of a block, and the alignment; not a power of two on real hardware (12,288).
    pub bytes: Alignment,
    /// The number of texel rows in a block.
    pub rows: u32,
}

/// Limits within which a tiler's driver merges passes, so that their attachments stay on chip in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MergeLimits {
    /// Maximum bits per pixel of all color and input attachments together, samples included; depth and stencil do not count.
    pub color_bits: u32,
    /// Maximum number of color and input attachments together; depth and stencil do not count.
    pub attachments: u32,
}

/// Measured costs of alternative ways to run passes, in bytes of memory traffic; `examples/calibrate` measures them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MeasuredCosts {
    /// The cost of one more bin of a render pass; `None` if the driver does not report the number of bins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bin: Option<Bytes>,
    /// The cost of one more execution of a pass; replaces the cost that a pass declares, unless that is 0.
    pub repeat: Bytes,
    /// The cost of one more off-chip transfer of a halo, per byte.
    pub halo: f64,
    /// The cost of merging a render pass into another one.
    pub merged: Bytes,
}

bitflags! {
    /// Device features that change the plan or its recording.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Features: u32 {
        /// `vkCmdPipelineBarrier2` and `vkQueueSubmit2`.
        const SYNCHRONIZATION_2 = 1 << 0;
        /// `vkCmdBeginRendering`.
        const DYNAMIC_RENDERING = 1 << 1;
        /// Timeline semaphores.
        const TIMELINE_SEMAPHORE = 1 << 2;
        /// Queries of memory requirements without creating the resource.
        const MAINTENANCE_4 = 1 << 3;
        /// `VK_ATTACHMENT_STORE_OP_NONE`: a read-only attachment is not written.
        const STORE_OP_NONE = 1 << 4;
        /// Input attachments in dynamic rendering: color attachments with one sample, as Vulkan 1.4 requires.
        const LOCAL_READ = 1 << 5;
        /// Separate layouts for depth and stencil of one image.
        const SEPARATE_DEPTH_STENCIL_LAYOUTS = 1 << 6;
        /// Several views in one render pass.
        const MULTIVIEW = 1 << 7;
        /// Separate layouts for the slices of 3D images.
        const MAINTENANCE_9 = 1 << 8;
        /// Depth and stencil resolve, also in render pass objects (`VkSubpassDescriptionDepthStencilResolve`).
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
    /// Mask of the memory types on tile heaps. Ordinary allocations must not use them.
    pub fn tile_type_bits(&self) -> u32 {
        self.type_bits(|kind| self.heaps[kind.heap as usize].flags.contains(TILE_HEAP_FLAG))
    }

    /// Mask of the lazily allocated memory types, without those of tile memory, which may have that flag too.
    pub fn lazy_type_bits(&self) -> u32 {
        self.type_bits(|kind| kind.flags.contains(vk::MemoryPropertyFlags::LAZILY_ALLOCATED))
            & !self.tile_type_bits()
    }

    /// Mask of the memory types for which `wanted` returns true.
    pub fn type_bits(&self, wanted: impl Fn(&MemoryType) -> bool) -> u32 {
        let types = self.memory_types.iter().enumerate();
        types
            .filter(|(_, kind)| wanted(kind))
            .fold(0, |bits, (index, _)| bits | 1 << index)
    }
}
