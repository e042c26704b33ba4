//! Residency: the admitted resources that are placed in tile memory, their offsets, and the objects bound in each pass.
//!
//! ```text
//! heap   ┌─ albedo ────────┐ ┌─ bloom ─┐         a lifetime takes its bytes from first write to last read
//!        └─────────────────┘ └─────────┘
//! passes   0    1    2    3    4    5    6
//! bound   [0,N)──────────────][0,M)─────] nothing   one object per connected run of lifetimes, or a ladder of them
//! ```
//! Windows are planned separately, since contents never cross them. A greedy choice comes first; the search then improves it and bounds the distance
//! to the best possible one.

mod bind;
mod binning_cost;
mod candidate;
mod first_come;
mod greedy;
mod resident;

use std::collections::HashMap;

use self::bind::bind;
pub(super) use self::binning_cost::binning_costs;
use self::candidate::{Candidate, Order, PINNED, candidates, stretches};
use self::first_come::{first_come, residents_without_aliasing};
use self::greedy::{Vendor, best_of_orders, place_at_old_offsets, place_in_one_order};
pub(super) use self::resident::{Residency, TileResident};
use super::context::{Context, Ruling};
use super::{Ladder, MemoryKind, MemoryObject, ObjectId, Optimality, Plan, ResidencyStrategy};
use crate::frame::{Frame, PassId, ResourceId, TileConstraint};
use crate::profile::TileHeap;
use crate::units::{Bytes, Run, Span};
use tileheap_pack::{CostedDesc, Reservation, StepCost, Steps, WeightedItem, select_with_costs};
use tileheap_units::CompactSort;

/// Stretches of lifetimes that save more than their stores cost.
pub(super) struct Stretches {
    /// The resources, each with the pass after which it is stored.
    pub(super) stretches: Vec<(ResourceId, PassId)>,
    /// Optimality of the choice with these stretches, not counting the stores as steps.
    pub(super) optimality: Optimality,
}

/// Searches for the best choice among whole lifetimes and stretches, starting with the residents of `whole`; `None` if there are no stretches.
///
/// Lifetimes are those of the frame without stores. A store needs no additional room: everything alive while it runs is also placed in the previous
/// pass.
pub(super) fn choose_stretches(
    context: &Context<'_>,
    whole: &Plan,
) -> Result<Option<Stretches>, tileheap_pack::Error> {
    let Some(heap) = context.heap else {
        return Ok(None);
    };
    let offered = stretches(context, &heap);
    if offered.is_empty() {
        return Ok(None);
    }
    let mut candidates = candidates(context);
    let is_there = |candidate: &Candidate| {
        let placement = whole.placements_of(candidate.resource).first()?;
        (placement.memory == MemoryKind::Tile).then(|| TileResident::new(candidate, placement.offset))
    };
    let start: Vec<TileResident> = candidates.iter().filter_map(is_there).collect();
    candidates.extend(offered);
    let (residents, mut found) = improve(context, &heap, &mut candidates, &start)?;
    found.upper_bound -= pinned_savings(context.frame);
    let stored = |resident: &TileResident| Some((resident.resource, resident.stored_after?));
    Ok(Some(Stretches {
        stretches: residents.iter().filter_map(stored).collect(),
        optimality: found,
    }))
}

/// The stretches of lifetimes that may be in tile memory and would save more than their stores cost, given enough room.
pub(super) fn offered_stretches(context: &Context<'_>) -> Vec<(ResourceId, PassId)> {
    let Some(heap) = context.heap else {
        return Vec::new();
    };
    let offered = stretches(context, &heap);
    let stored = |candidate: &Candidate| Some((candidate.resource, candidate.stored_after?));
    offered.iter().filter_map(stored).collect()
}

/// Sum of the artificial savings that the search adds for resources that must be in tile memory.
fn pinned_savings(frame: &Frame) -> i64 {
    let resources = frame.resources().iter();
    let pinned = resources.filter(|resource| resource.tile_constraint == TileConstraint::Pinned);
    pinned.count() as i64 * PINNED.0 as i64
}

