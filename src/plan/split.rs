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
use super::{MemoryKind, Optimality, Plan, Split, residency};
use crate::frame::tables::Contents;
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
    let less: Bytes = plan.stores().iter().map(|store| plan.stored_bytes(store)).sum();
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
    let Some(before) = &old.split else {
        return Ok(whole);
    };
    let mut stretches = residency::offered_stretches(context);
    let frame = &whole.frame;
    stretches.retain(|&(resource, after)| {
        before.stores.iter().any(|store| {
            old.frame.resource(store.to).name == frame.resource(resource).name
                && old.frame.pass(old.stored_behind(store)).name == frame.pass(after).name
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
        let Some((frame, stores)) = with_stores(&whole.frame, &mut stretches) else {
            break;
        };
        let mut requirements = Requirements::clone(&whole.requirements);
        // In the order of their numbers, which are those after the frame's own.
        let mut added = stores.clone();
        added.compact_sort_by_key(|store| store.from);
        let needs = added
            .iter()
            .map(|store| whole.requirements.resources[store.to.index()]);
        requirements.resources.extend(needs);
        let requirements = Arc::new(requirements);
        let context = Context::new(&frame, &requirements, &whole.profile, &whole.options)?;
        let mut plan = make_whole(&context, old)?;
        let lives_there = |store: &Store| plan.memory_of(store.from) == Some(MemoryKind::Tile);
        let before = stretches.len();
        stretches.retain(|(resource, _)| {
            stores
                .iter()
                .any(|store| store.to == *resource && lives_there(store))
        });
        if stretches.len() == before {
            plan.split = Some(Split {
                frame: whole.frame.clone(),
                requirements: whole.requirements.clone(),
                stores,
            });
            return Ok(Some(plan));
        }
    }
    Ok(None)
}

/// The frame with a store behind each of these stretches; those that it cannot have are left out of them.
pub(super) fn with_stores(
    described: &Frame,
    stretches: &mut Vec<(ResourceId, PassId)>,
) -> Option<(Frame, Vec<Store>)> {
    // The last first: what is added leaves the numbers of all passes before it.
    stretches.compact_sort_by_key(|&(resource, after)| (std::cmp::Reverse(after), resource));
    let mut frame = described.clone();
    stretches.retain(|&(resource, after)| match frame.split(resource, after) {
        Some(Ok(split)) => {
            frame = split;
            true
        }
        // A name that is too long, or taken.
        _ => false,
    });
    let own = described.resources().len();
    let passes = frame.pass_ids().filter(|&pass| {
        frame.pass(pass).contents == Contents::Store && frame.accesses_of(pass)[0].resource.index() >= own
    });
    let store = |pass: PassId| Store {
        pass,
        from: frame.accesses_of(pass)[0].resource,
        to: frame.accesses_of(pass)[1].resource,
    };
    let stores: Vec<Store> = passes.map(store).collect();
    (!stores.is_empty()).then_some((frame, stores))
}

impl Plan {
    /// The frame as it was described: without the stores of split lifetimes. The runtime's calls take its passes.
    pub fn described(&self) -> &Frame {
        self.split.as_ref().map_or(&self.frame, |split| &split.frame)
    }

    /// What the resources of [`Plan::described`] need.
    pub fn described_requirements(&self) -> &Arc<Requirements> {
        self.split
            .as_ref()
            .map_or(&self.requirements, |split| &split.requirements)
    }

    /// The stores that end stretches in tile memory, in the order of the passes; none unless lifetimes are [split](crate::plan::PlanOptions::split).
    pub fn stores(&self) -> &[Store] {
        self.split.as_ref().map_or(&[], |split| &split.stores)
    }

    /// The pass of [`Plan::frame`] that is this pass of [`Plan::described`].
    pub fn pass_of(&self, described: PassId) -> PassId {
        let mut pass = described;
        for store in self.stores() {
            pass.0 += u32::from(store.pass <= pass);
        }
        pass
    }

    /// The pass of [`Plan::described`] that this pass of [`Plan::frame`] is; of a store, the one that it is behind.
    pub fn described_pass(&self, pass: PassId) -> PassId {
        let stores = self.stores().iter();
        PassId(pass.0 - stores.filter(|store| store.pass <= pass).count() as u32)
    }

    /// The resource of [`Plan::described`] that this resource of [`Plan::frame`] is, or is a stretch of.
    pub fn described_resource(&self, resource: ResourceId) -> ResourceId {
        let store = self.stores().iter().find(|store| store.from == resource);
        store.map_or(resource, |store| store.to)
    }

    /// Whether an access of [`Plan::frame`]'s `used` is described as one of `resource`.
    #[cfg(feature = "runtime")]
    pub(crate) fn stands_for(&self, used: ResourceId, resource: ResourceId) -> bool {
        let described = self.described_resource(used);
        self.frame.level_of(described, resource).is_some()
    }

    /// What a store writes to memory: all of the resource, by its size in tile memory.
    pub fn stored_bytes(&self, store: &Store) -> Bytes {
        let tile = self.requirements.resources[store.from.index()].tile;
        tile.map_or(Bytes::ZERO, |tile| tile.size)
    }

    /// The pass of the frame behind which a store is.
    fn stored_behind(&self, store: &Store) -> PassId {
        self.pass_of(self.described_pass(store.pass))
    }
}
