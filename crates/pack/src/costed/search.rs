//! The exact search for the most valuable set of items, with offsets.
//!
//! Depth-first over the items, each in or out; of an exclusive group, one or none. A branch ends if its bound does not exceed the best choice so
//! far; at its end the chosen items are placed ([`settle`]), since not every set whose loads fit can be placed, and a placement may reserve more than
//! the loads. The same budget gives the same answer on every machine.

use std::ops::Range;

use super::prices::{StepPrices, scaled, unscaled};
use super::problem::{Cost, Problem};
use super::settle::{BudgetExhausted, SettledPlacement, settle};
use crate::units::{CompactSort, Run};

/// A set of chosen items, with their offsets.
#[derive(Clone, Debug, Default)]
pub(super) struct PlacedChoice {
    /// Indices of the chosen items, ascending.
    pub(super) items: Vec<u32>,
    /// The offsets of the chosen items.
    pub(super) offsets: Vec<u64>,
    /// The total weight of the chosen items.
    pub(super) weight: u64,
    pub(super) cost: Cost,
}

impl PlacedChoice {
    /// Returns the weight of the choice, minus its cost.
    pub(super) fn value(&self) -> i128 {
        i128::from(self.weight) - i128::from(self.cost.cost)
    }

    /// Returns the connected runs of lifetimes: the steps of each, and per step the highest end of the items that are live there.
    fn tops(&self, problem: &Problem<'_>) -> Vec<(Range<usize>, Vec<u64>)> {
        let mut tops = vec![0; problem.costs.len()];
        let mut joined = vec![false; problem.costs.len()];
        for (&item, &offset) in self.items.iter().zip(&self.offsets) {
            let item = &problem.items[item as usize];
            for step in item.first..item.end {
                tops[step] = (offset + item.size).max(tops[step]);
                joined[step] |= step + 1 < item.end;
            }
        }
        let mut runs = Vec::new();
        let mut first = 0;
        while first < tops.len() {
            let last = (first..tops.len()).find(|&step| !joined[step]);
            let end = last.map_or(tops.len(), |last| last + 1);
            if tops[first] > 0 {
                runs.push((first..end, tops[first..end].to_vec()));
            }
            first = end;
        }
        runs
    }

    /// Returns true if some step would cost more if each connected run reserved its highest end throughout.
    pub(super) fn pays_by_step(&self, problem: &Problem<'_>) -> bool {
        self.tops(problem).into_iter().any(|(steps, tops)| {
            let highest = tops.iter().copied().max().unwrap_or(0);
            let gains =
                |(step, &top): (usize, &u64)| problem.cost(step, top).cost < problem.cost(step, highest).cost;
            steps.zip(&tops).any(gains)
        })
    }

    pub(super) fn is_better_than(&self, other: &PlacedChoice) -> bool {
        (self.value(), other.cost.reserved) > (other.value(), self.cost.reserved)
    }

    /// Returns the better choice: this one, unless `other` is strictly better.
    pub(super) fn or_better(self, other: Option<PlacedChoice>) -> PlacedChoice {
        match other {
            Some(other) if other.is_better_than(&self) => other,
            _ => self,
        }
    }
}

/// The best choice found, with a bound on the best possible one.
#[derive(Clone, Debug)]
pub(super) struct BestFound {
    pub(super) choice: PlacedChoice,
    /// Upper bound on the value of any choice.
    pub(super) bound: i128,
    /// Branches evaluated.
    pub(super) steps: u64,
    /// True if no branch was left undecided, so that no choice of the same value reserves fewer bytes.
    pub(super) complete: bool,
}

/// Improves on `start` with at most `budget` branches.
pub(super) fn search(
    problem: &Problem<'_>,
    prices: &StepPrices,
    start: PlacedChoice,
    budget: u64,
) -> BestFound {
    let mut search = Search::new(problem, prices, start, budget);
    search.run();
    let value = search.best.value();
    BestFound {
        bound: search.open_bound.map_or(value, |open| open.max(value)),
        complete: search.complete,
        steps: budget - search.left,
        choice: search.best,
    }
}

