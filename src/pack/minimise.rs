//! The smallest block: cheap rules, then the large items exactly, then ever tighter capacities, then swaps in the order.

use std::ops::ControlFlow;

use super::answer::{Answer, Steps, Watch};
use super::exact::{Model, Outcome, Switches};
use super::gap::Fit;
use super::in_order::UNPLACED;
use super::quest::Quest;
use super::strategy::FEW;
use super::{Packer, Packing, Problem, Strategy};
use crate::units::Bytes;

/// Finds a packing as low as it can within a budget, and says how low it could be; a capacity is not looked at.
///
/// `Auto` does everything; of the other strategies, `Exact` only searches, `HillClimb` only climbs from greedy by size, and
/// the cheap ones just run. The same problem, strategy and budget give the same answer on every machine, unless `watch`
/// interrupts.
pub fn minimise(problem: &Problem, strategy: Strategy, budget: Steps, watch: Watch<'_>) -> Answer {
    Packer::default().minimise(problem, strategy, budget, watch)
}

/// The cheap rules that `auto` runs, from the fastest to the slowest.
const CHEAP: [Strategy; 7] = [
    Strategy::FirstFitByBirth,
    Strategy::BestFitByBirth,
    Strategy::GreedyByConflicts,
    Strategy::GreedyBySize,
    Strategy::GreedyByBreadth,
    Strategy::GreedyByArea,
    Strategy::FirstFitBySize,
];

/// The same where units are few: those first that reach the bound most often.
const CHEAP_FOR_FEW: [Strategy; 7] = [
    Strategy::GreedyBySize,
    Strategy::GreedyByBreadth,
    Strategy::FirstFitByBirth,
    Strategy::BestFitByBirth,
    Strategy::GreedyByConflicts,
    Strategy::GreedyByArea,
    Strategy::FirstFitBySize,
];

/// Larger models are not searched: with this many places of pieces in columns a step takes a millisecond.
pub(super) const LARGEST_MODEL: u64 = 1_000_000;

impl Packer {
    /// As [`minimise()`].
    pub fn minimise(
        &mut self,
        problem: &Problem,
        strategy: Strategy,
        budget: Steps,
        watch: Watch<'_>,
    ) -> Answer {
        let bound = self.lower_bound(problem).0;
        let mut quest = Quest::new(bound, 0, budget, watch);
        self.pursue(problem, strategy, &mut quest);
        let packing = (quest.height != UNPLACED).then(|| {
            let mut packing = Packing::default();
            problem.write(&self.best, &mut packing);
            packing
        });
        Answer {
            packing,
            bound: Bytes(quest.bound),
            verdict: quest.verdict(),
            steps: Steps(quest.steps),
            conflict: None,
        }
    }

    /// Leaves the best offsets within the default budget, or those of a cheap rule if upper bounds were not met.
    pub(super) fn improve(&mut self, problem: &Problem, strategy: Strategy) {
        let bound = self.lower_bound(problem).0;
        let mut go_on = |_| ControlFlow::Continue(());
        let mut quest = Quest::new(bound, 0, Steps::default(), &mut go_on);
        self.pursue(problem, strategy, &mut quest);
        if quest.height == UNPLACED {
            return self.run(problem, Strategy::GreedyBySize);
        }
        std::mem::swap(&mut self.best, &mut self.offsets);
    }

    /// Leaves the best offsets in `best`.
    pub(super) fn pursue(&mut self, problem: &Problem, strategy: Strategy, quest: &mut Quest<'_>) {
        match strategy {
            Strategy::Auto => {
                self.try_cheap(problem, quest);
                if !quest.is_over() {
                    self.search(problem, quest);
                }
            }
            Strategy::Exact => self.search(problem, quest),
            Strategy::HillClimb => {
                self.run(problem, Strategy::FirstFitBySize);
                self.keep(problem, quest);
                if !quest.is_over() {
                    self.climb(problem, quest);
                }
            }
            Strategy::Quick => {
                let mut packing = Packing::default();
                self.pack_into(problem, strategy, &mut packing);
                self.keep(problem, quest);
            }
            _ => {
                self.run(problem, strategy);
                self.keep(problem, quest);
            }
        }
    }

