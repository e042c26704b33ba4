//! Load and store operations of attachments: contents that are never read are not stored; a read-only attachment is not written if the device supports
//! `VK_ATTACHMENT_STORE_OP_NONE`.

use ash::vk;
use bumpalo::collections::Vec;

use super::chains::Chains;
use super::create::ATTACHED;
use super::placed::Placed;
use super::tables::instances::Operations;
use crate::frame::tables::{Access, HistoryVersion, ResourceKind};
use crate::frame::{AccessKind, Frame, LoadOp, Persistence, ResourceId, SubresourceRange};
use crate::profile::Features;

/// The load and store operations of a frame's attachments.
pub(super) struct AttachmentOperations<'a> {
    /// Per access of the frame, the contents that are needed later.
    needed: Vec<'a, NeededContents>,
    /// True if the device supports `VK_ATTACHMENT_STORE_OP_NONE`.
    store_none: bool,
}

/// For each kind of contents that an access leaves: true if part of them is read later, or outlives the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct NeededContents {
    /// True if the color or depth contents are needed.
    main: bool,
    stencil: bool,
}

impl<'a> AttachmentOperations<'a> {
    pub(super) fn new(placed: &Placed<'a>, chains: &Chains) -> AttachmentOperations<'a> {
        let frame = &placed.plan.frame;
        let count = frame.accesses().len();
        let mut operations = AttachmentOperations {
            needed: bumpalo::vec![in placed.scratch; NeededContents::default(); count],
            store_none: placed.plan.profile.features.contains(Features::STORE_OP_NONE),
        };
        for (id, resource) in frame.resource_ids().zip(frame.resources()) {
            if !matches!(resource.kind, ResourceKind::Image { usage, .. } if usage.intersects(ATTACHED)) {
                continue;
            }
            if placed.is_plain(id) {
                operations.mark_plain(frame, id, &chains.needs_contents);
                continue;
            }
            for &part in frame.parts_of(id) {
                operations.mark(frame, id, part);
            }
        }
        operations
    }

    /// Marks the accesses whose results in a [plain](Placed::is_plain) image are needed later; per access, `keeps` is true if it keeps or reads earlier
    /// contents.
    fn mark_plain(&mut self, frame: &Frame, id: ResourceId, keeps: &[bool]) {
        let accesses = frame.accesses();
        let mut wanted = frame.resource(id).persistence != Persistence::Transient;
        let mut rest = frame.uses_of(id);
        while let Some((&index, mut earlier)) = rest.split_last() {
            let mark = NeededContents {
                main: wanted,
                stencil: wanted,
            };
            let access = &accesses[index as usize];
            self.needed[index as usize] = mark;
            let mut needs = NeedsEarlier::of(access, keeps[index as usize]);
            while let Some((&other, others)) = earlier.split_last() {
                let one = &accesses[other as usize];
                if one.pass != access.pass {
                    break;
                }
                self.needed[other as usize] = mark;
                needs = needs.with(NeedsEarlier::of(one, keeps[other as usize]));
                earlier = others;
            }
            wanted = needs.get();
            rest = earlier;
        }
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
            let mut needs: Option<NeedsEarlier> = None;
            for &index in in_pass {
                let access = &accesses[index as usize];
                if !undivided && !access.range.intersects(part) {
                    continue;
                }
                let known = &mut self.needed[index as usize];
                known.main |= wanted && is_main;
                known.stencil |= wanted && is_stencil;
                if access.version == HistoryVersion::Current {
                    let own = NeedsEarlier::of(access, !frame.replaces(access, part));
                    needs = Some(needs.map_or(own, |others| others.with(own)));
                }
            }
            wanted = needs.map_or(wanted, NeedsEarlier::get);
        }
    }

    /// The operations of an attachment: for color or depth, and for stencil. `index` is the [deciding] one of its pass's accesses to it.
    pub(super) fn of(&self, frame: &Frame, index: usize) -> [Operations; 2] {
        let access = &frame.accesses()[index];
        let load = match access.load_op {
            LoadOp::Load => vk::AttachmentLoadOp::LOAD,
            LoadOp::Clear(_) => vk::AttachmentLoadOp::CLEAR,
            LoadOp::DontCare => vk::AttachmentLoadOp::DONT_CARE,
        };
        let NeededContents { main, stencil } = self.needed[index];
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

/// Determines whether the accesses of one pass need the contents that a part had before the pass. A render pass clears or overwrites an attachment before
/// anything in it reads the attachment in place; other accesses of one pass are not ordered.
#[derive(Clone, Copy)]
struct NeedsEarlier {
    all_attached: bool,
    all_keep: bool,
    any_keeps: bool,
}

impl NeedsEarlier {
    fn of(access: &Access, keeps: bool) -> NeedsEarlier {
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

/// The access that decides how an attachment is loaded and stored, among those of its pass to the same attachment: one that clears or overwrites, otherwise
/// one that writes, otherwise access `index` itself.
pub(super) fn deciding(frame: &Frame, index: usize) -> usize {
    let (all, access) = (frame.accesses(), &frame.accesses()[index]);
    if access.kind.is_attachment() && access.writes && frame.pass(access.pass).subpasses == 1 {
        // A part has one writer in a subpass.
        return index;
    }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bumpalo::Bump;

    use super::*;
    use crate::frame::synthetic::{SyntheticDesc, synthetic};
    use crate::lower::{DeviceQueues, Parity};
    use crate::measure::estimate;
    use crate::plan::{PlanOptions, plan};
    use crate::profile::DeviceProfile;

    #[test]
    fn plain_images_are_marked_like_images_of_parts() {
        let profile = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
        let (mut needed, mut not_needed) = (0, 0);
        for seed in 0..40 {
            let frame = synthetic(seed, SyntheticDesc::default());
            let needs = Arc::new(estimate(&frame, &profile).unwrap());
            let plan = plan(&frame, &needs, &profile, &PlanOptions::default()).unwrap();
            let (queues, scratch) = (DeviceQueues::single_queue(&frame), Bump::new());
            let placed = Placed::new(&plan, &queues, Parity::Even, &scratch);
            let mut chains = Chains::default();
            chains.fill(&placed);
            let count = frame.accesses().len();
            for id in frame.resource_ids().filter(|&id| placed.is_plain(id)) {
                let mut marked = [false, true].map(|_| AttachmentOperations {
                    needed: bumpalo::vec![in &scratch; NeededContents::default(); count],
                    store_none: false,
                });
                marked[0].mark_plain(&frame, id, &chains.needs_contents);
                marked[1].mark(&frame, id, frame.parts_of(id)[0]);
                assert_eq!(marked[0].needed, marked[1].needed, "seed {seed}, {id:?}");
                let own = frame
                    .uses_of(id)
                    .iter()
                    .map(|&index| marked[0].needed[index as usize]);
                own.for_each(|wanted| match wanted.main {
                    true => needed += 1,
                    false => not_needed += 1,
                });
            }
        }
        assert!(needed > 500 && not_needed > 500, "{needed}, {not_needed}");
    }
}
