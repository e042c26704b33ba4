//! Passes that use more at once than the tile heap holds.
//!
//! ```text
//! heap 8 MiB       light reads albedo 4, normal 4, depth 4, writes hdr 8, none of them in strips: 4 + 4 fit, at least 4 + 8 move
//! ```

use tileheap_units::CompactSort;

use super::least::{may_be_in_strips, may_be_of_part};
use super::mergeable::MergeablePasses;
use super::traffic::Model;
use crate::frame::{Frame, PassId, ResourceId};
use crate::units::Bytes;

/// A pass that uses more at once than the tile heap holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrowdedPass {
    /// The pass.
    pub pass: PassId,
    /// Size of the resources that it uses and that the tile heap could hold, without those that strips divide.
    pub used: Bytes,
    /// Lower bound on the bytes per frame that it moves because they do not fit together.
    pub bytes: Bytes,
}

impl CrowdedPass {
    /// A sentence with the pass and what it uses.
    pub fn in_words(&self, frame: &Frame) -> String {
        format!(
            "pass `{}` uses {} at once of what could be in tile memory, more than it holds",
            frame.pass(self.pass).name,
            self.used
        )
    }
}

/// A resource in one pass.
#[derive(Clone, Copy)]
struct Used {
    resource: ResourceId,
    size: u64,
    /// Bytes that the pass moves at least if the resource is off chip.
    saved: u64,
    /// True if strips may divide it.
    is_divided: bool,
}

impl Model<'_> {
    /// The passes that use more of the resources without a bound of their own than the heap holds: `least` has the bounds. Most bytes first.
    pub(super) fn crowded(&self, least: &[u64], merging: &MergeablePasses<'_>) -> Vec<CrowdedPass> {
        let frame = self.plan.input.frame();
        let heap = self.heap();
        let mut crowded = Vec::new();
        let in_strips = frame.pass_ids().any(|pass| self.plan.input.strip(pass).is_some());
        if in_strips && self.costs.halo < 1.0 {
            // Accesses of earlier strips count less than they move.
            return crowded;
        }
        for pass in frame.pass_ids() {
            let strips = may_be_in_strips(frame, pass);
            let mut all: Vec<Used> = Vec::new();
            for access in frame.accesses_of(pass) {
                let resource = access.resource;
                if !self.could_be_resident(resource)
                    || self.moved_whole(resource) == Bytes::ZERO
                    || least[resource.index()] > 0
                {
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
                continue;
            }
            all.retain(|one| one.saved > 0);
            let total: u64 = all.iter().map(|one| one.saved).sum();
            let bytes = Bytes(total - most_saved(all, heap).min(total));
            let used = Bytes(used);
            crowded.extend((bytes > Bytes::ZERO).then_some(CrowdedPass { pass, used, bytes }));
        }
        crowded.compact_sort_by_key(|one| std::cmp::Reverse(one.bytes));
        crowded
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
