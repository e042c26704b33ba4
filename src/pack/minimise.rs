//! The smallest block: cheap rules, then the large items exactly, then ever tighter capacities, then swaps in the order.

use std::ops::ControlFlow;

use super::answer::{Answer, Progress, Steps, Verdict, Watch};
use super::exact::{Model, Outcome, Switches};
use super::gap::Fit;
use super::in_order::UNPLACED;
use super::{Packer, Packing, Problem, Strategy};
use crate::units::{Bytes, Step};

/// Finds a packing as low as it can within a budget, and says how low it could be; a capacity is not looked at.
///
/// `Auto` does everything; of the other strategies, `Exact` only searches, `HillClimb` only climbs from greedy by size, and
/// the cheap ones just run. The same problem, strategy and budget give the same answer on every machine, unless `watch`
/// interrupts.
pub fn minimise(problem: &Problem, strategy: Strategy, budget: Steps, watch: Watch<'_>) -> Answer {
    Packer::default().minimise(problem, strategy, budget, watch)
}

/// What has been found so far.
pub(super) struct Quest<'a> {
    pub(super) bound: u64,
    /// The lowest height so far; [`UNPLACED`] without one.
    pub(super) height: u64,
    /// Where a packing is low enough.
    pub(super) target: u64,
    pub(super) steps: u64,
    pub(super) budget: u64,
    pub(super) interrupted: bool,
    pub(super) watch: Watch<'a>,
}

impl Quest<'_> {
    pub(super) fn new(bound: u64, target: u64, budget: Steps, watch: Watch<'_>) -> Quest<'_> {
        Quest {
            bound,
            height: UNPLACED,
            target,
            steps: 0,
            budget: budget.0,
            interrupted: false,
            watch,
        }
    }

    /// Whether nothing is left to do.
    pub(super) fn is_over(&self) -> bool {
        self.height <= self.bound.max(self.target) || self.steps >= self.budget || self.interrupted
    }

    /// Counts steps; says whether to go on.
    pub(super) fn spend(&mut self, steps: u64) -> bool {
        self.steps += steps;
        self.ask(0);
        !self.is_over()
    }

    /// Shows where the search is, `more` steps after the last count.
    pub(super) fn ask(&mut self, more: u64) -> bool {
        let progress = Progress {
            steps: Steps(self.steps + more),
            best: (self.height != UNPLACED).then_some(self.height),
            bound: self.bound,
        };
        self.interrupted |= (self.watch)(progress) == ControlFlow::Break(());
        !self.interrupted
    }

    /// Shows a worth and its bound in place of heights.
    pub(super) fn watch_worth(&mut self, worth: u64, bound: u64) {
        let progress = Progress {
            steps: Steps(self.steps),
            best: Some(worth),
            bound,
        };
        self.interrupted |= (self.watch)(progress) == ControlFlow::Break(());
    }

    pub(super) fn verdict(&self) -> Verdict {
        if self.height <= self.bound.max(self.target) {
            Verdict::Proved
        } else if self.interrupted {
            Verdict::Interrupted
        } else {
            Verdict::OutOfSteps
        }
    }
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

    /// Improves apart what nothing ties together, where that is too high; `false` if everything is tied together.
    fn search_parts(&mut self, problem: &Problem, quest: &mut Quest<'_>) -> bool {
        let parts = independent_parts(problem);
        if parts.len() < 2 {
            return false;
        }
        let tall = |best: &[u64], part: &[u32], low: u64| {
            let end = |&index: &u32| best[index as usize] + problem.units[index as usize].size;
            part.iter().map(end).max().unwrap_or(0) > low
        };
        let low = quest.bound.max(quest.target);
        let mut tall: Vec<Vec<u32>> = parts
            .into_iter()
            .filter(|part| tall(&self.best, part, low))
            .collect();
        let mut whole = Packer::default();
        while let Some(part) = tall.pop() {
            let alone = problem.part(&part, None);
            let bound = whole.lower_bound(&alone).0;
            let share = (quest.budget - quest.steps) / (tall.len() as u64 + 1);
            let (height, steps) = (quest.height, quest.steps);
            let mut watch = |progress: Progress| {
                (quest.watch)(Progress {
                    steps: Steps(steps + progress.steps.0),
                    best: Some(height),
                    bound: quest.bound,
                })
            };
            let mut sub = Quest::new(bound, low, Steps(share), &mut watch);
            whole.pursue(&alone, Strategy::Auto, &mut sub);
            let (found, bound, steps, interrupted) = (sub.height, sub.bound, sub.steps, sub.interrupted);
            quest.steps += steps;
            quest.interrupted |= interrupted;
            quest.bound = quest.bound.max(bound);
            let end = |&index: &u32| self.best[index as usize] + problem.units[index as usize].size;
            if found < part.iter().map(end).max().unwrap_or(0) {
                for (&index, &offset) in part.iter().zip(&whole.best) {
                    self.best[index as usize] = offset;
                }
            }
            if quest.interrupted {
                break;
            }
        }
        quest.height = problem.height(&self.best);
        quest.ask(0);
        true
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

/// Units in sets that share no step, in the order of time; one set where conflicts are declared.
fn independent_parts(problem: &Problem) -> Vec<Vec<u32>> {
    if !problem.conflicts().is_empty() {
        return Vec::new();
    }
    let mut order: Vec<u32> = (0..problem.units.len() as u32).collect();
    let hull = |index: u32| problem.units[index as usize].hull;
    order.retain(|&index| problem.units[index as usize].takes_bytes());
    order.sort_unstable_by_key(|&index| (hull(index).first, index));
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut end = Step(0);
    for index in order {
        if parts.is_empty() || hull(index).first >= end {
            parts.push(Vec::new());
        }
        end = end.max(hull(index).end);
        parts.last_mut().expect("a part was just opened").push(index);
    }
    for part in &mut parts {
        part.sort_unstable();
    }
    parts
}

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
