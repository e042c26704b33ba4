//! A map of the tile heap over the passes.
//!
//! ```text
//!                0  1  2  3  4
//!    7,962,624 |          c  c
//!    3,981,312 | b  b  .  c  c         letters: what is placed there; dot: bound and empty; blank: not bound
//!            0 | a  a  a  a  .
//! ```

use std::fmt;

use tileheap_units::CompactSort;

use super::super::words::printable;
use super::super::{MemoryKind, Placement, Plan};
use super::table::{WIDTH, write_wrapped};
use crate::units::{Bytes, Step};

/// Maximum number of slices of the heap.
const MAX_ROWS: u64 = 16;
/// Maximum number of passes per panel with three columns per pass.
const MAX_WIDE_PASSES: usize = 32;
/// Marks for the first residents in order of offset and first pass; all others share [`MORE`].
const MARKS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/// The mark of all other residents.
const MORE: char = '*';

/// Writes the map, in panels if there are many passes; writes nothing if nothing is placed in tile memory.
pub(super) fn write(plan: &Plan, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut residents: Vec<&Placement> = plan
        .placements
        .iter()
        .filter(|placement| placement.memory == MemoryKind::Tile)
        .collect();
    // A resident with an image in several memory objects has the same bytes and lifetime in each.
    residents.compact_sort_by_key(|placement| (placement.offset, placement.span.first, placement.resource));
    residents.dedup_by_key(|placement| placement.resource);
    let Some(top) = residents
        .iter()
        .map(|placement| placement.offset.0.saturating_add(placement.size.0))
        .max()
    else {
        return Ok(());
    };
    let passes = plan.passes.len();
    let slice = slice_bytes(plan, top);
    let label = Bytes(top).to_string().len();
    let wide = passes <= MAX_WIDE_PASSES;
    let panel = if wide { MAX_WIDE_PASSES } else { WIDTH - label - 5 };
    writeln!(f, "\nTile heap over the passes, in slices of {}", Bytes(slice))?;
    for first in (0..passes).step_by(panel) {
        let steps = first..passes.min(first + panel);
        write_header(f, steps.clone(), label, wide)?;
        for row in (0..top.div_ceil(slice)).rev() {
            let mut line = format!("  {:>label$} |", Bytes(row * slice).to_string());
            for step in steps.clone() {
                let mark = mark(plan, &residents, step, row * slice, slice);
                line += &if wide {
                    format!(" {mark} ")
                } else {
                    mark.to_string()
                };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
    }
    let legend = residents.iter().enumerate().map(|(index, placement)| {
        format!(
            "{}={}",
            mark_of(index),
            printable(&plan.frame.resource(placement.resource).name)
        )
    });
    write_wrapped(f, "  ", "  ", &legend.collect::<Vec<_>>().join(", "))
}

/// Bytes per row: a multiple of the tile block size that results in at most [`MAX_ROWS`] rows.
fn slice_bytes(plan: &Plan, top: u64) -> u64 {
    let block = plan.profile.tile.map_or(1, |tile| tile.block.bytes.get());
    top.div_ceil(MAX_ROWS)
        .checked_next_multiple_of(block)
        .unwrap_or(top)
        .max(1)
}

fn write_header(
    f: &mut fmt::Formatter<'_>,
    steps: std::ops::Range<usize>,
    label: usize,
    wide: bool,
) -> fmt::Result {
    let blank = " ".repeat(label + 4);
    if wide {
        let numbers: String = steps.map(|step| format!("{step:^3}")).collect();
        return writeln!(f, "{}", (blank + &numbers).trim_end());
    }
    // One column per pass: pass numbers are written vertically.
    let digits = steps.end.saturating_sub(1).max(1).ilog10();
    for power in (0..=digits).rev() {
        let unit = 10usize.pow(power);
        let row: String = steps
            .clone()
            .map(|step| char::from(b'0' + (step / unit % 10) as u8))
            .collect();
        writeln!(f, "{blank}{row}")?;
    }
    Ok(())
}

/// The mark of the resident that occupies the most bytes of `[from, from + slice)` in a pass; without a resident there, a dot if the pass binds tile memory
/// beyond `from`, otherwise a space.
fn mark(plan: &Plan, residents: &[&Placement], step: usize, from: u64, slice: u64) -> char {
    let inside = |placement: &Placement| {
        let end = placement
            .offset
            .0
            .saturating_add(placement.size.0)
            .min(from.saturating_add(slice));
        end.saturating_sub(placement.offset.0.max(from))
    };
    let alive = residents
        .iter()
        .enumerate()
        .filter(|(_, placement)| placement.span.contains(Step(step as u32)) && inside(placement) > 0);
    // The first one on a tie: `max_by_key` without `rev` would take the last one.
    let most = alive.rev().max_by_key(|(_, placement)| inside(placement));
    let bound = plan.passes[step]
        .bound_object
        .and_then(|object| plan.objects.get(object.index()));
    match most {
        Some((index, _)) => mark_of(index),
        None if bound.is_some_and(|object| object.size.0 > from) => '.',
        None => ' ',
    }
}

fn mark_of(index: usize) -> char {
    MARKS.get(index).map_or(MORE, |mark| char::from(*mark))
}
