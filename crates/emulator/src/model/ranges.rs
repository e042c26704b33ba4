//! Sets of bytes as sorted, disjoint, half-open ranges.

/// A set of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// The bytes `[first, end)`.
    pub(crate) fn of(first: u64, end: u64) -> Ranges {
        let mut ranges = Ranges::default();
        ranges.add(first, end);
        ranges
    }

    /// Adds `[first, end)`.
    pub(crate) fn add(&mut self, mut first: u64, mut end: u64) {
        if first >= end {
            return;
        }
        self.0.retain(|range| {
            let apart = range.1 < first || end < range.0;
            if !apart {
                first = first.min(range.0);
                end = end.max(range.1);
            }
            apart
        });
        let at = self.0.partition_point(|range| range.0 < first);
        self.0.insert(at, (first, end));
    }

    /// Takes `[first, end)` away.
    pub(crate) fn remove(&mut self, first: u64, end: u64) {
        if first >= end || !self.intersects(first, end) {
            return;
        }
        let pieces = self
            .0
            .iter()
            .flat_map(|range| [(range.0, range.1.min(first)), (range.0.max(end), range.1)]);
        self.0 = pieces.filter(|range| range.0 < range.1).collect();
    }

    /// Whether all of `[first, end)` is in the set.
    pub(crate) fn covers(&self, first: u64, end: u64) -> bool {
        self.0.iter().any(|range| range.0 <= first && end <= range.1)
    }

    /// Whether some of `[first, end)` is in the set.
    pub(crate) fn intersects(&self, first: u64, end: u64) -> bool {
        self.0.iter().any(|range| range.0 < end && first < range.1)
    }

    /// The bytes of `[first, end)` that are in the set.
    pub(crate) fn within(&self, first: u64, end: u64) -> Ranges {
        let parts = self.0.iter().map(|range| (range.0.max(first), range.1.min(end)));
        Ranges(parts.filter(|range| range.0 < range.1).collect())
    }

    /// The first range; `None` of an empty set.
    pub(crate) fn first(&self) -> Option<(u64, u64)> {
        self.0.first().copied()
    }

    /// The ranges, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_a_set_of_bytes() {
        let mut naive = [false; 64];
        let mut ranges = Ranges::default();
        let mut seed = 1u64;
        for _ in 0..4000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (a, b, add) = (seed >> 33 & 63, seed >> 40 & 63, seed >> 50 & 1 == 0);
            if add {
                ranges.add(a, b);
            } else {
                ranges.remove(a, b);
            }
            (a..b).for_each(|byte| naive[byte as usize] = add);
            let bytes = |first: u64, end: u64| naive[first as usize..end as usize].iter();
            if a < b {
                assert_eq!(ranges.covers(a, b), bytes(a, b).all(|byte| *byte));
            }
            let (c, d) = (seed >> 20 & 31, 32 + (seed >> 26 & 31));
            assert_eq!(ranges.covers(c, d), bytes(c, d).all(|byte| *byte));
            assert_eq!(ranges.intersects(c, d), bytes(c, d).any(|byte| *byte));
            let sorted = ranges.0.windows(2).all(|pair| pair[0].1 < pair[1].0);
            assert!(sorted, "{ranges:?}");
        }
    }
}
