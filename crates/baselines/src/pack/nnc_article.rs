//! NNC's rule as its article describes it: candidates are tuples of up to three tensors, one of which has the most conflicts.
//!
//! ```text
//! a [0, 2) × 4, b [3, 5) × 6: a pair, placed on the edge y ─8─► x
//!   y ─2─► x            what is left of the edge
//!   y ─4─► a ─4─► b ─6─► x        b takes over what a had
//!   y ─2─► b                      and the rest from y
//! ```
//! Source: NNC's article, "Candidate Selection". Where the article leaves a choice open, the rule follows the implementation (liuliu/ccv,
//! `ccv_nnc_symbolic_graph_compile.c`): one end of an edge may be the dummy source or sink, since otherwise almost nothing would be reused;
//! of the edges wide enough for the whole tuple, the one with the fewest steps around the tuple is taken; conflicts are those with
//! tensors that are not inserted yet. A pair is made with the largest tensor that fits, and a triple with the next one. In most
//! problems a single tensor has the most conflicts and comes first whatever its size; an edge that a small one opened is never
//! widened, which is why later versions of the implementation begin with the largest.

use std::cmp::Reverse;

use tileheap_pack::units::Alignment;
use tileheap_pack::{Item, Packer, Packing, PackingStrategy, Problem};

use super::edges::{DUMMY, Edge, pack_by_rule, tightest};
use super::facts::{align_up, before, ordered, overlap_counts, takes_bytes};

/// NNC's packing rule as its article describes it: tuples of up to three items, built around the items with the most conflicts. O(n³).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NncArticle;

impl PackingStrategy for NncArticle {
    fn name(&self) -> &str {
        "nnc-article"
    }

    fn description(&self) -> &str {
        "NNC as described in its article: tuples of up to three, the most conflicts first"
    }

    fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing) {
        pack_by_rule(problem, packer, packing, |items| Tuples::default().place(items));
    }
}

/// Up to three tensors with disjoint lifetimes, in order of time.
#[derive(Clone, Copy, Debug)]
struct Tuple {
    members: [u32; 3],
    count: usize,
    /// The size of the largest member.
    size: u64,
    /// The total number of conflicts of the members.
    conflicts: u64,
    /// The alignment, which is the same for all members.
    alignment: Alignment,
}

impl Tuple {
    fn of_one(items: &[Item], index: u32, conflicts: u32) -> Tuple {
        let item = &items[index as usize];
        Tuple {
            members: [index, DUMMY, DUMMY],
            count: 1,
            size: item.size.0,
            conflicts: u64::from(conflicts),
            alignment: item.alignment,
        }
    }

    /// Adds a member, at its position in order of time.
    fn with(mut self, items: &[Item], index: u32, conflicts: u32) -> Tuple {
        let after = self
            .members()
            .iter()
            .position(|&other| before(items, index, other));
        let at = after.unwrap_or(self.count);
        self.members.copy_within(at..self.count, at + 1);
        self.members[at] = index;
        self.count += 1;
        self.size = self.size.max(items[index as usize].size.0);
        self.conflicts += u64::from(conflicts);
        self
    }

    fn members(&self) -> &[u32] {
        &self.members[..self.count]
    }
}

/// The tuple rule, with its scratch memory.
#[derive(Debug, Default)]
struct Tuples {
    edges: Vec<Edge>,
    /// For each item, the number of remaining items that conflict with it.
    conflicts: Vec<u32>,
    left: Vec<u32>,
    candidates: Vec<Tuple>,
}

