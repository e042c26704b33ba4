//! Finds the lowest cost within the capacities: bounds, then exhaustive search for few units, then local search in rounds.

use std::ops::ControlFlow;

use super::anneal::Anneal;
use super::bound::{cliques, infeasible, lower_bound};
use super::few::{ExhaustiveSearch, MAX_UNITS};
use super::problem::{FORBIDDEN, UNLIMITED};
use super::state::State;
use super::{PoolPlacement, PoolsAnswer, PoolsPacking, PoolsProblem};
use crate::units::Bytes;
use crate::{Progress, ProgressCallback, Steps, Verdict};

/// Steps per unit in the first round of local search.
const STEPS_PER_UNIT: u64 = 100;
/// Twice the maximum number of steps spent on lowering the height of a pool without a capacity.
const LONGEST_LOWERING: u64 = 1 << 24;
/// Initial temperatures of rounds, in 64ths of the mean penalty.
const INITIAL_TEMPERATURES: [u64; 4] = [16, 48, 8, 32];

/// Looks for the packing of the lowest cost within the capacities; a pool without a capacity is first made small.
///
/// The same problem and budget give the same answer on every machine, unless `watch` interrupts; `watch` sees costs. With [`Steps::UNLIMITED`] only a
/// proof or `watch` ends the search.
pub fn solve(problem: &PoolsProblem, budget: Steps, watch: ProgressCallback<'_>) -> PoolsAnswer {
    let mut search = Search {
        problem,
        cliques: cliques(problem),
        capacities: problem.capacities.clone(),
        best: None,
        bound: 0,
        is_lowest: problem.capacities.iter().all(|&capacity| capacity != UNLIMITED),
        steps: 0,
        budget: budget.0,
        is_over: false,
        watch,
    };
    let conflict = search.find();
    let units = &conflict.clone().unwrap_or_default();
    let mut items: Vec<u32> = (0..problem.unit_of.len() as u32).collect();
    items.retain(|&item| units.contains(&(problem.unit_of[item as usize] as u32)));
    let is_proved = match &search.best {
        Some(best) => search.is_lowest && best.soft_total <= search.bound,
        None => conflict.is_some(),
    };
    PoolsAnswer {
        packing: search.best.as_ref().map(|best| packing(problem, best)),
        bound: search.bound + problem.fixed_cost,
        verdict: Verdict::of(is_proved, search.is_over),
        steps: Steps(search.steps),
        conflict: items,
    }
}

struct Search<'a, 'w> {
    problem: &'a PoolsProblem,
    cliques: Vec<Vec<u32>>,
    capacities: Vec<u64>,
    best: Option<State>,
    bound: u64,
    /// True if it is proved that the pool without a capacity cannot be smaller.
    is_lowest: bool,
    steps: u64,
    budget: u64,
    /// True if the callback has ended the search.
    is_over: bool,
    watch: ProgressCallback<'w>,
}

impl Search<'_, '_> {
    /// Runs the search; if no packing exists, returns units that cannot be packed together: all units if no smaller set is known.
    fn find(&mut self) -> Option<Vec<u32>> {
        let units = &self.problem.units;
        if let Some(unit) = units.iter().position(|unit| unit.pools.is_empty()) {
            return Some(vec![unit as u32]);
        }
        let open = self.capacities.iter().position(|&capacity| capacity == UNLIMITED);
        if let Some(units) = infeasible(self.problem, &self.capacities, &self.cliques) {
            return Some(units.to_vec());
        }
        if let Some(pool) = open {
            if self.lower(pool) {
                return Some((0..units.len() as u32).collect());
            }
        }
        self.bound = lower_bound(self.problem, &self.capacities, &self.cliques);
        let limit = self.cost_of_best();
        let (all, found) = self.search_few(limit, false, self.budget / 2);
        self.best = found.or(self.best.take());
        if all {
            match &self.best {
                Some(best) => self.bound = best.soft_total,
                None => return Some((0..units.len() as u32).collect()),
            }
        }
        if !self.is_settled() {
            self.anneal(self.budget, false);
        }
        None
    }

    fn cost_of_best(&self) -> u64 {
        self.best.as_ref().map_or(u64::MAX, |best| best.soft_total)
    }

    fn is_settled(&self) -> bool {
        self.cost_of_best() <= self.bound || self.is_over
    }

    fn is_few(&self) -> bool {
        let units = self.problem.units.iter();
        units.filter(|unit| unit.low != unit.high).count() <= MAX_UNITS
    }

    /// Searches exhaustively for packings below a cost if there are few units; ends at the first packing if `any` is true. Returns whether the search
    /// was complete, and the best state.
    fn search_few(&mut self, limit: u64, any: bool, steps: u64) -> (bool, Option<State>) {
        if !self.is_few() {
            return (false, None);
        }
        let left = steps.min(self.budget.saturating_sub(self.steps)).min(1 << 24);
        let mut few = ExhaustiveSearch {
            problem: self.problem,
            capacities: &self.capacities,
            limit,
            best: None,
            accepts_any: any,
            left,
        };
        let all = few.search();
        self.steps += left - few.left;
        (all, few.best)
    }

