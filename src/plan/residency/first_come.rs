//! Placement without time slicing: bytes are never shared.

use super::bind::bind;
use super::candidate::Candidate;
use super::{MemoryKind, MemoryObject, ObjectId, Residency, TileResident};
use crate::plan::Ladder;
use crate::plan::context::Context;
use crate::profile::TileHeap;
use crate::units::{Bytes, Span};
use tileheap_pack::PartialPacking;

/// Places candidates in order, each in bytes that no other one uses.
pub(super) fn place_without_aliasing(heap: &TileHeap, candidates: &[Candidate]) -> Vec<(Candidate, Bytes)> {
    let always = Span::new(0, 1);
    let mut shelf = PartialPacking::with_capacity(Some(heap.size));
    let mut placed = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        if let Some(offset) = shelf.lowest_fit(always, candidate.size, candidate.alignment) {
            shelf.place(candidate.resource.0, always, offset, candidate.size);
            placed.push((*candidate, offset));
        }
    }
    placed
}

/// The residents that [`place_without_aliasing`] places.
pub(super) fn residents_without_aliasing(heap: &TileHeap, candidates: &[Candidate]) -> Vec<TileResident> {
    let placed = place_without_aliasing(heap, candidates);
    placed
        .iter()
        .map(|(one, offset)| TileResident::new(one, *offset))
        .collect()
}

/// The vendor sample's policy: declaration order, bytes never shared, the whole heap bound in every pass of a queue with residents.
///
/// Source: SnapdragonGameStudios adreno-gpu-vulkan-code-sample-framework, samples/tile_memory.
pub(super) fn first_come(context: &Context<'_>, heap: &TileHeap, candidates: &[Candidate]) -> Residency {
    let timeline = &context.timeline;
    let objects = vec![MemoryObject {
        memory: MemoryKind::Tile,
        memory_type: heap.memory_type,
        size: heap.size,
    }];
    let object = ObjectId(0);
    let residents = residents_without_aliasing(heap, candidates);
    let used = |pass: usize| {
        let on_queue = |r: &TileResident| timeline.queue[r.span.first.0 as usize] == timeline.queue[pass];
        residents
            .iter()
            .any(|resident| !timeline.has_separate_queues || on_queue(resident))
    };
    let bound = (0..timeline.window.len())
        .map(|pass| used(pass).then_some(object))
        .collect();
    // Size of each run if only it were bound.
    let by_runs = bind(context, heap, residents, Ladder::Off, &[]);
    Residency {
        residents: by_runs.residents,
        reserved_by_runs: by_runs.reserved_by_runs,
        objects,
        bound,
        optimality: None,
    }
}
