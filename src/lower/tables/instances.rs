//! Rows of render pass instances, with their attachments and subpasses, for both dynamic rendering and render pass objects.
//!
//! ```text
//! instance ─► attachments  [color 0, color 1 │ depth │ resolve]     each view once; pAttachments, pColorAttachments is its beginning
//!      └────► subpasses ─► references        [0, 1] [2] [3]         positions in that list, VkAttachmentReference
//!                    └───► indices           preserved attachments; locations and input attachment indices of local read
//! ```

use ash::vk;
use serde::{Deserialize, Serialize};

use super::clears::ClearBits;
use super::commands::Scopes;
use crate::frame::PassId;
use crate::lower::ids::OptionalIndex;
use crate::names;
use crate::units::{Bytes, Run};

/// Load and store operation of an attachment, or of its stencil aspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct Operations {
    /// Load operation, at the beginning of the render pass.
    #[serde(with = "names::value")]
    pub load: vk::AttachmentLoadOp,
    /// Store operation, at the end of the render pass.
    #[serde(with = "names::value")]
    pub store: vk::AttachmentStoreOp,
}

/// An attachment of a render pass instance: `VkRenderingAttachmentInfo`, or `VkAttachmentDescription`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct AttachmentRow {
    /// Row of [`Lowered::views`](super::Lowered::views).
    pub view: u32,
    /// Format of the view.
    #[serde(with = "names::value")]
    pub format: vk::Format,
    /// Samples per texel.
    #[serde(with = "names::bits")]
    pub samples: vk::SampleCountFlags,
    /// The layout of color or depth before, during and after a dynamic render pass.
    #[serde(with = "names::value")]
    pub layout: vk::ImageLayout,
    /// Stencil layout; equal to `layout` without separate layouts.
    #[serde(with = "names::value")]
    pub stencil_layout: vk::ImageLayout,
    /// `initialLayout` and `finalLayout` of a render pass object: the equivalent of both layouts, or `VK_IMAGE_LAYOUT_UNDEFINED`.
    #[serde(with = "names::value")]
    pub combined_layout: vk::ImageLayout,
    /// Load and store operations of color or depth.
    pub operations: Operations,
    /// Load and store operations of stencil.
    pub stencil: Operations,
    /// `clearValue`; ignored unless an operation clears.
    pub clear: ClearBits,
    /// The resolve attachment of a dynamic render pass, a row of [`Lowered::attachments`](super::Lowered::attachments).
    pub resolve: OptionalIndex,
    /// `resolveMode`; for depth and stencil, the mode of both aspects; `VK_RESOLVE_MODE_NONE` without a resolve attachment.
    #[serde(with = "names::bits")]
    pub resolve_mode: vk::ResolveModeFlags,
}

/// `VkAttachmentReference`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct ReferenceRow {
    /// Position in the attachments of the instance; `VK_ATTACHMENT_UNUSED` for none.
    pub attachment: u32,
    /// The attachment's [`combined_layout`](AttachmentRow::combined_layout).
    #[serde(with = "names::value")]
    pub layout: vk::ImageLayout,
}

impl ReferenceRow {
    /// A reference to no attachment.
    pub const UNUSED: ReferenceRow = ReferenceRow {
        attachment: vk::ATTACHMENT_UNUSED,
        layout: vk::ImageLayout::UNDEFINED,
    };

    /// The position, if it refers to an attachment.
    pub const fn get(self) -> Option<u32> {
        match self.attachment {
            vk::ATTACHMENT_UNUSED => None,
            attachment => Some(attachment),
        }
    }
}

/// `VkSubpassDependency`, or a `VkMemoryBarrier2` between two subpasses of dynamic rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct SubpassDependencyRow {
    /// `srcSubpass`.
    pub src_subpass: u32,
    /// `dstSubpass`. Equal to `src_subpass` if a subpass reads what it writes: for barriers that the caller records in it.
    pub dst_subpass: u32,
    /// `dependencyFlags`.
    #[serde(with = "names::bits")]
    pub flags: vk::DependencyFlags,
    /// Stages and accesses.
    pub scopes: Scopes,
}

