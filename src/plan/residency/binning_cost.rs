//! Binning cost of a reservation, per pass.

use std::collections::HashMap;

use crate::frame::Frame;
use crate::plan::model::{self, PassShape};
use crate::profile::DeviceProfile;
use crate::profile::binning::GRANULARITY;
use crate::units::Bytes;

/// The binning cost of reserving bytes in one pass: a monotonic step function.
#[derive(Clone, Debug, Default)]
pub(in crate::plan) struct BinningCost {
    /// (Reserved bytes, binning cost from there on); ascending, with no binning cost below the first.
    steps: Vec<(u64, u64)>,
}

impl BinningCost {
    /// Returns true if reserving is free, whatever the size.
    pub(super) fn is_none(&self) -> bool {
        self.steps.is_empty()
    }

    /// The binning cost of `reserved` bytes, in bytes of traffic.
    pub(in crate::plan) fn of(&self, reserved: u64) -> u64 {
        let above = self.steps.partition_point(|&(from, _)| from <= reserved);
        above.checked_sub(1).map_or(0, |step| self.steps[step].1)
    }

    /// The largest reservation at each level of binning cost, up to and including `most`, with its binning cost.
    pub(super) fn levels(&self, most: u64) -> impl Iterator<Item = (u64, u64)> + use<'_> {
        let ends = self
            .steps
            .iter()
            .map(move |&(from, _)| from.saturating_sub(1).min(most));
        let binning_costs =
            std::iter::once(0).chain(self.steps.iter().map(|&(_, binning_cost)| binning_cost));
        ends.chain(std::iter::once(most)).zip(binning_costs)
    }

    /// Samples a monotonic function of the reservation that rises only at the values of `reserved` for `0..=last`, ascending from 0.
    pub(super) fn sampled(
        last: u64,
        reserved: impl Fn(u64) -> u64,
        binning_cost: impl Fn(u64) -> u64,
    ) -> BinningCost {
        let mut steps = Vec::new();
        let at = |level| (level, binning_cost(reserved(level)));
        // Steps are where the function rises: found by bisection.
        let mut stretches = vec![(at(0), at(last))];
        while let Some((low, high)) = stretches.pop() {
            if low.1 == high.1 {
                continue;
            }
            if high.0 - low.0 == 1 {
                steps.push((reserved(high.0), high.1));
                continue;
            }
            let middle = at(low.0 + (high.0 - low.0) / 2);
            // The lower half last, to be taken first.
            stretches.push((middle, high));
            stretches.push((low, middle));
        }
        BinningCost { steps }
    }
}

/// Per pass of the frame, the binning cost of reserving tile memory; zero if bins cost nothing.
pub(in crate::plan) fn binning_costs(
    frame: &Frame,
    profile: &DeviceProfile,
    bin_cost: Bytes,
) -> Vec<BinningCost> {
    let mut known: HashMap<PassShape, BinningCost> = HashMap::new();
    let heap = profile.tile.map_or(Bytes::ZERO, |tile| tile.size);
    let mut binning_costs = Vec::with_capacity(frame.passes().len());
    for pass in frame.pass_ids() {
        let Some(shape) =
            model::shape(frame, pass).filter(|_| bin_cost > Bytes::ZERO && profile.gmem > Bytes::ZERO)
        else {
            binning_costs.push(BinningCost::default());
            continue;
        };
        let binning_cost = known
            .entry(shape)
            .or_insert_with(|| of_shape(profile.gmem, heap, shape, bin_cost));
        binning_costs.push(binning_cost.clone());
    }
    binning_costs
}

/// The cost of reserving up to `most` of `gmem` for a pass with a shape.
///
/// Tile sizes are whole numbers of grains, so the number of tiles changes only when a grain less is left.
fn of_shape(gmem: Bytes, most: Bytes, shape: PassShape, bin_cost: Bytes) -> BinningCost {
    let grain = shape.bytes_per_pixel * u64::from(GRANULARITY.0) * u64::from(GRANULARITY.1);
    let Some(all) = gmem.0.checked_div(grain) else {
        return BinningCost::default();
    };
    let last = all - gmem.0.saturating_sub(most.0) / grain;
    let reserved = |level: u64| match level {
        0 => 0,
        _ => gmem.0 - (all - level + 1) * grain + 1,
    };
    let alone = model::tiles(gmem, Bytes::ZERO, shape);
    let more = |reserved| model::tiles(gmem, Bytes(reserved), shape).saturating_sub(alone);
    BinningCost::sampled(last, reserved, |reserved| {
        more(reserved).saturating_mul(bin_cost.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_shapes_are_those_of_the_model() {
        let (gmem, most) = (Bytes(12 << 20), Bytes(13 << 20));
        for (area, bytes_per_pixel) in [
            ((1920, 1080), 16),
            ((1280, 720), 7),
            ((64, 64), 4),
            ((4096, 1), 640),
        ] {
            let shape = PassShape {
                area,
                bytes_per_pixel,
            };
            let cost = of_shape(gmem, most, shape, Bytes(10));
            let known = |reserved| model::binning_cost(gmem, Bytes(reserved), shape, Bytes(10)).0;
            for reserved in (0..=most.0).step_by(4099) {
                assert_eq!(cost.of(reserved), known(reserved), "{reserved} of {shape:?}");
            }
            for &(from, _) in &cost.steps {
                assert!(known(from - 1) < known(from), "{from} of {shape:?}");
            }
        }
    }

    #[test]
    fn every_rise_is_found() {
        let stairs = |bytes: u64| match bytes {
            0..5 => 2,
            5..6 => 3,
            6..100 => 10,
            _ => 11,
        };
        let binning_cost = BinningCost::sampled(1000, |bytes| bytes, stairs);
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
