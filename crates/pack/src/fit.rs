//! Within a capacity: a packing, the proof that there is none, or neither within the budget.

use super::answer::{Answer, Steps, Verdict, Watch};
use super::exact::Outcome;
use super::in_order::UNPLACED;
use super::quest::Quest;
use super::{Packer, Problem, Strategy};
use crate::units::Bytes;

/// Looks for a packing within the problem's capacity (within 64 bits without one) and all bounds of offsets.
///
/// Proved with a packing, or proved without one and then with the items that make it impossible: the fewest alive at one step
/// that pass the capacity if that is the reason, otherwise the fewest that are left when whatever can be left out has been, in
/// several orders.
///
/// ```
/// use std::ops::ControlFlow;
/// use tileheap_pack::{Item, ProblemDesc, Steps, Strategy, fit};
/// use tileheap_pack::units::{Alignment, Bytes, Span};
/// # let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
/// # let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)]; // those drawn in `pack`
///
/// let problem = ProblemDesc::new(items).capacity(Bytes(6)).build()?;
/// let answer = fit(&problem, Strategy::Auto, Steps::default(), &mut |_| ControlFlow::Continue(()));
/// assert!(answer.is_impossible());
/// assert_eq!(answer.conflict.expect("a reason").items, [2]); // that one alone takes 7 bytes
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fit(problem: &Problem, strategy: Strategy, budget: Steps, watch: Watch<'_>) -> Answer {
    Packer::default().fit(problem, strategy, budget, watch)
}

impl Packer {
    /// As [`fit()`].
    pub fn fit(&mut self, problem: &Problem, strategy: Strategy, budget: Steps, watch: Watch<'_>) -> Answer {
        let mut answer = Answer::default();
        self.fit_into(problem, strategy, budget, watch, &mut answer);
        answer
    }

    /// As [`fit()`], into an answer whose memory is used again.
    pub fn fit_into(
        &mut self,
        problem: &Problem,
        strategy: Strategy,
        budget: Steps,
        watch: Watch<'_>,
        answer: &mut Answer,
    ) {
        let capacity = problem.capacity().map_or(u64::MAX, |capacity| capacity.0);
        let bound = self.lower_bound(problem).0;
        let mut quest = Quest::new(bound, capacity, budget, watch);
        let impossible = self.seek(problem, strategy, &mut quest);
        let packed = quest.height <= capacity && quest.height != UNPLACED;
        self.write_best(problem, packed, &mut answer.packing);
        answer.verdict = if impossible || packed {
            Verdict::Proved
        } else if quest.interrupted {
            Verdict::Interrupted
        } else {
            Verdict::OutOfSteps
        };
        self.culprits.put_away(&mut answer.conflict);
        if impossible {
            answer.conflict = Some(self.conflict(problem, capacity, &mut quest));
        }
        answer.bound = Bytes(quest.bound);
        answer.steps = Steps(quest.steps);
    }

    /// Leaves the best offsets in `best`; says whether it is proved that nothing is as low as the quest's target.
    pub(super) fn seek(&mut self, problem: &Problem, strategy: Strategy, quest: &mut Quest<'_>) -> bool {
        let capacity = quest.target;
        quest.bound = quest.bound.max(self.lower_bound(problem).0);
        if quest.bound > capacity {
            return true;
        }
        if !matches!(strategy, Strategy::Exact | Strategy::Auto) {
            self.pursue(problem, strategy, quest);
            return false;
        }
        if strategy == Strategy::Auto {
            self.pursue_cheaply(problem, quest);
        }
        if !quest.is_over() && quest.bound <= capacity {
            self.search_few(problem, quest.budget / 4, quest);
        }
        if quest.bound > capacity {
            return true;
        }
        if quest.is_over() || self.exact.is_too_large(problem) {
            return false;
        }
        self.exact.reduce(problem, None);
        let left = quest.budget - quest.steps;
        self.try_capacity(problem, capacity, left, quest) == Outcome::Impossible
    }
}
