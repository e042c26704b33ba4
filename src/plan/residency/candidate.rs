//! Candidates for tile memory, window by window.

use std::cmp::Ordering;

use tileheap_units::CompactSort;

use crate::frame::tables::HistoryVersion;
use crate::frame::{PassId, Persistence, ResourceId, TileConstraint};
use crate::measure::DedicatedRequirement;
use crate::plan::context::{Context, Ruling};
use crate::plan::eligible::excluding_rule;
use crate::plan::{WindowRule, model};
use crate::profile::TileHeap;
use crate::units::{Alignment, Bytes, Span};

/// A resource that may be placed in tile memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) resource: ResourceId,
    pub(super) span: Span,
    pub(super) size: Bytes,
    pub(super) alignment: Alignment,
    /// Bytes of traffic per frame that the resource saves in tile memory, plus [`PINNED`] if it must be placed there.
    pub(super) savings: Bytes,
    pub(super) window: u32,
    /// For a stretch of a lifetime, the pass after which it is stored; the savings are reduced by the bytes that the store writes.
    pub(super) stored_after: Option<PassId>,
}

/// Added to the savings of pinned candidates: more than the total savings of any frame.
pub(super) const PINNED: Bytes = Bytes(1 << 48);

pub(super) fn candidates(context: &Context<'_>) -> Vec<Candidate> {
    let Context {
        frame,
        requirements,
        timeline,
        rulings,
        ..
    } = context;
    let mut candidates = Vec::with_capacity(rulings.len());
    for (id, ruling) in frame.resource_ids().zip(rulings) {
        if let (Ruling::Tile(savings), Some(tile)) = (ruling, requirements.resources[id.index()].tile) {
            let span = frame.lifetime_of(id);
            candidates.push(Candidate {
                resource: id,
                span,
                size: tile.size,
                alignment: tile.alignment,
                savings: if frame.resource(id).tile_constraint == TileConstraint::Pinned {
                    *savings + PINNED
                } else {
                    *savings
                },
                window: timeline.window[span.first.0 as usize],
                stored_after: None,
            });
        }
    }
    candidates
}

/// Stretches of lifetimes that may be in tile memory, and save more than the stores that end them cost.
///
/// A stretch begins where the resource is created, and ends after any of its passes in the same window. Published tables only have whole lifetimes:
/// with them, only resources that could be in tile memory as a whole are split.
pub(super) fn stretches(context: &Context<'_>, heap: &TileHeap) -> Vec<Candidate> {
    let Context {
        frame,
        requirements,
        options,
        timeline,
        rulings,
        ..
    } = context;
    let published = options.windows == WindowRule::WholeFrame;
    let mut stretches = Vec::new();
    for (id, ruling) in frame.resource_ids().zip(rulings) {
        let asked = match ruling {
            Ruling::Tile(_) => true,
            Ruling::Ordinary(_) => !published,
            Ruling::Unused | Ruling::External | Ruling::Lazy(_) => false,
        };
        let needs = &requirements.resources[id.index()];
        let tile = needs.tile.filter(|tile| tile.size <= heap.size);
        let free = frame.resource(id).tile_constraint == TileConstraint::None;
        let Some(tile) = tile.filter(|_| asked && free && needs.dedicated != DedicatedRequirement::Required)
        else {
            continue;
        };
        if frame.check_splittable(id).is_err() {
            continue;
        }
        let uses: Vec<u32> = frame
            .uses_of(id)
            .iter()
            .copied()
            .filter(|&index| frame.accesses()[index as usize].version == HistoryVersion::Current)
            .collect();
        let pass = |index: &u32| frame.accesses()[*index as usize].pass;
        let kept = frame.resource(id).persistence != Persistence::Transient;
        let (mut savings, mut count) = (Bytes::ZERO, 0);
        for in_pass in uses.chunk_by(|a, b| pass(a) == pass(b)) {
            count += in_pass.len();
            if !published && excluding_rule(context, heap, &uses[..count], id).is_some() {
                break;
            }
            let of_pass = in_pass
                .iter()
                .map(|&index| model::savings(frame, &frame.accesses()[index as usize], tile.size));
            savings += of_pass.sum();
            // The whole lifetime, and nothing needs it afterwards.
            if count == uses.len() && !kept {
                break;
            }
            let (first, after) = (pass(&uses[0]), pass(&in_pass[0]));
            if savings <= tile.size || !frame.can_store_after(id, after) {
                continue;
            }
            stretches.push(Candidate {
                resource: id,
                span: Span::new(first.0, after.0 + 1),
                size: tile.size,
                alignment: tile.alignment,
                savings: savings - tile.size,
                window: timeline.window_of(first),
                stored_after: Some(after),
            });
        }
    }
    stretches
}

/// Orders in which candidates are offered to the heap.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// Highest savings per byte and step first.
    Density,
    /// Highest savings per byte first.
    PerByte,
    /// Highest savings first.
    Savings,
    /// Smallest first.
    Smallest,
    /// Shortest lifetime first.
    Shortest,
}

impl Order {
    pub(super) const ALL: [Order; 5] = [
        Order::Density,
        Order::PerByte,
        Order::Savings,
        Order::Smallest,
        Order::Shortest,
    ];

    pub(super) fn compare(self, a: &Candidate, b: &Candidate) -> Ordering {
        // Ratios are compared by cross multiplication, to avoid rounding.
        let area = |c: &Candidate| u128::from(c.size.0) * u128::from(c.span.len());
        let savings = |c: &Candidate| u128::from(c.savings.0);
        match self {
            Order::Density => (savings(b) * area(a)).cmp(&(savings(a) * area(b))),
            Order::PerByte => (savings(b) * u128::from(a.size.0)).cmp(&(savings(a) * u128::from(b.size.0))),
            Order::Savings => b.savings.cmp(&a.savings),
            Order::Smallest => a.size.cmp(&b.size),
            Order::Shortest => a.span.len().cmp(&b.span.len()),
        }
        .then(a.resource.cmp(&b.resource))
    }
}

/// Sorts candidates by window, and in the given order within each.
pub(super) fn sort_by_window(candidates: &mut [Candidate], order: Order) {
    candidates.compact_sort_by(|a, b| a.window.cmp(&b.window).then_with(|| order.compare(a, b)));
}
