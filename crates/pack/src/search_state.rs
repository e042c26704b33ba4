//! A search in progress: what it has found, its budget, and the caller's callback.

use std::ops::ControlFlow;

use super::Problem;
use super::answer::{Progress, ProgressCallback, Steps};
use super::exact::{Exact, RunResult};
use crate::lists::refill;

/// The best packing so far, and the budget left.
pub(super) struct SearchState<'a> {
    pub(super) bound: u64,
    /// True if a packing was found, which cannot be inferred from a height of 2^64 - 1.
    pub(super) found: bool,
    /// The lowest height so far; 2^64 - 1 if none.
    pub(super) height: u64,
    /// The offsets of units with this height.
    pub(super) best: Vec<u64>,
    /// The method that is running.
    pub(super) method: Option<&'static str>,
    /// The method that found the best packing so far.
    pub(super) found_by: Option<&'static str>,
    /// The height at which a packing is low enough.
    pub(super) target: u64,
    /// The search is over once the bound exceeds this height: no packing is low enough.
    pub(super) limit: u64,
    /// The cheap rules that have run, as a bit mask.
    pub(super) rules: u32,
    /// Search steps of earlier rounds of the search.
    earlier_steps: u64,
    /// Steps of this round.
    pub(super) steps: u64,
    pub(super) budget: u64,
    pub(super) interrupted: bool,
    pub(super) watch: ProgressCallback<'a>,
}

impl SearchState<'_> {
    /// Creates a search that has found nothing yet; `best` is memory for offsets.
    pub(super) fn new(
        bound: u64,
        target: u64,
        budget: Steps,
        watch: ProgressCallback<'_>,
        best: Vec<u64>,
    ) -> SearchState<'_> {
        SearchState {
            bound,
            found: false,
            height: u64::MAX,
            best,
            method: None,
            found_by: None,
            target,
            limit: u64::MAX,
            rules: 0,
            earlier_steps: 0,
            steps: 0,
            budget: match budget {
                Steps::UNLIMITED => Steps::default().0,
                Steps(limit) => limit,
            },
            interrupted: false,
            watch,
        }
    }

    /// Keeps the offsets of units if they are within their bounds and make the lowest packing so far.
    pub(super) fn keep(&mut self, problem: &Problem, offsets: &[u64]) {
        let height = problem.height(offsets);
        if (!self.found || height < self.height) && problem.keeps_bounds(offsets) {
            self.found = true;
            self.height = height;
            self.found_by = self.method;
            refill(&mut self.best, offsets.iter().copied());
        }
    }

    /// Returns true if a packing reaches the bound or the target, or if the bound proves that no packing can end below 2^64.
    pub(super) fn is_settled(&self) -> bool {
        match self.found {
            true => self.height <= self.bound.max(self.target),
            false => self.bound == u64::MAX,
        }
    }

    /// Begins another round with twice the budget, keeping the best packing; returns `false` if the search is settled or interrupted, if the last round took
    /// no steps, or if the budget cannot grow further.
    pub(super) fn begin_round(&mut self) -> bool {
        if self.is_settled() || self.interrupted || self.steps == 0 || self.budget > u64::MAX / 8 {
            return false;
        }
        self.earlier_steps += std::mem::take(&mut self.steps);
        self.budget *= 2;
        true
    }

    /// Returns the steps of all rounds.
    pub(super) fn total_steps(&self) -> Steps {
        Steps(self.earlier_steps + self.steps)
    }

    /// Returns true if the search is settled or interrupted, if this round's budget is spent, or if the bound exceeds the limit.
    pub(super) fn is_over(&self) -> bool {
        self.is_settled() || self.bound > self.limit || self.steps >= self.budget || self.interrupted
    }

    /// Counts steps and reports progress; returns true if the search may continue.
    pub(super) fn spend(&mut self, steps: u64) -> bool {
        self.steps += steps;
        self.report(0);
        !self.is_over()
    }

    /// Reports progress, `more` steps after the last count; returns true if the search may continue.
    pub(super) fn report(&mut self, more: u64) -> bool {
        let best = self.found.then_some(self.height);
        self.call(more, best, self.bound)
    }

    /// Reports a weight and its bound instead of heights.
    pub(super) fn report_weight(&mut self, weight: u64, bound: u64) {
        self.call(0, Some(weight), bound);
    }

    fn call(&mut self, more: u64, best: Option<u64>, bound: u64) -> bool {
        let steps = Steps(self.total_steps().0 + more);
        self.interrupted |= (self.watch)(Progress { steps, best, bound }) == ControlFlow::Break(());
        !self.interrupted
    }

    /// Runs the prepared exact search for at most `budget` steps, and counts its steps.
    pub(super) fn fit(&mut self, exact: &mut Exact, capacity: u64, budget: u64) -> RunResult {
        let (outcome, steps) = exact.fit(capacity, budget, &mut |steps| self.report(steps));
        self.steps += steps;
        outcome
    }
}
