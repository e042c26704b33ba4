//! Properties of items that several strategies need.

use tileheap_pack::Item;
use tileheap_pack::units::{Alignment, Bytes};

/// Returns true if no item is in a group, and all items may have any offset.
pub(super) fn are_plain(items: &[Item]) -> bool {
    items.iter().all(|item| {
        item.fixed.is_none() && item.lowest.0 == 0 && item.highest.is_none() && item.together.is_none()
    })
}

/// Returns true if an item takes bytes at some step.
pub(super) fn takes_bytes(item: &Item) -> bool {
    item.size.0 > 0 && !item.span.is_empty()
}

/// Returns, for each item, the number of other items whose lifetimes overlap its own. An item that takes no bytes overlaps nothing.
pub(super) fn overlap_counts(items: &[Item]) -> Vec<u32> {
    let live = || items.iter().filter(|item| takes_bytes(item));
    let mut firsts: Vec<u32> = live().map(|item| item.span.first.0).collect();
    let mut ends: Vec<u32> = live().map(|item| item.span.end.0).collect();
    firsts.sort_unstable();
    ends.sort_unstable();
    let count = |item: &Item| {
        if !takes_bytes(item) {
            return 0;
        }
        let begun = firsts.partition_point(|&first| first < item.span.end.0);
        let ended = ends.partition_point(|&end| end <= item.span.first.0);
        (begun - ended) as u32 - 1
    };
    items.iter().map(count).collect()
}

/// `value` rounded up to `alignment`; problems are validated, so the result fits in 64 bits.
pub(super) fn align_up(value: u64, alignment: Alignment) -> u64 {
    value.next_multiple_of(alignment.get())
}

/// The height of a packing: the highest end offset of an item.
pub(super) fn height(items: &[Item], offsets: &[u64]) -> Bytes {
    let places = items.iter().zip(offsets);
    let ends = places.map(|(item, &offset)| Bytes(offset) + item.size);
    ends.max().unwrap_or(Bytes::ZERO)
}

/// Returns true if the lifetime of item `a` ends before that of item `b` begins.
pub(super) fn before(items: &[Item], a: u32, b: u32) -> bool {
    items[a as usize].span.end <= items[b as usize].span.first
}

/// Returns true if the lifetime of one item ends before that of the other begins.
pub(super) fn ordered(items: &[Item], a: u32, b: u32) -> bool {
    before(items, a, b) || before(items, b, a)
}
