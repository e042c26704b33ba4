//! A plan as text: the report fits a terminal, and JSON is read back as the same plan or with a reason for its refusal.

use std::sync::Arc;

use ash::vk;
use serde_json::Value;
use tileheap::Checked;
use tileheap::frame::{Frame, FrameBuilder, ImageDesc, LoadOp};
use tileheap::measure::estimate;
use tileheap::plan::{Ladder, MemoryKind, PlacementReason, Plan, PlanOptions, ResidencyStrategy, plan};
use tileheap::profile::{DeviceProfile, PRESETS};
use tileheap::units::Bytes;

use crate::everything::everything;
use crate::execute_strips::{blurred, in_strips};
use crate::planned::plan_with;
use tileheap_testkit::frames::by;

fn every_plan() -> Vec<Checked<Plan>> {
    let frame = everything();
    let mut plans = Vec::new();
    for preset in PRESETS {
        for strategy in ResidencyStrategy::ALL {
            let profile = DeviceProfile::preset(preset).unwrap();
            plans.push(plan_with(&frame, &profile, &by(strategy)));
        }
    }
    let small = DeviceProfile::preset("adreno-830")
        .unwrap()
        .with_tile_heap_size(Bytes::mib(3))
        .unwrap();
    plans.push(plan_with(&frame, &small, &by(ResidencyStrategy::Greedy)));
    plans
}

#[test]
fn json_gives_the_same_plan_back() {
    for plan in every_plan() {
        let text = plan.to_json();
        assert_eq!(
            Plan::from_json(&plan.frame, &text).unwrap(),
            *plan,
            "{}",
            plan.profile.name
        );
        assert_eq!(Plan::from_json(&plan.frame, &text).unwrap().to_json(), text);
    }
}

#[test]
fn the_report_keeps_to_110_columns_and_says_why() {
    for plan in every_plan() {
        let text = plan.to_string();
        for line in text.lines() {
            assert!(line.chars().count() <= 110 && line.trim_end() == line, "{line:?}");
        }
        for (resource, id) in plan.frame.resources().iter().zip(plan.frame.resource_ids()) {
            assert!(text.contains(&resource.name), "{}:\n{text}", resource.name);
            let why = plan.reason_text(id);
            assert!(!why.is_empty() && !why.contains('\n'));
        }
    }
}

/// A resident with an image in each of several memory objects appears once: one line with all its objects, one mark in the map.
#[test]
fn residents_of_several_objects_are_said_once() {
    let frame = everything();
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let options = PlanOptions {
        ladder: Ladder::Always,
        ..by(ResidencyStrategy::Optimal)
    };
    let plan = plan_with(&frame, &profile, &options);
    let text = plan.to_string();
    let (table, rest) = text.split_once("Arenas in ordinary memory").unwrap();
    let (map, _) = rest.split_once("Totals").unwrap();
    let mut several = 0;
    for (resource, id) in frame.resources().iter().zip(frame.resource_ids()) {
        if plan.memory_of(id) != Some(MemoryKind::Tile) {
            continue;
        }
        let lines: Vec<_> = table
            .lines()
            .filter(|line| line.starts_with(&format!("  {} ", resource.name)))
            .collect();
        assert_eq!(lines.len(), 1, "{}:\n{text}", resource.name);
        for placement in plan.placements_of(id) {
            let object = placement.object.unwrap().index();
            let listed = lines[0]
                .split_whitespace()
                .any(|word| match word.split_once('…') {
                    Some((first, last)) => (number(first)..=number(last)).contains(&object),
                    None => word.starts_with('#') && number(word) == object,
                });
            assert!(listed, "#{object}: {}", lines[0]);
        }
        several += usize::from(plan.placements_of(id).len() > 1);
        assert_eq!(map.matches(&format!("={}", resource.name)).count(), 1, "{map}");
    }
    assert!(several > 0, "{text}");
}

