//! The plan checker: replays a plan against the rules, and knows nothing of how it was made.
//!
//! ```text
//! structure ─► bytes, residence, operations, barriers, totals ─► replay of two frames
//!  indices      what may be placed where, and how much of it            even: ► pass ► pass ► …  odd: ► pass ► …
//!                                                                  │ each step changes a model of
//!                                                                  ├ contents   what every byte holds
//!                                                                  ├ layouts    and the queue that owns it
//!                                                                  └ hazards    who has been waited for
//! ```
//! Slow and obvious on purpose: every rule is looked up where it is stated, quadratic loops are fine, and no code is
//! shared with the planner. If the tables do not even refer to each other soundly, nothing else is judged.
//!
//! The replay walks the frame twice in a row, an even frame and an odd one, so that hazards and contents that go around
//! from one frame to the next are seen, with the two placements of a history pair swapped. In the first frame only what
//! an earlier frame would have left in history resources is taken for granted.
//!
//! Not judged: whether a plan is a good one; the truth of the reasons that it gives; hazards inside a pass and semaphores
//! of the caller's, which are the caller's. Between frames, a queue is taken to wait for the other queues' frame before by
//! itself, and for its own only by barriers.

mod barriers;
mod bytes;
mod checker;
mod contents;
mod error;
mod hazards;
mod layouts;
mod operations;
mod records;
mod replay;
mod replay_errors;
mod residence;
mod sites;
mod split;
mod structure;
mod table_errors;
mod totals;

pub use error::CheckError;
pub use replay_errors::{
    BarrierError, ContentsError, ContentsLoss, HazardAccess, HazardError, LayoutError, MissingDependency,
    OperationError,
};
pub use table_errors::{BytesError, ResidenceError, SplitError, StructureError, TileRule, TotalError};

use self::checker::Checker;
use super::Plan;

impl Plan {
    /// Judges the plan by the rules of the specification, without knowing how it was made.
    ///
    /// O(barriers x uses). Meant for tests, debug builds, and plans that come from elsewhere.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
    /// # use tileheap::{measure::estimate, profile::DeviceProfile};
    /// use tileheap::plan::{MemoryKind, PlanOptions, plan};
    /// use tileheap::units::Bytes;
    /// # let frame = synthetic(7, SyntheticDesc::default());
    /// # let profile = Arc::new(DeviceProfile::preset("adreno-830")?);
    /// # let needs = Arc::new(estimate(&frame, &profile)?);
    ///
    /// let mut plan = plan(&frame, &needs, &profile, &PlanOptions::default())?;
    /// plan.check()?;
    /// // Whoever changes it by a byte is told so.
    /// let moved = plan.placements.iter_mut().find(|one| one.memory == MemoryKind::Tile).expect("a resident");
    /// moved.offset += Bytes(1);
    /// assert!(plan.check().is_err());
    /// # Ok::<(), tileheap::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first fault of [`Plan::violations`].
    pub fn check(&self) -> Result<(), CheckError> {
        match self.violations().into_iter().next() {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    /// Everything that is wrong with the plan: first what is seen by looking, then what a replay of two frames meets, in
    /// the order of the passes. Empty for a plan that may be executed.
    pub fn violations(&self) -> Vec<CheckError> {
        let mut checker = Checker {
            plan: self,
            faults: Vec::new(),
        };
        structure::check_tables(&mut checker);
        if !checker.faults.is_empty() {
            return checker.faults;
        }
        split::check(&mut checker);
        structure::check_lifetimes(&mut checker);
        bytes::check(&mut checker);
        residence::check(&mut checker);
        operations::check(&mut checker);
        barriers::check(&mut checker);
        totals::check(&mut checker);
        replay::run(&mut checker);
        checker.faults
    }
}
