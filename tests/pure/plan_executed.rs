//! Plans of rewritten frames: they have one map to the described frame, and count in its terms.

use std::sync::Arc;

use serde_json::Value;
use tileheap::execute::{ExecutedFrame, OriginError, OriginRule, Origins};
use tileheap::frame::Frame;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::measure::estimate;
use tileheap::plan::check::PlanRule;
use tileheap::plan::{Plan, PlanError, PlanOptions, Planner, ResidencyStrategy, plan};
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;

use crate::planned::{plan_with, with_subpasses};

fn described(seed: u64) -> Frame {
    let desc = SyntheticDesc {
        passes: 10 + seed as u32 % 30,
        resources: 10 + seed as u32 % 25,
        ..SyntheticDesc::default()
    };
    synthetic(seed, desc)
}

fn split() -> PlanOptions {
    PlanOptions {
        split: true,
        ..PlanOptions::default()
    }
}

/// Frames with passes that can be merged, with their device.
fn merged() -> impl Iterator<Item = (ExecutedFrame, DeviceProfile)> {
    let all = (0..60).map(|seed| with_subpasses(ExecutedFrame::as_described(&described(seed))));
    let small = DeviceProfile::preset("adreno-830").unwrap();
    let small = small.with_tile_heap_size(Bytes::mib(3)).unwrap();
    all.filter(|executed| !executed.is_as_described())
        .map(move |executed| (executed, small.clone()))
}

#[test]
fn totals_are_those_of_the_described_frame() {
    let (mut plans, mut splits) = (0, 0);
    for (executed, profile) in merged() {
        let options = split();
        let plan = plan_with(&executed, &profile, &options);
        let as_described = plan_with(executed.described(), &profile, &options);
        plan.check().unwrap();
        assert_eq!(plan.described(), executed.described());
        assert_eq!(plan.input, executed);
        assert_eq!(plan.totals.traffic_bytes, as_described.totals.traffic_bytes);
        let moved = plan.dram_traffic();
        assert_eq!(plan.totals.on_chip_bytes + moved, plan.totals.traffic_bytes);
        assert!(plan.totals.on_chip_bytes <= plan.totals.eligible_bytes);
        // Without a tile heap, the traffic that merged passes save stays on chip.
        let off = PlanOptions {
            strategy: ResidencyStrategy::Off,
            ..options
        };
        let off = plan_with(&executed, &profile, &off);
        let apart = plan_with(executed.frame(), &profile, &off.options);
        assert_eq!(off.dram_traffic(), apart.totals.traffic_bytes);
        assert_eq!(off.totals.on_chip_bytes, off.totals.eligible_bytes);
        let kept = off.totals.traffic_bytes.0 - apart.totals.traffic_bytes.0;
        assert_eq!(off.totals.on_chip_bytes.0, kept);
        plans += 1;
        splits += usize::from(plan.stores().next().is_some());
    }
    assert!(
        plans > 20 && splits > 0,
        "{plans} plans, {splits} of them with stores"
    );
}

#[test]
fn passes_are_found_in_all_three_frames() {
    for (executed, profile) in merged() {
        let plan = plan_with(&executed, &profile, &split());
        let input = executed.frame();
        for pass in input.pass_ids() {
            let runs = plan.pass_of_input(pass);
            assert_eq!(plan.frame.pass(runs).name, input.pass(pass).name);
            assert_eq!(plan.input_pass(runs), pass);
            let described: Vec<_> = executed.described_passes(pass).collect();
            let of_plan = plan.executed();
            assert_eq!(of_plan.described_passes(runs).collect::<Vec<_>>(), described);
            assert_eq!(plan.described_pass(runs), described[0].pass);
            for run in described {
                assert_eq!(plan.executed_pass(run.pass), runs);
            }
        }
        for store in plan.stores() {
            let before = plan.pass_of_input(plan.input_pass(store.pass));
            assert!(before < store.pass);
            let described = [store.from, store.to].map(|id| plan.origins.resource(id).resource);
            assert_eq!(described[0], described[1]);
        }
    }
}

