//! The tables of a lowered frame: rows of Vulkan's parameters, with indices in place of handles.
//!
//! ```text
//! submits ─► batches ─► command_buffers ─► passes ─► renderings ─► attachments ─► views ─► images ─► memory
//!               │                             ├─► image_barriers, buffer_barriers, memory_barriers
//!               └─► waits, signals            └─► memory (the tile memory that is bound)
//! ```
//! An index is the position of a row in the table that the field names; a [`Run`] is a half-open range of them.

use ash::vk;
use serde::{Deserialize, Serialize};

pub use super::ids::{DeviceQueueIndex, Object};
use super::state::MemoryState;
use crate::frame::{BatchId, ClearValue, CommandBufferId, PassId, ResourceId, SubmitId};
use crate::names;
use crate::plan::MemoryKind;
use crate::units::{Bytes, Run};

/// A frame as it is executed: every parameter of every Vulkan call, in flat tables.
///
/// One parity of one frame; names are those of the frame that was lowered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lowered {
    /// Per declared queue of the frame, the device queue that runs it.
    pub queues: Vec<DeviceQueueIndex>,
    /// Memory objects, in the order of the plan's (`VkMemoryAllocateInfo`).
    pub memory: Vec<MemoryRow>,
    /// Images (`VkImageCreateInfo`, `VkBindImageMemoryInfo`), created or imported.
    pub images: Vec<ImageRow>,
    /// Buffers (`VkBufferCreateInfo`, `VkBindBufferMemoryInfo`), created or imported.
    pub buffers: Vec<BufferRow>,
    /// Image views (`VkImageViewCreateInfo`).
    pub views: Vec<ViewRow>,
    /// Queue families of concurrent sharing: runs of images and buffers.
    pub families: Vec<u32>,
    /// Formats: the view formats of images, the colour formats of targets.
    #[serde(with = "formats")]
    pub formats: Vec<vk::Format>,
    /// Per access of the frame, what a descriptor names.
    pub accesses: Vec<AccessRow>,
    /// The attachments of renderings.
    pub attachments: Vec<AttachmentRow>,
    /// Render passes: how each is begun, and what pipelines and secondary command buffers in it are made for.
    pub renderings: Vec<RenderingRow>,
    /// Everything that is recorded, in order.
    pub passes: Vec<PassRow>,
    /// `VkImageMemoryBarrier2`.
    pub image_barriers: Vec<ImageBarrierRow>,
    /// `VkBufferMemoryBarrier2`.
    pub buffer_barriers: Vec<BufferBarrierRow>,
    /// `VkMemoryBarrier2`.
    pub memory_barriers: Vec<MemoryBarrierRow>,
    /// Command buffers.
    pub command_buffers: Vec<CommandBufferRow>,
    /// Waits of batches (`VkSemaphoreSubmitInfo`).
    pub waits: Vec<SemaphoreRow>,
    /// Signals of batches (`VkSemaphoreSubmitInfo`).
    pub signals: Vec<SemaphoreRow>,
    /// Batches (`VkSubmitInfo2`).
    pub batches: Vec<BatchRow>,
    /// Submits (`vkQueueSubmit2`).
    pub submits: Vec<SubmitRow>,
    /// What the frame leaves in memory.
    pub after: MemoryState,
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binding {
    /// Bytes `[offset, offset + size)` of a memory object.
    Memory {
        /// Row of [`Lowered::memory`].
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sharing {
    /// `pQueueFamilyIndices`: a run of [`Lowered::families`]. Empty for `VK_SHARING_MODE_EXCLUSIVE`, two or more for
    /// `VK_SHARING_MODE_CONCURRENT`: passes of several families read it at the same time.
    pub families: Run,
}

/// An image: `vkCreateImage` and `vkBindImageMemory2`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// `VkImageFormatListCreateInfo`: a run of [`Lowered::formats`], empty for none.
    pub view_formats: Run,
    /// Exclusive, or the families that share it.
    pub sharing: Sharing,
    /// Its bytes.
    pub binding: Binding,
}

/// A buffer: `vkCreateBuffer` and `vkBindBufferMemory2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// A range of an image: `VkImageSubresourceRange`, counts resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubresourceRange {
    /// Aspects.
    #[serde(with = "names::bits")]
    pub aspects: vk::ImageAspectFlags,
    /// Levels `[first, end)`.
    pub levels: Run,
    /// Layers `[first, end)`; of 3D attachments, slices.
    pub layers: Run,
}

/// An image view: `vkCreateImageView`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewRow {
    /// Row of [`Lowered::images`].
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
    /// The view for descriptors, a row of [`Lowered::views`]; `None` for buffers, copies and attachments alone.
    pub view: Option<u32>,
    /// The layout during the pass; `UNDEFINED` for buffers.
    #[serde(with = "names::value")]
    pub layout: vk::ImageLayout,
}

