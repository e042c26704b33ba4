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
mod bound;
mod candidate;
mod first_come;
mod greedy;
mod problem;
mod resident;
mod search;
mod settle;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::ControlFlow;

use self::bind::bind;
pub(super) use self::binning_cost::{BinningCost, binning_costs};
use self::bound::Prices;
use self::candidate::{Candidate, Order, PINNED, candidates, stretches};
use self::first_come::{first_come, residents_apart};
use self::greedy::{Vendor, as_before, best_of_orders, in_one_order};
use self::problem::Problem;
pub(super) use self::resident::{Residency, TileResident};
use self::search::{ResidencyChoice, choice_at, choice_of, search};
use super::context::{Context, Ruling};
use super::{Ladder, MemoryKind, MemoryObject, ObjectId, Optimality, Plan, ResidencyStrategy};
use crate::frame::{Frame, PassId, ResourceId, TileConstraint};
use crate::profile::TileHeap;
use crate::units::{Alignment, Bytes, Span};
use tileheap_pack;
use tileheap_units::CompactSort;

/// Stretches of lifetimes that save more than their stores.
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
pub(super) fn choose_stretches(context: &Context<'_>, whole: &Plan) -> Option<Stretches> {
    let heap = context.heap?;
    let offered = stretches(context, &heap);
    if offered.is_empty() {
        return None;
    }
    let mut candidates = candidates(context);
    let is_there = |candidate: &Candidate| {
        let placement = whole.placements_of(candidate.resource).first()?;
        (placement.memory == MemoryKind::Tile).then(|| TileResident::new(candidate, placement.offset))
    };
    let start: Vec<TileResident> = candidates.iter().filter_map(is_there).collect();
    candidates.extend(offered);
    let (residents, mut found) = improve(context, &heap, &mut candidates, &start);
    found.upper_bound -= pins(context.frame);
    let stored = |resident: &TileResident| Some((resident.resource, resident.stored?));
    Some(Stretches {
        stretches: residents.iter().filter_map(stored).collect(),
        optimality: found,
    })
}

/// The stretches of lifetimes that may be in tile memory and would save more than their store, given enough room.
pub(super) fn offered_stretches(context: &Context<'_>) -> Vec<(ResourceId, PassId)> {
    let Some(heap) = context.heap else {
        return Vec::new();
    };
    let offered = stretches(context, &heap);
    let stored = |candidate: &Candidate| Some((candidate.resource, candidate.stored?));
    offered.iter().filter_map(stored).collect()
}

/// The savings that the search adds for resources that must be in tile memory.
fn pins(frame: &Frame) -> i64 {
    let resources = frame.resources().iter();
    let pinned = resources.filter(|resource| resource.tile_constraint == TileConstraint::Pinned);
    pinned.count() as i64 * PINNED.0 as i64
}

pub(super) fn choose(context: &Context<'_>) -> Residency {
    let Context { frame, options, .. } = *context;
    let nothing = |passes| Residency {
        residents: Vec::new(),
        objects: Vec::new(),
        bound: vec![None; passes],
        reserved_by_runs: Bytes::ZERO,
        optimality: None,
    };
    let Some(heap) = context.heap else {
        return nothing(frame.passes().len());
    };
    let mut candidates = candidates(context);
    if candidates.is_empty() {
        return nothing(frame.passes().len());
    }
    let bind = |residents, ladder, binning_costs: &[BinningCost]| {
        bind(context, &heap, residents, ladder, binning_costs)
    };
    let plain = match options.strategy {
        ResidencyStrategy::FirstCome => return first_come(context, &heap, &candidates),
        _ if !options.aliasing => {
            candidates.compact_sort_by(|a, b| Order::Density.compare(a, b));
            // An image for each object would share bytes.
            return bind(residents_apart(&heap, &candidates), Ladder::Off, &[]);
        }
        ResidencyStrategy::Fast => {
            let vendor = Vendor::new(&heap, &candidates);
            in_one_order(&heap, &mut candidates, &vendor)
        }
        ResidencyStrategy::Greedy | ResidencyStrategy::Off | ResidencyStrategy::Optimal => {
            let vendor = Vendor::new(&heap, &candidates);
            best_of_orders(&heap, &mut candidates, &vendor)
        }
    };
    if options.strategy != ResidencyStrategy::Optimal {
        return bind(plain, options.ladder, &[]);
    }
    let (residents, mut found) = improve(context, &heap, &mut candidates, &plain);
    let bound = bind(residents, options.ladder, &context.binning_costs);
    found.upper_bound -= pins(context.frame);
    let optimality = Some(appraise(context, &bound, found));
    Residency { optimality, ..bound }
}

