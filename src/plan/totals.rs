//! What the plan amounts to: per pass, per resource with reasons, in sum.

use super::arena::Placed;
use super::barrier::Barriers;
use super::eligible::{Ruling, eligible_traffic};
use super::residency::{Residency, Resident};
use super::timeline::Timeline;
use super::{Home, NotTile, Object, PassPlan, Placement, Reason, ResourcePlan, Totals};
use crate::frame::{Frame, PassId, ResourceId};
use crate::profile::{Dedicated, Requirements};
use crate::units::{Bytes, Run};

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
    rulings: &[Ruling],
    placed: &Placed,
    residents: &[Resident],
) -> (Vec<ResourcePlan>, Vec<ResourceId>) {
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
                collisions.extend(
                    residents
                        .iter()
                        .filter(|r| {
                            r.span.overlaps(life) && timeline.window_of(PassId(r.span.first.0)) == window
                        })
                        .map(|resident| resident.resource),
                );
                let beside = Run {
                    first,
                    end: collisions.len() as u32,
                };
                ordinary(
                    NotTile::NoRoom { worth, beside },
                    requirements.resources[id.index()].dedicated,
                    home,
                )
            }
            Ruling::Ordinary(why) => ordinary(why, requirements.resources[id.index()].dedicated, home),
        };
        resources.push(ResourcePlan { placements, reason });
    }
    (resources, collisions)
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
            Reason::Arena(NotTile::NoRoom { .. } | NotTile::TooLarge { .. } | NotTile::KeptOff { .. })
            | Reason::Dedicated(
                NotTile::NoRoom { .. } | NotTile::TooLarge { .. } | NotTile::KeptOff { .. },
            ) => {
                totals.eligible_bytes += eligible_traffic(frame, requirements, id);
            }
            _ => {}
        }
    }
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
