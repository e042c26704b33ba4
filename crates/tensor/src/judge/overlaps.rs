//! Pairs of buffers that share bytes at some step.
//!
//! Steps are swept in order. Every byte range of an arena has a list of the live buffers that cover it, so that a buffer is compared only
//! with those that it meets: `O((n + pairs) log n)` for plans in which few live buffers overlap.

use std::collections::{BTreeMap, HashSet};

use super::types::{Allocations, Buffer};

/// Maximum number of pairs to find, after which the search stops: a longer list of overlaps would be of no use.
const MAX_PAIRS: usize = 1 << 17;

/// Maximum number of comparisons of buffers in an arena, after which the search stops.
const MAX_COMPARISONS: usize = 1 << 26;

/// The end of a range of bytes, and the live buffers that cover it.
struct Piece {
    end: u64,
    owners: Vec<u32>,
}

/// Live bytes as disjoint pieces, keyed by their first byte.
#[derive(Default)]
pub(super) struct LiveBytes {
    pieces: BTreeMap<u64, Piece>,
    comparisons: usize,
    covered: u64,
}

impl LiveBytes {
    /// Makes `at` a boundary between pieces.
    fn split(&mut self, at: u64) {
        let Some((&first, piece)) = self.pieces.range_mut(..at).next_back() else {
            return;
        };
        if piece.end > at {
            let (end, owners) = (piece.end, piece.owners.clone());
            piece.end = at;
            debug_assert!(first < at);
            self.pieces.insert(at, Piece { end, owners });
        }
    }

    /// The number of bytes covered by live buffers.
    pub(super) fn covered(&self) -> u64 {
        self.covered
    }

    /// Adds a live buffer; calls `meet` with every live buffer that covers one of its bytes, possibly several times.
    pub(super) fn add(&mut self, index: u32, (first, end): (u64, u64), mut meet: impl FnMut(u32)) {
        self.split(first);
        self.split(end);
        let mut gaps = Vec::new();
        let mut at = first;
        for (&from, piece) in self.pieces.range_mut(first..end) {
            if at < from {
                gaps.push((at, from));
            }
            at = piece.end;
            self.comparisons += piece.owners.len();
            piece.owners.iter().for_each(|&owner| meet(owner));
            piece.owners.push(index);
        }
        if at < end {
            gaps.push((at, end));
        }
        for (from, end) in gaps {
            self.covered += end - from;
            let owners = vec![index];
            self.pieces.insert(from, Piece { end, owners });
        }
    }

    /// Removes a buffer that was added.
    pub(super) fn remove(&mut self, index: u32, (first, end): (u64, u64)) {
        let mut empty = Vec::new();
        for (&from, piece) in self.pieces.range_mut(first..end) {
            piece.owners.retain(|&owner| owner != index);
            if piece.owners.is_empty() {
                empty.push(from);
            }
        }
        for from in empty {
            let piece = self.pieces.remove(&from);
            self.covered -= piece.map_or(0, |piece| piece.end - from);
        }
    }
}

/// Calls `found` once for each pair of buffers that share bytes of an arena at some step, the lower index first; returns true if all were found.
pub(super) fn for_each_pair(allocations: &Allocations, mut found: impl FnMut(u32, u32)) -> bool {
    let mut of_arenas: BTreeMap<u32, Vec<(u32, &Buffer)>> = BTreeMap::new();
    for (index, buffer) in (0..).zip(&allocations.buffers) {
        if buffer.offset < buffer.end() {
            of_arenas.entry(buffer.arena).or_default().push((index, buffer));
        }
    }
    let mut known: HashSet<(u32, u32)> = HashSet::new();
    for buffers in of_arenas.values() {
        // Ends sort before starts at the same step.
        let mut events: Vec<(u32, bool, u32)> = Vec::new();
        for &(index, buffer) in buffers {
            for span in buffer.lifetimes.iter().filter(|span| !span.is_empty()) {
                events.push((span.first.0, true, index));
                events.push((span.end.0, false, index));
            }
        }
        events.sort_unstable();
        let mut live = LiveBytes::default();
        for (_, is_start, index) in events {
            let buffer = &allocations.buffers[index as usize];
            let bytes = (buffer.offset.0, buffer.end().0);
            if !is_start {
                live.remove(index, bytes);
                continue;
            }
            live.add(index, bytes, |other| {
                let pair = (index.min(other), index.max(other));
                if index != other && known.len() < MAX_PAIRS && known.insert(pair) {
                    found(pair.0, pair.1);
                }
            });
            if known.len() >= MAX_PAIRS || live.comparisons > MAX_COMPARISONS {
                return false;
            }
        }
    }
    true
}