/// Load and store operation of an attachment, or of its stencil aspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operations {
    /// At the beginning of the render pass.
    #[serde(with = "names::value")]
    pub load: vk::AttachmentLoadOp,
    /// At its end.
    #[serde(with = "names::value")]
    pub store: vk::AttachmentStoreOp,
}

/// An attachment: `VkRenderingAttachmentInfo`, or `VkAttachmentDescription2` with its reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttachmentRow {
    /// Row of [`Lowered::views`].
    pub view: u32,
    /// Format of the view.
    #[serde(with = "names::value")]
    pub format: vk::Format,
    /// Samples per texel.
    #[serde(with = "names::bits")]
    pub samples: vk::SampleCountFlags,
    /// The layout before, during and after the render pass.
    #[serde(with = "names::value")]
    pub layout: vk::ImageLayout,
    /// Of colour and depth.
    pub operations: Operations,
    /// Of stencil.
    pub stencil: Operations,
    /// The value that it is cleared to, where an operation clears.
    pub clear: ClearValue,
    /// Where its samples are resolved to.
    pub resolve: Option<ResolveRow>,
}

/// The resolve attachment of an attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolveRow {
    /// Row of [`Lowered::attachments`].
    pub attachment: u32,
    /// How samples become one.
    #[serde(with = "names::bits")]
    pub mode: vk::ResolveModeFlags,
}

/// A render pass instance, and what its pipelines and secondary command buffers are made for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenderingRow {
    /// `vkCmdBeginRendering`, or a render pass object.
    pub dynamic: bool,
    /// Its contents are in secondary command buffers.
    pub secondary: bool,
    /// Render area.
    #[serde(with = "area")]
    pub area: vk::Rect2D,
    /// Layers rendered to, without a view mask.
    pub layers: u32,
    /// `viewMask`; 0 without multiview.
    pub view_mask: u32,
    /// Colour attachments: a run of [`Lowered::attachments`].
    pub colors: Run,
    /// The depth and stencil attachment, a row of [`Lowered::attachments`].
    pub depth: Option<u32>,
    /// Aspects of that attachment.
    #[serde(with = "names::bits")]
    pub depth_aspects: vk::ImageAspectFlags,
    /// Resolve attachments: a run of [`Lowered::attachments`].
    pub resolves: Run,
    /// Input attachments: a run of [`Lowered::attachments`].
    pub inputs: Run,
    /// Colour formats, `UNDEFINED` where there is none: a run of [`Lowered::formats`].
    pub color_formats: Run,
    /// Format of the depth aspect, or `UNDEFINED`.
    #[serde(with = "names::value")]
    pub depth_format: vk::Format,
    /// Format of the stencil aspect, or `UNDEFINED`.
    #[serde(with = "names::value")]
    pub stencil_format: vk::Format,
    /// Samples of its attachments.
    #[serde(with = "names::bits")]
    pub samples: vk::SampleCountFlags,
    /// `VkTileMemorySizeInfoQCOM::size`, and the size of the tile memory that secondary command buffers inherit; 0 for none.
    pub tile_memory: Bytes,
    /// `VkRenderPassTileShadingCreateInfoQCOM` is chained, with the flag to enable it.
    pub tile_shading: bool,
}

/// What a row of [`Lowered::passes`] records.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassContents {
    /// The caller's commands for a pass of the frame.
    Described(PassId),
    /// A copy out of tile memory by a draw or a dispatch: a row of the plan's stores.
    Store(u32),
    /// `vkCmdClearColorImage`, `vkCmdClearDepthStencilImage` or `vkCmdFillBuffer` of all of an object: contents that the frame reads
    /// and no earlier frame has written.
    Clear {
        /// What is cleared.
        object: Object,
        /// Zero, as its format has it.
        value: ClearValue,
    },
}

/// The barriers of one `vkCmdPipelineBarrier2`; nothing is recorded where all are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DependencyRow {
    /// A run of [`Lowered::image_barriers`].
    pub images: Run,
    /// A run of [`Lowered::buffer_barriers`].
    pub buffers: Run,
    /// A run of [`Lowered::memory_barriers`].
    pub memory: Run,
}

/// One pass as recorded: `vkCmdBindTileMemoryQCOM` where that changes, barriers, the pass, barriers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassRow {
    /// Whose commands.
    pub contents: PassContents,
    /// The tile memory that is bound, a row of [`Lowered::memory`]; nothing is bound otherwise.
    pub tile_memory: Option<u32>,
    /// Before the pass.
    pub before: DependencyRow,
    /// The render pass, a row of [`Lowered::renderings`].
    pub rendering: Option<u32>,
    /// After the pass.
    pub after: DependencyRow,
}

/// Stages and accesses on both sides of a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scopes {
    /// `srcStageMask`.
    #[serde(with = "names::bits")]
    pub src_stages: vk::PipelineStageFlags2,
    /// `srcAccessMask`.
    #[serde(with = "names::bits")]
    pub src_access: vk::AccessFlags2,
    /// `dstStageMask`.
    #[serde(with = "names::bits")]
    pub dst_stages: vk::PipelineStageFlags2,
    /// `dstAccessMask`.
    #[serde(with = "names::bits")]
    pub dst_access: vk::AccessFlags2,
}