#[test]
fn json_keeps_the_map() {
    for (executed, profile) in merged().take(20) {
        let plan = plan_with(&executed, &profile, &split());
        let text = plan.to_json();
        assert_eq!(Plan::from_json(&executed, &text).unwrap(), *plan);
        // Not read as the plan of the same frame without a map, nor of the described one.
        let fault = Plan::from_json(executed.frame(), &text).unwrap_err().to_string();
        assert!(
            fault.contains("`runs`") || fault.contains("`origin`") || fault.contains("totals"),
            "{fault}"
        );
        Plan::from_json(executed.described(), &text).unwrap_err();
        // Values written for readers must be consistent with the map.
        let mut damaged: Value = serde_json::from_str(&text).unwrap();
        let passes = damaged["passes"].as_array_mut().unwrap();
        let merged = passes.iter_mut().find_map(|pass| pass["runs"].get_mut(1));
        merged.expect("passes are merged")["pass"] = "nowhere".into();
        let fault = Plan::from_json(&executed, &damaged.to_string());
        let fault = fault.unwrap_err().to_string();
        assert!(fault.contains("nowhere") && fault.contains("runs"), "{fault}");
    }
}

#[test]
fn planners_remember_plans_by_frame_and_map() {
    let (executed, profile) = merged().next().unwrap();
    let (profile, options) = (Arc::new(profile), split());
    let needs = Arc::new(estimate(executed.frame(), &profile).unwrap());
    let mut planner = Planner::new();
    let first = planner.plan(&executed, &needs, &profile, &options).unwrap();
    let again = planner.plan(&executed, &needs, &profile, &options).unwrap();
    assert!(Arc::ptr_eq(&first, &again));
    assert!(planner.cached_plan(&executed, &profile, &options).is_some());
    // The same frame, described as it runs, counts differently.
    let as_described = executed.frame();
    assert!(planner.cached_plan(as_described, &profile, &options).is_none());
    let other = planner.plan(as_described, &needs, &profile, &options).unwrap();
    assert_eq!(other.described(), as_described);
    let now = planner.plan_now(&executed, &needs, &profile, &options).unwrap();
    assert_eq!(now, first);
    // A repaired plan keeps the map.
    let limited = PlanOptions {
        tile_limit: Some(Bytes::mib(1)),
        ..options
    };
    let repaired = planner.plan_now(&executed, &needs, &profile, &limited).unwrap();
    assert_eq!(repaired.input, executed);
    repaired.check().unwrap();
}

#[test]
fn wrong_maps_and_stores_are_refused() {
    let (executed, profile) = merged().next().unwrap();
    let needs = Arc::new(estimate(executed.frame(), &profile).unwrap());
    let profile = Arc::new(profile);
    let [frame, described] = [executed.frame(), executed.described()].map(Frame::clone);
    let wrong = ExecutedFrame::new(frame, described, Origins::IDENTITY);
    match plan(&wrong, &needs, &profile, &split()) {
        Err(tileheap::Error::Origin(OriginError { rule, .. })) => {
            assert_ne!(rule, OriginRule::Queues);
        }
        other => panic!("{other:?}"),
    }
    let mut stores = executed
        .splittable()
        .filter_map(|(resource, after)| executed.split(resource, after));
    let with_store = stores.next().unwrap().unwrap();
    let needs = Arc::new(estimate(with_store.frame(), &profile).unwrap());
    match plan(&with_store, &needs, &profile, &split()) {
        Err(tileheap::Error::Plan(PlanError::HasStores { pass, .. })) => {
            assert!(pass.starts_with("store "));
        }
        other => panic!("{other:?}"),
    }
}

/// The planned frame, its map and its requirements must match those of the executed frame.
#[test]
fn damaged_inputs_are_refused() {
    for (executed, profile) in merged().take(20) {
        let plan = plan_with(&executed, &profile, &split()).into_inner();
        let refused = |damage: &dyn Fn(&mut Plan)| {
            let mut damaged = plan.clone();
            damage(&mut damaged);
            let fault = damaged.check().expect_err("the plan was damaged");
            assert_eq!(fault.rule, PlanRule::Described, "{fault}");
        };
        refused(&|plan| plan.input = ExecutedFrame::as_described(executed.frame()));
        refused(&|plan| plan.input = ExecutedFrame::as_described(executed.described()));
        refused(&|plan| plan.origins = Origins::IDENTITY);
        refused(&|plan| {
            let needs = Arc::make_mut(&mut plan.input_requirements);
            needs.resources[0].size.0 += 1;
        });
        if !plan.splits.is_identity() {
            refused(&|plan| plan.splits = Origins::IDENTITY);
        }
    }
}
