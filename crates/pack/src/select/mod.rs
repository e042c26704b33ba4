//! Residency: which items get bytes of a block that is too small for all, and where.
//!
//! 1. [`prices`]: what a byte is worth at each step, from the linear relaxation by loads, and the bound that follows;
//! 2. [`choice`]: the best choice by loads alone, from the prices; where they leave too much open, [`branch`];
//! 3. placement of what was chosen, by the exact search; where that fails, other choices of the same worth, then of a little
//!    less capacity, and whatever fits in what is left.
//!
//! Loads alone know no offsets: their optimum is a bound. On networks a placement reaches it nearly always, and then the answer is
//! proved.

mod branch;
mod choice;
mod found;
mod prices;
mod task;

use serde::{Deserialize, Serialize};

use super::answer::{Steps, Verdict, Watch};
use super::in_order::UNPLACED;
use super::quest::Quest;
use super::{Packer, Problem, Strategy};
use crate::units::Bytes;
use branch::Branch;
use choice::{Choice, Chosen};
use found::Found;
use prices::{Prices, SCALE};
use task::Task;

/// The answer of [`select`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The offset of each item that was chosen.
    pub offsets: Vec<Option<Bytes>>,
    /// The worth of what was chosen.
    pub worth: u64,
    /// What no choice is worth more than.
    pub bound: u64,
    /// The end of the highest item chosen.
    pub height: Bytes,
    /// Whether the bound is reached.
    pub verdict: Verdict,
    /// The steps that were used.
    pub steps: Steps,
}

/// Chooses items to place within the problem's capacity, so that their worth together is as great as it can be.
///
/// A group is chosen or not as one, and is worth what its items are worth together. `watch` sees worths, not heights.
///
/// ```
/// use std::ops::ControlFlow;
/// use tileheap_pack::{Item, ProblemDesc, Steps, select};
/// use tileheap_pack::units::{Alignment, Bytes, Span};
/// # let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
/// # let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)]; // those drawn in `pack`
///
/// let problem = ProblemDesc::new(items).capacity(Bytes(6)).build()?;
/// let worths = [10, 6, 100]; // of each item, in any unit
/// let chosen = select(&problem, &worths, Steps::default(), &mut |_| ControlFlow::Continue(()));
/// // The first two do not fit together, and the third alone is too large.
/// assert_eq!(chosen.offsets, [Some(Bytes(0)), None, None]);
/// assert_eq!((chosen.worth, chosen.bound), (10, 10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If there is not one worth for each item, or they sum past 2^63.
pub fn select(problem: &Problem, worths: &[u64], budget: Steps, watch: Watch<'_>) -> Selection {
    Packer::default().select(problem, worths, budget, watch)
}

/// What bytes are worth in each column: the dual of a choice by loads alone, for searches with more to weigh than worth.
///
/// Each of `stretches` is columns `[first, end)`, bytes and worth; prices are in 2^20ths per byte, and not negative.
pub fn prices_of(
    columns: usize,
    capacity: u64,
    stretches: impl Iterator<Item = (usize, usize, u64, u64)>,
) -> Vec<i128> {
    let arc = |(first, end, size, worth): (usize, usize, u64, u64)| prices::Arc {
        first: first as u32,
        end: end as u32,
        size,
        worth: i128::from(worth) << SCALE,
    };
    let arcs: Vec<prices::Arc> = stretches.map(arc).collect();
    Prices::default().find(columns, capacity, &arcs, if arcs.len() > 200 { 8 } else { 1 })
}

/// A choice by loads alone where loads do harm: columns, the capacity, and what is on offer as columns `[first, end)`, bytes and
/// worth.
pub struct Loads<'a> {
    pub capacity: u64,
    pub prices: &'a [i128],
    pub offers: &'a [(usize, usize, u64, u64)],
}

