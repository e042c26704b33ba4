//! Upper bounds on the value of a choice: prices of bytes per step, computed once and summed during the search.
//!
//! A price per byte and step turns the limit of the block into a cost: the value of a choice is at most the sum, over undecided items, of the weight
//! above the price of their bytes, plus, per step, the value of the free bytes at that price minus the cost of reserving them. Every set of prices
//! gives a bound (Lagrangian relaxation); good ones make it tight.

use super::problem::{Item, Problem};
use crate::select::choice::{CandidateItem, LoadSearch};
use crate::select::prices::{Arc, Prices as LoadPrices, SCALE_BITS};
use crate::units::{Bytes, Run};

/// Units of price per unit of weight.
const SCALE: i128 = 1 << SCALE_BITS;

/// Number of rounds in which the prices are improved.
const ROUNDS: u32 = 20;

/// Limit on the price of a step times the bytes of the block, and times the bytes of all items.
const MAX_PRODUCT: i128 = 1 << 100;

/// A choice that only respects the load of each step and ignores offsets.
pub(super) struct ByLoads {
    pub(super) items: Vec<u32>,
    /// Upper bound on the value of any choice.
    pub(super) bound: i128,
    pub(super) steps: u64,
}

/// Prices per step, and the resulting surplus of each item.
pub(super) struct StepPrices {
    price: Vec<i128>,
    /// The maximum price of a byte, which keeps sums of prices times sizes within 128 bits.
    max_price: i128,
    /// Per item, its weight minus the price of its bytes over its lifetime.
    pub(super) surplus: Vec<i128>,
}

impl StepPrices {
    /// Finds good prices for a problem, given the value of some choice.
    pub(super) fn of(problem: &Problem<'_>, value: u64) -> StepPrices {
        let bytes: u64 = problem.items.iter().map(|item| item.size).sum();
        let max_price = MAX_PRODUCT / i128::from(bytes.max(problem.capacity).max(1));
        let mut prices = StepPrices {
            price: relaxed(problem)
                .into_iter()
                .map(|price| price.min(max_price))
                .collect(),
            max_price,
            surplus: vec![0; problem.items.len()],
        };
        let load = vec![0; problem.costs.len()];
        let mut best: Option<(i128, Vec<i128>)> = None;
        // Step size in 64ths of the step that would close the gap at once.
        let (mut pace, mut idle) = (96i128, 0);
        for _ in 0..ROUNDS {
            prices.appraise(problem);
            let bound = prices.bound(problem, &load);
            if best.as_ref().is_none_or(|(least, _)| bound < *least) {
                best = Some((bound, prices.price.clone()));
                idle = 0;
            } else {
                idle += 1;
                if idle == 8 {
                    (pace, idle) = (pace * 3 / 4, 0);
                    prices
                        .price
                        .clone_from(&best.as_ref().expect("the first round sets `best`").1);
                    prices.appraise(problem);
                }
            }
            let gap = bound - i128::from(value) * SCALE;
            if gap <= 0 || pace == 0 {
                break;
            }
            prices.improve(problem, gap, pace);
        }
        if let Some((_, price)) = best {
            prices.price = price;
        }
        prices.appraise(problem);
        prices
    }

    fn appraise(&mut self, problem: &Problem<'_>) {
        for (surplus, item) in self.surplus.iter_mut().zip(&problem.items) {
            let price: i128 = self.price[item.first..item.end].iter().sum();
            *surplus = i128::from(item.weight) * SCALE - i128::from(item.size) * price;
        }
    }

    /// Lowers prices in steps with free bytes, and raises them in steps that lack bytes.
    fn improve(&mut self, problem: &Problem<'_>, gap: i128, pace: i128) {
        let mut slack: Vec<i128> = (0..self.price.len())
            .map(|step| i128::from(self.best_load(problem, step, 0)))
            .collect();
        for choice in &problem.choices {
            let best = choice
                .indices()
                .max_by_key(|&item| (self.surplus[item], usize::MAX - item));
            let Some(item) = best.filter(|&item| self.surplus[item] > 0) else {
                continue;
            };
            let item = &problem.items[item];
            for slack in &mut slack[item.first..item.end] {
                *slack -= i128::from(item.size);
            }
        }
        // A step with price 0 and free bytes does not contribute.
        let pulls = |(slack, price): (&i128, &i128)| *slack < 0 || *price > 0;
        // In kilobytes squared, so that the sum does not overflow.
        let norm: i128 = slack
            .iter()
            .zip(&self.price)
            .filter(|pair| pulls(*pair))
            .map(|(slack, _)| (slack >> 10) * (slack >> 10))
            .sum();
        if norm == 0 {
            return;
        }
        for (price, slack) in self.price.iter_mut().zip(&slack) {
            let change = (gap / 64 * pace).saturating_mul(slack >> 10) / norm / 1024;
            *price = price.saturating_sub(change).clamp(0, self.max_price);
        }
    }

    /// Returns the load of a step, at least `load`, that maximizes the price of its bytes minus the cost of reserving them.
    fn best_load(&self, problem: &Problem<'_>, step: usize, load: u64) -> u64 {
        let levels = problem.costs[step].levels(problem.capacity);
        let gain = |&(reserved, cost): &(u64, u64)| {
            self.price[step] * i128::from(reserved) - i128::from(cost) * SCALE
        };
        let best = levels.filter(|&(reserved, _)| reserved >= load).max_by_key(gain);
        best.map_or(load, |(reserved, _)| reserved)
    }