    /// Lowers the height of the pool without a capacity as far as the search finds packings, and makes that height its capacity; returns true if it is proved
    /// that no packing exists.
    fn lower(&mut self, pool: usize) -> bool {
        let share = self.budget.min(LONGEST_LOWERING) / 2;
        let (all, found) = self.search_few(u64::MAX, true, share / 4);
        if all && found.is_none() {
            return true;
        }
        self.best = found;
        if self.best.is_none() {
            self.anneal(share / 4, true);
        }
        let (mut low, mut proved) = (self.least_height(pool), true);
        let mut fails = 0;
        while let Some(top) = self.best.as_ref().map(|best| height(self.problem, best, pool)) {
            if low >= top || self.is_over || fails == 8 || self.steps >= share {
                self.is_lowest = proved && low >= top;
                self.capacities[pool] = top;
                break;
            }
            // With few units the height is lowered step by step, so that lower heights are proved impossible.
            let middle = if self.is_few() {
                top - 1
            } else {
                low + (top - low) / 2
            };
            self.capacities[pool] = middle;
            let known = self.best.take();
            let (all, found) = self.search_few(u64::MAX, true, share);
            self.best = found;
            if self.best.is_none() && !all {
                self.anneal((share / 8).max(1), true);
            }
            if self.best.is_none() {
                self.best = known;
                proved &= all;
                low = middle + 1;
                fails += 1;
            }
        }
        false
    }

    /// Returns a lower bound on the height of the pool in every packing.
    fn least_height(&mut self, pool: usize) -> u64 {
        let units = self.problem.units.iter().filter(|unit| !unit.is_reserved);
        let bound_to = units.filter(|unit| unit.pools == [pool as u32]);
        let (mut low, mut high) = (
            bound_to.map(|unit| unit.low + unit.size).max().unwrap_or(0),
            UNLIMITED,
        );
        let mut capacities = self.capacities.clone();
        while low < high {
            let middle = low + (high - low) / 2;
            capacities[pool] = middle;
            match infeasible(self.problem, &capacities, &self.cliques) {
                Some(_) => low = middle + 1,
                None => high = middle,
            }
        }
        low
    }

    /// Runs local search in rounds, for at most `steps` steps; stops early once a packing is found if `any` is true, otherwise once none can be
    /// better.
    fn anneal(&mut self, steps: u64, any: bool) {
        let end = self.steps.saturating_add(steps).min(self.budget);
        let costs = self.problem.units.iter().flat_map(|unit| &unit.edges);
        let costs = costs.map(|edge| edge.cost).filter(|&cost| cost != FORBIDDEN);
        let (sum, count) = costs.fold((0, 0), |(sum, count), cost| (sum + cost, count + 1));
        let mean = (sum / count.max(1)).max(1);
        let capacities = self.capacities.clone();
        let mut search = Anneal::new(self.problem, &capacities, self.best.clone());
        let first = self.problem.units.len() as u64 * STEPS_PER_UNIT;
        for round in 0.. {
            let length =
                (first << (round / INITIAL_TEMPERATURES.len()).min(20)).min(end.saturating_sub(self.steps));
            let enough = if any { u64::MAX - 1 } else { self.bound };
            let (before, bound) = (self.steps, self.bound);
            let (is_over, watch) = (&mut self.is_over, &mut self.watch);
            let mut go_on = |steps: u64, best: Option<u64>| {
                let steps = Steps(before + steps);
                *is_over |= watch(Progress { steps, best, bound }) == ControlFlow::Break(());
                !*is_over
            };
            let heat = INITIAL_TEMPERATURES[round % INITIAL_TEMPERATURES.len()] * mean;
            self.steps += search.run(length, heat, enough, &mut go_on);
            if search.cost_of_best() <= enough || self.steps >= end || self.is_over || length == 0 {
                break;
            }
            search.restart();
        }
        self.best = search.best;
    }
}

/// Returns the end of the highest item in a pool.
fn height(problem: &PoolsProblem, state: &State, pool: usize) -> u64 {
    let units = problem.units.iter().zip(state.pool.iter().zip(&state.offset));
    let inside = units.filter(|(unit, (of, _))| **of == pool as u32 && !unit.is_reserved);
    let ends = inside.map(|(unit, (_, offset))| offset + unit.size);
    ends.max().unwrap_or(0)
}

/// Converts a state to a packing.
fn packing(problem: &PoolsProblem, state: &State) -> PoolsPacking {
    let place = |&unit: &usize| PoolPlacement {
        pool: state.pool[unit],
        offset: Bytes(state.offset[unit]),
    };
    let pools = 0..problem.capacities.len();
    PoolsPacking {
        places: problem.unit_of.iter().map(place).collect(),
        heights: pools.map(|pool| Bytes(height(problem, state, pool))).collect(),
        cost: state.soft_total + problem.fixed_cost,
    }
}