/// Queue families of an ownership transfer; `QUEUE_FAMILY_IGNORED` twice for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Families {
    /// `srcQueueFamilyIndex`.
    pub src: u32,
    /// `dstQueueFamilyIndex`.
    pub dst: u32,
}

/// `VkImageMemoryBarrier2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageBarrierRow {
    /// Row of [`Lowered::images`].
    pub image: u32,
    /// What it covers.
    pub range: SubresourceRange,
    /// Stages and accesses.
    pub scopes: Scopes,
    /// Layout before; `UNDEFINED` discards the contents.
    #[serde(with = "names::value")]
    pub old_layout: vk::ImageLayout,
    /// Layout after.
    #[serde(with = "names::value")]
    pub new_layout: vk::ImageLayout,
    /// Families of a transfer.
    pub families: Families,
    /// Why it is there.
    pub cause: BarrierCause,
}

/// `VkBufferMemoryBarrier2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferBarrierRow {
    /// Row of [`Lowered::buffers`].
    pub buffer: u32,
    /// First byte.
    pub offset: Bytes,
    /// Number of bytes.
    pub size: Bytes,
    /// Stages and accesses.
    pub scopes: Scopes,
    /// Families of a transfer.
    pub families: Families,
    /// Why it is there.
    pub cause: BarrierCause,
}

/// `VkMemoryBarrier2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryBarrierRow {
    /// Stages and accesses.
    pub scopes: Scopes,
    /// Why it is there.
    pub cause: BarrierCause,
}

/// Why a barrier is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BarrierCause {
    /// A write before, or a write to come, or a change of layout.
    Hazard,
    /// First use of bytes that another resource held, in this frame or in earlier work.
    Aliasing,
    /// The use before was of another image of the same tile memory resident.
    Ladder,
    /// First use since an earlier frame.
    EarlierFrame,
    /// An external resource comes in.
    Entry,
    /// An external resource goes out.
    Exit,
    /// Released to another queue family.
    Release,
    /// Acquired from another queue family.
    Acquire,
}

/// A command buffer of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandBufferRow {
    /// The frame's command buffer.
    pub commands: CommandBufferId,
    /// A run of [`Lowered::passes`].
    pub passes: Run,
}

/// What a batch waits for or signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Semaphore {
    /// A semaphore that the frame declares.
    Declared(u32),
    /// The timeline semaphore of a device queue. The value counts from the batches that had been submitted to the queue before this
    /// frame: 1 is the frame's first batch there, 0 the last one before it.
    Queue {
        /// The queue.
        queue: DeviceQueueIndex,
        /// The value, relative to the frame's begin.
        value: i64,
    },
}

/// `VkSemaphoreSubmitInfo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SemaphoreRow {
    /// Which.
    pub semaphore: Semaphore,
    /// `stageMask`.
    #[serde(with = "names::bits")]
    pub stages: vk::PipelineStageFlags2,
}

/// `VkSubmitInfo2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchRow {
    /// The frame's batch.
    pub batch: BatchId,
    /// A run of [`Lowered::waits`].
    pub waits: Run,
    /// A run of [`Lowered::command_buffers`].
    pub command_buffers: Run,
    /// A run of [`Lowered::signals`].
    pub signals: Run,
}

/// `vkQueueSubmit2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmitRow {
    /// The frame's submit.
    pub submit: SubmitId,
    /// The queue.
    pub queue: DeviceQueueIndex,
    /// A run of [`Lowered::batches`].
    pub batches: Run,
}

/// Formats, by name.
mod formats {
    use super::{Deserialize, names, vk};

    #[derive(serde::Serialize, Deserialize)]
    #[serde(transparent)]
    struct Named(#[serde(with = "names::value")] vk::Format);

    pub(super) fn serialize<S: serde::Serializer>(formats: &[vk::Format], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(formats.iter().copied().map(Named))
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<vk::Format>, D::Error> {
        let named: Vec<Named> = Deserialize::deserialize(from)?;
        Ok(named.into_iter().map(|Named(format)| format).collect())
    }
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

/// `[x, y, width, height]`.
mod area {
    use super::{Deserialize, Serialize, vk};

    pub(super) fn serialize<S: serde::Serializer>(area: &vk::Rect2D, to: S) -> Result<S::Ok, S::Error> {
        let vk::Rect2D { offset, extent } = area;
        (offset.x, offset.y, extent.width, extent.height).serialize(to)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<vk::Rect2D, D::Error> {
        let (x, y, width, height) = Deserialize::deserialize(from)?;
        let (offset, extent) = (vk::Offset2D { x, y }, vk::Extent2D { width, height });
        Ok(vk::Rect2D { offset, extent })
    }
}
