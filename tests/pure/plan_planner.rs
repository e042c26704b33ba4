//! The planner with a cache: known frames, repaired ones, plans from other sources; measured savings; constraints that cannot be met.

use std::sync::Arc;

use ash::vk;

use crate::drawn;
use tileheap::Checked;
use tileheap::Error;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::frame::weights::{Weight, Weights};
use tileheap::frame::{BufferDesc, Frame, FrameBuilder, FrameError, ResourceId};
use tileheap::measure::{DedicatedRequirement, Requirements, estimate};
use tileheap::plan::{
    Ladder, MemoryKind, OffChipReason, Placement, PlacementReason, Plan, PlanError, PlanOptions, Planner,
    ResidencyStrategy, WindowRule, plan,
};
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;
use tileheap_testkit::frames::by;

struct Case {
    frame: Frame,
    needs: Arc<Requirements>,
    profile: Arc<DeviceProfile>,
}

impl Case {
    fn plan(&self, options: &PlanOptions) -> Checked<Plan> {
        plan(&self.frame, &self.needs, &self.profile, options).unwrap()
    }

    fn plan_by(&self, planner: &mut Planner, options: &PlanOptions) -> Arc<Checked<Plan>> {
        let planned = planner.plan(&self.frame, &self.needs, &self.profile, options);
        planned.unwrap()
    }

    fn plan_now_by(&self, planner: &mut Planner, options: &PlanOptions) -> Arc<Checked<Plan>> {
        let planned = planner.plan_now(&self.frame, &self.needs, &self.profile, options);
        planned.unwrap()
    }
}

fn case(seed: u64, heap: u64) -> Case {
    let desc = SyntheticDesc {
        passes: 24,
        resources: 30,
        batches: 2,
        ..SyntheticDesc::default()
    };
    let frame = synthetic(seed, desc);
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let profile = profile.with_tile_heap_size(Bytes::mib(heap)).unwrap();
    Case {
        needs: Arc::new(estimate(&frame, &profile).unwrap()),
        frame,
        profile: Arc::new(profile),
    }
}

#[test]
fn requirements_that_were_estimated_for_another_device_are_refused() {
    let case = case(1, 8);
    let other = Arc::new(DeviceProfile::preset("adreno-840").unwrap());
    let name = case.frame.name();
    let expected = format!(
        "the requirements of frame `{name}` are for `adreno-830`, but it is planned for `adreno-840`"
    );
    let options = PlanOptions::default();
    let refused = plan(&case.frame, &case.needs, &other, &options).unwrap_err();
    assert_eq!(refused.to_string(), expected);
    let refused = Planner::new().plan(&case.frame, &case.needs, &other, &options);
    assert_eq!(refused.unwrap_err().to_string(), expected);
    // Requirements that a driver reported name no profile.
    let reported = Arc::new(Requirements {
        profile: None,
        ..(*case.needs).clone()
    });
    plan(&case.frame, &reported, &other, &options).unwrap();
}

fn savings(plan: &Plan) -> u64 {
    plan.totals.on_chip_bytes.0
}

#[test]
fn a_frame_seen_before_is_recognized_among_others() {
    let mut planner = Planner::new();
    let options = PlanOptions::default();
    let cases: Vec<Case> = (0..4).map(|seed| case(seed, 8)).collect();
    let planned = cases.iter().map(|case| case.plan_by(&mut planner, &options));
    let plans: Vec<Arc<Checked<Plan>>> = planned.collect();
    for (case, plan) in cases.iter().zip(&plans) {
        // Described and measured again.
        let frame = Frame::from_json(&case.frame.to_json()).unwrap();
        let needs = Arc::new((*case.needs).clone());
        let profile = Arc::new((*case.profile).clone());
        let again = planner.plan(&frame, &needs, &profile, &options).unwrap();
        assert!(Arc::ptr_eq(&again, plan));
        let other = PlanOptions { budget: 1, ..options };
        let another = planner.plan(&frame, &needs, &profile, &other).unwrap();
        assert!(!Arc::ptr_eq(&another, plan));
    }
}

