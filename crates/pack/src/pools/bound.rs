//! Lower bounds on cost, and sets of items that cannot be packed together.
//!
//! ```text
//! a ├────┤     c          in a *clique* every two units interfere, or cost something if they share bytes. If their sizes exceed
//! b ├────┤├────┤          the capacity of their pools, at least the difference is shared.
//! ```
//! A byte that several units take is charged to all of them but the largest: a unit is charged at most its size, and only if it shares bytes with a
//! larger one, which costs as much as its cheapest pair. So a clique costs as much as its cheapest *cover*: units that together are as large as the
//! difference. A cover seldom needs the whole cost of a pair; the rest is left for other cliques, so that their bounds add up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tileheap_units::CompactSort;

use super::PoolsProblem;
use super::problem::FORBIDDEN;
use crate::lists::reset;

/// Maximum cost for which covers of whole charges are computed; higher costs are bounded with fractions of charges.
const MAX_EXACT_COST: u64 = 4096;
/// Maximum number of steps to compute covers of whole charges; beyond that, costs are bounded with fractions of charges.
const MAX_WORK: u64 = 1 << 22;

/// The order in which candidates are added to a clique.
#[derive(Clone, Copy)]
enum Growth {
    /// Units that must not share bytes first, then the largest.
    Forbidden,
    /// Units that may share bytes at a cost first, then the largest.
    Soft,
    /// The largest units first.
    Large,
    /// Units in descending order of the cost of sharing bytes with the first unit, which is infinite for forbidden pairs; on a tie, the largest first.
    Expensive,
}

const GROWTHS: [Growth; 4] = [Growth::Forbidden, Growth::Soft, Growth::Large, Growth::Expensive];

/// Returns the units of a clique that cannot be packed together, if such a clique is found.
pub(super) fn infeasible<'a>(
    problem: &PoolsProblem,
    capacities: &[u64],
    cliques: &'a [Vec<u32>],
) -> Option<&'a [u32]> {
    let costs = Costs::new(problem);
    let found = cliques.iter().find(|clique| {
        let excess = excess(problem, capacities, clique);
        excess > 0 && {
            let charges = costs.charges(problem, clique).into_iter();
            charges.map(|charge| charge.bytes).sum::<u64>() < excess
        }
    });
    found.map(Vec::as_slice)
}

/// Returns a lower bound on the cost of every packing, if the units of each clique fit.
pub(super) fn lower_bound(problem: &PoolsProblem, capacities: &[u64], cliques: &[Vec<u32>]) -> u64 {
    let mut costs = Costs::new(problem);
    let mut cover = Cover::default();
    let mut bound = 0;
    // The most expensive first; what one takes lowers the others, so their costs are looked at again before they are taken.
    let mut queue: BinaryHeap<(u64, Reverse<usize>)> = BinaryHeap::new();
    for (index, clique) in cliques.iter().enumerate() {
        let cost = cover.find(
            costs.charges(problem, clique),
            excess(problem, capacities, clique),
        );
        queue.push((cost, Reverse(index)));
    }
    while let Some((_, Reverse(index))) = queue.pop() {
        let clique = &cliques[index];
        let cost = cover.find(
            costs.charges(problem, clique),
            excess(problem, capacities, clique),
        );
        if queue.peek().is_some_and(|next| *next > (cost, Reverse(index))) {
            queue.push((cost, Reverse(index)));
        } else if cost > 0 {
            bound += cost;
            cover.lower();
            for charge in &cover.charges {
                costs.take(problem, clique, charge);
            }
        }
    }
    bound
}

/// Returns cliques around each unit that is not a reserved range, each with its units in descending order of size.
pub(super) fn cliques(problem: &PoolsProblem) -> Vec<Vec<u32>> {
    let seeds = 0..problem.units.len() as u32;
    let seeds = seeds.filter(|&seed| !problem.units[seed as usize].is_reserved);
    let around = |seed| GROWTHS.map(|growth| clique(problem, seed, growth));
    let mut cliques: Vec<Vec<u32>> = seeds.flat_map(around).collect();
    cliques.compact_sort();
    cliques.dedup();
    cliques
}

/// Builds a clique that contains `seed`.
fn clique(problem: &PoolsProblem, seed: u32, growth: Growth) -> Vec<u32> {
    let units = &problem.units;
    let mut candidates = units[seed as usize].edges.clone();
    candidates.retain(|edge| !units[edge.other as usize].is_reserved);
    candidates.compact_sort_by_key(|edge| {
        let first = match growth {
            Growth::Forbidden => u64::from(edge.cost != FORBIDDEN),
            Growth::Soft => u64::from(edge.cost == FORBIDDEN),
            Growth::Large => 0,
            Growth::Expensive => !edge.cost,
        };
        (first, Reverse(units[edge.other as usize].size), edge.other)
    });
    let mut clique = vec![seed];
    for candidate in candidates {
        let edges = &units[candidate.other as usize].edges;
        let meets = |unit: &u32| edges.binary_search_by_key(unit, |edge| edge.other).is_ok();
        if clique.iter().all(meets) {
            clique.push(candidate.other);
        }
    }
    clique.compact_sort_by_key(|&unit| (Reverse(units[unit as usize].size), unit));
    clique
}

