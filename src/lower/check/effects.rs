//! Effects of a pass on memory, including its load and store operations.

use ash::vk::{self, AccessFlags2 as A, PipelineStageFlags2 as S};

use super::attachments::{attachment_of, operations_of};
use super::checker::Checker;
use super::hazards::Use;

use crate::frame::tables::{Access, PassKind, ResourceKind};
use crate::frame::{AccessKind, Frame, LoadOp};
use crate::lower::tables::objects::AccessRow;

/// The effect of an access on memory.
pub(super) struct Effect {
    pub(super) row: AccessRow,
    /// Index of the access in the frame.
    pub(super) index: usize,
    /// Stages that make the access, including those of the load and store operations.
    pub(super) stages: S,
    /// Access flags, including those of the load and store operations.
    pub(super) access: A,
    /// True if memory may be written.
    pub(super) writes: bool,
    /// True if contents from before the pass are needed.
    pub(super) needs_contents: bool,
    /// True if it writes only part of its range, so that the rest keeps its contents from before the pass.
    pub(super) writes_in_part: bool,
    /// The aspects whose contents are undefined after the pass.
    pub(super) discarded_aspects: vk::ImageAspectFlags,
}

impl Effect {
    /// The uses of the parts that the access covers.
    pub(super) fn to_uses(&self, checker: &Checker<'_>) -> Vec<Use> {
        let of_part = |part| Use {
            part,
            stages: self.stages,
            access: self.access,
        };
        checker.parts_of(self.index).into_iter().map(of_part).collect()
    }
}

/// The effect of an access on memory, including the operations that the tables specify for it.
///
/// A store writes, even to an attachment that is only tested against: unless it is `NONE`, a read-only attachment is written at the end of
/// the pass (Vulkan specification, "Render Pass Store Operations").
///
/// The render pass also loads and stores attachments that shaders read in place. `instance` is the row of the pass.
pub(super) fn effect(checker: &Checker<'_>, instance: Option<u32>, index: usize) -> Effect {
    let access = &checker.frame.accesses()[index];
    let row = checker.tables.accesses[index];
    let attached = access.kind.is_attachment() || access.kind == AccessKind::InputAttachment;
    let instance = instance.filter(|_| attached);
    let attachment = instance.and_then(|instance| attachment_of(checker, instance, index));
    let operations = attachment
        .map(|attachment| operations_of(attachment, access.range.aspects))
        .unwrap_or_default();
    let loads = operations
        .iter()
        .any(|one| one.load == vk::AttachmentLoadOp::LOAD);
    let stores = operations
        .iter()
        .any(|one| one.store != vk::AttachmentStoreOp::NONE);
    let dropped = |store| match store {
        vk::AttachmentStoreOp::STORE => false,
        vk::AttachmentStoreOp::NONE => access.writes,
        _ => true,
    };
    let mut discarded_aspects = vk::ImageAspectFlags::empty();
    if let Some(attachment) = attachment {
        for bit in [
            vk::ImageAspectFlags::COLOR,
            vk::ImageAspectFlags::DEPTH,
            vk::ImageAspectFlags::STENCIL,
        ] {
            let of_bit = operations_of(attachment, access.range.aspects & bit);
            if of_bit.iter().any(|one| dropped(one.store)) {
                discarded_aspects |= bit;
            }
        }
    }
    let writes = access.writes || stores;
    let stages = if access.stages.is_empty() {
        access.kind.default_stages(checker.frame.pass(access.pass).kind)
    } else {
        access.stages
    };
    let by = match access.range.aspects {
        vk::ImageAspectFlags::COLOR => AccessKind::ColorAttachment,
        _ => AccessKind::DepthStencilAttachment,
    };
    let loaded_by = (
        by.default_stages(PassKind::Render),
        by.access_flags(loads, stores),
    );
    let object = instance.is_some_and(|row| !checker.tables.instances[row as usize].dynamic);
    let (made, moved) = match access.kind {
        AccessKind::InputAttachment if attachment.is_some() => loaded_by,
        // Only render pass objects load and store resolve attachments.
        kind @ AccessKind::ResolveAttachment if object => {
            (loaded_by.0 | kind.default_stages(PassKind::Render), loaded_by.1)
        }
        // The render pass loads and stores it at these stages, whichever stages draw to it.
        kind if kind.is_attachment() => (kind.default_stages(PassKind::Render), A::NONE),
        _ => (S::NONE, A::NONE),
    };
    Effect {
        row,
        index,
        stages: stages | made,
        access: access.kind.access_flags(access.reads || loads, writes) | moved,
        writes,
        needs_contents: needs_contents(checker.frame, access),
        writes_in_part: access.writes && writes_in_part(checker.frame, access),
        discarded_aspects,
    }
}

/// The stages and accesses of the resolve of an attachment; none if it is not resolved. Samples are read with color attachment reads, even
/// those of depth.
///
/// Source: Vulkan specification, "Render Pass Multisample Resolve Operations".
pub(super) fn resolve_scope(checker: &Checker<'_>, index: usize) -> (S, A) {
    let access = &checker.frame.accesses()[index];
    let mut others = checker.frame.accesses_of(access.pass).iter();
    let resolves = |other: &Access| {
        (other.resolves, other.subpass) == (Some(access.resource), access.subpass)
            && access.kind.is_attachment()
    };
    match others.any(resolves) {
        true => (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_READ),
        false => (S::NONE, A::NONE),
    }
}

/// Returns the reads of an attachment by its resolve, one for each part; none if it is not resolved.
pub(super) fn resolve_of(checker: &Checker<'_>, index: usize) -> Vec<Use> {
    let (stages, access) = resolve_scope(checker, index);
    let of_part = |part| Use { part, stages, access };
    let parts = (!access.is_empty()).then(|| checker.parts_of(index));
    parts.unwrap_or_default().into_iter().map(of_part).collect()
}

/// Returns true if the access is to an attachment, and its pass renders to only some of the texels: a smaller area, or fewer views than layers.
fn writes_in_part(frame: &Frame, access: &Access) -> bool {
    let (pass, resource) = (frame.pass(access.pass), frame.resource(access.resource));
    let ResourceKind::Image { extent, .. } = resource.kind else {
        return false;
    };
    let side = |texels: u32| u64::from((texels >> access.range.levels.first).max(1));
    let [width, height] = [pass.area.extent.width, pass.area.extent.height].map(u64::from);
    let area = width * height < side(extent.width) * side(extent.height);
    let views = pass.view_mask != 0 && (pass.view_mask.count_ones() as usize) < access.range.layers.len();
    access.kind.is_attachment() && (area || views)
}

/// Returns true if the access needs the results of earlier passes: it reads them, or its write keeps them. An input or tile attachment that the same pass
/// clears or overwrites does not, since it reads what the pass itself wrote; nor does an attachment that an earlier subpass cleared or overwrote.
fn needs_contents(frame: &Frame, access: &Access) -> bool {
    let in_place = matches!(
        access.kind,
        AccessKind::InputAttachment | AccessKind::TileAttachment
    );
    let made_here = frame.accesses_of(access.pass).iter().any(|other| {
        (in_place || access.kind.is_attachment() && other.subpass < access.subpass)
            && other.resource == access.resource
            && other.range.intersects(access.range)
            && other.version == access.version
            && other.writes
            && other.load_op != LoadOp::Load
    });
    (access.reads || access.writes && access.load_op == LoadOp::Load) && !made_here
}
