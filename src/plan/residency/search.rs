//! The exact search for the set of candidates, with offsets, that saves most.
//!
//! Depth-first over the candidates, each in or out; of several stretches of one lifetime, one or none. A branch ends if its bound does not exceed the
//! best choice so far; at its end the chosen items are placed ([`settle`]), since not every set whose loads fit can be placed, and a placement may
//! reserve more than the loads. The same budget gives the same answer on every machine.

use std::ops::Range;

use tileheap_units::CompactSort;

use super::bound::{Prices, scaled, whole};
use super::problem::{Cost, Problem};
use super::settle::{BudgetExhausted, SettledPlacement, settle};
use crate::units::Run;

/// A choice for one window.
#[derive(Clone, Debug, Default)]
pub(super) struct ResidencyChoice {
    /// Numbers of the chosen items, ascending.
    pub(super) items: Vec<u32>,
    /// Their offsets.
    pub(super) offsets: Vec<u64>,
    /// Their total savings.
    pub(super) savings: u64,
    pub(super) cost: Cost,
}

impl ResidencyChoice {
    /// The bytes of traffic that the choice saves, minus its binning cost.
    pub(super) fn value(&self) -> i128 {
        i128::from(self.savings) - i128::from(self.cost.binning_cost)
    }

    /// The connected runs of lifetimes: their steps, and per step the highest end of what is placed there.
    fn tops(&self, problem: &Problem<'_>) -> Vec<(Range<usize>, Vec<u64>)> {
        let mut tops = vec![0; problem.binning_cost.len()];
        let mut joined = vec![false; problem.binning_cost.len()];
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

    /// Returns true if some step has a lower binning cost than if each connected run reserved its highest end throughout.
    pub(super) fn pays_by_step(&self, problem: &Problem<'_>) -> bool {
        self.tops(problem).into_iter().any(|(steps, tops)| {
            let highest = tops.iter().copied().max().unwrap_or(0);
            let gains = |(step, &top): (usize, &u64)| {
                problem.binning_cost[step].of(top) < problem.binning_cost[step].of(highest)
            };
            steps.zip(&tops).any(gains)
        })
    }

    pub(super) fn is_better_than(&self, other: &ResidencyChoice) -> bool {
        (self.value(), other.cost.reserved) > (other.value(), self.cost.reserved)
    }

    /// The other choice if there is one and it is better, otherwise this one.
    pub(super) fn or_better(self, other: Option<ResidencyChoice>) -> ResidencyChoice {
        match other {
            Some(other) if other.is_better_than(&self) => other,
            _ => self,
        }
    }
}

/// The best choice found, with a bound on the best possible one.
#[derive(Clone, Debug)]
pub(super) struct SelectedResidents {
    pub(super) choice: ResidencyChoice,
    /// Upper bound on the savings of any choice.
    pub(super) bound: i128,
    /// Branches evaluated.
    pub(super) steps: u64,
    /// True if nothing was left undecided: no choice of the same value reserves less.
    pub(super) complete: bool,
}

/// Improves on `start` with at most `budget` branches.
pub(super) fn search(
    problem: &Problem<'_>,
    prices: &Prices,
    start: ResidencyChoice,
    budget: u64,
) -> SelectedResidents {
    let mut search = Search::new(problem, prices, start, budget);
    search.branch(0);
    let value = search.best.value();
    SelectedResidents {
        bound: search.open.map_or(value, |open| open.max(value)),
        complete: search.complete,
        steps: budget - search.left,
        choice: search.best,
    }
}

/// The choice of `items` at `offsets`, which are known to fit.
pub(super) fn choice_at(problem: &Problem<'_>, items: Vec<u32>, offsets: Vec<u64>) -> ResidencyChoice {
    let mut choice = ResidencyChoice {
        savings: savings_of(problem, &items),
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

/// The choice of `items`, in the cheapest placement found; `None` if they cannot be placed.
///
/// Takes at most a sixteenth of a budget of which `steps` were used, and adds the steps it takes to these.
pub(super) fn choice_of(
    problem: &Problem<'_>,
    items: &[u32],
    budget: u64,
    steps: &mut u64,
) -> Option<ResidencyChoice> {
    let mut left = (budget - *steps).min(budget / 16);
    let settled = settle(problem, items, Cost::MAX, &mut left);
    *steps += (budget - *steps).min(budget / 16) - left;
    let settled = settled.ok().flatten()?;
    Some(ResidencyChoice {
        items: items.to_vec(),
        savings: savings_of(problem, items),
        offsets: settled.offsets,
        cost: settled.cost,
    })
}

fn savings_of(problem: &Problem<'_>, items: &[u32]) -> u64 {
    items
        .iter()
        .map(|&item| problem.items[item as usize].savings)
        .sum()
}

struct Search<'a> {
    problem: &'a Problem<'a>,
    prices: &'a Prices,
    /// The order in which choices are decided: for each, its items in the order in which they are tried, and the number of them with a positive
    /// surplus.
    order: Vec<(Vec<u32>, usize)>,
    best: ResidencyChoice,
    /// Remaining steps.
    left: u64,
    /// The highest bound of a branch that was left undecided.
    open: Option<i128>,
    /// True if no branch was left that could reserve less.
    complete: bool,
    /// Decided so far: chosen items, their savings, and their load per step.
    chosen: Vec<u32>,
    savings: u64,
    load: Vec<u64>,
    /// Per step, the maximum value of its free bytes at the current load, and the sum of all.
    room: Vec<i128>,
    rooms: i128,
    /// Surplus of the undecided items.
    surplus: i128,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem<'a>, prices: &'a Prices, best: ResidencyChoice, budget: u64) -> Search<'a> {
        let steps = problem.binning_cost.len();
        let room: Vec<i128> = (0..steps).map(|step| prices.room(problem, step, 0)).collect();
        let tried = |choice: &Run| {
            let mut items: Vec<u32> = (choice.first..choice.end).collect();
            items.compact_sort_by_key(|&item| (-prices.surplus[item as usize], item));
            let wanted = |item: &&u32| prices.surplus[**item as usize] >= 0;
            let wanted = items.iter().take_while(wanted).count();
            (items, wanted)
        };
        let mut order: Vec<(Vec<u32>, usize)> = problem.choices.iter().map(tried).collect();
        // The largest surpluses, positive or negative, come first: the wrong branch ends at once.
        order.compact_sort_by_key(|(items, _)| (-prices.surplus[items[0] as usize].abs(), items[0]));
        Search {
            surplus: prices.wanted(problem),
            rooms: room.iter().sum(),
            room,
            prices,
            order,
            best,
            left: budget,
            open: None,
            complete: true,
            chosen: Vec::with_capacity(problem.items.len()),
            savings: 0,
            load: vec![0; steps],
            problem,
        }
    }

