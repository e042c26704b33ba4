//! Passes that use more at once than the tile heap holds, or keep more for later ones.
//!
//! ```text
//! heap 8 MiB       light reads albedo 4, normal 4, depth 4, writes hdr 8, none of them in strips: 4 + 4 fit, at least 4 + 8 move
//! ```
//! A resource that no strips hold for its whole lifetime is whole in tile memory in all passes from its first use to its last, or moves at least the
//! bytes that it would move if strips copied it at their borders, or if a stretch of its lifetime were in tile memory.

use tileheap_units::CompactSort;

use super::least::{may_be_in_strips, may_be_of_part};
use super::mergeable::MergeablePasses;
use super::traffic::Model;
use crate::frame::{Frame, PassId, ResourceId};
use crate::units::Bytes;

/// A pass that uses more at once than the tile heap holds, or keeps it for later passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrowdedPass {
    /// The pass.
    pub pass: PassId,
    /// Size of the resources that it uses and that the tile heap could hold, without those that strips divide, and of those that only fit as a whole and
    /// are used before and after it in every order.
    pub used: Bytes,
    /// Lower bound on the bytes per frame that move because they do not fit together.
    pub bytes: Bytes,
}

impl CrowdedPass {
    /// A sentence with the pass and what it uses.
    pub fn in_words(&self, frame: &Frame) -> String {
        format!(
            "pass `{}` uses or keeps {} at once of what could be in tile memory, more than it holds",
            frame.pass(self.pass).name,
            self.used
        )
    }
}

/// A crowded pass with its resources.
#[derive(Clone, Debug)]
pub(super) struct Crowd {
    pub(super) pass: CrowdedPass,
    /// The resources that do not fit together, each with the bytes that move at least if it is off chip.
    pub(super) moved: Vec<(ResourceId, u64)>,
}

/// A resource in one pass.
#[derive(Clone, Copy)]
struct Used {
    resource: ResourceId,
    size: u64,
    /// Bytes that move at least if the resource is off chip in the pass.
    saved: u64,
    /// True if strips may divide it.
    is_divided: bool,
}

/// Lower bounds on the bytes that resources move.
#[derive(Clone, Copy)]
pub(super) struct LeastMoved<'a> {
    /// Per resource, in every arrangement.
    pub(super) always: &'a [u64],
    /// Per resource, unless tile memory holds all of it for its whole lifetime; 0 if strips may hold it instead.
    pub(super) unless_whole: &'a [u64],
}

impl Model<'_> {
    /// The passes that use or keep more of the resources without a bound of their own than the heap holds. Most bytes first.
    pub(super) fn crowded(&self, least: LeastMoved<'_>, merging: &MergeablePasses<'_>) -> Vec<Crowd> {
        let in_strips = self.plan.input.frame().pass_ids();
        let mut in_strips = in_strips.filter(|&pass| self.plan.input.strip(pass).is_some());
        if in_strips.next().is_some() && self.costs.halo < 1.0 {
            // Accesses of earlier strips count less than they move.
            return Vec::new();
        }
        let nothing = vec![0; least.always.len()];
        let by_access = LeastMoved {
            unless_whole: &nothing,
            ..least
        };
        let both = [least, by_access].map(|least| self.crowds(least, merging));
        let bytes = |crowds: &Vec<Crowd>| crowds.iter().map(|crowd| crowd.pass.bytes).sum::<Bytes>();
        let [by_lifetime, by_access] = both;
        let mut crowds = match bytes(&by_lifetime) >= bytes(&by_access) {
            true => by_lifetime,
            false => by_access,
        };
        crowds.compact_sort_by_key(|crowd| std::cmp::Reverse(crowd.pass.bytes));
        crowds
    }

    /// Crowded passes that have no bytes in common: a whole lifetime counts for the pass where most bytes move.
    fn crowds(&self, least: LeastMoved<'_>, merging: &MergeablePasses<'_>) -> Vec<Crowd> {
        // Resources whose lifetime has been counted are no longer part of any other pass.
        let mut counted = vec![false; least.always.len()];
        let passes = self.plan.input.frame().pass_ids();
        let of_pass = |pass| self.crowd(pass, least, &counted, merging);
        let mut left: Vec<Crowd> = passes.filter_map(of_pass).collect();
        left.compact_sort_by_key(|crowd| crowd.pass.bytes);
        let mut crowds: Vec<Crowd> = Vec::new();
        while let Some(largest) = left.pop() {
            let Some(again) = self.crowd(largest.pass.pass, least, &counted, merging) else {
                continue;
            };
            let bytes = again.pass.bytes;
            if left.last().is_some_and(|next| next.pass.bytes > bytes) {
                let place = left.partition_point(|other| other.pass.bytes < bytes);
                left.insert(place, again);
                continue;
            }
            for (resource, _) in &again.moved {
                counted[resource.index()] |= least.unless_whole[resource.index()] > 0;
            }
            crowds.push(again);
        }
        crowds
    }

    /// The resources that one pass uses or keeps, if they are more than the heap holds.
    fn crowd(
        &self,
        pass: PassId,
        least: LeastMoved<'_>,
        counted: &[bool],
        merging: &MergeablePasses<'_>,
    ) -> Option<Crowd> {
        let frame = self.plan.input.frame();
        let heap = self.heap();
        let strips = may_be_in_strips(frame, pass);
        let is_free = |resource: ResourceId| {
            !self.could_be_resident(resource)
                || self.moved_whole(resource) == Bytes::ZERO
                || least.always[resource.index()] > 0
        };
        let mut all = self.kept(pass, least, merging);
        all.retain(|one| !counted[one.resource.index()]);
        for access in frame.accesses_of(pass) {
            let resource = access.resource;
            if is_free(resource) || least.unless_whole[resource.index()] > 0 {
                continue;
            }
            let size = self.counted_size(resource);
            let saved = match self.may_be_merged(access, merging) {
                true => 0,
                false => frame.traffic_of(access, size).0,
            };
            let is_divided = strips && may_be_of_part(frame, access);
            match all.iter_mut().find(|one| one.resource == resource) {
                Some(one) => {
                    one.saved += saved;
                    one.is_divided |= is_divided;
                }
                None => all.push(Used {
                    resource,
                    size: size.0,
                    saved,
                    is_divided,
                }),
            }
        }
        all.retain(|one| !one.is_divided);
        let used: u64 = all.iter().map(|one| one.size).sum();
        if used <= heap {
            return None;
        }
        all.retain(|one| one.saved > 0);
        let total: u64 = all.iter().map(|one| one.saved).sum();
        let moved = all.iter().map(|one| (one.resource, one.saved)).collect();
        let bytes = Bytes(total - most_saved(all, heap).min(total));
        let used = Bytes(used);
        (bytes > Bytes::ZERO).then_some(Crowd {
            pass: CrowdedPass { pass, used, bytes },
            moved,
        })
    }

    /// The resources with a bound for their whole lifetime that a pass uses, or that are used before and after it in every order.
    fn kept(&self, pass: PassId, least: LeastMoved<'_>, merging: &MergeablePasses<'_>) -> Vec<Used> {
        let frame = self.plan.input.frame();
        let bound = frame.resource_ids().zip(least.unless_whole);
        let bound = bound.filter(|&(id, &saved)| saved > 0 && least.always[id.index()] == 0);
        let is_kept = |id: ResourceId| {
            let (mut before, mut after) = (false, false);
            for access in frame.accesses_to(id) {
                before |= access.pass == pass || merging.has_to_precede(access.pass, pass);
                after |= access.pass == pass || merging.has_to_precede(pass, access.pass);
            }
            before && after
        };
        let kept = bound.filter(|&(id, _)| is_kept(id));
        kept.map(|(resource, &saved)| Used {
            resource,
            size: self.counted_size(resource).0,
            saved,
            is_divided: false,
        })
        .collect()
    }
}

