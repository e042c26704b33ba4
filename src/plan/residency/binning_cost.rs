//! What a reservation costs, pass by pass.

use crate::plan::context::Context;
use crate::plan::model::{self, PassShape};
use crate::units::Bytes;

/// The binning cost of reserving bytes in one pass: a step function that never falls.
#[derive(Clone, Debug, Default)]
pub(super) struct BinningCost {
    /// From so many reserved bytes on, so much binning cost; ascending, from 0 binning cost below the first.
    steps: Vec<(u64, u64)>,
}

impl BinningCost {
    /// Whether reserving costs nothing, however much.
    pub(super) fn is_none(&self) -> bool {
        self.steps.is_empty()
    }

    /// The binning cost of `reserved` bytes, in bytes of traffic.
    pub(super) fn of(&self, reserved: u64) -> u64 {
        let above = self.steps.partition_point(|&(from, _)| from <= reserved);
        above.checked_sub(1).map_or(0, |step| self.steps[step].1)
    }

    /// The largest reservations of each level of binning cost, `most` included, with their binning cost.
    pub(super) fn levels(&self, most: u64) -> impl Iterator<Item = (u64, u64)> + use<'_> {
        let ends = self
            .steps
            .iter()
            .map(move |&(from, _)| from.saturating_sub(1).min(most));
        let binning_costs =
            std::iter::once(0).chain(self.steps.iter().map(|&(_, binning_cost)| binning_cost));
        ends.chain(std::iter::once(most)).zip(binning_costs)
    }

    /// Samples a function that never falls, at reservations up to `most`.
    pub(super) fn sampled(most: u64, binning_cost: impl Fn(u64) -> u64) -> BinningCost {
        let mut steps = Vec::new();
        // A step is where the function rises: found by halving, stretch by stretch.
        let mut stretches = vec![((0, binning_cost(0)), (most, binning_cost(most)))];
        while let Some((low, high)) = stretches.pop() {
            if low.1 == high.1 {
                continue;
            }
            if high.0 - low.0 == 1 {
                steps.push(high);
                continue;
            }
            let middle = low.0 + (high.0 - low.0) / 2;
            let middle = (middle, binning_cost(middle));
            // The lower half last, to be looked at first.
            stretches.push((middle, high));
            stretches.push((low, middle));
        }
        BinningCost { steps }
    }
}

/// Per pass of the frame, the binning cost of reserving tile memory; none where bins cost nothing.
pub(super) fn binning_costs(context: &Context<'_>) -> Vec<BinningCost> {
    let Context { frame, profile, .. } = context;
    let bin_cost = context.options.bin_cost;
    let mut known: Vec<(PassShape, BinningCost)> = Vec::new();
    let heap = profile.tile.map_or(Bytes::ZERO, |tile| tile.size);
    let mut binning_costs = Vec::with_capacity(frame.passes().len());
    for pass in frame.pass_ids() {
        let Some(shape) =
            model::shape(frame, pass).filter(|_| bin_cost > Bytes::ZERO && profile.gmem > Bytes::ZERO)
        else {
            binning_costs.push(BinningCost::default());
            continue;
        };
        let binning_cost = match known.iter().find(|(other, _)| *other == shape) {
            Some((_, binning_cost)) => binning_cost.clone(),
            None => {
                let of = |reserved| model::binning_cost(profile.gmem, Bytes(reserved), shape, bin_cost).0;
                let binning_cost = BinningCost::sampled(heap.0, of);
                known.push((shape, binning_cost.clone()));
                binning_cost
            }
        };
        binning_costs.push(binning_cost);
    }
    binning_costs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rise_is_found() {
        let stairs = |bytes: u64| match bytes {
            0..5 => 2,
            5..6 => 3,
            6..100 => 10,
            _ => 11,
        };
        let binning_cost = BinningCost::sampled(1000, stairs);
        assert_eq!(binning_cost.steps, [(5, 3), (6, 10), (100, 11)]);
        assert_eq!(
            (
                binning_cost.of(4),
                binning_cost.of(5),
                binning_cost.of(99),
                binning_cost.of(1000)
            ),
            (0, 3, 10, 11)
        );
        let levels: Vec<_> = binning_cost.levels(50).collect();
        assert_eq!(levels, [(4, 0), (5, 3), (50, 10), (50, 11)]);
    }
}
