//! The contents of a plan that the list and the map show.

use tileheap::frame::{Persistence, ResourceId};
use tileheap::plan::{MemoryKind, Placement, Plan};
use tileheap::units::Bytes;

use super::request::has_choice;

/// The resources to list: all that are not external, in the order of the frame.
pub(super) fn listed(plan: &Plan) -> impl Iterator<Item = ResourceId> {
    let ids = plan.frame.resource_ids().zip(plan.frame.resources());
    let own = ids.filter(|(_, resource)| !matches!(resource.persistence, Persistence::External(_)));
    own.map(|(id, _)| id)
}

/// The contents of the map.
pub(super) struct Heap {
    /// Its height: the size of the tile heap, or of all eligible resources if that is less.
    pub(super) size: Bytes,
    pub(super) placements: Vec<Placement>,
    /// The size of the bound tile memory, by pass.
    pub(super) bound: Vec<Bytes>,
}

impl Heap {
    /// The tile heap if `tile`, else ordinary memory.
    pub(super) fn of(plan: &Plan, tile: bool) -> Heap {
        if tile { tile_heap(plan) } else { ordinary(plan) }
    }
}

fn tile_heap(plan: &Plan) -> Heap {
    let bound = plan.passes.iter().map(|pass| {
        let object = pass.bound_object.map(|object| plan.objects[object.index()]);
        object.map_or(Bytes::ZERO, |object| object.size)
    });
    let mut placements: Vec<Placement> = Vec::new();
    for placement in &plan.placements {
        // If tile memory objects have several sizes, a resource may have aliases at the same offset.
        let object = None;
        let placement = Placement { object, ..*placement };
        if placement.memory == MemoryKind::Tile && !placements.contains(&placement) {
            placements.push(placement);
        }
    }
    Heap {
        size: tile_height(plan),
        placements,
        bound: bound.collect(),
    }
}

/// Upper bound on the part of the tile heap that plans of this frame use.
fn tile_height(plan: &Plan) -> Bytes {
    let Some(tile) = plan.profile.tile else {
        return Bytes::ZERO;
    };
    let choices = plan.frame.resource_ids().filter(|&id| has_choice(plan, id));
    let sizes = choices.filter_map(|id| {
        let needs = plan.requirements.resources[id.index()].tile?;
        Some(needs.size.align_up(tile.block.bytes))
    });
    let all: Bytes = sizes.sum();
    tile.size.min(all.max(Bytes(tile.block.bytes.get())))
}

/// The contents of ordinary memory: arenas and dedicated allocations, stacked.
fn ordinary(plan: &Plan) -> Heap {
    let (mut size, mut placements) = (Bytes::ZERO, Vec::new());
    for (index, object) in plan.objects.iter().enumerate() {
        if object.memory == MemoryKind::Tile {
            continue;
        }
        let inside = |one: &&Placement| one.object.is_some_and(|object| object.index() == index);
        placements.extend(plan.placements.iter().filter(inside).map(|one| Placement {
            offset: size + one.offset,
            ..*one
        }));
        size += object.size;
    }
    Heap {
        size,
        placements,
        bound: vec![Bytes::ZERO; plan.passes.len()],
    }
}
