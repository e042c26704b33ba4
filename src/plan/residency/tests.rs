//! Tests of the search against all subsets in all placement orders.

use super::binning_cost::BinningCost;
use super::bound::Prices;
use super::placed_again;
use super::problem::{Cost, Item, Problem};
use super::search::{ResidencyChoice, SelectedResidents, choice_of, search as search_at};
use super::settle::settle;
use crate::units::Run;
use crate::units::SplitMix64;

/// A random problem with at most `most` items.
fn random(seed: u64, most: u64, binning_costs: &[BinningCost]) -> Problem<'_> {
    let mut random = SplitMix64::new(seed);
    let steps = binning_costs.len() as u64;
    let mut below = |limit: u64| random.next_u64() % limit;
    let items = (0..1 + below(most)).map(|_| {
        let first = below(steps) as usize;
        let end = first + 1 + below(steps - first as u64) as usize;
        // Odd alignments, and sizes that are not multiples of them.
        let alignment = [1, 2, 3, 5][below(4) as usize];
        Item {
            first,
            end,
            size: 1 + below(12),
            alignment,
            savings: below(40),
        }
    });
    let items: Vec<Item> = items.collect();
    let capacity = 4 + below(24);
    Problem {
        choices: each_apart(items.len()),
        items,
        capacity,
        binning_cost: binning_costs.iter().collect(),
        by_step: seed % 3 == 0,
    }
}

fn search(problem: &Problem<'_>, start: ResidencyChoice, budget: u64) -> SelectedResidents {
    let prices = Prices::of(problem, start.value().max(0) as u64);
    search_at(problem, &prices, start, budget)
}

/// Runs of one item each: every item may be chosen independently of the others.
fn each_apart(items: usize) -> Vec<Run> {
    let run = |first: u32| Run::new(first, first + 1);
    (0..items as u32).map(run).collect()
}

/// A random problem of lifetimes with stretches as alternatives: all stretches of one lifetime begin together, and longer ones have higher savings.
fn with_stretches(seed: u64, binning_costs: &[BinningCost]) -> Problem<'_> {
    let mut problem = random(seed, 4, binning_costs);
    let mut random = SplitMix64::new(!seed);
    let (mut items, mut choices) = (Vec::new(), Vec::new());
    for whole in &problem.items {
        let first = items.len() as u32;
        items.push(*whole);
        for end in whole.first + 1..whole.end {
            if items.len() < 8 && random.next_u64() % 2 == 0 {
                let savings = whole.savings * (end - whole.first) as u64 / (whole.end - whole.first) as u64;
                items.push(Item {
                    end,
                    savings,
                    ..*whole
                });
            }
        }
        let end = items.len() as u32;
        choices.push(Run::new(first, end));
    }
    (problem.items, problem.choices) = (items, choices);
    problem
}

/// Binning costs that rise at random steps; all zero for every second seed.
fn random_harms(seed: u64) -> Vec<BinningCost> {
    let mut random = SplitMix64::new(!seed);
    let steps = 2 + random.next_u64() % 5;
    (0..steps)
        .map(|_| {
            let (every, more) = (1 + random.next_u64() % 9, random.next_u64() % 4);
            let free = seed % 2 == 0;
            BinningCost::sampled(
                64,
                |bytes| bytes,
                |reserved| if free { 0 } else { reserved / every * more },
            )
        })
        .collect()
}

/// Value and reserved bytes of the best choice: every subset, placed in every order, each item at its lowest offset.
fn oracle(problem: &Problem<'_>) -> (i128, u64) {
    let count = problem.items.len();
    let mut best = (0, 0);
    for subset in 0..1u32 << count {
        let items: Vec<usize> = (0..count).filter(|item| subset >> item & 1 == 1).collect();
        let of_one = |choice: &Run| {
            items
                .iter()
                .filter(|item| choice.indices().contains(item))
                .count()
        };
        if problem.choices.iter().any(|choice| of_one(choice) > 1) {
            continue;
        }
        let savings: u64 = items.iter().map(|&item| problem.items[item].savings).sum();
        let mut placed = Vec::new();
        let mut cheapest = None;
        place_in_all_orders(problem, &items, &mut placed, &mut cheapest);
        if let Some(Cost {
            binning_cost,
            reserved,
        }) = cheapest
        {
            let value = i128::from(savings) - i128::from(binning_cost);
            if value > best.0 || (value == best.0 && reserved < best.1) {
                best = (value, reserved);
            }
        }
    }
    best
}

