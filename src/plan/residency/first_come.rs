//! Without time slicing: bytes that are never shared.

use super::bind::bind;
use super::candidate::Candidate;
use super::greedy::resident;
use super::{MemoryKind, Object, ObjectId, Residency, TileResident};
use crate::frame::Frame;
use crate::plan::Ladder;
use crate::plan::timeline::Timeline;
use crate::profile::TileHeap;
use crate::units::Span;
use tileheap_pack::Shelf;

/// Offers every candidate to the heap in turn, for bytes that it never shares.
pub(super) fn place_apart(frame: &Frame, heap: &TileHeap, candidates: &[Candidate]) -> Vec<TileResident> {
    let always = Span::new(0, frame.passes().len() as u32);
    let mut shelf = Shelf::with_capacity(Some(heap.size));
    let mut residents = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        if let Some(offset) = shelf.lowest_fit(always, candidate.size, candidate.alignment) {
            shelf.place(candidate.resource.0, always, offset, candidate.size);
            residents.push(resident(candidate, offset));
        }
    }
    residents
}

/// The vendor sample's policy: declaration order, bytes never shared, the whole heap bound all the time.
///
/// Source: SnapdragonGameStudios adreno-gpu-vulkan-code-sample-framework, samples/tile_memory.
pub(super) fn first_come(
    frame: &Frame,
    heap: &TileHeap,
    timeline: &Timeline,
    candidates: &[Candidate],
) -> Residency {
    let objects = vec![Object {
        memory: MemoryKind::Tile,
        memory_type: heap.memory_type,
        size: heap.size,
    }];
    let object = ObjectId(0);
    let residents = place_apart(frame, heap, candidates);
    let used = |pass: usize| {
        let on_queue = |r: &TileResident| timeline.queue[r.span.first.0 as usize] == timeline.queue[pass];
        residents
            .iter()
            .any(|resident| !timeline.queues_apart || on_queue(resident))
    };
    let bound = (0..frame.passes().len())
        .map(|pass| used(pass).then_some(object))
        .collect();
    // What each run would take if it were bound alone.
    let by_runs = bind(frame, heap, timeline, residents, Ladder::Off, &[]);
    Residency {
        residents: by_runs.residents,
        reserved_by_runs: by_runs.reserved_by_runs,
        objects,
        bound,
        optimality: None,
    }
}