/// Sets of resources tried for one pass; beyond them, the bound may count a part of a resource.
const MAX_SETS: u32 = 10_000;

/// Upper bound on the bytes that the resources in a heap save: exact for up to [`MAX_SETS`] sets.
fn most_saved(mut all: Vec<Used>, heap: u64) -> u64 {
    all.retain(|one| one.size <= heap);
    all.compact_sort_by(|a, b| {
        let (left, right) = (
            u128::from(b.saved) * u128::from(a.size),
            u128::from(a.saved) * u128::from(b.size),
        );
        left.cmp(&right)
    });
    let mut search = Knapsack {
        all: &all,
        best: 0,
        sets: 0,
    };
    let bound = search.bound(0, heap);
    search.add(0, heap, 0);
    match search.sets < MAX_SETS {
        true => search.best,
        false => bound,
    }
}

struct Knapsack<'a> {
    /// Most bytes saved per byte of tile memory first.
    all: &'a [Used],
    best: u64,
    sets: u32,
}

impl Knapsack<'_> {
    /// Bytes that the resources from `first` on save in `room` bytes, if part of one counts.
    fn bound(&self, first: usize, mut room: u64) -> u64 {
        let mut saved = 0;
        for one in &self.all[first..] {
            if one.size > room {
                return saved
                    + (u128::from(one.saved) * u128::from(room)).div_ceil(u128::from(one.size)) as u64;
            }
            room -= one.size;
            saved += one.saved;
        }
        saved
    }

    /// Tries the resources from `first` on.
    fn add(&mut self, first: usize, room: u64, saved: u64) {
        self.best = self.best.max(saved);
        self.sets += 1;
        if self.sets >= MAX_SETS || first == self.all.len() || saved + self.bound(first, room) <= self.best {
            return;
        }
        let one = self.all[first];
        if one.size <= room {
            self.add(first + 1, room - one.size, saved + one.saved);
        }
        self.add(first + 1, room, saved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_best_is_found() {
        let used = |sizes: &[(u64, u64)]| {
            let of = |&(size, saved): &(u64, u64)| Used {
                resource: ResourceId(0),
                size,
                saved,
                is_divided: false,
            };
            sizes.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(most_saved(used(&[(6, 7), (5, 5), (5, 5)]), 10), 10);
        assert_eq!(most_saved(used(&[(6, 6), (6, 6)]), 10), 6);
        assert_eq!(most_saved(used(&[(11, 60), (4, 2)]), 10), 2);
        assert_eq!(most_saved(Vec::new(), 10), 0);
        // Too many sets: no less than what fits.
        let many: Vec<(u64, u64)> = (0..60).map(|at| (101 + at % 7, 101 + at % 7)).collect();
        let most = most_saved(used(&many), 1000);
        assert!((909..=1000).contains(&most), "{most}");
    }
}