fn place_in_all_orders(
    problem: &Problem<'_>,
    items: &[usize],
    placed: &mut Vec<(usize, u64)>,
    cheapest: &mut Option<Cost>,
) {
    if placed.len() == items.len() {
        let cost = cost_of(problem, placed);
        if cheapest.is_none_or(|least| cost < least) {
            *cheapest = Some(cost);
        }
        return;
    }
    for &item in items {
        if placed.iter().any(|&(other, _)| other == item) {
            continue;
        }
        let Item { size, alignment, .. } = problem.items[item];
        let free = |offset: u64| {
            placed.iter().all(|&(other, start)| {
                !overlap(&problem.items[item], &problem.items[other])
                    || offset + size <= start
                    || start + problem.items[other].size <= offset
            })
        };
        let lowest = (0..=problem.capacity.saturating_sub(size))
            .step_by(alignment as usize)
            .find(|&offset| offset + size <= problem.capacity && free(offset));
        if let Some(offset) = lowest {
            placed.push((item, offset));
            place_in_all_orders(problem, items, placed, cheapest);
            placed.pop();
        }
    }
}

fn overlap(a: &Item, b: &Item) -> bool {
    a.first < b.end && b.first < a.end
}

/// The cost of a placement. Adjacent steps are in one run if something is placed in both; a run reserves up to its highest end, unless each step
/// reserves separately.
fn cost_of(problem: &Problem<'_>, placed: &[(usize, u64)]) -> Cost {
    let steps = problem.binning_cost.len();
    let mut tops = vec![0; steps];
    let mut order: Vec<_> = placed.to_vec();
    order.sort();
    // As many times as a run may have steps: tops spread to all steps that a lifetime joins.
    for _ in 0..steps {
        for &(item, offset) in &order {
            let Item { first, end, size, .. } = problem.items[item];
            let steps = &mut tops[first..end];
            steps.iter_mut().for_each(|top| *top = (offset + size).max(*top));
            let highest = steps.iter().copied().max().unwrap_or(0);
            if !problem.by_step {
                steps.fill(highest);
            }
        }
    }
    let cost = |(step, &top): (usize, &u64)| {
        if top == 0 {
            Cost::default()
        } else {
            problem.cost(step, top)
        }
    };
    tops.iter()
        .enumerate()
        .map(cost)
        .fold(Cost::default(), Cost::plus)
}

/// Checks that a placement is valid and has the stated cost.
fn assert_sound(problem: &Problem<'_>, choice: &ResidencyChoice) {
    let placed: Vec<(usize, u64)> = choice
        .items
        .iter()
        .zip(&choice.offsets)
        .map(|(&item, &offset)| (item as usize, offset))
        .collect();
    for (index, &(item, offset)) in placed.iter().enumerate() {
        let Item { size, alignment, .. } = problem.items[item];
        assert!(offset % alignment == 0 && offset + size <= problem.capacity);
        for &(other, start) in &placed[..index] {
            let other = &problem.items[other];
            assert!(
                !overlap(&problem.items[item], other)
                    || offset + size <= start
                    || start + other.size <= offset
            );
        }
    }
    assert_eq!(cost_of(problem, &placed), choice.cost);
}

fn agrees(seed: u64, problem: &Problem<'_>) {
    let found = search(problem, ResidencyChoice::default(), u64::MAX);
    assert_sound(problem, &found.choice);
    assert!(found.complete, "seed {seed}");
    assert_eq!(found.bound, found.choice.value(), "seed {seed}");
    let (value, reserved) = oracle(problem);
    assert_eq!(
        (found.choice.value(), found.choice.cost.reserved),
        (value, reserved),
        "seed {seed}"
    );
}

