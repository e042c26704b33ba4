//! Recorded rows: passes, copies and clears that the tables add to them, and the barriers around every pass.

use ash::vk;
use serde::{Deserialize, Serialize};

use super::objects::SubresourceRange;
use crate::frame::PassId;
use crate::lower::ids::OptionalIndex;
use crate::names;
use crate::units::{Bytes, Run};

/// The contents of a row of [`Lowered::passes`](super::Lowered::passes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum PassContents {
    /// The caller's commands for a pass of the frame.
    Described,
    /// A copy out of tile memory or at the border of a strip, by a draw or a dispatch: a row of [`Lowered::stores`](super::Lowered::stores).
    Store,
    /// A clear of contents that the frame reads and no earlier frame has written: a row of [`Lowered::clears`](super::Lowered::clears).
    Clear,
}

/// The shaders that a store runs. With the feature `runtime`, `StoreShader::spirv` returns their code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum StoreShader {
    /// A triangle over the render area, to a color attachment of a float or normalized format.
    Float,
    /// A triangle over the render area, to a color attachment of a signed integer format.
    Int,
    /// A triangle over the render area, to a color attachment of an unsigned integer format.
    Uint,
    /// A triangle over the render area, to a depth attachment (written as `gl_FragDepth`).
    Depth,
    /// A dispatch that copies a buffer in words of four bytes.
    Buffer,
}

/// A copy out of tile memory, or at the border of a strip.
///
/// The source is binding 0 of set 0: an image that `texelFetch` reads (`VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE`), or a storage buffer. The
/// target is the render pass's attachment, or the storage buffer at binding 1. A draw reads at `gl_FragCoord` plus (`x`, `y`), which are
/// specialization constants 0 and 1 of the library's own shaders, of 4 bytes each. It has no vertex input and no culling, a triangle list, and
/// viewport and scissor of the render area; for depth, the test is on with `VK_COMPARE_OP_ALWAYS`, and depth is written.
///
/// In a frame whose strips render less than declared, a copy at their border also renders less: out of a strip's image, only the area that the strip's passes
/// have rendered; into a strip's image, nothing if none of its passes uses it. The barriers of the copy are still recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct StoreRow {
    /// The shaders of the copy's pipeline.
    pub shader: StoreShader,
    /// The access that reads: a row of [`Lowered::accesses`](super::Lowered::accesses).
    pub source: u32,
    /// The access that writes: a row of [`Lowered::accesses`](super::Lowered::accesses).
    pub target: u32,
    /// Number of workgroups of the dispatch; 0 for a draw, which has three vertices.
    pub groups: u32,
    /// Source column minus destination column, for a draw.
    pub x: i32,
    /// Source row minus destination row, for a draw.
    pub y: i32,
}

/// The barriers of one `vkCmdPipelineBarrier2`; nothing is recorded if all are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct DependencyRow {
    /// A run of [`Lowered::image_barriers`](super::Lowered::image_barriers).
    pub images: Run,
    /// A run of [`Lowered::buffer_barriers`](super::Lowered::buffer_barriers).
    pub buffers: Run,
    /// A run of [`Lowered::memory_barriers`](super::Lowered::memory_barriers).
    pub memory: Run,
}

/// One pass as recorded: `vkCmdBindTileMemoryQCOM` if the bound memory changes, barriers, the pass, barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct PassRow {
    /// The pass of the frame; for a clear, the pass that it precedes.
    pub pass: PassId,
    /// Kind of the recorded contents.
    pub contents: PassContents,
    /// For a store, its row of [`Lowered::stores`](super::Lowered::stores); for a clear, its row of [`Lowered::clears`](super::Lowered::clears); else none.
    pub row: OptionalIndex,
    /// The tile memory to bind, a row of [`Lowered::memory`](super::Lowered::memory). None to have nothing bound, as at the beginning of a command
    /// buffer: `vkCmdBindTileMemoryQCOM` with a null pointer if the command buffer has bound tile memory before.
    pub tile_memory: OptionalIndex,
    /// The render pass, a row of [`Lowered::instances`](super::Lowered::instances).
    pub instance: OptionalIndex,
    /// Barriers before the pass.
    pub before: DependencyRow,
    /// Barriers after the pass.
    pub after: DependencyRow,
}

/// Stages and accesses on both sides of a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
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

/// Queue families of an ownership transfer; both are `VK_QUEUE_FAMILY_IGNORED` without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct Families {
    /// `srcQueueFamilyIndex`.
    pub src: u32,
    /// `dstQueueFamilyIndex`.
    pub dst: u32,
}

/// `VkImageMemoryBarrier2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct ImageBarrierRow {
    /// Row of [`Lowered::images`](super::Lowered::images).
    pub image: u32,
    /// The subresources that the barrier covers. All slices of a 3D image are given as layers `[0, VK_REMAINING_ARRAY_LAYERS)`.
    pub range: SubresourceRange,
    /// Stages and accesses.
    pub scopes: Scopes,
    /// Layout before; `VK_IMAGE_LAYOUT_UNDEFINED` discards the contents.
    #[serde(with = "names::value")]
    pub old_layout: vk::ImageLayout,
    /// Layout after.
    #[serde(with = "names::value")]
    pub new_layout: vk::ImageLayout,
    /// Queue families of an ownership transfer.
    pub families: Families,
    /// Reason for the barrier.
    pub cause: BarrierCause,
}

/// `VkBufferMemoryBarrier2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct BufferBarrierRow {
    /// Row of [`Lowered::buffers`](super::Lowered::buffers).
    pub buffer: u32,
    /// First byte.
    pub offset: Bytes,
    /// Number of bytes.
    pub size: Bytes,
    /// Stages and accesses.
    pub scopes: Scopes,
    /// Queue families of an ownership transfer.
    pub families: Families,
    /// Reason for the barrier.
    pub cause: BarrierCause,
}

/// `VkMemoryBarrier2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct MemoryBarrierRow {
    /// Stages and accesses.
    pub scopes: Scopes,
    /// Reason for the barrier.
    pub cause: BarrierCause,
}

/// Reason for a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum BarrierCause {
    /// One of two uses writes, or the layout changes.
    Hazard,
    /// First use of bytes that another resource held, in this frame or in earlier work.
    Aliasing,
    /// The previous use was through an image of the same resource in another tile memory object.
    Ladder,
    /// First use since an earlier frame.
    EarlierFrame,
    /// The entry state of an external resource.
    Entry,
    /// The exit state of an external resource.
    Exit,
    /// Released to another queue family.
    Release,
    /// Acquired from another queue family.
    Acquire,
}
