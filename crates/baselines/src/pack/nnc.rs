#![doc = include_str!("../../docs/nnc.md")]

use std::cmp::Reverse;

use tileheap_pack::{Item, Packer, Packing, PackingStrategy, Problem};

use super::edges::{DUMMY, Edge, pack_by_rule, tightest};
use super::facts::{align_up, ordered, overlap_counts, takes_bytes};

/// NNC's packing rule as released: the largest item first, along the edges of an allocation graph. O(n³).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nnc;

impl PackingStrategy for Nnc {
    fn name(&self) -> &str {
        "nnc"
    }

    fn description(&self) -> &str {
        "NNC as released: largest first, along the edges of an allocation graph"
    }

    fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing) {
        pack_by_rule(problem, packer, packing, |items| {
            Insertion::default().place(items)
        });
    }
}

/// The insertion rule, with its scratch memory.
#[derive(Debug, Default)]
struct Insertion {
    edges: Vec<Edge>,
    /// For each item, the number of remaining items that conflict with it.
    conflicts: Vec<u32>,
    left: Vec<u32>,
}

impl Insertion {
    /// Returns the offsets of items that have no fixed offsets, bounds, groups or conflicts.
    ///
    /// Complexity: O(n³) if all sizes are equal.
    fn place(&mut self, items: &[Item]) -> Vec<u64> {
        self.edges.clear();
        self.conflicts = overlap_counts(items);
        // Items that take no bytes at any step never conflict.
        let mut offsets = vec![0; items.len()];
        let all = 0..items.len() as u32;
        self.left = all.filter(|&index| takes_bytes(&items[index as usize])).collect();
        let mut height = 0;
        while let Some(most) = self.left.iter().map(|&index| items[index as usize].size).max() {
            let mut candidates = self.left.clone();
            candidates.retain(|&index| items[index as usize].size == most);
            candidates.sort_by_key(|&index| Reverse(self.conflicts[index as usize]));
            let mut tried = candidates.iter();
            let found = tried.find_map(|&index| {
                let alignment = items[index as usize].alignment;
                let edge = tightest(&self.edges, items, [index; 2], most.0, alignment)?;
                Some((index, edge))
            });
            let (index, edge) = found.unwrap_or_else(|| {
                let offset = align_up(height, items[candidates[0] as usize].alignment);
                height = offset + most.0;
                self.edges.push(Edge {
                    from: DUMMY,
                    to: DUMMY,
                    offset,
                    width: most.0,
                });
                (candidates[0], self.edges.len() - 1)
            });
            offsets[index as usize] = self.insert(&items[index as usize], index, edge);
            self.left.retain(|&other| other != index);
            for &other in &self.left {
                if !ordered(items, index, other) {
                    self.conflicts[other as usize] -= 1;
                }
            }
        }
        offsets
    }

    /// Places an item on an edge and splits the edge around it; returns the item's offset.
    fn insert(&mut self, item: &Item, index: u32, edge: usize) -> u64 {
        let old = self.edges.swap_remove(edge);
        let offset = align_up(old.offset, item.alignment);
        let end = offset + item.size.0;
        let parts = [
            (old.from, old.to, old.offset, offset),
            (old.from, old.to, end, old.offset + old.width),
            (old.from, index, offset, end),
            (index, old.to, offset, end),
        ];
        let parts = parts.into_iter().filter(|(_, _, start, end)| start < end);
        self.edges.extend(parts.map(|(from, to, offset, end)| Edge {
            from,
            to,
            offset,
            width: end - offset,
        }));
        offset
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::facts::height;
    use super::*;
    use tileheap_pack::allocation_graph::{AllocationEdge, AllocationGraph};
    use tileheap_pack::units::{Alignment, Bytes, Span, SplitMix64};
    use tileheap_pack::{Error, pack};

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

    fn random(seed: u64, count: usize) -> Problem {
        let mut random = SplitMix64::new(seed);
        let items = (0..count).map(|_| {
            let first = random.below(20) as u32;
            (first, first + 1 + random.below(6) as u32, random.below(9))
        });
        problem(&items.collect::<Vec<_>>())
    }

    /// The edges that the rule leaves are those of the allocation graph derived from its offsets.
    #[test]
    fn the_rules_own_edges_are_the_allocation_graph() {
        let mut rule = Insertion::default();
        for seed in 0..300 {
            let problem = random(seed, 3 + seed as usize % 30);
            let offsets = rule.place(problem.items());
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
            let own = rule
                .edges
                .iter()
                .map(|own| edge(own.from, own.to, own.offset, own.width));
            assert_eq!(bytes(own.collect()), bytes(graph.edges), "seed {seed}");
        }
    }

    #[test]
    fn a_graph_that_loses_bytes_is_refused() {
        let problem = random(7, 20);
        let packing = pack(&problem, Nnc);
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
        assert!(said.to_string().contains("the block"), "{said}");
        // An edge that goes back in time.
        let mut back = graph;
        let is_inner = |edge: &&mut AllocationEdge| edge.from.is_some() && edge.to.is_some();
        let inner = back.edges.iter_mut().find(is_inner).unwrap();
        std::mem::swap(&mut inner.from, &mut inner.to);
        assert!(matches!(back.check(&problem), Err(Error::Overlap { .. })));
    }
}
