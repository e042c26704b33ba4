//! Infeasible subsets: small sets of items that cannot be packed together.
//!
//! ```text
//! capacity ┄┄┄┄┄┄┄┄┄┄┄┄┄┄        more bytes live at one step than the capacity: the fewest items that exceed it.
//!   ├── b ──┤├── c ──┤           Otherwise ever shorter runs of a list are left out, as long as the remaining items stay
//!   ├────── a ───────┤  …        infeasible; among lists in several orders the smallest remainder is the answer.
//! ```

use std::cmp::Reverse;

use tileheap_units::CompactSort;

use super::Problem;
use super::answer::Conflict;
use super::exact::{Exact, Model, RunResult};
use super::gap::align_up;
use super::problem::Unit;
use super::search_state::SearchState;
use crate::lists::refill;
use crate::units::Alignment;

/// Scratch memory of the search for a subset.
#[derive(Debug, Default)]
pub(super) struct InfeasibleSubset {
    /// The infeasible set to reduce.
    infeasible: Vec<u32>,
    /// The units of `infeasible` that remain after some were left out.
    remaining: Vec<u32>,
    /// The units of `remaining` that remain after further ones were left out.
    reduced: Vec<u32>,
    /// The smallest subset so far.
    best: Vec<u32>,
    /// Scratch memory: the pieces of one column.
    column_pieces: Vec<u32>,
    /// The memory of an earlier answer, reused for the next one.
    items: Vec<u32>,
}

/// The order in which units are left out.
#[derive(Clone, Copy)]
enum RemovalOrder {
    /// Small units first: large ones are more often the cause.
    Small,
    Early,
    Late,
}

/// Budget of steps for each search for a packing without some units.
const STEPS_PER_TEST: u64 = 20_000;

impl InfeasibleSubset {
    /// Reuses the memory of an earlier answer.
    pub(super) fn reuse(&mut self, conflict: &mut Option<Conflict>) {
        if let Some(conflict) = conflict.take() {
            self.items = conflict.items;
        }
    }

    /// Sets `infeasible` to one unit that exceeds the capacity even at its lowest offset, or to the fewest units live at one step that exceed it together,
    /// or to all units if there are neither.
    ///
    /// Returns true if the set is known to be minimal.
    fn start(&mut self, problem: &Problem, model: &Model, capacity: u64) -> bool {
        let InfeasibleSubset {
            infeasible,
            column_pieces,
            ..
        } = self;
        infeasible.clear();
        let passes = |unit: &Unit| {
            let end = align_up(unit.bounds().0, unit.alignment).and_then(|low| low.checked_add(unit.size));
            end.is_none_or(|end| end > capacity)
        };
        if let Some(unit) = problem.units.iter().position(passes) {
            infeasible.push(unit as u32);
            return true;
        }
        let size = |piece: u32| model.pieces[piece as usize].size;
        for run in &model.column_runs {
            refill(column_pieces, run.of(&model.column_pieces).iter().copied());
            column_pieces.compact_sort_by_key(|&piece| (Reverse(size(piece)), piece));
            let mut sum = 0u64;
            let passing = column_pieces.iter().position(|&piece| {
                sum = sum.saturating_add(size(piece));
                sum > capacity
            });
            if let Some(last) = passing {
                if infeasible.is_empty() || last + 1 < infeasible.len() {
                    infeasible.clear();
                    let units = column_pieces[..=last].iter();
                    infeasible.extend(units.map(|&piece| model.pieces[piece as usize].unit));
                }
            }
        }
        if infeasible.is_empty() {
            infeasible.extend(model.pieces.iter().map(|piece| piece.unit));
            return false;
        }
        // Without the smallest of them they fit, stacked, if they have no other constraints.
        let plain = |&unit: &u32| {
            let unit = &problem.units[unit as usize];
            unit.alignment == Alignment::ONE && unit.bounds() == (0, u64::MAX)
        };
        infeasible.iter().all(plain)
    }

    /// Returns items that cannot be packed together within a capacity that is known to be too small.
    pub(super) fn find(
        &mut self,
        problem: &Problem,
        capacity: u64,
        exact: &mut Exact,
        search: &mut SearchState<'_>,
    ) -> Conflict {
        exact.model.reduce(problem, None);
        let mut minimal = self.start(problem, &exact.model, capacity);
        self.best.clone_from(&self.infeasible);
        if !minimal {
            for order in [RemovalOrder::Small, RemovalOrder::Early, RemovalOrder::Late] {
                let sure = self.leave_out(problem, capacity, order, exact, search);
                let InfeasibleSubset { remaining, best, .. } = self;
                if (remaining.len(), !sure) < (best.len(), !minimal) {
                    best.clone_from(remaining);
                    minimal = sure;
                }
                // No step exceeds the capacity, and more orders would cost more than the search itself.
                if best.len() <= 2 || search.interrupted || search.steps >= search.budget {
                    break;
                }
            }
        }
        let mut items = std::mem::take(&mut self.items);
        items.clear();
        for &unit in &self.best {
            items.extend_from_slice(problem.members_of(&problem.units[unit as usize]));
        }
        items.compact_sort();
        Conflict { items, minimal }
    }

    /// Leaves out ever shorter runs of the units in `remaining` as long as the rest stays infeasible; returns true if it is proved that no other unit can be left
    /// out.
    fn leave_out(
        &mut self,
        problem: &Problem,
        capacity: u64,
        order: RemovalOrder,
        exact: &mut Exact,
        search: &mut SearchState<'_>,
    ) -> bool {
        let InfeasibleSubset {
            infeasible,
            remaining,
            reduced,
            ..
        } = self;
        remaining.clone_from(infeasible);
        remaining.compact_sort_by_key(|&index| {
            let unit = &problem.units[index as usize];
            let (size, first) = (unit.size, unit.hull.first.0);
            match order {
                RemovalOrder::Small => (size, first, index),
                RemovalOrder::Early => (0, first, index),
                RemovalOrder::Late => (0, u32::MAX - first, index),
            }
        });
        let mut length = remaining.len().div_ceil(2);
        loop {
            let (mut shrunk, mut sure) = (false, true);
            let mut from = 0;
            while from < remaining.len() {
                let until = (from + length).min(remaining.len());
                refill(
                    reduced,
                    remaining[..from].iter().chain(&remaining[until..]).copied(),
                );
                exact.model.reduce(problem, Some(reduced));
                match search.fit(exact, capacity, STEPS_PER_TEST) {
                    RunResult::Impossible => {
                        std::mem::swap(remaining, reduced);
                        shrunk = true;
                        continue;
                    }
                    RunResult::Packed => {}
                    RunResult::OutOfSteps => sure = false,
                    RunResult::Interrupted => return false,
                }
                from = until;
            }
            // Repeats after the last change, since what could not be left out before may be possible now.
            if length == 1 && !shrunk {
                return sure;
            }
            length = length.div_ceil(2);
        }
    }
}
