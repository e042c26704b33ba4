//! Places of units, and their overlapping pairs.

use super::PoolsProblem;
use super::problem::FORBIDDEN;

/// The pool of a unit that is not placed.
pub(super) const UNPLACED: u32 = u32::MAX;

/// The place of every unit, with violations and costs.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) pool: Vec<u32>,
    pub(super) offset: Vec<u64>,
    /// For each unit, the number of others with which it shares bytes although it must not.
    pub(super) hard: Vec<u64>,
    /// For each unit, the sum of the penalties that it pays.
    pub(super) soft: Vec<u64>,
    /// Number of pairs that share bytes although they must not.
    pub(super) hard_total: u64,
    pub(super) soft_total: u64,
}

impl State {
    /// Creates a state in which no unit is placed.
    pub(super) fn empty(problem: &PoolsProblem) -> State {
        let count = problem.units.len();
        State {
            pool: vec![UNPLACED; count],
            offset: vec![0; count],
            hard: vec![0; count],
            soft: vec![0; count],
            hard_total: 0,
            soft_total: 0,
        }
    }

    /// Returns the same places, with violations and costs recounted.
    pub(super) fn counted(&self, problem: &PoolsProblem) -> State {
        let mut state = State::empty(problem);
        for (unit, (&pool, &offset)) in self.pool.iter().zip(&self.offset).enumerate() {
            state.put(problem, unit as u32, pool, offset);
        }
        state
    }

    /// Places units that have only one possible place; returns false if any of them share bytes that they must not share.
    pub(super) fn place_fixed(&mut self, problem: &PoolsProblem) -> bool {
        for (index, unit) in problem.units.iter().enumerate() {
            if unit.low == unit.high && unit.pools.len() == 1 {
                self.put(problem, index as u32, unit.pools[0], unit.low);
            }
        }
        self.hard_total == 0
    }

    /// Returns the number of forbidden overlaps and the sum of the penalties of a unit placed at `offset` in `pool`.
    pub(super) fn overlaps(&self, problem: &PoolsProblem, unit: u32, pool: u32, offset: u64) -> (u32, u64) {
        let of = &problem.units[unit as usize];
        let (mut hard, mut soft) = (0, 0);
        for edge in &of.edges {
            let other = edge.other as usize;
            let start = self.offset[other];
            if self.pool[other] == pool
                && start < offset + of.size
                && offset < start + problem.units[other].size
            {
                match edge.cost {
                    FORBIDDEN => hard += 1,
                    cost => soft += cost,
                }
            }
        }
        (hard, soft)
    }

    /// Moves a unit to a place, and updates violations and costs.
    pub(super) fn put(&mut self, problem: &PoolsProblem, unit: u32, pool: u32, offset: u64) {
        let of = &problem.units[unit as usize];
        let index = unit as usize;
        let (old_pool, old) = (self.pool[index], self.offset[index]);
        for edge in &of.edges {
            let other = edge.other as usize;
            let (start, end) = (self.offset[other], self.offset[other] + problem.units[other].size);
            let meets = |pool: u32, offset: u64| {
                self.pool[other] == pool && pool != UNPLACED && start < offset + of.size && offset < end
            };
            let (before, after) = (meets(old_pool, old), meets(pool, offset));
            if before == after {
                continue;
            }
            let (of_units, total, by) = match edge.cost {
                FORBIDDEN => (&mut self.hard, &mut self.hard_total, 1),
                cost => (&mut self.soft, &mut self.soft_total, cost),
            };
            let change = |sum: &mut u64| *sum = if after { *sum + by } else { *sum - by };
            change(total);
            change(&mut of_units[index]);
            change(&mut of_units[other]);
        }
        (self.pool[index], self.offset[index]) = (pool, offset);
    }
}
