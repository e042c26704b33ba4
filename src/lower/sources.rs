//! Sources of a first use of bytes: their previous holders, in this frame or in earlier work.
//!
//! ```text
//! bytes  ┌ A ┐ ┌ B ────┐          B takes bytes of A and C: both must have finished
//!        └───┘ │       │          A takes bytes that earlier work used
//!        ┌ C ──┤       │
//! steps  0   1   2   3
//! ```

use bumpalo::Bump;
use bumpalo::collections::Vec;
use tileheap_units::CompactSort;

use super::state::ByteUse;
use crate::units::Bytes;

/// A holder of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// A placement of the frame.
    Placement(u32),
    /// An entry of [`MemoryState::bytes`](super::MemoryState::bytes).
    Earlier(u32),
}

/// A range of bytes and its last user. Several ranges may have the same bytes if several queues used them in earlier work.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldBytes {
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) holder: Holder,
}

/// The holders of the bytes of one address space, from the state that earlier work left to the one that the frame leaves.
///
/// Ranges are sorted by first byte, and any two are either disjoint or equal: taking bytes is thus a search, and a move of the ranges after it.
#[derive(Debug)]
pub(super) struct Holders<'a> {
    held: Vec<'a, HeldBytes>,
    fresh: Vec<'a, HeldBytes>,
}

impl<'a> Holders<'a> {
    /// A list without bytes or holders.
    pub(super) fn new(scratch: &'a Bump) -> Holders<'a> {
        Holders {
            held: Vec::new_in(scratch),
            fresh: Vec::new_in(scratch),
        }
    }

    /// Starts from the state that earlier work left in one address space: entries of `bytes`, in the order of their first bytes.
    pub(super) fn begin(&mut self, bytes: &[ByteUse], here: impl Iterator<Item = u32>) {
        self.held.clear();
        self.held.extend(here.map(|index| HeldBytes {
            first: bytes[index as usize].first.0,
            end: bytes[index as usize].end.0,
            holder: Holder::Earlier(index),
        }));
        let alike = |pair: &[HeldBytes]| {
            pair[0].end <= pair[1].first || (pair[0].first, pair[0].end) == (pair[1].first, pair[1].end)
        };
        if !self.held.windows(2).all(alike) {
            self.cut();
        }
    }

    /// Splits ranges at both ends of all other ranges.
    fn cut(&mut self) {
        let ends = self.held.iter().flat_map(|held| [held.first, held.end]);
        let mut ends = Vec::from_iter_in(ends, self.held.bump());
        ends.compact_sort();
        ends.dedup();
        for held in &self.held {
            let inside = ends.partition_point(|&end| end <= held.first)..;
            let mut first = held.first;
            for &end in ends[inside].iter().take_while(|&&end| end <= held.end) {
                self.fresh.push(HeldBytes { first, end, ..*held });
                first = end;
            }
        }
        self.held.clear();
        self.held.append(&mut self.fresh);
        self.held.compact_sort_by_key(|held| held.first);
    }

    /// Assigns bytes `[first, first + size)` to a placement, and reports everything that held some of them.
    pub(super) fn take(&mut self, placement: u32, first: Bytes, size: Bytes, mut report: impl FnMut(Holder)) {
        let (first, end) = (first.0, first.0.saturating_add(size.0));
        let holder = Holder::Placement(placement);
        let own = HeldBytes { first, end, holder };
        let from = self.held.partition_point(|held| held.end <= first);
        let count = self.held[from..]
            .iter()
            .take_while(|held| held.first < end)
            .count();
        if count == 0 {
            self.held.insert(from, own);
            return;
        }
        let taken = &self.held[from..from + count];
        taken.iter().for_each(|held| report(held.holder));
        if count == 1 && (taken[0].first, taken[0].end) == (first, end) {
            self.held[from] = own;
            return;
        }
        let below = taken.iter().filter(|held| held.first < first);
        self.fresh
            .extend(below.map(|held| HeldBytes { end: first, ..*held }));
        self.fresh.push(own);
        let above = taken.iter().filter(|held| held.end > end);
        self.fresh
            .extend(above.map(|held| HeldBytes { first: end, ..*held }));
        // At most two more than before: one below, and one above.
        let (replaced, more) = self.fresh.split_at(count.min(self.fresh.len()));
        self.held[from..from + replaced.len()].copy_from_slice(replaced);
        self.held.drain(from + replaced.len()..from + count);
        for (at, held) in (from + replaced.len()..).zip(more) {
            self.held.insert(at, *held);
        }
        self.fresh.clear();
    }

    /// The current holders of the bytes.
    pub(super) fn held(&self) -> &[HeldBytes] {
        &self.held
    }
}
