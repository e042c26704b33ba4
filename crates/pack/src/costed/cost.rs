//! The cost of reserving bytes in a step.

use crate::units::Bytes;

/// The cost of reserving bytes in a step of time: a non-decreasing step function of the number of bytes. Reserving nothing is free.
///
/// ```
/// use tileheap_pack::StepCost;
/// use tileheap_pack::units::Bytes;
///
/// // Each started block of 4 KiB costs 10.
/// let cost = StepCost::sampled(Bytes(16 << 10), |bytes| bytes.0.div_ceil(4096) * 10);
/// assert_eq!(cost.rises()[0], (Bytes(1), 10));
/// assert_eq!((cost.of(Bytes(4096)), cost.of(Bytes(4097))), (10, 20));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepCost {
    /// For each rise, the number of reserved bytes and the cost from there on, both ascending.
    rises: Vec<(Bytes, u64)>,
}

impl StepCost {
    /// No cost at any number of bytes.
    pub const FREE: StepCost = StepCost { rises: Vec::new() };

    /// Samples a non-decreasing function from 1 to `most` bytes; above `most`, the cost is the one at `most`. Each rise takes 16 bytes of memory.
    pub fn sampled(most: Bytes, cost: impl Fn(Bytes) -> u64) -> StepCost {
        StepCost::sampled_at(most.0, Bytes, cost)
    }

    /// Samples a non-decreasing function that rises only at the numbers of bytes `reserved(0)` to `reserved(last)`, which start at 0 and ascend.
    ///
    /// Takes fewer samples than [`StepCost::sampled`] where the numbers of bytes at which the cost may rise are known.
    pub fn sampled_at(last: u64, reserved: impl Fn(u64) -> Bytes, cost: impl Fn(Bytes) -> u64) -> StepCost {
        let at = |level| (level, cost(reserved(level)));
        let mut rises = Vec::new();
        // Rises are found by bisection.
        let mut stretches = vec![((0, 0), at(last))];
        while let Some((low, high)) = stretches.pop() {
            if low.1 == high.1 {
                continue;
            }
            if high.0 - low.0 == 1 {
                rises.push((reserved(high.0), high.1));
                continue;
            }
            let middle = at(low.0 + (high.0 - low.0) / 2);
            // The lower half last, to be taken first.
            stretches.push((middle, high));
            stretches.push((low, middle));
        }
        StepCost { rises }
    }

    /// Returns the numbers of bytes at which the cost rises, each with the cost from there on, ascending.
    pub fn rises(&self) -> &[(Bytes, u64)] {
        &self.rises
    }

    /// Returns true if no number of bytes has a cost.
    pub fn is_free(&self) -> bool {
        self.rises.is_empty()
    }

    /// Returns the cost of reserving a number of bytes.
    pub fn of(&self, reserved: Bytes) -> u64 {
        let above = self.rises.partition_point(|&(from, _)| from <= reserved);
        above.checked_sub(1).map_or(0, |rise| self.rises[rise].1)
    }

    /// Returns the largest reservation at each level of cost, up to and including `most`, with its cost.
    pub(super) fn levels(&self, most: u64) -> impl Iterator<Item = (u64, u64)> + use<'_> {
        let ends = self.rises.iter();
        let ends = ends.map(move |&(from, _)| from.0.saturating_sub(1).min(most));
        let costs = std::iter::once(0).chain(self.rises.iter().map(|&(_, cost)| cost));
        ends.chain(std::iter::once(most)).zip(costs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rise_is_found() {
        let stairs = |bytes: Bytes| match bytes.0 {
            0..5 => 0,
            5..6 => 3,
            6..100 => 10,
            _ => 11,
        };
        let cost = StepCost::sampled(Bytes(1000), stairs);
        assert_eq!(cost.rises(), [(Bytes(5), 3), (Bytes(6), 10), (Bytes(100), 11)]);
        for bytes in (0..200).map(Bytes) {
            assert_eq!(cost.of(bytes), stairs(bytes), "{bytes}");
        }
        let levels: Vec<_> = cost.levels(50).collect();
        assert_eq!(levels, [(4, 0), (5, 3), (50, 10), (50, 11)]);
        assert!(StepCost::FREE.is_free() && !cost.is_free());
    }
}
