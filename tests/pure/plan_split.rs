//! Split lifetimes: if a stretch of a lifetime saves more than its store, the plan has both, and all its tables are consistent.

use std::sync::Arc;

use ash::vk;
use tileheap::Checked;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::frame::tables::CommandSource;
use tileheap::frame::{Frame, PassId, ResourceId, import};
use tileheap::measure::{estimate, estimate_unpadded};
use tileheap::names;
use tileheap::plan::{Ladder, MemoryKind, Plan, PlanOptions, Planner, WindowRule, plan};
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;

use crate::drawn;
use crate::planned::plan_with;

const SPLIT: PlanOptions = PlanOptions {
    strategy: tileheap::plan::ResidencyStrategy::Optimal,
    windows: WindowRule::Device,
    aliasing: true,
    ladder: Ladder::Auto,
    split: true,
    lazy: true,
    budget: 100_000,
    bin_cost: Bytes(16 << 10),
    tile_limit: None,
};

fn profile() -> Arc<DeviceProfile> {
    Arc::new(DeviceProfile::preset("adreno-830").unwrap())
}

fn planned(frame: &Frame, options: &PlanOptions) -> Checked<Plan> {
    let plan = plan_with(frame, &profile(), options);
    assert_eq!(plan.violations(), [], "{plan}");
    plan
}

/// Drawn and read in one batch, and read once more later: `hdr` by a pass of the next batch, `past` by the next frame, `list` by a dispatch.
///
/// ```text
/// batch 0   draw     blur    count   │ batch 1   compose
/// hdr       w        r r             │           r
/// past      w        r               │                    and the next frame's draw
/// list               w       r u     │           r
/// odd       w        r               │           r        in a format that cannot be stored
/// ```
fn crossing(odd: vk::Format) -> Frame {
    let text = drawn::text("crossing").replace("VK_FORMAT_R8G8B8A8_SRGB", &names::name_of(odd));
    Frame::from_json(&text).unwrap()
}

fn id(frame: &Frame, name: &str) -> ResourceId {
    frame.resource_named(name).unwrap()
}

#[test]
fn what_is_used_densely_in_one_batch_stays_on_chip_there() {
    let frame = crossing(vk::Format::R8G8B8A8_SRGB);
    let without = planned(&frame, &PlanOptions::default());
    let plan = planned(&frame, &SPLIT);
    assert!(without.origins.is_identity());
    let mut stored: Vec<&str> = plan
        .stores()
        .map(|store| plan.frame.resource(store.to).name.as_str())
        .collect();
    stored.sort_unstable();
    assert_eq!(stored, ["hdr", "list", "past"], "{plan}");
    for store in plan.stores() {
        assert_eq!(plan.memory_of(store.from), Some(MemoryKind::Tile));
        assert_eq!(plan.memory_of(store.to), Some(MemoryKind::Arena));
        assert_eq!(plan.described_resource(store.from), store.to);
        assert_eq!(plan.frame.pass(store.pass).contents, CommandSource::Store);
        assert_eq!(
            plan.described().pass(plan.described_pass(store.pass)).name,
            "count"
        );
    }
    // Three accesses less for each, and one more: the store's.
    let size = |name: &str| {
        plan.requirements.resources[id(&frame, name).index()]
            .tile
            .unwrap()
            .size
            .0
    };
    let saved = without.dram_traffic().0 - plan.dram_traffic().0;
    assert_eq!(saved, 2 * (size("hdr") + size("past") + size("list")), "{plan}");
    assert_eq!(
        plan.totals.stored_bytes.0,
        size("hdr") + size("past") + size("list")
    );
    let found = plan.optimality.unwrap();
    assert!(found.is_proved(), "{found:?}");
    assert_eq!(
        found.value,
        without.optimality.map_or(0, |found| found.value) + saved as i64 - plan.binning_cost().0 as i64
            + without.binning_cost().0 as i64
    );
    // The reason for the rest of a lifetime names its previous placement; that of a resource that cannot be stored names the rule.
    let hdr = plan.reason_text(id(&frame, "hdr"));
    assert!(hdr.contains("until `store hdr`"), "{hdr}");
    let odd = plan.reason_text(id(&frame, "odd"));
    assert!(
        odd.contains("its lifetime cannot be split: the conversion of sRGB"),
        "{odd}"
    );
    // Passes of the caller's frame are found in the planned one.
    for pass in frame.pass_ids() {
        let of_plan = plan.executed_pass(pass);
        assert_eq!(plan.frame.pass(of_plan).name, frame.pass(pass).name);
        assert_eq!(plan.described_pass(of_plan), pass);
    }
    let text = plan.to_string();
    assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    assert!(
        text.contains("split lifetimes") && text.contains("stored by splits"),
        "{text}"
    );
    assert_eq!(Plan::from_json(&frame, &plan.to_json()).unwrap(), *plan);
}

