//! First fit and best fit: chooses an item's offset between blocks that conflict with it.

use crate::units::Alignment;

/// The rule that selects the gap in which an item is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FitPolicy {
    /// The lowest gap.
    First,
    /// The smallest gap.
    Best,
}

/// Marks an item without an offset yet: no item that takes bytes can be there.
pub(super) const UNPLACED: u64 = u64::MAX;

/// The message of `expect` calls on offsets without a capacity.
pub(super) const ROOM: &str = "a problem whose sizes and alignments sum below 2^64 has room for everything";

/// Returns the offset that the policy chooses between `blocks`, given in ascending order of offset as `[offset, end)`.
///
/// # Panics
/// If the offset exceeds 64 bits, which the validation of problems excludes.
pub(super) fn choose(
    fit: FitPolicy,
    blocks: impl Iterator<Item = (u64, u64)>,
    size: u64,
    alignment: Alignment,
) -> u64 {
    let offset = match fit {
        FitPolicy::First => lowest(blocks, size, alignment),
        FitPolicy::Best => tightest(blocks, size, alignment),
    };
    offset.expect(ROOM)
}

/// Returns `value` rounded up to `alignment`, or `None` if that exceeds 64 bits.
pub(super) fn align_up(value: u64, alignment: Alignment) -> Option<u64> {
    let alignment = alignment.get();
    // Nearly every alignment is a power of two, and a mask is ten times as fast as a division.
    let rest = if alignment.is_power_of_two() {
        value & (alignment - 1)
    } else {
        value % alignment
    };
    if rest == 0 {
        Some(value)
    } else {
        value.checked_add(alignment - rest)
    }
}

/// Returns the next multiple of `grain` above `above`, which is the next possible height.
pub(super) fn next_multiple(above: u64, grain: u64) -> u64 {
    let next = (above / grain.max(1)).checked_add(1);
    next.and_then(|next| next.checked_mul(grain.max(1)))
        .unwrap_or(u64::MAX)
}

/// Returns the lowest offset at which `size` bytes do not overlap `blocks`, given in ascending order of offset as `[offset, end)`.
pub(super) fn lowest(
    blocks: impl Iterator<Item = (u64, u64)>,
    size: u64,
    alignment: Alignment,
) -> Option<u64> {
    let mut cursor = 0;
    for (offset, end) in blocks {
        if fits(cursor, offset, size) {
            if let Some(aligned) = align_up(cursor, alignment) {
                if fits(aligned, offset, size) {
                    return Some(aligned);
                }
            }
        }
        cursor = cursor.max(end);
    }
    align_up(cursor, alignment)
}

/// Returns the offset of the smallest gap between `blocks` that holds `size` bytes (the lowest one on a tie), or an offset above all blocks if no gap is
/// large enough.
pub(super) fn tightest(
    blocks: impl Iterator<Item = (u64, u64)>,
    size: u64,
    alignment: Alignment,
) -> Option<u64> {
    let mut cursor = 0;
    let mut best: Option<(u64, u64)> = None;
    for (offset, end) in blocks {
        if fits(cursor, offset, size) {
            let gap = offset - cursor;
            if best.is_none_or(|(least, _)| gap < least) {
                if let Some(aligned) = align_up(cursor, alignment) {
                    if fits(aligned, offset, size) {
                        best = Some((gap, aligned));
                    }
                }
            }
        }
        cursor = cursor.max(end);
    }
    match best {
        Some((_, offset)) => Some(offset),
        None => align_up(cursor, alignment),
    }
}

/// Returns true if `size` bytes fit in `[from, to)`; false if `from > to`.
fn fits(from: u64, to: u64, size: u64) -> bool {
    from <= to && to - from >= size
}