/// Returns the choice of `items` at `offsets`, which are known to fit.
pub(super) fn choice_at(problem: &Problem<'_>, items: Vec<u32>, offsets: Vec<u64>) -> PlacedChoice {
    let mut choice = PlacedChoice {
        weight: weight_of(problem, &items),
        items,
        offsets,
        cost: Cost::default(),
    };
    let runs = choice.tops(problem);
    for (steps, tops) in runs {
        let highest = tops.iter().copied().max().unwrap_or(0);
        for (step, &top) in steps.zip(&tops) {
            let reserved = if problem.by_step { top } else { highest };
            choice.cost = choice.cost.plus(problem.cost(step, reserved));
        }
    }
    choice
}

/// Returns the choice of `items`, in the cheapest placement found; `None` if none is found.
///
/// Takes at most a sixteenth of a budget of which `steps` were used, and adds the steps it takes to these.
pub(super) fn choice_of(
    problem: &Problem<'_>,
    items: &[u32],
    budget: u64,
    steps: &mut u64,
) -> Option<PlacedChoice> {
    let mut left = (budget - *steps).min(budget / 16);
    let settled = settle(problem, items, Cost::MAX, &mut left);
    *steps += (budget - *steps).min(budget / 16) - left;
    let settled = settled.ok().flatten()?;
    Some(PlacedChoice {
        items: items.to_vec(),
        weight: weight_of(problem, items),
        offsets: settled.offsets,
        cost: settled.cost,
    })
}

fn weight_of(problem: &Problem<'_>, items: &[u32]) -> u64 {
    items
        .iter()
        .map(|&item| problem.items[item as usize].weight)
        .sum()
}

/// An item, or an exclusive group, to decide about.
struct Decision {
    /// The options in the order in which they are tried: an item to take, or `None` to take none.
    options: Vec<Option<u32>>,
    /// The highest surplus among this decision's items; 0 if all are negative.
    surplus: i128,
}

/// A decision on the way to the current branch.
#[derive(Default)]
struct Decided {
    /// Number of options tried so far.
    tried: usize,
    /// The item that is currently taken, and the previous values of `room` in the item's steps.
    taken: Option<(u32, Vec<i128>)>,
}

