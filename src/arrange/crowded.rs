//! Passes that use, or keep for later passes, more at once than the tile heap holds.
//!
//! ```text
//! heap 8 MiB       light reads albedo 4, normal 4, depth 4, writes hdr 8, none of them in strips: 4 + 4 fit, at least 4 + 8 move
//! ```
//! A resource that is on chip for its whole lifetime is there in all passes from its first use to its last. Otherwise it moves at least the bytes
//! that it would move if strips copied it at their borders, or if a stretch of its lifetime were in tile memory. Each pass has a least cost
//! (`fit`), for parts of the bytes of each resource and of the repeats of each pass (`shares`).

use tileheap_units::CompactSort;

use super::fit::Use;
use super::least::{may_be_in_strips, may_be_of_part};
use super::mergeable::MergeablePasses;
use super::shares::{Auction, CrowdedUses, Division, ResourceBound};
use super::traffic::Model;
use super::uses::is_attached;
use crate::frame::tables::Access;
use crate::frame::{Frame, PassId, Persistence, ResourceId};
use crate::units::Bytes;

/// A pass that uses, or keeps for later passes, more at once than the tile heap holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrowdedPass {
    /// The pass.
    pub pass: PassId,
    /// Size of the resources that the pass uses and that the tile heap could hold, as a whole or in strips, and of those that are used before and after
    /// the pass in every order.
    pub used: Bytes,
    /// Lower bound on the bytes per frame that these resources move because they do not fit together, or that repeating the pass in strips costs.
    pub bytes: Bytes,
}

impl CrowdedPass {
    /// Describes the pass and the size of the resources that it uses or keeps.
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
pub(super) struct CrowdedPassCost {
    pub(super) pass: CrowdedPass,
    /// The resources that do not fit together, each with the bytes that count here if it is off chip.
    pub(super) moved: Vec<(ResourceId, u64)>,
    /// The passes that its strips repeat.
    pub(super) repeated: Vec<PassId>,
}

/// A resource and the bytes that it moves unless it is on chip for its whole lifetime.
pub(super) struct BoundedResource {
    pub(super) resource: ResourceId,
    pub(super) bytes: Bytes,
    /// True if tile memory may hold all of it for its whole lifetime.
    pub(super) fits: bool,
    /// The passes of the strips that may hold it for its whole lifetime; `None` if none may.
    pub(super) run: Option<Vec<PassId>>,
    /// True if the plan of the described frame has it in tile memory, at least for a stretch of its lifetime.
    pub(super) is_resident: bool,
    /// Bytes that are already counted as the cost of its strips.
    pub(super) counted: Bytes,
}

impl BoundedResource {
    /// Returns true if the resource moves its bytes in every arrangement.
    pub(super) fn is_always_moved(&self) -> bool {
        !self.fits && self.run.is_none()
    }
}

/// Bounds with the crowded passes.
pub(super) struct CrowdedBounds {
    pub(super) passes: Vec<CrowdedPassCost>,
    /// Per bounded resource, the bytes that it moves in every arrangement and that no crowded pass counts.
    pub(super) outside_passes: Vec<u64>,
    /// Sum of `outside_passes` and of the least costs of the crowded passes.
    pub(super) total: u64,
}

impl Model<'_> {
    /// Returns a lower bound on the total bytes that these resources move, from what fits in each pass, and the crowded passes in
    /// descending order of bytes. `repeats` has the part of the cost of one more execution of each pass that no other bound counts.
    pub(super) fn crowded_bounds(
        &self,
        bounded: &[BoundedResource],
        repeats: &[u64],
        merging: &MergeablePasses<'_>,
    ) -> CrowdedBounds {
        let mut resources: Vec<ResourceBound> = bounded
            .iter()
            .map(|one| ResourceBound {
                bytes: one.bytes.0,
                is_always: one.is_always_moved(),
                counted: one.counted.0,
                stored: self.least_stored(one.resource, merging).min(one.bytes).0,
                ..ResourceBound::default()
            })
            .collect();
        let mut in_strips = self.plan.input.frame().pass_ids();
        let has_strips = in_strips.any(|pass| self.plan.input.strip(pass).is_some());
        // Accesses of earlier strips may count less than they move.
        let ids = self.plan.input.frame().pass_ids();
        let (passes, crowded): (Vec<PassId>, Vec<CrowdedUses>) = match has_strips && self.costs.halo < 1.0 {
            true => (Vec::new(), Vec::new()),
            false => ids
                .filter_map(|pass| {
                    Some((
                        pass,
                        self.crowded_uses(pass, (bounded, &mut resources), repeats, merging)?,
                    ))
                })
                .unzip(),
        };
        let auction = Auction {
            heap: self.heap(),
            resources: &resources,
            passes: &crowded,
            repeats,
        };
        let Division {
            total,
            outside_passes,
            fits,
            uses,
        } = auction.best();
        let mut crowds = Vec::new();
        for ((pass, crowded), (fit, bytes)) in passes.iter().zip(&crowded).zip(fits.iter().zip(&uses)) {
            if fit.cost == 0 {
                continue;
            }
            let resource = |&at: &usize| bounded[at].resource;
            let size = |at: &usize| self.counted_size(resource(at));
            crowds.push(CrowdedPassCost {
                pass: CrowdedPass {
                    pass: *pass,
                    used: crowded.resources.iter().map(size).sum(),
                    bytes: Bytes(fit.cost),
                },
                moved: crowded
                    .resources
                    .iter()
                    .map(resource)
                    .zip(bytes.iter().copied())
                    .collect(),
                repeated: crowded.repeats.iter().map(|&pass| PassId(pass as u32)).collect(),
            });
        }
        crowds.compact_sort_by_key(|crowd| std::cmp::Reverse(crowd.pass.bytes));
        CrowdedBounds {
            passes: crowds,
            outside_passes,
            total,
        }
    }

