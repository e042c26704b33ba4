//! The checker: slow, and independent of the strategies' code.

use super::{Error, Item, Packing, Problem, Result};
use crate::units::Bytes;

/// Checks a packing by comparing every pair of items: O(n²).
///
/// A group takes its largest size, at one offset, while any of its members is live. The capacity is not checked: see [`Packing::fits`].
///
/// # Errors
/// The first violation, with the items by index.
pub fn check(problem: &Problem, packing: &Packing) -> Result<()> {
    let items = problem.items();
    let offsets = &packing.offsets;
    if offsets.len() != items.len() {
        return Err(Error::OffsetCount(offsets.len(), items.len()));
    }
    let sizes = sizes(items);
    let mut highest = Bytes::ZERO;
    for (index, item) in items.iter().enumerate() {
        check_item(index, item, offsets[index])?;
        let (size, offset) = (sizes[index], offsets[index]);
        let end = offset.0.checked_add(size.0);
        highest = highest.max(Bytes(end.ok_or(Error::EndOverflow(
            index as u32,
            size,
            offset,
        ))?));
    }
    let shared = |a: usize, b: usize| {
        let start = offsets[a].max(offsets[b]);
        let end = (offsets[a] + sizes[a]).min(offsets[b] + sizes[b]);
        (start < end).then_some((start, end))
    };
    for b in 0..items.len() {
        for a in 0..b {
            if items[a].together.is_some() && items[a].together == items[b].together {
                if offsets[a] != offsets[b] {
                    return Err(Error::GroupSplit(a as u32, b as u32, offsets[a], offsets[b]));
                }
            } else if items[a].span.overlaps(items[b].span) {
                if let Some((offset, end)) = shared(a, b) {
                    return Err(Error::Overlap {
                        a: a as u32,
                        b: b as u32,
                        a_span: items[a].span,
                        b_span: items[b].span,
                        offset,
                        end,
                    });
                }
            }
        }
    }
    for &(a, b) in problem.conflicts() {
        if let Some((offset, end)) = shared(a as usize, b as usize) {
            return Err(Error::ConflictOverlap(a, b, offset, end));
        }
    }
    if packing.height != highest {
        return Err(Error::WrongHeight(packing.height, highest));
    }
    Ok(())
}

/// Returns the bytes that each item takes: its own size, or the largest of its group.
pub(super) fn sizes(items: &[Item]) -> Vec<Bytes> {
    let size = |item: &Item| {
        let is_member = |other: &&Item| item.together.is_some() && other.together == item.together;
        let members = items.iter().filter(is_member).map(|member| member.size);
        members.max().unwrap_or(item.size)
    };
    items.iter().map(size).collect()
}

fn check_item(index: usize, item: &Item, offset: Bytes) -> Result<()> {
    if let Some(fixed) = item.fixed.filter(|&fixed| fixed != offset) {
        return Err(Error::MovedFixed(index as u32, fixed, offset));
    }
    if offset < item.lowest || item.highest.is_some_and(|highest| offset > highest) {
        return Err(Error::OutOfBounds {
            item: index as u32,
            offset,
            lowest: item.lowest,
            highest: item.highest.unwrap_or(Bytes(u64::MAX)),
        });
    }
    if offset.0 % item.alignment.get() != 0 {
        return Err(Error::Misaligned(index as u32, offset, item.alignment));
    }
    Ok(())
}
