//! The effect of an access on memory, including the render pass's own operations before and after it.

use ash::vk;

use crate::frame::tables::{Access, PassKind};
use crate::frame::{AccessKind, Frame};

/// The access kind with which a render pass loads and stores an attachment that shaders read in place.
pub(super) fn attached_as(depth: bool) -> AccessKind {
    match depth {
        true => AccessKind::DepthStencilAttachment,
        false => AccessKind::ColorAttachment,
    }
}

/// The effect of an access on memory, including the render pass's own operations before and after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessUse {
    /// The stages that make the access.
    pub(super) stages: vk::PipelineStageFlags2,
    /// The access flags of its writes.
    pub(super) writes: vk::AccessFlags2,
    /// The access flags of reads beyond those of its kind: by a resolve, or by a load operation.
    pub(super) reads: vk::AccessFlags2,
}

impl AccessUse {
    /// The stages of an access, its writes, and the reads of its resolve. The render pass loads and stores input attachments; without
    /// `VK_ATTACHMENT_STORE_OP_NONE` (`store_none`), it also stores attachments that are only read. `depth` is true if the image has no color aspect,
    /// `resolved` if the pass [resolves](is_resolved) it.
    #[inline]
    pub(super) fn of(access: &Access, depth: bool, store_none: bool, resolved: bool) -> AccessUse {
        let kind = access.kind;
        let is_input = kind == AccessKind::InputAttachment;
        if !kind.is_attachment() && !is_input {
            return AccessUse {
                stages: access.stages,
                writes: kind.access_flags(false, access.writes),
                reads: vk::AccessFlags2::NONE,
            };
        }
        let stored = !store_none;
        let mut stages = access.stages;
        let mut reads = vk::AccessFlags2::NONE;
        let mut writes = kind.access_flags(false, access.writes || stored);
        if kind.is_attachment() {
            // Whichever stages draw to it, the render pass loads and stores it at these.
            stages |= kind.default_stages(PassKind::Render);
        }
        if is_input {
            stages |= attached_as(depth).default_stages(PassKind::Render);
            writes = attached_as(depth).access_flags(false, stored);
        }
        if resolved {
            stages |= vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT;
            reads = vk::AccessFlags2::COLOR_ATTACHMENT_READ;
        }
        AccessUse {
            stages,
            writes,
            reads,
        }
    }

    /// Adds the load and store operations of a resolve attachment: render pass objects have them for every attachment.
    ///
    /// Source: Vulkan specification, "Render Pass Load Operations" and "Render Pass Store Operations".
    pub(super) fn add_target_operations(&mut self, access: &Access, depth: bool) {
        let kind = attached_as(depth);
        self.stages |= kind.default_stages(PassKind::Render);
        self.writes |= kind.access_flags(false, true);
        self.reads |= kind.access_flags(access.needs_contents(), false);
    }
}

/// Returns true if a resolve attachment of the pass receives the samples of this access. A resolve reads samples with color attachment reads, even
/// those of depth.
///
/// Source: Vulkan specification, "Render Pass Multisample Resolve Operations".
pub(super) fn is_resolved(frame: &Frame, access: &Access) -> bool {
    let others = || frame.accesses_of(access.pass).iter();
    access.kind.is_attachment() && others().any(|other| other.resolves == Some(access.resource))
}
