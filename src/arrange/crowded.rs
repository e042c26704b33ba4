//! Passes that use, or keep for later passes, more at once than the tile heap holds.
//!
//! ```text
//! heap 8 MiB       light reads albedo 4, normal 4, depth 4, writes hdr 8, none of them in strips: 4 + 4 fit, at least 4 + 8 move
//! ```
//! A resource that no strips hold for its whole lifetime is whole in tile memory in all passes from its first use to its last, or moves at least the
//! bytes that it would move if strips copied it at their borders, or if a stretch of its lifetime were in tile memory.
//!
//! ```text
//! heap 8 MiB       light, in n strips, writes hdr 8 and bloom 8: n = 1 moves 8, n = 2 moves nothing, and repeats light once
//! ```
//! For each number of strips, what is on chip in the pass has to fit: whole resources in each strip, and the parts of divided ones in all strips
//! together. Every other access moves, and every strip but the first repeats the pass: the bound is the least sum over all numbers of strips.

use tileheap_units::CompactSort;

use super::least::{may_be_in_strips, may_be_of_part};
use super::mergeable::MergeablePasses;
use super::traffic::Model;
use crate::frame::{Frame, PassId, ResourceId};
use crate::units::Bytes;

/// A pass that uses, or keeps for later passes, more at once than the tile heap holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrowdedPass {
    /// The pass.
    pub pass: PassId,
    /// Size of the resources that the pass uses and that the tile heap could hold, and of those that only fit as a whole and are used before and after
    /// the pass in every order. Resources that strips could divide count only if the cost is that of repeating these strips.
    pub used: Bytes,
    /// Lower bound on the bytes per frame that move because they do not fit together, or that the repeats of its strips cost.
    pub bytes: Bytes,
}

impl CrowdedPass {
    /// A sentence with the pass and what it uses.
    pub fn in_words(&self, frame: &Frame) -> String {
        format!(
            "pass `{}` uses or keeps {} of resources that could be in tile memory, more than the tile heap holds",
            frame.pass(self.pass).name,
            self.used
        )
    }
}

/// A crowded pass with its resources.
#[derive(Clone, Debug)]
pub(super) struct Crowd {
    pub(super) pass: CrowdedPass,
    /// The resources that do not fit together, each with the minimum number of bytes that move if it is off chip.
    pub(super) moved: Vec<(ResourceId, u64)>,
}

/// A resource that one pass uses or keeps.
#[derive(Clone, Copy)]
struct Used {
    resource: ResourceId,
    size: u64,
    /// Minimum number of bytes that move if the resource is off chip in the pass.
    saved: u64,
    /// Size of all of its strips together, if strips may divide it.
    divided: Option<u64>,
}

impl Used {
    /// The resource in a number of strips, 2 or more: its size is that of all strips together, each of which holds all of a resource that is not
    /// divided.
    fn in_strips(self, strips: u64) -> Used {
        Used {
            size: self.divided.unwrap_or_else(|| self.size.saturating_mul(strips)),
            ..self
        }
    }
}

/// Lower bounds on the bytes that resources move.
#[derive(Clone, Copy)]
pub(super) struct LeastMoved<'a> {
    /// Per resource, the bytes that it moves in every arrangement.
    pub(super) always: &'a [u64],
    /// Per resource, the bytes that it moves unless tile memory holds all of it for its whole lifetime; 0 if strips may hold it instead.
    pub(super) unless_whole: &'a [u64],
    /// Per pass, the part of the cost of one more execution that no other bound counts.
    pub(super) repeats: &'a [u64],
}

