//! What is recorded: render passes, their attachments, and the barriers around every pass.

use ash::vk;
use serde::{Deserialize, Serialize};

use super::objects::SubresourceRange;
use crate::frame::{ClearValue, PassId};
use crate::lower::ids::Object;
use crate::names;
use crate::units::{Bytes, Run};

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
    /// Row of [`Lowered::views`](super::Lowered::views).
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
    /// The layout of its stencil aspect, the same where it has none of its own.
    #[serde(with = "names::value")]
    pub stencil_layout: vk::ImageLayout,
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
    /// Row of [`Lowered::attachments`](super::Lowered::attachments).
    pub attachment: u32,
    /// How samples become one.
    #[serde(with = "names::bits")]
    pub mode: vk::ResolveModeFlags,
}

/// A subpass of a render pass instance, and what its pipelines and secondary command buffers are made for.
///
/// The rows of an instance follow one another; all say the same of what concerns all of it. Its attachments are those of its rows, each
/// view once ([`Lowered::attachments_of`](super::Lowered::attachments_of)); where it is dynamic, `pColorAttachments` has those of
/// colour in this order, and each subpass the locations and input attachment indices of its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenderingRow {
    /// Which one of the instance: 0 begins it, with `vkCmdBeginRendering` or `vkCmdBeginRenderPass`.
    pub subpass: u32,
    /// What it waits for: a run of [`Lowered::subpass_dependencies`](super::Lowered::subpass_dependencies).
    pub dependencies: Run,
    /// `vkCmdBeginRendering` and local read, or a render pass object.
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
    /// Colour attachments: a run of [`Lowered::attachments`](super::Lowered::attachments).
    pub colors: Run,
    /// The depth and stencil attachment, a row of [`Lowered::attachments`](super::Lowered::attachments).
    pub depth: Option<u32>,
    /// The aspects of that attachment that the pass uses.
    #[serde(with = "names::bits")]
    pub depth_aspects: vk::ImageAspectFlags,
    /// Resolve attachments: a run of [`Lowered::attachments`](super::Lowered::attachments).
    pub resolves: Run,
    /// Input attachments: a run of [`Lowered::attachments`](super::Lowered::attachments).
    pub inputs: Run,
    /// Formats of its colour attachments, where it is dynamic of all of the instance's: a run of
    /// [`Lowered::formats`](super::Lowered::formats).
    pub color_formats: Run,
    /// Format of the depth aspect, or `UNDEFINED`; where it is dynamic, the instance's.
    #[serde(with = "names::value")]
    pub depth_format: vk::Format,
    /// Format of the stencil aspect, or `UNDEFINED`.
    #[serde(with = "names::value")]
    pub stencil_format: vk::Format,
    /// Samples of its pipelines: its attachments', or what the pass declares.
    #[serde(with = "names::bits")]
    pub samples: vk::SampleCountFlags,
    /// `VkTileMemorySizeInfoQCOM::size`, and the size of the tile memory that secondary command buffers inherit; 0 for none.
    pub tile_memory: Bytes,
    /// `VkRenderPassTileShadingCreateInfoQCOM` is chained, with the flag to enable it.
    pub tile_shading: bool,
    /// The number of what the caller's hooks chain to it; 0 for nothing.
    #[serde(default, skip_serializing_if = "tileheap_json::is_default")]
    pub hook: u32,
}

/// What a subpass waits for in its render pass instance, pixel by pixel: `VkSubpassDependency` with `VK_DEPENDENCY_BY_REGION_BIT`, or where
/// rendering is dynamic a `VkMemoryBarrier2` of a `vkCmdPipelineBarrier2` with that flag, inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubpassDependencyRow {
    /// `srcSubpass`. That of the row that waits where a subpass reads what it writes itself: for barriers that the caller records.
    pub after: u32,
    /// Stages and accesses.
    pub scopes: Scopes,
}

/// What a row of [`Lowered::passes`](super::Lowered::passes) records.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassContents {
    /// The caller's commands for a pass of the frame.
    Described(PassId),
    /// A copy out of tile memory by a draw or a dispatch: a row of the plan's stores.
    Store(u32),
    /// `vkCmdClearColorImage`, `vkCmdClearDepthStencilImage` or `vkCmdFillBuffer`: contents that the frame reads and no earlier frame
    /// has written.
    Clear {
        /// What is cleared.
        object: Object,
        /// The part of an image; a buffer is cleared whole.
        range: SubresourceRange,
        /// Zero, as its format has it.
        value: ClearValue,
    },
}

/// The barriers of one `vkCmdPipelineBarrier2`; nothing is recorded where all are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DependencyRow {
    /// A run of [`Lowered::image_barriers`](super::Lowered::image_barriers).
    pub images: Run,
    /// A run of [`Lowered::buffer_barriers`](super::Lowered::buffer_barriers).
    pub buffers: Run,
    /// A run of [`Lowered::memory_barriers`](super::Lowered::memory_barriers).
    pub memory: Run,
}

/// One pass as recorded: `vkCmdBindTileMemoryQCOM` where that changes, barriers, the pass, barriers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassRow {
    /// Whose commands.
    pub contents: PassContents,
    /// The tile memory that is bound, a row of [`Lowered::memory`](super::Lowered::memory); nothing is bound otherwise.
    pub tile_memory: Option<u32>,
    /// Before the pass.
    pub before: DependencyRow,
    /// The render pass, the first of its rows of [`Lowered::renderings`](super::Lowered::renderings).
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
    /// Row of [`Lowered::images`](super::Lowered::images).
    pub image: u32,
    /// What it covers. Of a 3D image the slices of level 0 stand for all slices of the levels: `VK_REMAINING_ARRAY_LAYERS`.
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
    /// Row of [`Lowered::buffers`](super::Lowered::buffers).
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
