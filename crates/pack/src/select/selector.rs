//! The choice by loads: with few states and with more, with other prices, by branches.

use super::branch::Branch;
use super::choice::{Chosen, LoadSearch, unused};
use super::prices::{Prices, SCALE_BITS};
use super::task::Task;

/// With more candidates, a branch takes milliseconds.
const MOST_BRANCHED: usize = 1000;

/// The memory of selections.
#[derive(Debug, Default)]
pub(crate) struct Selector {
    prices: Prices,
    pub(super) choice: LoadSearch,
}

impl Selector {
    /// The best choice by loads: with few states and then more, and with other prices, of which there may be several that are
    /// equally good but keep different states; then by branches; if nothing else ends, items of small weight are decided by their price alone.
    pub(super) fn choose_first(
        &mut self,
        task: &mut Task<'_>,
        budget: u64,
        bound: &mut u64,
    ) -> Option<Chosen> {
        let width = LoadSearch::width(&task.offers, task.columns, budget / 4);
        let mut best: Option<Chosen> = None;
        let keep = |best: &mut Option<Chosen>, task: &Task<'_>, found: Option<Chosen>| {
            let found = found?;
            let exact = found.exact;
            let beats = |best: &Chosen| task.weight(&found.taken) > task.weight(&best.taken);
            if exact || best.as_ref().is_none_or(beats) {
                *best = Some(found);
            }
            exact.then(|| best.clone()).flatten()
        };
        for blocks in [1, 8] {
            *bound = (*bound).min(task.price(&mut self.prices, blocks));
            let found = task.choose(&mut self.choice, 0, 0, width);
            if let Some(exact) = keep(&mut best, task, found) {
                return Some(exact);
            }
            let rounded = task.round(&self.prices);
            keep(&mut best, task, Some(rounded));
            // The rest is for placement.
            if self.choice.steps > budget / 2 {
                break;
            }
        }
        if task.offers.len() <= MOST_BRANCHED && !task.pauses {
            if let Some(start) = best.take() {
                let budget = (budget / 2).saturating_sub(self.choice.steps);
                let (chosen, left) = Branch::search(&mut self.prices, task, start, budget);
                self.choice.steps += budget - left;
                if chosen.exact {
                    return Some(chosen);
                }
                best = Some(chosen);
            }
        }
        let weights = task.offers.iter().map(|offer| offer.arc.weight);
        let most = weights.max().unwrap_or(0);
        for part in [256, 32, 4] {
            if self.choice.steps > budget / 2 {
                break;
            }
            let all = task.bound + (1 << SCALE_BITS);
            let (size, loss) = ((task.columns, task.padded), unused(&task.prices, task.padded));
            let choice = &mut self.choice;
            let found = choice.pass(&task.offers, size, loss, all, width, most / part);
            keep(&mut best, task, found);
        }
        best
    }
}
