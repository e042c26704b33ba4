//! Searches the *core*: the few items that a better choice may decide differently.
//!
//! A choice that is heavier than the best known one loses less against the bound. An item whose surplus has an absolute value above this loss is in all such
//! choices, or in none.
//! The other items have weights close to the prices of their bytes; columns between two consecutive first or last uses of these items are merged.

use super::choice::{CandidateItem, Chosen, LoadSearch};
use super::prices::SCALE_BITS;
use super::task::Task;

/// All choices that lose at most a given amount: decided items, and a smaller problem for the others.
struct Core {
    /// For each offer, true if it is decided and taken.
    taken: Vec<bool>,
    /// The undecided items, and their offers in terms of the core's columns.
    items: Vec<usize>,
    offers: Vec<CandidateItem>,
    /// Free bytes and the price of a byte in each column of the core.
    columns: Vec<(u64, i128)>,
    /// The part of the loss that all choices have in common.
    loss: i128,
}

/// The losses up to which the core was searched.
pub(super) enum SearchedLosses {
    /// No choice is better than the best one found.
    All,
    /// Every better choice has a loss greater than this.
    UpTo(i128),
    Nothing,
}

impl Task<'_> {
    /// Replaces `best` with better choices that it finds within about `budget` steps; returns the loss up to which all choices were searched.
    pub(super) fn search_core(
        &self,
        choice: &mut LoadSearch,
        best: &mut Chosen,
        budget: u64,
    ) -> SearchedLosses {
        let end = choice.steps + budget;
        let least = i128::from(self.common_weight.max(1)) << SCALE_BITS;
        let mut searched = SearchedLosses::Nothing;
        let mut allowed = (best.loss >> 6).max(1);
        // Within small losses there are few choices.
        loop {
            let most = best.loss - least;
            if most < 0 {
                return SearchedLosses::All;
            }
            allowed = allowed.min(most);
            let Some(core) = Core::new(self, allowed) else {
                match allowed == most {
                    true => return SearchedLosses::All,
                    false => searched = SearchedLosses::UpTo(allowed),
                }
                allowed = allowed.saturating_mul(2).max(1);
                continue;
            };
            let width = LoadSearch::width(&core.offers, core.columns.len(), budget);
            let found = core
                .search(choice, allowed, width)
                .map(|found| *best = found)
                .is_some();
            if found {
                if best.exact {
                    return SearchedLosses::All;
                }
            } else if !choice.is_complete {
                return searched;
            }
            if choice.steps > end {
                return searched;
            }
            if found {
                continue;
            }
            if allowed == most {
                return SearchedLosses::All;
            }
            searched = SearchedLosses::UpTo(allowed);
            allowed = allowed.saturating_mul(2).max(1);
        }
    }
}

impl Core {
    /// Fixes the items that are taken, or left out, in all choices that lose at most `allowed`; `None` if there are no such choices.
    fn new(task: &Task<'_>, allowed: i128) -> Option<Core> {
        let mut taken = vec![false; task.offers.len()];
        let mut free = vec![task.padded_capacity; task.columns];
        for (offer, taken) in task.offers.iter().zip(&mut taken) {
            if offer.surplus > allowed {
                *taken = true;
                for free in &mut free[offer.arc.first as usize..offer.arc.end as usize] {
                    *free = free.checked_sub(offer.arc.size)?;
                }
            }
        }
        let mut loss = 0;
        let (mut items, mut cuts) = (Vec::new(), vec![false; task.columns + 1]);
        for (index, offer) in task.offers.iter().enumerate() {
            if taken[index] || offer.surplus < -allowed {
                continue;
            }
            let columns = offer.arc.first as usize..offer.arc.end as usize;
            if free[columns].iter().all(|&free| free >= offer.arc.size) {
                items.push(index);
                cuts[offer.arc.first as usize] = true;
                cuts[offer.arc.end as usize] = true;
            } else {
                loss += offer.surplus.max(0);
            }
        }
        let mut columns: Vec<(u64, i128)> = Vec::new();
        let mut column_of = vec![0; task.columns + 1];
        for (column, &free) in free.iter().enumerate() {
            if columns.is_empty() || cuts[column] {
                columns.push((free, 0));
            }
            column_of[column] = columns.len() as u32 - 1;
            let (least, price) = columns.last_mut().expect("the first column was pushed");
            // Bytes that no choice can use are lost.
            if free < *least {
                loss += *price * i128::from(*least - free);
                *least = free;
            }
            loss += task.prices[column] * i128::from(free - *least);
            *price += task.prices[column];
        }
        column_of[task.columns] = columns.len() as u32;
        let offers = items.iter().map(|&index| {
            let mut offer = task.offers[index];
            offer.arc.first = column_of[offer.arc.first as usize];
            offer.arc.end = column_of[offer.arc.end as usize];
            offer
        });
        let offers = offers.collect();
        (loss <= allowed).then_some(Core {
            taken,
            items,
            offers,
            columns,
            loss,
        })
    }