pub(super) fn choose(context: &Context<'_>) -> Result<Residency, tileheap_pack::Error> {
    let Context { frame, options, .. } = *context;
    let nothing = |passes| Residency {
        residents: Vec::new(),
        objects: Vec::new(),
        bound: vec![None; passes],
        reserved_by_runs: Bytes::ZERO,
        optimality: None,
    };
    let Some(heap) = context.heap else {
        return Ok(nothing(frame.passes().len()));
    };
    let mut candidates = candidates(context);
    if candidates.is_empty() {
        return Ok(nothing(frame.passes().len()));
    }
    let bind = |residents, ladder, binning_costs: &[StepCost]| {
        bind(context, &heap, residents, ladder, binning_costs)
    };
    let plain = match options.strategy {
        ResidencyStrategy::FirstCome => return Ok(first_come(context, &heap, &candidates)),
        _ if !options.aliasing => {
            candidates.compact_sort_by(|a, b| Order::Density.compare(a, b));
            // An image for each object would share bytes.
            return Ok(bind(
                residents_without_aliasing(&heap, &candidates),
                Ladder::Off,
                &[],
            ));
        }
        ResidencyStrategy::Fast => {
            let vendor = Vendor::new(&heap, &candidates);
            place_in_one_order(&heap, &mut candidates, &vendor)
        }
        ResidencyStrategy::Greedy | ResidencyStrategy::Off | ResidencyStrategy::Optimal => {
            let vendor = Vendor::new(&heap, &candidates);
            best_of_orders(&heap, &mut candidates, &vendor)
        }
    };
    if options.strategy != ResidencyStrategy::Optimal {
        return Ok(bind(plain, options.ladder, &[]));
    }
    let (residents, mut found) = improve(context, &heap, &mut candidates, &plain)?;
    let bound = bind(residents, options.ladder, &context.binning_costs);
    found.upper_bound -= pinned_savings(context.frame);
    let optimality = Some(recompute_optimality(context, &bound, found));
    Ok(Residency { optimality, ..bound })
}

/// Keeps the residents of `old`, a plan of a similar frame, if they still fit, and adds others by density, without a search.
///
/// One object per run of lifetimes, unless the option is [`Ladder::Always`]: weighing binning cost takes longer than everything else. If the
/// strategy does not search, or aliasing is off, chooses the residents again.
pub(super) fn repair(context: &Context<'_>, old: &Plan) -> Result<Residency, tileheap_pack::Error> {
    let options = context.options;
    let searches = matches!(
        options.strategy,
        ResidencyStrategy::Greedy | ResidencyStrategy::Optimal
    ) && options.aliasing;
    let Some(heap) = context.heap.filter(|_| searches) else {
        return choose(context);
    };
    let mut candidates = candidates(context);
    let offsets = offsets_in(context.frame, old);
    let residents = place_at_old_offsets(&heap, &mut candidates, &offsets);
    Ok(bind(context, &heap, residents, options.ladder, &[]))
}

/// Per resource of `frame`, its offset in tile memory in `old`.
fn offsets_in(frame: &Frame, old: &Plan) -> Vec<Option<Bytes>> {
    let same = frame.resources().len() == old.frame.resources().len();
    let mut named = HashMap::new();
    let mut find = |id: ResourceId| {
        let name = frame.resource(id).name.as_str();
        // Resources rarely change: the same id usually has the same name.
        if same && old.frame.resource(id).name == name {
            return Some(id);
        }
        if named.is_empty() {
            let ids = old.frame.resource_ids();
            named.extend(ids.map(|id| (old.frame.resource(id).name.as_str(), id)));
        }
        named.get(name).copied()
    };
    let offset = |id: ResourceId| {
        let placement = old.placements_of(find(id)?).first()?;
        (placement.memory == MemoryKind::Tile).then_some(placement.offset)
    };
    frame.resource_ids().map(offset).collect()
}

