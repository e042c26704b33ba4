//! Tables made by `lower` are accepted.

use tileheap::Checked;
use tileheap::frame::import::import;
use tileheap::lower::{DeviceQueues, LoweringDesc, lower};
use tileheap::plan::{Plan, PlanOptions};
use tileheap::profile::{DeviceProfile, PRESETS};

use super::{arrangements, device, executable};
use crate::planned::plan_with;

/// Lowers and checks the first frames of a plan.
fn accept(plan: &Checked<Plan>, queues: DeviceQueues, what: &str) {
    let mut lowering_desc = LoweringDesc::first(queues);
    for frame in 1..=4 {
        let tables =
            lower(plan, &lowering_desc).unwrap_or_else(|error| panic!("{what}, frame {frame}: {error}"));
        let errors = tables.violations(&plan.frame, &lowering_desc, &device(plan, &lowering_desc));
        assert!(
            errors.is_empty(),
            "{what}, frame {frame}, queues {:?}: {} errors: {}\n{}",
            lowering_desc.queues,
            errors.len(),
            errors[0],
            tables.text(&plan.frame)
        );
        lowering_desc = lowering_desc.after(&tables);
    }
}

#[test]
fn tables_of_random_frames_are_accepted() {
    for seed in 0..150 {
        let Some(plan) = executable(seed) else { continue };
        for queues in arrangements(&plan) {
            accept(&plan, queues, &format!("seed {seed}"));
        }
    }
}

#[test]
fn tables_of_real_frames_are_accepted() {
    for file in [
        "granite_deferred_taa_bloom",
        "khronos_local_read_deferred",
        "qualcomm_tile_memory_sample",
    ] {
        let path = tileheap_testkit::data("frames").join(format!("{file}.json"));
        let text = std::fs::read_to_string(path).unwrap();
        let frame = import(&text).unwrap().frame;
        for preset in PRESETS {
            let profile = DeviceProfile::preset(preset).unwrap();
            for split in [false, true] {
                let options = PlanOptions {
                    split,
                    ..PlanOptions::default()
                };
                let plan = plan_with(&frame, &profile, &options);
                for queues in arrangements(&plan) {
                    accept(&plan, queues, &format!("{file} on {preset}"));
                }
            }
        }
    }
}
