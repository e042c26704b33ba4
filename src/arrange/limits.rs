//! Reasons why an arranged frame stays below 100 %: resources that strips cannot hold, and costs above the savings.

use tileheap_units::CompactSort;

use super::crowded::{BoundedResource, CrowdedBounds, CrowdedPassCost};
use super::error::CannotGroup;
use super::mergeable::MergeablePasses;
use super::residents::DescribedResident;
use super::strip_cost::{OnlyInStrips, StripCost, strip_costs};
use super::strips::{Division, can_repeat};
use super::traffic::Model;
use super::types::{Arrangement, GroupMode, PassGroup};
use crate::frame::{Frame, PassId, ResourceId};
use crate::units::Bytes;

/// A resource that the tile heap cannot hold as a whole, and that cannot be divided into strips, or only at a cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceCap {
    /// The resource.
    pub resource: ResourceId,
    /// Lower bound on the bytes per frame that the resource moves, even if passes are merged, or that repeating passes in its strips costs.
    pub bytes: Bytes,
    /// The reason why the resource is not divided or, if its strips cost too much, their minimum number.
    pub why: CannotGroup,
}

/// Part of the gap between the share of an arrangement and the cap: bytes per frame that the arrangement moves or is charged, and their cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// Number of bytes.
    pub bytes: Bytes,
    /// The cost or rule that causes these bytes.
    pub cause: ShortfallCause,
}

/// The cause of a part of the gap between the share of an arrangement and the cap.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ShortfallCause {
    /// A pass runs this many more times, once for every strip but the first.
    Repeats(PassId, u32),
    /// Strips read and write halos of a resource that is not on chip.
    Halo(ResourceId),
    /// Render passes are merged into others.
    Merged,
    /// The frame that is arranged is a rewritten one, in which passes are already repeated or merged.
    Rewritten,
    /// The uses of a resource are in several batches or submits, between which tile contents do not survive.
    SeveralWindows(ResourceId),
    /// No strips hold a resource, and it does not fit as a whole.
    TooLarge(ResourceId, CannotGroup),
    /// A resource would fit, whole or in strips, but resources with greater savings take up the heap.
    NoRoom(ResourceId),
    /// A resource that tile memory cannot hold is loaded and stored between passes that could be merged.
    NotMerged(ResourceId),
}

impl ShortfallCause {
    /// A sentence with the pass or resource and the rule.
    pub fn in_words(&self, frame: &Frame) -> String {
        let name = |resource: ResourceId| &frame.resource(resource).name;
        match self {
            ShortfallCause::Repeats(pass, times) => {
                let pass = &frame.pass(*pass).name;
                let times = match *times {
                    1 => "1 more time".to_owned(),
                    times => format!("{times} more times"),
                };
                format!("pass `{pass}` runs {times}, once for each strip but the first")
            }
            ShortfallCause::Halo(resource) => format!("halos of `{}`, which is not on chip", name(*resource)),
            ShortfallCause::Merged => "render passes are merged into others".to_owned(),
            ShortfallCause::Rewritten => {
                "passes are repeated or merged before the frame is arranged".to_owned()
            }
            ShortfallCause::SeveralWindows(resource) => format!(
                "`{}` is used in several batches or submits, and tile contents do not survive between them",
                name(*resource)
            ),
            ShortfallCause::TooLarge(resource, CannotGroup::NoInsideImage) => format!(
                "`{}` does not fit as a whole, and is used outside any sequence of passes that can run in strips",
                name(*resource)
            ),
            ShortfallCause::TooLarge(resource, why) => {
                format!(
                    "`{}` does not fit as a whole, and cannot be divided into strips: {why}",
                    name(*resource)
                )
            }
            ShortfallCause::NotMerged(resource) => format!(
                "`{}`, which tile memory cannot hold, is loaded and stored between passes, and no merge within the limits saves more than \
                 it costs",
                name(*resource)
            ),
            ShortfallCause::NoRoom(resource) => format!(
                "`{}` does not fit with the resources that save more, and no strips within the limits save more than they cost",
                name(*resource)
            ),
        }
    }
}

