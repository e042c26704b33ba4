//! Residency: which admitted resources live in tile memory, at which offsets, and what is bound when.
//!
//! ```text
//! heap   ┌─ albedo ────────┐ ┌─ bloom ─┐         a life takes its bytes from first write to last read
//!        └─────────────────┘ └─────────┘
//! passes   0    1    2    3    4    5    6
//! bound   [0,N)──────────────][0,M)─────] nothing   one object per connected run of lives
//! ```
//! Greedy: residents are placed one after the other, the most traffic saved per byte and step first. Windows are
//! planned apart, since contents never cross them.

use std::cmp::Ordering;

use super::eligible::Ruling;
use super::timeline::Timeline;
use super::{Home, Object, ObjectId, PlanOptions, Strategy};
use crate::frame::{Frame, ResourceId};
use crate::pack::Shelf;
use crate::profile::{DeviceProfile, Requirements, TileHeap};
use crate::units::{Alignment, Bytes, Span};

/// Who lives in tile memory and what is bound.
pub(super) struct Residency {
    /// The residents.
    pub(super) residents: Vec<Resident>,
    /// Tile memory objects, one per size that is bound.
    pub(super) objects: Vec<Object>,
    /// Per pass, the object bound.
    pub(super) bound: Vec<Option<ObjectId>>,
}

/// A resource in tile memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resident {
    pub(super) resource: ResourceId,
    pub(super) offset: Bytes,
    pub(super) size: Bytes,
    pub(super) span: Span,
    pub(super) object: ObjectId,
}

/// A resource that may live in tile memory.
#[derive(Clone, Copy)]
struct Candidate {
    resource: ResourceId,
    span: Span,
    size: Bytes,
    alignment: Alignment,
    worth: Bytes,
    window: u32,
}

pub(super) fn choose(
    frame: &Frame,
    requirements: &Requirements,
    profile: &DeviceProfile,
    timeline: &Timeline,
    rulings: &[Ruling],
    options: &PlanOptions,
) -> Residency {
    let nothing = |passes| Residency {
        residents: Vec::new(),
        objects: Vec::new(),
        bound: vec![None; passes],
    };
    let Some(heap) = profile.tile else {
        return nothing(frame.passes().len());
    };
    let mut candidates = candidates(frame, requirements, timeline, rulings);
    if candidates.is_empty() {
        return nothing(frame.passes().len());
    }
    match options.strategy {
        Strategy::FirstCome => first_come(frame, &heap, timeline, &candidates),
        _ if !options.aliasing => {
            candidates.sort_unstable_by(|a, b| Order::Density.compare(a, b));
            bind_runs(frame, &heap, timeline, place_apart(frame, &heap, &candidates))
        }
        Strategy::Fast => {
            let mut residents = Vec::with_capacity(candidates.len());
            let mut shelf = Shelf::with_capacity(Some(heap.size));
            sort_by_window(&mut candidates, Order::Density);
            for window in windows(&candidates) {
                place(&mut shelf, window, &mut residents);
            }
            bind_runs(frame, &heap, timeline, residents)
        }
        Strategy::Greedy | Strategy::Off => {
            let residents = best_of_orders(&heap, &mut candidates);
            bind_runs(frame, &heap, timeline, residents)
        }
    }
}

fn candidates(
    frame: &Frame,
    requirements: &Requirements,
    timeline: &Timeline,
    rulings: &[Ruling],
) -> Vec<Candidate> {
    let mut candidates = Vec::with_capacity(rulings.len());
    for (id, ruling) in frame.resource_ids().zip(rulings) {
        if let (Ruling::Tile(worth), Some(tile)) = (ruling, requirements.resources[id.index()].tile) {
            let span = frame.life_of(id);
            let window = timeline.window[span.first.0 as usize];
            let (size, alignment) = (tile.size, tile.alignment);
            candidates.push(Candidate {
                resource: id,
                span,
                size,
                alignment,
                worth: *worth,
                window,
            });
        }
    }
    candidates
}

/// Orders in which candidates are offered to the heap.
#[derive(Clone, Copy)]
enum Order {
    /// Most worth per byte and step first.
    Density,
    /// Most worth per byte first.
    PerByte,
    /// Most worth first.
    Worth,
    /// Smallest first.
    Smallest,
    /// Shortest life first.
    Shortest,
}

impl Order {
    const ALL: [Order; 5] = [
        Order::Density,
        Order::PerByte,
        Order::Worth,
        Order::Smallest,
        Order::Shortest,
    ];

    fn compare(self, a: &Candidate, b: &Candidate) -> Ordering {
        // Ratios are compared by cross multiplication, so that no rounding decides.
        let area = |c: &Candidate| u128::from(c.size.0) * u128::from(c.span.len());
        let worth = |c: &Candidate| u128::from(c.worth.0);
        match self {
            Order::Density => (worth(b) * area(a)).cmp(&(worth(a) * area(b))),
            Order::PerByte => (worth(b) * u128::from(a.size.0)).cmp(&(worth(a) * u128::from(b.size.0))),
            Order::Worth => b.worth.cmp(&a.worth),
            Order::Smallest => a.size.cmp(&b.size),
            Order::Shortest => a.span.len().cmp(&b.span.len()),
        }
        .then(a.resource.cmp(&b.resource))
    }
}

