//! Candidates: what may live in tile memory, window by window.

use std::cmp::Ordering;

use crate::frame::{Demand, Frame, ResourceId};
use crate::plan::eligible::Ruling;
use crate::plan::timeline::Timeline;
use crate::profile::Requirements;
use crate::units::{Alignment, Bytes, Span};

/// A resource that may live in tile memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) resource: ResourceId,
    pub(super) span: Span,
    pub(super) size: Bytes,
    pub(super) alignment: Alignment,
    /// Bytes of traffic a frame that it saves there, and [`PINNED`] more if it must be there.
    pub(super) worth: Bytes,
    pub(super) window: u32,
}

/// More than everything else of a frame is worth.
pub(super) const PINNED: Bytes = Bytes(1 << 48);

pub(super) fn candidates(
    frame: &Frame,
    requirements: &Requirements,
    timeline: &Timeline,
    rulings: &[Ruling],
) -> Vec<Candidate> {
    let mut candidates = Vec::with_capacity(rulings.len());
    for (id, ruling) in frame.resource_ids().zip(rulings) {
        if let (Ruling::Tile(worth), Some(tile)) = (ruling, requirements.resources[id.index()].tile) {
            let span = frame.life_of(id);
            candidates.push(Candidate {
                resource: id,
                span,
                size: tile.size,
                alignment: tile.alignment,
                worth: if frame.resource(id).demand == Demand::Pinned {
                    *worth + PINNED
                } else {
                    *worth
                },
                window: timeline.window[span.first.0 as usize],
            });
        }
    }
    candidates
}

/// Orders in which candidates are offered to the heap.
#[derive(Clone, Copy)]
pub(super) enum Order {
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
    pub(super) const ALL: [Order; 5] = [
        Order::Density,
        Order::PerByte,
        Order::Worth,
        Order::Smallest,
        Order::Shortest,
    ];

    pub(super) fn compare(self, a: &Candidate, b: &Candidate) -> Ordering {
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

/// Sorted so that windows are stretches, in order inside.
pub(super) fn sort_by_window(candidates: &mut [Candidate], order: Order) {
    candidates.sort_unstable_by(|a, b| a.window.cmp(&b.window).then_with(|| order.compare(a, b)));
}
