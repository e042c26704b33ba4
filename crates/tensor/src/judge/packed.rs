//! Bounds on the size of an arena: a lower bound, and the size of tileheap's own packing.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tileheap_pack::{Item, Packer, Problem, Steps, Strategy, Verdict};

use super::overlaps::LiveBytes;
use super::types::{Allocations, JudgedArena};
use crate::error::{Error, Result};
use crate::units::{Alignment, Bytes};

/// Sets of buffers that share bytes by design; each set is placed as a whole.
pub(super) struct Groups(Vec<u32>);

impl Groups {
    /// Creates one set per buffer.
    pub(super) fn new(count: usize) -> Groups {
        Groups((0..count as u32).collect())
    }

    fn root(&mut self, of: u32) -> u32 {
        let mut at = of;
        while self.0[at as usize] != at {
            let above = self.0[self.0[at as usize] as usize];
            self.0[at as usize] = above;
            at = above;
        }
        at
    }

    /// Joins the sets of two buffers.
    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

/// Computes a lower bound and a packing for every arena.
///
/// # Errors
/// The sizes of an arena's buffers exceed 2^64 - 1 bytes.
pub(super) fn arenas(allocations: &Allocations, groups: &mut Groups) -> Result<Vec<JudgedArena>> {
    let buffers = &allocations.buffers;
    let mut lowest: BTreeMap<u32, u64> = BTreeMap::new();
    for (index, buffer) in (0..).zip(buffers) {
        let first = lowest.entry(groups.root(index)).or_insert(u64::MAX);
        *first = buffer.offset.0.min(*first);
    }
    let mut items_of: BTreeMap<u32, usize> = BTreeMap::new();
    for (index, buffer) in (0..).zip(buffers) {
        *items_of.entry(groups.root(index)).or_default() += buffer.lifetimes.len();
    }
    let mut ranges: Vec<Vec<Range>> = vec![Vec::new(); allocations.arenas.len()];
    let mut items: Vec<Vec<Item>> = vec![Vec::new(); allocations.arenas.len()];
    let mut used = vec![Bytes::ZERO; allocations.arenas.len()];
    for (index, buffer) in (0..).zip(buffers) {
        let arena = buffer.arena as usize;
        used[arena] = used[arena].max(buffer.end());
        let root = groups.root(index);
        let before = buffer.offset.0 - lowest[&root];
        let alignment = match before % buffer.alignment.get() {
            0 => buffer.alignment,
            _ => Alignment::ONE,
        };
        let end = before.saturating_add(buffer.size.0);
        ranges[arena].push((root, before, end, index));
        for &span in &buffer.lifetimes {
            let mut item = Item::new(span, Bytes(end), alignment);
            item.together = (items_of[&root] > 1).then_some(root);
            items[arena].push(item);
        }
    }
    let mut packer = Packer::default();
    let arenas = items.into_iter().zip(used).zip(ranges).zip(&allocations.arenas);
    let judged = arenas.map(|(((items, used), ranges), arena)| {
        let problem = Problem::new(items).map_err(|error| {
            let problem = format!("arena `{}`: {error}", arena.name);
            Error::parse(allocations.format, problem)
        })?;
        let mut go_on = |_| ControlFlow::Continue(());
        let answer = packer.minimize(&problem, Strategy::Auto, Steps::default(), &mut go_on);
        let packed = answer.packing.map_or(used, |packing| packing.height);
        // The packer reserves a group as a whole, so its bound may be too high if the members differ in size.
        let bound = match is_uniform(&ranges) {
            true => answer.bound,
            false => answer.bound.min(live_peak(allocations, ranges)),
        };
        Ok(JudgedArena {
            used,
            bound,
            packed,
            proved: packed == bound || (answer.verdict == Verdict::Proved && bound == answer.bound),
        })
    });
    judged.collect()
}

/// A range of bytes in a group: the group, the first byte, the end, and the buffer.
type Range = (u32, u64, u64, u32);

/// Returns true if the members of every group take the same bytes.
fn is_uniform(ranges: &[Range]) -> bool {
    let mut of: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    ranges
        .iter()
        .all(|&(root, first, end, _)| *of.entry(root).or_insert((first, end)) == (first, end))
}

/// The most bytes that are live at one step; bytes that members of a group share are counted once.
fn live_peak(allocations: &Allocations, mut ranges: Vec<Range>) -> Bytes {
    ranges.sort_unstable();
    let mut events = Vec::new();
    let (mut base, mut group, mut group_end) = (0u64, None, 0u64);
    for (root, first, end, index) in ranges {
        if group != Some(root) {
            base = base.saturating_add(group_end);
            (group, group_end) = (Some(root), 0);
        }
        group_end = group_end.max(end);
        let bytes = (base.saturating_add(first), base.saturating_add(end));
        let spans = allocations.buffers[index as usize].lifetimes.iter();
        for span in spans.filter(|span| !span.is_empty() && bytes.0 < bytes.1) {
            events.push((span.first.0, true, index, bytes));
            events.push((span.end.0, false, index, bytes));
        }
    }
    events.sort_unstable();
    let (mut live, mut peak) = (LiveBytes::default(), 0);
    for (_, is_start, index, bytes) in events {
        match is_start {
            true => live.add(index, bytes, |_| {}),
            false => live.remove(index, bytes),
        }
        peak = live.covered().max(peak);
    }
    Bytes(peak)
}
