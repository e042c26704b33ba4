//! The checker: slow, and it shares no code with the strategies.

use super::{Error, Item, Packing, Problem, Result};
use crate::units::{Alignment, Bytes};

/// Checks a packing, every pair of items: O(n²).
///
/// A group takes its largest size, at one offset, while any of its members is live. The capacity is not checked: see
/// [`Packing::fits`].
///
/// # Errors
/// The first violation, with the items by index.
pub fn check(problem: &Problem, packing: &Packing) -> Result<()> {
    let items = problem.items();
    let offsets = &packing.offsets;
    if offsets.len() != items.len() {
        return Err(Error::OffsetCount {
            expected: items.len(),
            found: offsets.len(),
        });
    }
    let sizes = sizes(items);
    let mut highest = Bytes::ZERO;
    for (index, item) in items.iter().enumerate() {
        check_item(index, item, offsets[index])?;
        let end = offsets[index].0.checked_add(sizes[index].0);
        highest = highest.max(Bytes(end.ok_or(Error::EndOverflow {
            item: index as u32,
            size: sizes[index],
            offset: offsets[index],
        })?));
    }
    let shared = |a: usize, b: usize| {
        let start = offsets[a].max(offsets[b]);
        let end = (offsets[a] + sizes[a]).min(offsets[b] + sizes[b]);
        (start < end).then_some((start, end))
    };
    for b in 0..items.len() {
        for a in 0..b {
            if items[a].together.is_some() && items[a].together == items[b].together {
                check_group(a, b, items, offsets)?;
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
            return Err(Error::ConflictOverlap { a, b, offset, end });
        }
    }
    if packing.height != highest {
        return Err(Error::WrongHeight {
            claimed: packing.height,
            end: highest,
        });
    }
    Ok(())
}

/// The bytes that each item takes: its own size, or the largest of its group.
pub(super) fn sizes(items: &[Item]) -> Vec<Bytes> {
    let of_group = |item: &Item| {
        let members = items.iter().filter(|other| other.together == item.together);
        members.map(|member| member.size).max().unwrap_or(item.size)
    };
    let size = |item: &Item| {
        if item.together.is_some() {
            of_group(item)
        } else {
            item.size
        }
    };
    items.iter().map(size).collect()
}

fn check_item(index: usize, item: &Item, offset: Bytes) -> Result<()> {
    if let Some(expected) = item.fixed {
        if expected != offset {
            return Err(Error::MovedFixed {
                item: index as u32,
                expected,
                found: offset,
            });
        }
    }
    if offset < item.lowest || item.highest.is_some_and(|highest| offset > highest) {
        return Err(Error::OutOfBounds {
            item: index as u32,
            offset,
            lowest: item.lowest,
            highest: item.highest.unwrap_or(Bytes(u64::MAX)),
        });
    }
    if !is_multiple(offset, item.alignment) {
        return Err(Error::Misaligned {
            item: index as u32,
            offset,
            alignment: item.alignment,
        });
    }
    Ok(())
}

fn check_group(a: usize, b: usize, items: &[Item], offsets: &[Bytes]) -> Result<()> {
    debug_assert_eq!(items[a].together, items[b].together);
    if offsets[a] == offsets[b] {
        return Ok(());
    }
    Err(Error::GroupSplit {
        a: a as u32,
        b: b as u32,
        a_offset: offsets[a],
        b_offset: offsets[b],
    })
}

fn is_multiple(offset: Bytes, alignment: Alignment) -> bool {
    offset.0 % alignment.get() == 0
}
