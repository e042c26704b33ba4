//! Binning cost of a reservation, per pass.

use std::collections::HashMap;

use crate::frame::Frame;
use crate::plan::model::{self, PassShape};
use crate::profile::DeviceProfile;
use crate::profile::binning::GRANULARITY;
use crate::units::Bytes;
use tileheap_pack::StepCost;

/// Per pass of the frame, the binning cost of reserving tile memory; zero in passes that are not binned, if bins cost nothing, and if the GMEM size is
/// unknown.
pub(in crate::plan) fn binning_costs(
    frame: &Frame,
    profile: &DeviceProfile,
    bin_cost: Bytes,
) -> Vec<StepCost> {
    let mut known: HashMap<PassShape, StepCost> = HashMap::new();
    let heap = profile.tile.map_or(Bytes::ZERO, |tile| tile.size);
    let mut binning_costs = Vec::with_capacity(frame.passes().len());
    for pass in frame.pass_ids() {
        let Some(shape) =
            model::shape(frame, pass).filter(|_| bin_cost > Bytes::ZERO && profile.gmem > Bytes::ZERO)
        else {
            binning_costs.push(StepCost::FREE);
            continue;
        };
        let binning_cost = known
            .entry(shape)
            .or_insert_with(|| of_shape(profile.gmem, heap, shape, bin_cost));
        binning_costs.push(binning_cost.clone());
    }
    binning_costs
}

/// The binning cost of a pass with a shape, as a function of the bytes of `gmem` that are reserved, up to `most`.
///
/// Tile sizes are whole numbers of grains, so the number of tiles changes only when a grain less is left.
fn of_shape(gmem: Bytes, most: Bytes, shape: PassShape, bin_cost: Bytes) -> StepCost {
    let grain = shape.bytes_per_pixel * u64::from(GRANULARITY.0) * u64::from(GRANULARITY.1);
    let Some(all) = gmem.0.checked_div(grain) else {
        return StepCost::FREE;
    };
    let last = all - gmem.0.saturating_sub(most.0) / grain;
    let reserved = |level: u64| match level {
        0 => Bytes::ZERO,
        _ => Bytes(gmem.0 - (all - level + 1) * grain + 1),
    };
    let alone = model::tiles(gmem, Bytes::ZERO, shape);
    let more = |reserved| model::tiles(gmem, reserved, shape).saturating_sub(alone);
    StepCost::sampled_at(last, reserved, |reserved| {
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
                assert_eq!(
                    cost.of(Bytes(reserved)),
                    known(reserved),
                    "{reserved} of {shape:?}"
                );
            }
            for &(Bytes(from), _) in cost.rises() {
                assert!(known(from - 1) < known(from), "{from} of {shape:?}");
            }
        }
    }
}
