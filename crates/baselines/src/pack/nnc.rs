//! The rule of NNC: tensors take over bytes along the edges of an allocation graph.
//!
//! ```text
//! a [0, 2) × 4, b [3, 5) × 6: a tuple that goes on the edge y ─8─► x as a string, the widest of it as its weight
//!   y ─2─► x            what is left of the edge
//!   y ─4─► a ─4─► b ─6─► x        b takes over what a had ...
//!   y ─2─► b                      ... and the rest from y
//! ```
//! There are two editions. The *article* ("Candidate Selection") takes the tensors with the most
//! conflicts first, and beside each the largest that lives at another time, and one more. The *code* that is released takes the
//! largest first, alone: others' port of it reaches 1.272 to 1.666 of the bound on minimalloc's hard set, and so does this, to
//! the last digit. The article's ends at 2.0 to 6.5 there: where all lives differ, conflicts alone order the tensors, and a slot
//! that a small one opened is never widened.
//!
//! Where the article is open, what the code does: conflicts are counted with what has no place yet; an edge must be wide enough
//! for the whole tuple; of such edges the one with the fewest steps around the tuple is taken. Where it cannot be meant: "none of the
//! source or the destination of the edge are the dummy source or sink" would leave next to nothing to take over, since every
//! slot begins as an edge between the two; as in the code, one of the ends may be a dummy.
//!
//! Source of the code: `lib/nnc/ccv_nnc_symbolic_graph_compile.c` of liuliu/ccv at 00f1e8b.

use std::cmp::Reverse;

use tileheap_pack::units::{Alignment, Bytes};
use tileheap_pack::{Fit, Item, Packer, Packing, PackingStrategy, Problem, Strategy};

use super::facts::{align_up, are_plain, conflict_counts, overlap_counts, takes_bytes};

/// The rule of NNC. O(n³).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nnc {
    /// As it is released: the largest first.
    Code,
    /// As its article describes it: those with the most conflicts first, some beside a larger one.
    Article,
}

impl PackingStrategy for Nnc {
    fn name(&self) -> &str {
        match self {
            Nnc::Code => "nnc",
            Nnc::Article => "nnc-article",
        }
    }

    fn description(&self) -> &str {
        match self {
            Nnc::Code => "NNC as released: largest first, along the edges of an allocation graph",
            Nnc::Article => "NNC as published: most conflicts first, along the edges of an allocation graph",
        }
    }

    fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing) {
        let items = problem.items();
        if are_plain(items) && problem.conflicts().is_empty() {
            let offsets = Insertion::default().place(items, *self);
            packing.height = height(items, &offsets);
            packing.offsets = offsets.into_iter().map(Bytes).collect();
            return;
        }
        // The rule knows lifetimes alone; what it would have inserted first is placed first.
        match self {
            Nnc::Code => Strategy::FirstFitBySize.pack_into(problem, packer, packing),
            Nnc::Article => {
                let counts = conflict_counts(problem);
                let mut order: Vec<u32> = (0..items.len() as u32).collect();
                order.sort_by_key(|&item| (Reverse(counts[item as usize]), items[item as usize].span.first));
                packer.place_in_order(problem, &order, Fit::First, packing);
            }
        }
    }
}

fn height(items: &[Item], offsets: &[u64]) -> Bytes {
    let places = items.iter().zip(offsets);
    let ends = places.map(|(item, &offset)| Bytes(offset) + item.size);
    ends.max().unwrap_or(Bytes::ZERO)
}

/// The dummy source and sink.
const DUMMY: u32 = u32::MAX;

/// Whether `a` ends before `b` begins.
fn before(items: &[Item], a: u32, b: u32) -> bool {
    items[a as usize].span.end <= items[b as usize].span.first
}

/// Whether one of two ends before the other begins.
fn ordered(items: &[Item], a: u32, b: u32) -> bool {
    before(items, a, b) || before(items, b, a)
}

