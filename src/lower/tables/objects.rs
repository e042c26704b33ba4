//! Objects created before a frame runs: memory objects, images, buffers and views, and the objects used by accesses.

use ash::vk;
use serde::{Deserialize, Serialize};

pub use crate::frame::SubresourceRange;
use crate::frame::tables::{Access, HistoryVersion};
use crate::frame::{AccessKind, PassId, ResourceId};
use crate::lower::ids::{ImageOrBuffer, ObjectRef, OptionalIndex};
use crate::names;
use crate::plan::MemoryKind;
use crate::units::{Alignment, Bytes, Run};

/// A memory object: `VkMemoryAllocateInfo` and its chained structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct MemoryRow {
    /// Kind of memory: tile, lazily allocated, shared or dedicated.
    pub kind: MemoryKind,
    /// `memoryTypeIndex`.
    pub memory_type: u32,
    /// `allocationSize`.
    pub size: Bytes,
    /// Alignment of offset and size, including the device's `bufferImageGranularity`, if part of a larger allocation replaces the memory object. Dedicated
    /// allocations have exactly `size`.
    pub alignment: Alignment,
    /// `VkMemoryAllocateFlagsInfo::flags`; nothing is chained if empty.
    #[serde(with = "names::bits")]
    pub flags: vk::MemoryAllocateFlags,
    /// `VkMemoryDedicatedAllocateInfo::image`, a row of [`Lowered::images`](super::Lowered::images).
    pub dedicated_image: OptionalIndex,
    /// `VkMemoryDedicatedAllocateInfo::buffer`, a row of [`Lowered::buffers`](super::Lowered::buffers).
    pub dedicated_buffer: OptionalIndex,
}

impl MemoryRow {
    /// A memory object without bound resources.
    pub const fn new(kind: MemoryKind, memory_type: u32, size: Bytes) -> MemoryRow {
        MemoryRow {
            kind,
            memory_type,
            size,
            alignment: Alignment::ONE,
            flags: vk::MemoryAllocateFlags::empty(),
            dedicated_image: OptionalIndex::NONE,
            dedicated_buffer: OptionalIndex::NONE,
        }
    }
}

/// The memory that a resource is bound to: `[offset, offset + size)` of a memory object, or memory of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct MemoryBinding {
    /// Row of [`Lowered::memory`](super::Lowered::memory); none (`u32::MAX`) if the caller creates the image or buffer and supplies it for every frame: the
    /// row of the image or buffer then describes the required properties.
    pub memory: OptionalIndex,
    /// `memoryOffset`.
    pub offset: Bytes,
    /// The size that the driver requires.
    pub size: Bytes,
}

impl MemoryBinding {
    /// The binding of a resource that the caller creates.
    pub const IMPORTED: MemoryBinding = MemoryBinding {
        memory: OptionalIndex::NONE,
        offset: Bytes::ZERO,
        size: Bytes::ZERO,
    };

    /// Returns true if the caller creates the resource.
    pub const fn is_imported(&self) -> bool {
        self.memory.is_none()
    }
}

/// Sharing of a resource between queue families.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct Sharing {
    /// `pQueueFamilyIndices`: a run of [`Lowered::families`](super::Lowered::families). Empty for `VK_SHARING_MODE_EXCLUSIVE`, two or more for
    /// `VK_SHARING_MODE_CONCURRENT`.
    pub families: Run,
    /// The reason for the sharing mode.
    pub reason: SharingReason,
}

/// Reason for a resource's sharing mode.
///
/// Drivers may store shared images without compression, so a resource is exclusive if transfers can order its uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum SharingReason {
    /// Exclusive: one queue family uses the resource.
    #[default]
    OneFamily,
    /// Exclusive: several queue families use the resource one after another, with ownership transfers between them.
    Transfers,
    /// Shared: several queue families read the resource at the same time.
    ConcurrentReads,
    /// Shared: several queue families use a history, and the next frame determines which of them uses it next.
    History,
}

impl SharingReason {
    /// Returns true if a resource with this reason is shared (`VK_SHARING_MODE_CONCURRENT`).
    pub const fn is_shared(self) -> bool {
        matches!(self, SharingReason::ConcurrentReads | SharingReason::History)
    }
}

