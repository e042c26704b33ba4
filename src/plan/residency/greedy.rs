//! Greedy placement: candidates are placed in the heap one after the other.

use super::TileResident;
use super::bind::runs;
use super::candidate::{Candidate, Order, PINNED, sort_by_window};
use super::first_come::place_without_aliasing;
use crate::profile::TileHeap;
use crate::units::Bytes;
use tileheap_pack::PartialPacking;
use tileheap_units::CompactSort;

/// Places candidates in a single order, by savings per byte and step: the fast mode. In windows in which `vendor`'s residents save more, takes those instead.
pub(super) fn place_in_one_order(
    heap: &TileHeap,
    candidates: &mut [Candidate],
    vendor: &Vendor,
) -> Vec<TileResident> {
    let mut residents = Vec::with_capacity(candidates.len());
    let mut shelf = PartialPacking::with_capacity(Some(heap.size));
    sort_by_window(candidates, Order::Density);
    for window in windows(candidates) {
        let first = residents.len();
        let savings = place(&mut shelf, window, &mut residents);
        if residents.len() - first < window.len() {
            let theirs = vendor.of_window(window[0].window);
            if savings_of(theirs) > savings {
                residents.truncate(first);
                residents.extend(theirs.iter().map(|(one, offset)| TileResident::new(one, *offset)));
            }
        }
    }
    residents
}

/// Places pinned resources first, then resources with an old offset, in ascending order of offset, then all others by density, so that unchanged resources
/// keep their offsets.
pub(super) fn place_at_old_offsets(
    heap: &TileHeap,
    candidates: &mut [Candidate],
    offsets: &[Option<Bytes>],
) -> Vec<TileResident> {
    let mut residents = Vec::with_capacity(candidates.len());
    let mut shelf = PartialPacking::with_capacity(Some(heap.size));
    let offset = |candidate: &Candidate| offsets[candidate.resource.index()];
    candidates.compact_sort_by(|a, b| {
        let apart = a
            .window
            .cmp(&b.window)
            .then((b.savings >= PINNED).cmp(&(a.savings >= PINNED)))
            .then(offset(a).is_none().cmp(&offset(b).is_none()));
        apart
            .then(offset(a).cmp(&offset(b)))
            .then_with(|| Order::Density.compare(a, b))
    });
    for window in windows(candidates) {
        place(&mut shelf, window, &mut residents);
    }
    residents
}

/// Residents of the vendor's policy, window by window.
pub(super) struct Vendor(Vec<(Candidate, Bytes)>);

impl Vendor {
    pub(super) fn new(heap: &TileHeap, candidates: &[Candidate]) -> Vendor {
        let mut placed = place_without_aliasing(heap, candidates);
        placed.compact_sort_by_key(|(candidate, _)| candidate.window);
        Vendor(placed)
    }

    fn of_window(&self, window: u32) -> &[(Candidate, Bytes)] {
        let first = self.0.partition_point(|(one, _)| one.window < window);
        let end = self.0.partition_point(|(one, _)| one.window <= window);
        &self.0[first..end]
    }
}

fn savings_of(placed: &[(Candidate, Bytes)]) -> Bytes {
    placed.iter().map(|(candidate, _)| candidate.savings).sum()
}

/// Splits candidates into runs of the same window.
pub(super) fn windows(candidates: &[Candidate]) -> impl Iterator<Item = &[Candidate]> {
    candidates.chunk_by(|a, b| a.window == b.window)
}

/// Places the candidates of one window in order; returns the savings of those that fit.
fn place(shelf: &mut PartialPacking, window: &[Candidate], residents: &mut Vec<TileResident>) -> Bytes {
    shelf.clear();
    let mut savings = Bytes::ZERO;
    for candidate in window {
        if let Some(offset) = shelf.lowest_fit(candidate.span, candidate.size, candidate.alignment) {
            shelf.place(candidate.resource.0, candidate.span, offset, candidate.size);
            savings += candidate.savings;
            residents.push(TileResident::new(candidate, offset));
        }
    }
    savings
}

/// In every window, tries the orders until all candidates fit, and `vendor`'s residents; keeps the residents that save the most, and places them again to
/// reserve fewer bytes.
pub(super) fn best_of_orders(
    heap: &TileHeap,
    candidates: &mut [Candidate],
    vendor: &Vendor,
) -> Vec<TileResident> {
    let mut residents = Vec::with_capacity(candidates.len());
    let mut shelf = PartialPacking::with_capacity(Some(heap.size));
    let mut trial = Vec::new();
    candidates.compact_sort_by_key(|candidate| candidate.window);
    for window in candidates.chunk_by_mut(|a, b| a.window == b.window) {
        let all: Bytes = window.iter().map(|candidate| candidate.savings).sum();
        let mut best: Option<(Bytes, Vec<TileResident>)> = None;
        for order in Order::ALL {
            window.compact_sort_by(|a, b| order.compare(a, b));
            trial.clear();
            let savings = place(&mut shelf, window, &mut trial);
            if best.as_ref().is_none_or(|(most, _)| savings > *most) {
                best = Some((savings, trial.clone()));
            }
            if savings == all {
                break;
            }
        }
        let theirs = vendor.of_window(window[0].window);
        let savings = savings_of(theirs);
        if best.as_ref().is_none_or(|(most, _)| savings > *most) {
            let theirs = theirs.iter().map(|(one, offset)| TileResident::new(one, *offset));
            best = Some((savings, theirs.collect()));
        }
        if let Some((_, mut kept)) = best {
            place_again(&mut shelf, window, &mut kept);
            residents.append(&mut kept);
        }
    }
    residents
}

/// Places the kept residents again, longest lifetime first, so that the bound range shrinks as early as possible; keeps the old offsets if the new
/// ones do not fit or reserve more.
fn place_again(shelf: &mut PartialPacking, window: &mut [Candidate], kept: &mut Vec<TileResident>) {
    kept.compact_sort_by_key(|resident| resident.resource);
    let mut chosen: Vec<Candidate> = window
        .iter()
        .filter(|candidate| {
            kept.binary_search_by_key(&candidate.resource, |resident| resident.resource)
                .is_ok()
        })
        .copied()
        .collect();
    chosen.compact_sort_by(|a, b| {
        let by_life = b.span.len().cmp(&a.span.len());
        by_life
            .then(b.savings.cmp(&a.savings))
            .then(a.resource.cmp(&b.resource))
    });
    let mut again = Vec::with_capacity(kept.len());
    place(shelf, &chosen, &mut again);
    if again.len() == kept.len() && reserved(&again) <= reserved(kept) {
        *kept = again;
    }
}

/// The bytes reserved if one object serves each connected run of lifetimes, summed over the steps.
fn reserved(residents: &[TileResident]) -> u128 {
    let mut order = residents.to_vec();
    order.compact_sort_by_key(|resident| (resident.span.first, resident.resource));
    runs(&order)
        .map(|(span, top, _)| u128::from(top.0) * u128::from(span.len()))
        .sum()
}