    /// Upper bound on the value of this branch.
    fn bound(&self) -> i128 {
        whole(scaled(self.savings) + self.rooms + self.surplus)
    }

    /// Returns true if this branch may hold a better choice: one that saves more, or as much with fewer bytes reserved.
    fn may_improve(&self) -> bool {
        let (bound, value) = (self.bound(), self.best.value());
        bound > value || (bound == value && self.load.iter().sum::<u64>() < self.best.cost.reserved)
    }

    fn branch(&mut self, decided: usize) {
        if !self.may_improve() {
            return;
        }
        if self.left == 0 {
            self.leave_open(self.bound());
            return;
        }
        self.left -= 1;
        let Some((items, wanted)) = self.order.get(decided) else {
            self.settle();
            return;
        };
        let (count, wanted) = (items.len(), *wanted);
        let surplus = self.prices.surplus[items[0] as usize].max(0);
        self.surplus -= surplus;
        // Items with a positive surplus come first, then none, then the rest.
        for position in 0..=count {
            if position == wanted {
                self.branch(decided + 1);
            }
            let Some(&item) = self.order[decided].0.get(position) else {
                break;
            };
            if self.fits(item) {
                let before = self.take(item);
                self.branch(decided + 1);
                self.give_back(item, &before);
            }
        }
        self.surplus += surplus;
    }

    fn leave_open(&mut self, bound: i128) {
        self.complete = false;
        self.open = Some(self.open.map_or(bound, |open| open.max(bound)));
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
        self.savings += of.savings;
        let before = self.room[of.first..of.end].to_vec();
        for step in of.first..of.end {
            self.load[step] += of.size;
            let room = self.prices.room(self.problem, step, self.load[step]);
            self.rooms += room - self.room[step];
            self.room[step] = room;
        }
        before
    }

    fn give_back(&mut self, item: u32, before: &[i128]) {
        let of = self.problem.items[item as usize];
        self.chosen.pop();
        self.savings -= of.savings;
        for (step, &room) in (of.first..of.end).zip(before) {
            self.load[step] -= of.size;
            self.rooms += room - self.room[step];
            self.room[step] = room;
        }
    }

    /// Places the chosen items once everything is decided, and keeps the choice if it is better.
    fn settle(&mut self) {
        let mut items = self.chosen.clone();
        items.compact_sort();
        // A higher binning cost is not better than the best choice so far.
        let binning_cost = i128::from(self.savings) - self.best.value();
        let Ok(binning_cost) = u64::try_from(binning_cost) else {
            return;
        };
        let reserved = self.best.cost.reserved;
        match settle(
            self.problem,
            &items,
            Cost {
                binning_cost,
                reserved,
            },
            &mut self.left,
        ) {
            Ok(None) => {}
            Err(BudgetExhausted { floor }) => {
                self.leave_open(i128::from(self.savings) - i128::from(floor.binning_cost))
            }
            Ok(Some(SettledPlacement { offsets, cost, floor })) => {
                if floor < cost {
                    self.leave_open(i128::from(self.savings) - i128::from(floor.binning_cost));
                }
                let choice = ResidencyChoice {
                    savings: self.savings,
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