/// Bytes that are free from the death of `from` to the birth of `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: u32,
    to: u32,
    offset: u64,
    width: u64,
}

/// Up to three tensors that live one after the other, in the order of their lives.
#[derive(Clone, Copy, Debug)]
struct Tuple {
    members: [u32; 3],
    count: usize,
    /// The largest of them.
    size: u64,
    /// Conflicts of all of them.
    conflicts: u64,
    /// The same for all of them: a common multiple may pass what the problem's sum allows for.
    alignment: Alignment,
}

impl Tuple {
    fn alone(items: &[Item], index: u32, conflicts: u32) -> Tuple {
        let item = &items[index as usize];
        Tuple {
            members: [index, DUMMY, DUMMY],
            count: 1,
            size: item.size.0,
            conflicts: u64::from(conflicts),
            alignment: item.alignment,
        }
    }

    /// With one more, where it belongs in time.
    fn with(mut self, items: &[Item], index: u32, conflicts: u32) -> Tuple {
        let later = |&other: &u32| before(items, index, other);
        let at = self.members().iter().position(later).unwrap_or(self.count);
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

    fn first(&self) -> u32 {
        self.members[0]
    }

    fn last(&self) -> u32 {
        self.members[self.count - 1]
    }
}

/// Scratch memory of the rule.
#[derive(Debug, Default)]
struct Insertion {
    edges: Vec<Edge>,
    /// Of each item with those that are left.
    conflicts: Vec<u32>,
    left: Vec<u32>,
    candidates: Vec<Tuple>,
}

impl Insertion {
    /// The offsets, in a problem without fixed offsets, bounds, groups and conflicts.
    ///
    /// Complexity: O(n³) where all are equally large, or (of the article) have the same number of conflicts.
    fn place(&mut self, items: &[Item], edition: Nnc) -> Vec<u64> {
        self.edges.clear();
        self.conflicts = overlap_counts(items);
        // What takes no bytes at any step never conflicts.
        let mut offsets = vec![0; items.len()];
        let all = 0..items.len() as u32;
        self.left = all.filter(|&index| takes_bytes(&items[index as usize])).collect();
        let mut height = 0;
        while !self.left.is_empty() {
            self.gather(items, edition);
            let mut candidates = self.candidates.iter();
            let found = candidates.find_map(|tuple| Some((*tuple, self.tightest(items, tuple)?)));
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

    /// The tensors that come first, and of the article those with one or two larger ones beside; the largest first.
    fn gather(&mut self, items: &[Item], edition: Nnc) {
        let count = |index: u32| self.conflicts[index as usize];
        let key = |index: u32| match edition {
            Nnc::Code => items[index as usize].size.0,
            Nnc::Article => u64::from(count(index)),
        };
        let most = self.left.iter().map(|&index| key(index)).max();
        self.candidates.clear();
        for &a in self.left.iter().filter(|&&a| Some(key(a)) == most) {
            let mut tuple = Tuple::alone(items, a, count(a));
            self.candidates.push(tuple);
            while edition == Nnc::Article && tuple.count < 3 {
                let Some(b) = self.beside(items, a, &tuple) else {
                    break;
                };
                tuple = tuple.with(items, b, count(b));
                self.candidates.push(tuple);
            }
        }
        self.candidates.sort_unstable_by_key(|tuple| {
            (
                Reverse(tuple.size),
                Reverse(tuple.conflicts),
                Reverse(tuple.count),
                tuple.members,
            )
        });
    }

    /// The largest tensor that is larger than `a` and in conflict with none of the tuple.
    fn beside(&self, items: &[Item], a: u32, tuple: &Tuple) -> Option<u32> {
        let item = |index: u32| &items[index as usize];
        let fits = |&&b: &&u32| {
            item(b).size > item(a).size
                && item(b).alignment == tuple.alignment
                && tuple.members().iter().all(|&other| ordered(items, b, other))
        };
        let rank = |&&b: &&u32| (item(b).size, self.conflicts[b as usize], Reverse(b));
        self.left.iter().filter(fits).max_by_key(rank).copied()
    }

    /// The edge with the fewest steps around a tuple that fits on it; of those the narrowest.
    fn tightest(&self, items: &[Item], tuple: &Tuple) -> Option<usize> {
        let span = |index: u32| items[index as usize].span;
        let far = u64::from(u32::MAX);
        let fits = |edge: &Edge| {
            let end = edge.offset + edge.width;
            edge.width >= tuple.size
                && (edge.from != DUMMY || edge.to != DUMMY)
                && align_up(edge.offset, tuple.alignment) + tuple.size <= end
                && (edge.from == DUMMY || before(items, edge.from, tuple.first()))
                && (edge.to == DUMMY || before(items, tuple.last(), edge.to))
        };
        let around = |edge: &Edge| {
            let before = match edge.from {
                DUMMY => far,
                from => u64::from(span(tuple.first()).first.0 - span(from).end.0),
            };
            let after = match edge.to {
                DUMMY => far,
                to => u64::from(span(to).first.0 - span(tuple.last()).end.0),
            };
            before + after
        };
        let edges = self.edges.iter().enumerate().filter(|(_, edge)| fits(edge));
        let tightest = edges.min_by_key(|(_, edge)| (around(edge), edge.width, edge.offset));
        tightest.map(|(index, _)| index)
    }

    /// Puts a tuple on an edge, which is split around it.
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
        let string = tuple.members();
        let mut taken = 0;
        for (at, &index) in string.iter().enumerate() {
            offsets[index as usize] = offset;
            // From before the tuple comes what none of the string before had.
            add(old.from, index, offset + taken, offset + size(index));
            taken = taken.max(size(index));
            // Each byte goes to the next that is large enough to have it, else behind the tuple.
            let mut given = 0;
            for &next in &string[at + 1..] {
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

    use super::*;
    use tileheap_pack::allocation_graph::{AllocationEdge, AllocationGraph};
    use tileheap_pack::units::{Span, SplitMix64};
    use tileheap_pack::{Error, lower_bound, pack};

    fn problem(items: &[(u32, u32, u64)]) -> Problem {
        let item = |&(first, end, size)| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
        Problem::new(items.iter().map(item).collect()).unwrap()
    }

    fn edge(from: u32, to: u32, offset: u64, size: u64) -> AllocationEdge {
        let end = |index: u32| (index != DUMMY).then_some(index);
        AllocationEdge {
            from: end(from),
            to: end(to),
            offset: Bytes(offset),
            size: Bytes(size),
        }
    }

    /// Worked by hand.
    ///
    /// ```text
    /// 9 ┤        ┌──r──┐   x has 3 conflicts and comes first: a new edge of 4, at 0. No edge is left to p, q and r, which
    /// 7 ┤  ┌──q──┤     │   then have none: the triple (p, q, r), as wide as r, goes on a new edge of 5, at 4. p takes 2 from the
    /// 6 ┤p─┤     │     │   source; q these 2 and 1 more; r these 3 and 2 more. The source gives 4 + 2 + 1 + 2 = 9.
    /// 4 ┼──┴─────┴─────┤
    /// 0 ┼─────── x ────┴
    /// ```
    #[test]
    fn a_triple_follows_a_tensor_by_hand() {
        let [x, p, q, r] = [0, 1, 2, 3];
        let problem = problem(&[(0, 6, 4), (0, 2, 2), (2, 4, 3), (4, 6, 5)]);
        let packing = pack(&problem, Nnc::Article);
        assert_eq!(packing.offsets, [0, 4, 4, 4].map(Bytes));
        assert_eq!(packing.height, lower_bound(&problem));
        let graph = AllocationGraph::of(&problem, &packing).unwrap();
        let expected = [
            edge(DUMMY, x, 0, 4),
            edge(DUMMY, p, 4, 2),
            edge(DUMMY, q, 6, 1),
            edge(DUMMY, r, 7, 2),
            edge(x, DUMMY, 0, 4),
            edge(p, q, 4, 2),
            edge(q, r, 4, 3),
            edge(r, DUMMY, 4, 5),
        ];
        assert_eq!(graph.edges, expected);
        graph.check(&problem).unwrap();
    }

    /// Candidates as published: the one with the most conflicts alone, with a larger one beside, with one more.
    #[test]
    fn candidates_are_tuples_of_up_to_three_the_largest_first() {
        let problem = problem(&[(0, 2, 2), (2, 4, 3), (4, 6, 5), (0, 6, 1)]);
        let mut rule = Insertion {
            left: vec![0, 1, 2],
            conflicts: overlap_counts(problem.items()),
            ..Insertion::default()
        };
        rule.gather(problem.items(), Nnc::Article);
        let tuples = rule.candidates.iter().map(|tuple| (tuple.members(), tuple.size));
        let expected: [(&[u32], u64); 6] = [
            (&[0, 1, 2], 5),
            (&[0, 2], 5),
            (&[1, 2], 5),
            (&[2], 5),
            (&[1], 3),
            (&[0], 2),
        ];
        assert_eq!(tuples.collect::<Vec<_>>(), expected);
    }

    fn random(seed: u64, count: usize) -> Problem {
        let mut random = SplitMix64::new(seed);
        let items = (0..count).map(|_| {
            let first = random.below(20) as u32;
            (first, first + 1 + random.below(6) as u32, random.below(9))
        });
        problem(&items.collect::<Vec<_>>())
    }

    /// The edges that the rule leaves are the graph that follows from where it put everything.
    #[test]
    fn the_rules_own_edges_are_the_allocation_graph() {
        let mut rule = Insertion::default();
        for seed in 0..300 {
            let problem = random(seed, 3 + seed as usize % 30);
            let offsets = rule.place(problem.items(), Nnc::Article);
            let packing = Packing {
                height: height(problem.items(), &offsets),
                offsets: offsets.into_iter().map(Bytes).collect(),
            };
            let graph = AllocationGraph::of(&problem, &packing).unwrap();
            graph.check(&problem).unwrap();
            let bytes = |edges: Vec<AllocationEdge>| -> BTreeSet<_> {
                let ends = |edge: AllocationEdge| move |at| (at, edge.from, edge.to);
                let each =
                    |edge: AllocationEdge| (edge.offset.0..(edge.offset + edge.size).0).map(ends(edge));
                edges.into_iter().flat_map(each).collect()
            };
            let own = rule.edges.iter();
            let own = own.map(|own| edge(own.from, own.to, own.offset, own.width));
            assert_eq!(bytes(own.collect()), bytes(graph.edges), "seed {seed}");
        }
    }

    #[test]
    fn a_graph_that_loses_bytes_is_refused() {
        let problem = random(7, 20);
        let packing = pack(&problem, Nnc::Article);
        let graph = AllocationGraph::of(&problem, &packing).unwrap();
        for at in 0..graph.edges.len() {
            let mut lost = graph.clone();
            lost.edges.remove(at);
            assert!(matches!(lost.check(&problem), Err(Error::Flow { .. })));
            let mut grown = graph.clone();
            grown.edges[at].size += Bytes(1);
            assert!(matches!(grown.check(&problem), Err(Error::Flow { .. })));
        }
        let mut taller = graph.clone();
        taller.height += Bytes(1);
        let said = taller.check(&problem).unwrap_err();
        assert!(said.to_string().contains("the buffer"), "{said}");
        // An edge against time.
        let mut back = graph;
        let is_inner = |edge: &&mut AllocationEdge| edge.from.is_some() && edge.to.is_some();
        let inner = back.edges.iter_mut().find(is_inner).unwrap();
        std::mem::swap(&mut inner.from, &mut inner.to);
        assert!(matches!(back.check(&problem), Err(Error::Overlap { .. })));
    }
}