#[test]
fn a_plan_with_other_stores_is_refused_as_text() {
    let frame = crossing(vk::Format::R8_UNORM);
    let text = planned(&frame, &SPLIT).to_json();
    let read = |from: &str, to: &str| {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text);
        Plan::from_json(&frame, &damaged).unwrap_err().to_string()
    };
    assert!(read("\"after\": \"count\"", "\"after\": \"end\"").contains("cannot be split"));
    assert!(read("\"after\": \"count\"", "\"after\": \"nowhere\"").contains("nowhere"));
    assert!(read("\"pass\": \"store hdr\"", "\"pass\": \"draw\"").contains("store"));
}

#[test]
fn formats_are_offered_where_a_shader_can_store_them() {
    use vk::Format as F;
    for (format, offered) in [
        (F::R8G8B8A8_UNORM, true),
        (F::R16G16_SFLOAT, true),
        (F::R32_UINT, true),
        (F::R16G16B16A16_SINT, true),
        (F::B10G11R11_UFLOAT_PACK32, true),
        (F::R8G8B8A8_SRGB, false),
    ] {
        let frame = crossing(format);
        assert_eq!(
            frame.check_splittable(id(&frame, "odd")).is_ok(),
            offered,
            "{format:?}"
        );
    }
}

/// Random frames: never worse than without splits, and all tables are consistent.
#[test]
fn split_lifetimes_are_never_worse() {
    let mut split = 0;
    for seed in 0..120 {
        let desc = SyntheticDesc {
            passes: 8 + seed as u32 % 30,
            resources: 10 + seed as u32 % 37,
            batches: 1 + seed as u32 % 4,
            ..SyntheticDesc::default()
        };
        let frame = synthetic(seed, desc);
        let preset = DeviceProfile::preset("adreno-830").unwrap();
        let profile = preset.with_tile_heap_size(Bytes::mib(2 + seed % 14)).unwrap();
        let with = |split| {
            let options = PlanOptions {
                split,
                budget: 3_000,
                ..SPLIT
            };
            plan_with(&frame, &profile, &options)
        };
        let (whole, parts) = (with(false), with(true));
        assert_eq!(parts.violations(), [], "seed {seed}: {parts}");
        let value = |plan: &Plan| plan.optimality.map_or(0, |found| found.value);
        assert!(value(&parts) >= value(&whole), "seed {seed}");
        let net = |plan: &Plan| plan.totals.on_chip_bytes.0 as i64 - plan.binning_cost().0 as i64;
        assert_eq!(value(&parts), net(&parts), "seed {seed}");
        assert_eq!(parts, with(true));
        if !parts.origins.is_identity() {
            split += 1;
            assert!(parts.totals.on_chip_bytes <= parts.totals.eligible_bytes);
            assert_eq!(Plan::from_json(&frame, &parts.to_json()).unwrap(), *parts);
        }
    }
    assert!(split >= 20, "{split}");
}

