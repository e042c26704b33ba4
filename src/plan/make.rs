//! The stages of planning, in order.

use std::sync::Arc;

use super::context::Context;
use super::runnable::Runnable;
use super::unsplit::plan_unsplit;
use super::{Plan, PlanOptions, split};
use crate::Checked;
use crate::execute::ExecutedFrame;
use crate::measure::Requirements;
use crate::profile::DeviceProfile;

/// Plans a frame: decides the placement of every resource over time, and the tile memory bound in each pass.
///
/// Pure and deterministic: no driver, no clock, no hash order. The frame is a [described](crate::frame::Frame) or a [rewritten](ExecutedFrame) one; for
/// the latter, the plan keeps the map to the described frame, to which [`Plan::totals`](Plan) refer. `requirements` are in the order of the resources
/// of the executed frame, measured or estimated for the same `profile`.
///
/// # Errors
/// [`Error::Plan`](crate::Error::Plan) if the frame exceeds a limit or needs a missing feature of the profile, if ordinary memory cannot hold the
/// frame, or if a [pinned](crate::frame::TileConstraint::Pinned) resource cannot be placed in tile memory. For any other resource that does not fit
/// into tile memory, the plan has a reason instead. [`Error::Origin`](crate::Error::Origin) if the map of a rewritten frame is wrong.
pub fn plan(
    frame: impl Into<ExecutedFrame>,
    requirements: &Arc<Requirements>,
    profile: &Arc<DeviceProfile>,
    options: &PlanOptions,
) -> crate::Result<Checked<Plan>> {
    plan_runnable(Runnable::new(&frame.into(), profile)?, requirements, options)
}

/// Like [`plan`], for a frame that has been checked.
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

/// Like [`plan`], but does not check the frame. If `old` is given, keeps its residents that still fit, instead of searching.
pub(crate) fn make(
    runnable: Runnable<'_>,
    requirements: &Arc<Requirements>,
    options: &PlanOptions,
    old: Option<&Plan>,
) -> crate::Result<Plan> {
    let executed = runnable.executed();
    let context = Context::new(executed, executed, requirements, runnable.profile(), options)?;
    let whole = plan_unsplit(&context, old)?;
    match old {
        _ if !options.splits() => Ok(whole),
        None => split::improve(&context, whole),
        Some(old) => split::repair(&context, whole, old),
    }
}
