//! Selection: chooses the items to place in a block that is too small for all, and their offsets.
//!
//! 1. [`prices`]: the price of a byte at each step, from the linear relaxation by loads, and the resulting bound;
//! 2. [`choice`]: the best choice by loads, from the prices; if too many states remain, [`exchange`] and [`branch`];
//! 3. placement of the chosen items by the exact search; if that fails, other choices of the same weight, then choices within slightly
//!    less capacity, and whatever fits in the remaining space.
//!
//! Loads ignore offsets: their optimum is a bound. On networks a placement nearly always reaches it, and then the answer is proved.

mod branch;
pub(super) mod choice;
mod core;
mod exchange;
mod few;
mod placement;
pub(super) mod prices;
mod selector;
mod task;

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::answer::{Progress, ProgressCallback, Steps, Verdict};
use super::search_state::SearchState;
use super::{Packer, Problem};
use crate::units::Bytes;
use choice::LoadSearch;
use placement::Placement;
use task::Task;

pub(super) use selector::Selector;

/// The result of [`select`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// For each item, its offset; `None` if it is not chosen.
    pub offsets: Vec<Option<Bytes>>,
    /// The total weight of the chosen items.
    pub weight: u64,
    /// An upper bound on the weight of any selection.
    pub bound: u64,
    /// The end of the highest chosen item.
    pub height: Bytes,
    /// `Proved` if the weight equals the bound.
    pub verdict: Verdict,
    /// Number of search steps used.
    pub steps: Steps,
}

/// Chooses items to place within the problem's capacity, and maximizes the sum of their weights as far as `budget` allows.
///
/// A group is chosen as a whole, with the sum of its items' weights. `watch` sees weights, not heights.
///
/// ```
/// use std::ops::ControlFlow;
/// use tileheap_pack::{Item, ProblemDesc, Steps, select};
/// use tileheap_pack::units::{Alignment, Bytes, Span};
/// # let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
/// # let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)]; // those drawn in `pack`
///
/// let problem = ProblemDesc::new(items).capacity(Bytes(6)).build()?;
/// let weights = [10, 6, 100]; // of each item, in any unit
/// let chosen = select(&problem, &weights, Steps::default(), &mut |_| ControlFlow::Continue(()));
/// // The first two do not fit together, and the third alone is too large.
/// assert_eq!(chosen.offsets, [Some(Bytes(0)), None, None]);
/// assert_eq!((chosen.weight, chosen.bound), (10, 10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If there is not exactly one weight per item, or if the weights sum past 2^63.
pub fn select(problem: &Problem, weights: &[u64], budget: Steps, watch: ProgressCallback<'_>) -> Selection {
    Packer::default().select(problem, weights, budget, watch)
}

/// Number of choices within the whole capacity, with ties broken in different ways, that are tried before choices within smaller capacities.
const TIES: u64 = 6;

impl Packer {
    /// Same as [`select`].
    ///
    /// # Panics
    /// Same as [`select`].
    pub fn select(
        &mut self,
        problem: &Problem,
        weights: &[u64],
        budget: Steps,
        watch: ProgressCallback<'_>,
    ) -> Selection {
        if budget == Steps::UNLIMITED {
            return self.select_in_rounds(problem, weights, watch);
        }
        let count = problem.items().len();
        assert_eq!(weights.len(), count, "there is one weight for each item");
        let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
        assert!(total <= 1 << 63, "weights sum to at most 2^63");
        let most = Bytes(u64::MAX >> 1);
        let capacity = problem.capacity().unwrap_or(most).min(most).0;
        let mut task = Task::new(problem, weights, capacity);
        let mut found = Placement::default();
        let mut search = SearchState::new(0, 0, budget, watch, Vec::new());
        let mut bound = task.bound_without_prices();
        // By loads, then with other tie-breaks, then within smaller and smaller capacities.
        let mut placed = Vec::new();
        task.add_others(problem, &mut placed);
        found.keep(&task, placed);
        let mut tries = 0u64;
        let mut load_bound = None;
        while search.steps < search.budget && !search.interrupted && found.weight < bound {
            let squeeze = match tries.checked_sub(TIES) {
                None => 0,
                Some(more) if more < 5 => 1 << more,
                Some(_) => break,
            };
            let chosen = if tries == 0 {
                self.selector.choose_first(&mut task, search.budget, &mut bound)
            } else {
                let width = LoadSearch::width(&task.offers, task.columns, search.budget / 32);
                task.choose(&mut self.selector.choice, tries, squeeze, width)
            };
            search.steps += std::mem::take(&mut self.selector.choice.steps);
            let mut is_best = false;
            if let Some(chosen) = chosen {
                let weight = task.weight(&chosen.taken);
                if squeeze == 0 && load_bound.is_none() {
                    if chosen.exact && !task.has_gaps {
                        bound = bound.min(weight);
                    }
                    load_bound = Some(bound);
                }
                self.place_chosen(problem, &task, &chosen.taken, &mut found, &mut search);
                // All of it is placed, and nothing much better can be expected.
                is_best = tries == 0 && !chosen.exact && found.weight >= weight;
            }
            search.report_weight(found.weight, bound);
            if found.weight >= bound || is_best {
                break;
            }
            tries += 1;
        }
        if found.weight < bound {
            bound = bound.min(self.search_few(problem, &task, &mut found, &mut search));
        }
        Selection {
            offsets: found.offsets(problem),
            weight: found.weight,
            bound,
            height: Bytes(found.height(problem)),
            verdict: Verdict::of(found.weight >= bound, search.interrupted),
            steps: Steps(search.steps),
        }
    }

