//! The totals of a plan, and the reason for every resource.

use super::arena::Placed;
use super::context::{Context, Ruling};
use super::eligible::could_be_whole;
use super::residency::{Residency, TileResident};
use super::timeline::Timeline;
use super::traffic::{Traffic, described_traffic, halos, traffic_off_chip};
use super::{
    MemoryKind, ObjectId, OffChipReason, PassPlan, Placement, PlacementReason, PlanTotals, ResourcePlan,
};
use crate::frame::tables::CommandSource;
use crate::frame::{PassId, ResourceId};
use crate::measure::DedicatedRequirement;
use crate::profile::TileRequirements;
use crate::units::{Bytes, Run, Span};
use tileheap_pack::PartialPacking;

pub(super) fn plan_passes(context: &Context<'_>, residency: &Residency) -> Vec<PassPlan> {
    let timeline = &context.timeline;
    let bound = residency.bound.iter();
    let mut passes: Vec<PassPlan> = bound
        .map(|&bound_object| PassPlan {
            bound_object,
            live_tile: Bytes::ZERO,
        })
        .collect();
    for resident in &residency.residents {
        let window = timeline.window_of(PassId(resident.span.first.0));
        let steps = resident.span.first.0 as usize..resident.span.end.0 as usize;
        for (pass, other) in passes[steps.clone()].iter_mut().zip(&timeline.window[steps]) {
            if *other == window {
                pass.live_tile += resident.size;
            }
        }
    }
    passes
}

/// The reason for every resource, and the table of conflicting residents.
pub(super) fn explain(
    context: &Context<'_>,
    placed: &Placed,
    residency: &Residency,
) -> (Vec<ResourcePlan>, Vec<ResourceId>) {
    let (frame, requirements) = (context.frame, context.requirements);
    let (timeline, rulings) = (&context.timeline, &context.rulings);
    let residents = &residency.residents;
    let mut conflicts = Vec::with_capacity(rulings.len());
    let mut resources = Vec::with_capacity(rulings.len());
    for (id, (&ruling, &placements)) in frame.resource_ids().zip(rulings.iter().zip(&placed.of_resource)) {
        let memory = placements
            .of(&placed.placements)
            .first()
            .map(|placement| placement.memory);
        let reason = match ruling {
            Ruling::Unused => PlacementReason::Unused,
            Ruling::External => PlacementReason::External,
            Ruling::Lazy(pass) => PlacementReason::Lazy { pass },
            Ruling::Tile(savings) if memory == Some(MemoryKind::Tile) => PlacementReason::Tile { savings },
            Ruling::Tile(savings) => {
                let first = conflicts.len() as u32;
                let lifetime = frame.lifetime_of(id);
                let window = timeline.window_of(PassId(lifetime.first.0));
                let beside = alive_in(residents, lifetime, window, timeline);
                let binning_cost = match requirements.resources[id.index()].tile {
                    Some(tile) if !context.binning_costs.is_empty() => {
                        let steps = (lifetime.first.0..lifetime.end.0).map(PassId);
                        let steps = steps.filter(|&pass| timeline.window_of(pass) == window);
                        room_beside(context, beside.clone(), lifetime, tile)
                            .map(|end| added_binning_cost(context, residency, steps, end))
                    }
                    _ => None,
                };
                let dedicated = requirements.resources[id.index()].dedicated;
                if let Some(binning_cost) =
                    binning_cost.filter(|binning_cost| *binning_cost >= savings && savings > Bytes::ZERO)
                {
                    let reason = ordinary(
                        OffChipReason::CostExceedsSavings {
                            savings,
                            binning_cost,
                        },
                        dedicated,
                        memory,
                    );
                    resources.push(ResourcePlan { placements, reason });
                    continue;
                }
                conflicts.extend(beside.map(|resident| resident.resource));
                let conflicts = Run::new(first, conflicts.len() as u32);
                ordinary(OffChipReason::NoRoom { savings, conflicts }, dedicated, memory)
            }
            Ruling::Ordinary(why) => ordinary(why, requirements.resources[id.index()].dedicated, memory),
        };
        resources.push(ResourcePlan { placements, reason });
    }
    (resources, conflicts)
}

