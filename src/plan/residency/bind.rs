//! What is bound when: one object for each connected run of lives.

use super::{Home, Object, ObjectId, Residency, Resident};
use crate::frame::Frame;
use crate::plan::timeline::Timeline;
use crate::profile::TileHeap;
use crate::units::{Bytes, Span};

/// Connected runs of lives, from residents sorted by first step: the span, the top of the bytes, how many residents.
pub(super) fn runs(order: &[Resident]) -> impl Iterator<Item = (Span, Bytes, usize)> {
    let mut rest = order;
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let (mut span, mut top, mut count) = (first.span, Bytes::ZERO, 0);
        while let Some(resident) = rest.get(count)
            && (count == 0 || resident.span.first < span.end)
        {
            span.end = span.end.max(resident.span.end);
            top = top.max(resident.offset + resident.size);
            count += 1;
        }
        rest = &rest[count..];
        Some((span, top, count))
    })
}

/// The most tile memory objects of one plan: each is a `vkAllocateMemory`, of which a driver may allow few.
const MOST_OBJECTS: usize = 16;

/// Binds one object for each connected run of lives in a window; runs of one size share an object.
pub(super) fn bind_runs(
    frame: &Frame,
    heap: &TileHeap,
    timeline: &Timeline,
    mut residents: Vec<Resident>,
) -> Residency {
    // Windows of one queue follow each other, but those of two queues may interleave: sort by window first.
    let window = |resident: &Resident| timeline.window[resident.span.first.0 as usize];
    residents.sort_unstable_by_key(|resident| (window(resident), resident.span.first, resident.resource));
    let mut bindings: Vec<(u32, Span, Bytes, usize)> = Vec::with_capacity(residents.len());
    for stretch in residents.chunk_by(|a, b| window(a) == window(b)) {
        let number = window(&stretch[0]);
        bindings.extend(runs(stretch).map(|(span, top, count)| (number, span, top, count)));
    }
    let sizes = object_sizes(bindings.iter().map(|&(_, _, top, _)| top).collect());
    let mut bound = vec![None; frame.passes().len()];
    let mut rest = residents.as_mut_slice();
    for (number, span, top, count) in bindings {
        let object = ObjectId(sizes.partition_point(|&size| size < top) as u32);
        let (run, later) = rest.split_at_mut(count);
        run.iter_mut().for_each(|resident| resident.object = object);
        rest = later;
        let steps = span.first.0 as usize..span.end.0 as usize;
        for (slot, window) in bound[steps.clone()].iter_mut().zip(&timeline.window[steps]) {
            if *window == number {
                *slot = Some(object);
            }
        }
    }
    let object = |&size: &Bytes| Object {
        home: Home::Tile,
        memory_type: heap.memory_type,
        size,
    };
    Residency {
        objects: sizes.iter().map(object).collect(),
        residents,
        bound,
        optimality: None,
    }
}

/// The sizes of tile objects that serve runs of these tops: each its own, or, past [`MOST_OBJECTS`], the next larger of
/// so many evenly spread ones.
fn object_sizes(mut tops: Vec<Bytes>) -> Vec<Bytes> {
    tops.sort_unstable();
    tops.dedup();
    if tops.len() <= MOST_OBJECTS {
        return tops;
    }
    (1..=MOST_OBJECTS)
        .map(|rank| tops[rank * tops.len() / MOST_OBJECTS - 1])
        .collect()
}
