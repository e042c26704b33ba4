//! Lower bounds on the bytes that a resource moves in any arrangement, if strips hold it, or tile memory holds it for a stretch of its lifetime.

use super::error::CannotGroup;
use super::mergeable::MergeablePasses;
use super::strips::{can_repeat, never_divided};
use super::traffic::Model;
use super::uses::{is_attached, is_divisible};
use crate::frame::tables::{Access, HistoryVersion};
use crate::frame::{AccessKind, Frame, PassId, Persistence, ReadReach, ResourceId, TileConstraint};
use crate::plan::WindowRule;
use crate::units::Bytes;

/// Returns true if an access in a strip cannot be limited to the strip's part of the resource, regardless of what else is divided.
fn is_of_whole(frame: &Frame, access: &Access) -> bool {
    let is_written_elsewhere = || {
        let mut others = frame.accesses_to(access.resource);
        others.any(|other| other.writes && other.pass != access.pass)
            || frame.resource(access.resource).persistence != Persistence::Transient
    };
    access.version == HistoryVersion::Previous
        || access.needs_contents() && access.reach() == ReadReach::Anywhere && is_written_elsewhere()
        || can_repeat(frame, access.pass).is_err()
}

/// Returns true if an access is of a kind that tile memory does not support.
fn is_off_chip(frame: &Frame, access: &Access) -> bool {
    access.kind == AccessKind::ResolveAttachment
        || access.kind.is_transfer() && frame.resource(access.resource).is_image()
}

/// Returns true if strips may copy a resource in and out.
fn may_be_at_border(frame: &Frame, id: ResourceId) -> bool {
    let resource = frame.resource(id);
    let mut uses = frame.accesses_to(id);
    let storable = uses
        .next()
        .is_some_and(|first| frame.border_attachment(id, first.pass).is_ok());
    storable
        && !matches!(resource.persistence, Persistence::External(_))
        && resource.tile_constraint == TileConstraint::None
        && resource.level_of.is_none()
}

/// Returns true if strips may hold a resource for its whole lifetime.
fn may_be_inside(frame: &Frame, id: ResourceId) -> bool {
    is_divisible(frame, id)
        && frame.resource(id).persistence == Persistence::Transient
        && !frame.accesses_to(id).any(|access| is_of_whole(frame, access))
}

/// Returns true if strips may hold a resource: between copies, or for its whole lifetime.
fn may_be_divided(frame: &Frame, id: ResourceId) -> bool {
    may_be_inside(frame, id) || may_be_at_border(frame, id)
}

/// Returns true if an access may be on chip in strips, each of which accesses its part of the resource. The attachments of one render pass are divided
/// together or not at all.
pub(super) fn may_be_of_part(frame: &Frame, access: &Access) -> bool {
    let mut attached = frame
        .accesses_of(access.pass)
        .iter()
        .filter(|access| is_attached(access));
    may_be_divided(frame, access.resource)
        && !is_of_whole(frame, access)
        && !is_off_chip(frame, access)
        && (!is_attached(access) || attached.all(|access| may_be_divided(frame, access.resource)))
}

/// Minimum number of bytes that move if any of these accesses is off chip: those that the smallest one touches.
fn smallest<'a>(frame: &Frame, accesses: impl Iterator<Item = &'a Access>, size: Bytes) -> Bytes {
    let bytes = accesses.map(|access| match frame.times_moved(access) {
        0 => Bytes::ZERO,
        _ => frame.bytes_touched(access, size).min(size),
    });
    bytes.min().unwrap_or(Bytes::ZERO)
}

