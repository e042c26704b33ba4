//! From a frame to its plan with every lifetime whole: the stages in order.

use super::context::Context;
use super::{NotTile, PlacementReason, Plan, PlanError};
use super::{arena, residency, totals};
use crate::frame::TileConstraint;

/// Plans a frame without splitting lifetimes; `old` is a plan whose residents are kept where they still fit.
pub(super) fn make_whole(context: &Context<'_>, old: Option<&Plan>) -> crate::Result<Plan> {
    let mut resident = match old {
        None => residency::choose(context),
        Some(old) => residency::repair(context, old),
    };
    let placed = arena::place_all(context, &mut resident)?;
    let passes = totals::plan_passes(context, &resident);
    let (resources, conflicts) = totals::explain(context, &placed, &resident);
    let totals = totals::sum(context, &resources, &placed, &resident, &passes);
    let plan = Plan {
        frame: context.frame.clone(),
        split: None,
        profile: context.profile.clone(),
        requirements: context.requirements.clone(),
        options: *context.options,
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