/// The published frames, counted as in the tables: the gain of stretches over the best choice of whole lifetimes.
#[test]
fn the_published_frames_keep_no_less() {
    let folder = tileheap_testkit::data("frames");
    let mut more = 0;
    for (name, width, height) in [
        ("qualcomm_tile_memory_sample", 1280, 720),
        ("qualcomm_tile_memory_sample", 1920, 1080),
        ("granite_deferred_taa_bloom", 1280, 720),
        ("granite_deferred_taa_bloom", 1920, 1080),
        ("khronos_local_read_deferred", 1280, 720),
    ] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let imported = import::import_sized(&text, vk::Extent2D { width, height }).unwrap();
        for heap in [4, 8, 12, 18] {
            let preset = DeviceProfile::preset("adreno-830").unwrap();
            let profile = Arc::new(preset.with_tile_heap_size(Bytes::mib(heap)).unwrap());
            let needs = Arc::new(
                estimate_unpadded(
                    &imported.frame,
                    &profile,
                    &imported.claims,
                    &imported.raw_texel_bytes,
                )
                .unwrap(),
            );
            let with = |split| {
                let options = PlanOptions {
                    windows: WindowRule::WholeFrame,
                    lazy: false,
                    bin_cost: Bytes::ZERO,
                    ladder: Ladder::Always,
                    split,
                    ..SPLIT
                };
                plan(&imported.frame, &needs, &profile, &options).unwrap()
            };
            let (whole, parts) = (with(false), with(true));
            assert_eq!(parts.violations(), [], "{name} {height} {heap}");
            assert!(parts.optimality.unwrap().is_proved(), "{name} {height} {heap}");
            // With whole lifetimes counted as there, no stretch adds to them: proved.
            assert_eq!(parts.totals, whole.totals, "{name} {height} {heap}");
            let by_rules = |split| {
                let plan = plan_with(&imported.frame, &profile, &PlanOptions { split, ..SPLIT });
                assert_eq!(plan.violations(), [], "{name} {height} {heap}");
                plan.optimality.unwrap().value
            };
            // By a device's rules, some add a little.
            more += u32::from(by_rules(true) > by_rules(false));
        }
    }
    assert!(more > 0);
}

/// A planner recognizes a frame by its description, and repairs it with the stores that are still possible.
#[test]
fn planners_know_frames_with_stores() {
    let frame = crossing(vk::Format::R8_UNORM);
    let (mut planner, profile) = (Planner::new(), profile());
    let needs = Arc::new(estimate(&frame, &profile).unwrap());
    let plan = planner.plan(&frame, &needs, &profile, &SPLIT).unwrap();
    assert!(!plan.origins.is_identity());
    assert!(Arc::ptr_eq(
        &plan,
        &planner.plan(&frame.clone(), &needs, &profile, &SPLIT).unwrap()
    ));
    let known = planner.cached_plan(&frame, &profile, &SPLIT).unwrap();
    assert!(Arc::ptr_eq(&plan, &known));
    let end: PassId = frame.pass_named("end").unwrap();
    let toggled = frame.without_pass(end).unwrap();
    let repaired = planner.plan_now(&toggled, &needs, &profile, &SPLIT).unwrap();
    assert_eq!(repaired.violations(), []);
    assert_eq!(repaired.stores().count(), plan.stores().count());
    let memories = |plan: &Plan| -> Vec<Option<MemoryKind>> {
        // With only one pass left, `composed` is not a resident any more.
        let others = plan.frame.resource_ids();
        let others = others.filter(|&other| other != id(&frame, "composed"));
        others.map(|id| plan.memory_of(id)).collect()
    };
    assert_eq!(memories(&repaired), memories(&plan));
    let hdr = repaired.reason_text(id(&frame, "hdr"));
    assert!(hdr.contains("until `store hdr`"), "{hdr}");
}
