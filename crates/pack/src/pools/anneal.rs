//! Simulated annealing: moves a unit that shares bytes at a cost, or although it must not, to its cheapest place, which may cost slightly more than
//! the current one.
//!
//! Units may overlap during the search, at a price that rises while some do and falls while none do. The temperature falls in each round. The
//! candidate offsets of a unit come from the starts and ends of units that it has edges with: between them the cost is constant. Arithmetic is in
//! integers: the same steps on every machine.

use super::PoolsProblem;
use super::problem::FORBIDDEN;
use super::state::{State, UNPLACED};
use crate::gap::align_up;
use crate::lists::refill;
use crate::units::{CompactSort, SplitMix64};

/// Number of cost units per penalty of 1.
const COST_SCALE: u64 = 64;
/// Steps between two calls of the callback.
const POLL_EVERY: u64 = 2048;
/// Steps between two updates of the price of overlaps.
const REPRICE_EVERY: u64 = 256;

/// The state of a local search.
pub(super) struct Anneal<'a> {
    problem: &'a PoolsProblem,
    capacities: &'a [u64],
    random: SplitMix64,
    state: State,
    /// The best state without forbidden overlaps.
    pub(super) best: Option<State>,
    /// The price of a forbidden overlap, in cost units (see `COST_SCALE`).
    price: u64,
    max_price: u64,
    /// The last step at which each unit moved.
    moved: Vec<u64>,
    movable: Vec<u32>,
    step: u64,
    starts: Vec<(u64, u64)>,
    ends: Vec<(u64, u64)>,
    offsets: Vec<u64>,
}

