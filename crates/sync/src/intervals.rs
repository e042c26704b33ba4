//! Byte ranges, indexed so that the ranges that overlap a given one are found quickly.
//!
//! ```text
//! lengths up to 256:    [0, 256)  [256, 512)  …       Each group is ordered by first byte: ranges that meet [300, 400) begin in (300 - 256, 400).
//! lengths up to 4096:   [0, 4096)  [4096, 8192)  …    Begins in (300 - 4096, 400).
//! ```

use std::collections::BTreeMap;

use tileheap_units::CompactSort;

/// Numbered byte ranges `[first, end)`.
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    /// The last byte of each range, by the binary logarithm of its length (rounded up), its first byte, and its number.
    ends: BTreeMap<(u32, u64, u64), u64>,
    /// Number of ranges, by the binary logarithm of their length.
    counts: BTreeMap<u32, usize>,
}

/// Returns the binary logarithm of a range's length, rounded up. An empty range counts as one byte.
fn exponent((first, end): (u64, u64)) -> u32 {
    let length = end.saturating_sub(first).max(1);
    u64::BITS - (length - 1).leading_zeros()
}

impl Intervals {
    /// Adds a range with its number. Takes logarithmic time.
    pub fn insert(&mut self, number: u64, range: (u64, u64)) {
        let exponent = exponent(range);
        let last = range.1.max(range.0.saturating_add(1)) - 1;
        if self.ends.insert((exponent, range.0, number), last).is_none() {
            *self.counts.entry(exponent).or_default() += 1;
        }
    }

    /// Removes a range that was added. Takes logarithmic time.
    pub fn remove(&mut self, number: u64, range: (u64, u64)) {
        let exponent = exponent(range);
        if self.ends.remove(&(exponent, range.0, number)).is_none() {
            return;
        }
        if let Some(count) = self.counts.get_mut(&exponent) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&exponent);
            }
        }
    }

    /// Returns the numbers of all ranges that share bytes with a given range, in ascending order. Takes time logarithmic in the number of ranges, and linear
    /// in the number of ranges of each length that begin shortly before it.
    pub fn overlapping(&self, (first, end): (u64, u64)) -> Vec<u64> {
        let end = end.max(first.saturating_add(1));
        let mut found = Vec::new();
        for exponent in self.counts.keys() {
            let longest = 1u64.checked_shl(*exponent).unwrap_or(u64::MAX);
            let from = first.saturating_sub(longest);
            let close = self.ends.range((*exponent, from, 0)..(*exponent, end, 0));
            let common = close.filter(|(_, last)| first <= **last);
            found.extend(common.map(|((.., number), _)| *number));
        }
        found.compact_sort();
        found
    }
}

#[cfg(test)]
mod tests {
    use tileheap_units::SplitMix64;

    use super::*;

    #[test]
    fn ranges_that_share_bytes_are_found() {
        let mut random = SplitMix64::new(1);
        for _ in 0..200 {
            let mut range = || {
                let first = random.below(1000);
                let longest = 1 << random.below(10);
                (first, first + 1 + random.below(longest))
            };
            let ranges: Vec<(u64, u64)> = (0..40).map(|_| range()).collect();
            let queries: Vec<(u64, u64)> = (0..20).map(|_| range()).collect();
            let mut intervals = Intervals::default();
            (0..)
                .zip(&ranges)
                .for_each(|(number, range)| intervals.insert(number, *range));
            (0..10).for_each(|number| intervals.remove(number as u64, ranges[number]));
            for query in queries {
                let meets = |number: &usize| ranges[*number].0 < query.1 && query.0 < ranges[*number].1;
                let expected: Vec<u64> = (10..40).filter(meets).map(|number| number as u64).collect();
                assert_eq!(intervals.overlapping(query), expected);
            }
        }
    }

    #[test]
    fn the_largest_and_the_smallest_ranges_are_found() {
        let mut intervals = Intervals::default();
        intervals.insert(1, (0, u64::MAX));
        intervals.insert(2, (7, 7));
        assert_eq!(intervals.overlapping((7, 8)), [1, 2]);
        assert_eq!(intervals.overlapping((8, 9)), [1]);
        intervals.remove(1, (0, u64::MAX));
        assert_eq!(intervals.overlapping((0, u64::MAX)), [2]);
    }
}
