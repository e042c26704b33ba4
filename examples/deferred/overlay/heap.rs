//! A heap as the overlay shows it, taken from a plan: placements over the passes, and what is bound.

use tileheap::frame::ResourceId;
use tileheap::plan::{MemoryKind, Placement, Plan};
use tileheap::units::{Bytes, Span};

use super::request::has_choice;

/// Which memory is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Tile,
    /// Arenas and allocations of their own, one above the other.
    Ordinary,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heap {
    /// From the lowest offset to the end of the map: the heap's, or less where it could hold everything at once.
    pub(super) size: Bytes,
    pub(super) residents: Vec<HeapBlock>,
    /// Per pass, the bytes from 0 on that are bound.
    pub(super) bound: Vec<Bytes>,
}

/// A stay of a resource.
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
            // Of a ladder, each memory object has an alias at the same place.
            if placement.memory == MemoryKind::Tile && !residents.contains(&resident) {
                residents.push(resident);
            }
        }
        Heap {
            size: reach(plan),
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

/// The end of the map of the tile heap: no plan of this frame has a use for more, whatever is asked.
fn reach(plan: &Plan) -> Bytes {
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