impl Model<'_> {
    /// The resources that strips have to divide in order to hold one for its whole lifetime, and the passes of any run of such strips.
    pub(super) fn run_inside(
        &self,
        id: ResourceId,
        merging: &MergeablePasses<'_>,
    ) -> (Vec<ResourceId>, Vec<PassId>) {
        let frame = self.plan.input.frame();
        // A run holds all passes that use the resource, and all users of what is attached with it, unless that can be copied at the border.
        let (mut inside, mut run) = (vec![id], Vec::new());
        let mut at = 0;
        while let Some(&next) = inside.get(at) {
            for access in frame.accesses_to(next) {
                run.push(access.pass);
                if !is_attached(access) {
                    continue;
                }
                let attached = frame.accesses_of(access.pass).iter().filter(|it| is_attached(it));
                let others = attached.map(|access| access.resource);
                let others = others.filter(|&other| !may_be_at_border(frame, other));
                for other in others {
                    if !inside.contains(&other) {
                        inside.push(other);
                    }
                }
            }
            at += 1;
        }
        let run = merging.with_those_between(&run);
        (inside, run)
    }

    /// Returns the reason why no run of strips can hold a resource for its whole lifetime, in any arrangement; `None` if one may.
    pub(super) fn never_in_strips(
        &self,
        id: ResourceId,
        merging: &MergeablePasses<'_>,
    ) -> Option<CannotGroup> {
        let frame = self.plan.input.frame();
        let (inside, run) = self.run_inside(id, merging);
        let why = never_divided(frame, &run);
        let apart = run.first().zip(run.last());
        let is_apart = apart.is_some_and(|(&first, &last)| !merging.share_batch(first, last));
        let outside = inside.iter().any(|&other| !may_be_inside(frame, other));
        why.or((is_apart || outside).then_some(CannotGroup::NoInsideImage))
    }

    /// Returns true if tile memory may hold the first stretch of a resource's lifetime, until a store.
    fn may_be_stored(&self, id: ResourceId) -> bool {
        let frame = self.plan.input.frame();
        let resource = frame.resource(id);
        let mut uses = frame
            .accesses_to(id)
            .filter(|access| access.version == HistoryVersion::Current);
        let is_published = self.plan.options.windows == WindowRule::WholeFrame;
        self.plan.options.splits()
            && self.plan.input_requirements.resources[id.index()].tile.is_some()
            && self.counted_size(id).0 <= self.heap()
            && resource.tile_constraint == TileConstraint::None
            && !matches!(resource.persistence, Persistence::External(_))
            && frame.check_splittable(id).is_ok()
            && uses
                .next()
                .is_some_and(|first| is_published || self.may_be_in_tile_memory(first))
    }

    /// Returns true if an access may be in a stretch of a resource's lifetime that is in tile memory.
    pub(super) fn may_be_in_stretch(&self, access: &Access) -> bool {
        self.may_be_stored(access.resource) && self.may_be_in_tile_memory(access)
    }

    /// Returns true if an access may be to a resource in tile memory: it is of a kind that the tile heap supports, and does not refer to the previous
    /// version of a history resource.
    fn may_be_in_tile_memory(&self, access: &Access) -> bool {
        let frame = self.plan.input.frame();
        let heap = self.plan.options.tile_heap(&self.plan.profile);
        let transfers = heap.is_some_and(|heap| heap.buffer_transfers);
        access.version == HistoryVersion::Current
            && !is_off_chip(frame, access)
            && (!access.kind.is_transfer() || transfers)
    }

    /// Minimum number of bytes that stores of a resource move, besides any loads, unless tile memory or strips hold all of it for its whole lifetime; 0 if
    /// nothing may have to be stored.
    pub(super) fn least_stored(&self, id: ResourceId, merging: &MergeablePasses<'_>) -> Bytes {
        let frame = self.plan.input.frame();
        let is_kept = frame.resource(id).persistence != Persistence::Transient;
        let is_read = || frame.accesses_to(id).any(Access::needs_contents);
        let merges = || {
            frame
                .accesses_to(id)
                .any(|access| self.may_be_merged(access, merging))
        };
        match is_kept || is_read() && !merges() {
            true => {
                let writes = frame.accesses_to(id).filter(|access| access.writes);
                smallest(frame, writes, self.counted_size(id))
            }
            false => Bytes::ZERO,
        }
    }

    /// Minimum number of bytes that a resource moves if strips hold it, or tile memory for a stretch of its lifetime, wherever possible; `None` if
    /// neither can, or without a tile heap. `is_split` is true if neither strips nor tile memory can hold it for its whole lifetime.
    pub(super) fn least_in_part(
        &self,
        id: ResourceId,
        is_split: bool,
        merging: &MergeablePasses<'_>,
    ) -> Option<Bytes> {
        let frame = self.plan.input.frame();
        let stretch = self.may_be_stored(id);
        if self.heap() == 0 || !(stretch || may_be_divided(frame, id)) {
            return None;
        }
        let is_free =
            |access: &Access| may_be_of_part(frame, access) || stretch && self.may_be_in_tile_memory(access);
        let merges = |access: &&Access| self.may_be_merged(access, merging);
        let size = self.counted_size(id);
        let (on_chip, moved): (Vec<&Access>, Vec<&Access>) =
            frame.accesses_to(id).partition(|access| is_free(access));
        if on_chip.is_empty() {
            return None;
        }
        let writes = frame.accesses_to(id).filter(|access| access.writes);
        let reads = frame.accesses_to(id).filter(|access| access.needs_contents());
        let reads: Vec<&Access> = reads.collect();
        let loaded = |reads: Vec<&Access>| match reads.iter().any(merges) {
            true => Bytes::ZERO,
            false => smallest(frame, reads.into_iter(), size),
        };
        let mut least = self.least_off_chip(id, merging, is_free);
        if moved.iter().any(|access| access.writes) && !on_chip.iter().any(|access| access.writes) {
            least += loaded(on_chip);
        }
        // Something is written to memory and read from there.
        Some(match is_split && !reads.is_empty() {
            true => least.max(smallest(frame, writes, size) + loaded(reads)),
            false => least,
        })
    }
}

/// The kinds of groups in which two accesses to a resource may find the same contents on chip.
#[derive(Clone, Copy)]
struct SharedGroups {
    merged: bool,
    strips: bool,
}

impl SharedGroups {
    fn any(self) -> bool {
        self.merged || self.strips
    }

