//! A search under way: what it has found, what it may still spend, and who watches it.

use std::ops::ControlFlow;

use super::answer::{Progress, Steps, Verdict, Watch};
use super::in_order::UNPLACED;

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