/// Returns the bytes by which a clique exceeds the total capacity of the pools that its units may be placed in.
fn excess(problem: &PoolsProblem, capacities: &[u64], clique: &[u32]) -> u64 {
    let units = clique.iter().map(|&unit| &problem.units[unit as usize]);
    let is_open = |pool: usize| units.clone().any(|unit| unit.pools.contains(&(pool as u32)));
    let open = capacities.iter().enumerate().filter(|&(pool, _)| is_open(pool));
    let held = open.fold(0u64, |sum, (_, &capacity)| sum.saturating_add(capacity));
    let sizes = units.clone().map(|unit| unit.size);
    sizes.sum::<u64>().saturating_sub(held)
}

/// A unit of a clique that may share bytes, at a cost, with a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Charge {
    /// The unit's position in the clique.
    position: usize,
    bytes: u64,
    /// The cost of the unit's cheapest pair with a larger unit.
    cost: u64,
}

/// The remaining costs of pairs, less the charges of earlier cliques: for each unit, parallel to its edges.
struct Costs {
    left: Vec<Vec<u64>>,
}

impl Costs {
    fn new(problem: &PoolsProblem) -> Costs {
        let units = problem.units.iter();
        let left = units.map(|unit| unit.edges.iter().map(|edge| edge.cost).collect());
        Costs { left: left.collect() }
    }

    /// Returns a charge for each unit of a clique that may share bytes with a unit before it, which is larger.
    fn charges(&self, problem: &PoolsProblem, clique: &[u32]) -> Vec<Charge> {
        let charge = |(position, &unit): (usize, &u32)| {
            let of = &problem.units[unit as usize];
            let larger = clique[..position].iter();
            let costs = larger.map(|other| {
                let edge = of.edges.binary_search_by_key(other, |edge| edge.other);
                edge.map_or(FORBIDDEN, |edge| self.left[unit as usize][edge])
            });
            let cost = costs.min().filter(|&cost| cost != FORBIDDEN)?;
            Some(Charge {
                position,
                bytes: of.size,
                cost,
            })
        };
        clique.iter().enumerate().filter_map(charge).collect()
    }

    /// Subtracts the cost of a charge from each pair of its unit with a larger one.
    fn take(&mut self, problem: &PoolsProblem, clique: &[u32], charge: &Charge) {
        let unit = clique[charge.position];
        for &other in &clique[..charge.position] {
            for (a, b) in [(unit, other), (other, unit)] {
                let edges = &problem.units[a as usize].edges;
                let Ok(edge) = edges.binary_search_by_key(&b, |edge| edge.other) else {
                    continue;
                };
                let left = &mut self.left[a as usize][edge];
                if *left != FORBIDDEN {
                    *left -= charge.cost;
                }
            }
        }
    }
}

/// The cheapest cover, and its memory.
#[derive(Default)]
struct Cover {
    charges: Vec<Charge>,
    excess: u64,
    cost: u64,
    /// True if `cost` is the minimum over sets of whole charges; false if it is a lower bound that also counts fractions of charges.
    is_exact: bool,
    /// For each cost, the maximum number of bytes of a set of charges that costs at most that much.
    most: Vec<u64>,
}

impl Cover {
    /// Returns the cost of the cheapest set of charges whose bytes sum to `excess` or more, or a lower bound on the cost if it is high. All charges together
    /// must suffice.
    fn find(&mut self, charges: Vec<Charge>, excess: u64) -> u64 {
        (self.charges, self.excess) = (charges, excess);
        let (cost, enough) = self.fractional();
        self.cost = cost;
        let charges = self.charges.len() as u64;
        let work = charges
            .saturating_mul(charges)
            .saturating_mul(enough.saturating_add(1));
        self.is_exact = enough <= MAX_EXACT_COST && work <= MAX_WORK;
        if self.is_exact {
            self.cost = self.exact(usize::MAX, excess, enough).unwrap_or(cost);
        }
        self.cost
    }

    /// Returns the cost of the cheapest cover that may use a fraction of its last charge, and the cost of the same cover with the whole charge.
    fn fractional(&mut self) -> (u64, u64) {
        self.charges.compact_sort_by(|a, b| {
            let costs =
                (u128::from(a.cost) * u128::from(b.bytes)).cmp(&(u128::from(b.cost) * u128::from(a.bytes)));
            costs.then(a.position.cmp(&b.position))
        });
        let (mut left, mut sum) = (self.excess, 0u64);
        for charge in &self.charges {
            if charge.bytes >= left {
                let part = u128::from(charge.cost) * u128::from(left);
                let part = part.div_ceil(u128::from(charge.bytes.max(1))) as u64;
                return (sum + part, sum + charge.cost);
            }
            left -= charge.bytes;
            sum += charge.cost;
        }
        (sum, sum)
    }