#[test]
fn a_pass_that_comes_and_goes_is_repaired() {
    let options = PlanOptions::default();
    let (mut toggled, mut as_good, mut moved) = (0, 0, 0);
    for seed in 0..60 {
        let case = case(seed, 4 + seed % 12);
        let mut planner = Planner::new();
        let whole = case.plan_by(&mut planner, &options);
        for pass in case.frame.pass_ids() {
            let Ok(frame) = case.frame.without_pass(pass) else {
                continue;
            };
            let mut planner = planner.clone();
            let now = planner
                .plan_now(&frame, &case.needs, &case.profile, &options)
                .unwrap();
            assert_eq!(now.violations(), [], "seed {seed} without {pass:?}");
            let fast = PlanOptions {
                strategy: ResidencyStrategy::Fast,
                ..options
            };
            let fast = plan(&frame, &case.needs, &case.profile, &fast).unwrap();
            toggled += 1;
            as_good += usize::from(savings(&now) >= savings(&fast));
            moved += frame
                .resource_ids()
                .filter(|&id| {
                    let offset =
                        |plan: &Plan| plan.placements_of(id).first().map(|one| (one.memory, one.offset));
                    let (before, after) = (offset(&whole), offset(&now));
                    before != after
                        && [before, after]
                            .iter()
                            .all(|one| one.is_some_and(|one| one.0 == MemoryKind::Tile))
                })
                .count();
            // Back to the first description: its plan is still cached.
            let back = case.plan_now_by(&mut planner, &options);
            assert!(Arc::ptr_eq(&back, &whole));
        }
    }
    assert!(toggled > 200, "{toggled}");
    // Starting from a searched plan is better than starting without one.
    assert!(as_good * 100 >= toggled * 95, "{as_good} of {toggled}");
    assert!(moved < toggled, "{moved} residents moved in {toggled} repairs");
}

#[test]
fn a_repair_keeps_an_arena_whose_resources_are_the_same() {
    let options = PlanOptions::default();
    let (mut kept, mut smaller) = (0, 0);
    for seed in 0..60 {
        let desc = SyntheticDesc {
            passes: 24,
            resources: 60,
            batches: 4,
            queues: 1 + (seed % 2) as u32,
            ..SyntheticDesc::default()
        };
        let frame = synthetic(seed, desc);
        let profile = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
        let mut needs = estimate(&frame, &profile).unwrap();
        let first = needs.clone();
        let mut planner = Planner::new();
        let mut plan_now = |frame: &Frame, needs: Requirements| {
            let plan = planner
                .plan_now(frame, &Arc::new(needs), &profile, &options)
                .unwrap();
            assert_eq!(plan.violations(), [], "seed {seed}");
            plan
        };
        // By first use only, since there is no plan to repair.
        let fast = plan_now(&frame, first.clone());
        let text = frame.to_json().replacen(frame.name(), "renamed", 1);
        let renamed = Frame::from_json(&text).unwrap();
        assert_ne!(renamed.name(), frame.name());
        let again = plan_now(&renamed, first);
        let in_arenas = |plan: &Plan| -> Vec<Placement> {
            let placements = plan.placements.iter().copied();
            placements.filter(|one| one.memory == MemoryKind::Arena).collect()
        };
        let (before, after) = (in_arenas(&fast), in_arenas(&again));
        // A repair may place more resources in tile memory.
        if before
            .iter()
            .map(|one| one.resource)
            .eq(after.iter().map(|one| one.resource))
        {
            let offsets = |placements: &[Placement]| -> Vec<Bytes> {
                placements.iter().map(|one| one.offset).collect()
            };
            assert_eq!(offsets(&before), offsets(&after), "seed {seed}");
            assert_eq!(again.totals.arena_bytes, fast.totals.arena_bytes, "seed {seed}");
            kept += 1;
        }
        // A resource that has grown: everything is packed again, as searched plans are.
        let in_arena = |id: &ResourceId| {
            let placement = fast.placements_of(*id).first();
            placement.is_some_and(|one| one.memory == MemoryKind::Arena)
        };
        let grown = frame.resource_ids().filter(in_arena).last().unwrap();
        let needs_of_grown = &mut needs.resources[grown.index()];
        needs_of_grown.size += Bytes(needs_of_grown.alignment.get());
        let packed = plan_now(&frame, needs);
        smaller += u32::from(packed.totals.arena_bytes < fast.totals.arena_bytes);
    }
    assert!(kept > 30, "{kept}");
    assert!(smaller > 0, "no arena was packed again");
}

