//! Load and store operations of attachments: contents that are never read are not stored; a read-only attachment is not written if the device has a
//! store operation for that.

use ash::vk;
use bumpalo::Bump;
use bumpalo::collections::Vec;

use super::create::ATTACHED;
use super::tables::instances::Operations;
use crate::frame::tables::{Access, HistoryVersion, ResourceKind};
use crate::frame::{AccessKind, Frame, LoadOp, Persistence, ResourceId, SubresourceRange};
use crate::profile::Features;

/// The load and store operations of a frame's attachments.
pub(super) struct AttachmentOperations<'a> {
    /// Per access of the frame.
    wanted: Vec<'a, NeededContents>,
    /// True if the device has `VK_ATTACHMENT_STORE_OP_NONE`.
    store_none: bool,
}

/// Flags that part of the contents that an access leaves is read later, or outlives the frame.
#[derive(Clone, Copy, Debug, Default)]
struct NeededContents {
    /// For colour or depth.
    main: bool,
    stencil: bool,
}

impl<'a> AttachmentOperations<'a> {
    pub(super) fn new(frame: &Frame, features: Features, scratch: &'a Bump) -> AttachmentOperations<'a> {
        let mut operations = AttachmentOperations {
            wanted: bumpalo::vec![in scratch; NeededContents::default(); frame.accesses().len()],
            store_none: features.contains(Features::STORE_OP_NONE),
        };
        for (id, resource) in frame.resource_ids().zip(frame.resources()) {
            if matches!(resource.kind, ResourceKind::Image { usage, .. } if usage.intersects(ATTACHED)) {
                for &part in frame.parts_of(id) {
                    operations.mark(frame, id, part);
                }
            }
        }
        operations
    }

    /// Marks the accesses whose results in a part of an image are needed later.
    fn mark(&mut self, frame: &Frame, id: ResourceId, part: SubresourceRange) {
        use vk::ImageAspectFlags as F;
        let (resource, accesses) = (frame.resource(id), frame.accesses());
        let has = resource.aspects();
        let is_main = part.aspects != F::STENCIL || !has.contains(F::DEPTH);
        let is_stencil = part.aspects.contains(F::STENCIL) || !has.contains(F::STENCIL);
        // Backwards: true if the next pass with this version needs the contents; at the end of the frame, if its lifetime does.
        let mut wanted = resource.persistence != Persistence::Transient;
        let pass = |index: u32| accesses[index as usize].pass;
        let undivided = frame.parts_of(id).len() == 1;
        for in_pass in frame.uses_of(id).chunk_by(|&a, &b| pass(a) == pass(b)).rev() {
            if let ([index], true) = (in_pass, undivided) {
                let access = &accesses[*index as usize];
                let known = &mut self.wanted[*index as usize];
                (known.main, known.stencil) = (wanted && is_main, wanted && is_stencil);
                if access.version == HistoryVersion::Current {
                    wanted = !frame.replaces(access, part);
                }
                continue;
            }
            let mut needs: Option<NeedsEarlier> = None;
            for &index in in_pass {
                let access = &accesses[index as usize];
                if !undivided && !access.range.intersects(part) {
                    continue;
                }
                let known = &mut self.wanted[index as usize];
                known.main |= wanted && is_main;
                known.stencil |= wanted && is_stencil;
                if access.version == HistoryVersion::Current {
                    let own = NeedsEarlier::of(frame, access, part);
                    needs = Some(needs.map_or(own, |others| others.with(own)));
                }
            }
            wanted = needs.map_or(wanted, NeedsEarlier::get);
        }
    }

    /// The operations of an attachment: for colour or depth, and for stencil. `index` is the [deciding] one of its pass's accesses to it.
    pub(super) fn of(&self, frame: &Frame, index: usize) -> [Operations; 2] {
        let access = &frame.accesses()[index];
        let load = match access.load_op {
            LoadOp::Load => vk::AttachmentLoadOp::LOAD,
            LoadOp::Clear(_) => vk::AttachmentLoadOp::CLEAR,
            LoadOp::DontCare => vk::AttachmentLoadOp::DONT_CARE,
        };
        let NeededContents { main, stencil } = self.wanted[index];
        [main, stencil].map(|wanted| Operations {
            load,
            store: self.store_op(access, wanted),
        })
    }

    fn store_op(&self, access: &Access, wanted: bool) -> vk::AttachmentStoreOp {
        match access.kind {
            // Input attachments are attached, too.
            kind if (kind.is_attachment() || kind == AccessKind::InputAttachment)
                && !access.writes
                && self.store_none =>
            {
                vk::AttachmentStoreOp::NONE
            }
            kind if kind.is_attachment() && access.writes && !wanted => vk::AttachmentStoreOp::DONT_CARE,
            _ => vk::AttachmentStoreOp::STORE,
        }
    }
}

/// Determines if accesses of one pass need the contents of a part from before it. A render pass clears or overwrites an attachment before anything in
/// it reads that in place; nothing orders other accesses of one pass.
#[derive(Clone, Copy)]
struct NeedsEarlier {
    all_attached: bool,
    all_keep: bool,
    any_keeps: bool,
}

impl NeedsEarlier {
    fn of(frame: &Frame, access: &Access, part: SubresourceRange) -> NeedsEarlier {
        let keeps = !frame.replaces(access, part);
        NeedsEarlier {
            all_attached: access.kind.is_attached(),
            all_keep: keeps,
            any_keeps: keeps,
        }
    }

    fn with(self, other: NeedsEarlier) -> NeedsEarlier {
        NeedsEarlier {
            all_attached: self.all_attached && other.all_attached,
            all_keep: self.all_keep && other.all_keep,
            any_keeps: self.any_keeps || other.any_keeps,
        }
    }

    fn get(self) -> bool {
        match self.all_attached {
            true => self.all_keep,
            false => self.any_keeps,
        }
    }
}

/// The access that decides how an attachment is loaded and stored, among those of its pass to the same attachment: one that clears or overwrites,
/// otherwise one that writes.
pub(super) fn deciding(frame: &Frame, index: usize) -> usize {
    let (all, access) = (frame.accesses(), &frame.accesses()[index]);
    let part = |of: &Access| (of.resource, of.version, of.range.levels, of.range.layers, of.view);
    let same = |&other: &usize| {
        let other = &all[other];
        other.resource == access.resource
            && other.kind.is_attachment()
            && other.writes
            && part(other) == part(access)
            && other.range.aspects.contains(access.range.aspects)
    };
    let mut writer = None;
    for other in frame.pass(access.pass).accesses.indices().filter(same) {
        if all[other].load_op != LoadOp::Load {
            return other;
        }
        writer = writer.or(Some(other));
    }
    writer.unwrap_or(index)
}