/// A subpass: `VkSubpassDescription` (`VkSubpassDescription2` if a render pass object resolves depth), the commands that begin it in dynamic
/// rendering, and creation parameters of its pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct SubpassRow {
    /// Dependencies on earlier subpasses: a run of [`Lowered::subpass_dependencies`](super::Lowered::subpass_dependencies).
    pub dependencies: Run,
    /// The part of `dependencies` that is recorded with one `vkCmdPipelineBarrier2` before the subpass in dynamic rendering, all with the same
    /// flags; nothing is recorded if it is empty.
    pub barriers: Run,
    /// `pColorAttachments`: a run of [`Lowered::references`](super::Lowered::references).
    pub colors: Run,
    /// `pResolveAttachments`, as many as `colors` or none: a run of [`Lowered::references`](super::Lowered::references).
    pub resolves: Run,
    /// `pInputAttachments`: a run of [`Lowered::references`](super::Lowered::references).
    pub inputs: Run,
    /// `pDepthStencilAttachment`: a row of [`Lowered::references`](super::Lowered::references).
    pub depth: OptionalIndex,
    /// The resolve attachment of depth and stencil: a row of [`Lowered::references`](super::Lowered::references). In a render pass object it
    /// is `pDepthStencilResolveAttachment` of `VkSubpassDescriptionDepthStencilResolve`; both modes are the
    /// [`resolve_mode`](AttachmentRow::resolve_mode) of the attachment that `depth` refers to.
    pub depth_resolve: OptionalIndex,
    /// `pPreserveAttachments`: a run of [`Lowered::indices`](super::Lowered::indices).
    pub preserved: Run,
    /// `pColorAttachmentLocations` of `VkRenderingAttachmentLocationInfo`: a run of [`Lowered::indices`](super::Lowered::indices), one location for each
    /// color attachment of the instance. Empty without local read.
    pub locations: Run,
    /// `pColorAttachmentInputIndices` of `VkRenderingInputAttachmentIndexInfo`: a run of [`Lowered::indices`](super::Lowered::indices), one index for
    /// each color attachment of the instance. Empty without local read. The indices of depth and stencil are `VK_ATTACHMENT_UNUSED`.
    pub input_indices: Run,
    /// Formats of the color attachments that pipelines name, with local read those of the whole instance: a run of
    /// [`Lowered::formats`](super::Lowered::formats).
    pub color_formats: Run,
    /// Format of the depth attachment that pipelines name, or `VK_FORMAT_UNDEFINED`.
    #[serde(with = "names::value")]
    pub depth_format: vk::Format,
    /// Format of the stencil attachment that pipelines name, or `VK_FORMAT_UNDEFINED`.
    #[serde(with = "names::value")]
    pub stencil_format: vk::Format,
    /// The aspects of depth and stencil that the subpass uses.
    #[serde(with = "names::bits")]
    pub depth_aspects: vk::ImageAspectFlags,
    /// Sample count of the subpass's pipelines: that of its attachments, or that which the pass declares.
    #[serde(with = "names::bits")]
    pub samples: vk::SampleCountFlags,
}

/// A render pass instance, from `vkCmdBeginRendering` or `vkCmdBeginRenderPass` to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct InstanceRow {
    /// The pass of the frame.
    pub pass: PassId,
    /// True if begun by `vkCmdBeginRendering`, not through a render pass object.
    pub dynamic: bool,
    /// True if shaders read attachments in place in dynamic rendering (`VK_KHR_dynamic_rendering_local_read`): each subpass begins with its
    /// locations and input attachment indices.
    pub local_read: bool,
    /// True if the contents are in secondary command buffers.
    pub secondary: bool,
    /// True if `VkRenderPassTileShadingCreateInfoQCOM` is chained, with the flag that enables tile shading.
    pub tile_shading: bool,
    /// `renderArea`.
    #[serde(with = "area")]
    pub area: vk::Rect2D,
    /// Width and height of the framebuffer of a render pass object.
    #[serde(with = "extent")]
    pub framebuffer: vk::Extent2D,
    /// `layerCount`, and the layers of a framebuffer: 1 with a view mask.
    pub layers: u32,
    /// `viewMask`; 0 without multiview.
    pub view_mask: u32,
    /// The instance's attachments, each view once: a run of [`Lowered::attachments`](super::Lowered::attachments).
    pub attachments: Run,
    /// `pColorAttachments` of dynamic rendering, the first of `attachments`; empty with a render pass object.
    pub colors: Run,
    /// `pDepthAttachment` of dynamic rendering: a row of [`Lowered::attachments`](super::Lowered::attachments).
    pub depth: OptionalIndex,
    /// `pStencilAttachment` of dynamic rendering: a row of [`Lowered::attachments`](super::Lowered::attachments).
    pub stencil: OptionalIndex,
    /// The instance's subpasses, in order: a run of [`Lowered::subpasses`](super::Lowered::subpasses).
    pub subpasses: Run,
    /// The description's `hook`: a number that the caller chooses for structures that it chains, or 0.
    #[serde(default, skip_serializing_if = "tileheap_json::is_default")]
    pub hook: u32,
    /// Size of the tile memory that is bound, also for secondary command buffers; 0 for none. With `VK_QCOM_tile_properties`,
    /// `VkTileMemorySizeInfoQCOM` is chained with this size.
    pub tile_memory: Bytes,
}

/// The `serde` form of an area: `[x, y, width, height]`.
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

/// The `serde` form of an extent: `[width, height]`.
mod extent {
    use super::{Deserialize, Serialize, vk};

    pub(super) fn serialize<S: serde::Serializer>(extent: &vk::Extent2D, to: S) -> Result<S::Ok, S::Error> {
        [extent.width, extent.height].serialize(to)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<vk::Extent2D, D::Error> {
        let [width, height] = Deserialize::deserialize(from)?;
        Ok(vk::Extent2D { width, height })
    }
}
