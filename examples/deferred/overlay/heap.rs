//! A heap of a plan as the overlay shows it: placements over passes, and bound tile memory.

use tileheap::frame::ResourceId;
use tileheap::plan::{MemoryKind, Placement, Plan};
use tileheap::units::{Bytes, Span};

use super::request::has_choice;

/// Which memory is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Tile,
    /// Arenas and dedicated allocations, stacked.
    Ordinary,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heap {
    /// Height of the map: the heap's size, or that of all eligible resources if that is less.
    pub(super) size: Bytes,
    pub(super) residents: Vec<HeapBlock>,
    /// Per pass, the size of the bound tile memory.
    pub(super) bound: Vec<Bytes>,
}

/// A placement on the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeapBlock {
    pub(super) resource: ResourceId,
    pub(super) span: Span,
    pub(super) offset: Bytes,
    pub(super) size: Bytes,
}

impl Heap {
    pub(super) fn of(plan: &Plan, memory: Memory) -> Heap {
        match memory {
            Memory::Tile => Heap::tile(plan),
            Memory::Ordinary => Heap::ordinary(plan),
        }
    }

    fn tile(plan: &Plan) -> Heap {
        let bound = plan.passes.iter().map(|pass| {
            let object = pass.bound_object.map(|object| plan.objects[object.index()]);
            object.map_or(Bytes::ZERO, |object| object.size)
        });
        let mut residents: Vec<HeapBlock> = Vec::new();
        for placement in &plan.placements {
            let resident = resident(placement, Bytes::ZERO);
            // Tile memory objects of several sizes have aliases of a resource at the same offset.
            if placement.memory == MemoryKind::Tile && !residents.contains(&resident) {
                residents.push(resident);
            }
        }
        Heap {
            size: tile_height(plan),
            residents,
            bound: bound.collect(),
        }
    }

    fn ordinary(plan: &Plan) -> Heap {
        let mut size = Bytes::ZERO;
        let mut residents = Vec::new();
        for (index, object) in plan.objects.iter().enumerate() {
            if object.memory == MemoryKind::Tile {
                continue;
            }
            let inside = |placement: &&Placement| placement.object.is_some_and(|one| one.index() == index);
            let placements = plan.placements.iter().filter(inside);
            residents.extend(placements.map(|placement| resident(placement, size)));
            size += object.size;
        }
        Heap {
            size,
            residents,
            bound: vec![Bytes::ZERO; plan.passes.len()],
        }
    }
}

/// Height of the tile heap on the map: no plan of this frame uses more.
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

fn resident(placement: &Placement, base: Bytes) -> HeapBlock {
    HeapBlock {
        resource: placement.resource,
        span: placement.span,
        offset: base + placement.offset,
        size: placement.size,
    }
}