    /// Returns the lowest cost of charges other than `without` that sum to `excess` bytes or more, if that is at most `most`.
    fn exact(&mut self, without: usize, excess: u64, most: u64) -> Option<u64> {
        let table = &mut self.most;
        reset(table, most as usize + 1, 0);
        for (index, charge) in self.charges.iter().enumerate() {
            if index == without || charge.cost > most {
                continue;
            }
            for cost in (charge.cost as usize..table.len()).rev() {
                table[cost] = table[cost].max(table[cost - charge.cost as usize] + charge.bytes);
            }
        }
        table
            .iter()
            .position(|&bytes| bytes >= excess)
            .map(|cost| cost as u64)
    }

    /// Lowers the cost of each charge as far as possible without making the cheapest cover cheaper.
    fn lower(&mut self) {
        if !self.is_exact {
            return self.lower_by_fractions();
        }
        for index in 0..self.charges.len() {
            let Charge { bytes, cost, .. } = self.charges[index];
            if cost > 0 && self.cost > 0 {
                // With this lower cost, covers with the charge are still no cheaper than the cheapest cover.
                let rest = self.exact(index, self.excess.saturating_sub(bytes), self.cost - 1);
                let needed = rest.map_or(0, |rest| self.cost - rest);
                self.charges[index].cost = cost.min(needed);
            }
        }
    }

    /// Like [`Self::lower`], for the fractional cover: no charge needs to cost more per byte than the last charge of the cover.
    fn lower_by_fractions(&mut self) {
        let mut left = self.excess;
        let last = self.charges.iter().find(|charge| {
            let is_last = charge.bytes >= left;
            left = left.saturating_sub(charge.bytes);
            is_last
        });
        let Some(&last) = last else {
            return;
        };
        for charge in &mut self.charges {
            let price = u128::from(last.cost) * u128::from(charge.bytes);
            let price = price.div_ceil(u128::from(last.bytes.max(1)));
            charge.cost = u128::from(charge.cost).min(price) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::pools::{Pool, PoolItem, PoolsDesc, solve};
    use crate::units::{Bytes, Span, SplitMix64};
    use crate::{Steps, Verdict};

    /// Draws a problem of six items, most pairs of which interfere or cost something, in one or two pools.
    fn drawn(random: &mut SplitMix64) -> PoolsProblem {
        let mut desc = PoolsDesc::default();
        let scale = random.pick(&[1, 3000]);
        for pool in 0..random.pick(&[1, 1, 2]) {
            desc.pools.push(Pool {
                name: pool.to_string(),
                capacity: Some(Bytes(8 + random.below(14))),
                reserved: Vec::new(),
            });
        }
        for item in 0..6u32 {
            let first = random.below(6) as u32;
            let spans = vec![Span::new(first, first + 1 + random.below(3) as u32)];
            desc.items
                .push(PoolItem::new(item.to_string(), spans, Bytes(1 + random.below(9))));
            for other in 0..item {
                if random.below(3) > 0 {
                    let cost = random.below(5) * scale;
                    desc.penalties.push((item.to_string(), other.to_string(), cost));
                }
            }
        }
        desc.build().unwrap()
    }

    #[test]
    fn the_bound_is_at_most_the_lowest_cost() {
        let mut random = SplitMix64::new(4);
        let (mut costly, mut reached, mut infeasibles) = (0, 0, 0);
        for round in 0..800 {
            let problem = drawn(&mut random);
            let cliques = cliques(&problem);
            let none = infeasible(&problem, &problem.capacities, &cliques);
            let answer = solve(&problem, Steps(1 << 23), &mut |_| ControlFlow::Continue(()));
            assert_eq!(answer.verdict, Verdict::Proved, "round {round}");
            infeasibles += u32::from(none.is_some());
            let Some(packing) = answer.packing else {
                continue;
            };
            assert!(none.is_none(), "round {round}");
            let bound = lower_bound(&problem, &problem.capacities, &cliques);
            assert!(bound <= packing.cost, "round {round}: {bound} > {}", packing.cost);
            costly += u32::from(packing.cost > 0);
            reached += u32::from(packing.cost > 0 && bound == packing.cost);
        }
        assert!(
            costly > 100 && reached > 30 && infeasibles > 10,
            "{costly}, {reached}, {infeasibles}"
        );
    }

    /// Three units on 10 bytes: the third shares bytes with one of the others, which counts only once.
    #[test]
    fn a_unit_is_charged_once() {
        let mut desc = PoolsDesc {
            pools: vec![Pool {
                name: "pool".into(),
                capacity: Some(Bytes(10)),
                reserved: Vec::new(),
            }],
            ..PoolsDesc::default()
        };
        for (id, first, size) in [("a", 0, 6), ("b", 1, 5), ("c", 2, 4)] {
            desc.items
                .push(PoolItem::new(id, vec![Span::new(first, first + 1)], Bytes(size)));
        }
        for (a, b, cost) in [("a", "b", 9), ("a", "c", 2), ("b", "c", 3)] {
            desc.penalties.push((a.into(), b.into(), cost));
        }
        let problem = desc.build().unwrap();
        // 5 bytes are shared: more than `c` has, so `b` shares some with `a`.
        assert_eq!(lower_bound(&problem, &problem.capacities, &cliques(&problem)), 9);
    }
}
