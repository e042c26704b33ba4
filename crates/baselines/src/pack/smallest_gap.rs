//! The arenas of LiteRT and IREE: each item goes to the smallest gap between the items that are live with it, otherwise above them.
//!
//! Source: `tensorflow/lite/arena_planner.cc` and `simple_memory_arena.cc` of LiteRT 2.3; `LayoutSlices.cpp` of IREE 3.13.

use std::cmp::Reverse;

use tileheap_pack::units::Bytes;
use tileheap_pack::{Item, Packer, Packing, PackingStrategy, Problem, Strategy};

use super::facts::{align_up, are_plain, takes_bytes};

/// LiteRT's arena: places items that are live throughout first, then the others in descending order of size (on a tie, the one that starts first),
/// each in the smallest gap. O(n²).
///
/// LiteRT keeps inputs and variables until the end: give them lifetimes that end with the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LitertArena;

impl PackingStrategy for LitertArena {
    fn name(&self) -> &str {
        "litert-arena"
    }

    fn description(&self) -> &str {
        "LiteRT's arena: largest first, into the smallest gap"
    }

    fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing) {
        let items = problem.items();
        let begin = items.iter().map(|item| item.span.first).min();
        let end = items.iter().map(|item| item.span.end).max();
        let is_throughout = |item: &Item| Some(item.span.first) == begin && Some(item.span.end) == end;
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by_key(|&index| {
            let item = &items[index];
            match is_throughout(item) {
                true => (false, Reverse(Bytes::ZERO), 0),
                false => (true, Reverse(item.size), item.span.first.0),
            }
        });
        place(problem, &order, |item| item.size.0, packer, packing);
    }
}

/// IREE's layout of slices: places items in the given order, each in the smallest gap, with sizes rounded up to the alignment. The total that IREE
/// reports is the height, also rounded up to the alignment. O(n²).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iree;

impl PackingStrategy for Iree {
    fn name(&self) -> &str {
        "iree"
    }

    fn description(&self) -> &str {
        "IREE's layout of slices: in order, into the smallest gap"
    }

    fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing) {
        let order: Vec<usize> = (0..problem.items().len()).collect();
        let rounded = |item: &Item| align_up(item.size.0, item.alignment);
        place(problem, &order, rounded, packer, packing);
    }
}

/// Places items in the given order, each in the smallest gap, with the sizes that `size_of` returns. Uses first fit instead if items have fixed offsets,
/// bounds, groups or conflicts.
fn place(
    problem: &Problem,
    order: &[usize],
    size_of: impl Fn(&Item) -> u64,
    packer: &mut Packer,
    packing: &mut Packing,
) {
    let items = problem.items();
    let rounds = items
        .iter()
        .try_fold(0u64, |all, item| all.checked_add(size_of(item)));
    if !are_plain(items) || !problem.conflicts().is_empty() || rounds.is_none() {
        return Strategy::FirstFitBySize.pack_into(problem, packer, packing);
    }
    packing.height = Bytes::ZERO;
    packing.offsets.clear();
    packing.offsets.resize(items.len(), Bytes::ZERO);
    // The placed items by offset: the first byte, the byte after the last, and the item.
    let mut placed: Vec<(u64, u64, usize)> = Vec::new();
    for &index in order {
        let item = &items[index];
        if !takes_bytes(item) {
            continue;
        }
        let size = size_of(item);
        let (mut current, mut best) = (0, None);
        let live = placed
            .iter()
            .filter(|(.., other)| items[*other].span.overlaps(item.span));
        for &(start, end, _) in live {
            let offset = align_up(current, item.alignment);
            // The gap that is compared begins at the aligned offset, the one that is kept before it.
            let fits = offset + size <= start;
            if fits && best.is_none_or(|(_, least)| start - offset < least) {
                best = Some((offset, start - current));
            }
            current = current.max(end);
        }
        let offset = best.map_or_else(|| align_up(current, item.alignment), |(offset, _)| offset);
        let at = placed.partition_point(|&(start, ..)| start < offset);
        placed.insert(at, (offset, offset + size, index));
        packing.offsets[index] = Bytes(offset);
        packing.height = packing.height.max(Bytes(offset) + item.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tileheap_pack::units::{Alignment, Span};
    use tileheap_pack::{check, pack};

    /// At step 2, 6 bytes are free at offset 2 and 3 bytes at offset 10: an item of 3 bytes takes the smaller gap.
    #[test]
    fn the_smallest_gap_is_taken() {
        let items = [
            (0, 9, 2),
            (0, 1, 6),
            (0, 9, 2),
            (0, 1, 3),
            (0, 9, 1),
            (2, 3, 3),
            (2, 3, 5),
        ];
        let item = |&(first, end, size)| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
        let problem = Problem::new(items.iter().map(item).collect()).unwrap();
        let packing = pack(&problem, Iree);
        assert_eq!(packing.offsets, [0, 2, 8, 10, 13, 10, 2].map(Bytes));
        for packing in [packing, pack(&problem, LitertArena)] {
            check(&problem, &packing).unwrap();
        }
    }
}