/// A pass that is not in a group, and the reasons why it cannot run in strips and cannot be merged. A reason is `None` if the pass could, but this
/// would not save more than it costs.
#[derive(Clone, Debug, PartialEq)]
pub struct UngroupedPass {
    /// The pass.
    pub pass: PassId,
    /// The reason why the pass cannot run in strips; `None` if it could.
    pub strips: Option<CannotGroup>,
    /// The reason why the pass cannot be merged with another render pass of its batch; `None` if it could.
    pub merge: Option<CannotGroup>,
}

impl Arrangement {
    /// Returns the ungrouped passes and why each is ungrouped. `frame` must already include this arrangement's description changes.
    pub fn ungrouped(&self, frame: &Frame) -> Vec<UngroupedPass> {
        let merging = MergeablePasses::new(frame);
        let mut alone = Vec::new();
        for batch in &self.batches {
            let groups = batch.groups.iter();
            let passes = groups.flat_map(|group| group.passes.iter().map(move |&pass| (pass, group)));
            let (order, groups): (Vec<PassId>, Vec<&PassGroup>) = passes.unzip();
            let once = |at: usize| groups[at].mode == GroupMode::Once;
            for (at, &pass) in order.iter().enumerate().filter(|(at, _)| once(*at)) {
                let merge = merging.why_unmergeable(pass, &order);
                let strips = no_strips(frame, &order, at);
                alone.push(UngroupedPass { pass, strips, merge });
            }
        }
        alone
    }
}

/// Returns the reason why no run that contains the pass at index `at` of `order` can be divided; `None` if one can.
fn no_strips(frame: &Frame, order: &[PassId], at: usize) -> Option<CannotGroup> {
    if let Err(why) = can_repeat(frame, order[at]) {
        return Some(why);
    }
    let mut why = Division::of(frame, &order[at..=at], &[]).err()?;
    for start in (0..=at).rev() {
        for end in (at + 1).max(start + 2)..=order.len() {
            match Division::of(frame, &order[start..end], &[]) {
                Ok(_) => return None,
                Err(found) => {
                    let ends = found.is_in_longer_runs();
                    if why == CannotGroup::NoInsideImage {
                        why = found;
                    }
                    if ends {
                        break;
                    }
                }
            }
        }
    }
    Some(why)
}

/// Lower bounds on the traffic of any arrangement.
pub(super) struct Bounds {
    /// Resources that tile memory can hold neither as a whole nor in strips.
    pub(super) caps: Vec<ResourceCap>,
    /// Bytes of resources that tile memory cannot hold: external, history and copied ones, or all of them without a tile heap.
    pub(super) fixed: Bytes,
    /// Per resource, its own lower bound among those of `caps`, `fixed` and `strips`; 0 if it has none.
    least: Vec<u64>,
    /// Per resource, true if it moves some bytes in every arrangement.
    always_moves: Vec<bool>,
    /// Passes that use or keep more at once than the tile heap holds.
    pub(super) crowded: Vec<CrowdedPassCost>,
    /// Costs of the strips of resources that tile memory holds only in strips.
    pub(super) strips: Vec<StripCost>,
}

