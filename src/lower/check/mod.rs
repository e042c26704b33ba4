//! The checker of lowered tables: replays the Vulkan commands against the rules, independently of how the tables were made.
//!
//! ```text
//! structure ─► created objects, render passes ─► replay, from what earlier work left ─► what is left for the next frame
//!  indices,     what the frame describes           batch ► pass ► pass ► … batch ► …
//!  order        and the device allows                │ each step changes a model of
//!                                                    ├ contents   those of every image and buffer
//!                                                    ├ layouts    and the queue family that owns it
//!                                                    └ hazards    the order of accesses, by the model of `tileheap_sync`
//! ```
//! Takes the tables, the frame that they are for, its [`LoweringDesc`] and the [`DeviceFacts`]. Slow and obvious on purpose: every rule is checked where
//! it is stated, quadratic loops are fine, and no code is shared with lowering. If references between the tables are invalid, nothing else is
//! checked.
//!
//! Not checked: hazards inside a pass and the caller's semaphores, for which the caller is responsible. Contents, layouts and hazards are
//! tracked per part of an image, including slices of 3D images: a barrier covers all slices if it cannot name individual ones.

mod after;
mod attachments;
mod barriers;
mod checker;
mod contents;
mod creation;
mod effects;
mod error;
mod facts;
mod hazards;
mod instances;
mod layouts;
mod parts;
mod program;
mod replay;
mod sites;
mod structure;
mod subpasses;

pub use error::{LoweredCheckError, LoweringRule};
pub use facts::DeviceFacts;

use self::checker::Checker;
use self::parts::Parts;
use super::lowering_desc::LoweringDesc;
use super::tables::Lowered;
use crate::Checked;
use crate::frame::Frame;

impl Lowered {
    /// Checks tables of any origin (edited, read from JSON, or made by another planner) against the rules of the specification.
    ///
    /// `frame` is the frame as it is executed: that of the plan, including stores. O(barriers x uses).
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
    /// # use tileheap::{measure::estimate, plan::{PlanOptions, plan}, profile::DeviceProfile};
    /// use tileheap::lower::check::DeviceFacts;
    /// use tileheap::lower::{DeviceQueues, LoweringDesc, lower};
    /// # let frame = synthetic(7, SyntheticDesc::default());
    /// # let profile = Arc::new(DeviceProfile::preset("adreno-830")?);
    /// # let needs = Arc::new(estimate(&frame, &profile)?);
    /// # let plan = plan(&frame, &needs, &profile, &PlanOptions::default())?;
    ///
    /// let lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&frame));
    /// let device = DeviceFacts::declared(&profile, &needs, &frame, &lowering_desc.queues);
    /// let mut tables = lower(&plan, &lowering_desc)?.into_inner();
    /// // Tables without their barriers are refused.
    /// tables.passes.iter_mut().for_each(|pass| pass.before = Default::default());
    /// assert!(tables.check(&plan.frame, &lowering_desc, &device).is_err());
    /// # Ok::<(), tileheap::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first of [`Lowered::violations`].
    pub fn check(
        self,
        frame: &Frame,
        lowering_desc: &LoweringDesc,
        device: &DeviceFacts,
    ) -> Result<Checked<Lowered>, LoweredCheckError> {
        match self.violations(frame, lowering_desc, device).into_iter().next() {
            Some(error) => Err(error),
            None => Ok(Checked::new(self)),
        }
    }

    /// All errors in the tables: first those found by inspection, then those found by the replay, in submission order. Empty for tables that may be
    /// executed.
    pub fn violations(
        &self,
        frame: &Frame,
        lowering_desc: &LoweringDesc,
        device: &DeviceFacts,
    ) -> Vec<LoweredCheckError> {
        let mut checker = Checker {
            tables: self,
            frame,
            lowering_desc,
            device,
            parts: Parts::default(),
            errors: Vec::new(),
        };
        structure::check(&mut checker);
        if !checker.errors.is_empty() {
            return checker.errors;
        }
        checker.parts = Parts::new(self, frame, lowering_desc, device);
        creation::check(&mut checker);
        instances::check(&mut checker);
        subpasses::check(&mut checker);
        replay::run(&mut checker);
        checker.errors
    }
}
