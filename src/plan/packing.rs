//! Packs the placements of one memory type heuristically, to minimize the bytes, the arenas and the aliasing barriers.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use tileheap_pack::{self, ByteOwners, Item, Packing, Problem, ProblemDesc, Steps};
use tileheap_units::CompactSort;

use super::{DEFAULT_BUDGET, PlanOptions, ResidencyStrategy};
use crate::units::Bytes;

/// Units of the plan's budget, beyond the default budget, that one step of the packing search costs; the search runs after the cheap rules.
const BUDGET_PER_STEP: u64 = 64;

/// Maximum number of items for which the planner searches for a packing with fewer aliasing barriers, in O(items³) time.
const MAX_ITEMS: usize = 64;

/// One arena: its items and their offsets.
pub(super) struct Arena {
    /// Indices of the items.
    pub(super) items: Vec<u32>,
    pub(super) packing: Packing,
}

/// Packs items into one arena, or into several if one would be larger than `limit`. No item may be larger than `limit`.
///
/// ```text
/// one arena     ├ a ┤├ b ┤ limit ├ c ┤├ d ┤      items below the limit stay, with others that fit there;
/// two           ├ a ┤├ b ┤       ├ c ┤├ d ┤      the rest is packed again
/// ```
pub(super) fn pack_arenas(
    items: &[Item],
    conflicts: &[(u32, u32)],
    limit: Bytes,
    options: &PlanOptions,
) -> Result<Vec<Arena>, tileheap_pack::Error> {
    let pack = |wanted: &[u32]| -> Result<Packing, tileheap_pack::Error> {
        let problem = part(items, conflicts, wanted).build()?;
        Ok(match options.strategy {
            ResidencyStrategy::Fast => {
                tileheap_pack::pack(&problem, tileheap_pack::Strategy::FirstFitByBirth)
            }
            _ => fewest_barriers(&problem, smallest(&problem, options.budget)),
        })
    };
    let mut arenas = Vec::new();
    let mut left: Vec<u32> = (0..items.len() as u32).collect();
    loop {
        let packing = pack(&left)?;
        if packing.height <= limit || left.len() < 2 {
            arenas.push(Arena { items: left, packing });
            return Ok(arenas);
        }
        let end = |at: usize| packing.offsets[at] + items[left[at] as usize].size;
        let mut order: Vec<usize> = (0..left.len()).collect();
        order.compact_sort_by_key(|&at| (end(at), left[at]));
        // Something is at offset 0, so that at least one item is.
        let below = order.partition_point(|&at| end(at) <= limit).max(1);
        let first = |count: usize| -> Vec<u32> {
            let mut first: Vec<u32> = order[..count].iter().map(|&at| left[at]).collect();
            first.compact_sort();
            first
        };
        // More items than those below the limit may fit when they are packed by themselves.
        let (mut most, mut too_many) = (below, order.len());
        let mut best = None;
        while most + 1 < too_many {
            let count = most.midpoint(too_many);
            let packed = pack(&first(count))?;
            match packed.height <= limit {
                true => (most, best) = (count, Some(packed)),
                false => too_many = count,
            }
        }
        let taken = first(most);
        let packed = match best {
            Some(packed) => packed,
            None => restricted_packing(items, &left, &packing, &taken),
        };
        left.retain(|item| taken.binary_search(item).is_err());
        arenas.push(Arena {
            items: taken,
            packing: packed,
        });
    }
}

/// The packing of `all`, restricted to the items in `taken`.
fn restricted_packing(items: &[Item], all: &[u32], packing: &Packing, taken: &[u32]) -> Packing {
    let offset = |item: &u32| packing.offsets[all.partition_point(|other| other < item)];
    let ends = taken.iter().map(|item| offset(item) + items[*item as usize].size);
    Packing {
        height: ends.max().unwrap_or_default(),
        offsets: taken.iter().map(offset).collect(),
    }
}

