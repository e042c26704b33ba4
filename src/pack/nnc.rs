//! The rule of NNC: tensors take over bytes along the edges of an allocation graph.
//!
//! ```text
//!            ┌──── 4 ────► a ──── 4 ────┐            an edge is a stretch of bytes that is free from the death of the
//! source ────┤             └─ 3 ─► b ─3─┼──► sink    tensor it comes from until the birth of the one it leads to: c may
//!            └──── 2 ────► c ──── 2 ────┘            take what a leaves to b if it lives between them and is no wider
//! ```
//! There are two of it. The *article* (`papers/nnc_tensor_allocation.txt`, "Candidate Selection") takes the tensors with the most
//! conflicts first, and beside each the largest that lives at another time; the *code* that is released takes the largest
//! first, and of edges the one that leaves the tensor the least idle time. `PLANNING.md` measured the second: its ratios on the
//! hard set (1.272 to 1.666) are met to the last digit. The first, as it is written, ends at 2.0 to 6.5 there: where all lives
//! differ, conflicts alone order the tensors, and a slot that a small one opened is never widened.
//!
//! Where the article is open: conflicts are counted with what has no place yet, as in the code; an edge must be wide enough for the whole tuple; of such edges the narrowest is taken; of three
//! tensors that a tuple may have, the rules name two. Where it cannot be meant: "none of the source or the destination of the
//! edge are the dummy source or sink" would leave next to nothing to take over, since every slot begins as an edge between the
//! two; as in the code, one of the ends may be a dummy.
//!
//! Source of the code: `lib/nnc/ccv_nnc_symbolic_graph_compile.c` of liuliu/ccv at 00f1e8b.

use std::cmp::Reverse;

use super::in_order::UNPLACED;
use super::orders::Conflicts;
use super::problem::Unit;
use super::{Problem, gap};
use crate::units::{Alignment, Step};

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edition {
    Code,
    Article,
}

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

/// One tensor, or two that live one after the other.
#[derive(Clone, Copy, Debug)]
struct Tuple {
    first: u32,
    /// The later one, or [`NOBODY`].
    second: u32,
    size: u64,
    alignment: Alignment,
    conflicts: u32,
}

/// Scratch memory of the rule.
#[derive(Debug, Default)]
pub(super) struct Nnc {
    edges: Vec<Edge>,
    /// Of each unit, those in its way that have no place yet.
    conflicts: Conflicts,
    left: Vec<u32>,
    candidates: Vec<Tuple>,
}