/// The greedy choice of one window, at its offsets.
fn greedy_choice(problem: &Problem<'_>, window: &[Candidate], greedy: &[TileResident]) -> ResidencyChoice {
    let (mut items, mut offsets) = (Vec::new(), Vec::new());
    for (item, candidate) in (0..).zip(window) {
        let mut residents = greedy.iter();
        let same = |one: &&TileResident| (one.resource, one.stored) == (candidate.resource, candidate.stored);
        if let Some(resident) = residents.find(same) {
            items.push(item);
            offsets.push(resident.offset.0);
        }
    }
    let choice = choice_at(problem, items, offsets);
    // A choice that costs more than it saves is worse than none.
    if choice.value() > 0 {
        choice
    } else {
        ResidencyChoice::default()
    }
}

/// A choice by density, of items that save more than the binning cost that they add.
fn by_value(problem: &Problem<'_>) -> Option<ResidencyChoice> {
    let mut order: Vec<u32> = (0..problem.items.len() as u32).collect();
    let area = |item: u32| {
        let item = &problem.items[item as usize];
        u128::from(item.size) * (item.end - item.first) as u128
    };
    let savings = |item: u32| u128::from(problem.items[item as usize].savings);
    order.compact_sort_by(|&a, &b| {
        (savings(b) * area(a))
            .cmp(&(savings(a) * area(b)))
            .then(a.cmp(&b))
    });
    let mut shelf = tileheap_pack::PartialPacking::with_capacity(Some(Bytes(problem.capacity)));
    let mut best = ResidencyChoice::default();
    let excluded = |taken: &[u32], item: u32| {
        let choice = problem
            .choices
            .iter()
            .find(|choice| (choice.first..choice.end).contains(&item));
        choice.is_some_and(|choice| {
            taken
                .iter()
                .any(|other| (choice.first..choice.end).contains(other))
        })
    };
    for item in order {
        if excluded(&best.items, item) {
            continue;
        }
        let problem::Item {
            first,
            end,
            size,
            alignment,
            ..
        } = problem.items[item as usize];
        let span = Span::new(first as u32, end as u32);
        let alignment = Alignment::new(alignment)?;
        let Some(offset) = shelf.lowest_fit(span, Bytes(size), alignment) else {
            continue;
        };
        let (mut items, mut offsets) = (best.items.clone(), best.offsets.clone());
        items.push(item);
        offsets.push(offset.0);
        let more = choice_at(problem, items, offsets);
        if more.value() > best.value() {
            shelf.place(item, span, offset, Bytes(size));
            best = more;
        }
    }
    // By item number, as in all choices.
    let mut pairs: Vec<(u32, u64)> = best
        .items
        .iter()
        .copied()
        .zip(best.offsets.iter().copied())
        .collect();
    pairs.compact_sort();
    let (items, offsets) = pairs.into_iter().unzip();
    Some(choice_at(problem, items, offsets))
}

/// A choice made for other costs, in the cheapest placement found for the costs of the problem; keeps its placement if no cheaper one is found within
/// the budget.
fn placed_again(
    problem: &Problem<'_>,
    choice: ResidencyChoice,
    budget: u64,
    steps: &mut u64,
) -> ResidencyChoice {
    let settled = choice_of(problem, &choice.items, budget, steps);
    let kept = choice_at(problem, choice.items, choice.offsets);
    match settled {
        Some(settled) if !kept.is_better_than(&settled) => settled,
        _ => kept,
    }
}

/// The best choice by the packing crate's selection, which considers only savings; an upper bound on any choice, and the steps used.
fn by_loads(problem: &Problem<'_>, budget: u64) -> (ResidencyChoice, i128, u64) {
    let item = |item: &problem::Item| {
        let alignment = Alignment::new(item.alignment).unwrap_or(Alignment::ONE);
        tileheap_pack::Item::new(
            Span::new(item.first as u32, item.end as u32),
            Bytes(item.size),
            alignment,
        )
    };
    let desc = tileheap_pack::ProblemDesc::new(problem.items.iter().map(item).collect());
    let Ok(task) = desc.capacity(Bytes(problem.capacity)).build() else {
        return (ResidencyChoice::default(), i128::MAX, 0);
    };
    let savings: Vec<u64> = problem.items.iter().map(|item| item.savings).collect();
    let total = savings
        .iter()
        .try_fold(0u64, |sum, &savings| sum.checked_add(savings));
    if total.is_none_or(|total| total > 1 << 62) {
        return (ResidencyChoice::default(), i128::MAX, 0);
    }
    let found = tileheap_pack::select(&task, &savings, tileheap_pack::Steps(budget), &mut |_| {
        ControlFlow::Continue(())
    });
    let placed = (0..)
        .zip(&found.offsets)
        .filter_map(|(item, offset)| Some((item, (*offset)?.0)));
    let (items, offsets) = placed.unzip();
    (
        choice_at(problem, items, offsets),
        i128::from(found.bound),
        found.steps.0.min(budget),
    )
}

