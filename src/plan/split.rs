//! Split lifetimes: the stretches of lifetimes that save more than their stores cost, and the plan of the frame with those stores.
//!
//! ```text
//! passes       0 draw   1 light   2 blur            …   9 compose
//! without      hdr has no room: alive for ten passes
//! tile heap    ├ hdr (until blur) ───────┤                         three accesses on chip
//! arena                                 ├ hdr ──────────────────┤  stored by a pass of its own, read there
//! ```
//! The search weighs every stretch that the frame offers in addition to the whole lifetimes ([`super::residency`]); its choice becomes passes and
//! resources of another frame ([`Frame::split`]), which is then planned like any frame. Everything else (barriers, aliasing, arenas, the checker)
//! only sees passes and resources.

use std::sync::Arc;

use tileheap_units::CompactSort;

use super::context::Context;
use super::unsplit::plan_unsplit;
use super::{MemoryKind, Optimality, Plan, PlanError, residency};
use crate::execute::ExecutedFrame;
use crate::frame::{Frame, PassId, ResourceId};
use crate::measure::Requirements;
use crate::units::Bytes;

/// Returns a plan of `whole`'s frame with split lifetimes if it saves more, else `whole`.
pub(super) fn improve(context: &Context<'_>, whole: Plan) -> crate::Result<Plan> {
    let Some(found) = residency::choose_stretches(context, &whole).map_err(PlanError::Packing)? else {
        return Ok(whole);
    };
    let value = whole.optimality.map_or(0, |whole| whole.value);
    let steps = whole.optimality.map_or(0, |whole| whole.steps) + found.optimality.steps;
    let Some(mut plan) = resident(&whole, found.stretches, None)? else {
        return Ok(kept(whole, found.optimality, steps));
    };
    let own = plan
        .optimality
        .expect("a plan with residents in tile memory was found by a search");
    let less: Bytes = plan.stores().map(|store| plan.stored_bytes(&store)).sum();
    let split_value = own.value - less.0 as i64;
    if split_value <= value {
        return Ok(kept(whole, found.optimality, steps + own.steps));
    }
    plan.optimality = Some(Optimality {
        value: split_value,
        upper_bound: found.optimality.upper_bound.max(split_value),
        // Other stretches with the same value may reserve less.
        least_reserved: false,
        steps: steps + own.steps,
    });
    Ok(plan)
}

/// The plan without stores, with its optimality updated by the result of the search for stretches.
fn kept(whole: Plan, found: Optimality, steps: u64) -> Plan {
    let optimality = whole.optimality.map(|own| Optimality {
        upper_bound: found.upper_bound.max(own.value),
        least_reserved: own.least_reserved && found.least_reserved,
        steps,
        ..own
    });
    Plan { optimality, ..whole }
}

/// Returns a plan of `whole`'s frame with the stores of `old` that are still possible and the residents of `old` that still fit, or `whole` if no store is
/// left.
pub(super) fn repair(context: &Context<'_>, whole: Plan, old: &Plan) -> crate::Result<Plan> {
    let frame = &whole.frame;
    let mut stretches = match old.stores().next() {
        None => Vec::new(),
        Some(_) => residency::offered_stretches(context),
    };
    stretches.retain(|&(resource, after)| {
        old.stores().any(|store| {
            old.frame.resource(store.to).name == frame.resource(resource).name
                && old.frame.pass(old.pass_stored_after(&store)).name == frame.pass(after).name
        })
    });
    Ok(resident(&whole, stretches, Some(old))?.unwrap_or(whole))
}

/// Returns a plan of `whole`'s frame with stores for these stretches, except for stretches that the new plan does not place in tile memory; `None` if no
/// stretch is left.
fn resident(
    whole: &Plan,
    mut stretches: Vec<(ResourceId, PassId)>,
    old: Option<&Plan>,
) -> crate::Result<Option<Plan>> {
    while !stretches.is_empty() {
        let Some(split) = with_stores(&whole.frame, &mut stretches) else {
            break;
        };
        let needs = split.frame().resource_ids().map(|id| {
            let whole_id = split.origins().resource(id).resource;
            whole.requirements.resources[whole_id.index()]
        });
        let requirements = Arc::new(Requirements {
            resources: needs.collect(),
            profile: None,
        });
        let executed = whole.input.then(&split);
        let context = Context::new(
            &executed,
            &whole.input,
            &requirements,
            &whole.profile,
            &whole.options,
        )?;
        let planned = Plan {
            splits: split.origins().clone(),
            input_requirements: whole.requirements.clone(),
            ..plan_unsplit(&context, old)?
        };
        let before = stretches.len();
        stretches.retain(|(resource, _)| {
            planned
                .stores()
                .any(|store| store.to == *resource && planned.memory_of(store.from) == Some(MemoryKind::Tile))
        });
        if stretches.len() == before {
            return Ok(Some(planned));
        }
    }
    Ok(None)
}

/// The frame with a store after each of these stretches; removes those that are not possible. `None` if none is possible.
pub(super) fn with_stores(frame: &Frame, stretches: &mut Vec<(ResourceId, PassId)>) -> Option<ExecutedFrame> {
    // The last first: additions then keep the ids of all earlier passes.
    stretches.compact_sort_by_key(|&(resource, after)| (std::cmp::Reverse(after), resource));
    let mut executed = ExecutedFrame::as_described(frame);
    stretches.retain(|&(resource, after)| match executed.split(resource, after) {
        Some(Ok(split)) => {
            executed = split;
            true
        }
        // A name that is too long, or already used.
        _ => false,
    });
    (!executed.origins().is_identity()).then_some(executed)
}
