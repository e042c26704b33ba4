//! Random problems of 16 items: plain ones, and ones with alignments, conflicts, groups and bounds.

use tileheap_pack::units::SplitMix64;
use tileheap_pack::units::{Alignment, Bytes, Span};
use tileheap_pack::{Item, Problem, ProblemDesc};

/// Features that a random problem may have in addition to plain items.
#[derive(Clone, Copy, Debug)]
pub struct ProblemKind {
    /// True if sizes and offsets are multiples of 4,096 bytes.
    pub pages: bool,
    /// True if alignments vary from 1 to 7 (times 4,096 if `pages` is true).
    pub alignments: bool,
    /// True if items may have fixed offsets, bounds on offsets, and groups, most of which have gaps in their lifetimes.
    pub constraints: bool,
    /// True if pairs of items are declared to conflict.
    pub pairs: bool,
}

/// Returns `count` random problems of 16 items with the features of `kind`.
pub fn sixteen_items(kind: ProblemKind, count: usize) -> Vec<Problem> {
    let mut random = SplitMix64::new(16);
    let page = if kind.pages { 4096 } else { 1 };
    let drawn = std::iter::from_fn(|| {
        let mut desc = ProblemDesc::default();
        for index in 0..16 {
            let first = random.below(24) as u32;
            let end = first + 1 + random.below(8) as u32;
            let alignment = page * if kind.alignments { 1 + random.below(7) } else { 1 };
            let aligned = Alignment::new(alignment).expect("it is not 0");
            let mut item = Item::new(
                Span::new(first, end),
                Bytes((1 + random.below(64)) * page),
                aligned,
            );
            match random.below(if kind.constraints { 10 } else { 1 }) {
                1 => item.fixed = Some(Bytes(random.below(40) * alignment)),
                2 => item.lowest = Bytes(random.below(80) * page),
                3 => item.highest = Some(Bytes((20 + random.below(200)) * page)),
                4..6 => item.together = Some(random.below(2) as u32),
                _ => {}
            }
            if kind.pairs && index > 0 && random.below(3) == 0 {
                desc.conflicts.push((random.below(index) as u32, index as u32));
            }
            desc.items.push(item);
        }
        // Invalid problems are skipped.
        Some(desc.build().ok())
    });
    drawn.flatten().take(count).collect()
}

/// All combinations of `pairs` and `odd`, each with either `pages` or `alignments`.
pub fn every_kind() -> impl Iterator<Item = ProblemKind> {
    (0..8).map(|bits| ProblemKind {
        pages: bits & 1 == 0,
        alignments: bits & 1 > 0,
        pairs: bits & 2 > 0,
        constraints: bits & 4 > 0,
    })
}
