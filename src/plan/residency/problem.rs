//! The residency problem of one window, in plain numbers: the input of the exact search.
//!
//! ```text
//! heap    ┌──── a ────┐┌── b ──┐       items: span x size, worth; steps are the window's passes
//!         │┌─── c ────┴┤       │       chosen: a, b, c at offsets
//!         └┴───────────┴───────┘       reserved in a step: up to the highest end of what is alive there
//! steps    0   1   2   3   4   5       value: savings of the chosen, less the binning cost of what is reserved
//! ```

use super::binning_cost::BinningCost;
use super::candidate::Candidate;
use crate::units::{Bytes, Run};

/// The items that may be chosen, and the cost of reserving bytes for them.
pub(super) struct Problem<'a> {
    pub(super) items: Vec<Item>,
    /// Runs of items of which at most one may be chosen: the whole lifetime of a resource, and stretches of it.
    pub(super) choices: Vec<Run>,
    pub(super) capacity: u64,
    /// Per step, the cost of reserving bytes.
    pub(super) binning_cost: Vec<&'a BinningCost>,
    /// True if each step reserves separately; otherwise all steps of a connected run reserve the same size.
    pub(super) by_step: bool,
}

/// An item that may be chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) size: u64,
    pub(super) alignment: u64,
    pub(super) savings: u64,
}

/// Cost of a choice: binning cost first, then bytes reserved, summed over the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    pub(super) binning_cost: u64,
    pub(super) reserved: u64,
}

impl Problem<'_> {
    /// The problem of candidates of one window, grouped by resource; `steps` are its passes, ascending.
    pub(super) fn of<'a>(
        window: &[Candidate],
        steps: &[u32],
        capacity: Bytes,
        binning_cost: &'a [BinningCost],
        by_step: bool,
    ) -> Problem<'a> {
        let rank = |pass: u32| steps.partition_point(|&step| step < pass);
        let items = window.iter().map(|candidate| Item {
            first: rank(candidate.span.first.0),
            end: rank(candidate.span.end.0),
            size: candidate.size.0,
            alignment: candidate.alignment.get(),
            savings: candidate.savings.0,
        });
        let mut end = 0;
        let choices = window.chunk_by(|a, b| a.resource == b.resource).map(|same| {
            let first = end;
            end += same.len() as u32;
            Run::new(first, end)
        });
        Problem {
            items: items.collect(),
            choices: choices.collect(),
            capacity: capacity.0 - capacity.0 % grain(window),
            binning_cost: steps.iter().map(|&step| &binning_cost[step as usize]).collect(),
            by_step,
        }
    }

    /// Returns true if some resource has several stretches, of which one may be chosen.
    pub(super) fn has_stretches(&self) -> bool {
        self.choices.len() < self.items.len()
    }

    /// The cost of reserving `bytes` in `step`.
    pub(super) fn cost(&self, step: usize, bytes: u64) -> Cost {
        Cost {
            binning_cost: self.binning_cost[step].of(bytes),
            reserved: bytes,
        }
    }
}

/// A common divisor of every offset and end.
fn grain(window: &[Candidate]) -> u64 {
    let numbers = window
        .iter()
        .flat_map(|candidate| [candidate.size.0, candidate.alignment.get()]);
    numbers.fold(0, gcd).max(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Cost {
    pub(super) const MAX: Cost = Cost {
        binning_cost: u64::MAX,
        reserved: u64::MAX,
    };

    pub(super) fn plus(self, other: Cost) -> Cost {
        Cost {
            binning_cost: self.binning_cost.saturating_add(other.binning_cost),
            reserved: self.reserved.saturating_add(other.reserved),
        }
    }
}