    /// Runs rounds, each with twice the steps of the last, until the selection is proved or interrupted.
    fn select_in_rounds(
        &mut self,
        problem: &Problem,
        weights: &[u64],
        watch: ProgressCallback<'_>,
    ) -> Selection {
        let mut round = Steps::default();
        let mut best = self.select(problem, weights, round, watch);
        while best.verdict == Verdict::OutOfSteps && round.0 <= u64::MAX / 8 {
            round.0 *= 2;
            let (earlier, weight, bound) = (best.steps, best.weight, best.bound);
            let mut report = |progress: Progress| {
                watch(Progress {
                    steps: Steps(earlier.0 + progress.steps.0),
                    best: progress.best.max(Some(weight)),
                    bound: progress.bound.min(bound),
                })
            };
            let next = self.select(problem, weights, round, &mut report);
            if next.weight > weight {
                (best.offsets, best.weight, best.height) = (next.offsets, next.weight, next.height);
            }
            best.bound = bound.min(next.bound);
            best.steps.0 += next.steps.0;
            best.verdict = Verdict::of(best.weight >= best.bound, next.verdict == Verdict::Interrupted);
        }
        best
    }

    /// Places the chosen items, or as many as fit, and then others that also fit; keeps the result if it is the heaviest so far. Does nothing if the choice is
    /// not heavier than the best placement, or has already been tried.
    fn place_chosen(
        &mut self,
        problem: &Problem,
        task: &Task<'_>,
        taken: &[bool],
        found: &mut Placement,
        search: &mut SearchState<'_>,
    ) {
        if task.weight(taken) <= found.weight || !found.is_new(taken) {
            return;
        }
        let chosen = task.units.iter().zip(taken).filter(|&(_, &taken)| taken);
        let chosen: Vec<u32> = chosen.map(|(&unit, _)| unit).collect();
        let part = problem.part(&chosen, Some(task.capacity));
        let left = search.budget.saturating_sub(search.steps);
        let share = (search.budget / 8).min(left).max(search.budget / 32).max(1);
        let mut placed: Vec<(u32, u64)> = Vec::new();
        if self.place_part(&part, task.capacity, share, search).0.is_some() {
            let units = part.units.iter().zip(&self.best).zip(&chosen);
            let inside = units.filter(|((unit, offset), _)| **offset + unit.size <= task.capacity);
            placed.extend(inside.map(|((_, &offset), &unit)| (unit, offset)));
        }
        task.add_others(problem, &mut placed);
        found.keep(task, placed);
    }

    /// Looks for a packing of a part within a capacity; returns the height of the best packing found, which may exceed the capacity, and whether it is proved
    /// that none fits. The packer's best offsets are the result.
    fn place_part(
        &mut self,
        part: &Problem,
        capacity: u64,
        steps: u64,
        search: &mut SearchState<'_>,
    ) -> (Option<u64>, bool) {
        let mut report = |progress: Progress| match search.report(progress.steps.0) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let best = std::mem::take(&mut self.best);
        let mut attempt = SearchState::new(0, capacity, Steps(steps), &mut report, best);
        let impossible = self.prove_within(part, true, &mut attempt);
        let (height, steps) = (attempt.found.then_some(attempt.height), attempt.steps);
        self.best = attempt.best;
        search.steps += steps;
        (height, impossible)
    }
}
