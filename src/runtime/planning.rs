//! Plans for a device, cached by their inputs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::store;
use crate::Result;
use crate::frame::Frame;
use crate::lower::{Checked, Lowered, Lowerer, Situation};
use crate::measure::Requirements;
use crate::plan::{Plan, PlanOptions, Planner, plan};
use crate::profile::DeviceProfile;

/// The plans of a device.
pub(super) struct DevicePlanner {
    profile: Arc<DeviceProfile>,
    planner: Mutex<Planner>,
    lowerer: Mutex<Lowerer>,
}

impl DevicePlanner {
    pub(super) fn new(profile: Arc<DeviceProfile>) -> DevicePlanner {
        DevicePlanner {
            profile,
            planner: Mutex::default(),
            lowerer: Mutex::default(),
        }
    }

    /// The options, without what this build does not support.
    pub(super) fn supported(options: &PlanOptions) -> PlanOptions {
        let split = options.split && store::AVAILABLE;
        if options.split && !split {
            tracing::info!(
                reason = "built without the feature `shaders`",
                "no lifetime is split"
            );
        }
        PlanOptions { split, ..*options }
    }

    /// The plan made earlier for the same inputs.
    pub(super) fn known(&self, frame: &Frame, options: &PlanOptions) -> Option<Arc<Plan>> {
        self.lock().known(frame, &self.profile, options)
    }

    /// Plans, and caches the plan.
    pub(super) fn plan(
        &self,
        frame: &Frame,
        requirements: &Arc<Requirements>,
        options: &PlanOptions,
    ) -> Result<Arc<Plan>> {
        let _span = tracing::info_span!("plan", frame = frame.name()).entered();
        // Not under the lock: another thread may call `plan_now` meanwhile.
        let plan = Arc::new(plan(frame, requirements, &self.profile, options)?);
        check(&plan)?;
        self.adopt(plan.clone());
        Ok(plan)
    }

    /// [`Planner::plan_now`].
    pub(super) fn plan_now(
        &self,
        frame: &Frame,
        requirements: &Arc<Requirements>,
        options: &PlanOptions,
    ) -> Result<Arc<Plan>> {
        let plan = self
            .lock()
            .plan_now(frame, requirements, &self.profile, options)?;
        check(&plan)?;
        Ok(plan)
    }

    /// [`Planner::adopt`].
    pub(super) fn adopt(&self, plan: Arc<Plan>) -> bool {
        self.lock().adopt(plan)
    }

    /// [`Lowerer::lower`].
    pub(super) fn lower(&self, plan: &Plan, situation: &Situation) -> Result<Checked<Lowered>> {
        let mut lowerer = self.lowerer.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(lowerer.lower(plan, situation)?)
    }

    fn lock(&self) -> MutexGuard<'_, Planner> {
        self.planner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks a plan in debug builds.
fn check(plan: &Plan) -> Result<()> {
    if cfg!(debug_assertions) {
        plan.check()?;
    }
    Ok(())
}