/// `#4`.
/// An image in strips has one line, with the number of strips and the sum of what they keep on chip.
#[test]
fn strips_of_an_image_are_said_once() {
    let executed = in_strips(&blurred());
    let profile = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
    let needs = Arc::new(estimate(executed.frame(), &profile).unwrap());
    let plan = plan(&executed, &needs, &profile, &PlanOptions::default()).unwrap();
    let text = plan.to_string();
    let (tables, _) = text.split_once("Passes\n").unwrap();
    for name in ["lit", "blurred"] {
        let lines: Vec<_> = tables
            .lines()
            .filter(|line| line.starts_with(&format!("  {name} ")))
            .collect();
        assert_eq!(lines.len(), 1, "{name}:\n{tables}");
    }
    let all = plan.frame.resource_ids().zip(&plan.resources);
    let kept = all.filter_map(|(id, of)| match of.reason {
        PlacementReason::Tile { savings } if plan.frame.resource(id).name.starts_with("lit ") => {
            Some(savings)
        }
        _ => None,
    });
    let kept: Bytes = kept.sum();
    assert!(
        kept > Bytes::ZERO && tables.contains(&format!("keeps {kept:#} of traffic")),
        "{tables}"
    );
    assert!(
        tables.contains("4 strips") && tables.contains("light … blur"),
        "{tables}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
}

/// A frame with a pass whose attachments have different extents, and a compute pass.
fn with_different_extents(area: Option<vk::Rect2D>) -> Frame {
    let extent = |width, height| vk::Extent2D { width, height };
    let mut frame = FrameBuilder::new("extents", extent(1280, 720));
    let image = |extent| ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent);
    let large = frame.image("large", image(extent(1280, 720)));
    let small = frame.image("small", image(extent(320, 180)));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "all");
    let pass = frame.render_pass(commands, "draw").color(large, LoadOp::DontCare);
    let pass = pass.color(small, LoadOp::DontCare);
    if let Some(area) = area {
        pass.area(area);
    }
    frame
        .compute_pass(commands, "light")
        .sampled(large)
        .sampled(small);
    frame.build().unwrap()
}

#[test]
fn passes_have_their_kind_and_the_part_of_attachments_that_they_leave_out() {
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let text_of = |area| {
        let frame = with_different_extents(area);
        plan_with(&frame, &profile, &PlanOptions::default()).to_string()
    };
    let text = text_of(None);
    let (_, passes) = text.split_once("Passes\n").unwrap();
    for (name, kind) in [("draw", "render"), ("light", "compute")] {
        let line = passes.lines().find(|line| line.contains(name)).unwrap();
        assert!(line.contains(kind), "{text}");
    }
    let said = "renders 320 x 180 of the 1280 x 720 of `large`";
    assert_eq!(text.matches("renders ").count(), 1, "{text}");
    assert!(text.contains(said), "{text}");
    let declared = vk::Extent2D {
        width: 320,
        height: 180,
    };
    assert!(!text_of(Some(declared.into())).contains("renders "));
}

/// Sizes that differ by less than a tenth of a MiB are given in bytes.
#[test]
fn a_resource_larger_than_the_heap_has_both_sizes_in_bytes() {
    let frame = with_different_extents(None);
    let large = frame.resource_ids().next().unwrap();
    let adreno = DeviceProfile::preset("adreno-830").unwrap();
    let size = estimate(&frame, &adreno).unwrap().resources[large.index()]
        .tile
        .unwrap()
        .size;
    let heap = Bytes(size.0 - adreno.tile.unwrap().block.bytes.get());
    let plan = plan_with(
        &frame,
        &adreno.with_tile_heap_size(heap).unwrap(),
        &PlanOptions::default(),
    );
    let reason = plan.reason_text(large);
    let expected = format!("its size of {size} in tile memory exceeds the heap of {heap}");
    assert!(reason.starts_with(&expected), "{reason}");
}

fn number(object: &str) -> usize {
    object.trim_start_matches('#').parse().unwrap_or(usize::MAX)
}

