//! Offsets for a chosen set of items that reserve as few bytes as possible.
//!
//! Items are placed in ascending order of their offsets, each at the lowest free one: this finds every placement in which nothing can be moved down,
//! and moving something up never lowers the cost.

use crate::units::CompactSort;

use super::problem::{Cost, Problem};

/// A placement of the chosen items.
#[derive(Clone, Debug)]
pub(super) struct SettledPlacement {
    /// The offsets, parallel to the chosen items.
    pub(super) offsets: Vec<u64>,
    pub(super) cost: Cost,
    /// Lower bound on the cost of any placement: equal to `cost` if that is proved optimal.
    pub(super) cost_bound: Cost,
}

/// Minimum budget of steps for placing one set of items; the budget is a 16th of the remaining steps if that is more.
const BUDGET: u64 = 10_000;

/// Searches for the cheapest placement of the items `chosen` at a cost below `limit`; its steps are subtracted from `left`.
///
/// Returns `Ok(None)` if none exists, and an error if none was found within the budget.
pub(super) fn settle(
    problem: &Problem<'_>,
    chosen: &[u32],
    limit: Cost,
    left: &mut u64,
) -> Result<Option<SettledPlacement>, BudgetExhausted> {
    let mut work = Settler::new(problem, chosen, (*left / 16).max(BUDGET).min(*left));
    let settled = work.settle(limit);
    *left -= work.steps.min(*left);
    settled
}

/// The budget ended before a placement was found or proved not to exist.
pub(super) struct BudgetExhausted {
    /// Lower bound on the cost of any placement.
    pub(super) cost_bound: Cost,
}

struct Settler<'a> {
    problem: &'a Problem<'a>,
    /// The chosen items' indices in the problem.
    chosen: &'a [u32],
    /// For each step, the index of its run; `None` if nothing is live. The steps of a run, which are connected by lifetimes, reserve the same size; if each
    /// step reserves separately, every step is its own run.
    run_of: Vec<Option<u32>>,
    /// For each run, the maximum number of bytes that are live in a step: no placement reserves less.
    live_peaks: Vec<u64>,
    /// For each chosen item, its offset; `None` if it is not placed yet.
    offsets: Vec<Option<u64>>,
    /// Placed items in ascending order of offset.
    placed: Vec<u32>,
    /// A placement must cost less than this.
    limit: Cost,
    best: Option<(Cost, Vec<u64>)>,
    /// Number of search steps counted for placing one more item, which compares all items with each other.
    steps_per_item: u64,
    steps: u64,
    budget: u64,
}

/// A placement order that is tried before the search.
#[derive(Clone, Copy)]
enum Heuristic {
    LongestLifetime,
    Largest,
    Heaviest,
    Earliest,
}

const HEURISTICS: [Heuristic; 4] = [
    Heuristic::LongestLifetime,
    Heuristic::Largest,
    Heuristic::Heaviest,
    Heuristic::Earliest,
];