impl Tuples {
    /// Returns the offsets of items that have no fixed offsets, bounds, groups or conflicts.
    fn place(&mut self, items: &[Item]) -> Vec<u64> {
        self.edges.clear();
        self.conflicts = overlap_counts(items);
        let mut offsets = vec![0; items.len()];
        let all = 0..items.len() as u32;
        self.left = all.filter(|&index| takes_bytes(&items[index as usize])).collect();
        let mut height = 0;
        while !self.left.is_empty() {
            self.gather(items);
            let mut candidates = self.candidates.iter();
            let found = candidates.find_map(|tuple| {
                let ends = [tuple.members[0], tuple.members[tuple.count - 1]];
                let edge = tightest(&self.edges, items, ends, tuple.size, tuple.alignment)?;
                Some((*tuple, edge))
            });
            let (tuple, edge) = found.unwrap_or_else(|| {
                let tuple = self.candidates[0];
                let offset = align_up(height, tuple.alignment);
                height = offset + tuple.size;
                self.edges.push(Edge {
                    from: DUMMY,
                    to: DUMMY,
                    offset,
                    width: tuple.size,
                });
                (tuple, self.edges.len() - 1)
            });
            self.insert(items, &tuple, edge, &mut offsets);
            for &index in tuple.members() {
                self.left.retain(|&other| other != index);
                for &other in &self.left {
                    if !ordered(items, index, other) {
                        self.conflicts[other as usize] -= 1;
                    }
                }
            }
        }
        offsets
    }

    /// Collects candidate tuples: each tensor with the most conflicts, by itself and with one or two larger ones. Sorts them by size, then by conflicts,
    /// then by number of members, all descending.
    fn gather(&mut self, items: &[Item]) {
        let conflicts = &self.conflicts;
        let most = self.left.iter().map(|&index| conflicts[index as usize]).max();
        self.candidates.clear();
        for &a in self.left.iter().filter(|&&a| Some(conflicts[a as usize]) == most) {
            let mut tuple = Tuple::of_one(items, a, conflicts[a as usize]);
            self.candidates.push(tuple);
            while tuple.count < 3 {
                let Some(b) = self.largest_companion(items, a, &tuple) else {
                    break;
                };
                tuple = tuple.with(items, b, conflicts[b as usize]);
                self.candidates.push(tuple);
            }
        }
        self.candidates.sort_by_key(|tuple| {
            (
                Reverse(tuple.size),
                Reverse(tuple.conflicts),
                Reverse(tuple.count),
            )
        });
    }

    /// The largest tensor that is larger than `a`, has the tuple's alignment, and conflicts with no member of the tuple.
    fn largest_companion(&self, items: &[Item], a: u32, tuple: &Tuple) -> Option<u32> {
        let of = |index: u32| &items[index as usize];
        let fits = |&&b: &&u32| {
            of(b).size > of(a).size
                && of(b).alignment == tuple.alignment
                && tuple.members().iter().all(|&other| ordered(items, b, other))
        };
        let rank = |&&b: &&u32| (of(b).size, self.conflicts[b as usize], Reverse(b));
        self.left.iter().filter(fits).max_by_key(rank).copied()
    }