impl<'a> Anneal<'a> {
    /// Starts a search from a packing, or from units placed one by one, the largest first.
    pub(super) fn new(problem: &'a PoolsProblem, capacities: &'a [u64], from: Option<State>) -> Anneal<'a> {
        let count = problem.units.len() as u32;
        let is_movable = |unit: &u32| {
            let unit = &problem.units[*unit as usize];
            unit.low != unit.high || unit.pools.len() > 1
        };
        let mut state = State::empty(problem);
        state.place_fixed(problem);
        let edges = problem.units.iter().flat_map(|unit| &unit.edges);
        let costs = edges.map(|edge| edge.cost).filter(|&cost| cost != FORBIDDEN);
        let price = costs.max().unwrap_or(1) * COST_SCALE * 2;
        let mut search = Anneal {
            problem,
            capacities,
            random: SplitMix64::new(1),
            state,
            best: from,
            price,
            max_price: price * 16,
            moved: vec![0; count as usize],
            movable: (0..count).filter(is_movable).collect(),
            step: 0,
            starts: Vec::new(),
            ends: Vec::new(),
            offsets: Vec::new(),
        };
        if search.best.is_some() {
            search.restart();
            return search;
        }
        // Best fit by size, ignoring penalties; if that is too high, each unit where it overlaps least.
        let mut order = search.movable.clone();
        order.compact_sort_by_key(|&unit| {
            let of = &problem.units[unit as usize];
            let first = of.spans.iter().map(|span| span.first).min();
            (std::cmp::Reverse(of.size), first, unit)
        });
        let empty = search.state.clone();
        let in_gaps = order.iter().all(|&unit| {
            let found = search.tightest(unit);
            found.is_some_and(|(pool, offset)| {
                search.state.put(problem, unit, pool, offset);
                true
            })
        });
        if !in_gaps {
            search.state = empty;
            order.compact_sort_by_key(|&unit| std::cmp::Reverse(problem.units[unit as usize].size));
            for unit in order {
                let (_, pool, offset) = search.cheapest(unit);
                search.state.put(problem, unit, pool, offset);
            }
        }
        search.keep();
        search
    }

    /// Restarts from the best state.
    pub(super) fn restart(&mut self) {
        if let Some(best) = &self.best {
            self.state.clone_from(best);
        }
    }

    /// Returns the cost of the best state.
    pub(super) fn cost_of_best(&self) -> u64 {
        self.best.as_ref().map_or(u64::MAX, |best| best.soft_total)
    }

    /// Runs for at most `steps` steps, cooling down to zero; stops early once the best state costs no more than `enough` or `go_on` returns false.
    /// Returns the steps used.
    ///
    /// `go_on` is called with the steps so far and the cost of the best state, and returns whether to continue.
    pub(super) fn run(
        &mut self,
        steps: u64,
        heat: u64,
        enough: u64,
        go_on: &mut dyn FnMut(u64, Option<u64>) -> bool,
    ) -> u64 {
        let (first, end) = (self.step, self.step + steps);
        if self.movable.is_empty() {
            self.keep();
            return steps;
        }
        let (mut clean, mut reviewed) = (0u64, self.step);
        while self.step < end {
            let is_clean = self.state.hard_total == 0;
            if is_clean && self.keep() <= enough {
                break;
            }
            if (self.step - first) % POLL_EVERY == 0
                && !go_on(self.step - first, self.best.as_ref().map(|best| best.soft_total))
            {
                break;
            }
            clean += u64::from(is_clean);
            self.step += 1;
            if self.step - reviewed == REPRICE_EVERY {
                // The price of overlaps rises while most states have some.
                self.price = match clean * 3 < REPRICE_EVERY {
                    true => (self.price + self.price / 8 + 1).min(self.max_price),
                    false => (self.price - self.price / 16).max(COST_SCALE),
                };
                (clean, reviewed) = (0, self.step);
            }
            let left = u128::from(end - self.step);
            let heat = (u128::from(heat) * left * left / (u128::from(steps) * u128::from(steps))) as u64;
            self.move_one(heat);
        }
        self.keep();
        self.step - first
    }

    /// Saves the current state if it has no forbidden overlaps and is the cheapest so far; returns the cost of the best state.
    fn keep(&mut self) -> u64 {
        let best = self.cost_of_best();
        if self.state.hard_total == 0 && self.state.soft_total < best {
            self.best = Some(self.state.clone());
            return self.state.soft_total;
        }
        best
    }

    /// Moves a unit that adds to the cost to its cheapest other place, unless that raises the cost by too much for the temperature `heat`.
    fn move_one(&mut self, heat: u64) {
        let pays = |unit: u32| self.state.hard[unit as usize] > 0 || self.state.soft[unit as usize] > 0;
        let start = self.random.below(self.movable.len() as u64) as usize;
        let tenure = 2 + self.random.below(8);
        let (later, earlier) = (self.movable[start..].iter(), self.movable[..start].iter());
        let rested = |unit: u32| self.moved[unit as usize] + tenure < self.step + 2;
        // Every other time, only units with forbidden overlaps.
        let hard_only = self.state.hard_total > 0 && self.step % 2 == 0;
        let fits =
            |&&unit: &&u32| pays(unit) && rested(unit) && (!hard_only || self.state.hard[unit as usize] > 0);
        let Some(&unit) = later.chain(earlier).find(fits) else {
            return;
        };
        let now = self.price * self.state.hard[unit as usize] + COST_SCALE * self.state.soft[unit as usize];
        let (cost, pool, offset) = self.cheapest(unit);
        // Each unit of heat halves the probability once more.
        let chance = u64::from(self.random.next_u64().leading_zeros());
        if cost <= now + heat * chance {
            self.moved[unit as usize] = self.step;
            self.state.put(self.problem, unit, pool, offset);
        }
    }

    /// Returns the pool and offset of the smallest sufficient gap between the units that a unit must not share bytes with; `None` if there is none.
    fn tightest(&mut self, unit: u32) -> Option<(u32, u64)> {
        let of = &self.problem.units[unit as usize];
        let mut best: Option<(u64, u32, u64)> = None;
        for &pool in &of.pools {
            let Some(highest) = of.highest_in(self.capacities[pool as usize]) else {
                continue;
            };
            let forbidden = of.edges.iter().filter(|edge| edge.cost == FORBIDDEN);
            let others = forbidden.map(|edge| edge.other as usize);
            let there = others.filter(|&other| self.state.pool[other] == pool);
            refill(
                &mut self.starts,
                there.map(|other| {
                    let start = self.state.offset[other];
                    (start, start + self.problem.units[other].size)
                }),
            );
            self.starts.sort_unstable();
            self.starts.push((u64::MAX, u64::MAX));
            let mut low = of.low;
            for &(start, end) in &self.starts {
                let offset = align_up(low, of.alignment).filter(|&offset| offset <= highest);
                let fits = |&offset: &u64| offset + of.size <= start;
                if let Some(offset) = offset.filter(fits) {
                    let found = (start - low, pool, offset);
                    best = Some(best.map_or(found, |best| best.min(found)));
                }
                low = low.max(end);
            }
        }
        best.map(|(_, pool, offset)| (pool, offset))
    }

    /// Returns the cost, pool and offset of a unit's cheapest place other than its current one; a random one on a tie.
    fn cheapest(&mut self, unit: u32) -> (u64, u32, u64) {
        let of = &self.problem.units[unit as usize];
        let own = (self.state.pool[unit as usize], self.state.offset[unit as usize]);
        let mut best = (u64::MAX, own.0, own.1);
        let mut equals = 0;
        for &pool in &of.pools {
            let Some(highest) = of.highest_in(self.capacities[pool as usize]) else {
                continue;
            };
            self.starts.clear();
            self.ends.clear();
            for edge in &of.edges {
                let other = edge.other as usize;
                if self.state.pool[other] == pool {
                    let cost = match edge.cost {
                        FORBIDDEN => self.price,
                        // Initial places only have to fit; their cost is improved later.
                        _ if own.0 == UNPLACED => 0,
                        cost => cost * COST_SCALE,
                    };
                    let start = self.state.offset[other];
                    self.starts.push((start, cost));
                    self.ends.push((start + self.problem.units[other].size, cost));
                }
            }
            self.starts.sort_unstable();
            self.ends.sort_unstable();
            let aligned = of.alignment.get();
            let (starts, ends) = (self.starts.iter(), self.ends.iter());
            let above = ends.filter_map(|&(end, _)| align_up(end, of.alignment));
            let below = starts
                .filter_map(|&(start, _)| start.checked_sub(of.size))
                .map(|offset| offset - offset % aligned);
            refill(&mut self.offsets, above.chain(below).chain([of.low, highest]));
            self.offsets.retain(|offset| (of.low..=highest).contains(offset));
            self.offsets.sort_unstable();
            self.offsets.dedup();
            let (mut begun, mut over, mut cost) = (0, 0, 0u64);
            for &offset in &self.offsets {
                while begun < self.starts.len() && self.starts[begun].0 < offset + of.size {
                    cost += self.starts[begun].1;
                    begun += 1;
                }
                while over < self.ends.len() && self.ends[over].0 <= offset {
                    cost -= self.ends[over].1;
                    over += 1;
                }
                if (pool, offset) == own || cost > best.0 {
                    continue;
                }
                equals = if cost < best.0 { 1 } else { equals + 1 };
                // For initial places, the lowest of equals.
                if equals == 1 || own.0 != UNPLACED && self.random.one_in(equals) {
                    best = (cost, pool, offset);
                }
            }
        }
        if own.0 == UNPLACED && best.1 == UNPLACED {
            // Too large for every pool as they are now: it is placed at its lowest offset, where it overlaps least.
            best = (0, of.pools[0], of.low);
        }
        best
    }
}