    /// The resources that a pass uses or keeps, if they are more than the heap holds.
    fn crowded_uses(
        &self,
        pass: PassId,
        (bounded, bounds): (&[BoundedResource], &mut [ResourceBound]),
        repeats: &[u64],
        merging: &MergeablePasses<'_>,
    ) -> Option<CrowdedUses> {
        let frame = self.plan.input.frame();
        let may_divide = may_be_in_strips(frame, pass);
        let mut crowded = CrowdedUses {
            resources: Vec::new(),
            uses: Vec::new(),
            loads: Vec::new(),
            is_kept: Vec::new(),
            repeats: vec![pass.index()],
            may_divide,
        };
        let mut used = 0u64;
        for (number, one) in bounded.iter().enumerate() {
            let is_kept = !one.is_always_moved() && is_kept(frame, one.resource, pass, merging);
            let (mut here, mut loads) = (Use::default(), 0);
            let mut part_run: Option<Vec<PassId>> = None;
            let accesses = frame.accesses_of(pass).iter();
            for access in accesses.filter(|access| access.resource == one.resource) {
                let size = self.counted_size(one.resource);
                let (moved, loaded) = match self.may_be_merged(access, merging) {
                    true => (0, 0),
                    false => (frame.traffic_of(access, size).0, loaded(frame, access, size).0),
                };
                let as_whole =
                    self.could_be_resident(one.resource) || one.is_resident || self.may_be_in_stretch(access);
                let in_part = may_divide.then(|| self.run_in_part(access, merging)).flatten();
                if as_whole {
                    here.whole_size = Some(self.counted_size(one.resource).0);
                }
                if as_whole || in_part.is_some() {
                    (here.accessed, loads) = (here.accessed + moved, loads + loaded);
                } else {
                    bounds[number].off_chip += moved;
                    bounds[number].off_chip_loads += loaded;
                }
                if let Some(run) = in_part {
                    let known = part_run.take().unwrap_or_else(|| run.clone());
                    part_run = Some(known.into_iter().filter(|pass| run.contains(pass)).collect());
                }
                if is_attached(access) {
                    here.attached_size = Some(self.divided_size(one.resource));
                }
            }
            if is_kept && one.fits {
                (here.whole_size, here.is_lasting) = (Some(self.counted_size(one.resource).0), true);
            }
            here.is_part = part_run.is_some();
            let run = one.run.as_ref().filter(|_| may_divide && is_kept);
            if here.is_part || run.is_some() {
                here.divided_size = Some(self.divided_size(one.resource));
            }
            if here.whole_size.is_none() && here.divided_size.is_none() || here.accessed == 0 && !is_kept {
                continue;
            }
            let mut bits = |run: &[PassId]| {
                let costly = run.iter().filter(|other| repeats[other.index()] > 0);
                costly.fold(1, |bits, other| {
                    let known = crowded.repeats.iter().position(|&known| known == other.index());
                    let bit = known.unwrap_or(crowded.repeats.len());
                    if known.is_none() && bit < 64 {
                        crowded.repeats.push(other.index());
                    }
                    bits | 1u64.checked_shl(bit as u32).unwrap_or(0)
                })
            };
            here.part_run = part_run.map_or(0, |run| bits(&run));
            here.run = run.map(|run| bits(run));
            used = used.saturating_add(self.counted_size(one.resource).0);
            here.whole_size = here.whole_size.filter(|&size| size <= self.heap());
            crowded.resources.push(number);
            crowded.uses.push(here);
            crowded.loads.push(loads);
            crowded.is_kept.push(is_kept);
        }
        (used > self.heap()).then_some(crowded)
    }

    /// The minimum set of passes that run in the strips of an access's pass if the strips hold the resource between copies at their borders
    /// and this moves fewer bytes than the access itself: with another pass that uses the resource, or if nothing needs what the access
    /// writes. `None` if no strips may hold it.
    fn run_in_part(&self, access: &Access, merging: &MergeablePasses<'_>) -> Option<Vec<PassId>> {
        let frame = self.plan.input.frame();
        if !may_be_of_part(frame, access) {
            return None;
        }
        let others = frame.accesses_to(access.resource);
        let mut others = others.filter(|other| other.pass != access.pass);
        let is_transient = frame.resource(access.resource).persistence == Persistence::Transient;
        let is_needed = |other: &Access| other.pass > access.pass && other.range.intersects(access.range);
        if access.writes && is_transient && !others.clone().any(is_needed) {
            return Some(vec![access.pass]);
        }
        let shared = others
            .by_ref()
            .filter(|other| self.share_strips(access, other, merging));
        let runs = shared.map(|other| merging.with_those_between(&[access.pass, other.pass]));
        runs.reduce(|known, run| known.into_iter().filter(|pass| run.contains(pass)).collect())
    }
}

/// The bytes that an access loads, if it is off chip.
fn loaded(frame: &Frame, access: &Access, size: Bytes) -> Bytes {
    match (access.reads, access.writes, frame.times_moved(access)) {
        (true, false, 1) | (true, true, 2) => frame.bytes_touched(access, size),
        _ => Bytes::ZERO,
    }
}

/// Returns true if a resource is used by a pass, or before and after it in every order.
fn is_kept(frame: &Frame, resource: ResourceId, pass: PassId, merging: &MergeablePasses<'_>) -> bool {
    let (mut before, mut after) = (false, false);
    for access in frame.accesses_to(resource) {
        before |= access.pass == pass || merging.has_to_precede(access.pass, pass);
        after |= access.pass == pass || merging.has_to_precede(pass, access.pass);
    }
    before && after
}