#[test]
fn the_search_finds_what_trying_everything_finds() {
    for (seeds, most) in [(0..3_000, 6), (3_000..5_000, 8)] {
        for seed in seeds {
            let binning_costs = random_harms(seed);
            agrees(seed, &random(seed, most, &binning_costs));
        }
    }
}

#[test]
fn of_each_life_the_best_stretch_is_found() {
    for seed in 0..2_000 {
        let binning_costs = random_harms(seed);
        agrees(seed, &with_stretches(seed, &binning_costs));
    }
}

/// Whatever the budget, the answer is valid, and the bound holds.
#[test]
fn a_search_that_is_cut_short_says_how_far_it_may_be_off() {
    for seed in 0..300 {
        let binning_costs = random_harms(seed);
        let problem = random(seed, 12, &binning_costs);
        let best = search(&problem, ResidencyChoice::default(), u64::MAX)
            .choice
            .value();
        for budget in [0, 1, 5, 20] {
            let found = search(&problem, ResidencyChoice::default(), budget);
            assert_sound(&problem, &found.choice);
            assert!(
                found.choice.value() <= best && best <= found.bound,
                "seed {seed}, budget {budget}"
            );
            assert!(found.steps <= budget);
        }
    }
}

#[test]
fn of_equals_what_is_worth_more_lies_lower() {
    let binning_costs = vec![BinningCost::default(); 3];
    let item = |savings| Item {
        first: 0,
        end: 3,
        size: 2,
        alignment: 1,
        savings,
    };
    let problem = Problem {
        choices: each_apart(4),
        items: [3, 1, 4, 2].map(item).to_vec(),
        capacity: 8,
        binning_cost: binning_costs.iter().collect(),
        by_step: true,
    };
    let found = settle(&problem, &[0, 1, 2, 3], Cost::MAX, &mut 1000);
    let found = found.ok().flatten().expect("there is room");
    assert_eq!(found.offsets, [2, 6, 0, 4]);
}

/// ```text
/// b b b c c     a's bytes would be free below c only if b and c swapped: as placed by size, a lies above b
/// a a . . .
/// ```
#[test]
fn settling_stops_at_the_limit() {
    let binning_costs = vec![BinningCost::default(); 5];
    let item = |first, end, size| Item {
        first,
        end,
        size,
        alignment: 1,
        savings: 1,
    };
    let problem = Problem {
        choices: each_apart(3),
        items: vec![item(0, 2, 2), item(0, 3, 3), item(3, 5, 4)],
        capacity: 5,
        binning_cost: binning_costs.iter().collect(),
        by_step: false,
    };
    let all = [0, 1, 2];
    let found = settle(&problem, &all, Cost::MAX, &mut 1000)
        .ok()
        .flatten()
        .expect("there is room");
    assert_eq!(
        found.cost,
        Cost {
            binning_cost: 0,
            reserved: 3 * 5 + 2 * 4
        }
    );
    assert_eq!(found.floor, found.cost);
    assert!(
        settle(&problem, &all, found.cost, &mut 1000)
            .ok()
            .is_some_and(|none| none.is_none())
    );
}

/// A choice keeps its placement if the budget is spent before another one is found.
#[test]
fn a_spent_budget_loses_no_resident() {
    let mut kept = 0;
    for seed in 0..4_000 {
        let binning_costs = random_harms(2 * seed + 1);
        let mut problem = random(seed, 8, &binning_costs);
        problem.by_step = true;
        let found = search(&problem, ResidencyChoice::default(), 1_000_000).choice;
        problem.by_step = false;
        kept += u32::from(choice_of(&problem, &found.items, 0, &mut 0).is_none());
        let again = placed_again(&problem, found.clone(), 0, &mut 0);
        assert_eq!(again.items, found.items, "seed {seed}");
        assert_sound(&problem, &again);
    }
    assert!(kept > 5, "{kept}");
}
