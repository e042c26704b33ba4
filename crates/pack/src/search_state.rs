//! A search in progress: what it has found, its budget, and the caller's callback.

use std::ops::ControlFlow;

use super::Problem;
use super::answer::{Progress, Steps, Verdict, Watch};
use super::gap::UNPLACED;

/// What has been found so far, and how much more may be spent.
pub(super) struct SearchState<'a> {
    pub(super) bound: u64,
    /// The lowest height so far; [`UNPLACED`] without one.
    pub(super) height: u64,
    /// The offsets of units that have this height.
    pub(super) best: Vec<u64>,
    /// The height at which a packing is low enough.
    pub(super) target: u64,
    pub(super) steps: u64,
    pub(super) budget: u64,
    pub(super) interrupted: bool,
    pub(super) watch: Watch<'a>,
}

impl SearchState<'_> {
    /// A search that has found nothing; `best` is memory for offsets.
    pub(super) fn new(
        bound: u64,
        target: u64,
        budget: Steps,
        watch: Watch<'_>,
        best: Vec<u64>,
    ) -> SearchState<'_> {
        SearchState {
            bound,
            height: UNPLACED,
            best,
            target,
            steps: 0,
            budget: budget.0,
            interrupted: false,
            watch,
        }
    }

    /// Takes offsets of units as the best if they are lower.
    pub(super) fn keep(&mut self, problem: &Problem, offsets: &[u64]) {
        let height = problem.height(offsets);
        if height < self.height && problem.keeps_bounds(offsets) {
            self.height = height;
            self.best.clear();
            self.best.extend_from_slice(offsets);
        }
    }

    /// Whether nothing is left to do.
    pub(super) fn is_over(&self) -> bool {
        self.height <= self.bound.max(self.target) || self.steps >= self.budget || self.interrupted
    }

    /// Counts steps; returns whether to continue.
    pub(super) fn spend(&mut self, steps: u64) -> bool {
        self.steps += steps;
        self.report(0);
        !self.is_over()
    }

    /// Reports progress, `more` steps after the last count; returns whether to continue.
    pub(super) fn report(&mut self, more: u64) -> bool {
        let best = (self.height != UNPLACED).then_some(self.height);
        self.call(more, best, self.bound)
    }

    /// Reports a weight and its bound in place of heights.
    pub(super) fn report_weight(&mut self, weight: u64, bound: u64) {
        self.call(0, Some(weight), bound);
    }

    fn call(&mut self, more: u64, best: Option<u64>, bound: u64) -> bool {
        let steps = Steps(self.steps + more);
        self.interrupted |= (self.watch)(Progress { steps, best, bound }) == ControlFlow::Break(());
        !self.interrupted
    }

    pub(super) fn verdict(&self) -> Verdict {
        Verdict::of(self.height <= self.bound.max(self.target), self.interrupted)
    }
}
