//! Plans for a device, cached by their inputs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use crate::execute::ExecutedFrame;
use crate::lower::{Lowered, Lowerer, LoweringDesc, lower};
use crate::measure::Requirements;
use crate::plan::{Plan, PlanOptions, Planner, Runnable, plan_runnable};
use crate::profile::DeviceProfile;
use crate::{Checked, Result};

/// The planner of a device, with its cache of plans, and the lowerer.
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

    /// Same as [`Planner::cached_plan`].
    pub(super) fn cached_plan(
        &self,
        executed: &ExecutedFrame,
        options: &PlanOptions,
    ) -> Option<Arc<Checked<Plan>>> {
        self.lock().cached_plan(executed, &self.profile, options)
    }

    /// Plans a frame, and caches the plan.
    pub(super) fn plan(
        &self,
        runnable: Runnable<'_>,
        requirements: &Arc<Requirements>,
        options: &PlanOptions,
    ) -> Result<Arc<Checked<Plan>>> {
        let _span = tracing::info_span!("plan", frame = runnable.executed().frame().name()).entered();
        // Not under the lock, so that another thread may call `plan_now` meanwhile.
        let plan = Arc::new(plan_runnable(runnable, requirements, options)?);
        self.adopt(plan.clone());
        Ok(plan)
    }

    /// Same as [`Planner::plan_now`].
    pub(super) fn plan_now(
        &self,
        runnable: Runnable<'_>,
        requirements: &Arc<Requirements>,
        options: &PlanOptions,
    ) -> Result<Arc<Checked<Plan>>> {
        self.lock().plan_runnable_now(runnable, requirements, options)
    }

    /// Same as [`Planner::adopt`].
    pub(super) fn adopt(&self, plan: Arc<Checked<Plan>>) -> bool {
        self.lock().adopt(plan)
    }

    /// Same as [`Lowerer::lower`].
    pub(super) fn lower(
        &self,
        plan: &Checked<Plan>,
        lowering_desc: &LoweringDesc,
    ) -> Result<Checked<Lowered>> {
        match self.lowerer.try_lock() {
            Ok(mut lowerer) => Ok(lowerer.lower(plan, lowering_desc)?),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner().lower(plan, lowering_desc)?),
            // Another thread is lowering (milliseconds for the largest frames): do not wait for it.
            Err(TryLockError::WouldBlock) => Ok(lower(plan, lowering_desc)?),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Planner> {
        self.planner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