struct Search<'a> {
    problem: &'a Problem<'a>,
    prices: &'a StepPrices,
    /// The decisions, in the order in which they are made.
    order: Vec<Decision>,
    best: PlacedChoice,
    /// Remaining steps.
    left: u64,
    /// The highest upper bound of a branch that was left undecided; `None` if there is none.
    open_bound: Option<i128>,
    /// True if no branch was left undecided.
    complete: bool,
    /// The items chosen so far; `weight` is their total weight, and `load` their bytes per step.
    chosen: Vec<u32>,
    weight: u64,
    load: Vec<u64>,
    /// For each step, the maximum value of its free bytes at the current load; `total_room` is the sum over all steps.
    room: Vec<i128>,
    total_room: i128,
    /// The sum of the highest non-negative surpluses of the undecided items and groups.
    surplus: i128,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem<'a>, prices: &'a StepPrices, best: PlacedChoice, budget: u64) -> Search<'a> {
        let steps = problem.costs.len();
        let room: Vec<i128> = (0..steps).map(|step| prices.room(problem, step, 0)).collect();
        let surplus = |item: u32| prices.surplus[item as usize];
        let decision = |choice: &Run| {
            let mut items: Vec<u32> = (choice.first..choice.end).collect();
            items.compact_sort_by_key(|&item| (-surplus(item), item));
            // Items with a positive surplus come first, then none, then the rest.
            let wanted = items.partition_point(|&item| surplus(item) >= 0);
            let mut options: Vec<Option<u32>> = items.iter().copied().map(Some).collect();
            options.insert(wanted, None);
            let first = items[0];
            // The largest surpluses, positive or negative, come first: the wrong branch ends at once.
            let key = (-surplus(first).abs(), first);
            let surplus = surplus(first).max(0);
            (key, Decision { options, surplus })
        };
        let mut order: Vec<_> = problem.choices.iter().map(decision).collect();
        order.compact_sort_by_key(|&(key, _)| key);
        Search {
            surplus: prices.surplus_sum(problem),
            total_room: room.iter().sum(),
            room,
            prices,
            order: order.into_iter().map(|(_, decision)| decision).collect(),
            best,
            left: budget,
            open_bound: None,
            complete: true,
            chosen: Vec::with_capacity(problem.items.len()),
            weight: 0,
            load: vec![0; steps],
            problem,
        }
    }

    /// Returns an upper bound on the value of this branch.
    fn bound(&self) -> i128 {
        unscaled(scaled(self.weight) + self.total_room + self.surplus)
    }

    /// Returns true if this branch may hold a better choice: a more valuable one, or an equally valuable one that reserves fewer bytes.
    fn may_improve(&self) -> bool {
        let (bound, value) = (self.bound(), self.best.value());
        bound > value || (bound == value && self.load.iter().sum::<u64>() < self.best.cost.reserved)
    }

    /// Searches all combinations of decisions that may improve the result.
    fn run(&mut self) {
        let mut path = Vec::new();
        if self.enter_branch(0) {
            path.push(Decided::default());
        }
        while let Some(depth) = path.len().checked_sub(1) {
            let Decided { tried, taken } = &mut path[depth];
            if let Some((item, before)) = taken.take() {
                self.give_back(item, &before);
            }
            let Some(&option) = self.order[depth].options.get(*tried) else {
                self.surplus += self.order[depth].surplus;
                path.pop();
                continue;
            };
            *tried += 1;
            if let Some(item) = option {
                if !self.fits(item) {
                    continue;
                }
                *taken = Some((item, self.take(item)));
            }
            if self.enter_branch(depth + 1) {
                path.push(Decided::default());
            }
        }
    }

    /// Evaluates a branch with `decided` decisions made; returns true if another decision is to be made in it.
    fn enter_branch(&mut self, decided: usize) -> bool {
        if !self.may_improve() {
            return false;
        }
        if self.left == 0 {
            self.leave_open(self.bound());
            return false;
        }
        self.left -= 1;
        match self.order.get(decided) {
            Some(decision) => {
                self.surplus -= decision.surplus;
                true
            }
            None => {
                self.settle();
                false
            }
        }
    }

    fn leave_open(&mut self, bound: i128) {
        self.complete = false;
        self.open_bound = Some(self.open_bound.map_or(bound, |open| open.max(bound)));
    }

    fn fits(&self, item: u32) -> bool {
        let item = &self.problem.items[item as usize];
        let free = |load: &u64| load + item.size <= self.problem.capacity;
        self.load[item.first..item.end].iter().all(free)
    }

    /// Chooses an item; returns the previous rooms of its steps.
    fn take(&mut self, item: u32) -> Vec<i128> {
        let of = self.problem.items[item as usize];
        self.chosen.push(item);
        self.weight += of.weight;
        let before = self.room[of.first..of.end].to_vec();
        for step in of.first..of.end {
            self.load[step] += of.size;
            let room = self.prices.room(self.problem, step, self.load[step]);
            self.total_room += room - self.room[step];
            self.room[step] = room;
        }
        before
    }

    fn give_back(&mut self, item: u32, before: &[i128]) {
        let of = self.problem.items[item as usize];
        self.chosen.pop();
        self.weight -= of.weight;
        for (step, &room) in (of.first..of.end).zip(before) {
            self.load[step] -= of.size;
            self.total_room += room - self.room[step];
            self.room[step] = room;
        }
    }

    /// Places the chosen items once everything is decided, and keeps the choice if it is better.
    fn settle(&mut self) {
        let mut items = self.chosen.clone();
        items.compact_sort();
        // A choice that costs more is not better than the best one so far.
        let cost = i128::from(self.weight) - self.best.value();
        let Ok(cost) = u64::try_from(cost) else {
            return;
        };
        let reserved = self.best.cost.reserved;
        match settle(self.problem, &items, Cost { cost, reserved }, &mut self.left) {
            Ok(None) => {}
            Err(BudgetExhausted { cost_bound }) => {
                self.leave_open(i128::from(self.weight) - i128::from(cost_bound.cost))
            }
            Ok(Some(SettledPlacement {
                offsets,
                cost,
                cost_bound,
            })) => {
                if cost_bound < cost {
                    self.leave_open(i128::from(self.weight) - i128::from(cost_bound.cost));
                }
                let choice = PlacedChoice {
                    weight: self.weight,
                    items,
                    offsets,
                    cost,
                };
                if choice.is_better_than(&self.best) {
                    self.best = choice;
                }
            }
        }
    }
}
