//! Histories of which frames with different descriptions write and read different parts: only what no frame has written is cleared.

mod described;
mod frames;
mod texels;

use std::collections::BTreeSet;

use ash::vk;
use tileheap::Checked;
use tileheap::frame::tables::HistoryVersion;
use tileheap::frame::{AccessKind, SubresourceRange};
use tileheap::lower::check::{LoweredCheckError, LoweringRule};
use tileheap::lower::{LoweringDesc, lower};
use tileheap::plan::Plan;
use tileheap::units::{Run, SplitMix64};

use self::described::{Described, SLICES, color, part_of, planned, random_frame, volume, whole};
use self::frames::{Frames, Ran};
use crate::lowered_check::device;

/// Two or three plans of one image, one of which may not read its previous version.
fn random_plans(seed: u64) -> Vec<Checked<Plan>> {
    let mut random = SplitMix64::new(seed);
    let (levels, layers) = (1 + random.below(4) as u32, 1 + random.below(4) as u32);
    let mut desc = match seed % 3 {
        0 => volume(levels),
        _ => color(levels, layers),
    };
    if seed % 3 == 1 {
        desc.format = vk::Format::D32_SFLOAT_S8_UINT;
    }
    let count = 2 + random.below(2);
    (0..count)
        .map(|at| {
            let (apart, cut) = (seed % 2 == 0, at > 0 && random.one_in(4));
            planned(&random_frame(desc, apart, cut, &mut random), apart)
        })
        .collect()
}

#[test]
fn only_what_no_frame_has_written_is_cleared() {
    let (mut cleared, mut kept) = (0, 0);
    for seed in 0..120 {
        let plans = random_plans(seed);
        let (mut frames, mut random) = (Frames::new(), SplitMix64::new(seed));
        for _ in 0..8 {
            let ran = frames.run(&plans[random.below(plans.len() as u64) as usize]);
            let part = ran
                .barriers
                .iter()
                .any(|(_, old)| *old != vk::ImageLayout::UNDEFINED);
            cleared += u32::from(!ran.cleared.is_empty() && part);
            kept += u32::from(ran.cleared.is_empty() && part);
        }
    }
    assert!(cleared > 40 && kept > 150, "{cleared}, {kept}");
}

/// A state in which a part of one range is not written, although earlier frames have written it.
fn with_less(
    plan: &Checked<Plan>,
    lowering_desc: &LoweringDesc,
    random: &mut SplitMix64,
) -> Option<LoweringDesc> {
    let id = plan.frame.resource_named("history").unwrap();
    let mut less = lowering_desc.clone();
    let contents = &mut less.before.contents;
    if contents.is_empty() {
        return None;
    }
    let at = random.below(contents.len() as u64) as usize;
    let range = contents[at].range;
    let mut rest = part_of(range, random);
    if plan.frame.resource(id).is_3d() {
        rest.layers = Run::new(0, (SLICES >> rest.levels.first).max(1));
    }
    match rest == range {
        true => _ = contents.remove(at),
        false => contents[at].range = rest,
    }
    Some(less)
}

/// In a frame of random plans, tables for a history with fewer written parts than in reality are refused, and the reverse.
#[test]
fn other_clears_than_those_of_what_no_frame_has_written_are_refused() {
    let mut tried = 0;
    for seed in 0..90 {
        let plans = random_plans(seed);
        let (mut frames, mut random) = (Frames::new(), SplitMix64::new(seed));
        for _ in 0..6 {
            let plan = &plans[random.below(plans.len() as u64) as usize];
            let Ran {
                lowering_desc,
                tables,
                ..
            } = frames.run(plan);
            let Some(less) = with_less(plan, &lowering_desc, &mut random) else {
                continue;
            };
            let clearing = lower(plan, &less).unwrap().into_inner();
            if clearing == tables {
                // Nothing reads that part.
                continue;
            }
            let device = device(plan, &lowering_desc);
            let errors = clearing.violations(&plan.frame, &lowering_desc, &device);
            let right = |error: &LoweredCheckError| error.rule == LoweringRule::Parameter("range");
            assert!(
                errors.iter().any(right),
                "seed {seed}: clears what was written: {errors:?}"
            );
            let errors = tables.violations(&plan.frame, &less, &device);
            let right = |error: &LoweredCheckError| error.rule == LoweringRule::Contents;
            assert!(
                errors.iter().any(right),
                "seed {seed}: does not clear: {errors:?}"
            );
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried}");
}

/// Runs a frame of each of these plans, and returns the last one.
fn last_of<const N: usize>(plans: [&Checked<Plan>; N]) -> Ran {
    let mut frames = Frames::new();
    plans.map(|plan| frames.run(plan)).into_iter().last().unwrap()
}

fn layers(first: u32, end: u32) -> SubresourceRange {
    SubresourceRange {
        layers: Run::new(first, end),
        ..whole(&color(1, 2))
    }
}

/// An image with two layers, with these writes after a read of these layers of its previous version.
fn two_layers(
    previous: Option<SubresourceRange>,
    writes: &[(AccessKind, SubresourceRange)],
) -> Checked<Plan> {
    let mut described = Described::new(color(1, 2));
    if let Some(range) = previous {
        described.read(AccessKind::SampledImage, range, HistoryVersion::Previous);
    }
    for &(kind, range) in writes {
        described.write(kind, range);
    }
    planned(&described.build(), true)
}

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const COPIED_TO: vk::ImageLayout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;

#[test]
fn a_history_that_a_frame_leaves_whole_is_read_by_layer() {
    let both = [(AccessKind::StorageImage, layers(0, 2))];
    let cut = two_layers(None, &both);
    let [one, other] = [layers(0, 1), layers(1, 2)].map(|layer| two_layers(Some(layer), &both));
    for (plan, layer) in [(&one, layers(0, 1)), (&other, layers(1, 2))] {
        // The first frame, and after a camera cut.
        assert!(!last_of([plan]).cleared.is_empty());
        for ran in [last_of([&cut, plan]), last_of([plan, &cut, plan])] {
            assert!(ran.cleared.is_empty(), "{:?}", ran.cleared);
            assert_eq!(ran.barriers, [(layer, GENERAL)]);
        }
    }
}

#[test]
fn a_history_that_a_frame_leaves_in_layers_is_read_whole() {
    let (stored, copied) = (AccessKind::StorageImage, AccessKind::TransferDestination);
    let read = two_layers(Some(layers(0, 2)), &[(stored, layers(0, 2))]);
    let alike = two_layers(None, &[(stored, layers(0, 1)), (stored, layers(1, 2))]);
    assert_eq!(last_of([&alike, &read]).barriers, [(layers(0, 2), GENERAL)]);
    let unlike = two_layers(None, &[(stored, layers(0, 1)), (copied, layers(1, 2))]);
    let ran = last_of([&unlike, &read]);
    assert!(ran.cleared.is_empty(), "{:?}", ran.cleared);
    assert_eq!(ran.barriers, [(layers(0, 1), GENERAL), (layers(1, 2), COPIED_TO)]);
    let half = two_layers(None, &[(stored, layers(1, 2))]);
    let ran = last_of([&half, &read]);
    let color = vk::ImageAspectFlags::COLOR.as_raw();
    assert_eq!(ran.cleared, BTreeSet::from([(color, 0, 0)]));
    assert!(
        ran.barriers.contains(&(layers(1, 2), GENERAL)),
        "{:?}",
        ran.barriers
    );
}
