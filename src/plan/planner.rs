//! The planner that remembers: the same frame again costs a comparison.

use std::sync::Arc;

use super::{Plan, PlanOptions, plan};
use crate::frame::Frame;
use crate::profile::{DeviceProfile, Requirements};

/// Plans frames and keeps the last plan.
///
/// A renderer describes its frame whenever size or features may have changed and hands it in; as long as nothing did,
/// the plan at hand is given back.
#[derive(Debug, Default)]
pub struct Planner {
    last: Option<Arc<Plan>>,
}

impl Planner {
    /// A planner without a plan.
    pub fn new() -> Planner {
        Planner::default()
    }

    /// As [`plan()`], or the last plan where all inputs are equal to its own.
    ///
    /// Inputs that share their tables with the last ones (clones) are recognised without looking at them; others are
    /// compared, which is linear in their size.
    ///
    /// # Errors
    /// As [`plan()`]; the last plan is kept then.
    pub fn plan(
        &mut self,
        frame: &Frame,
        requirements: &Arc<Requirements>,
        profile: &Arc<DeviceProfile>,
        options: &PlanOptions,
    ) -> crate::Result<Arc<Plan>> {
        if let Some(last) = &self.last
            && last.options == *options
            && same(&last.profile, profile)
            && last.frame == *frame
            && same(&last.requirements, requirements)
        {
            return Ok(last.clone());
        }
        let plan = Arc::new(plan(frame, requirements, profile, options)?);
        self.last = Some(plan.clone());
        Ok(plan)
    }
}

fn same<T: PartialEq>(a: &Arc<T>, b: &Arc<T>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}
