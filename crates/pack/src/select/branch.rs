//! Branch and bound by loads, on items that the relaxation divides: where prices leave a wide gap.
//!
//! Of items larger than half of the block only one fits at a time, of those above a third two, but the relaxation
//! takes parts of many: its bound is far off, and too many states of the choice by loads stay. With a few of them decided, the prices
//! of the rest are good ones again.

use super::choice::Chosen;
use super::prices::{Prices, SCALE_BITS};
use super::task::Task;

/// The state of a branch and bound.
pub(super) struct Branch<'a> {
    prices: &'a mut Prices,
    /// Steps that are left.
    left: u64,
    /// The best choice so far, and its weight.
    best: Vec<bool>,
    weight: i128,
    /// Upper bound of the weight of choices in branches that were not searched to the end.
    open: i128,
}

impl<'a> Branch<'a> {
    /// The best choice by loads, from a good one on, within so many steps; gives those that are left. Leaves the task with the
    /// prices that it had.
    pub(super) fn search(
        prices: &'a mut Prices,
        task: &mut Task<'_>,
        start: Chosen,
        budget: u64,
    ) -> (Chosen, u64) {
        let known = task.prices.clone();
        let mut branch = Branch {
            prices,
            left: budget,
            weight: i128::from(task.weight(&start.taken)),
            best: start.taken,
            open: 0,
        };
        branch.descend(task, 0);
        task.set_prices(known);
        let weight = branch.weight - i128::from(task.free_weight());
        let chosen = Chosen {
            loss: task.bound - (weight << SCALE_BITS),
            exact: branch.open <= branch.weight,
            taken: branch.best,
        };
        (chosen, branch.left)
    }

    /// Decides items that the relaxation divides, the largest first; `pins` of them are chosen already.
    fn descend(&mut self, task: &mut Task<'_>, pins: i128) {
        task.price(self.prices, 1);
        let common = i128::from(task.common_weight.max(1));
        let most = (task.bound >> SCALE_BITS) - pins * task.pin();
        let bound = most.div_euclid(common) * common + i128::from(task.free_weight());
        if bound <= self.weight {
            return;
        }
        // As many pivots as offers, most often, each of which looks at all of them.
        let steps = 1 + (task.offers.len() * task.offers.len() / 1024) as u64;
        if self.left < steps {
            self.open = self.open.max(bound);
            return;
        }
        self.left -= steps;
        let size = |index: usize| task.offers[index].arc.size;
        let Some(next) = self.prices.divided().max_by_key(|&index| (size(index), index)) else {
            // A relaxation that divides no item is the best choice, but for the rounding of prices.
            let weight = task.whole(self.prices, &mut self.best, self.weight);
            self.weight = self.weight.max(weight);
            if weight < bound {
                self.open = self.open.max(bound);
            }
            return;
        };
        let weight = task.offers[next].arc.weight;
        let pin = task.pin() << SCALE_BITS;
        task.offers[next].arc.weight = weight + pin;
        self.descend(task, pins + 1);
        // No choice takes an item of negative weight.
        task.offers[next].arc.weight = -pin;
        self.descend(task, pins);
        task.offers[next].arc.weight = weight;
    }
}