    /// Takes `offsets` as the best if they are lower.
    fn keep(&mut self, problem: &Problem, quest: &mut Quest<'_>) {
        let height = problem.height(&self.offsets);
        if height < quest.height && problem.keeps_bounds(&self.offsets) {
            quest.height = height;
            self.best.clone_from(&self.offsets);
        }
    }

    /// The cheap rules, and the large items first.
    pub(super) fn pursue_cheaply(&mut self, problem: &Problem, quest: &mut Quest<'_>) {
        self.try_cheap(problem, quest);
        if !quest.is_over() {
            self.place_large_first(problem, quest);
        }
    }

    fn try_cheap(&mut self, problem: &Problem, quest: &mut Quest<'_>) {
        let count = problem.units.len() as u64;
        if problem.units.len() <= FEW {
            return self.try_cheap_for_few(problem, quest);
        }
        let mut dear = 0;
        for (number, strategy) in CHEAP.into_iter().enumerate() {
            // Where items are very many, the lowest gap takes as long to find as the smallest and is worse.
            if number == 0 && count >= 20_000 {
                continue;
            }
            if number == 2 {
                dear = self.work_in_order(problem);
            }
            // The first two look at gaps only.
            let work = if number < 2 { count / 64 } else { dear };
            if quest.steps + work > quest.budget / 4 * 3 {
                continue;
            }
            self.run(problem, strategy);
            self.keep(problem, quest);
            if !quest.spend(1 + work) {
                return;
            }
        }
    }

    /// The same for so few units that nobody counts what a rule takes, those first that reach the bound most often.
    fn try_cheap_for_few(&mut self, problem: &Problem, quest: &mut Quest<'_>) {
        for strategy in CHEAP_FOR_FEW {
            self.run(problem, strategy);
            self.keep(problem, quest);
            if !quest.spend(1) {
                return;
            }
        }
    }

    /// Steps that placing everything in order counts for: what lives at the same time is looked at, half of it placed.
    fn work_in_order(&mut self, problem: &Problem) -> u64 {
        let counts = self.conflicts.count(problem);
        let others = counts.iter().map(|&others| u64::from(others));
        others.sum::<u64>() / 512 + problem.units.len() as u64
    }

    /// The large items exactly, then everything at ever other capacities, then a climb.
    fn search(&mut self, problem: &Problem, quest: &mut Quest<'_>) {
        if quest.height != UNPLACED && self.search_parts(problem, quest) {
            return;
        }
        if model_size(problem) <= LARGEST_MODEL {
            let model = Model::new(problem, None);
            let half = quest.budget / 2;
            self.place_large_first(problem, quest);
            let mut share = half / 4;
            // The bound is reached more often than one would think, and then all is said.
            while !quest.is_over() && quest.steps < half {
                let (known, steps) = ((quest.bound, quest.height), quest.steps);
                for eighths in [0, 1, 2, 4] {
                    let top = if quest.height == UNPLACED {
                        quest.bound.saturating_mul(2)
                    } else {
                        quest.height - 1
                    };
                    let reach = top.saturating_sub(quest.bound);
                    let aim = quest.bound + (u128::from(reach) * eighths / 8) as u64;
                    self.try_capacity(problem, &model, aim.max(quest.target), share, quest);
                    if quest.is_over() {
                        return;
                    }
                }
                if known == (quest.bound, quest.height) {
                    if steps == quest.steps {
                        break;
                    }
                    share = share.saturating_mul(2);
                }
            }
        }
        if quest.height != UNPLACED {
            self.climb(problem, quest);
        }
    }

    /// Searches for a packing within `capacity`; raises the bound if there is none.
    pub(super) fn try_capacity(
        &mut self,
        problem: &Problem,
        model: &Model,
        capacity: u64,
        share: u64,
        quest: &mut Quest<'_>,
    ) -> Outcome {
        let budget = share.min(quest.budget - quest.steps);
        let fit = self
            .exact
            .fit(model, capacity, Switches::DEFAULT, budget, &mut |steps| {
                quest.ask(steps)
            });
        let (outcome, steps) = fit;
        quest.steps += steps;
        match outcome {
            Outcome::Packed => {
                self.exact.write(problem, model, &mut self.offsets);
                self.keep(problem, quest);
            }
            Outcome::Impossible => {
                // The next multiple of what everything is a multiple of.
                let grain = model.grain.max(1);
                let next = (capacity / grain)
                    .checked_add(1)
                    .and_then(|next| next.checked_mul(grain));
                quest.bound = quest.bound.max(next.unwrap_or(u64::MAX));
            }
            Outcome::OutOfSteps | Outcome::Interrupted => {}
        }
        quest.ask(0);
        outcome
    }

