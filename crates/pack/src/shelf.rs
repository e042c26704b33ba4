//! Placing one thing after another, in any order of births.

use std::ops::Range;

use super::gap;
use crate::units::{Alignment, Bytes, Span};

/// Bytes and lives that are taken so far, for planners that decide item by item whether something is placed at all.
///
/// ```text
/// offset
///   8 ┤         ┌── b ──┐            lowest_fit([0, 2), 3) is 5: above a
///   5 ┤┌─ a ─┐  └───────┘            lowest_fit([4, 9), 3) is 0: a is dead
///   0 ┼┴─────┴──────────────► steps  lowest_fit([2, 5), 4) is 8: between a and b are only 0 bytes
/// ```
///
/// ```
/// use tileheap_pack::Shelf;
/// use tileheap_pack::units::{Alignment, Bytes, Span};
///
/// let mut shelf = Shelf::with_capacity(Some(Bytes(8)));
/// shelf.place(0, Span::new(0, 2), Bytes(0), Bytes(5));
/// let beside = shelf.lowest_fit(Span::new(0, 2), Bytes(3), Alignment::ONE);
/// assert_eq!(beside, Some(Bytes(5)));
/// assert_eq!(shelf.lowest_fit(Span::new(1, 4), Bytes(4), Alignment::ONE), None); // past the capacity
/// ```
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    capacity: Option<u64>,
    /// By ascending offset; equals in the order of placing.
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    id: u32,
    span: Span,
    offset: u64,
    end: u64,
}

impl Shelf {
    /// An empty shelf of so many bytes; without limit for `None`.
    pub fn with_capacity(capacity: Option<Bytes>) -> Shelf {
        Shelf {
            capacity: capacity.map(|bytes| bytes.0),
            slots: Vec::new(),
        }
    }

    /// The bytes that are there.
    pub fn capacity(&self) -> Option<Bytes> {
        self.capacity.map(Bytes)
    }

    /// The lowest offset that is free during `span`; `None` if nothing fits below the capacity.
    pub fn lowest_fit(&self, span: Span, size: Bytes, alignment: Alignment) -> Option<Bytes> {
        let offset = gap::lowest(self.blocks(span), size.0, alignment)?;
        self.below_capacity(offset, size)
    }

    /// The offset of the smallest gap that is free during `span`, between things that are placed or below the lowest;
    /// above all of them if no gap takes it; `None` if that is past the capacity.
    pub fn best_fit(&self, span: Span, size: Bytes, alignment: Alignment) -> Option<Bytes> {
        let offset = gap::tightest(self.blocks(span), size.0, alignment)?;
        self.below_capacity(offset, size)
    }

    /// Takes `size` bytes at `offset` during `span` for `id`. Nothing is asked: what a caller knows to be right may overlap.
    pub fn place(&mut self, id: u32, span: Span, offset: Bytes, size: Bytes) {
        if span.is_empty() || size == Bytes::ZERO {
            return;
        }
        let slot = Slot {
            id,
            span,
            offset: offset.0,
            end: offset.0 + size.0,
        };
        let position = self.slots.partition_point(|other| other.offset <= slot.offset);
        self.slots.insert(position, slot);
    }

    /// Who takes bytes of `range` during `span`, by ascending offset.
    pub fn overlapping(&self, span: Span, range: Range<Bytes>) -> impl Iterator<Item = u32> {
        self.slots
            .iter()
            .take_while(move |slot| slot.offset < range.end.0)
            .filter(move |slot| slot.end > range.start.0 && slot.span.overlaps(span))
            .map(|slot| slot.id)
    }

    /// The end of the highest thing that is placed.
    pub fn height(&self) -> Bytes {
        Bytes(self.slots.iter().map(|slot| slot.end).max().unwrap_or(0))
    }

    /// Takes everything off; memory is kept.
    pub fn clear(&mut self) {
        self.slots.clear();
    }

    /// What is taken during `span`, by ascending offset as `[offset, end)`.
    pub(super) fn blocks(&self, span: Span) -> impl Iterator<Item = (u64, u64)> {
        // No slot's span is empty, and nothing overlaps an empty one: two comparisons do.
        let Span { first, end } = if span.is_empty() {
            Span::new(u32::MAX, 0)
        } else {
            span
        };
        let alive = self
            .slots
            .iter()
            .filter(move |slot| slot.span.first < end && first < slot.span.end);
        alive.map(|slot| (slot.offset, slot.end))
    }

    fn below_capacity(&self, offset: u64, size: Bytes) -> Option<Bytes> {
        let end = offset.checked_add(size.0)?;
        let fits = self.capacity.is_none_or(|capacity| end <= capacity);
        fits.then_some(Bytes(offset))
    }
}
