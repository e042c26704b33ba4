//! The edges of an allocation graph, on which NNC's rules place tensors.

use tileheap_pack::units::{Alignment, Bytes};
use tileheap_pack::{Item, Packer, Packing, PackingStrategy, Problem, Strategy};

use super::facts::{align_up, are_plain, before, height};

/// The index of the dummy source and sink.
pub(super) const DUMMY: u32 = u32::MAX;

/// An edge: bytes that are free from the end of item `from`'s lifetime until the start of item `to`'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) offset: u64,
    pub(super) width: u64,
}

/// Packs a problem with the offsets that `place` returns for its items, if they have only lifetimes, sizes and alignments; otherwise by first fit.
///
/// The rules handle only lifetimes. Problems with fixed offsets, bounds, groups or conflicts use first fit in a similar order: the largest item first.
pub(super) fn pack_by_rule(
    problem: &Problem,
    packer: &mut Packer,
    packing: &mut Packing,
    place: impl FnOnce(&[Item]) -> Vec<u64>,
) {
    let items = problem.items();
    if are_plain(items) && problem.conflicts().is_empty() {
        let offsets = place(items);
        packing.height = height(items, &offsets);
        packing.offsets = offsets.into_iter().map(Bytes).collect();
    } else {
        Strategy::FirstFitBySize.pack_into(problem, packer, packing);
    }
}

/// Returns the index of the edge on which `size` bytes fit from the start of item `first` to the end of item `last`, with the fewest free steps before and
/// after them; on a tie, the narrowest, then the lowest.
pub(super) fn tightest(
    edges: &[Edge],
    items: &[Item],
    [first, last]: [u32; 2],
    size: u64,
    alignment: Alignment,
) -> Option<usize> {
    let (span, far) = (|index: u32| items[index as usize].span, u64::from(u32::MAX));
    // One end may be a dummy, but not both, as in a new edge.
    let fits = |edge: &Edge| {
        (edge.from != DUMMY || edge.to != DUMMY)
            && align_up(edge.offset, alignment) + size <= edge.offset + edge.width
            && (edge.from == DUMMY || before(items, edge.from, first))
            && (edge.to == DUMMY || before(items, last, edge.to))
    };
    let around = |edge: &Edge| {
        let before = match edge.from {
            DUMMY => far,
            from => u64::from(span(first).first.0 - span(from).end.0),
        };
        let after = match edge.to {
            DUMMY => far,
            to => u64::from(span(to).first.0 - span(last).end.0),
        };
        before + after
    };
    let edges = edges.iter().enumerate().filter(|(_, edge)| fits(edge));
    let tightest = edges.min_by_key(|(_, edge)| (around(edge), edge.width, edge.offset));
    tightest.map(|(index, _)| index)
}
