//! The rule of NNC: tensors take over bytes along the edges of an allocation graph.
//!
//! Source: `papers/nnc_tensor_allocation.txt`, "Candidate Selection". Where the text is open: an edge may touch the dummy source
//! or sink, but not both, or next to nothing would ever be reused; it must be wide enough for the whole tuple; of such edges the
//! narrowest is taken; a tuple has two tensors at most, the second being the largest that fits the rule. So read, it reuses less
//! than the port measured in `PLANNING.md` on the hard set (2.3 to 11 of the bound against 1.3 to 1.7): where lives differ, tensors
//! come by their conflicts alone, and a slot that a small one opened is never widened.

use std::cmp::Reverse;

use super::in_order::UNPLACED;
use super::orders::Conflicts;
use super::{Problem, gap};
use crate::units::Alignment;

/// The dummy source and sink.
const NOBODY: u32 = u32::MAX;

/// Bytes that are free from the death of `from` to the birth of `to`.
#[derive(Clone, Copy, Debug)]
struct Edge {
    from: u32,
    to: u32,
    offset: u64,
    width: u64,
}

/// Scratch memory of the rule.
#[derive(Debug, Default)]
pub(super) struct Nnc {
    edges: Vec<Edge>,
    conflicts: Conflicts,
    left: Vec<u32>,
    candidates: Vec<(u32, u32)>,
}

impl Nnc {
    /// Offsets of all units, in a problem without fixed offsets, bounds, groups and conflicts; and the order of insertion.
    ///
    /// Complexity: O(n³) where all have the same number of conflicts.
    pub(super) fn place(&mut self, problem: &Problem, order: &mut Vec<u32>, offsets: &mut Vec<u64>) {
        let units = &problem.units;
        self.conflicts.count(problem);
        self.edges.clear();
        offsets.clear();
        offsets.resize(units.len(), UNPLACED);
        order.clear();
        self.left.clear();
        for (index, unit) in units.iter().enumerate() {
            if unit.takes_bytes() {
                self.left.push(index as u32);
            }
        }
        let mut height = 0;
        while !self.left.is_empty() {
            self.gather(problem);
            let found = self
                .candidates
                .iter()
                .find_map(|&tuple| Some((tuple, self.narrowest(problem, tuple)?)));
            let ((a, b), edge) = found.unwrap_or_else(|| {
                let (a, b) = self.candidates[0];
                let alignment = tuple_alignment(problem, (a, b)).expect("tuples have a common alignment");
                let offset = gap::align_up(height, alignment).expect(gap::ROOM);
                let width = tuple_size(problem, (a, b));
                height = offset + width;
                self.edges.push(Edge {
                    from: NOBODY,
                    to: NOBODY,
                    offset,
                    width,
                });
                ((a, b), self.edges.len() - 1)
            });
            self.insert(problem, (a, b), edge, offsets);
            for index in [a, b] {
                if index != NOBODY {
                    order.push(index);
                    self.left.retain(|&other| other != index);
                }
            }
        }
        // What takes no bytes at any step is in nobody's way.
        for (index, offset) in offsets.iter_mut().enumerate() {
            if *offset == UNPLACED {
                order.push(index as u32);
                *offset = 0;
            }
        }
    }

    /// The tensors with the most conflicts, alone and with a larger one beside; the largest first.
    fn gather(&mut self, problem: &Problem) {
        let size = |index: u32| problem.units[index as usize].size;
        let counts = &self.conflicts.counts;
        let count = |index: u32| {
            if index == NOBODY {
                0
            } else {
                counts[index as usize]
            }
        };
        let most = self.left.iter().map(|&index| count(index)).max();
        self.candidates.clear();
        for &a in self.left.iter().filter(|&&a| Some(count(a)) == most) {
            self.candidates.push((a, NOBODY));
            let fits = |&&b: &&u32| size(b) > size(a) && problem.ordered(a, b);
            let beside = self.left.iter().filter(fits);
            let best = beside.max_by_key(|&&b| (size(b), count(b), Reverse(b)));
            if let Some(&b) = best
                && tuple_alignment(problem, (a, b)).is_some()
            {
                self.candidates
                    .push(if problem.before(a, b) { (a, b) } else { (b, a) });
            }
        }
        self.candidates
            .sort_by_key(|&(a, b)| (Reverse(tuple_size(problem, (a, b))), Reverse(count(a) + count(b))));
    }

    /// The narrowest edge that a tuple fits into.
    fn narrowest(&self, problem: &Problem, (a, b): (u32, u32)) -> Option<usize> {
        let (size, alignment) = (tuple_size(problem, (a, b)), tuple_alignment(problem, (a, b))?);
        let last = if b == NOBODY { a } else { b };
        let fits = |edge: &&(usize, &Edge)| {
            let edge = edge.1;
            let end = edge.offset + edge.width;
            edge.width >= size
                && (edge.from != NOBODY || edge.to != NOBODY)
                && gap::align_up(edge.offset, alignment)
                    .is_some_and(|offset| offset <= end && end - offset >= size)
                && (edge.from == NOBODY || problem.before(edge.from, a))
                && (edge.to == NOBODY || problem.before(last, edge.to))
        };
        let edges = self.edges.iter().enumerate();
        edges
            .filter(|edge| fits(&edge))
            .min_by_key(|&(_, edge)| edge.width)
            .map(|(index, _)| index)
    }

    /// Puts a tuple on an edge, which is split around it.
    fn insert(&mut self, problem: &Problem, (a, b): (u32, u32), edge: usize, offsets: &mut [u64]) {
        let old = self.edges[edge];
        let size = |index: u32| problem.units[index as usize].size;
        let alignment = tuple_alignment(problem, (a, b)).expect("tuples have a common alignment");
        let offset = gap::align_up(old.offset, alignment).expect(gap::ROOM);
        let width = tuple_size(problem, (a, b));
        let mut add = |from: u32, to: u32, offset: u64, end: u64| {
            if offset < end {
                self.edges.push(Edge {
                    from,
                    to,
                    offset,
                    width: end - offset,
                });
            }
        };
        add(old.from, old.to, old.offset, offset);
        add(old.from, old.to, offset + width, old.offset + old.width);
        offsets[a as usize] = offset;
        add(old.from, a, offset, offset + size(a));
        if b == NOBODY {
            add(a, old.to, offset, offset + size(a));
        } else {
            offsets[b as usize] = offset;
            let shared = size(a).min(size(b));
            add(a, b, offset, offset + shared);
            add(old.from, b, offset + shared, offset + size(b));
            add(a, old.to, offset + shared, offset + size(a));
            add(b, old.to, offset, offset + size(b));
        }
        self.edges.swap_remove(edge);
    }
}

fn tuple_size(problem: &Problem, (a, b): (u32, u32)) -> u64 {
    let size = |index: u32| problem.units.get(index as usize).map_or(0, |unit| unit.size);
    size(a).max(size(b))
}

fn tuple_alignment(problem: &Problem, (a, b): (u32, u32)) -> Option<Alignment> {
    let alignment = problem.units[a as usize].alignment;
    match problem.units.get(b as usize) {
        None => Some(alignment),
        // A common multiple may pass what the problem's sum allows for.
        Some(other) if other.alignment != alignment => None,
        Some(_) => Some(alignment),
    }
}
