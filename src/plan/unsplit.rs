//! The stages of planning without split lifetimes, in order.

use std::sync::Arc;

use super::context::Context;
use super::residency::binning_costs;
use super::traffic::{only_render_passes, savings_are_traffic};
use super::{OffChipReason, PlacementReason, Plan, PlanError, PlanOptions, ResidencyStrategy};
use super::{arena, eligible, residency, timeline, totals};
use crate::execute::{ExecutedFrame, Origins};
use crate::frame::TileConstraint;
use crate::measure::Requirements;
use crate::profile::DeviceProfile;

impl<'a> Context<'a> {
    pub(super) fn new(
        executed: &'a ExecutedFrame,
        input: &'a ExecutedFrame,
        requirements: &'a Arc<Requirements>,
        profile: &'a Arc<DeviceProfile>,
        options: &'a PlanOptions,
    ) -> Result<Context<'a>, PlanError> {
        let frame = executed.frame();
        if requirements.resources.len() != frame.resources().len() {
            return Err(PlanError::Requirements {
                frame: frame.name().to_owned(),
                resources: frame.resources().len(),
                requirements: requirements.resources.len(),
            });
        }
        if let Some(of) = requirements.profile.as_ref().filter(|of| **of != profile.name) {
            return Err(PlanError::OtherDevice {
                frame: frame.name().to_owned(),
                estimated_for: of.clone(),
                profile: profile.name.clone(),
            });
        }
        let mut context = Context {
            frame,
            executed,
            input,
            requirements,
            profile,
            options,
            heap: options
                .tile_heap(profile)
                .filter(|_| options.strategy != ResidencyStrategy::Off),
            timeline: timeline::Timeline::new(frame, profile, options.windows),
            only_passes: only_render_passes(frame, options.windows),
            savings_are_traffic: savings_are_traffic(frame),
            rulings: Vec::new(),
            binning_costs: Vec::new(),
        };
        context.rulings = eligible::rulings(&context);
        if options.strategy == ResidencyStrategy::Optimal && context.heap.is_some() {
            context.binning_costs = binning_costs(frame, profile, options.bin_cost);
        }
        Ok(context)
    }
}

/// Plans a frame without splitting lifetimes. If `old` is given, keeps its residents that still fit, instead of searching.
pub(super) fn plan_unsplit(context: &Context<'_>, old: Option<&Plan>) -> crate::Result<Plan> {
    let mut resident = match old {
        None => residency::choose(context),
        Some(old) => residency::repair(context, old),
    }
    .map_err(PlanError::Packing)?;
    let placed = arena::place_all(context, &mut resident, old)?;
    let passes = totals::plan_passes(context, &resident);
    let (resources, conflicts) = totals::explain(context, &placed, &resident);
    let totals = totals::sum(context, &resources, &placed, &resident, &passes);
    let plan = Plan {
        frame: context.frame.clone(),
        origins: context.executed.origins().clone(),
        input: context.input.clone(),
        splits: Origins::IDENTITY,
        profile: context.profile.clone(),
        requirements: context.requirements.clone(),
        input_requirements: context.requirements.clone(),
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

/// Checks that every pinned resource is in tile memory, or never leaves the chip anyway.
fn check_pinned(plan: &Plan) -> Result<(), PlanError> {
    for (id, resource) in plan.frame.resource_ids().zip(plan.frame.resources()) {
        let rule = match plan.resources[id.index()].reason {
            _ if resource.tile_constraint != TileConstraint::Pinned => continue,
            PlacementReason::Tile { .. } | PlacementReason::Lazy { .. } => continue,
            PlacementReason::Unused => "no pass uses it",
            PlacementReason::External => "its memory is the caller's",
            PlacementReason::Arena(OffChipReason::OnePass { .. })
            | PlacementReason::Dedicated(OffChipReason::OnePass { .. }) => continue,
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
