//! Tests of the search against all subsets in all placement orders.

use super::cost::StepCost;
use super::prices::StepPrices;
use super::problem::{Cost, CostedDesc, Item, Problem, Reservation, WeightedItem};
use super::search::{BestFound, PlacedChoice, choice_of, search as search_at};
use super::settle::settle;
use super::start::placed_again;
use super::{Error, select_with_costs};
use crate::Steps;
use crate::units::{Alignment, Bytes, Run, Span, SplitMix64};

static FREE: StepCost = StepCost::FREE;

/// Returns a random problem with at most `most` items.
fn random<'a>(seed: u64, most: u64, costs: &'a [&'a StepCost]) -> Problem<'a> {
    let mut random = SplitMix64::new(seed);
    let steps = costs.len() as u64;
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
            weight: below(40),
        }
    });
    let items: Vec<Item> = items.collect();
    let capacity = 4 + below(24);
    Problem {
        choices: each_apart(items.len()),
        items,
        capacity,
        costs,
        by_step: seed % 3 == 0,
    }
}

fn search(problem: &Problem<'_>, start: PlacedChoice, budget: u64) -> BestFound {
    let prices = StepPrices::of(problem, start.value().max(0) as u64);
    search_at(problem, &prices, start, budget)
}

/// Returns runs of one item each: every item may be chosen independently of the others.
fn each_apart(items: usize) -> Vec<Run> {
    let run = |first: u32| Run::new(first, first + 1);
    (0..items as u32).map(run).collect()
}

