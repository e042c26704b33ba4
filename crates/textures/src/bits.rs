//! A set of small integers with queries for the smallest and largest member in a range.

/// A set of numbers in `[0, capacity)`: a tree of 64-bit words. Insertions, removals and queries are O(log64 capacity) and do not allocate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits {
    /// The layers of the tree from the leaves to the root; a bit of a higher layer is set if the word below is not 0.
    layers: Vec<Box<[u64]>>,
}

impl Bits {
    pub(crate) fn new(capacity: u64) -> Bits {
        let mut layers = Vec::new();
        let mut words = capacity.max(1).div_ceil(64) as usize;
        loop {
            layers.push(vec![0; words].into_boxed_slice());
            if words == 1 {
                return Bits { layers };
            }
            words = words.div_ceil(64);
        }
    }

    pub(crate) fn insert(&mut self, number: u32) {
        let mut index = number as usize;
        for layer in &mut self.layers {
            layer[index / 64] |= 1 << (index % 64);
            index /= 64;
        }
    }

    pub(crate) fn remove(&mut self, number: u32) {
        let mut index = number as usize;
        for layer in &mut self.layers {
            layer[index / 64] &= !(1 << (index % 64));
            if layer[index / 64] != 0 {
                return;
            }
            index /= 64;
        }
    }

    /// The smallest member that is not below `from`.
    pub(crate) fn first_from(&self, from: u32) -> Option<u32> {
        let mut index = from as usize;
        for height in 0..self.layers.len() {
            let word = *self.layers[height].get(index / 64)?;
            let rest = word & (u64::MAX << (index % 64));
            if rest != 0 {
                let found = index / 64 * 64 + rest.trailing_zeros() as usize;
                return Some(self.descend(height, found, u64::trailing_zeros));
            }
            index = index / 64 + 1;
        }
        None
    }

    /// The largest member below `end`.
    pub(crate) fn last_below(&self, end: u32) -> Option<u32> {
        let mut end = end as usize;
        for height in 0..self.layers.len() {
            if end == 0 {
                return None;
            }
            let index = end - 1;
            let word = self.layers[height].get(index / 64).copied().unwrap_or(0);
            let rest = word & (u64::MAX >> (63 - index % 64));
            if rest != 0 {
                let found = index / 64 * 64 + 63 - rest.leading_zeros() as usize;
                return Some(self.descend(height, found, |word| 63 - word.leading_zeros()));
            }
            end = index / 64;
        }
        None
    }

    fn descend(&self, height: usize, mut index: usize, pick: impl Fn(u64) -> u32) -> u32 {
        for layer in self.layers[..height].iter().rev() {
            index = index * 64 + pick(layer[index]) as usize;
        }
        index as u32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::units::SplitMix64;

    #[test]
    fn it_agrees_with_an_ordered_set() {
        let mut random = SplitMix64::new(3);
        for capacity in [1, 63, 64, 65, 4096, 10_000] {
            let (mut bits, mut oracle) = (Bits::new(capacity), BTreeSet::new());
            for _ in 0..4000 {
                let number = random.below(capacity) as u32;
                if random.one_in(2) {
                    bits.insert(number);
                    oracle.insert(number);
                } else {
                    bits.remove(number);
                    oracle.remove(&number);
                }
                let at = random.below(capacity + 1) as u32;
                assert_eq!(
                    bits.first_from(at),
                    oracle.range(at..).next().copied(),
                    "from {at}"
                );
                assert_eq!(
                    bits.last_below(at),
                    oracle.range(..at).last().copied(),
                    "below {at}"
                );
            }
        }
    }
}
