//! The smallest block: cheap rules, then the large items exactly, then ever tighter capacities, then swaps in the order.

use std::ops::ControlFlow;

use super::answer::{Answer, Steps, Watch};
use super::exact::{Outcome, Switches};
use super::few::is_padded;
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
///
/// ```
/// use std::ops::ControlFlow;
/// use tileheap_pack::{Item, Problem, Steps, Strategy, Verdict, minimise};
/// use tileheap_pack::units::{Alignment, Bytes, Span};
/// # let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
/// # let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)]; // those drawn in `pack`
///
/// let problem = Problem::new(items)?;
/// // The callback sees the search now and then, and may end it.
/// let answer = minimise(&problem, Strategy::Auto, Steps(10_000), &mut |_| ControlFlow::Continue(()));
/// assert_eq!(answer.verdict, Verdict::Proved);
/// assert_eq!(answer.gap(), Some(Bytes(0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

/// What these do not bring to the bound, a short search settles sooner than the others do.
const CHEAPER_THAN_SEARCHING: usize = 2;
/// Steps of a short search.
const SHORT: u64 = 64;

impl Packer {
    /// As [`minimise()`].
    pub fn minimise(
        &mut self,
        problem: &Problem,
        strategy: Strategy,
        budget: Steps,
        watch: Watch<'_>,
    ) -> Answer {
        let mut answer = Answer::default();
        self.minimise_into(problem, strategy, budget, watch, &mut answer);
        answer
    }

    /// As [`minimise()`], into an answer whose memory is used again.
    pub fn minimise_into(
        &mut self,
        problem: &Problem,
        strategy: Strategy,
        budget: Steps,
        watch: Watch<'_>,
        answer: &mut Answer,
    ) {
        let bound = self.lower_bound(problem).0;
        let mut quest = Quest::new(bound, 0, budget, watch);
        self.pursue(problem, strategy, &mut quest);
        self.write_best(problem, quest.height != UNPLACED, &mut answer.packing);
        self.culprits.put_away(&mut answer.conflict);
        answer.bound = Bytes(quest.bound);
        answer.verdict = quest.verdict();
        answer.steps = Steps(quest.steps);
    }

    /// The best offsets as a packing, if they were `found`.
    pub(super) fn write_best(&mut self, problem: &Problem, found: bool, packing: &mut Option<Packing>) {
        if found {
            let packing = packing.get_or_insert_with(|| std::mem::take(&mut self.spare));
            problem.write(&self.best, packing);
        } else if let Some(unused) = packing.take() {
            self.spare = unused;
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
                self.quick(problem);
                self.keep(problem, quest);
            }
            _ => {
                self.run(problem, strategy);
                self.keep(problem, quest);
            }
        }
    }

    /// Takes `offsets` as the best if they are lower.
    pub(super) fn keep(&mut self, problem: &Problem, quest: &mut Quest<'_>) {
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
        let cheaper = if is_odd(problem) {
            1
        } else {
            CHEAPER_THAN_SEARCHING
        };
        for (number, strategy) in CHEAP_FOR_FEW.into_iter().enumerate() {
            if number == cheaper && self.search_few(problem, SHORT, quest) {
                return;
            }
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
        // Where nothing holds items up but others, the general search is the better one.
        if is_odd(problem) && self.search_few(problem, quest.budget / 4, quest) {
            return;
        }
        if quest.height != UNPLACED && self.search_parts(problem, quest) {
            return;
        }
        if !self.exact.is_too_large(problem) {
            let half = quest.budget / 2;
            self.place_large_first(problem, quest);
            if !quest.is_over() {
                self.exact.reduce(problem, None);
            }
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
                    self.try_capacity(problem, aim.max(quest.target), share, quest);
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

    /// Searches what the exact search was made ready for, which is the whole problem, for a packing within `capacity`; raises
    /// the bound if there is none.
    pub(super) fn try_capacity(
        &mut self,
        problem: &Problem,
        capacity: u64,
        share: u64,
        quest: &mut Quest<'_>,
    ) -> Outcome {
        let budget = share.min(quest.budget - quest.steps);
        let fit = self
            .exact
            .fit(capacity, Switches::DEFAULT, budget, &mut |steps| quest.ask(steps));
        let (outcome, steps) = fit;
        quest.steps += steps;
        match outcome {
            Outcome::Packed => {
                self.exact.write(problem, &mut self.offsets);
                self.keep(problem, quest);
            }
            Outcome::Impossible => {
                // The next multiple of what everything is a multiple of.
                let grain = self.exact.model.grain.max(1);
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

/// Whether something else than others may hold items up, or others that live at other times.
fn is_odd(problem: &Problem) -> bool {
    problem.is_irregular() || !problem.conflicts().is_empty() || is_padded(problem)
}