/// The packing problem of only the `wanted` items, in this order, with their conflicts.
fn part(items: &[Item], conflicts: &[(u32, u32)], wanted: &[u32]) -> ProblemDesc {
    let mut desc = ProblemDesc::new(wanted.iter().map(|&item| items[item as usize]).collect());
    let place = |item: u32| Some(wanted.binary_search(&item).ok()? as u32);
    let pairs = conflicts
        .iter()
        .filter_map(|&(a, b)| Some((place(a)?, place(b)?)));
    desc.conflicts = pairs.collect();
    desc
}

/// Packs by two rules whose heights are seldom far from the lower bound, and keeps the smaller packing, or on a tie the one with fewer barriers. If its
/// height exceeds the bound, and the budget exceeds the default budget, searches for a smaller one.
fn smallest(problem: &Problem, budget: u64) -> Packing {
    let rules = [
        tileheap_pack::Strategy::FirstFitByBirth,
        tileheap_pack::Strategy::FirstFitBySize,
    ];
    let bound = tileheap_pack::lower_bound(problem);
    let [first, second] = rules.map(|rule| tileheap_pack::pack(problem, rule));
    let barriers = |packing: &Packing| count_reuses(problem, &packing.offsets);
    let order = first.height.cmp(&second.height);
    let best = match order.then_with(|| barriers(&first).cmp(&barriers(&second))) {
        Ordering::Less | Ordering::Equal => first,
        Ordering::Greater => second,
    };
    let steps = Steps(budget.saturating_sub(DEFAULT_BUDGET) / BUDGET_PER_STEP);
    if best.height == bound || steps == Steps(0) {
        return best;
    }
    let mut watch = |_| ControlFlow::Continue(());
    let answer = tileheap_pack::minimize(problem, tileheap_pack::Strategy::Auto, steps, &mut watch);
    let found = answer.packing.filter(|found| found.height < best.height);
    found.unwrap_or(best)
}

/// The items in the order in which their lifetimes begin; on a tie, larger items first.
fn in_order_of_start(problem: &Problem) -> Vec<u32> {
    let mut order: Vec<u32> = (0..problem.items().len() as u32).collect();
    order.compact_sort_by_key(|&item| {
        let Item { span, size, .. } = problem.items()[item as usize];
        (span.first, std::cmp::Reverse(size), item)
    });
    order
}

/// Number of pairs of items in which the later item reuses bytes of the earlier one: each pair needs an aliasing barrier.
fn count_reuses(problem: &Problem, offsets: &[Bytes]) -> usize {
    let mut owners = ByteOwners::default();
    let mut lost = Vec::new();
    let mut count = 0;
    for item in in_order_of_start(problem) {
        let (offset, size) = (offsets[item as usize], problem.items()[item as usize].size);
        lost.clear();
        owners.take(offset.0, (offset + size).0, item, &mut lost);
        count += distinct(lost.iter().map(|&(_, _, owner)| owner));
    }
    count
}

fn distinct(owners: impl Iterator<Item = u32>) -> usize {
    let mut all: Vec<u32> = owners.collect();
    all.compact_sort();
    all.dedup();
    all.len()
}

/// A packing of the same height with fewer aliasing barriers, if one is found, otherwise `packing`: places each item where it reuses bytes of the fewest other
/// items.
fn fewest_barriers(problem: &Problem, packing: Packing) -> Packing {
    let items = problem.items();
    if items.len() > MAX_ITEMS {
        return packing;
    }
    let now = count_reuses(problem, &packing.offsets);
    if now < 2 {
        return packing;
    }
    match place_with_fewest_reuses(problem, packing.height) {
        Some(offsets) if count_reuses(problem, &offsets) < now => {
            let ends = offsets
                .iter()
                .zip(items)
                .map(|(&offset, item)| offset + item.size);
            Packing {
                height: ends.max().unwrap_or_default(),
                offsets,
            }
        }
        _ => packing,
    }
}

