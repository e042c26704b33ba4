//! Binding of tile memory: one object per connected run of lifetimes, or a ladder of objects if that pays off.
//!
//! ```text
//! heap    ┌── b ──┐ ┌ d ┐                   b and d above a and c: what is bound falls when they die
//!         ├── a ──┴─┴─ c ──────┐
//! passes   0  1  2  3  4  5  6
//! one      ██ ██ ██ ██ ██ ██ ██             [0, 2) throughout
//! ladder   ██ ██ ██ ██ ██ █  █              [0, 2), then [0, 1): c has an image in each object
//! ```

use tileheap_pack::StepCost;
use tileheap_units::CompactSort;

use super::{MemoryKind, MemoryObject, ObjectId, Residency, TileResident};
use crate::plan::Ladder;
use crate::plan::context::Context;
use crate::plan::timeline::Timeline;
use crate::profile::TileHeap;
use crate::units::{Bytes, Span};

/// Connected runs of lifetimes, from residents sorted by first step: the span, the highest end, and the number of residents.
pub(super) fn runs(order: &[TileResident]) -> impl Iterator<Item = (Span, Bytes, usize)> {
    let mut rest = order;
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let (mut span, mut top, mut count) = (first.span, Bytes::ZERO, 0);
        while let Some(resident) = rest.get(count) {
            if count > 0 && resident.span.first >= span.end {
                break;
            }
            span.end = span.end.max(resident.span.end);
            top = top.max(resident.offset + resident.size);
            count += 1;
        }
        rest = &rest[count..];
        Some((span, top, count))
    })
}

/// Maximum number of tile memory objects in one plan: each is a `vkAllocateMemory`, and drivers may allow few.
const MAX_OBJECTS: usize = 16;
/// Maximum number of sizes among which the best [`MAX_OBJECTS`] are searched.
const MAX_SIZES: usize = 512;

/// Binds one object for all passes of each connected run of lifetimes in a window, or a ladder of objects, each as large as its passes need; passes that
/// need equal sizes share an object.
///
/// `binning_costs` are per pass, and empty if binning cost does not count: then a ladder is used only with [`Ladder::Always`].
pub(super) fn bind(
    context: &Context<'_>,
    heap: &TileHeap,
    mut residents: Vec<TileResident>,
    ladder: Ladder,
    binning_costs: &[StepCost],
) -> Residency {
    let timeline = &context.timeline;
    // Windows of one queue follow each other, but those of two queues may interleave: sort by window first.
    let window = |resident: &TileResident| timeline.window[resident.span.first.0 as usize];
    residents.compact_sort_by_key(|resident| (window(resident), resident.span.first, resident.resource));
    let mut tops = vec![Bytes::ZERO; context.frame.passes().len()];
    let mut reserved_by_runs = Bytes::ZERO;
    for stretch in residents.chunk_by(|a, b| window(a) == window(b)) {
        let number = window(&stretch[0]);
        let steps = |span: Span| {
            let steps = span.first.0 as usize..span.end.0 as usize;
            steps.filter(move |&step| timeline.window[step] == number)
        };
        let mut rest = stretch;
        for (span, top, count) in runs(stretch) {
            let (run, later) = rest.split_at(count);
            rest = later;
            reserved_by_runs += Bytes(top.0 * steps(span).count() as u64);
            if may_use_ladder(timeline, steps(span), ladder, binning_costs) {
                for resident in run {
                    for step in steps(resident.span) {
                        tops[step] = tops[step].max(resident.offset + resident.size);
                    }
                }
                if ladder == Ladder::Always || ladder_pays(binning_costs, steps(span), &tops, top) {
                    continue;
                }
            }
            steps(span).for_each(|step| tops[step] = top);
        }
    }
    let sizes = object_sizes(&tops);
    let object_of = |top: &Bytes| {
        let object = sizes.partition_point(|size| size < top);
        (*top > Bytes::ZERO).then_some(ObjectId(object as u32))
    };
    let object = |&size: &Bytes| MemoryObject {
        memory: MemoryKind::Tile,
        memory_type: heap.memory_type,
        size,
    };
    Residency {
        objects: sizes.iter().map(object).collect(),
        residents,
        bound: tops.iter().map(object_of).collect(),
        reserved_by_runs,
        optimality: None,
    }
}

/// Returns true if a ladder of objects is allowed. It is not allowed for a run on several queues, since an alias would be used on two of them.
fn may_use_ladder(
    timeline: &Timeline,
    mut steps: impl Iterator<Item = usize>,
    ladder: Ladder,
    binning_costs: &[StepCost],
) -> bool {
    if ladder == Ladder::Off || (ladder == Ladder::Auto && binning_costs.is_empty()) {
        return false;
    }
    let first = steps.next().map(|step| timeline.queue[step]);
    steps.all(|step| Some(timeline.queue[step]) == first)
}

/// Returns true if reserving only `tops[step]` in each step costs less than reserving `highest` in all steps.
fn ladder_pays(
    binning_costs: &[StepCost],
    steps: impl Iterator<Item = usize>,
    tops: &[Bytes],
    highest: Bytes,
) -> bool {
    let mut steps = steps;
    // Binning cost is monotonic in the reservation: one step with a lower cost is enough.
    steps.any(|step| binning_costs[step].of(tops[step]) < binning_costs[step].of(highest))
}

