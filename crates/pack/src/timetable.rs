//! An index of placed blocks by time; queries return blocks in ascending order of offsets.
//!
//! ```text
//! level 2   ├──0──┤──2──┤ …       buckets of two halves each, overlapping by one half:
//!              ├──1──┤──3──┤ …    every span no longer than a half is contained in one bucket
//! level 1   ├───────────0───────────┤──────────2── …
//! level 0   ├────────────────────── everything ──────────────────────── …
//! ```
//! A query scans one list, at the finest level that has a bucket for its span. While few blocks are placed, there is only level 0: below a thousand
//! blocks, scanning all of them is the fastest.

use crate::units::Span;

/// Bytes taken during a span.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// The span, which is never empty.
    span: Span,
    offset: u64,
    end: u64,
}

/// The number of units from which finer levels pay off.
pub(super) const MANY_UNITS: usize = 1024;
/// Divisors of the timeline's length, which give the half widths of the buckets at the finer levels.
const FINER_LEVELS: [u32; 4] = [8, 64, 512, 4096];
/// The half width of the finest level's buckets is at least the average lifetime divided by this, so that a block is in few buckets. Measured on the 28,526 items of
/// IOPDDL S_1, of which three quarters are live for less than 10 of 44,681 steps: greedy by size takes 440 ms with one list, 120 ms with levels.
const BUCKETS_PER_LIFETIME: u32 = 16;

/// Blocks by time and offset.
#[derive(Clone, Debug)]
pub(super) struct Timetable {
    /// The levels, from the coarsest, which has one bucket for everything.
    levels: Vec<Level>,
}

impl Default for Timetable {
    fn default() -> Timetable {
        Timetable {
            levels: vec![Level::new(u32::MAX)],
        }
    }
}

impl Timetable {
    /// Clears the index, and prepares it for lifetimes that end by `horizon` and last `average` steps on average, `longest` at most.
    pub(super) fn clear(&mut self, horizon: u32, average: u32, longest: u32) {
        self.levels.clear();
        self.levels.push(Level::new(u32::MAX));
        for parts in FINER_LEVELS {
            let half = (horizon / parts).max(1);
            if half < average.div_ceil(BUCKETS_PER_LIFETIME)
                || self.levels.last().is_some_and(|level| level.half == half)
            {
                break;
            }
            // Levels coarser than the longest lifetime are not needed.
            if half >= longest {
                self.levels.clear();
            }
            self.levels.push(Level::new(half));
        }
    }

    pub(super) fn insert(&mut self, span: Span, offset: u64, size: u64) {
        if span.is_empty() || size == 0 {
            return;
        }
        let block = Block {
            span,
            offset,
            end: offset + size,
        };
        for level in &mut self.levels {
            level.insert(block);
        }
    }

    /// Iterates over the blocks live at some step of `span`, as `[offset, end)` in ascending order of offsets.
    pub(super) fn blocks(&self, span: Span) -> impl Iterator<Item = (u64, u64)> {
        let level = self.levels.iter().rev().find(|level| span.len() <= level.half);
        let bucket = level.and_then(|level| level.buckets.get((span.first.0 / level.half) as usize));
        // No block's span is empty, and an empty query overlaps nothing, so two comparisons suffice.
        let Span { first, end } = if span.is_empty() {
            Span::new(u32::MAX, 0)
        } else {
            span
        };
        let chunks = bucket.map_or(&[][..], |bucket| &bucket.chunks);
        let blocks = chunks.iter().flatten();
        let alive = blocks.filter(move |block| block.span.first < end && first < block.span.end);
        alive.map(|block| (block.offset, block.end))
    }
}

/// Lists of the blocks that overlap each bucket's range of steps.
#[derive(Clone, Debug)]
struct Level {
    /// Half the width of a bucket: bucket `i` covers the steps `[i * half, (i + 2) * half)`.
    half: u32,
    buckets: Vec<ByOffset>,
}

impl Level {
    fn new(half: u32) -> Level {
        Level {
            half,
            buckets: Vec::new(),
        }
    }

    fn insert(&mut self, block: Block) {
        let first = (block.span.first.0 / self.half).saturating_sub(1) as usize;
        let last = ((block.span.end.0 - 1) / self.half) as usize;
        if self.buckets.len() <= last {
            self.buckets.resize_with(last + 1, ByOffset::default);
        }
        for bucket in &mut self.buckets[first..=last] {
            bucket.insert(block);
        }
    }
}

/// Blocks in ascending order of offsets, in chunks, so that an insertion moves few blocks.
#[derive(Clone, Debug, Default)]
struct ByOffset {
    chunks: Vec<Vec<Block>>,
}

/// A chunk of this many blocks is split in two.
const CHUNK: usize = 128;

impl ByOffset {
    fn insert(&mut self, block: Block) {
        if self.chunks.is_empty() {
            self.chunks.push(Vec::new());
        }
        let starts_below =
            |chunk: &Vec<Block>| chunk.first().is_some_and(|first| first.offset <= block.offset);
        let index = self.chunks.partition_point(starts_below).saturating_sub(1);
        let chunk = &mut self.chunks[index];
        let position = chunk.partition_point(|other| other.offset <= block.offset);
        chunk.insert(position, block);
        if chunk.len() == CHUNK {
            let upper = chunk.split_off(CHUNK / 2);
            self.chunks.insert(index + 1, upper);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::SplitMix64;

    /// On a long timeline of short, long and mixed lifetimes, every level gives the same answers as a scan of all blocks.
    #[test]
    fn finer_levels_answer_as_the_coarsest() {
        let mut random = SplitMix64::new(1);
        let mut table = Timetable::default();
        table.clear(80_000, 200, 80_000);
        let mut all: Vec<Block> = Vec::new();
        let span = |random: &mut SplitMix64| {
            let first = random.below(50_000) as u32;
            let reach = random.pick(&[1, 10, 1000, 30_000]);
            Span::new(first, first + 1 + random.below(reach) as u32)
        };
        for round in 0..3000 {
            let offset = random.below(100_000);
            let block = Block {
                span: span(&mut random),
                offset,
                end: offset + 1 + round,
            };
            table.insert(block.span, offset, 1 + round);
            all.push(block);
            if round % 7 == 0 {
                let query = span(&mut random);
                let expected = all.iter().filter(|block| block.span.overlaps(query));
                let mut expected: Vec<(u64, u64)> = expected.map(|block| (block.offset, block.end)).collect();
                expected.sort_by_key(|&(offset, _)| offset);
                assert_eq!(table.blocks(query).collect::<Vec<_>>(), expected, "{query}");
            }
        }
        assert!(table.levels.len() > 3);
        assert_eq!(table.blocks(Span::new(7, 7)).count(), 0);
        table.clear(0, 0, 0);
        assert_eq!(table.blocks(Span::new(0, 60_000)).count(), 0);
    }
}