impl Model<'_> {
    /// Computes the bytes that every arrangement moves. Resources that are on chip `as_described` for their whole lifetimes are only limited by what
    /// each pass uses at once.
    pub(super) fn bounds(&self, as_described: &[DescribedResident]) -> Bounds {
        let frame = self.plan.input.frame();
        let merging = MergeablePasses::new(frame);
        let mut bounds = Bounds {
            caps: Vec::new(),
            fixed: Bytes::ZERO,
            least: vec![0; frame.resources().len()],
            always_moves: vec![false; frame.resources().len()],
            crowded: Vec::new(),
            strips: Vec::new(),
        };
        let (mut bounded, mut striped, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
        for resource in frame.resource_ids() {
            let moved = self.moved_whole(resource);
            let described = as_described.iter().find(|one| one.resource == resource);
            let moved = described.map_or(moved, |one| match one.moved {
                Bytes::ZERO => moved,
                stretch => moved.min(stretch),
            });
            if moved == Bytes::ZERO {
                continue;
            }
            let fits = described.is_some_and(|one| one.moved == Bytes::ZERO)
                || self.could_be_resident(resource) && self.fits_whole(resource, &merging);
            let resident = self.could_be_resident(resource);
            let why = match resident {
                true => self.never_in_strips(resource, &merging),
                false => None,
            };
            let bytes = self.least_off_chip(resource, &merging, |_| false);
            let in_part = self.least_in_part(resource, resident, &merging);
            let bytes = in_part.map_or(bytes, |least| bytes.min(least));
            let between = self.least_between_groups(resource, &merging);
            let bytes = bytes.max(between).min(moved);
            let run = (resident && why.is_none()).then(|| self.run_inside(resource, &merging).1);
            if run.is_some() && !fits {
                striped.push(self.only_in_strips(resource, bytes, &merging));
            }
            bounded.push(BoundedResource {
                resource,
                bytes,
                fits,
                run,
                is_resident: described.is_some(),
                counted: Bytes::ZERO,
            });
            reasons.push(why);
        }
        let crowds = self.with_repeats(&mut bounds, &mut bounded, striped, &merging);
        bounds.crowded = crowds.passes;
        for ((one, why), bytes) in bounded.iter().zip(reasons).zip(crowds.outside_passes) {
            let (resource, bytes) = (one.resource, Bytes(bytes));
            bounds.least[resource.index()] = bytes.0 + one.counted.0;
            bounds.always_moves[resource.index()] = one.is_always_moved() && one.bytes > Bytes::ZERO;
            match why {
                _ if bytes == Bytes::ZERO => {}
                Some(why) => bounds.caps.push(ResourceCap { resource, bytes, why }),
                None => bounds.fixed += bytes,
            }
        }
        for cost in &bounds.strips {
            let (resource, bytes) = (cost.resource, cost.bytes());
            let why = CannotGroup::StripCost(cost.strips);
            let cap = ResourceCap { resource, bytes, why };
            bounds.caps.extend((bytes > Bytes::ZERO).then_some(cap));
        }
        let caps = &mut bounds.caps;
        caps.compact_sort_by_key(|cap| std::cmp::Reverse(cap.bytes));
        bounds
    }

    /// Computes the bounds in two ways and keeps those with the larger sum. Both count each repeat of a pass once: one way first for
    /// resources that fit only in strips, whatever else is on chip, the other only for all resources that a pass uses at once.
    fn with_repeats(
        &self,
        bounds: &mut Bounds,
        bounded: &mut [BoundedResource],
        striped: Vec<OnlyInStrips>,
        merging: &MergeablePasses<'_>,
    ) -> CrowdedBounds {
        let by_pass = self.crowded_bounds(bounded, &self.repeat_costs(), merging);
        let mut left = self.repeat_costs();
        let strips = strip_costs(striped, &mut left);
        if strips.is_empty() {
            return by_pass;
        }
        let of_strips = |one: &BoundedResource| {
            let cost = strips.iter().find(|cost| cost.resource == one.resource);
            cost.map_or(Bytes::ZERO, StripCost::bytes)
        };
        for one in &mut *bounded {
            one.counted = of_strips(one);
        }
        let by_resource = self.crowded_bounds(bounded, &left, merging);
        let all: Bytes = strips.iter().map(StripCost::bytes).sum();
        if by_pass.total > all.0 + by_resource.total {
            for one in bounded {
                one.counted = Bytes::ZERO;
            }
            return by_pass;
        }
        bounds.strips = strips;
        by_resource
    }

    /// Returns the bytes that the most recently evaluated arrangement moves or is charged in excess of the bounds, by cause.
    pub(super) fn shortfalls(&mut self, arrangement: &Arrangement, bounds: &Bounds) -> Vec<Shortfall> {
        let shortfall = |bytes, cause| Shortfall { bytes, cause };
        let repeats = self.laid.repeats.iter();
        let mut counted = self.counted_repeats(bounds);
        let above = self.moved_above_bounds(bounds, &mut counted);
        let repeated = |&(pass, times, bytes): &(PassId, u32, Bytes)| {
            let counted = &mut counted[pass.index()];
            let above = Bytes(bytes.0.saturating_sub(*counted));
            *counted = counted.saturating_sub(bytes.0);
            shortfall(above, ShortfallCause::Repeats(pass, times))
        };
        let mut all: Vec<Shortfall> = repeats.map(repeated).collect();
        all.push(shortfall(self.laid.merges, ShortfallCause::Merged));
        let before: Bytes = self.input_charges.into_iter().sum();
        all.push(shortfall(before, ShortfallCause::Rewritten));
        for (resource, more) in (0..).map(ResourceId).zip(above) {
            let laid = self.laid.resources[resource.index()];
            if self.still_moved(resource) > 0 {
                all.push(shortfall(Bytes(laid.halos), ShortfallCause::Halo(resource)));
            }
            if more == 0 {
                continue;
            }
            let divided = laid.part.is_some();
            let cause = if !self.could_be_resident(resource) || bounds.always_moves[resource.index()] {
                ShortfallCause::NotMerged(resource)
            } else {
                match self.outside_every_run(arrangement, resource) {
                    _ if laid.windows.is_some_and(|(first, last)| first != last) => {
                        ShortfallCause::SeveralWindows(resource)
                    }
                    Some(why) if !divided && self.counted_size(resource).0 > self.heap() => {
                        ShortfallCause::TooLarge(resource, why)
                    }
                    _ => ShortfallCause::NoRoom(resource),
                }
            };
            all.push(shortfall(Bytes(more), cause));
        }
        all.retain(|one| one.bytes > Bytes::ZERO);
        all.compact_sort_by_key(|one| std::cmp::Reverse(one.bytes));
        all
    }

    /// Per pass, the cost of its repeats that the bounds already count: only for resources that do not move the bytes of their bounds instead.
    fn counted_repeats(&self, bounds: &Bounds) -> Vec<u64> {
        let mut counted = vec![0; self.plan.input.frame().passes().len()];
        for cost in &bounds.strips {
            let mut left = cost.bytes().0.saturating_sub(self.still_moved(cost.resource));
            for &(pass, bytes) in &cost.repeats {
                let taken = left.min(bytes.0);
                counted[pass.index()] += taken;
                left -= taken;
            }
        }
        counted
    }

    /// Per resource, the bytes that it still moves in excess of the bounds. The bound of a crowded pass is deducted from the resources that
    /// the pass moves, then from its repeats (`counted`, per pass).
    fn moved_above_bounds(&self, bounds: &Bounds, counted: &mut [u64]) -> Vec<u64> {
        let frame = self.plan.input.frame();
        let moved = frame.resource_ids().map(|id| self.still_moved(id));
        let moved = moved.zip(&bounds.least);
        let mut above: Vec<u64> = moved.map(|(moved, least)| moved.saturating_sub(*least)).collect();
        let mut left = vec![0; frame.passes().len()];
        for (pass, _, bytes) in &self.laid.repeats {
            left[pass.index()] += bytes.0;
        }
        left.iter_mut()
            .zip(&*counted)
            .for_each(|(left, counted)| *left = left.saturating_sub(*counted));
        for crowd in &bounds.crowded {
            let mut bytes = crowd.pass.bytes.0;
            for &(id, moved) in &crowd.moved {
                let taken = bytes.min(moved).min(above[id.index()]);
                bytes -= taken;
                above[id.index()] -= taken;
            }
            for pass in &crowd.repeated {
                let actual = &mut left[pass.index()];
                let taken = bytes.min(*actual);
                (*actual, bytes) = (*actual - taken, bytes - taken);
                counted[pass.index()] += taken;
            }
        }
        above
    }

    /// Returns the reason why no run of consecutive passes can hold a resource; `None` if one can.
    fn outside_every_run(&mut self, arrangement: &Arrangement, resource: ResourceId) -> Option<CannotGroup> {
        let frame = self.plan.input.frame();
        let uses = |pass: &PassId| {
            let mut accesses = frame.accesses_of(*pass).iter();
            accesses.any(|access| access.resource == resource)
        };
        let mut why = None;
        for batch in &arrangement.batches {
            let groups = batch.groups.iter();
            let order: Vec<PassId> = groups.flat_map(|group| group.passes.iter().copied()).collect();
            let Some(first) = order.iter().position(uses) else {
                continue;
            };
            let last = order.iter().rposition(uses).unwrap_or(first);
            for start in (0..=first).rev() {
                for end in (last + 1).max(start + 2)..=order.len() {
                    match self.division(&order[start..end], &[]).as_ref() {
                        Ok(division) if division.inside.iter().any(|image| image.resource == resource) => {
                            return None;
                        }
                        Err(found) if found.is_in_longer_runs() => {
                            why = why.or(Some(found.clone()));
                            break;
                        }
                        _ => {}
                    }
                }
            }
        }
        Some(why.unwrap_or(CannotGroup::NoInsideImage))
    }
}