/// The residents of a window whose lifetimes overlap `lifetime`; `residents` must be sorted by window and first step.
fn alive_in<'a>(
    residents: &'a [TileResident],
    lifetime: Span,
    window: u32,
    timeline: &Timeline,
) -> impl Iterator<Item = &'a TileResident> + Clone + use<'a> {
    let place = |resident: &TileResident| {
        let first = resident.span.first;
        (timeline.window_of(PassId(first.0)), first)
    };
    let from = residents.partition_point(|resident| place(resident).0 < window);
    let born = residents.partition_point(|resident| place(resident) < (window, lifetime.end));
    residents[from..born.max(from)]
        .iter()
        .filter(move |resident| resident.span.end > lifetime.first)
}

/// The end offset of the lowest free range in which a resource would fit beside the residents `beside`, if there is one.
fn room_beside<'a>(
    context: &Context<'_>,
    beside: impl Iterator<Item = &'a TileResident>,
    lifetime: Span,
    tile: TileRequirements,
) -> Option<Bytes> {
    let mut shelf = PartialPacking::with_capacity(Some(context.profile.tile?.size));
    for (number, resident) in (0..).zip(beside) {
        shelf.place(number, resident.span, resident.offset, resident.size);
    }
    let offset = shelf.lowest_fit(lifetime, tile.size, tile.alignment)?;
    Some(offset + tile.size)
}

/// The binning cost that reserving up to `end` in these passes adds to the cost of the current reservation.
fn added_binning_cost(
    context: &Context<'_>,
    residency: &Residency,
    passes: impl Iterator<Item = PassId>,
    end: Bytes,
) -> Bytes {
    let more = passes.map(|pass| {
        let binning_cost = &context.binning_costs[pass.index()];
        let bound = residency.bound[pass.index()];
        let bound = bound.map_or(Bytes::ZERO, |object| residency.objects[object.index()].size);
        Bytes(binning_cost.of(bound.max(end)) - binning_cost.of(bound))
    });
    more.sum()
}

fn ordinary(
    why: OffChipReason,
    dedicated: DedicatedRequirement,
    memory: Option<MemoryKind>,
) -> PlacementReason {
    if memory == Some(MemoryKind::Dedicated) && dedicated != DedicatedRequirement::No {
        PlacementReason::Dedicated(why)
    } else {
        PlacementReason::Arena(why)
    }
}

