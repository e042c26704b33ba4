//! Planned frames generated from a seed: frames, devices and options of every kind that plans must support.

use std::sync::Arc;

use tileheap::Checked;
use tileheap::execute::ExecutedFrame;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::measure::{DedicatedRequirement, Requirements, estimate};
use tileheap::plan::{Ladder, Plan, PlanOptions, ResidencyStrategy, WindowRule, plan};
use tileheap::profile::{DeviceProfile, Features, PRESETS, TileBlock};
use tileheap::units::SplitMix64;
use tileheap::units::{Alignment, Bytes};
use tileheap_testkit::frames::extent;

/// Tile alignments, few of them powers of two.
const ALIGNMENTS: [u64; 6] = [12_288, 5 * 4096, 4096, 7 * 256, 1000, 1];

/// The plan of a frame for a device, with estimated sizes.
pub(crate) fn plan_with(
    frame: impl Into<ExecutedFrame>,
    profile: &DeviceProfile,
    options: &PlanOptions,
) -> Checked<Plan> {
    let executed = frame.into();
    let needs = Arc::new(estimate(executed.frame(), profile).unwrap());
    plan(executed, &needs, &Arc::new(profile.clone()), options).unwrap()
}

/// Like `plan_with`, with the default options.
pub(crate) fn plan_on(frame: impl Into<ExecutedFrame>, preset: &str) -> Checked<Plan> {
    plan_with(
        frame,
        &DeviceProfile::preset(preset).unwrap(),
        &PlanOptions::default(),
    )
}

/// The plan of a frame, device and options drawn from `seed`.
pub(crate) fn planned(seed: u64) -> Checked<Plan> {
    let mut random = SplitMix64::new(seed);
    let desc = frame_desc(&mut random);
    let mut frame = synthetic(seed, desc);
    if seed % 5 == 4 {
        let first = frame.resource_ids().next().into_iter();
        frame = frame.with_excluded(&first.collect::<Vec<_>>());
    }
    let mut frame = ExecutedFrame::as_described(&frame);
    if seed % 3 == 1 {
        frame = with_subpasses(frame);
    }
    // Merged passes are part of the description, or a rewrite.
    if seed % 2 == 0 {
        frame = ExecutedFrame::as_described(frame.frame());
    }
    let profile = profile(&mut random);
    let mut requirements = estimate(frame.frame(), &profile).unwrap();
    perturb(&mut requirements, &mut random);
    let options = PlanOptions {
        strategy: random.pick(&[
            ResidencyStrategy::Optimal,
            ResidencyStrategy::Greedy,
            ResidencyStrategy::Fast,
            ResidencyStrategy::FirstCome,
            ResidencyStrategy::Off,
        ]),
        windows: if random.one_in(12) {
            WindowRule::WholeFrame
        } else {
            WindowRule::Device
        },
        aliasing: !random.one_in(10),
        budget: 300,
        bin_cost: random.pick(&[Bytes::ZERO, PlanOptions::default().bin_cost, Bytes::mib(1)]),
        lazy: !random.one_in(4),
        ladder: random.pick(&[Ladder::Auto, Ladder::Always, Ladder::Off]),
        split: random.one_in(2),
        tile_limit: profile
            .tile
            .filter(|_| seed % 7 == 6)
            .map(|tile| Bytes(tile.size.0 / 2)),
    };
    plan(&frame, &Arc::new(requirements), &Arc::new(profile), &options).unwrap()
}

/// The frame with render passes merged where possible.
pub(crate) fn with_subpasses(mut frame: ExecutedFrame) -> ExecutedFrame {
    let passes: Vec<_> = frame.frame().pass_ids().collect();
    for pass in passes.into_iter().rev() {
        if let Some(merged) = frame.merged(pass) {
            frame = merged.unwrap();
        }
    }
    frame
}

fn frame_desc(random: &mut SplitMix64) -> SyntheticDesc {
    let side = |random: &mut SplitMix64| 64 + random.below(2000) as u32;
    SyntheticDesc {
        passes: 2 + random.below(40) as u32,
        resources: 4 + random.below(50) as u32,
        batches: 1 + random.below(6) as u32,
        queues: 1 + random.below(3) as u32,
        base_extent: extent(side(random), side(random)),
    }
}

/// A preset with another tile heap, other limits and other features.
fn profile(random: &mut SplitMix64) -> DeviceProfile {
    let mut profile = DeviceProfile::preset(random.pick(&PRESETS)).unwrap();
    let granularity = random.pick(&[1, 256, 1024, 65_536]);
    profile.limits.buffer_image_granularity = Alignment::new(granularity).unwrap();
    for feature in [
        Features::STORE_OP_NONE,
        Features::LOCAL_READ,
        Features::DYNAMIC_RENDERING,
    ] {
        profile.features.set(feature, !random.one_in(3));
    }
    if let Some(tile) = &mut profile.tile {
        tile.queue_submit_boundary = random.one_in(3);
        tile.buffer_transfers = random.one_in(2);
        tile.block = TileBlock {
            bytes: Alignment::new(random.pick(&ALIGNMENTS)).unwrap(),
            rows: random.pick(&[32, 16, 1]),
        };
        if random.one_in(2) {
            let size = Bytes(4096 + random.below(48 << 20));
            profile = profile.with_tile_heap_size(size).unwrap();
        }
    }
    profile
}

/// Driver behavior beyond estimates: larger sizes, refusals, preferred dedicated allocations.
fn perturb(requirements: &mut Requirements, random: &mut SplitMix64) {
    for requirement in &mut requirements.resources {
        if random.one_in(6) {
            requirement.size += Bytes(random.below(70_000));
            requirement.alignment = Alignment::new(random.pick(&[16, 256, 4096, 65_536])).unwrap();
        }
        if random.one_in(8) {
            requirement.tile = None;
        }
        requirement.dedicated = random.pick(&[
            DedicatedRequirement::No,
            DedicatedRequirement::No,
            DedicatedRequirement::No,
            DedicatedRequirement::No,
            DedicatedRequirement::No,
            DedicatedRequirement::No,
            DedicatedRequirement::Preferred,
            DedicatedRequirement::Required,
        ]);
    }
}