fn sort_by_window(candidates: &mut [Candidate], order: Order) {
    candidates.sort_unstable_by(|a, b| a.window.cmp(&b.window).then_with(|| order.compare(a, b)));
}

/// The stretches of candidates that share a window.
fn windows(candidates: &[Candidate]) -> impl Iterator<Item = &[Candidate]> {
    candidates.chunk_by(|a, b| a.window == b.window)
}

/// Offers every candidate of one window to the heap in turn; returns the worth of those that found room.
fn place(shelf: &mut Shelf, window: &[Candidate], residents: &mut Vec<Resident>) -> Bytes {
    shelf.clear();
    let mut worth = Bytes::ZERO;
    for candidate in window {
        if let Some(offset) = shelf.lowest_fit(candidate.span, candidate.size, candidate.alignment) {
            shelf.place(candidate.resource.0, candidate.span, offset, candidate.size);
            worth += candidate.worth;
            residents.push(resident(candidate, offset));
        }
    }
    worth
}

fn resident(candidate: &Candidate, offset: Bytes) -> Resident {
    let Candidate {
        resource, span, size, ..
    } = *candidate;
    // The object is known when all residents of its run are.
    Resident {
        resource,
        offset,
        size,
        span,
        object: ObjectId(u32::MAX),
    }
}

/// Tries every order in every window, keeps the one that saves most, and lowers the tops of what it keeps.
fn best_of_orders(heap: &TileHeap, candidates: &mut [Candidate]) -> Vec<Resident> {
    let mut residents = Vec::with_capacity(candidates.len());
    let mut shelf = Shelf::with_capacity(Some(heap.size));
    let mut trial = Vec::new();
    candidates.sort_unstable_by_key(|candidate| candidate.window);
    for window in candidates.chunk_by_mut(|a, b| a.window == b.window) {
        let all: Bytes = window.iter().map(|candidate| candidate.worth).sum();
        let mut best: Option<(Bytes, Vec<Resident>)> = None;
        for order in Order::ALL {
            window.sort_unstable_by(|a, b| order.compare(a, b));
            trial.clear();
            let worth = place(&mut shelf, window, &mut trial);
            if best.as_ref().is_none_or(|(most, _)| worth > *most) {
                best = Some((worth, trial.clone()));
            }
            if worth == all {
                break;
            }
        }
        if let Some((_, mut kept)) = best {
            settle(&mut shelf, window, &mut kept);
            residents.append(&mut kept);
        }
    }
    residents
}

/// Places the kept residents again, longest life first, so that the bound range falls as early as it can; keeps the
/// old offsets where the new ones do not fit or reserve more.
fn settle(shelf: &mut Shelf, window: &mut [Candidate], kept: &mut Vec<Resident>) {
    kept.sort_unstable_by_key(|resident| resident.resource);
    let mut chosen: Vec<Candidate> = window
        .iter()
        .filter(|candidate| {
            kept.binary_search_by_key(&candidate.resource, |resident| resident.resource)
                .is_ok()
        })
        .copied()
        .collect();
    chosen.sort_unstable_by(|a, b| {
        let by_life = b.span.len().cmp(&a.span.len());
        by_life
            .then(b.worth.cmp(&a.worth))
            .then(a.resource.cmp(&b.resource))
    });
    let mut again = Vec::with_capacity(kept.len());
    place(shelf, &chosen, &mut again);
    if again.len() == kept.len() && reserved(&again) <= reserved(kept) {
        *kept = again;
    }
}

/// The bytes reserved, summed over the steps of each connected run.
fn reserved(residents: &[Resident]) -> u128 {
    let mut order = residents.to_vec();
    order.sort_unstable_by_key(|resident| (resident.span.first, resident.resource));
    runs(&order)
        .map(|(span, top, _)| u128::from(top.0) * u128::from(span.len()))
        .sum()
}

/// Connected runs of lives, from residents sorted by first step: the span, the top of the bytes, how many residents.
fn runs(order: &[Resident]) -> impl Iterator<Item = (Span, Bytes, usize)> {
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
fn bind_runs(frame: &Frame, heap: &TileHeap, timeline: &Timeline, mut residents: Vec<Resident>) -> Residency {
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

/// Offers every candidate to the heap in turn, for bytes that it never shares.
fn place_apart(frame: &Frame, heap: &TileHeap, candidates: &[Candidate]) -> Vec<Resident> {
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
fn first_come(frame: &Frame, heap: &TileHeap, timeline: &Timeline, candidates: &[Candidate]) -> Residency {
    let objects = vec![Object {
        home: Home::Tile,
        memory_type: heap.memory_type,
        size: heap.size,
    }];
    let object = ObjectId(0);
    let mut residents = place_apart(frame, heap, candidates);
    residents.iter_mut().for_each(|resident| resident.object = object);
    let used = |pass: usize| {
        let on_queue = |r: &Resident| timeline.queue[r.span.first.0 as usize] == timeline.queue[pass];
        residents
            .iter()
            .any(|resident| !timeline.queues_apart || on_queue(resident))
    };
    let bound = (0..frame.passes().len())
        .map(|pass| used(pass).then_some(object))
        .collect();
    Residency {
        residents,
        objects,
        bound,
    }
}