    /// Returns the maximum, over reservations of at least `load` in a step, of the price of the bytes above `load` minus the cost of the reservation.
    pub(super) fn room(&self, problem: &Problem<'_>, step: usize, load: u64) -> i128 {
        let levels = problem.costs[step].levels(problem.capacity);
        let gain = |(reserved, cost): (u64, u64)| {
            self.price[step] * i128::from(reserved - load) - i128::from(cost) * SCALE
        };
        let above = levels.filter(|&(reserved, _)| reserved >= load).map(gain);
        let nothing_more = -i128::from(problem.costs[step].of(Bytes(load))) * SCALE;
        above.max().map_or(nothing_more, |gain| gain.max(nothing_more))
    }

    /// Searches for the best choice that ignores offsets, with each step charged for its load; also returns an upper bound on the value of any choice.
    ///
    /// `value` is the value of a known choice; choices of less value are not searched.
    pub(super) fn by_loads(&self, problem: &Problem<'_>, value: i128, budget: u64) -> ByLoads {
        let offers: Vec<CandidateItem> = problem.items.iter().zip(&self.surplus).map(offer).collect();
        let gains: Vec<i128> = (0..self.price.len())
            .map(|step| self.room(problem, step, 0))
            .collect();
        let loss = |step: usize, load: u64| {
            let cost = i128::from(problem.costs[step].of(Bytes(load))) * SCALE;
            let gain = self.price[step] * i128::from(load) - cost;
            (self.price[step] > 0 || !problem.costs[step].is_free()).then_some((gains[step] - gain, cost))
        };
        let bound = self.bound(problem, &vec![0; self.price.len()]);
        let most = bound - value * SCALE;
        let (columns, capacity) = (self.price.len(), problem.capacity);
        let width = LoadSearch::width(&offers, columns, budget);
        let mut search = LoadSearch::default();
        // The allowed loss grows until something is found: with good prices that is soon, and few states are kept.
        let mut allowed = (most >> 12).max(1);
        loop {
            if let Some(found) = search.pass(&offers, (columns, capacity), loss, allowed, width) {
                let taken = (0..).zip(&found.taken).filter(|(_, taken)| **taken);
                return ByLoads {
                    items: taken.map(|(item, _)| item).collect(),
                    bound: unscaled(if found.exact { bound - found.loss } else { bound }),
                    steps: search.steps,
                };
            }
            if allowed > most || search.steps > budget {
                return ByLoads {
                    items: Vec::new(),
                    bound: unscaled(bound),
                    steps: budget,
                };
            }
            allowed = allowed.saturating_mul(4);
        }
    }

    /// Returns the bound with nothing decided and `load` already taken.
    fn bound(&self, problem: &Problem<'_>, load: &[u64]) -> i128 {
        let rooms: i128 = (0..load.len())
            .map(|step| self.room(problem, step, load[step]))
            .sum();
        rooms + self.surplus_sum(problem)
    }

    /// Returns the sum of the positive surpluses; of each exclusive group, only the highest surplus counts.
    pub(super) fn surplus_sum(&self, problem: &Problem<'_>) -> i128 {
        let most = |choice: &Run| {
            let surplus = choice.of(&self.surplus).iter().copied().max();
            surplus.unwrap_or(0).max(0)
        };
        problem.choices.iter().map(most).sum()
    }
}

/// Returns the optimal prices of the relaxation in which items may be chosen in part: a flow problem in which each step also has arcs for the cost that is
/// saved by reserving less.
///
/// Only the lower convex hull of the cost counts there: a reservation is a mixture of levels. The item of an exclusive group that ends last
/// represents the group: together its items would request more than can be chosen.
fn relaxed(problem: &Problem<'_>) -> Vec<i128> {
    let last = |choice: &Run| choice.of(&problem.items).iter().max_by_key(|item| item.end);
    let items = problem.choices.iter().filter_map(last);
    let items = items.filter(|item| item.size <= problem.capacity);
    let mut arcs: Vec<Arc> = items.map(arc).collect();
    let mut hull: Vec<(u64, u64)> = Vec::new();
    for (step, cost) in problem.costs.iter().enumerate() {
        if cost.is_free() {
            continue;
        }
        hull.clear();
        for level in cost.levels(problem.capacity) {
            while let [.., before, last] = hull[..] {
                let rise = |a: (u64, u64), b: (u64, u64)| (u128::from(b.1 - a.1), u128::from(b.0 - a.0));
                let ((up, along), (next_up, next_along)) = (rise(before, last), rise(last, level));
                // Not convex at `last`: the slope before it is at least as steep as the slope after it.
                if along > 0 && up * next_along < next_up * along {
                    break;
                }
                hull.pop();
            }
            match hull.last_mut() {
                Some(last) if last.0 >= level.0 => {}
                _ => hull.push(level),
            }
        }
        let saved = hull.windows(2).map(|pair| Arc {
            first: step as u32,
            end: step as u32 + 1,
            size: pair[1].0 - pair[0].0,
            weight: scaled(pair[1].1 - pair[0].1),
        });
        arcs.extend(saved);
    }
    let blocks = if arcs.len() > 200 { 8 } else { 1 };
    LoadPrices::default().find(problem.costs.len(), problem.capacity, &arcs, blocks)
}

/// Converts an item to an arc of the relaxation.
fn arc(item: &Item) -> Arc {
    Arc {
        first: item.first as u32,
        end: item.end as u32,
        size: item.size,
        weight: scaled(item.weight),
    }
}

/// Converts an item and its surplus to a candidate of the search by loads.
fn offer((item, &surplus): (&Item, &i128)) -> CandidateItem {
    CandidateItem {
        arc: arc(item),
        surplus,
    }
}

/// Converts a scaled bound to units of weight; rounds down, since values are integers.
pub(super) fn unscaled(bound: i128) -> i128 {
    bound.div_euclid(SCALE)
}

/// Converts a weight to the units of bounds.
pub(super) fn scaled(weight: u64) -> i128 {
    i128::from(weight) * SCALE
}
