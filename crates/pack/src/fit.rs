//! Answers: the lowest packing found; or, within a capacity, a packing, a proof that none exists, or neither if the budget runs out.

use std::borrow::Cow;

use super::answer::{Answer, ProgressCallback, Steps, Verdict};
use super::exact::RunResult;
use super::rules::Rule;
use super::search_state::SearchState;
use super::strategy::Goal;
use super::{Packer, Problem};
use crate::units::Bytes;

impl Packer {
    /// Writes the packing found by `seek`, or an infeasible subset if no packing fits within the capacity: the lower bound exceeds it, or `seek` returns
    /// true.
    pub(super) fn answer(
        &mut self,
        problem: &Problem,
        (goal, budget): (Goal, Steps),
        watch: ProgressCallback<'_>,
        answer: &mut Answer,
        mut seek: impl FnMut(&mut Packer, &mut SearchState<'_>) -> bool,
    ) {
        let capacity = problem.capacity().filter(|_| goal == Goal::Within);
        let limit = capacity.map_or(u64::MAX, |capacity| capacity.0);
        let target = if goal == Goal::Lowest { 0 } else { limit };
        let bound = self.lower_bound(problem).0;
        let mut search = SearchState::new(bound, target, budget, watch, std::mem::take(&mut self.best));
        let mut impossible = bound > limit || seek(self, &mut search);
        while budget == Steps::UNLIMITED && !impossible && search.begin_round() {
            impossible = seek(self, &mut search);
        }
        if capacity.is_none() && !impossible && !search.found {
            // Without upper bounds a packing always exists.
            self.try_rule(problem, Rule::BEST_FIT_BY_BIRTH, &mut search);
        }
        let packed = search.found && search.height <= limit;
        let proved = match goal {
            Goal::Lowest => search.is_settled(),
            Goal::Within => impossible || packed,
        };
        answer.verdict = Verdict::of(proved, search.interrupted);
        self.infeasible_subset.reuse(&mut answer.conflict);
        if impossible {
            let subset = &mut self.infeasible_subset;
            answer.conflict = Some(subset.find(problem, limit, &mut self.exact, &mut search));
        }
        answer.bound = Bytes(search.bound);
        answer.found_by = search.found_by.filter(|_| packed).map(Cow::Borrowed);
        answer.steps = search.total_steps();
        self.best = search.best;
        if packed {
            let spare = || std::mem::take(&mut self.spare);
            answer.packing.get_or_insert_with(spare).set(problem, &self.best);
        } else if let Some(unused) = answer.packing.take() {
            self.spare = unused;
        }
    }

    /// Looks for a packing as low as the search's target; returns true if it is proved that none exists.
    pub(super) fn prove_within(
        &mut self,
        problem: &Problem,
        rules_first: bool,
        search: &mut SearchState<'_>,
    ) -> bool {
        let capacity = search.target;
        search.limit = capacity;
        search.bound = search.bound.max(self.lower_bound(problem).0);
        if search.bound > capacity {
            return true;
        }
        if rules_first {
            self.try_cheap(problem, search);
        }
        if !search.is_over() {
            self.search_small(problem, search.budget / 4, search);
        }
        if !search.is_over() && rules_first && search.found && self.search_parts(problem, search) {
            return search.bound > capacity;
        }
        if search.is_over() {
            return search.bound > capacity;
        }
        let is_searched = !self.exact.is_too_large(problem);
        if is_searched {
            self.search_glued(problem, search);
        }
        if !search.is_over() && rules_first {
            self.place_large_first(problem, search);
        }
        if search.is_over() {
            return false;
        }
        if is_searched {
            self.exact.model.reduce(problem, None);
            let left = search.budget - search.steps;
            if !rules_first {
                return self.try_capacity(problem, capacity, left, search) == RunResult::Impossible;
            }
            if self.try_capacity(problem, capacity, left / 2, search) == RunResult::Impossible {
                return true;
            }
            // A lower capacity leaves fewer choices, and is sometimes easier to reach.
            if !search.is_over() && search.bound < capacity {
                self.try_capacity(problem, search.bound, left / 4, search);
            }
        }
        if rules_first && search.found && !search.is_over() {
            self.climb(problem, search);
        }
        search.bound > capacity
    }
}