/// The optimality, with the value recomputed for the objects that are bound: the search may assume more object sizes than a plan may have objects.
fn recompute_optimality(context: &Context<'_>, bound: &Residency, found: Optimality) -> Optimality {
    let (rulings, binning_costs) = (&context.rulings, &context.binning_costs);
    let savings = |resident: &TileResident| match rulings[resident.resource.index()] {
        Ruling::Tile(savings) => savings.0,
        _ => 0,
    };
    let savings: u64 = bound.residents.iter().map(savings).sum();
    let reserved = bound
        .bound
        .iter()
        .map(|object| object.map(|object| bound.objects[object.index()].size));
    let binning_cost: u64 = reserved
        .zip(binning_costs)
        .map(|(size, binning_cost)| size.map_or(0, |size| binning_cost.of(size)))
        .sum();
    let value = savings as i64 - binning_cost as i64;
    Optimality {
        value,
        upper_bound: found.upper_bound.max(value),
        ..found
    }
}

/// Searches each window for a better choice than the greedy one.
fn improve(
    context: &Context<'_>,
    heap: &TileHeap,
    candidates: &mut [Candidate],
    greedy: &[TileResident],
) -> Result<(Vec<TileResident>, Optimality), tileheap_pack::Error> {
    let mut residents = Vec::with_capacity(candidates.len());
    let mut optimality = Optimality {
        value: 0,
        upper_bound: 0,
        least_reserved: true,
        steps: 0,
    };
    candidates.compact_sort_by_key(|candidate| {
        let Candidate { window, resource, .. } = *candidate;
        // The longest stretch of a lifetime last.
        (
            window,
            resource,
            candidate.span.end,
            candidate.stored_after.is_none(),
        )
    });
    // By window, ascending within each.
    let mut passes: Vec<(u32, u32)> = context.timeline.window.iter().copied().zip(0..).collect();
    passes.compact_sort();
    for window in greedy::windows(candidates) {
        let number = window[0].window;
        let of_window =
            passes.partition_point(|one| one.0 < number)..passes.partition_point(|one| one.0 <= number);
        let steps: Vec<u32> = passes[of_window].iter().map(|one| one.1).collect();
        let desc = selection_of(context, window, &steps, heap.size);
        let offset = |candidate: &Candidate| {
            let mut residents = greedy.iter();
            let same = |one: &&TileResident| {
                (one.resource, one.stored_after) == (candidate.resource, candidate.stored_after)
            };
            residents.find(same).map(|resident| resident.offset)
        };
        let start: Vec<Option<Bytes>> = window.iter().map(offset).collect();
        let budget = Steps(context.options.budget - optimality.steps);
        let found = select_with_costs(&desc, &start, budget)?;
        optimality.steps += found.steps.0;
        optimality.upper_bound += found.bound as i64;
        optimality.least_reserved &= found.least_reserved;
        for (candidate, offset) in window.iter().zip(found.offsets) {
            residents.extend(offset.map(|offset| TileResident::new(candidate, offset)));
        }
    }
    Ok((residents, optimality))
}

/// The selection problem for the candidates of one window, grouped by resource; `passes` are those of the window, in ascending order.
fn selection_of<'a>(
    context: &'a Context<'_>,
    window: &[Candidate],
    passes: &[u32],
    capacity: Bytes,
) -> CostedDesc<'a> {
    let rank = |pass: u32| passes.partition_point(|&one| one < pass) as u32;
    let items = window.iter().map(|candidate| WeightedItem {
        span: Span::new(rank(candidate.span.first.0), rank(candidate.span.end.0)),
        size: candidate.size,
        alignment: candidate.alignment,
        weight: candidate.savings.0,
    });
    let mut end = 0;
    let exclusive = window.chunk_by(|a, b| a.resource == b.resource).map(|same| {
        let first = end;
        end += same.len() as u32;
        Run::new(first, end)
    });
    CostedDesc {
        items: items.collect(),
        exclusive: exclusive.collect(),
        capacity,
        costs: passes
            .iter()
            .map(|&pass| &context.binning_costs[pass as usize])
            .collect(),
        reservation: match context.options.ladder {
            Ladder::Off => Reservation::PerRun,
            Ladder::Auto => Reservation::Cheapest,
            Ladder::Always => Reservation::PerStep,
        },
    }
}