/// An image: `vkCreateImage` and `vkBindImageMemory2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct ImageRow {
    /// The resource that the image holds.
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
    /// Number of mip levels.
    pub mip_levels: u32,
    /// Number of array layers.
    pub array_layers: u32,
    /// Samples per texel.
    #[serde(with = "names::bits")]
    pub samples: vk::SampleCountFlags,
    /// Image tiling.
    #[serde(with = "names::value")]
    pub tiling: vk::ImageTiling,
    /// Usage, `VK_IMAGE_USAGE_TILE_MEMORY_BIT_QCOM` included.
    #[serde(with = "names::bits")]
    pub usage: vk::ImageUsageFlags,
    /// The description's `hook`: a number that the caller chooses for structures that it chains, or 0.
    #[serde(default, skip_serializing_if = "tileheap_json::is_default")]
    pub hook: u32,
    /// `VkImageFormatListCreateInfo`: a run of [`Lowered::formats`](super::Lowered::formats), empty for none.
    pub view_formats: Run,
    /// Sharing mode: exclusive, or concurrent with the families that share the image.
    pub sharing: Sharing,
    /// The memory that the image is bound to.
    pub binding: MemoryBinding,
}

/// A buffer: `vkCreateBuffer` and `vkBindBufferMemory2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct BufferRow {
    /// The resource that the buffer holds.
    pub resource: ResourceId,
    /// The description's `hook`: a number that the caller chooses for structures that it chains, or 0.
    #[serde(default, skip_serializing_if = "tileheap_json::is_default")]
    pub hook: u32,
    /// Size in bytes.
    pub size: Bytes,
    /// Usage, `VK_BUFFER_USAGE_TILE_MEMORY_BIT_QCOM` included.
    #[serde(with = "names::bits")]
    pub usage: vk::BufferUsageFlags,
    /// Sharing mode: exclusive, or concurrent with the families that share the buffer.
    pub sharing: Sharing,
    /// The memory that the buffer is bound to.
    pub binding: MemoryBinding,
}

/// An image view: `vkCreateImageView`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct ViewRow {
    /// Row of [`Lowered::images`](super::Lowered::images).
    pub image: u32,
    /// View type.
    #[serde(with = "names::value")]
    pub view_type: vk::ImageViewType,
    /// View format.
    #[serde(with = "names::value")]
    pub format: vk::Format,
    /// `VkImageViewUsageCreateInfo::usage`, for views whose format may not support all of the image's usage; nothing is chained if it is 0.
    #[serde(with = "names::bits")]
    pub usage: vk::ImageUsageFlags,
    /// `subresourceRange`.
    pub range: SubresourceRange,
}

/// The image or buffer that an access of the frame uses, its view and its layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct AccessRow {
    /// The pass of the frame that makes the access.
    pub pass: PassId,
    /// Index of the subpass that makes the access; 0 if the pass has only one, or is not a render pass.
    pub subpass: u32,
    /// The accessed resource of the frame.
    pub resource: ResourceId,
    /// The current or the previous version of a history.
    pub version: HistoryVersion,
    /// Kind of use.
    pub kind: AccessKind,
    /// The image or buffer that holds the accessed version.
    pub object: ObjectRef,
    /// The accessed levels, layers and aspects of an image; for 3D images, the layers are depth slices.
    pub range: SubresourceRange,
    /// The view for descriptors, a row of [`Lowered::views`](super::Lowered::views); none for buffers, copies and attachments.
    pub view: OptionalIndex,
    /// The layout during the pass, of aspects other than stencil; `VK_IMAGE_LAYOUT_UNDEFINED` for buffers.
    #[serde(with = "names::value")]
    pub layout: vk::ImageLayout,
    /// The layout of the stencil aspect during the pass.
    #[serde(with = "names::value")]
    pub stencil_layout: vk::ImageLayout,
}

impl AccessRow {
    /// Returns the row of an access to `object`, without a view, and with `layout` for all aspects.
    #[inline]
    pub fn new(access: &Access, object: ImageOrBuffer, layout: vk::ImageLayout) -> AccessRow {
        AccessRow {
            pass: access.pass,
            subpass: access.subpass,
            resource: access.resource,
            version: access.version,
            kind: access.kind,
            object: object.into(),
            range: access.range,
            view: OptionalIndex::NONE,
            layout,
            stencil_layout: layout,
        }
    }
}

/// The `serde` form of an extent: `[width, height, depth]`.
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