    /// Packs what is much larger than the rest within the bound, and the rest around it.
    ///
    /// Measured on the training step of an LSTM (315 large tensors, 2,142 small ones, a few percent of the bytes): the bound
    /// in 2 ms, where hill climbing with everything at once ended at 1.046 of it in 17 s.
    fn place_large_first(&mut self, problem: &Problem, quest: &mut Quest<'_>) {
        let mut by_size: Vec<u32> = (0..problem.units.len() as u32).collect();
        let size = |index: u32| problem.units[index as usize].size;
        by_size.sort_by_key(|&index| (std::cmp::Reverse(size(index)), index));
        for cut in 8..by_size.len() {
            if size(by_size[cut]).saturating_mul(LARGER) > size(by_size[cut - 1]) {
                continue;
            }
            // What is fixed is in the way however small it is.
            let fixed = by_size[cut..]
                .iter()
                .filter(|&&index| problem.units[index as usize].fixed.is_some());
            let first: Vec<u32> = by_size[..cut].iter().chain(fixed).copied().collect();
            let model = Model::new(problem, Some(&first));
            let share = (quest.budget / 8).min(quest.budget.saturating_sub(quest.steps));
            let fit = self
                .exact
                .fit(&model, quest.bound, Switches::DEFAULT, share, &mut |steps| {
                    quest.ask(steps)
                });
            quest.steps += fit.1;
            if fit.0 != Outcome::Packed {
                continue;
            }
            let mut large = Vec::new();
            self.exact.write(problem, &model, &mut large);
            for &index in &by_size[cut..] {
                large[index as usize] = problem.units[index as usize].fixed.unwrap_or(UNPLACED);
            }
            for (strategy, fit) in AROUND {
                self.order_of(problem, strategy);
                self.offsets.clone_from(&large);
                self.in_order
                    .place_around(problem, &self.order, fit, &mut self.offsets);
                self.keep(problem, quest);
                if !quest.spend(1 + problem.units.len() as u64 / 64) {
                    return;
                }
            }
        }
    }

    /// Swaps in the order of placing.
    fn climb(&mut self, problem: &Problem, quest: &mut Quest<'_>) {
        self.order_of(problem, Strategy::GreedyBySize);
        let order = std::mem::take(&mut self.order);
        let work = self.work_in_order(problem);
        // Less than a hundred tries lead nowhere.
        if work > quest.budget / 128 {
            self.order = order;
            return;
        }
        let Packer {
            climb,
            in_order,
            best,
            ..
        } = self;
        let state = std::cell::RefCell::new(quest);
        climb.climb(
            problem,
            &order,
            in_order,
            || state.borrow_mut().spend(work),
            |offsets, height| {
                let mut quest = state.borrow_mut();
                if height < quest.height && problem.keeps_bounds(offsets) {
                    quest.height = height;
                    best.clear();
                    best.extend_from_slice(offsets);
                }
            },
        );
        self.order = order;
    }
}

/// How the rest is placed around what is large.
const AROUND: [(Strategy, Fit); 4] = [
    (Strategy::FirstFitByBirth, Fit::First),
    (Strategy::GreedyByBreadth, Fit::Best),
    (Strategy::GreedyBySize, Fit::Best),
    (Strategy::GreedyByConflicts, Fit::Best),
];

/// By how much sizes have to differ for the larger ones to be placed first.
const LARGER: u64 = 4;

/// Places of pieces in columns, without forming them.
pub(super) fn model_size(problem: &Problem) -> u64 {
    let mut births: Vec<u32> = problem.units.iter().map(|unit| unit.hull.first.0).collect();
    births.sort_unstable();
    births.dedup();
    let columns = problem.units.iter().map(|unit| {
        let first = births.partition_point(|&step| step < unit.hull.first.0);
        let end = births.partition_point(|&step| step < unit.hull.end.0);
        end.saturating_sub(first) as u64
    });
    columns.sum()
}
