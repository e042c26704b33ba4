//! From a frame to its plan: the stages in order.

use std::sync::Arc;

use super::context::Context;
use super::runnable::Runnable;
use super::whole::make_whole;
use super::{Plan, PlanOptions, split};
use crate::Checked;
use crate::execute::Executed;
use crate::measure::Requirements;
use crate::profile::DeviceProfile;

/// Plans a frame: decides where every resource lives and when, what is bound, every barrier and every load and store
/// operation.
///
/// Pure and deterministic: no driver, no clock, no hash order. The frame is a [described](crate::frame::Frame) one, or a
/// [rewritten](Executed) one: the plan then keeps its map to the described frame, in whose terms [`Plan::totals`](Plan) are. `requirements` are
/// in the order of the resources of the frame that runs, measured or estimated for the same `profile`.
///
/// # Errors
/// [`Error::Plan`](crate::Error::Plan) when the frame breaks a limit or needs a feature of the profile, when ordinary memory cannot hold the frame, or a
/// [pinned](crate::frame::TileConstraint::Pinned) resource cannot be placed in tile memory. What else does not fit into tile memory is
/// no error, but a reason in the plan. [`Error::Origin`](crate::Error::Origin) when the map of a rewritten frame is wrong.
pub fn plan(
    frame: impl Into<Executed>,
    requirements: &Arc<Requirements>,
    profile: &Arc<DeviceProfile>,
    options: &PlanOptions,
) -> crate::Result<Checked<Plan>> {
    plan_runnable(Runnable::new(&frame.into(), profile)?, requirements, options)
}

/// As [`plan`], for a frame that has been checked.
pub(crate) fn plan_runnable(
    runnable: Runnable<'_>,
    requirements: &Arc<Requirements>,
    options: &PlanOptions,
) -> crate::Result<Checked<Plan>> {
    checked(make(runnable, requirements, options, None)?)
}

/// Wraps a plan that this crate made; builds with debug assertions check it first.
pub(super) fn checked(plan: Plan) -> crate::Result<Checked<Plan>> {
    if cfg!(debug_assertions) {
        return Ok(plan.checked()?);
    }
    Ok(Checked::new(plan))
}

/// As [`plan`], not checked; `old` is a plan whose residents are kept where they still fit, instead of searching.
pub(crate) fn make(
    runnable: Runnable<'_>,
    requirements: &Arc<Requirements>,
    options: &PlanOptions,
    old: Option<&Plan>,
) -> crate::Result<Plan> {
    let executed = runnable.executed();
    let context = Context::new(executed, executed, requirements, runnable.profile(), options)?;
    let whole = make_whole(&context, old)?;
    match old {
        _ if !options.splits() => Ok(whole),
        None => split::improve(&context, whole),
        Some(old) => split::repair(&context, whole, old),
    }
}
