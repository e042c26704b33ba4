//! Packs units much larger than the rest first, and the rest around them.
//!
//! Measured on the training step of an LSTM (315 large tensors, and 2,142 small ones with a few percent of the bytes): reaches the bound in 2 ms;
//! hill climbing over all units ended at 1.046 of it in 17 s.

use std::cmp::Reverse;

use tileheap_units::CompactSort;

use super::Problem;
use super::exact::{Exact, RunResult};
use super::gap::{FitPolicy, UNPLACED};
use super::rules::{Order, Rules};
use super::search_state::SearchState;
use crate::lists::refill;

/// Scratch memory of placing large units first.
#[derive(Debug, Default)]
pub(super) struct Large {
    by_size: Vec<u32>,
    first: Vec<u32>,
    offsets: Vec<u64>,
}

/// Rules for the other units, placed around the large ones.
const SMALL_UNIT_RULES: [(Order, FitPolicy); 4] = [
    (Order::Birth, FitPolicy::First),
    (Order::Breadth, FitPolicy::Best),
    (Order::Size, FitPolicy::Best),
    (Order::Conflicts, FitPolicy::Best),
];

/// Smallest ratio of sizes at which the larger units are placed first.
const MIN_SIZE_RATIO: u64 = 4;
/// Minimum number of large units.
const MIN_LARGE_UNITS: usize = 8;

impl Large {
    /// Packs the large units with the exact search within the lower bound, and places the others around them.
    pub(super) fn place_first(
        &mut self,
        problem: &Problem,
        exact: &mut Exact,
        rules: &mut Rules,
        search: &mut SearchState<'_>,
    ) {
        let size = |index: u32| problem.units[index as usize].size;
        let (by_size, first, large) = (&mut self.by_size, &mut self.first, &mut self.offsets);
        refill(by_size, 0..problem.units.len() as u32);
        by_size.compact_sort_by_key(|&index| (Reverse(size(index)), index));
        for cut in MIN_LARGE_UNITS..by_size.len() {
            if size(by_size[cut]).saturating_mul(MIN_SIZE_RATIO) > size(by_size[cut - 1]) {
                continue;
            }
            // Fixed units block bytes, however small they are.
            let is_fixed = |&&index: &&u32| problem.units[index as usize].fixed.is_some();
            refill(first, by_size[..cut].iter().copied());
            first.extend(by_size[cut..].iter().filter(is_fixed));
            exact.model.reduce(problem, Some(first));
            let share = (search.budget / 8).min(search.budget.saturating_sub(search.steps));
            if search.fit(exact, search.bound, share) != RunResult::Packed {
                continue;
            }
            exact.write(problem, large);
            for &index in &by_size[cut..] {
                large[index as usize] = problem.units[index as usize].fixed.unwrap_or(UNPLACED);
            }
            for (order, fit) in SMALL_UNIT_RULES {
                rules.sort(problem, order);
                rules.offsets.clone_from(large);
                let (in_order, offsets) = (&mut rules.in_order, &mut rules.offsets);
                in_order.place_around(problem, &rules.order, fit, offsets);
                search.keep(problem, &rules.offsets);
                if !search.spend(1 + problem.units.len() as u64 / 64) {
                    return;
                }
            }
        }
    }
}
