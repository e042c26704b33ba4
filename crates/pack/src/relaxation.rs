//! The relaxation of [`select`](super::select()): candidates are chosen by loads alone, without offsets.
//!
//! For searches whose objective has more than weights. A column is a step, or a set of steps at which the same candidates are
//! live; its load is the sum of the sizes of the chosen candidates that span it. Prices and losses are scaled by [`SCALE`].

use super::select::choice::{Chosen, LoadSearch, Offer};
use super::select::prices::{Arc, Prices, SCALE_BITS};

/// Prices and losses are in this fraction of a unit of weight.
pub const SCALE: i128 = 1 << SCALE_BITS;

/// Something to choose or to leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// The first column that it spans.
    pub first: usize,
    /// The first column after.
    pub end: usize,
    /// Its load in each of its columns.
    pub size: u64,
    /// What choosing it gains.
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

/// The price of a byte in each column: the dual of the linear relaxation, never negative.
pub fn prices(columns: usize, capacity: u64, candidates: impl Iterator<Item = Candidate>) -> Vec<i128> {
    let arcs: Vec<Arc> = candidates.map(|candidate| candidate.arc()).collect();
    Prices::default().find(columns, capacity, &arcs, if arcs.len() > 200 { 8 } else { 1 })
}

/// Candidates to choose by loads, at given prices.
#[derive(Clone, Copy, Debug)]
pub struct Loads<'a> {
    /// The highest load of a column.
    pub capacity: u64,
    /// Of each column.
    pub prices: &'a [i128],
    /// What can be chosen.
    pub candidates: &'a [Candidate],
}

/// A choice by loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadChoice {
    /// Whether each candidate is chosen.
    pub taken: Vec<bool>,
    /// How far its weight is below the bound of the prices; scaled.
    pub loss: i128,
    /// Whether no choice has a smaller loss.
    pub exact: bool,
    /// The steps that were used.
    pub steps: u64,
}

impl Loads<'_> {
    /// The choice with the least loss that is at most `most`; `None` if none was found.
    ///
    /// `column_loss` gives, for a column and its load, the scaled loss and how much of that is a cost, which is subtracted from
    /// the weight and never falls as the load grows; `None` where every load is free.
    pub fn choose(
        &self,
        column_loss: impl Fn(usize, u64) -> Option<(i128, i128)>,
        most: i128,
        budget: u64,
    ) -> Option<LoadChoice> {
        let offer = |candidate: &Candidate| {
            let price: i128 = self.prices[candidate.first..candidate.end].iter().sum();
            let arc = candidate.arc();
            Offer {
                surplus: arc.weight - price * i128::from(arc.size),
                arc,
            }
        };
        let offers: Vec<Offer> = self.candidates.iter().map(offer).collect();
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