    /// Places a tuple on an edge and splits the edge around it.
    fn insert(&mut self, items: &[Item], tuple: &Tuple, edge: usize, offsets: &mut [u64]) {
        let old = self.edges.swap_remove(edge);
        let size = |index: u32| items[index as usize].size.0;
        let offset = align_up(old.offset, tuple.alignment);
        let mut add = |from: u32, to: u32, start: u64, end: u64| {
            if start < end {
                self.edges.push(Edge {
                    from,
                    to,
                    offset: start,
                    width: end - start,
                });
            }
        };
        add(old.from, old.to, old.offset, offset);
        add(old.from, old.to, offset + tuple.size, old.offset + old.width);
        let members = tuple.members();
        let mut taken = 0;
        for (at, &index) in members.iter().enumerate() {
            offsets[index as usize] = offset;
            // The source of the edge gives the bytes that no earlier member had.
            add(old.from, index, offset + taken, offset + size(index));
            taken = taken.max(size(index));
            // Each byte goes to the next member that is large enough, otherwise to the edge's destination.
            let mut given = 0;
            for &next in &members[at + 1..] {
                let until = size(index).min(size(next));
                add(index, next, offset + given, offset + until);
                given = given.max(until);
            }
            add(index, old.to, offset + given, offset + size(index));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::facts::height;
    use super::*;
    use tileheap_pack::allocation_graph::{AllocationEdge, AllocationGraph};
    use tileheap_pack::units::{Bytes, Span, SplitMix64};
    use tileheap_pack::{check, lower_bound, pack};

    fn problem(items: &[(u32, u32, u64)]) -> Problem {
        let item = |&(first, end, size)| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
        Problem::new(items.iter().map(item).collect()).unwrap()
    }

    /// Worked by hand: `x` has three conflicts and comes first, at 0. No edge is left for `p`, `q` and `r`, which then have no conflicts: the triple,
    /// as large as `r`, goes above `x`. `p` takes 2 bytes from the source, `q` these and 1 more, `r` these and 2 more.
    #[test]
    fn a_triple_follows_a_tensor() {
        let problem = problem(&[(0, 6, 4), (0, 2, 2), (2, 4, 3), (4, 6, 5)]);
        let packing = pack(&problem, NncArticle);
        assert_eq!(packing.offsets, [0, 4, 4, 4].map(Bytes));
        assert_eq!(packing.height, lower_bound(&problem));
    }

    /// The tensor with the most conflicts by itself, with a larger one, and with a third one; the largest candidate first.
    #[test]
    fn candidates_are_tuples_of_up_to_three() {
        let problem = problem(&[(0, 2, 2), (2, 4, 3), (4, 6, 5), (0, 6, 1)]);
        let items = problem.items();
        let mut rule = Tuples {
            left: vec![0, 1, 2],
            conflicts: overlap_counts(items),
            ..Tuples::default()
        };
        rule.gather(items);
        let tuples: Vec<(&[u32], u64)> = rule
            .candidates
            .iter()
            .map(|tuple| (tuple.members(), tuple.size))
            .collect();
        let expected: [(&[u32], u64); 6] = [
            (&[0, 1, 2], 5),
            (&[0, 2], 5),
            (&[1, 2], 5),
            (&[2], 5),
            (&[1], 3),
            (&[0], 2),
        ];
        assert_eq!(tuples, expected);
    }

    /// The edges that the rule leaves are those of the allocation graph derived from its offsets.
    #[test]
    fn the_rules_own_edges_are_the_allocation_graph() {
        for seed in 0..300 {
            let mut random = SplitMix64::new(seed);
            let items = (0..3 + seed % 30).map(|_| {
                let first = random.below(20) as u32;
                (first, first + 1 + random.below(6) as u32, random.below(9))
            });
            let problem = problem(&items.collect::<Vec<_>>());
            let mut rule = Tuples::default();
            let offsets = rule.place(problem.items());
            let packing = Packing {
                height: height(problem.items(), &offsets),
                offsets: offsets.into_iter().map(Bytes).collect(),
            };
            check(&problem, &packing).unwrap();
            let graph = AllocationGraph::of(&problem, &packing).unwrap();
            graph.check(&problem).unwrap();
            let end = |index: u32| (index != DUMMY).then_some(index);
            let of_graph = |edge: &AllocationEdge| (edge.from, edge.to, edge.offset.0, edge.size.0);
            let of_rule = |edge: &Edge| (end(edge.from), end(edge.to), edge.offset, edge.width);
            let bytes = |edges: Vec<(Option<u32>, Option<u32>, u64, u64)>| -> BTreeSet<_> {
                let each = |(from, to, offset, size): (_, _, u64, u64)| {
                    (offset..offset + size).map(move |at| (at, from, to))
                };
                edges.into_iter().flat_map(each).collect()
            };
            let own = bytes(rule.edges.iter().map(of_rule).collect());
            assert_eq!(
                own,
                bytes(graph.edges.iter().map(of_graph).collect()),
                "seed {seed}"
            );
        }
    }
}
