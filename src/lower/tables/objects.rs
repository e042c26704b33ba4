//! What is created before a frame runs: memory objects, images, buffers and views, and what accesses name.

use ash::vk;
use serde::{Deserialize, Serialize};

use crate::frame::ResourceId;
pub use crate::frame::SubresourceRange;
use crate::lower::ids::Object;
use crate::names;
use crate::plan::MemoryKind;
use crate::units::{Bytes, Run};

/// A memory object: `vkAllocateMemory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryRow {
    /// Tile, lazily allocated, shared or dedicated.
    pub kind: MemoryKind,
    /// `memoryTypeIndex`.
    pub memory_type: u32,
    /// `allocationSize`.
    pub size: Bytes,
}

/// Where a resource's bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binding {
    /// Bytes `[offset, offset + size)` of a memory object.
    Memory {
        /// Row of [`Lowered::memory`](super::Lowered::memory).
        memory: u32,
        /// `memoryOffset`.
        offset: Bytes,
        /// What the driver asks for.
        size: Bytes,
    },
    /// The caller creates it and hands it in for every frame; the row says what is expected of it.
    Imported,
}

/// How queue families share a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sharing {
    /// `pQueueFamilyIndices`: a run of [`Lowered::families`](super::Lowered::families). Empty for `VK_SHARING_MODE_EXCLUSIVE`, two or more for
    /// `VK_SHARING_MODE_CONCURRENT`.
    pub families: Run,
    /// Why so.
    pub reason: SharingReason,
}

/// Why a resource is exclusive or shared.
///
/// Drivers may store shared images without compression, so a resource is exclusive where transfers can order its uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SharingReason {
    /// Exclusive: one queue family uses it.
    #[default]
    OneFamily,
    /// Exclusive: several queue families use it one after the other, with transfers between them.
    Transfers,
    /// Shared: several queue families read it at the same time.
    ConcurrentReads,
    /// Shared: several queue families use a history, and which one is next depends on the next frame.
    History,
}

impl SharingReason {
    /// Whether such a resource is shared (`VK_SHARING_MODE_CONCURRENT`).
    pub const fn is_shared(self) -> bool {
        matches!(self, SharingReason::ConcurrentReads | SharingReason::History)
    }
}

/// An image: `vkCreateImage` and `vkBindImageMemory2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageRow {
    /// The resource that it holds.
    pub resource: ResourceId,
    /// `VkImageCreateFlags`.
    #[serde(with = "names::bits")]
    pub flags: vk::ImageCreateFlags,
    /// 1D, 2D or 3D.
    #[serde(with = "names::value")]
    pub image_type: vk::ImageType,
    /// Format of the image.
    #[serde(with = "names::value")]
    pub format: vk::Format,
    /// Size of level 0 in texels.
    #[serde(with = "extent")]
    pub extent: vk::Extent3D,
    /// Levels.
    pub mip_levels: u32,
    /// Layers.
    pub array_layers: u32,
    /// Samples per texel.
    #[serde(with = "names::bits")]
    pub samples: vk::SampleCountFlags,
    /// Tiling.
    #[serde(with = "names::value")]
    pub tiling: vk::ImageTiling,
    /// Usage, `VK_IMAGE_USAGE_TILE_MEMORY_BIT_QCOM` included.
    #[serde(with = "names::bits")]
    pub usage: vk::ImageUsageFlags,
    /// The number of what the caller's hooks chain to its creation; 0 for nothing.
    #[serde(default, skip_serializing_if = "tileheap_json::is_default")]
    pub hook: u32,
    /// `VkImageFormatListCreateInfo`: a run of [`Lowered::formats`](super::Lowered::formats), empty for none.
    pub view_formats: Run,
    /// Exclusive, or the families that share it.
    pub sharing: Sharing,
    /// Its bytes.
    pub binding: Binding,
}

/// A buffer: `vkCreateBuffer` and `vkBindBufferMemory2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferRow {
    /// The resource that it holds.
    pub resource: ResourceId,
    /// Size in bytes.
    pub size: Bytes,
    /// Usage, `VK_BUFFER_USAGE_TILE_MEMORY_BIT_QCOM` included.
    #[serde(with = "names::bits")]
    pub usage: vk::BufferUsageFlags,
    /// Exclusive, or the families that share it.
    pub sharing: Sharing,
    /// Its bytes.
    pub binding: Binding,
}

/// An image view: `vkCreateImageView`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewRow {
    /// Row of [`Lowered::images`](super::Lowered::images).
    pub image: u32,
    /// Type.
    #[serde(with = "names::value")]
    pub view_type: vk::ImageViewType,
    /// Format.
    #[serde(with = "names::value")]
    pub format: vk::Format,
    /// What it shows.
    pub range: SubresourceRange,
}

/// What an access of the frame uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessRow {
    /// The image or buffer.
    pub object: Object,
    /// The view for descriptors, a row of [`Lowered::views`](super::Lowered::views); `None` for buffers, copies and attachments alone.
    pub view: Option<u32>,
    /// The layout during the pass; `UNDEFINED` for buffers.
    #[serde(with = "names::value")]
    pub layout: vk::ImageLayout,
}

/// `[width, height, depth]`.
mod extent {
    use super::{Deserialize, Serialize, vk};

    pub(super) fn serialize<S: serde::Serializer>(extent: &vk::Extent3D, to: S) -> Result<S::Ok, S::Error> {
        [extent.width, extent.height, extent.depth].serialize(to)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<vk::Extent3D, D::Error> {
        let [width, height, depth] = Deserialize::deserialize(from)?;
        Ok(vk::Extent3D { width, height, depth })
    }
}