pub(super) fn sum(
    context: &Context<'_>,
    resources: &[ResourcePlan],
    placed: &Placed,
    residency: &Residency,
    passes: &[PassPlan],
) -> PlanTotals {
    let (frame, requirements) = (context.frame, context.requirements);
    let objects = &residency.objects;
    let mut executed_traffic = Bytes::ZERO;
    let mut totals = PlanTotals {
        reserved_bytes_by_runs: residency.reserved_by_runs,
        ..PlanTotals::default()
    };
    for pass in passes {
        let Some(object) = pass.bound_object else { continue };
        totals.reserved_bytes += objects[object.index()].size;
        totals.live_bytes += pass.live_tile;
    }
    for (id, resource) in frame.resource_ids().zip(resources) {
        if context.only_passes[id.index()].is_some() {
            continue; // It moves nothing, and is not eligible.
        }
        // Traffic, not savings: those may be measured.
        let bytes = match context.rulings[id.index()] {
            Ruling::Tile(savings) if context.savings_are_traffic => savings,
            _ => traffic_off_chip(frame, requirements, id),
        };
        executed_traffic += bytes;
        match resource.reason {
            PlacementReason::Tile { .. } => {
                totals.eligible_bytes += bytes;
                totals.on_chip_bytes += bytes;
            }
            PlacementReason::Arena(why) | PlacementReason::Dedicated(why) if lacks_only_room(why) => {
                totals.eligible_bytes += bytes;
            }
            PlacementReason::Arena(OffChipReason::Stored { .. })
            | PlacementReason::Dedicated(OffChipReason::Stored { .. })
                if could_be_whole(context, id) =>
            {
                totals.eligible_bytes += bytes;
            }
            _ => {}
        }
    }
    for pass in frame
        .passes()
        .iter()
        .filter(|pass| pass.contents == CommandSource::Store)
    {
        let from = pass.accesses.of(frame.accesses())[0].resource;
        if let (PlacementReason::Tile { .. }, Some(tile)) = (
            resources[from.index()].reason,
            requirements.resources[from.index()].tile,
        ) {
            totals.stored_bytes += tile.size;
        }
    }
    let executed = context.executed;
    let is_changed = executed.charges().described_traffic.is_some();
    totals.traffic_bytes = match executed.origins().is_identity() && !is_changed {
        true => executed_traffic,
        false => described_traffic(executed, requirements, context.options.windows),
    };
    let halos = halos(executed, requirements, |id| {
        let is_tile = matches!(resources[id.index()].reason, PlacementReason::Tile { .. });
        !is_tile && context.only_passes[id.index()].is_none()
    });
    let moved = executed_traffic - totals.on_chip_bytes + totals.stored_bytes;
    let traffic = Traffic {
        described: totals.traffic_bytes,
        ..Traffic::charged(executed, moved, halos)
    };
    // Traffic that merged passes save also stays on chip.
    totals.on_chip_bytes = traffic.on_chip();
    totals.charged_bytes = traffic.charges();
    totals.eligible_bytes = Bytes(
        (totals.traffic_bytes + totals.eligible_bytes)
            .0
            .saturating_sub(executed_traffic.0),
    );
    for object in objects {
        match object.memory {
            MemoryKind::Arena => totals.arena_bytes += object.size,
            MemoryKind::Tile => totals.tile_bytes = totals.tile_bytes.max(object.size),
            MemoryKind::Lazy | MemoryKind::Dedicated => {}
        }
    }
    let arena = || {
        placed
            .placements
            .iter()
            .filter(|placement| placement.memory == MemoryKind::Arena)
    };
    totals.arena_bytes_without_aliasing = arena().map(|placement| placement.size).sum();
    // Most arenas contain a single history.
    let mut placed_in = vec![(0, Bytes::ZERO); objects.len()];
    for placement in arena() {
        if let Some(object) = placement.object {
            let (count, sizes) = &mut placed_in[object.index()];
            (*count, *sizes) = (*count + 1, *sizes + placement.size);
        }
    }
    let peaks = (0..)
        .map(ObjectId)
        .zip(&placed_in)
        .map(|(id, &(count, sizes))| match count {
            0 | 1 => sizes,
            _ => peak(
                arena().filter(|placement| placement.object == Some(id)),
                passes.len(),
            ),
        });
    totals.arena_peak_live = peaks.sum();
    totals.tile_peak_live = passes.iter().map(|pass| pass.live_tile).max().unwrap_or_default();
    totals
}

/// Peak number of bytes of placements that are alive at the same time.
fn peak<'a>(placements: impl Iterator<Item = &'a Placement>, passes: usize) -> Bytes {
    let mut born = vec![0u64; passes + 1];
    let mut died = vec![0u64; passes + 1];
    for placement in placements {
        born[placement.span.first.0 as usize] += placement.size.0;
        died[placement.span.end.0 as usize] += placement.size.0;
    }
    let (mut live, mut peak) = (0, 0);
    for (born, died) in born.iter().zip(&died) {
        live = live + born - died;
        peak = peak.max(live);
    }
    Bytes(peak)
}

/// Returns true if a resource is kept out only by the size of tile memory, or by a constraint of the frame.
fn lacks_only_room(why: OffChipReason) -> bool {
    matches!(
        why,
        OffChipReason::NoRoom { .. }
            | OffChipReason::CostExceedsSavings { .. }
            | OffChipReason::TooLarge { .. }
            | OffChipReason::Excluded { .. }
    )
}