/// Keeps the residents of `old`, a plan of a similar frame, if they still fit, and adds others by density, without a search.
///
/// One object per run of lifetimes, unless the option is [`Ladder::Always`]: weighing binning cost takes longer than everything else.
pub(super) fn repair(context: &Context<'_>, old: &Plan) -> Residency {
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
    let residents = as_before(&heap, &mut candidates, &offsets);
    bind(context, &heap, residents, options.ladder, &[])
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

/// The value with the objects that are bound: a ladder may have more rungs than there can be objects.
fn appraise(context: &Context<'_>, bound: &Residency, found: Optimality) -> Optimality {
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
        .map(|(size, binning_cost)| size.map_or(0, |size| binning_cost.of(size.0)))
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
) -> (Vec<TileResident>, Optimality) {
    let Context {
        options,
        binning_costs,
        ..
    } = context;
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
        (window, resource, candidate.span.end, candidate.stored.is_none())
    });
    // By window, ascending within each.
    let mut passes: Vec<(u32, u32)> = context.timeline.window.iter().copied().zip(0..).collect();
    passes.compact_sort();
    for window in greedy::windows(candidates) {
        let number = window[0].window;
        let of_window =
            passes.partition_point(|one| one.0 < number)..passes.partition_point(|one| one.0 <= number);
        let steps: Vec<u32> = passes[of_window].iter().map(|one| one.1).collect();
        let costless = steps.iter().all(|&step| binning_costs[step as usize].is_none());
        let by_step = match options.ladder {
            Ladder::Off => false,
            Ladder::Auto => !costless,
            Ladder::Always => true,
        };
        let mut problem = Problem::of(window, &steps, heap.size, binning_costs, by_step);
        let start = greedy_choice(&problem, window, greedy);
        let start = SearchStart::of(&problem, start, costless, options.budget, &mut optimality.steps);
        let (prices, bound) = (start.prices, start.bound);
        let mut found = search(&problem, &prices, start.choice, options.budget - optimality.steps);
        optimality.steps += found.steps;
        optimality.upper_bound += found.bound.min(bound) as i64;
        if by_step && options.ladder == Ladder::Auto && !found.choice.pays_by_step(&problem) {
            // If one object per run is equally good, minimises the bytes that it reserves.
            problem.by_step = false;
            let start = placed_again(&problem, found.choice, options.budget, &mut optimality.steps);
            let left = options.budget - optimality.steps;
            found = search(&problem, &prices, start, left);
            optimality.steps += found.steps;
        }
        optimality.least_reserved &= found.complete;
        for (&item, &offset) in found.choice.items.iter().zip(&found.choice.offsets) {
            residents.push(TileResident::new(&window[item as usize], Bytes(offset)));
        }
    }
    (residents, optimality)
}

/// The start of the search of a window.
struct SearchStart {
    /// The best choice found without a search.
    choice: ResidencyChoice,
    /// Upper bound on the value of any choice, in addition to that of the search.
    bound: i128,
    prices: Prices,
}

impl SearchStart {
    /// The greedy choice, or a better one from selections by value or by loads; `steps` of `budget` are spent, and more are added.
    fn of(
        problem: &Problem<'_>,
        greedy: ResidencyChoice,
        costless: bool,
        budget: u64,
        steps: &mut u64,
    ) -> SearchStart {
        let (mut choice, mut bound, mut prices) = (greedy, i128::MAX, None);
        if problem.has_stretches() {
            // Choices by loads ignore that stretches of one lifetime exclude each other.
            choice = choice.or_better(by_value(problem));
        } else if costless {
            let (found, most, spent) = by_loads(problem, (budget - *steps) / 2);
            bound = most;
            *steps += spent;
            choice = choice.or_better(Some(found));
        } else {
            let left = budget - *steps;
            let of_start = Prices::of(problem, choice.value().max(0) as u64);
            let found = of_start.by_loads(problem, choice.value(), left / 4);
            bound = found.bound;
            *steps += found.steps.min(left);
            let placed = choice_of(problem, &found.items, budget, steps);
            choice = choice.or_better(placed).or_better(by_value(problem));
            prices = Some(of_start);
        }
        let settled = choice_of(problem, &choice.items, budget, steps);
        let choice = choice.or_better(settled);
        let prices = prices.unwrap_or_else(|| Prices::of(problem, choice.value().max(0) as u64));
        SearchStart {
            choice,
            bound,
            prices,
        }
    }
}
