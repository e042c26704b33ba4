//! The exact search: finds a packing within a capacity, or proves that none exists.
//!
//! Depth-first search over packings that are pushed down as far as possible, built from below. Each decision takes a column of a *valley* of the
//! floors and tries each piece that may start there, then leaving bytes unused. Pruning:
//! - only maximal sets of overlapping lifetimes are columns, and a branch ends when a column's floor plus load exceeds the capacity;
//! - unused bytes are paid for from a column's slack. Tight columns have next to none, so they are decided first;
//! - independent parts are solved separately, and if one fails, so does the decision that separated them;
//! - of identical pieces only the next is tried; states without a packing are kept in a table of fixed size;
//! - many short runs with different rules, then longer ones, share the table and the failure counts of columns.
//!
//! State changes in place and is undone with a trail: a step allocates nothing. Source: sections, floors, canonical order and partitions as in
//! Moffitt, "MiniMalloc", ASPLOS 2023; valleys, branching by slack, the table and failure counts are our own.

mod branch;
mod model;
mod order;
mod search;
mod state;
mod table;

pub(super) use table::{Table, mix};

use super::Problem;
use crate::lists::refill;
use crate::units::{CompactSort, Step};
use order::{SEARCH_RUNS, rank};
use search::{PLACES_PER_STEP, Search};

#[cfg(test)]
mod tests;

pub(super) use model::{Model, gcd};
pub(super) use search::RunResult;

/// Maximum number of (piece, column) pairs of a model to search; with this many, a step takes a millisecond.
const LARGEST_MODEL: u64 = 1_000_000;

/// The exact search, with its model and scratch memory.
#[derive(Debug, Default)]
pub(super) struct Exact {
    pub(super) model: Model,
    search: Search,
    keys: Vec<(u128, u32)>,
    births: Vec<Step>,
}

impl Exact {
    /// Looks for offsets of all pieces of the model within `capacity`, in at most `budget` steps; returns the steps used.
    ///
    /// `poll` is called with the steps so far, and returns whether to continue.
    pub(super) fn fit(
        &mut self,
        capacity: u64,
        budget: u64,
        poll: &mut dyn FnMut(u64) -> bool,
    ) -> (RunResult, u64) {
        let Exact {
            model, search, keys, ..
        } = self;
        search.steps = 0;
        search.state.find_ties(model, capacity);
        let states = (model.pieces.len() as u64 * 64).min(budget).clamp(64, 1 << 18);
        search.table.clear(states.next_power_of_two().ilog2());
        // Enough to place every piece with a few alternatives.
        let dear = 1 + model.column_pieces.len() as u64 / PLACES_PER_STEP;
        let unit = (50 + model.pieces.len() as u64) * dear;
        let mut round = 0u32;
        loop {
            for (number, search_run) in SEARCH_RUNS.into_iter().enumerate() {
                let run = u64::from(round) * SEARCH_RUNS.len() as u64 + number as u64;
                let noise = if round == 0 { 0 } else { 10 };
                rank(
                    model,
                    capacity,
                    search_run.candidate_order,
                    noise,
                    run,
                    keys,
                    &mut search.ranks,
                );
                search.state.failures.clear();
                let length = (unit * search_run.length) << (round / 4).min(30);
                let limit = search.steps.saturating_add(length).min(budget);
                let rule = (search_run.rule, search_run.mirrored != (round % 2 == 1));
                let outcome = search.run(model, capacity, rule, limit, poll);
                if outcome != RunResult::OutOfSteps || search.steps >= budget {
                    return (outcome, search.steps);
                }
            }
            round += 1;
        }
    }

    /// Writes the offsets of all units after [`RunResult::Packed`]; units that are not in the model are at their lowest offset.
    pub(super) fn write(&self, problem: &Problem, offsets: &mut Vec<u64>) {
        problem.lowest_offsets(offsets);
        for (piece, &offset) in self.model.pieces.iter().zip(&self.search.state.offsets) {
            if !piece.columns.is_empty() {
                offsets[piece.unit as usize] = offset;
            }
        }
    }

    /// Returns true if a problem is too large to search. Counts the (piece, column) pairs of the model without building it.
    pub(super) fn is_too_large(&mut self, problem: &Problem) -> bool {
        let births = &mut self.births;
        refill(births, problem.units.iter().map(|unit| unit.hull.first));
        births.compact_sort();
        births.dedup();
        let before = |end| births.partition_point(|&step| step < end) as u64;
        let units = problem.units.iter();
        let columns = units.map(|unit| before(unit.hull.end).saturating_sub(before(unit.hull.first)));
        columns.sum::<u64>() > LARGEST_MODEL
    }
}
