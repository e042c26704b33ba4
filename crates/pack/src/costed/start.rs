//! The start of the search: the best choice that cheaper methods find.

use std::ops::ControlFlow;

use super::prices::StepPrices;
use super::problem::{Item, Problem};
use super::search::{PlacedChoice, choice_at, choice_of};
use crate::units::{Alignment, Bytes, CompactSort, Span};
use crate::{PartialPacking, ProblemDesc, Steps};

/// The start of the search.
pub(super) struct Start {
    /// The best choice that cheaper methods found.
    pub(super) choice: PlacedChoice,
    /// Another upper bound on the value of any choice, in addition to that of the search.
    pub(super) bound: i128,
    pub(super) prices: StepPrices,
}

impl Start {
    /// Returns the best of the given choice and those found by density or by loads, in the cheapest placement found. Adds the steps used to `steps`,
    /// which stays within `budget`.
    pub(super) fn of(problem: &Problem<'_>, given: PlacedChoice, budget: u64, steps: &mut u64) -> Start {
        let (mut choice, mut bound, mut prices) = (given, i128::MAX, None);
        if problem.has_exclusive() {
            // Choices by loads ignore that items exclude each other.
            choice = choice.or_better(by_value(problem));
        } else if problem.is_free() {
            let (found, most, spent) = by_loads(problem, (budget - *steps) / 2);
            bound = most;
            *steps += spent;
            choice = choice.or_better(Some(found));
        } else {
            let left = budget - *steps;
            let of_start = StepPrices::of(problem, choice.value().max(0) as u64);
            let found = of_start.by_loads(problem, choice.value(), left / 4);
            bound = found.bound;
            *steps += found.steps.min(left);
            let placed = choice_of(problem, &found.items, budget, steps);
            choice = choice.or_better(placed).or_better(by_value(problem));
            prices = Some(of_start);
        }
        let settled = choice_of(problem, &choice.items, budget, steps);
        let choice = choice.or_better(settled);
        let prices = prices.unwrap_or_else(|| StepPrices::of(problem, choice.value().max(0) as u64));
        Start {
            choice,
            bound,
            prices,
        }
    }
}

/// Returns a greedy choice: takes the items in descending order of density, each if its weight exceeds the cost that it adds.
fn by_value(problem: &Problem<'_>) -> Option<PlacedChoice> {
    let mut order: Vec<u32> = (0..problem.items.len() as u32).collect();
    let area = |item: u32| {
        let item = &problem.items[item as usize];
        u128::from(item.size) * (item.end - item.first) as u128
    };
    let weight = |item: u32| u128::from(problem.items[item as usize].weight);
    let by_density =
        |a: u32, b: u32| (weight(b).saturating_mul(area(a))).cmp(&weight(a).saturating_mul(area(b)));
    order.compact_sort_by(|&a, &b| by_density(a, b).then(a.cmp(&b)));
    let mut shelf = PartialPacking::with_capacity(Some(Bytes(problem.capacity)));
    let mut best = PlacedChoice::default();
    let excluded = |taken: &[u32], item: u32| {
        let of_item = |choice: &&crate::units::Run| (choice.first..choice.end).contains(&item);
        let choice = problem.choices.iter().find(of_item);
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
        let Item {
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

/// Returns a choice that was made under another reservation rule, in the cheapest placement found under the problem's rule; keeps its placement if the budget
/// yields none that is at least as good.
pub(super) fn placed_again(
    problem: &Problem<'_>,
    choice: PlacedChoice,
    budget: u64,
    steps: &mut u64,
) -> PlacedChoice {
    let settled = choice_of(problem, &choice.items, budget, steps);
    let kept = choice_at(problem, choice.items, choice.offsets);
    match settled {
        Some(settled) if !kept.is_better_than(&settled) => settled,
        _ => kept,
    }
}

/// Returns the choice that [`select`](crate::select()) finds without costs, an upper bound on the value of any choice, and the steps used.
fn by_loads(problem: &Problem<'_>, budget: u64) -> (PlacedChoice, i128, u64) {
    let item = |item: &Item| {
        let alignment = Alignment::new(item.alignment).unwrap_or(Alignment::ONE);
        let span = Span::new(item.first as u32, item.end as u32);
        crate::Item::new(span, Bytes(item.size), alignment)
    };
    let desc = ProblemDesc::new(problem.items.iter().map(item).collect());
    let Ok(task) = desc.capacity(Bytes(problem.capacity)).build() else {
        return (PlacedChoice::default(), i128::MAX, 0);
    };
    let weights: Vec<u64> = problem.items.iter().map(|item| item.weight).collect();
    let found = crate::select(&task, &weights, Steps(budget), &mut |_| ControlFlow::Continue(()));
    let placed = (0..)
        .zip(&found.offsets)
        .filter_map(|(item, offset)| Some((item, (*offset)?.0)));
    let (items, offsets) = placed.unzip();
    let choice = choice_at(problem, items, offsets);
    (choice, i128::from(found.bound), found.steps.0.min(budget))
}
