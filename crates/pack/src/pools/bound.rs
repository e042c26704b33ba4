//! Lower bounds of cost, and sets of items that fit together in no packing.
//!
//! ```text
//! a ├────┤     c          in a *clique* every two units interfere, or cost something if they share bytes. If their sizes exceed
//! b ├────┤├────┤          the capacity of their pools, at least the difference is shared; a pair shares at most the smaller size.
//! ```
//! The cheapest pairs per byte that make up the difference, taken fractionally, bound the clique's cost. The bounds of cliques without a common pair
//! add up.

use std::cmp::Reverse;
use std::collections::HashSet;

use tileheap_units::CompactSort;

use super::PoolsProblem;
use super::problem::FORBIDDEN;

/// Bounds that hold for every packing.
#[derive(Debug, Default)]
pub(super) struct PoolsBound {
    pub(super) cost: u64,
    /// Units that fit together in no packing.
    pub(super) infeasible: Option<Vec<u32>>,
}

/// Finds a clique around each unit, and adds up their costs.
pub(super) fn lower_bound(problem: &PoolsProblem, capacities: &[u64]) -> PoolsBound {
    let mut bound = PoolsBound::default();
    let mut used: HashSet<(u32, u32)> = HashSet::new();
    let mut cliques: Vec<(u64, Vec<u32>)> = Vec::new();
    for seed in 0..problem.units.len() as u32 {
        if problem.units[seed as usize].is_reserved {
            continue;
        }
        for soft_first in [false, true] {
            let clique = clique(problem, seed, soft_first);
            match cost(problem, capacities, &clique, &used) {
                None => {
                    bound.infeasible = Some(clique);
                    return bound;
                }
                Some(0) => {}
                Some(cost) => cliques.push((cost, clique)),
            }
        }
    }
    // The most expensive first; a pair counts once.
    cliques.compact_sort_by_key(|&(cost, _)| Reverse(cost));
    for (_, clique) in cliques {
        let cost = cost(problem, capacities, &clique, &used).unwrap_or(0);
        if cost > 0 {
            bound.cost += cost;
            for (position, &a) in clique.iter().enumerate() {
                used.extend(clique[position + 1..].iter().map(|&b| (a.min(b), a.max(b))));
            }
        }
    }
    bound
}

/// Builds a clique that contains `seed`, adding the largest units first.
fn clique(problem: &PoolsProblem, seed: u32, soft_first: bool) -> Vec<u32> {
    let units = &problem.units;
    let mut candidates = units[seed as usize].edges.clone();
    candidates.retain(|edge| !units[edge.other as usize].is_reserved);
    candidates.compact_sort_by_key(|edge| {
        let soft = edge.cost != FORBIDDEN;
        (
            soft != soft_first,
            Reverse(units[edge.other as usize].size),
            edge.other,
        )
    });
    let mut clique = vec![seed];
    for candidate in candidates {
        let edges = &units[candidate.other as usize].edges;
        let meets = |unit: &u32| edges.binary_search_by_key(unit, |edge| edge.other).is_ok();
        if clique.iter().all(meets) {
            clique.push(candidate.other);
        }
    }
    clique
}

/// Returns a lower bound of the cost of a clique, without the pairs in `used`; `None` if it fits at no cost.
fn cost(
    problem: &PoolsProblem,
    capacities: &[u64],
    clique: &[u32],
    used: &HashSet<(u32, u32)>,
) -> Option<u64> {
    let units = &problem.units;
    let mut is_open = vec![false; capacities.len()];
    for &unit in clique {
        for &pool in &units[unit as usize].pools {
            is_open[pool as usize] = true;
        }
    }
    let held = capacities.iter().zip(&is_open).filter(|(_, open)| **open);
    let held = held.fold(0u64, |sum, (&capacity, _)| sum.saturating_add(capacity));
    let sizes = clique.iter().map(|&unit| units[unit as usize].size);
    let mut excess = sizes.sum::<u64>().saturating_sub(held);
    if excess == 0 {
        return Some(0);
    }
    // (cost, bytes) of pairs that may share; those in `used` may share for free.
    let mut pairs: Vec<(u64, u64)> = Vec::new();
    for &a in clique {
        for edge in &units[a as usize].edges {
            if edge.other > a && edge.cost != FORBIDDEN && clique.contains(&edge.other) {
                let bytes = units[a as usize].size.min(units[edge.other as usize].size);
                let paid = used.contains(&(a, edge.other));
                pairs.push((if paid { 0 } else { edge.cost }, bytes));
            }
        }
    }
    pairs.compact_sort_by(|a, b| {
        (u128::from(a.0) * u128::from(b.1)).cmp(&(u128::from(b.0) * u128::from(a.1)))
    });
    let mut cost = 0u64;
    for (price, bytes) in pairs {
        if bytes >= excess {
            let part = u128::from(price) * u128::from(excess);
            return Some(cost + part.div_ceil(u128::from(bytes)) as u64);
        }
        excess -= bytes;
        cost += price;
    }
    None
}