impl<'a> Settler<'a> {
    fn new(problem: &'a Problem<'a>, chosen: &'a [u32], budget: u64) -> Settler<'a> {
        let steps = problem.costs.len();
        let mut load = vec![0u64; steps];
        // True if an item placed in a step is also placed in the next one.
        let mut joined = vec![false; steps];
        for &item in chosen {
            let item = &problem.items[item as usize];
            for step in item.first..item.end {
                load[step] += item.size;
                joined[step] |= step + 1 < item.end && !problem.by_step;
            }
        }
        let mut run_of = vec![None; steps];
        let mut live_peaks: Vec<u64> = Vec::new();
        let mut continues = false;
        for step in 0..steps {
            if load[step] == 0 {
                continues = false;
                continue;
            }
            if !continues {
                live_peaks.push(0);
            }
            let run = live_peaks.len() - 1;
            live_peaks[run] = live_peaks[run].max(load[step]);
            run_of[step] = Some(run as u32);
            continues = joined[step];
        }
        Settler {
            problem,
            chosen,
            run_of,
            live_peaks,
            offsets: vec![None; chosen.len()],
            placed: Vec::with_capacity(chosen.len()),
            limit: Cost::MAX,
            best: None,
            steps_per_item: 1 + (chosen.len() * chosen.len() / 32) as u64,
            steps: 0,
            budget,
        }
    }

    fn settle(&mut self, limit: Cost) -> Result<Option<SettledPlacement>, BudgetExhausted> {
        let cost_bound = self.cost_of(&self.live_peaks);
        if cost_bound >= limit {
            return Ok(None);
        }
        for heuristic in HEURISTICS {
            self.place_by(heuristic, limit);
            if self.best.as_ref().is_some_and(|(cost, _)| *cost <= cost_bound) {
                break;
            }
        }
        if self.best.as_ref().is_none_or(|(cost, _)| *cost > cost_bound) {
            self.limit = self.best.as_ref().map_or(limit, |(cost, _)| (*cost).min(limit));
            self.descend(0, 0);
        }
        let exhausted = self.steps > self.budget;
        match self.best.take() {
            Some((cost, offsets)) => Ok(Some(SettledPlacement {
                offsets: self.heaviest_lowest(offsets),
                cost,
                cost_bound: if exhausted { cost.min(cost_bound) } else { cost },
            })),
            None if exhausted => Err(BudgetExhausted { cost_bound }),
            None => Ok(None),
        }
    }

    /// Exchanges the offsets of items with the same size and lifetime so that heavier ones are lower in the block.
    fn heaviest_lowest(&self, mut offsets: Vec<u64>) -> Vec<u64> {
        let item = |index: usize| &self.problem.items[self.chosen[index] as usize];
        let alike = |a: usize, b: usize| {
            let of = |index: usize| {
                let item = item(index);
                (item.first, item.end, item.size, item.alignment)
            };
            of(a) == of(b)
        };
        for a in 0..offsets.len() {
            for b in a + 1..offsets.len() {
                let wrong = (item(a).weight > item(b).weight) == (offsets[a] > offsets[b]);
                if item(a).weight != item(b).weight && wrong && alike(a, b) {
                    offsets.swap(a, b);
                }
            }
        }
        offsets
    }

    /// Returns the cost of reserving up to `tops` in the runs.
    fn cost_of(&self, tops: &[u64]) -> Cost {
        let steps = self.run_of.iter().enumerate();
        steps.fold(Cost::default(), |sum, (step, run)| match run {
            Some(run) => sum.plus(self.problem.cost(step, tops[*run as usize])),
            None => sum,
        })
    }

    /// Raises the tops of the runs in which an item is live to at least `end`.
    fn raise(&self, tops: &mut [u64], item: usize, end: u64) {
        let item = &self.problem.items[self.chosen[item] as usize];
        for run in self.run_of[item.first..item.end].iter().flatten() {
            let top = &mut tops[*run as usize];
            *top = (*top).max(end);
        }
    }

    /// Returns the lowest free offset of an item among the items placed so far.
    fn lowest(&self, item: usize) -> u64 {
        let wanted = &self.problem.items[self.chosen[item] as usize];
        let mut offset = 0;
        for &other in &self.placed {
            let taken = &self.problem.items[self.chosen[other as usize] as usize];
            if taken.first >= wanted.end || wanted.first >= taken.end {
                continue;
            }
            let start = self.offsets[other as usize].expect("placed items have offsets");
            if start >= offset + wanted.size {
                break;
            }
            offset = offset.max((start + taken.size).next_multiple_of(wanted.alignment));
        }
        offset
    }

    fn put(&mut self, item: usize, offset: u64) {
        self.offsets[item] = Some(offset);
        let position = self
            .placed
            .partition_point(|&other| self.offsets[other as usize] <= Some(offset));
        self.placed.insert(position, item as u32);
    }

    fn take_off(&mut self, item: usize) {
        self.offsets[item] = None;
        self.placed.retain(|&other| other as usize != item);
    }

    /// Places all items in the order of a heuristic; keeps the result if it is the best so far.
    fn place_by(&mut self, heuristic: Heuristic, limit: Cost) {
        let mut order: Vec<usize> = (0..self.chosen.len()).collect();
        let item = |index: usize| &self.problem.items[self.chosen[index] as usize];
        order.compact_sort_by_key(|&index| {
            let item = item(index);
            let lifetime = (item.end - item.first) as u64;
            let keys = match heuristic {
                Heuristic::LongestLifetime => (u64::MAX - lifetime, u64::MAX - item.weight),
                Heuristic::Largest => (u64::MAX - item.size, u64::MAX - lifetime),
                Heuristic::Heaviest => (u64::MAX - item.weight, u64::MAX - lifetime),
                Heuristic::Earliest => (item.first as u64, u64::MAX - lifetime),
            };
            (keys, index)
        });
        let mut tops = self.live_peaks.clone();
        let mut fits = true;
        for &index in &order {
            let offset = self.lowest(index);
            let end = offset + self.problem.items[self.chosen[index] as usize].size;
            fits &= end <= self.problem.capacity;
            self.put(index, offset);
            self.raise(&mut tops, index, end);
        }
        let cost = self.cost_of(&tops);
        if fits && cost < limit && self.best.as_ref().is_none_or(|(best, _)| cost < *best) {
            self.keep(cost);
        }
        for index in order {
            self.take_off(index);
        }
    }

    fn keep(&mut self, cost: Cost) {
        let offsets = self
            .offsets
            .iter()
            .map(|offset| offset.expect("all items are placed"));
        self.best = Some((cost, offsets.collect()));
        self.limit = cost;
    }

    /// Branches on the next item to place, at `last` or above, as long as the result may improve.
    fn descend(&mut self, last: u64, last_item: usize) {
        self.steps += self.steps_per_item;
        if self.steps > self.budget {
            return;
        }
        let mut tops = self.live_peaks.clone();
        let mut waiting: Vec<(u64, usize)> = Vec::with_capacity(self.chosen.len());
        // All further items must begin below this: otherwise another item could move down under them.
        let mut ceiling = u64::MAX;
        for index in 0..self.chosen.len() {
            let size = self.problem.items[self.chosen[index] as usize].size;
            let offset = match self.offsets[index] {
                Some(offset) => offset,
                None => {
                    let offset = self.lowest(index);
                    waiting.push((offset, index));
                    ceiling = ceiling.min(offset + size);
                    offset
                }
            };
            if offset + size > self.problem.capacity {
                return;
            }
            self.raise(&mut tops, index, offset + size);
        }
        let cost = self.cost_of(&tops);
        if cost >= self.limit {
            return;
        }
        if waiting.is_empty() {
            self.keep(cost);
            return;
        }
        waiting.compact_sort_by_key(|&(offset, index)| {
            let item = &self.problem.items[self.chosen[index] as usize];
            (offset, usize::MAX - (item.end - item.first), index)
        });
        for (offset, index) in waiting {
            let later = offset > last || (offset == last && (self.placed.is_empty() || index > last_item));
            if !later || offset >= ceiling {
                continue;
            }
            self.put(index, offset);
            self.descend(offset, index);
            self.take_off(index);
        }
    }
}