/// Places the items in the order of [`in_order_of_start`], each where it reuses bytes of the fewest earlier items, and returns the offsets; `None` if an item does
/// not fit below `height`.
fn place_with_fewest_reuses(problem: &Problem, height: Bytes) -> Option<Vec<Bytes>> {
    let items = problem.items();
    let mut offsets = vec![Bytes::ZERO; items.len()];
    let mut placed: Vec<u32> = Vec::with_capacity(items.len());
    let mut owners = ByteOwners::default();
    let mut lost = Vec::new();
    for item in in_order_of_start(problem) {
        let Item {
            span,
            size,
            alignment,
            ..
        } = items[item as usize];
        let ends = |other: &u32| offsets[*other as usize] + items[*other as usize].size;
        let is_apart = |other: &&u32| {
            let theirs = items[**other as usize].span;
            let at_once = theirs.first < span.end && span.first < theirs.end;
            let pair = [(item, **other), (**other, item)];
            at_once || problem.conflicts().iter().any(|conflict| pair.contains(conflict))
        };
        let apart: Vec<u32> = placed.iter().filter(is_apart).copied().collect();
        let candidates = placed.iter().map(|other| ends(other).align_up(alignment));
        let has_room = |offset: &Bytes| {
            let end = *offset + size;
            let shares = |other: &u32| offsets[*other as usize] < end && *offset < ends(other);
            end <= height && !apart.iter().any(shares)
        };
        let takes = |offset: Bytes| {
            let end = (offset + size).0;
            let shared = owners
                .ranges()
                .filter(|&(first, last, _)| first < end && offset.0 < last);
            distinct(shared.map(|(_, _, owner)| owner))
        };
        let rooms = candidates.chain([Bytes::ZERO]).filter(has_room);
        let offset = rooms.min_by_key(|&offset| (takes(offset), offset))?;
        owners.take(offset.0, (offset + size).0, item, &mut lost);
        offsets[item as usize] = offset;
        placed.push(item);
    }
    Some(offsets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Alignment, Span, SplitMix64};

    fn item(first: u32, end: u32, size: u64) -> Item {
        Item::new(Span::new(first, end), Bytes(size), Alignment::ONE)
    }

    fn random(seed: u64) -> Vec<Item> {
        let mut random = SplitMix64::new(seed);
        let one = |_| {
            let first = random.below(20) as u32;
            item(first, first + 1 + random.below(6) as u32, 1 + random.below(9))
        };
        (0..24).map(one).collect()
    }

    #[test]
    fn fewer_barriers_cost_no_bytes() {
        let mut fewer = 0;
        for seed in 0..200 {
            let problem = Problem::new(random(seed)).unwrap();
            let packing = smallest(&problem, DEFAULT_BUDGET);
            let better = fewest_barriers(&problem, packing.clone());
            tileheap_pack::check(&problem, &better).unwrap();
            assert!(better.height <= packing.height, "seed {seed}");
            let [before, after] = [&packing, &better].map(|one| count_reuses(&problem, &one.offsets));
            assert!(after <= before, "seed {seed}: {after} of {before}");
            fewer += usize::from(after < before);
        }
        assert!(fewer > 0);
    }

    #[test]
    fn arenas_are_no_larger_than_the_largest_allocation() {
        for seed in 0..100 {
            let items = random(seed);
            let conflicts = [(0, 1), (2, 3)];
            let options = PlanOptions::default();
            let [one] = &pack_arenas(&items, &conflicts, Bytes(u64::MAX), &options).unwrap()[..] else {
                panic!("one arena without a limit");
            };
            let mut limit = one.packing.height;
            while limit >= Bytes(9) {
                let arenas = pack_arenas(&items, &conflicts, limit, &options).unwrap();
                let mut all: Vec<u32> = arenas.iter().flat_map(|arena| arena.items.clone()).collect();
                all.compact_sort();
                assert_eq!(all, (0..items.len() as u32).collect::<Vec<_>>(), "seed {seed}");
                for Arena { items: of, packing } in &arenas {
                    assert!(
                        packing.height <= limit,
                        "seed {seed}: {} of {limit}",
                        packing.height
                    );
                    let problem = part(&items, &conflicts, of).build().unwrap();
                    tileheap_pack::check(&problem, packing).unwrap();
                }
                limit = Bytes(limit.0 * 2 / 3);
            }
        }
    }
}