    /// The kinds of groups that are in both.
    fn intersection(self, other: SharedGroups) -> SharedGroups {
        SharedGroups {
            merged: self.merged && other.merged,
            strips: self.strips && other.strips,
        }
    }
}

/// A write, and the stores and loads that have been counted for its contents.
struct Written<'a> {
    write: &'a Access,
    stored: Bytes,
    /// Accesses in different groups, each of which loads the contents.
    loads: Vec<&'a Access>,
    /// The kinds of groups that this write may share with the previous one, and the bytes that move if the two are in different groups.
    shared_with_previous: Option<(SharedGroups, Bytes)>,
}

impl Model<'_> {
    /// The kinds of groups in which some arrangement may make two accesses to a resource with its contents on chip in between: one merged pass, or the same
    /// strips, which also run what has to run between them.
    fn shared_groups(&self, one: &Access, other: &Access, merging: &MergeablePasses<'_>) -> SharedGroups {
        let (first, second) = (one.pass, other.pass);
        SharedGroups {
            merged: first == second || merging.merges(first, second),
            strips: first == second || self.share_strips(one, other, merging),
        }
    }

    /// Returns true if some arrangement makes two accesses to a resource in the same strips, which hold its contents in between.
    pub(super) fn share_strips(&self, one: &Access, other: &Access, merging: &MergeablePasses<'_>) -> bool {
        let frame = self.plan.input.frame();
        self.heap() > 0
            && [one, other].iter().all(|access| may_be_of_part(frame, access))
            && merging.share_batch(one.pass, other.pass)
            && never_divided(frame, &merging.with_those_between(&[one.pass, other.pass])).is_none()
    }

    /// Minimum number of bytes that a resource moves between groups, unless tile memory holds all of it.
    ///
    /// Whatever a write leaves for an access that never shares its group is stored once after the one group, and loaded before each group with such an
    /// access. No other write counts the same bytes: between two writes of one group, nothing outside the group runs that uses the resource. A group is
    /// merged or runs in strips: if a write may share only one kind with the write before, and an access only the other kind with it, one of the two is
    /// in another group.
    pub(super) fn least_between_groups(&self, id: ResourceId, merging: &MergeablePasses<'_>) -> Bytes {
        if self.may_be_stored(id) {
            return Bytes::ZERO;
        }
        let frame = self.plan.input.frame();
        let size = self.counted_size(id);
        let touched = |access: &Access| match frame.times_moved(access) {
            0 => Bytes::ZERO,
            _ => frame.bytes_touched(access, size),
        };
        // Minimum number of bytes that both touch, wherever these are in the resource.
        let common = |write: &Access, read: &Access| match write.range == read.range {
            true => {
                let part = frame.resource(id).bytes_in(write.range, size);
                Bytes((touched(write) + touched(read)).0.saturating_sub(part.0))
            }
            false => Bytes::ZERO,
        };
        let mut least = Bytes::ZERO;
        let mut last: Option<Written<'_>> = None;
        let current = |access: &&Access| access.version == HistoryVersion::Current;
        for access in frame.accesses_to(id).filter(current) {
            let mut shared_with_previous = None;
            if let Some(written) = last.as_mut().filter(|_| access.needs_contents()) {
                let bytes = common(written.write, access);
                // A write that keeps what it does not overwrite reads nothing.
                let loaded = if access.reads { bytes } else { Bytes::ZERO };
                let shared = self.shared_groups(written.write, access, merging);
                let apart = written.loads.iter();
                let mut apart = apart.map(|other| self.shared_groups(other, access, merging));
                if !shared.any() {
                    let stored = bytes.0.saturating_sub(written.stored.0);
                    written.stored += Bytes(stored);
                    least += Bytes(stored);
                    if apart.all(|shared| !shared.any()) {
                        least += loaded;
                        written.loads.push(access);
                    }
                } else if written.stored == Bytes::ZERO {
                    let cut = bytes + loaded;
                    let before = written
                        .shared_with_previous
                        .take_if(|(before, _)| !before.intersection(shared).any());
                    match before {
                        Some((_, before)) => {
                            least += before.min(cut);
                            written.stored = bytes;
                            written.loads.push(access);
                        }
                        None => shared_with_previous = Some((shared, cut)),
                    }
                }
            }
            if access.writes {
                last = Some(Written {
                    write: access,
                    stored: Bytes::ZERO,
                    loads: Vec::new(),
                    shared_with_previous,
                });
            }
        }
        match (frame.resource(id).persistence, last) {
            // Contents needed after the frame are stored.
            (Persistence::History | Persistence::External(_), Some(written)) => {
                least + Bytes(touched(written.write).0.saturating_sub(written.stored.0))
            }
            _ => least,
        }
    }
}

/// Returns true if some arrangement may run a pass in strips.
pub(super) fn may_be_in_strips(frame: &Frame, pass: PassId) -> bool {
    never_divided(frame, &[pass]).is_none()
}
