//! The relaxation of [`select`](super::select()): candidates are chosen by their loads only, without offsets.
//!
//! For searches whose objective includes more than weights. A column is a step, or a set of steps at which the same candidates are live; its load is
//! the sum of the sizes of the chosen candidates that span it. Prices and losses are scaled by [`SCALE`].

use super::select::choice::{CandidateItem, Chosen, LoadSearch};
use super::select::prices::{Arc, Prices, SCALE_BITS};

/// The fixed-point scale of prices and losses: units of price per unit of weight.
pub const SCALE: i128 = 1 << SCALE_BITS;

/// An item that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// The first column that it spans.
    pub first: usize,
    /// The first column after it.
    pub end: usize,
    /// Its load in each of its columns.
    pub size: u64,
    /// The gain of choosing it.
    pub weight: u64,
}

impl Candidate {
    fn arc(&self) -> Arc {
        Arc {
            first: self.first as u32,
            end: self.end as u32,
            size: self.size,
            weight: i128::from(self.weight) << SCALE_BITS,
        }
    }
}

/// Returns the price of a byte in each column: the dual of the linear relaxation, never negative.
pub fn prices(columns: usize, capacity: u64, candidates: impl Iterator<Item = Candidate>) -> Vec<i128> {
    let arcs: Vec<Arc> = candidates.map(|candidate| candidate.arc()).collect();
    Prices::default().find(columns, capacity, &arcs, if arcs.len() > 200 { 8 } else { 1 })
}

/// The problem of choosing candidates by loads, at given prices.
#[derive(Clone, Copy, Debug)]
pub struct LoadProblem<'a> {
    /// The highest load of a column.
    pub capacity: u64,
    /// The price of a byte in each column.
    pub prices: &'a [i128],
    /// The candidates.
    pub candidates: &'a [Candidate],
}

/// A choice of candidates by loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadChoice {
    /// For each candidate, true if it is chosen.
    pub taken: Vec<bool>,
    /// Difference between the bound that the prices give and the weight of the choice, times `SCALE`.
    pub loss: i128,
    /// True if no choice has a smaller loss.
    pub exact: bool,
    /// Number of search steps used.
    pub steps: u64,
}

impl LoadProblem<'_> {
    /// Returns the choice with the least loss that is at most `most`; `None` if none was found.
    ///
    /// `column_loss` returns, for a column and its load, the scaled loss and the part of it that is a cost, which is subtracted from the weight and
    /// never falls as the load grows; `None` if every load is free.
    pub fn choose(
        &self,
        column_loss: impl Fn(usize, u64) -> Option<(i128, i128)>,
        most: i128,
        budget: u64,
    ) -> Option<LoadChoice> {
        let offer = |candidate: &Candidate| {
            let price: i128 = self.prices[candidate.first..candidate.end].iter().sum();
            let arc = candidate.arc();
            CandidateItem {
                surplus: arc.weight - price * i128::from(arc.size),
                arc,
            }
        };
        let offers: Vec<CandidateItem> = self.candidates.iter().map(offer).collect();
        let columns = self.prices.len();
        let width = LoadSearch::width(&offers, columns, budget);
        let mut choice = LoadSearch::default();
        // The allowed loss grows until something is found: with good prices that is soon, and few states are kept.
        let mut allowed = (most >> 12).max(1);
        loop {
            let found = choice.pass(&offers, (columns, self.capacity), &column_loss, allowed, width);
            let steps = choice.steps;
            if let Some(Chosen { taken, loss, exact }) = found {
                return Some(LoadChoice {
                    taken,
                    loss,
                    exact,
                    steps,
                });
            }
            if allowed > most || steps > budget {
                return None;
            }
            allowed = allowed.saturating_mul(4);
        }
    }
}
