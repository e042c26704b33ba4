//! From a frame to its plan with every lifetime whole: the stages in order.

use std::sync::Arc;

use super::{NotTile, PlacementReason, Plan, PlanError, PlanOptions};
use super::{arena, eligible, residency, timeline, totals};
use crate::frame::{Frame, TileConstraint};
use crate::measure::Requirements;
use crate::profile::DeviceProfile;

/// Plans a frame without splitting lifetimes; `old` is a plan whose residents are kept where they still fit.
pub(super) fn make_whole(
    frame: &Frame,
    requirements: &Arc<Requirements>,
    profile: &Arc<DeviceProfile>,
    options: &PlanOptions,
    old: Option<&Plan>,
) -> crate::Result<Plan> {
    if requirements.resources.len() != frame.resources().len() {
        return Err(PlanError::Requirements {
            frame: frame.name().to_owned(),
            resources: frame.resources().len(),
            requirements: requirements.resources.len(),
        }
        .into());
    }
    let timeline = timeline::Timeline::new(frame, profile, options.windows);
    let rulings = eligible::judge(frame, requirements, profile, &timeline, options);
    let mut resident = match old {
        None => residency::choose(frame, requirements, profile, &timeline, &rulings, options),
        Some(old) => residency::repair(frame, requirements, profile, &timeline, &rulings, options, old),
    };
    let placed = arena::place_all(
        frame,
        requirements,
        profile,
        &rulings,
        &resident.residents,
        &resident.bound,
        &mut resident.objects,
        options,
    )?;
    let passes = totals::plan_passes(&resident, &timeline);
    let (resources, conflicts) = totals::explain(
        frame,
        &timeline,
        requirements,
        profile,
        options,
        &rulings,
        &placed,
        &resident,
    );
    let totals = totals::sum(
        frame,
        requirements,
        &timeline,
        &rulings,
        &resources,
        &placed,
        &resident.objects,
        &passes,
        resident.reserved_by_runs,
    );
    let plan = Plan {
        frame: frame.clone(),
        split: None,
        profile: profile.clone(),
        requirements: requirements.clone(),
        options: *options,
        resources,
        placements: placed.placements,
        objects: resident.objects,
        passes,
        conflicts,
        optimality: resident.optimality,
        totals,
    };
    check_pinned(&plan)?;
    Ok(plan)
}

/// Every pinned resource is in tile memory, or never leaves the chip anyway.
fn check_pinned(plan: &Plan) -> Result<(), PlanError> {
    for (id, resource) in plan.frame.resource_ids().zip(plan.frame.resources()) {
        let rule = match plan.resources[id.index()].reason {
            _ if resource.tile_constraint != TileConstraint::Pinned => continue,
            PlacementReason::Tile { .. } | PlacementReason::Lazy { .. } => continue,
            PlacementReason::Unused => "no pass uses it",
            PlacementReason::External => "its memory is the caller's",
            PlacementReason::Arena(NotTile::OnePass { .. })
            | PlacementReason::Dedicated(NotTile::OnePass { .. }) => continue,
            PlacementReason::Arena(why) | PlacementReason::Dedicated(why) => why.rule(resource.is_image()),
        };
        return Err(PlanError::Pinned {
            resource: resource.name.clone(),
            rule,
            why: plan.reason_text(id),
        });
    }
    Ok(())
}
