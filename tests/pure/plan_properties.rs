//! The plan checker, which is independent of the planner, accepts plans of frames of every kind.

use std::sync::Arc;

use crate::planned::{plan_with, planned};
use ash::vk;
use tileheap::frame::import;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::measure::{Requirements, estimate, estimate_unpadded};
use tileheap::plan::{Ladder, Plan, PlanOptions, Planner, ResidencyStrategy, WindowRule, plan};
use tileheap::profile::{DeviceProfile, PRESETS};
use tileheap::units::Bytes;

fn accept(what: &str, plan: &Plan) {
    let faults = plan.violations();
    if let Some(first) = faults.first() {
        panic!("{what}: {} faults, the first: {first}\n{plan}", faults.len());
    }
}

#[test]
fn every_plan_is_accepted() {
    for seed in 0..2000 {
        let plan = planned(seed);
        accept(&format!("seed {seed}"), &plan);
        if seed % 20 == 0 {
            let text = plan.to_json();
            assert_eq!(Plan::from_json(&plan.input, &text).unwrap(), *plan, "seed {seed}");
        }
    }
}

/// Every published frame at two sizes, on every device, with every strategy; and with the rules of published tables.
#[test]
fn plans_of_published_frames_are_accepted() {
    let folder = tileheap_testkit::data("frames");
    let mut plans = 0;
    for name in [
        "granite_deferred_taa_bloom",
        "khronos_local_read_deferred",
        "qualcomm_tile_memory_sample",
    ] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        for (width, height) in [(1920, 1080), (643, 359)] {
            let imported = import::import_sized(&text, vk::Extent2D { width, height }).unwrap();
            let frame = &imported.frame;
            for preset in PRESETS {
                let profile = Arc::new(DeviceProfile::preset(preset).unwrap());
                let sizes =
                    estimate_unpadded(frame, &profile, &imported.claims, &imported.raw_texel_bytes).unwrap();
                let needs: [(WindowRule, Requirements); 2] = [
                    (WindowRule::Device, estimate(frame, &profile).unwrap()),
                    (WindowRule::WholeFrame, sizes),
                ];
                for (windows, requirements) in needs {
                    let requirements = Arc::new(requirements);
                    for strategy in ResidencyStrategy::ALL {
                        let options = PlanOptions {
                            strategy,
                            windows,
                            ..PlanOptions::default()
                        };
                        let plan = plan(frame, &requirements, &profile, &options).unwrap();
                        accept(
                            &format!("{name} at {width} x {height} on {preset}, {options:?}"),
                            &plan,
                        );
                        plans += 1;
                    }
                }
            }
        }
    }
    assert_eq!(plans, 3 * 2 * PRESETS.len() * 2 * ResidencyStrategy::ALL.len());
}

/// Random frames counted as in published tables, at every heap size: the choice is proved optimal within the default budget, and no other strategy is
/// better.
#[test]
fn counted_frames_are_proved_at_every_heap_size() {
    let mut open = Vec::new();
    for seed in 0..5 {
        let desc = SyntheticDesc {
            passes: 40,
            resources: 45,
            batches: 1,
            ..SyntheticDesc::default()
        };
        let frame = synthetic(seed, desc);
        for heap in 1..=24 {
            let preset = DeviceProfile::preset("adreno-830").unwrap();
            let profile = preset.with_tile_heap_size(Bytes::mib(heap)).unwrap();
            let with = |strategy| {
                let options = PlanOptions {
                    strategy,
                    windows: WindowRule::WholeFrame,
                    ladder: Ladder::Always,
                    bin_cost: Bytes::ZERO,
                    lazy: false,
                    budget: 100_000,
                    ..PlanOptions::default()
                };
                plan_with(&frame, &profile, &options)
            };
            let best = with(ResidencyStrategy::Optimal);
            let found = best.optimality.unwrap();
            if !found.is_proved() {
                open.push((seed, heap));
            }
            assert_eq!(found.value as u64, best.totals.on_chip_bytes.0);
            for strategy in [
                ResidencyStrategy::FirstCome,
                ResidencyStrategy::Fast,
                ResidencyStrategy::Greedy,
            ] {
                let other = with(strategy).totals.on_chip_bytes;
                assert!(
                    other <= best.totals.on_chip_bytes,
                    "seed {seed}, {heap} MiB, {strategy:?}"
                );
            }
        }
    }
    assert_eq!(open, []);
}

/// The default steps do not prove every plan optimal; repeated calls do, and never return a worse plan.
#[test]
fn a_planner_improves_what_its_steps_did_not_prove() {
    let desc = SyntheticDesc {
        passes: 256,
        resources: 400,
        batches: 17,
        ..SyntheticDesc::default()
    };
    let frame = synthetic(7, desc);
    let profile = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
    let needs = Arc::new(estimate(&frame, &profile).unwrap());
    let options = PlanOptions {
        budget: 50,
        ..PlanOptions::default()
    };
    let mut planner = Planner::new();
    let mut last = planner.plan(&frame, &needs, &profile, &options).unwrap();
    assert!(
        !last.optimality.unwrap().is_proved(),
        "50 steps are too many for this test"
    );
    for call in 0.. {
        let next = planner.improve(&frame, &needs, &profile, &options).unwrap();
        accept("improved", &next);
        assert_eq!(next.options, options);
        assert!(next.optimality.unwrap().value >= last.optimality.unwrap().value);
        // It is the cached plan for its inputs from then on.
        assert!(Arc::ptr_eq(
            &next,
            &planner.plan(&frame, &needs, &profile, &options).unwrap()
        ));
        if next.optimality.unwrap().is_proved() {
            assert!(Arc::ptr_eq(
                &next,
                &planner.improve(&frame, &needs, &profile, &options).unwrap()
            ));
            break;
        }
        assert!(call < 12, "each call has twice the steps");
        last = next;
    }
}
