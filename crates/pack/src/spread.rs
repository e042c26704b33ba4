//! Several memories in order of preference: items that do not fit in the first spill into the next.

use std::ops::ControlFlow;

use super::answer::{Progress, ProgressCallback, Steps, Verdict};
use super::{Packer, Problem, Strategy};
use crate::units::Bytes;

/// The memory and the offset of every item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpreadPacking {
    /// For each item, its memory and the offset in it; `None` for items that were not placed.
    pub places: Vec<Option<(usize, Bytes)>>,
    /// The height of each memory's packing.
    pub heights: Vec<Bytes>,
    /// `Proved` if the choice for each memory (for the last without a capacity: its height) is the best for the items left by the memories before it;
    /// this does not imply the best over all memories together.
    pub verdict: Verdict,
    /// Number of search steps used.
    pub steps: Steps,
}

/// Selects for each memory, in order, the remaining items with the largest total weight; a memory without a capacity takes all of them, packed as low as
/// possible. The problem's own capacity is ignored.
///
/// ```
/// use std::ops::ControlFlow;
/// use tileheap_pack::{Item, Problem, Steps, spread};
/// use tileheap_pack::units::{Alignment, Bytes, Span};
/// # let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
/// # let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)]; // those drawn in `pack`
///
/// let problem = Problem::new(items)?;
/// let memories = [Some(Bytes(4)), None]; // the fast one, and one that takes everything
/// let found = spread(&problem, &[10, 6, 100], &memories, Steps::default(), &mut |_| ControlFlow::Continue(()));
/// assert_eq!(found.places, [Some((0, Bytes(0))), Some((1, Bytes(0))), Some((1, Bytes(0)))]);
/// assert_eq!(found.heights, [Bytes(4), Bytes(7)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If there is not exactly one weight per item, or if the weights sum past 2^63.
pub fn spread(
    problem: &Problem,
    weights: &[u64],
    memories: &[Option<Bytes>],
    budget: Steps,
    watch: ProgressCallback<'_>,
) -> SpreadPacking {
    let mut packer = Packer::default();
    let mut left: Vec<u32> = (0..problem.units.len() as u32).collect();
    let mut spread = SpreadPacking {
        places: vec![None; problem.items().len()],
        heights: vec![Bytes::ZERO; memories.len()],
        verdict: Verdict::Proved,
        steps: Steps(0),
    };
    for (memory, &capacity) in memories.iter().enumerate() {
        let part = problem.part(&left, capacity.map(|capacity| capacity.0));
        let members = |&unit: &u32| problem.members_of(&problem.units[unit as usize]);
        let items: Vec<u32> = left.iter().flat_map(members).copied().collect();
        let rest = Steps(budget.0.saturating_sub(spread.steps.0));
        let before = spread.steps;
        let mut watch = |progress: Progress| -> ControlFlow<()> {
            let steps = Steps(before.0 + progress.steps.0);
            watch(Progress { steps, ..progress })
        };
        let (offsets, verdict, steps) = if capacity.is_some() {
            let weights: Vec<u64> = items.iter().map(|&item| weights[item as usize]).collect();
            let selection = packer.select(&part, &weights, rest, &mut watch);
            (selection.offsets, selection.verdict, selection.steps)
        } else {
            let answer = packer.minimize(&part, Strategy::Auto, rest, &mut watch);
            let offsets = answer
                .packing
                .map(|packing| packing.offsets)
                .map(|offsets| offsets.into_iter().map(Some).collect());
            let none = vec![None; items.len()];
            (offsets.unwrap_or(none), answer.verdict, answer.steps)
        };
        spread.steps.0 += steps.0;
        if spread.verdict == Verdict::Proved || verdict == Verdict::Interrupted {
            spread.verdict = verdict;
        }
        for (&item, &offset) in items.iter().zip(&offsets) {
            if let Some(offset) = offset {
                spread.places[item as usize] = Some((memory, offset));
            }
        }
        left.retain(|&unit| {
            let of = &problem.units[unit as usize];
            let first = of.members.of(&problem.members)[0];
            if let Some((_, offset)) = spread.places[first as usize] {
                spread.heights[memory] = spread.heights[memory].max(offset + Bytes(of.size));
            }
            spread.places[first as usize].is_none()
        });
    }
    spread
}