impl Nnc {
    /// Offsets of all units, in a problem without fixed offsets, bounds, groups and conflicts; and the order of insertion.
    ///
    /// Complexity: O(n³) where all are equally large, or (of the article) have the same number of conflicts.
    pub(super) fn place(
        &mut self,
        problem: &Problem,
        edition: Edition,
        order: &mut Vec<u32>,
        offsets: &mut Vec<u64>,
    ) {
        let units = &problem.units;
        self.conflicts.count(problem);
        self.edges.clear();
        offsets.clear();
        offsets.resize(units.len(), UNPLACED);
        order.clear();
        self.left.clear();
        self.left
            .extend((0..units.len() as u32).filter(|&index| units[index as usize].takes_bytes()));
        let mut height = 0;
        while !self.left.is_empty() {
            self.gather(problem, edition);
            let mut found = self.candidates.iter();
            let found = found.find_map(|&tuple| Some((tuple, self.edge_for(problem, edition, tuple)?)));
            let (tuple, edge) = found.unwrap_or_else(|| {
                let tuple = self.candidates[0];
                let offset = gap::align_up(height, tuple.alignment).expect(gap::ROOM);
                height = offset + tuple.size;
                self.edges.push(Edge {
                    from: NOBODY,
                    to: NOBODY,
                    offset,
                    width: tuple.size,
                });
                (tuple, self.edges.len() - 1)
            });
            self.insert(problem, tuple, edge, offsets);
            for index in [tuple.first, tuple.second] {
                if index != NOBODY {
                    order.push(index);
                    self.left.retain(|&other| other != index);
                    self.uncount(problem, index);
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

    /// The tensors that come first, and of the article those with a larger one beside; the largest first.
    fn gather(&mut self, problem: &Problem, edition: Edition) {
        let size = |index: u32| problem.units[index as usize].size;
        let count = |index: u32| self.conflicts.counts[index as usize];
        let key = |index: u32| match edition {
            Edition::Code => size(index),
            Edition::Article => u64::from(count(index)),
        };
        let most = self.left.iter().map(|&index| key(index)).max();
        self.candidates.clear();
        for &a in self.left.iter().filter(|&&a| Some(key(a)) == most) {
            let alignment = problem.units[a as usize].alignment;
            let alone = Tuple {
                first: a,
                second: NOBODY,
                size: size(a),
                alignment,
                conflicts: count(a),
            };
            self.candidates.push(alone);
            if edition == Edition::Code {
                continue;
            }
            // Of another alignment, a common multiple might pass what the problem's sum allows for.
            let fits = |&&b: &&u32| {
                size(b) > size(a) && problem.ordered(a, b) && problem.units[b as usize].alignment == alignment
            };
            let beside = self.left.iter().filter(fits);
            if let Some(&b) = beside.max_by_key(|&&b| (size(b), count(b), Reverse(b))) {
                let (first, second) = if problem.before(a, b) { (a, b) } else { (b, a) };
                self.candidates.push(Tuple {
                    first,
                    second,
                    size: size(b),
                    conflicts: count(a) + count(b),
                    ..alone
                });
            }
        }
        self.candidates.sort_unstable_by_key(|tuple| {
            let last = (tuple.second != NOBODY, tuple.first, tuple.second);
            (Reverse(tuple.size), Reverse(tuple.conflicts), last)
        });
    }

    /// The edge that takes a tuple: of the article the narrowest, of the code the one that leaves the least idle time.
    fn edge_for(&self, problem: &Problem, edition: Edition, tuple: Tuple) -> Option<usize> {
        let first = problem.units[tuple.first as usize].hull.first;
        let end = tuple.last(&problem.units).hull.end;
        let unit = |index: u32| problem.units.get(index as usize);
        let fits = |edge: &Edge| {
            edge.width >= tuple.size
                && (edge.from != NOBODY || edge.to != NOBODY)
                && unit(edge.from).is_none_or(|from| from.hull.end <= first)
                && unit(edge.to).is_none_or(|to| end <= to.hull.first)
                && gap::align_up(edge.offset, tuple.alignment).is_some_and(|offset| {
                    let free = (edge.offset + edge.width).checked_sub(offset);
                    free.is_some_and(|free| free >= tuple.size)
                })
        };
        // From or until nobody is further than anything.
        let idle = |from: Option<Step>, until: Option<Step>| match (from, until) {
            (Some(from), Some(until)) => u64::from(until.0 - from.0),
            _ => 1 << 32,
        };
        let key = |edge: &Edge| match edition {
            Edition::Article => edge.width,
            Edition::Code => {
                let before = idle(unit(edge.from).map(|from| from.hull.end), Some(first));
                before + idle(Some(end), unit(edge.to).map(|to| to.hull.first))
            }
        };
        let edges = self.edges.iter().enumerate().filter(|(_, edge)| fits(edge));
        edges.min_by_key(|(_, edge)| key(edge)).map(|(index, _)| index)
    }

    /// Puts a tuple on an edge, which is split around it.
    fn insert(&mut self, problem: &Problem, tuple: Tuple, edge: usize, offsets: &mut [u64]) {
        let old = self.edges[edge];
        let (a, b) = (tuple.first, tuple.second);
        let size = |index: u32| problem.units[index as usize].size;
        let offset = gap::align_up(old.offset, tuple.alignment).expect(gap::ROOM);
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
        add(old.from, old.to, offset + tuple.size, old.offset + old.width);
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

    /// What has its place counts no longer.
    fn uncount(&mut self, problem: &Problem, placed: u32) {
        for &other in &self.left {
            if problem.interfere(placed, other) {
                self.conflicts.counts[other as usize] -= 1;
            }
        }
    }
}

impl Tuple {
    fn last<'a>(&self, units: &'a [Unit]) -> &'a Unit {
        let last = if self.second == NOBODY {
            self.first
        } else {
            self.second
        };
        &units[last as usize]
    }
}