impl Model<'_> {
    /// The passes that use or keep more than the heap holds of the resources that have no bound of their own. Most bytes first.
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
            let divided = is_divided.then(|| self.divided_size(resource));
            match all.iter_mut().find(|one| one.resource == resource) {
                Some(one) => {
                    one.saved += saved;
                    one.divided = one.divided.or(divided);
                }
                None => all.push(Used {
                    resource,
                    size: size.0,
                    saved,
                    divided,
                }),
            }
        }
        let size = |one: &Used| one.size;
        let used: u64 = all.iter().map(size).sum();
        if used <= heap {
            return None;
        }
        let whole: u64 = all.iter().filter(|one| one.divided.is_none()).map(size).sum();
        all.retain(|one| one.saved > 0);
        let free = moved_in_any_strips(&all, heap);
        let bytes = least_cost(&all, heap, free, least.repeats[pass.index()]);
        let used = match bytes > free {
            true => used,
            false => whole,
        };
        (bytes > 0).then(|| Crowd {
            pass: CrowdedPass {
                pass,
                used: Bytes(used),
                bytes: Bytes(bytes),
            },
            moved: all.iter().map(|one| (one.resource, one.saved)).collect(),
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
            divided: None,
        })
        .collect()
    }
}

/// Lower bound on the bytes that these resources move: all of their bytes, minus the most that those on chip can save.
fn moved(all: &[Used], on_chip: Vec<Used>, heap: u64) -> u64 {
    let total: u64 = all.iter().map(|one| one.saved).sum();
    total - most_saved(on_chip, heap).min(total)
}

/// Minimum number of bytes that move in a pass in any number of strips, regardless of their cost: those of whole resources.
fn moved_in_any_strips(all: &[Used], heap: u64) -> u64 {
    let whole = all.iter().filter(|one| one.divided.is_none()).copied();
    let whole: Vec<Used> = whole.collect();
    moved(&whole, whole.clone(), heap)
}

/// Maximum number of strips tried for one pass.
const MAX_STRIPS: u64 = 64;

/// Minimum number of bytes that move or that repeats cost, over all numbers of strips. `free` bytes move in any number; one more execution costs
/// `repeat`.
fn least_cost(all: &[Used], heap: u64, free: u64, repeat: u64) -> u64 {
    let mut least = moved(all, all.to_vec(), heap);
    for strips in 2..=MAX_STRIPS {
        let repeats = repeat.saturating_mul(strips - 1);
        if repeat == 0 || free.saturating_add(repeats) >= least {
            break;
        }
        let on_chip = all.iter().map(|one| one.in_strips(strips)).collect();
        let bytes = moved(all, on_chip, heap.saturating_mul(strips));
        least = least.min(bytes.saturating_add(repeats));
    }
    least.min(free.saturating_add(repeat.saturating_mul(MAX_STRIPS)))
}

/// Maximum number of sets of resources tried for one pass; beyond it, the bound may count a part of a resource.
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
    /// The resources, in descending order of the bytes that they save per byte of tile memory.
    all: &'a [Used],
    best: u64,
    sets: u32,
}

impl Knapsack<'_> {
    /// Upper bound on the bytes that the resources from `first` on save in `room` bytes: a part of one resource may count.
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

    /// Tries the sets of resources from `first` on that may save more than the best set so far.
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
                divided: None,
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

    /// Three divided resources of 6 in a heap of 10: two strips hold 20 of 18 bytes, at the cost of one repeat; a whole one takes its room in each.
    #[test]
    fn more_strips_hold_more_at_a_cost() {
        let used = |size, saved, divided| Used {
            resource: ResourceId(0),
            size,
            saved,
            divided,
        };
        let divided = vec![used(6, 12, Some(6)); 3];
        let cost = |all: &[Used], repeat| least_cost(all, 10, moved_in_any_strips(all, 10), repeat);
        // Unless repeats cost more than what does not fit, which moves.
        assert_eq!(
            [0, 5, 24, 1000].map(|repeat| cost(&divided, repeat)),
            [0, 5, 24, 24]
        );
        // Of 10 bytes, 4 are left for the parts: at least 5 strips, or one resource less in 3 strips.
        let with_whole = [&divided[..], &[used(6, 100, None)]].concat();
        assert_eq!([0, 2, 5].map(|repeat| cost(&with_whole, repeat)), [0, 8, 20]);
        assert_eq!([10, 1000].map(|repeat| cost(&with_whole, repeat)), [32, 36]);
        // A resource that is too large in any number of strips moves.
        let too_large = [&divided[..], &[used(11, 7, None)]].concat();
        assert_eq!([0, 5].map(|repeat| cost(&too_large, repeat)), [7, 12]);
    }
}
