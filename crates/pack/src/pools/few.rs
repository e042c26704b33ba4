//! Exhaustive search for few units.
//!
//! Pushing a packing down, with every disjoint pair kept disjoint, never raises its cost; then each unit starts at its lowest offset or on the end of
//! a unit that it has an edge with. So only those offsets are tried, in ascending order.

use tileheap_units::CompactSort;

use super::problem::{Edge, PoolsProblem};
use super::state::{State, UNPLACED};
use crate::gap::align_up;

/// Maximum number of units; with more there are too many orders.
pub(super) const MAX_UNITS: usize = 10;

/// An exhaustive search over orders and offsets.
pub(super) struct ExhaustiveSearch<'a> {
    pub(super) problem: &'a PoolsProblem,
    pub(super) capacities: &'a [u64],
    /// Packings of this cost or more are not searched.
    pub(super) limit: u64,
    pub(super) best: Option<State>,
    /// True if any packing is acceptable: the search ends at the first.
    pub(super) accepts_any: bool,
    pub(super) left: u64,
}

impl ExhaustiveSearch<'_> {
    /// Searches all packings that cost less than the limit; returns true if the search was complete, so that the best state is the cheapest one.
    pub(super) fn search(&mut self) -> bool {
        let mut state = State::empty(self.problem);
        if !state.place_fixed(self.problem) {
            return true;
        }
        let mut unplaced: Vec<u32> = (0..self.problem.units.len() as u32).collect();
        unplaced.retain(|&unit| state.pool[unit as usize] == UNPLACED);
        let cost = state.soft_total;
        self.descend(&mut state, &mut unplaced, (0, 0, 0), cost)
    }

    fn descend(
        &mut self,
        state: &mut State,
        unplaced: &mut Vec<u32>,
        last: (u32, u64, u32),
        cost: u64,
    ) -> bool {
        if cost >= self.limit {
            return true;
        }
        if unplaced.is_empty() {
            self.limit = cost;
            self.best = Some(state.counted(self.problem));
            return !self.accepts_any;
        }
        let problem = self.problem;
        for position in 0..unplaced.len() {
            let unit = unplaced.swap_remove(position);
            let of = &problem.units[unit as usize];
            for &pool in &of.pools {
                let Some(highest) = of.highest_in(self.capacities[pool as usize]) else {
                    continue;
                };
                let placed = |edge: &&Edge| state.pool[edge.other as usize] == pool;
                let ends = of.edges.iter().filter(placed).map(|edge| {
                    let end = state.offset[edge.other as usize] + problem.units[edge.other as usize].size;
                    align_up(end, of.alignment).unwrap_or(u64::MAX)
                });
                let mut offsets: Vec<u64> = std::iter::once(of.low).chain(ends).collect();
                offsets
                    .retain(|&offset| offset >= of.low && offset <= highest && (pool, offset, unit) >= last);
                offsets.compact_sort();
                offsets.dedup();
                for offset in offsets {
                    if self.left == 0 {
                        unplaced.push(unit);
                        return false;
                    }
                    self.left -= 1;
                    let (hard, soft) = state.overlaps(problem, unit, pool, offset);
                    if hard > 0 {
                        continue;
                    }
                    (state.pool[unit as usize], state.offset[unit as usize]) = (pool, offset);
                    let ended = self.descend(state, unplaced, (pool, offset, unit), cost + soft);
                    state.pool[unit as usize] = UNPLACED;
                    if !ended {
                        unplaced.push(unit);
                        return false;
                    }
                }
            }
            unplaced.push(unit);
            let end = unplaced.len() - 1;
            unplaced.swap(position, end);
        }
        true
    }
}