#[test]
fn a_plan_from_another_thread_is_adopted_and_a_proved_one_is_kept() {
    let case = case(3, 8);
    let options = PlanOptions {
        budget: u64::MAX,
        ..PlanOptions::default()
    };
    let mut planner = Planner::new();
    let now = case.plan_now_by(&mut planner, &options);
    assert!(now.optimality.is_none());
    assert_eq!(now.violations(), []);
    let exact = std::thread::scope(|scope| scope.spawn(|| case.plan(&options)).join());
    let exact = Arc::new(exact.unwrap());
    assert!(exact.optimality.is_some_and(|found| found.is_proved()));
    assert!(planner.adopt(exact.clone()));
    let known = case.plan_by(&mut planner, &options);
    assert!(Arc::ptr_eq(&known, &exact));
    assert!(
        !planner.adopt(now),
        "a plan without proof does not replace a proved one"
    );
    let known = case.plan_now_by(&mut planner, &options);
    assert!(Arc::ptr_eq(&known, &exact));
}

/// Two images of one block each, written together and read one after the other; the first also in the second batch if `late`.
fn pair(late: bool) -> (Frame, [ResourceId; 2]) {
    let frame = drawn::frame(if late { "pair, read late" } else { "pair" });
    let images = drawn::named(&frame, ["albedo", "normal"]);
    (frame, images)
}

fn one_block() -> Arc<DeviceProfile> {
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    Arc::new(profile.with_tile_heap_size(Bytes(12_288)).unwrap())
}

fn planned(frame: &Frame, options: &PlanOptions) -> tileheap::Result<Checked<Plan>> {
    let profile = one_block();
    plan(frame, &Arc::new(estimate(frame, &profile)?), &profile, options)
}

fn weight(pass: &str, resource: &str, bytes: u64) -> Weight {
    Weight {
        pass: pass.to_owned(),
        resource: resource.to_owned(),
        savings: Bytes(bytes),
    }
}

/// The model's example: equal by the model, different by measurement.
#[test]
fn measured_worths_replace_the_model() {
    let (frame, [albedo, normal]) = pair(false);
    for strategy in [
        ResidencyStrategy::Optimal,
        ResidencyStrategy::Greedy,
        ResidencyStrategy::Fast,
    ] {
        let options = by(strategy);
        let by_model = planned(&frame, &options).unwrap();
        assert_eq!(
            by_model.memory_of(albedo),
            Some(MemoryKind::Tile),
            "the first of equals"
        );
        let weights = Weights {
            accesses: vec![
                weight("gbuffer", "albedo", 5200),
                weight("lighting", "albedo", 3100),
            ],
        };
        let text = weights.to_json();
        assert_eq!(Weights::from_json(&text).unwrap(), weights);
        let weighed = frame.with_weights(&weights).unwrap();
        assert_eq!(Frame::from_json(&weighed.to_json()).unwrap(), weighed);
        let plan = planned(&weighed, &options).unwrap();
        assert_eq!(plan.memory_of(normal), Some(MemoryKind::Tile));
        assert_eq!(plan.violations(), []);
        // Shares count traffic by the model.
        assert_eq!(plan.totals.on_chip_bytes, by_model.totals.on_chip_bytes);
        assert!(
            matches!(plan.resources[normal.index()].reason, PlacementReason::Tile { savings } if savings == Bytes(2 * 12_288))
        );
    }
}

