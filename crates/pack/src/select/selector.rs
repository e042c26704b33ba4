//! The first choice by loads: with few states, then by exchanges, a search of the core, and branch and bound or, if lifetimes have gaps, with many more
//! states.

use super::branch::Branch;
use super::choice::{Chosen, LoadSearch};
use super::core::SearchedLosses;
use super::exchange::exchange;
use super::prices::{Prices, SCALE_BITS};
use super::task::Task;

/// Minimum number of states per column: with fewer, rounding the relaxation gives better choices.
const FEWEST_STATES: usize = 100;

/// The scratch memory of selections.
#[derive(Debug, Default)]
pub(crate) struct Selector {
    prices: Prices,
    pub(super) choice: LoadSearch,
}

impl Selector {
    /// Searches for the best choice by loads, and lowers `bound`: first with few states; then by exchanges, a search of the core, and branch and bound or, if
    /// lifetimes have gaps, with many more states.
    pub(super) fn choose_first(
        &mut self,
        task: &mut Task<'_>,
        budget: u64,
        bound: &mut u64,
    ) -> Option<Chosen> {
        let width = LoadSearch::width(&task.offers, task.columns, budget / 64);
        *bound = (*bound).min(task.price(&mut self.prices, 1 + task.offers.len() / 256));
        let mut best = None;
        if width >= FEWEST_STATES {
            best = task.choose(&mut self.choice, 0, 0, width);
            if best.as_ref().is_some_and(|found| found.exact) {
                return best;
            }
        }
        let rounded = task.round(&self.prices);
        let mut best = heavier(task, best, Some(rounded))?;
        if !task.has_gaps {
            // A heavier choice lets branches prune more, and the search may end at a different choice, which is exchanged again.
            self.choice.steps += exchange(task, &mut best, budget / 64);
            match task.search_core(&mut self.choice, &mut best, budget / 32) {
                SearchedLosses::All => {
                    best.exact = true;
                    return Some(best);
                }
                SearchedLosses::UpTo(loss) => {
                    let most = ((task.bound - loss - 1) >> SCALE_BITS) as u64;
                    *bound = (*bound).min(most + task.free_weight());
                }
                SearchedLosses::Nothing => {}
            }
            let (found, left, open) = Branch::search(&mut self.prices, task, best, budget / 16);
            self.choice.steps += budget / 16 - left;
            *bound = (*bound).min(open);
            best = found;
            if !best.exact {
                self.choice.steps += exchange(task, &mut best, budget / 64);
            }
            return Some(best);
        }
        let width = LoadSearch::width(&task.offers, task.columns, budget / 4);
        let found = task.choose(&mut self.choice, 0, 0, width);
        heavier(task, Some(best), found)
    }
}

/// Returns the heavier choice; `found` on a tie.
fn heavier(task: &Task<'_>, best: Option<Chosen>, found: Option<Chosen>) -> Option<Chosen> {
    let both = best.into_iter().chain(found);
    both.max_by_key(|chosen| task.weight(&chosen.taken))
}
