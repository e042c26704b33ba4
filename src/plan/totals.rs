//! What the plan amounts to: per pass, per resource with reasons, in sum.

use super::arena::Placed;
use super::barrier::Barriers;
use super::eligible::{Ruling, eligible_traffic};
use super::residency::{Residency, Resident};
use super::split::could_be_whole;
use super::timeline::Timeline;
use super::{
    Home, NotTile, Object, PassPlan, Placement, PlanOptions, Reason, ResourcePlan, Strategy, Totals, model,
};
use crate::frame::{Contents, Frame, PassId, ResourceId};
use crate::measure::{Dedicated, Requirements};
use crate::profile::{DeviceProfile, TileRequirements};
use crate::units::{Bytes, Run, Span};
use tileheap_pack::Shelf;

pub(super) fn plan_passes(residency: &Residency, timeline: &Timeline, barriers: &Barriers) -> Vec<PassPlan> {
    let mut passes: Vec<PassPlan> = residency
        .bound
        .iter()
        .zip(&barriers.around)
        .map(|(&bound, &(before, after))| PassPlan {
            bound,
            live_tile: Bytes::ZERO,
            before,
            after,
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

/// The reason of every resource, and the table of who kept whom out.
pub(super) fn explain(
    frame: &Frame,
    timeline: &Timeline,
    requirements: &Requirements,
    profile: &DeviceProfile,
    options: &PlanOptions,
    rulings: &[Ruling],
    placed: &Placed,
    residency: &Residency,
) -> (Vec<ResourcePlan>, Vec<ResourceId>) {
    let residents = &residency.residents;
    let mut collisions = Vec::new();
    let mut resources = Vec::with_capacity(rulings.len());
    for (id, (&ruling, &placements)) in frame.resource_ids().zip(rulings.iter().zip(&placed.of_resource)) {
        let home = placements
            .of(&placed.placements)
            .first()
            .map(|placement| placement.home);
        let reason = match ruling {
            Ruling::Unused => Reason::Unused,
            Ruling::External => Reason::External,
            Ruling::Lazy(pass) => Reason::Lazy { pass },
            Ruling::Tile(worth) if home == Some(Home::Tile) => Reason::Tile { worth },
            Ruling::Tile(worth) => {
                let first = collisions.len() as u32;
                let life = frame.life_of(id);
                let window = timeline.window_of(PassId(life.first.0));
                let beside = alive_in(residents, life, window, timeline);
                let harm = match requirements.resources[id.index()].tile {
                    Some(tile) if options.strategy == Strategy::Optimal => {
                        let steps = (life.first.0..life.end.0).map(PassId);
                        let steps = steps.filter(|&pass| timeline.window_of(pass) == window);
                        room_beside(profile, beside.clone(), life, tile)
                            .map(|end| harm_up_to(frame, profile, options, residency, steps, end))
                    }
                    _ => None,
                };
                let dedicated = requirements.resources[id.index()].dedicated;
                if let Some(harm) = harm.filter(|harm| *harm >= worth && worth > Bytes::ZERO) {
                    let reason = ordinary(NotTile::NotWorth { worth, harm }, dedicated, home);
                    resources.push(ResourcePlan { placements, reason });
                    continue;
                }
                collisions.extend(beside.map(|resident| resident.resource));
                let beside = Run {
                    first,
                    end: collisions.len() as u32,
                };
                ordinary(NotTile::NoRoom { worth, beside }, dedicated, home)
            }
            Ruling::Ordinary(why) => ordinary(why, requirements.resources[id.index()].dedicated, home),
        };
        resources.push(ResourcePlan { placements, reason });
    }
    (resources, collisions)
}

/// The residents of a window that are alive at some time of a life there. They are sorted by window and first step.
fn alive_in<'a>(
    residents: &'a [Resident],
    life: Span,
    window: u32,
    timeline: &Timeline,
) -> impl Iterator<Item = &'a Resident> + Clone + use<'a> {
    let place = |resident: &Resident| {
        let first = resident.span.first;
        (timeline.window_of(PassId(first.0)), first)
    };
    let from = residents.partition_point(|resident| place(resident).0 < window);
    let born = residents.partition_point(|resident| place(resident) < (window, life.end));
    residents[from..born.max(from)]
        .iter()
        .filter(move |resident| resident.span.end > life.first)
}

/// The end of the lowest room for a resource beside residents that live at the same time, if there is any.
fn room_beside<'a>(
    profile: &DeviceProfile,
    beside: impl Iterator<Item = &'a Resident>,
    life: Span,
    tile: TileRequirements,
) -> Option<Bytes> {
    let mut shelf = Shelf::with_capacity(Some(profile.tile?.size));
    for (number, resident) in (0..).zip(beside) {
        shelf.place(number, resident.span, resident.offset, resident.size);
    }
    let offset = shelf.lowest_fit(life, tile.size, tile.alignment)?;
    Some(offset + tile.size)
}

/// The harm that reserving up to `end` in some passes adds to what is reserved there.
fn harm_up_to(
    frame: &Frame,
    profile: &DeviceProfile,
    options: &PlanOptions,
    residency: &Residency,
    passes: impl Iterator<Item = PassId>,
    end: Bytes,
) -> Bytes {
    let harm = |pass, reserved| model::harm_in(frame, profile, pass, reserved, options.bin_cost).0;
    let more = passes.map(|pass| {
        let bound = residency.bound[pass.index()];
        let bound = bound.map_or(Bytes::ZERO, |object| residency.objects[object.index()].size);
        Bytes(harm(pass, bound.max(end)) - harm(pass, bound))
    });
    more.sum()
}

fn ordinary(why: NotTile, dedicated: Dedicated, home: Option<Home>) -> Reason {
    if home == Some(Home::Own) && dedicated != Dedicated::No {
        Reason::Dedicated(why)
    } else {
        Reason::Arena(why)
    }
}

pub(super) fn sum(
    frame: &Frame,
    requirements: &Requirements,
    timeline: &Timeline,
    rulings: &[Ruling],
    resources: &[ResourcePlan],
    placed: &Placed,
    objects: &[Object],
    passes: &[PassPlan],
    reserved_by_runs: Bytes,
) -> Totals {
    let mut totals = Totals {
        reserved_bytes_by_runs: reserved_by_runs,
        ..Totals::default()
    };
    for pass in passes {
        let Some(object) = pass.bound else { continue };
        totals.reserved_bytes += objects[object.index()].size;
        totals.live_bytes += pass.live_tile;
    }
    for (id, resource) in frame.resource_ids().zip(resources) {
        match resource.reason {
            // Traffic, not worth: that may be measured.
            Reason::Tile { .. } => {
                let traffic = eligible_traffic(frame, requirements, id);
                totals.eligible_bytes += traffic;
                totals.on_chip_bytes += traffic;
            }
            Reason::Arena(why) | Reason::Dedicated(why) if is_room_alone(why) => {
                totals.eligible_bytes += eligible_traffic(frame, requirements, id);
            }
            Reason::Arena(NotTile::Stored { .. }) | Reason::Dedicated(NotTile::Stored { .. })
                if could_be_whole(frame, rulings, timeline, id) =>
            {
                totals.eligible_bytes += eligible_traffic(frame, requirements, id);
            }
            _ => {}
        }
    }
    for pass in frame
        .passes()
        .iter()
        .filter(|pass| pass.contents == Contents::Store)
    {
        let from = pass.accesses.of(frame.accesses())[0].resource;
        if let (Reason::Tile { .. }, Some(tile)) = (
            resources[from.index()].reason,
            requirements.resources[from.index()].tile,
        ) {
            totals.stored_bytes += tile.size;
        }
    }
    totals.on_chip_bytes = Bytes(totals.on_chip_bytes.0.saturating_sub(totals.stored_bytes.0));
    for object in objects {
        match object.home {
            Home::Arena => totals.arena_bytes += object.size,
            Home::Tile => totals.tile_bytes = totals.tile_bytes.max(object.size),
            Home::Lazy | Home::Own => {}
        }
    }
    let arena = || {
        placed
            .placements
            .iter()
            .filter(|placement| placement.home == Home::Arena)
    };
    totals.arena_bytes_without_aliasing = arena().map(|placement| placement.size).sum();
    totals.arena_peak_live = objects
        .iter()
        .enumerate()
        .filter(|(_, object)| object.home == Home::Arena)
        .map(|(index, _)| {
            peak(
                arena().filter(|p| p.object.is_some_and(|object| object.index() == index)),
                passes.len(),
            )
        })
        .sum();
    totals.tile_peak_live = passes.iter().map(|pass| pass.live_tile).max().unwrap_or_default();
    totals
}

/// The most bytes alive at once.
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

/// Whether all that keeps a resource out is that tile memory is finite, or the frame's own demand.
fn is_room_alone(why: NotTile) -> bool {
    matches!(
        why,
        NotTile::NoRoom { .. }
            | NotTile::NotWorth { .. }
            | NotTile::TooLarge { .. }
            | NotTile::KeptOff { .. }
    )
}