/// The sizes of tile objects for passes whose residents end at these tops: one per distinct top, or, beyond [`MAX_OBJECTS`], those that reserve the fewest
/// bytes.
fn object_sizes(tops: &[Bytes]) -> Vec<Bytes> {
    // Passes in a row often have the same top.
    let runs = tops.chunk_by(|a, b| a == b);
    let runs = runs.map(|run| (run[0], run.len() as u64));
    let mut sorted: Vec<(Bytes, u64)> = runs.filter(|run| run.0 > Bytes::ZERO).collect();
    sorted.compact_sort();
    // Each size, with the number of passes up to it.
    let mut sizes: Vec<(Bytes, u64)> = Vec::new();
    let mut passes = 0;
    for (top, count) in sorted {
        passes += count;
        match sizes.last_mut() {
            Some(last) if last.0 == top => last.1 = passes,
            _ => sizes.push((top, passes)),
        }
    }
    if sizes.len() <= MAX_OBJECTS {
        return sizes.into_iter().map(|(size, _)| size).collect();
    }
    if sizes.len() > MAX_SIZES {
        let evenly = |rank: usize| sizes[rank * sizes.len() / MAX_OBJECTS - 1].0;
        return (1..=MAX_OBJECTS).map(evenly).collect();
    }
    fewest_reserved(&sizes)
}

/// Selects the [`MAX_OBJECTS`] sizes that reserve the fewest bytes if every pass binds the smallest selected size that is large enough. Each size comes with
/// the number of passes that need at most that size.
fn fewest_reserved(sizes: &[(Bytes, u64)]) -> Vec<Bytes> {
    let passes = |from: usize, to: usize| sizes[to].1 - if from == 0 { 0 } else { sizes[from - 1].1 };
    // best[n][end]: the fewest bytes for the sizes up to `end` with n + 1 objects, and the start of the last one's range.
    let mut best: Vec<Vec<(u64, usize)>> = Vec::with_capacity(MAX_OBJECTS);
    let one = |end: usize| (passes(0, end) * sizes[end].0.0, 0);
    best.push((0..sizes.len()).map(one).collect());
    for objects in 1..MAX_OBJECTS {
        let before = &best[objects - 1];
        let cost = |from: usize, end: usize| before[from - 1].0 + passes(from, end) * sizes[end].0.0;
        let mut with = before.clone();
        lowest(&cost, (1, &mut with[1..]), (1, sizes.len() - 1));
        best.push(with);
    }
    let mut chosen = Vec::with_capacity(MAX_OBJECTS);
    let mut end = sizes.len();
    for of in best.iter().rev() {
        if end == 0 {
            break;
        }
        chosen.push(sizes[end - 1].0);
        end = of[end - 1].1;
    }
    chosen.reverse();
    chosen
}

/// For each range end from `first` on, sets the lowest cost of a range with this end, and the first start in `low..=high` that has this cost.
///
/// O(n log n): a later end never has an earlier start, since its range costs more per pass.
fn lowest(
    cost: &impl Fn(usize, usize) -> u64,
    (first, ends): (usize, &mut [(u64, usize)]),
    (low, high): (usize, usize),
) {
    let half = ends.len() / 2;
    let (before, rest) = ends.split_at_mut(half);
    let Some((own, after)) = rest.split_first_mut() else {
        return;
    };
    let end = first + half;
    let starts = low..=high.min(end);
    *own = starts.map(|from| (cost(from, end), from)).min().unwrap_or(*own);
    let start = own.1;
    lowest(cost, (first, before), (low, start));
    lowest(cost, (end + 1, after), (start, high));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::SplitMix64;

    #[test]
    fn starts_are_those_that_comparing_all_finds() {
        for seed in 0..200 {
            let mut random = SplitMix64::new(seed);
            let count = 1 + random.below(40) as usize;
            let (mut size, mut passes) = (0, 0);
            let sizes: Vec<(u64, u64)> = (0..count)
                .map(|_| {
                    size += 1 + random.below(5);
                    passes += 1 + random.below(5);
                    (size, passes)
                })
                .collect();
            let mut before: Vec<u64> = (0..count).map(|_| random.below(60)).collect();
            before.sort_unstable();
            let cost = |from: usize, end: usize| {
                before[from - 1] + (sizes[end].1 - sizes[from - 1].1) * sizes[end].0
            };
            let mut found = vec![(0, 0); count];
            lowest(&cost, (1, &mut found[1..]), (1, count - 1));
            for (end, found) in found.into_iter().enumerate().skip(1) {
                let all = (1..=end).map(|from| (cost(from, end), from)).min();
                assert_eq!(Some(found), all, "seed {seed}, end {end}");
            }
        }
    }

    #[test]
    fn past_the_most_objects_the_fewest_bytes_are_reserved() {
        // One pass each of 1 to 17, and 100 of 18: merging 1 and 2 costs one byte, and nothing costs less.
        let mut tops: Vec<Bytes> = (1..=17).map(Bytes).collect();
        tops.extend([Bytes(18); 100]);
        let sizes = object_sizes(&tops);
        assert_eq!(sizes.len(), MAX_OBJECTS);
        let reserved = |top: &Bytes| sizes.iter().find(|size| *size >= top).unwrap().0;
        let sum: u64 = tops.iter().map(reserved).sum();
        let exact: u64 = tops.iter().map(|top| top.0).sum();
        assert_eq!(sum, exact + 2);
    }
}