    /// Searches for the choice with the least loss, which must be at most `allowed`, keeping about `width` states for each column.
    fn search(self, choice: &mut LoadSearch, allowed: i128, width: usize) -> Option<Chosen> {
        let capacity = self.columns.iter().map(|column| column.0).max().unwrap_or(0);
        let column_loss = |column: usize, load: u64| {
            let (free, price) = self.columns[column];
            let unused = free.checked_sub(load);
            Some((unused.map_or(allowed + 1, |unused| price * i128::from(unused)), 0))
        };
        let allowed = allowed - self.loss;
        let found = choice.pass(
            &self.offers,
            (self.columns.len(), capacity),
            column_loss,
            allowed,
            width,
        )?;
        let mut taken = self.taken;
        for (index, of_core) in self.items.into_iter().zip(found.taken) {
            taken[index] = of_core;
        }
        Some(Chosen {
            loss: found.loss + self.loss,
            exact: found.exact,
            taken,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::prices::Prices;
    use crate::units::{Alignment, Bytes, Span, SplitMix64};
    use crate::{Item, ProblemDesc};

    #[test]
    fn the_core_has_the_best_choice() {
        let mut random = SplitMix64::new(7);
        let (mut prices, mut choice) = (Prices::default(), LoadSearch::default());
        let (mut searched, mut improved) = (0, 0);
        for round in 0..1000 {
            let items = (0..24).map(|_| {
                let first = random.below(12) as u32;
                let span = Span::new(first, first + 1 + random.below(6) as u32);
                Item::new(span, Bytes(1 + random.below(9)), Alignment::ONE)
            });
            let problem = ProblemDesc::new(items.collect()).build().unwrap();
            let weights: Vec<u64> = (0..24).map(|_| random.below(40) * (1 + round % 3)).collect();
            let mut task = Task::new(&problem, &weights, 14);
            task.price(&mut prices, 1);
            let best = task.choose(&mut choice, 0, 0, 2000).unwrap();
            assert!(best.exact, "round {round}");
            let mut found = task.round(&prices);
            let rounded = task.weight(&found.taken);
            let most = task.weight(&best.taken);
            match task.search_core(&mut choice, &mut found, 10_000) {
                SearchedLosses::All => {
                    assert_eq!(task.weight(&found.taken), most, "round {round}");
                    searched += 1;
                }
                SearchedLosses::UpTo(loss) => {
                    let above = i128::from(most - task.free_weight()) << SCALE_BITS;
                    assert!(above < task.bound - loss, "round {round}");
                }
                SearchedLosses::Nothing => {}
            }
            let mut loads = vec![0; task.columns];
            for (offer, _) in task.offers.iter().zip(&found.taken).filter(|of| *of.1) {
                for load in &mut loads[offer.arc.first as usize..offer.arc.end as usize] {
                    *load += offer.arc.size;
                }
            }
            assert!(
                loads.iter().all(|&load| load <= task.padded_capacity),
                "round {round}"
            );
            let weight = task.weight(&found.taken);
            let loss = task.bound - (i128::from(weight - task.free_weight()) << SCALE_BITS);
            assert_eq!(found.loss, loss, "round {round}");
            improved += u32::from(weight > rounded);
        }
        assert!(searched > 900 && improved > 100, "{searched}, {improved}");
    }
}
