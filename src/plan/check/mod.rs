//! The plan checker: checks a plan against the rules, independently of the planner.
//!
//! Slow and obvious on purpose: every rule is looked up where it is stated, quadratic loops are acceptable, and no code is shared with the planner.
//! If the tables do not refer to each other consistently, or the map to the described frame is wrong, nothing else is checked.
//!
//! Not checked: the quality of a plan; the truth of the reasons that it gives; its execution, which [`Lowered::check`](crate::lower::Lowered::check)
//! checks.

mod bytes;
mod checker;
mod error;
mod residence;
mod sites;
mod split;
mod structure;
mod totals;

pub use error::{PlanCheckError, PlanRule};

use self::checker::Checker;
use super::Plan;
use crate::Checked;

impl Plan {
    /// Checks the plan against the rules of the specification, independently of the planner.
    ///
    /// O(placements²). For tests, debug builds, and plans from other sources.
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
    /// let mut plan = plan(&frame, &needs, &profile, &PlanOptions::default())?.into_inner();
    /// plan.check()?;
    /// // A change of one byte is reported.
    /// let moved = plan.placements.iter_mut().find(|one| one.memory == MemoryKind::Tile).expect("a resident");
    /// moved.offset += Bytes(1);
    /// assert!(plan.check().is_err());
    /// # Ok::<(), tileheap::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first fault of [`Plan::violations`].
    pub fn check(&self) -> Result<(), PlanCheckError> {
        match self.violations().into_iter().next() {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    /// Checks the plan, so that it can be lowered and bound. For plans that were edited, read from JSON, or made by another planner.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
    /// # use tileheap::{measure::estimate, profile::DeviceProfile};
    /// # use tileheap::plan::{PlanOptions, plan};
    /// use tileheap::lower::{DeviceQueues, LoweringDesc, lower};
    /// use tileheap::plan::Plan;
    /// # let frame = synthetic(7, SyntheticDesc::default());
    /// # let profile = Arc::new(DeviceProfile::preset("adreno-830")?);
    /// # let needs = Arc::new(estimate(&frame, &profile)?);
    /// # let text = plan(&frame, &needs, &profile, &PlanOptions::default())?.to_json();
    ///
    /// let plan = Plan::from_json(&frame, &text)?.checked()?;
    /// let tables = lower(&plan, &LoweringDesc::first(DeviceQueues::single_queue(&frame)))?;
    /// # let _ = tables;
    /// # Ok::<(), tileheap::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`Plan::check`].
    pub fn checked(self) -> Result<Checked<Plan>, PlanCheckError> {
        self.check()?;
        Ok(Checked::new(self))
    }

    /// Returns every fault of the plan. Empty for a plan that may be lowered.
    pub fn violations(&self) -> Vec<PlanCheckError> {
        let mut checker = Checker {
            plan: self,
            faults: Vec::new(),
        };
        structure::check_tables(&mut checker);
        if !checker.faults.is_empty() {
            return checker.faults;
        }
        split::check_origins(&mut checker);
        if !checker.faults.is_empty() {
            return checker.faults;
        }
        split::check(&mut checker);
        structure::check_lifetimes(&mut checker);
        bytes::check(&mut checker);
        residence::check(&mut checker);
        totals::check(&mut checker);
        checker.faults
    }
}