/// Every reason occurs in some plan of the frame above, so that every one is printed and read.
#[test]
fn every_reason_is_printed() {
    let mut kinds: Vec<String> = Vec::new();
    let mut note = |plan: &Checked<Plan>| {
        let document: Value = serde_json::from_str(&plan.to_json()).unwrap();
        for resource in document["resources"].as_array().unwrap() {
            kinds.push(resource["reason"]["kind"].as_str().unwrap().to_owned());
            assert!(!resource["reason"]["text"].as_str().unwrap().is_empty());
        }
    };
    let mut plans = every_plan();
    let mut eager = DeviceProfile::preset("adreno-830").unwrap();
    let (lazy, tile) = (vk::MemoryPropertyFlags::LAZILY_ALLOCATED, eager.tile.unwrap());
    eager
        .memory_types
        .retain(|kind| kind.heap == tile.heap || !kind.flags.contains(lazy));
    plans.push(plan_with(&everything(), &eager, &by(ResidencyStrategy::Greedy)));
    plans.iter().for_each(&mut note);
    kinds.sort();
    kinds.dedup();
    let all = [
        "buffer_use",
        "crosses_queues",
        "crosses_windows",
        "declared_usage",
        "external",
        "history",
        "lazy",
        "no_room",
        "no_tile_heap",
        "one_pass",
        "refused",
        "resolve_target",
        "tile",
        "too_large",
        "transfer",
        "unused",
    ];
    assert_eq!(kinds, all);
}

/// Reads the plan of the frame above as JSON, with another value at one position, or the last element of a list removed.
#[test]
fn what_is_wrong_with_a_plan_is_named() {
    let frame = everything();
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let plan = plan_with(&frame, &profile, &by(ResidencyStrategy::Greedy));
    let sound: Value = serde_json::from_str(&plan.to_json()).unwrap();
    tileheap_testkit::assert_cases("plan_json", |_, case| {
        let mut damaged = sound.clone();
        let at = case["at"].as_str().expect("a pointer");
        let (parent, key) = at.rsplit_once('/').expect("a pointer");
        let parent = damaged.pointer_mut(parent).expect("a place");
        match (case.get("value"), key.parse::<usize>()) {
            (None, _) => drop(parent[key].as_array_mut().expect("a list").pop()),
            (Some(value), Ok(index)) => parent[index] = value.clone(),
            (Some(value), Err(_)) => parent[key] = value.clone(),
        }
        let fault = Plan::from_json(&frame, &damaged.to_string()).expect_err("a fault");
        let message = fault.to_string();
        assert!(!message.contains('\n') && message.len() < 1000, "{message}");
        // Columns refer to this text.
        let place = message.split_once(", at ");
        place.map_or(message.as_str(), |(_, place)| place).into()
    });
}

/// No text makes the reader panic: every number of a plan is replaced by others, every string by another.
#[test]
fn no_damage_panics() {
    let frame = everything();
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let plan = plan_with(&frame, &profile, &by(ResidencyStrategy::Greedy));
    let value: Value = serde_json::from_str(&plan.to_json()).unwrap();
    let mut paths = Vec::new();
    leaves(&value, String::new(), &mut paths);
    let others = [
        Value::Null,
        0.into(),
        u32::MAX.into(),
        u64::MAX.into(),
        (-1).into(),
        "".into(),
        "gbuffer".into(),
        Value::Bool(true),
    ];
    let (mut tried, mut refused) = (0, 0);
    // Every value at every fifth position, so that every position gets some.
    for (turn, other) in others.iter().enumerate() {
        for path in paths.iter().skip(turn % 5).step_by(5) {
            tried += 1;
            let mut changed = value.clone();
            *changed.pointer_mut(path).unwrap() = other.clone();
            match Plan::from_json(&frame, &changed.to_string()) {
                Ok(plan) => drop(plan.to_string()),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > tried / 2, "{refused} of {tried} refused");
}

fn leaves(value: &Value, path: String, paths: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                leaves(field, format!("{path}/{key}"), paths);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                leaves(element, format!("{path}/{index}"), paths);
            }
        }
        _ => paths.push(path),
    }
}
