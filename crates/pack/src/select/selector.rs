//! The choice by loads: with few states and with more, with other prices, by branches.

use super::branch::Branch;
use super::choice::{Chosen, LoadSearch};
use super::prices::Prices;
use super::task::Task;

/// With fewer states for each column, what prices alone tell is better.
const FEWEST_STATES: usize = 100;

/// The memory of selections.
#[derive(Debug, Default)]
pub(crate) struct Selector {
    prices: Prices,
    pub(super) choice: LoadSearch,
}

impl Selector {
    /// The best choice by loads: with few states and then more, and with other prices, of which there may be several that are
    /// equally good but keep different states; then by branches; then with many more states.
    pub(super) fn choose_first(
        &mut self,
        task: &mut Task<'_>,
        budget: u64,
        bound: &mut u64,
    ) -> Option<Chosen> {
        let width = LoadSearch::width(&task.offers, task.columns, budget / 32);
        let mut best: Option<Chosen> = None;
        let more = task.offers.len() / 256;
        for blocks in [1 + more, 8 + more] {
            *bound = (*bound).min(task.price(&mut self.prices, blocks));
            if width >= FEWEST_STATES {
                let found = task.choose(&mut self.choice, 0, 0, width);
                if found.as_ref().is_some_and(|found| found.exact) {
                    return found;
                }
                best = heavier(task, best, found);
            }
            best = heavier(task, best, Some(task.round(&self.prices)));
            // The rest is for placement.
            if self.choice.steps > budget / 2 {
                break;
            }
        }
        if let (Some(start), false) = (best.clone(), task.pauses) {
            let (chosen, left) = Branch::search(&mut self.prices, task, start, budget / 8);
            self.choice.steps += budget / 8 - left;
            // Where prices are good ones, the states, of which there are too many, tell nothing more.
            if chosen.exact || is_close(task.weight(&chosen.taken), *bound) {
                return Some(chosen);
            }
            best = Some(chosen);
        }
        let width = LoadSearch::width(&task.offers, task.columns, budget / 4);
        let found = task.choose(&mut self.choice, 0, 0, width);
        heavier(task, best, found)
    }
}

/// The choice of greater weight, the later of equals.
fn heavier(task: &Task<'_>, best: Option<Chosen>, found: Option<Chosen>) -> Option<Chosen> {
    let both = best.into_iter().chain(found);
    both.max_by_key(|chosen| task.weight(&chosen.taken))
}

/// Whether a weight is so near to its bound that no other choice by loads is much better.
pub(super) fn is_close(weight: u64, bound: u64) -> bool {
    weight >= bound - bound / 1024
}
