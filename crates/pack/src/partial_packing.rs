//! Incremental placement of items, in any order.

use std::ops::Range;

use super::gap;
use crate::units::{Alignment, Bytes, Span};

/// The items placed so far, for planners that decide for each item whether to place it.
///
/// ```text
/// offset
///   8 ┤         ┌── b ──┐            lowest_fit([0, 2), 3) is 5: above a
///   5 ┤┌─ a ─┐  └───────┘            lowest_fit([4, 9), 3) is 0: a has ended
///   0 ┼┴─────┴──────────────► steps  lowest_fit([2, 5), 4) is 8: the gap between a and b is 0 bytes
/// ```
///
/// ```
/// use tileheap_pack::PartialPacking;
/// use tileheap_pack::units::{Alignment, Bytes, Span};
///
/// let mut shelf = PartialPacking::with_capacity(Some(Bytes(8)));
/// shelf.place(0, Span::new(0, 2), Bytes(0), Bytes(5));
/// let beside = shelf.lowest_fit(Span::new(0, 2), Bytes(3), Alignment::ONE);
/// assert_eq!(beside, Some(Bytes(5)));
/// assert_eq!(shelf.lowest_fit(Span::new(1, 4), Bytes(4), Alignment::ONE), None); // past the capacity
/// ```
#[derive(Clone, Debug, Default)]
pub struct PartialPacking {
    capacity: Option<u64>,
    /// The placed items in ascending order of offset; ties in order of placement.
    placed: Vec<Placed>,
}

#[derive(Clone, Copy, Debug)]
struct Placed {
    id: u32,
    span: Span,
    offset: u64,
    end: u64,
}

impl PartialPacking {
    /// Creates an empty packing with this capacity, unlimited if it is `None`.
    pub fn with_capacity(capacity: Option<Bytes>) -> PartialPacking {
        PartialPacking {
            capacity: capacity.map(|bytes| bytes.0),
            placed: Vec::new(),
        }
    }

    /// Returns the capacity.
    pub fn capacity(&self) -> Option<Bytes> {
        self.capacity.map(Bytes)
    }

    /// Returns the lowest offset that is free during `span`; `None` if nothing fits below the capacity.
    pub fn lowest_fit(&self, span: Span, size: Bytes, alignment: Alignment) -> Option<Bytes> {
        let offset = gap::lowest(self.blocks(span), size.0, alignment)?;
        self.below_capacity(offset, size)
    }

    /// Returns the offset of the smallest gap that is free during `span`, between placed items or below the lowest; above all of them if no gap is
    /// large enough; `None` if that exceeds the capacity.
    pub fn best_fit(&self, span: Span, size: Bytes, alignment: Alignment) -> Option<Bytes> {
        let offset = gap::tightest(self.blocks(span), size.0, alignment)?;
        self.below_capacity(offset, size)
    }

    /// Places `id` at `offset` during `span`; does nothing if it takes no bytes or the span is empty. Overlaps are not checked.
    pub fn place(&mut self, id: u32, span: Span, offset: Bytes, size: Bytes) {
        if span.is_empty() || size == Bytes::ZERO {
            return;
        }
        let one = Placed {
            id,
            span,
            offset: offset.0,
            end: offset.0 + size.0,
        };
        let position = self.placed.partition_point(|other| other.offset <= one.offset);
        self.placed.insert(position, one);
    }

    /// Iterates over the ids of placed items that take bytes of `range` during `span`, in ascending order of offset.
    pub fn overlapping(&self, span: Span, range: Range<Bytes>) -> impl Iterator<Item = u32> {
        let below = self.placed.iter().take_while(move |one| one.offset < range.end.0);
        let inside = below.filter(move |one| one.end > range.start.0 && one.span.overlaps(span));
        inside.map(|one| one.id)
    }

    /// Returns the end of the highest item.
    pub fn height(&self) -> Bytes {
        Bytes(self.placed.iter().map(|one| one.end).max().unwrap_or(0))
    }

    /// Removes every item; keeps the allocated memory.
    pub fn clear(&mut self) {
        self.placed.clear();
    }

    /// Iterates over the placed blocks whose lifetimes overlap `span`, in ascending order of offset, as `[offset, end)`.
    pub(super) fn blocks(&self, span: Span) -> impl Iterator<Item = (u64, u64)> {
        // No block's span is empty, and an empty query overlaps nothing, so two comparisons suffice.
        let Span { first, end } = if span.is_empty() {
            Span::new(u32::MAX, 0)
        } else {
            span
        };
        let placed = self.placed.iter();
        let alive = placed.filter(move |one| one.span.first < end && first < one.span.end);
        alive.map(|one| (one.offset, one.end))
    }

    fn below_capacity(&self, offset: u64, size: Bytes) -> Option<Bytes> {
        let end = offset.checked_add(size.0)?;
        let fits = self.capacity.is_none_or(|capacity| end <= capacity);
        fits.then_some(Bytes(offset))
    }
}