/// What a choice by loads comes to.
pub struct LoadChoice {
    /// Parallel to the offers.
    pub taken: Vec<bool>,
    /// How much less it is worth than the bound of the prices; scaled.
    pub loss: i128,
    /// No choice loses less.
    pub exact: bool,
    /// The steps that it took.
    pub steps: u64,
}

impl Loads<'_> {
    /// The choice with the least loss; `toll` says of a column and a load what is lost there, and how much of it is harm, which never
    /// falls as the load grows. All scaled; what is more than `most` is not looked for. `None`: there is none.
    pub fn choose(
        &self,
        toll: impl Fn(usize, u64) -> Option<(i128, i128)>,
        most: i128,
        budget: u64,
    ) -> Option<LoadChoice> {
        let offer = |&(first, end, size, worth): &(usize, usize, u64, u64)| {
            let price: i128 = self.prices[first..end].iter().sum();
            let worth = i128::from(worth) << SCALE;
            let (first, end) = (first as u32, end as u32);
            choice::Offer {
                arc: prices::Arc {
                    first,
                    end,
                    size,
                    worth,
                },
                surplus: worth - price * i128::from(size),
            }
        };
        let offers: Vec<choice::Offer> = self.offers.iter().map(offer).collect();
        let columns = self.prices.len();
        let width = Choice::width(&offers, columns, budget);
        let mut choice = Choice::default();
        // What may be lost grows until something is found: with good prices that is soon, and few states are kept.
        let mut allowed = (most >> 12).max(1);
        loop {
            let found = choice.pass_tolled(&offers, columns, self.capacity, &toll, allowed, width, 0);
            let steps = choice.steps;
            if let Some(found) = found {
                return Some(LoadChoice {
                    taken: found.taken,
                    loss: found.loss,
                    exact: found.exact,
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

/// Where more are on offer, a branch takes milliseconds.
const MOST_BRANCHED: usize = 1000;

/// The memory of selections.
#[derive(Debug, Default)]
pub(super) struct Selector {
    prices: Prices,
    choice: Choice,
}

impl Selector {
    /// The best choice by loads: with few states and then more, and with other prices, of which there may be several that are
    /// equally good but keep different states; then by branches; what is worth little left to its price if nothing else ends.
    fn choose_first(&mut self, task: &mut Task<'_>, budget: u64, bound: &mut u64) -> Option<Chosen> {
        let width = Choice::width(&task.offers, task.columns, budget / 4);
        let mut best: Option<Chosen> = None;
        let keep = |best: &mut Option<Chosen>, task: &Task<'_>, found: Option<Chosen>| {
            let found = found?;
            let exact = found.exact;
            let beats = |best: &Chosen| task.worth(&found.taken) > task.worth(&best.taken);
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
            // The rest is for the placement.
            if self.choice.steps > budget / 2 {
                break;
            }
        }
        if task.offers.len() <= MOST_BRANCHED
            && !task.pauses
            && let Some(start) = best.take()
        {
            let budget = (budget / 2).saturating_sub(self.choice.steps);
            let (chosen, left) = Branch::search(&mut self.prices, task, start, budget);
            self.choice.steps += budget - left;
            if chosen.exact {
                return Some(chosen);
            }
            best = Some(chosen);
        }
        let most = task.offers.iter().map(|offer| offer.arc.worth).max().unwrap_or(0);
        for part in [256, 32, 4] {
            if self.choice.steps > budget / 2 {
                break;
            }
            let all = task.bound + (1 << SCALE);
            let found = self
                .choice
                .pass(&task.offers, &task.prices, task.padded, all, width, most / part);
            keep(&mut best, task, found);
        }
        best
    }
}

/// Choices of equal worth that are tried before a smaller one.
const TIES: u64 = 6;

impl Packer {
    /// As [`select`].
    ///
    /// # Panics
    /// As [`select`].
    pub fn select(
        &mut self,
        problem: &Problem,
        worths: &[u64],
        budget: Steps,
        watch: Watch<'_>,
    ) -> Selection {
        assert_eq!(
            worths.len(),
            problem.items().len(),
            "there is one worth for each item"
        );
        let total = worths.iter().try_fold(0u64, |sum, &worth| sum.checked_add(worth));
        assert!(
            total.is_some_and(|total| total <= 1 << 63),
            "worths sum to at most 2^63"
        );
        let capacity = problem
            .capacity()
            .map_or(u64::MAX >> 1, |capacity| capacity.0.min(u64::MAX >> 1));
        let mut task = Task::new(problem, worths, capacity);
        let mut found = Found::default();
        let mut quest = Quest::new(0, 0, budget, watch);
        let mut bound = task.bound_without_prices();
        // By loads, then the same with other ties, then with less and less of the capacity.
        let mut placed = Vec::new();
        task.add_beside(problem, &mut placed);
        found.keep(&task, placed);
        let mut tries = 0u64;
        let mut load_bound = None;
        while quest.steps < quest.budget && !quest.interrupted && found.worth < bound {
            let squeeze = match tries.checked_sub(TIES) {
                None => 0,
                Some(more) if more < 5 => 1 << more,
                Some(_) => break,
            };
            let chosen = if tries == 0 {
                self.selector.choose_first(&mut task, quest.budget, &mut bound)
            } else {
                let width = Choice::width(&task.offers, task.columns, quest.budget / 4);
                task.choose(&mut self.selector.choice, tries, squeeze, width)
            };
            quest.steps += std::mem::take(&mut self.selector.choice.steps);
            if let Some(chosen) = chosen {
                if squeeze == 0 && load_bound.is_none() {
                    if chosen.exact && !task.pauses {
                        bound = bound.min(task.worth(&chosen.taken));
                    }
                    load_bound = Some(bound);
                }
                self.place_chosen(problem, &task, &chosen.taken, &mut found, &mut quest);
            }
            quest.watch_worth(found.worth, bound);
            if found.worth >= bound {
                break;
            }
            tries += 1;
        }
        Selection {
            offsets: found.offsets(problem),
            worth: found.worth,
            bound,
            height: Bytes(found.height(problem)),
            verdict: if found.worth >= bound {
                Verdict::Proved
            } else if quest.interrupted {
                Verdict::Interrupted
            } else {
                Verdict::OutOfSteps
            },
            steps: Steps(quest.steps),
        }
    }

    /// Places what was chosen, or as much of it as fits, and then whatever fits beside.
    fn place_chosen(
        &mut self,
        problem: &Problem,
        task: &Task<'_>,
        taken: &[bool],
        found: &mut Found,
        quest: &mut Quest<'_>,
    ) {
        if task.worth(taken) <= found.worth || !found.is_new(taken) {
            return;
        }
        let chosen: Vec<u32> = (0..taken.len())
            .filter(|&offer| taken[offer])
            .map(|offer| task.units[offer])
            .collect();
        let part = problem.part(&chosen, Some(task.capacity));
        let share = (quest.budget / 8)
            .min(quest.budget.saturating_sub(quest.steps))
            .max(quest.budget / 32)
            .max(1);
        let mut ask = |progress: super::Progress| match quest.ask(progress.steps.0) {
            true => std::ops::ControlFlow::Continue(()),
            false => std::ops::ControlFlow::Break(()),
        };
        let mut attempt = Quest::new(0, task.capacity, Steps(share), &mut ask);
        self.seek(&part, Strategy::Auto, &mut attempt);
        let (height, steps) = (attempt.height, attempt.steps);
        quest.steps += steps;
        let mut placed: Vec<(u32, u64)> = Vec::new();
        if height != UNPLACED {
            let units = part.units.iter().zip(&self.best).zip(&chosen);
            let inside = units.filter(|((unit, offset), _)| **offset + unit.size <= task.capacity);
            placed.extend(inside.map(|((_, &offset), &unit)| (unit, offset)));
        }
        task.add_beside(problem, &mut placed);
        found.keep(task, placed);
    }
}