#[test]
fn wrong_weights_are_named() {
    let (frame, _) = pair(false);
    let fault = |weights: Vec<Weight>| {
        frame
            .with_weights(&Weights { accesses: weights })
            .unwrap_err()
            .to_string()
    };
    assert!(fault(vec![weight("gbuffers", "albedo", 1)]).contains("gbuffers"));
    assert!(fault(vec![weight("gbuffer", "albdo", 1)]).contains("albdo"));
    assert!(fault(vec![weight("glow", "albedo", 1)]).contains("does not access the resource"));
    let one = weight("gbuffer", "albedo", 1);
    assert!(fault(vec![one.clone(), one]).contains("twice"));
    assert!(fault(vec![weight("gbuffer", "albedo", u64::MAX)]).contains("2^40"));
    let text =
        Weights::from_json(r#"{ "format": "tileheap-weights", "version": 2, "accesses": [{ "pass": 1 }] }"#);
    assert!(
        matches!(text, Err(Error::Frame(FrameError::Weights(error))) if error.to_string().contains("accesses[0]"))
    );
}

#[test]
fn what_is_pinned_comes_first() {
    let (frame, [_, normal]) = pair(false);
    for strategy in [
        ResidencyStrategy::Optimal,
        ResidencyStrategy::Greedy,
        ResidencyStrategy::Fast,
    ] {
        let options = by(strategy);
        let pinned = frame.with_pinned(&[normal]);
        assert_eq!(Frame::from_json(&pinned.to_json()).unwrap(), pinned);
        let plan = planned(&pinned, &options).unwrap();
        assert_eq!(plan.memory_of(normal), Some(MemoryKind::Tile));
        if let Some(found) = plan.optimality {
            assert_eq!((found.value, found.upper_bound), (2 * 12_288, 2 * 12_288));
        }
    }
}

#[test]
fn what_is_kept_off_stays_in_ordinary_memory_and_makes_room() {
    let (frame, [albedo, normal]) = pair(false);
    let excluded = frame.with_excluded(&[albedo]);
    assert_eq!(Frame::from_json(&excluded.to_json()).unwrap(), excluded);
    for strategy in ResidencyStrategy::ALL {
        let options = by(strategy);
        let (free, plan) = (
            planned(&frame, &options).unwrap(),
            planned(&excluded, &options).unwrap(),
        );
        assert_eq!(plan.violations(), []);
        assert_eq!(plan.memory_of(albedo), Some(MemoryKind::Arena));
        if strategy == ResidencyStrategy::Off {
            continue;
        }
        assert_eq!(
            free.memory_of(albedo),
            Some(MemoryKind::Tile),
            "the first of equals"
        );
        assert_eq!(plan.memory_of(normal), Some(MemoryKind::Tile), "{strategy:?}");
        let savings = Bytes(2 * 12_288);
        assert_eq!(
            plan.resources[albedo.index()].reason,
            PlacementReason::Arena(OffChipReason::Excluded { savings })
        );
        // The rules admit it, so the share shows the cost of the constraint.
        assert_eq!(plan.totals.eligible_bytes, free.totals.eligible_bytes);
        assert_eq!(Plan::from_json(&excluded, &plan.to_json()).unwrap(), *plan);
    }
    // For a resource that the rules keep out, the reason is the rule.
    let (late, [albedo, _]) = pair(true);
    let plan = planned(&late.with_excluded(&[albedo]), &PlanOptions::default()).unwrap();
    assert!(matches!(
        plan.resources[albedo.index()].reason,
        PlacementReason::Arena(OffChipReason::CrossesWindows { .. })
    ));
    let unknown = excluded
        .to_json()
        .replace("\"tile_memory\": \"excluded\"", "\"tile_memory\": \"kept\"");
    assert!(
        Frame::from_json(&unknown)
            .unwrap_err()
            .to_string()
            .contains("`excluded`")
    );
}

/// A resource that is pinned later also gets room in a repair, in place of a previous resident.
#[test]
fn a_repair_makes_room_for_what_is_pinned() {
    let (frame, [albedo, normal]) = pair(false);
    let (profile, options) = (one_block(), PlanOptions::default());
    let needs = Arc::new(estimate(&frame, &profile).unwrap());
    let mut planner = Planner::new();
    let before = planner.plan(&frame, &needs, &profile, &options).unwrap();
    assert_eq!(
        before.memory_of(albedo),
        Some(MemoryKind::Tile),
        "the first of equals"
    );
    let after = planner
        .plan_now(&frame.with_pinned(&[normal]), &needs, &profile, &options)
        .unwrap();
    assert_eq!(
        (after.memory_of(normal), after.violations()),
        (Some(MemoryKind::Tile), Vec::new())
    );
}

fn pinned_fault(frame: &Frame, resources: &[ResourceId], options: &PlanOptions) -> String {
    match planned(&frame.with_pinned(resources), options) {
        Err(Error::Plan(fault @ PlanError::Pinned { .. })) => fault.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn impossible_demands_name_the_rule() {
    let options = PlanOptions::default();
    let (frame, both) = pair(false);
    let room = pinned_fault(&frame, &both, &options);
    assert!(room.contains("must not share bytes"), "{room}");
    let (late, [albedo, _]) = pair(true);
    let boundary = pinned_fault(&late, &[albedo], &options);
    assert!(
        boundary.contains("queueSubmitBoundary") && boundary.contains("lighting"),
        "{boundary}"
    );
    let off = PlanOptions {
        strategy: ResidencyStrategy::Off,
        ..options
    };
    assert!(pinned_fault(&frame, &both[..1], &off).contains("10976"));
    let large = drawn::frame("demands");
    let [image, copied, vertices, unused] = drawn::named(&large, ["image", "copied", "vertices", "unused"]);
    assert!(pinned_fault(&large, &[image], &options).contains("VUID-vkAllocateMemory-pAllocateInfo-01713"));
    assert!(pinned_fault(&large, &[copied], &options).contains("transfer usage"));
    assert!(pinned_fault(&large, &[vertices], &options).contains("VUID-VkBufferCreateInfo-usage-10764"));
    assert!(pinned_fault(&large, &[unused], &options).contains("no pass uses it"));
}

/// Strategies in order: none is worse than the vendor's, and the search is not worse than any.
#[test]
fn no_strategy_is_below_the_vendors() {
    let mut apart = 0;
    for seed in 0..300 {
        let case = case(seed, 1 + seed % 24);
        let with = |strategy| {
            let options = PlanOptions {
                strategy,
                windows: if seed % 2 == 0 {
                    WindowRule::WholeFrame
                } else {
                    WindowRule::Device
                },
                bin_cost: Bytes::ZERO,
                ladder: Ladder::Always,
                ..PlanOptions::default()
            };
            savings(&case.plan(&options))
        };
        let [vendor, fast, greedy, optimal] = [
            ResidencyStrategy::FirstCome,
            ResidencyStrategy::Fast,
            ResidencyStrategy::Greedy,
            ResidencyStrategy::Optimal,
        ]
        .map(with);
        assert!(
            vendor <= fast && vendor <= greedy && greedy <= optimal && fast <= optimal,
            "seed {seed}"
        );
        apart += usize::from(vendor < optimal);
    }
    assert!(apart > 100, "{apart}");
}

/// Buffers that may be copied in tile memory stay out of it on a queue that only copies, which cannot bind it.
#[test]
fn buffers_of_transfer_queues_are_not_in_tile_memory() {
    let extent = vk::Extent2D {
        width: 64,
        height: 64,
    };
    let planned = |capabilities| {
        let mut frame = FrameBuilder::new("copies", extent);
        let buffer = frame.buffer("filled", BufferDesc::new(Bytes(4096)));
        let queue = frame.queue("queue", capabilities);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, "commands");
        for name in ["fill", "fill again"] {
            frame.transfer_pass(commands, name).transfer_destination(buffer);
        }
        let frame = frame.build().unwrap();
        let profile = Arc::new(DeviceProfile::preset("generous").unwrap());
        let needs = Arc::new(estimate(&frame, &profile).unwrap());
        let plan = plan(&frame, &needs, &profile, &PlanOptions::default()).unwrap();
        (plan.memory_of(buffer), plan.reason_text(buffer))
    };
    let (memory, why) = planned(vk::QueueFlags::TRANSFER);
    assert_eq!(memory, Some(MemoryKind::Arena), "{why}");
    assert!(
        why.contains("uses it on queue `queue`, which supports neither graphics nor compute"),
        "{why}"
    );
    let (memory, why) = planned(vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER);
    assert_eq!(memory, Some(MemoryKind::Tile), "{why}");
}

#[test]
fn the_reason_for_a_dedicated_allocation_is_what_the_driver_asks_for() {
    let options = PlanOptions {
        aliasing: false,
        ..PlanOptions::default()
    };
    let asked = [
        (
            DedicatedRequirement::Preferred,
            "the driver prefers a dedicated allocation; ",
        ),
        (
            DedicatedRequirement::Required,
            "the driver requires a dedicated allocation; ",
        ),
    ];
    for (dedicated, asks) in asked {
        let mut case = case(1, 8);
        for needs in &mut Arc::make_mut(&mut case.needs).resources {
            needs.dedicated = dedicated;
        }
        let plan = case.plan(&options);
        let ids = case.frame.resource_ids();
        let reason = |id: &ResourceId| plan.resources[id.index()].reason;
        let dedicated = ids.filter(|id| matches!(reason(id), PlacementReason::Dedicated(_)));
        let reasons: Vec<String> = dedicated.map(|id| plan.reason_text(id)).collect();
        assert!(!reasons.is_empty());
        for reason in reasons {
            assert!(reason.starts_with(asks), "{reason}");
        }
    }
}
