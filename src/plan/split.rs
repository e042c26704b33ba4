//! Split lifetimes: which stretches of lifetimes are worth a store, and the plan of the frame that has those stores.
//!
//! ```text
//! passes       0 draw   1 light   2 blur            …   9 compose
//! without      hdr has no room: alive for ten passes
//! tile heap    ├ hdr (until blur) ───────┤                         three accesses on chip
//! arena                                 ├ hdr ──────────────────┤  stored by a pass of its own, read there
//! ```
//! The search weighs every stretch that the frame offers beside the whole lives ([`super::residency`]); what it chooses becomes
//! passes and resources of another frame ([`Frame::split`]), which is then planned as any frame is. Everything else (barriers,
//! aliasing, arenas, the checker) knows of passes and resources alone.

use std::sync::Arc;

use tileheap_units::CompactSort;

use super::Store;
use super::context::Context;
use super::whole::make_whole;
use super::{MemoryKind, Optimality, Plan, residency};
use crate::execute::Executed;
use crate::frame::{Frame, PassId, ResourceId};
use crate::measure::Requirements;
use crate::units::Bytes;

/// The plan of `whole`'s frame in which lifetimes are split where that saves more; `whole` itself where it is not.
pub(super) fn improve(context: &Context<'_>, whole: Plan) -> crate::Result<Plan> {
    let Some(found) = residency::choose_stretches(context, &whole) else {
        return Ok(whole);
    };
    let value = whole.optimality.map_or(0, |whole| whole.value);
    let steps = whole.optimality.map_or(0, |whole| whole.steps) + found.optimality.steps;
    let Some(mut plan) = resident(&whole, found.stretches, None)? else {
        return Ok(kept(whole, found.optimality, steps));
    };
    let own = plan
        .optimality
        .expect("a plan with something in tile memory was searched for");
    let less: Bytes = plan.stores().map(|store| plan.stored_bytes(&store)).sum();
    let split_value = own.value - less.0 as i64;
    if split_value <= value {
        return Ok(kept(whole, found.optimality, steps + own.steps));
    }
    plan.optimality = Some(Optimality {
        value: split_value,
        upper_bound: found.optimality.upper_bound.max(split_value),
        // Of other stretches of the same value, some may reserve less.
        least_reserved: false,
        steps: steps + own.steps,
    });
    Ok(plan)
}

/// The plan without stores, with what the search for them has found out.
fn kept(whole: Plan, found: Optimality, steps: u64) -> Plan {
    let optimality = whole.optimality.map(|own| Optimality {
        upper_bound: found.upper_bound.max(own.value),
        least_reserved: own.least_reserved && found.least_reserved,
        steps,
        ..own
    });
    Plan { optimality, ..whole }
}

/// The plan of `whole`'s frame with the stores of `old`, as far as they are still possible, and its residents where they still fit;
/// without stores where none is left.
pub(super) fn repair(context: &Context<'_>, whole: Plan, old: &Plan) -> crate::Result<Plan> {
    let frame = &whole.frame;
    let mut stretches = match old.origins.is_identity() {
        true => Vec::new(),
        false => residency::offered_stretches(context),
    };
    stretches.retain(|&(resource, after)| {
        old.origins.stores().any(|(_, stored, behind)| {
            old.described.resource(stored).name == frame.resource(resource).name
                && old.described.pass(behind).name == frame.pass(after).name
        })
    });
    Ok(resident(&whole, stretches, Some(old))?.unwrap_or(whole))
}

/// The plan of `whole`'s frame with stores for these stretches, less those that then are not in tile memory.
fn resident(
    whole: &Plan,
    mut stretches: Vec<(ResourceId, PassId)>,
    old: Option<&Plan>,
) -> crate::Result<Option<Plan>> {
    while !stretches.is_empty() {
        let Some(executed) = with_stores(&whole.frame, &mut stretches) else {
            break;
        };
        let (frame, described, origins) = executed.into_parts();
        let needs = frame.resource_ids().map(|id| {
            let whole_id = origins.resource(id).resource;
            whole.requirements.resources[whole_id.index()]
        });
        let requirements = Arc::new(Requirements {
            resources: needs.collect(),
        });
        let context = Context::new(&frame, &requirements, &whole.profile, &whole.options)?;
        let planned = Plan {
            described,
            origins,
            described_requirements: whole.requirements.clone(),
            ..make_whole(&context, old)?
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

/// The frame with a store after each of these stretches; those that it cannot have are left out of them.
pub(super) fn with_stores(described: &Frame, stretches: &mut Vec<(ResourceId, PassId)>) -> Option<Executed> {
    // The last first: what is added leaves the numbers of all passes before it.
    stretches.compact_sort_by_key(|&(resource, after)| (std::cmp::Reverse(after), resource));
    let mut executed = Executed::as_described(described);
    stretches.retain(|&(resource, after)| match executed.split(resource, after) {
        Some(Ok(split)) => {
            executed = split;
            true
        }
        // A name that is too long, or taken.
        _ => false,
    });
    (!executed.origins().is_identity()).then_some(executed)
}

impl Plan {
    /// The frame as it was described: without the stores of split lifetimes. The runtime's calls take its passes.
    pub fn described(&self) -> &Frame {
        &self.described
    }

    /// What the resources of [`Plan::described`] need.
    pub fn described_requirements(&self) -> &Arc<Requirements> {
        &self.described_requirements
    }

    /// The frame that runs, beside the described one.
    pub fn executed(&self) -> Executed {
        Executed::new(self.frame.clone(), self.described.clone(), self.origins.clone())
    }

    /// The stores that end stretches in tile memory, in the order of the passes; none unless lifetimes are [split](crate::plan::PlanOptions::split).
    pub fn stores(&self) -> impl Iterator<Item = Store> + use<'_> {
        let stores = self.origins.stores();
        stores.filter_map(|(pass, ..)| match self.frame.accesses_of(pass) {
            [read, write] => Some(Store {
                pass,
                from: read.resource,
                to: write.resource,
            }),
            // The checker refuses the plan.
            _ => None,
        })
    }

    /// The first pass of [`Plan::frame`] that runs this pass of [`Plan::described`].
    pub fn executed_pass(&self, described: PassId) -> PassId {
        self.origins.executed_pass(described)
    }

    /// The pass of [`Plan::described`] that this pass of [`Plan::frame`] runs; of a store, the one that it follows.
    pub fn described_pass(&self, pass: PassId) -> PassId {
        self.origins.described_pass(pass)
    }

    /// The resource that was declared, of which this resource of [`Plan::frame`] is a part: a stretch of its lifetime, or a level.
    pub fn described_resource(&self, resource: ResourceId) -> ResourceId {
        let origin = self.origins.resource(resource).resource;
        let level_of = self.described.resource(origin).level_of;
        level_of.map_or(origin, |level_of| level_of.image)
    }

    /// Whether an access of [`Plan::frame`]'s `used` is described as one of `resource`.
    #[cfg(feature = "runtime")]
    pub(crate) fn stands_for(&self, used: ResourceId, resource: ResourceId) -> bool {
        let described = self.origins.resource(used).resource;
        self.described.level_of(described, resource).is_some()
    }

    /// What a store writes to memory: all of the resource, by its size in tile memory.
    pub fn stored_bytes(&self, store: &Store) -> Bytes {
        let tile = self.requirements.resources[store.from.index()].tile;
        tile.map_or(Bytes::ZERO, |tile| tile.size)
    }
}
