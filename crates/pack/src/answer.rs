//! Answers, verdicts and budgets.

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::Packing;
use crate::units::Bytes;

/// A number of search steps. A step is one decision, or work of the same cost. A budget in steps gives the same answer on every machine. A step
/// takes longer the more items there are: a million steps take about a second for a hundred items, and about twelve for 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Steps(pub u64);

impl Steps {
    /// No limit: the search runs in rounds, each with twice the steps of the last, until the answer is proved or the callback ends the search.
    pub const UNLIMITED: Steps = Steps(u64::MAX);
}

impl Default for Steps {
    fn default() -> Steps {
        Steps(400_000)
    }
}

/// The degree of certainty of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The answer is proved: no packing is lower, none exists, or no selection has a greater weight.
    Proved,
    /// The best answer found within the budget of steps.
    #[default]
    OutOfSteps,
    /// The best answer found before the callback ended the search.
    Interrupted,
}

impl Verdict {
    /// Returns the verdict on a finished search.
    pub(super) fn of(is_proved: bool, is_interrupted: bool) -> Verdict {
        match (is_proved, is_interrupted) {
            (true, _) => Verdict::Proved,
            (false, true) => Verdict::Interrupted,
            (false, false) => Verdict::OutOfSteps,
        }
    }
}

/// The progress of a search, as reported to the callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps so far.
    pub steps: Steps,
    /// The lowest height so far, or for [`select`](super::select()) the largest weight; `None` if nothing has been found yet.
    pub best: Option<u64>,
    /// The lower bound; for [`select`](super::select()) the upper bound.
    pub bound: u64,
}

/// A caller's callback: `Break` ends the search, and the answer is [`Verdict::Interrupted`].
pub type ProgressCallback<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// The answer of [`minimize`](super::minimize()) and [`fit`](super::fit()). The default answer contains no packing and proves nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The lowest packing found; `None` if none was found that respects the upper bounds on offsets and the capacity.
    pub packing: Option<Packing>,
    /// The method that found the packing, among those that the strategy runs: the name of a built-in strategy, or `large-first`.
    #[serde(default)]
    pub found_by: Option<Cow<'static, str>>,
    /// A lower bound on the height of every packing.
    pub bound: Bytes,
    /// `Proved` if the packing is the lowest (for `minimize`), if a packing was found (for `fit`), or if none exists.
    pub verdict: Verdict,
    /// Number of search steps used.
    pub steps: Steps,
    /// Items that cannot be packed together, if it is proved that no packing exists.
    pub conflict: Option<Conflict>,
}

impl Answer {
    /// Returns the difference between the height of the packing and the lower bound; `None` without a packing.
    pub fn gap(&self) -> Option<Bytes> {
        let packing = self.packing.as_ref()?;
        Some(Bytes(packing.height.0.saturating_sub(self.bound.0)))
    }

    /// Returns true if it is proved that no packing exists.
    pub fn is_impossible(&self) -> bool {
        self.packing.is_none() && self.verdict == Verdict::Proved
    }
}

/// Items that cannot be packed together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// Item indices, ascending.
    pub items: Vec<u32>,
    /// True if leaving out any single item (a group counts as one) makes the others packable, which was proved by packing them.
    pub minimal: bool,
}