/// Returns a random problem with exclusive groups: the items of a group begin at the same step, and longer ones weigh more.
fn with_exclusive<'a>(seed: u64, costs: &'a [&'a StepCost]) -> Problem<'a> {
    let mut problem = random(seed, 4, costs);
    let mut random = SplitMix64::new(!seed);
    let (mut items, mut choices) = (Vec::new(), Vec::new());
    for whole in &problem.items {
        let first = items.len() as u32;
        items.push(*whole);
        for end in whole.first + 1..whole.end {
            if items.len() < 8 && random.next_u64() % 2 == 0 {
                let weight = whole.weight * (end - whole.first) as u64 / (whole.end - whole.first) as u64;
                items.push(Item {
                    end,
                    weight,
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

/// Returns costs that rise at random numbers of bytes; all zero for every second seed.
fn random_costs(seed: u64) -> Vec<StepCost> {
    let mut random = SplitMix64::new(!seed);
    let steps = 2 + random.next_u64() % 5;
    (0..steps)
        .map(|_| {
            let (every, more) = (1 + random.next_u64() % 9, random.next_u64() % 4);
            let free = seed % 2 == 0;
            StepCost::sampled(Bytes(64), |reserved| match free {
                true => 0,
                false => reserved.0 / every * more,
            })
        })
        .collect()
}

/// Returns the value and the reserved bytes of the best choice; tries every subset in every placement order, with each item at its lowest offset.
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
        let weight: u64 = items.iter().map(|&item| problem.items[item].weight).sum();
        let mut placed = Vec::new();
        let mut cheapest = None;
        place_in_all_orders(problem, &items, &mut placed, &mut cheapest);
        if let Some(Cost { cost, reserved }) = cheapest {
            let value = i128::from(weight) - i128::from(cost);
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

/// Returns the cost of a placement. Adjacent steps are in one run if something is placed in both; a run reserves up to its highest end, unless each step
/// reserves separately.
fn cost_of(problem: &Problem<'_>, placed: &[(usize, u64)]) -> Cost {
    let steps = problem.costs.len();
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
fn assert_sound(problem: &Problem<'_>, choice: &PlacedChoice) {
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
    let found = search(problem, PlacedChoice::default(), u64::MAX);
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
            let costs = random_costs(seed);
            let costs: Vec<&StepCost> = costs.iter().collect();
            agrees(seed, &random(seed, most, &costs));
        }
    }
}

#[test]
fn of_each_exclusive_group_the_best_item_is_found() {
    for seed in 0..2_000 {
        let costs = random_costs(seed);
        let costs: Vec<&StepCost> = costs.iter().collect();
        agrees(seed, &with_exclusive(seed, &costs));
    }
}

/// Whatever the budget, the answer is valid, and the bound holds.
#[test]
fn a_search_that_is_cut_short_says_how_far_it_may_be_off() {
    for seed in 0..300 {
        let costs = random_costs(seed);
        let costs: Vec<&StepCost> = costs.iter().collect();
        let problem = random(seed, 12, &costs);
        let best = search(&problem, PlacedChoice::default(), u64::MAX).choice.value();
        for budget in [0, 1, 5, 20] {
            let found = search(&problem, PlacedChoice::default(), budget);
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
fn of_equal_items_the_heavier_one_is_lower() {
    let costs = &[&FREE; 3];
    let item = |weight| Item {
        first: 0,
        end: 3,
        size: 2,
        alignment: 1,
        weight,
    };
    let problem = Problem {
        choices: each_apart(4),
        items: [3, 1, 4, 2].map(item).to_vec(),
        capacity: 8,
        costs,
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
    let costs = &[&FREE; 5];
    let item = |first, end, size| Item {
        first,
        end,
        size,
        alignment: 1,
        weight: 1,
    };
    let problem = Problem {
        choices: each_apart(3),
        items: vec![item(0, 2, 2), item(0, 3, 3), item(3, 5, 4)],
        capacity: 5,
        costs,
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
            cost: 0,
            reserved: 3 * 5 + 2 * 4
        }
    );
    assert_eq!(found.cost_bound, found.cost);
    assert!(
        settle(&problem, &all, found.cost, &mut 1000)
            .ok()
            .is_some_and(|none| none.is_none())
    );
}

/// A choice keeps its placement if the budget is spent before another one is found.
#[test]
fn a_spent_budget_loses_no_item() {
    let mut kept = 0;
    for seed in 0..4_000 {
        let costs = random_costs(2 * seed + 1);
        let costs: Vec<&StepCost> = costs.iter().collect();
        let mut problem = random(seed, 8, &costs);
        problem.by_step = true;
        let found = search(&problem, PlacedChoice::default(), 1_000_000).choice;
        problem.by_step = false;
        kept += u32::from(choice_of(&problem, &found.items, 0, &mut 0).is_none());
        let again = placed_again(&problem, found.clone(), 0, &mut 0);
        assert_eq!(again.items, found.items, "seed {seed}");
        assert_sound(&problem, &again);
    }
    assert!(kept > 5, "{kept}");
}

/// Returns the description of a problem, with the given reservation.
fn desc_of<'a>(problem: &Problem<'a>, reservation: Reservation) -> CostedDesc<'a> {
    let item = |item: &Item| WeightedItem {
        span: Span::new(item.first as u32, item.end as u32),
        size: Bytes(item.size),
        alignment: Alignment::new(item.alignment).unwrap(),
        weight: item.weight,
    };
    let several = |choice: &&Run| choice.len() > 1;
    CostedDesc {
        items: problem.items.iter().map(item).collect(),
        exclusive: problem.choices.iter().filter(several).copied().collect(),
        capacity: Bytes(problem.capacity),
        costs: problem.costs.to_vec(),
        reservation,
    }
}

/// From every start, the selection is as good as that of an exhaustive search; with the cheaper reservation, it is at least as good as with each of the
/// others.
#[test]
fn selections_are_the_best_from_every_start() {
    for seed in 0..1_500 {
        let costs = random_costs(seed);
        let costs: Vec<&StepCost> = costs.iter().collect();
        let mut problem = if seed % 2 == 0 {
            random(seed, 6, &costs)
        } else {
            with_exclusive(seed, &costs)
        };
        let mut values = Vec::new();
        let mut start = vec![None; problem.items.len()];
        for (reservation, by_step) in [(Reservation::PerRun, false), (Reservation::PerStep, true)] {
            problem.by_step = by_step;
            let found = select_with_costs(&desc_of(&problem, reservation), &start, Steps::default()).unwrap();
            let (value, _) = oracle(&problem);
            assert_eq!(
                (i128::from(found.value()), found.bound),
                (value, value as u64),
                "seed {seed}"
            );
            values.push(found.value());
            start = found.offsets;
        }
        let found = select_with_costs(
            &desc_of(&problem, Reservation::Cheapest),
            &start,
            Steps::default(),
        )
        .unwrap();
        assert_eq!(Some(&found.value()), values.iter().max(), "seed {seed}");
        for budget in [0, 1, 7] {
            let cut =
                select_with_costs(&desc_of(&problem, Reservation::PerStep), &start, Steps(budget)).unwrap();
            assert!(
                cut.value() >= values[1] && cut.bound >= values[1],
                "seed {seed}, budget {budget}"
            );
        }
    }
}

#[test]
fn invalid_selections_are_refused() {
    let item = |first, end, size, weight| WeightedItem {
        span: Span::new(first, end),
        size: Bytes(size),
        alignment: Alignment::new(4).unwrap(),
        weight,
    };
    let desc = |items: &[WeightedItem], exclusive: &[Run]| CostedDesc {
        items: items.to_vec(),
        exclusive: exclusive.to_vec(),
        capacity: Bytes(16),
        costs: vec![&FREE; 3],
        reservation: Reservation::PerRun,
    };
    let refused = |desc: &CostedDesc<'_>, start: &[Option<u64>]| {
        let start: Vec<Option<Bytes>> = start.iter().map(|offset| offset.map(Bytes)).collect();
        select_with_costs(desc, &start, Steps(100)).unwrap_err()
    };
    let late = desc(&[item(0, 3, 4, 1), item(2, 4, 4, 1)], &[]);
    assert_eq!(
        refused(&late, &[None; 2]),
        Error::OutsideSteps(1, Span::new(2, 4), 3)
    );
    let empty = desc(&[item(1, 1, 4, 1)], &[]);
    assert_eq!(
        refused(&empty, &[None]),
        Error::OutsideSteps(0, Span::new(1, 1), 3)
    );
    let heavy = desc(&[item(0, 1, 4, 1 << 63), item(0, 1, 4, 1)], &[]);
    assert_eq!(refused(&heavy, &[None; 2]), Error::WeightOverflow(1));
    let large = desc(&[item(0, 1, u64::MAX - 8, 1), item(0, 1, 4, 1)], &[]);
    assert!(matches!(refused(&large, &[None; 2]), Error::SumOverflow(1, ..)));
    let two = [item(0, 2, 8, 5), item(1, 3, 8, 5)];
    for exclusive in [
        &[Run::new(0, 3)][..],
        &[Run::new(1, 2), Run::new(0, 1)],
        &[Run::new(1, 0)],
    ] {
        assert!(matches!(
            refused(&desc(&two, exclusive), &[None; 2]),
            Error::ExclusiveGroup(..)
        ));
    }
    let apart = desc(&two, &[]);
    assert!(matches!(
        refused(&apart, &[Some(2), None]),
        Error::Misaligned(0, ..)
    ));
    assert!(matches!(
        refused(&apart, &[None, Some(12)]),
        Error::OutOfBounds { item: 1, .. }
    ));
    assert!(matches!(
        refused(&apart, &[Some(4), Some(0)]),
        Error::Overlap {
            a: 0,
            b: 1,
            offset: Bytes(4),
            end: Bytes(8),
            ..
        }
    ));
    let exclusive = desc(&two, &[Run::new(0, 2)]);
    assert_eq!(refused(&exclusive, &[Some(0), Some(8)]), Error::Exclusive(0, 1));
}

/// Weights and sizes near the limits, and more items than a call stack has frames for.
#[test]
fn extreme_selections_neither_overflow_nor_exhaust_the_stack() {
    let item = |size, weight| WeightedItem {
        span: Span::new(0, 2),
        size: Bytes(size),
        alignment: Alignment::ONE,
        weight,
    };
    let dear = StepCost::sampled(Bytes(1 << 62), |bytes| bytes.0 >> 58 << 58);
    for cost in [&FREE, &dear] {
        let desc = CostedDesc {
            items: vec![
                item(1 << 61, 1 << 62),
                item(1 << 62, (1 << 62) - 5),
                item(1, 3),
                item(1 << 61, 1),
            ],
            capacity: Bytes(1 << 62),
            costs: vec![cost, &FREE],
            ..CostedDesc::default()
        };
        let found = select_with_costs(&desc, &[None; 4], Steps::default()).unwrap();
        assert!(found.bound >= found.value() && found.value() > 0);
    }
    let desc = CostedDesc {
        items: vec![item(3, 1); 60_000],
        capacity: Bytes(70_000),
        costs: vec![&FREE; 2],
        ..CostedDesc::default()
    };
    let problem = desc.validate().unwrap();
    let prices = StepPrices::of(&problem, 0);
    let found = search_at(&problem, &prices, PlacedChoice::default(), 200_000);
    assert!(found.bound >= 70_000 / 3 && found.steps <= 200_000);
}
