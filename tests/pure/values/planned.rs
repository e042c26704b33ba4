//! Frames that pool their images are planned as well as the same frames with an image for each value.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use ash::vk;
use serde_json::Value;
use tileheap::Checked;
use tileheap::arrange::{SearchOptions, search};
use tileheap::execute::ExecutedFrame;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::frame::{Frame, FrameBuilder, ImageDesc, LoadOp, Persistence, ResourceId};
use tileheap::lower::check::DeviceFacts;
use tileheap::lower::{DeviceQueues, LoweringDesc, lower};
use tileheap::measure::estimate;
use tileheap::plan::{MemoryKind, Plan, PlanOptions, plan};
use tileheap::profile::DeviceProfile;
use tileheap::units::{Bytes, SplitMix64};

use super::frames::random_frame;
use super::{CLEAR, separate};
use crate::arrange_limits::frames::random_frame as renderer_frame;
use crate::planned::plan_with;

/// Effects at half the size of an image that is drawn to throughout: ambient occlusion, bloom and blur use images of one pool, reflections and depth
/// of field have separate images. `image` selects the pool image of each effect.
fn effects(image: [usize; 3]) -> Frame {
    let extent = |width, height| vk::Extent2D { width, height };
    let mut frame = FrameBuilder::new("effects", extent(1280, 720));
    let half = ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, extent(960, 540));
    let count = image.iter().max().expect("three effects") + 1;
    let pool: Vec<ResourceId> = (0..count)
        .map(|index| frame.image(format!("pool {index}"), half))
        .collect();
    let [reflections, focus] = ["reflections", "focus"].map(|name| frame.image(name, half));
    let full = extent(1920, 1080);
    let hdr = frame.image("hdr", ImageDesc::new(vk::Format::B10G11R11_UFLOAT_PACK32, full));
    let back = frame.resource(
        "back",
        ImageDesc::new(vk::Format::R8G8B8A8_UNORM, full),
        Persistence::External(ExternalDesc::SWAPCHAIN),
    );
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    let [occlusion, bloom, blur] = image.map(|image| pool[image]);
    frame.render_pass(commands, "scene").color(hdr, CLEAR);
    frame.render_pass(commands, "occlusion").color(occlusion, CLEAR);
    let apply = |frame: &mut FrameBuilder, name: &str, image| {
        frame
            .render_pass(commands, name)
            .sampled(image)
            .color(hdr, LoadOp::Load);
    };
    let make = |frame: &mut FrameBuilder, name: &str, image| {
        frame.render_pass(commands, name).sampled(hdr).color(image, CLEAR);
    };
    apply(&mut frame, "apply occlusion", occlusion);
    for (name, image) in [("reflect", reflections), ("bloom", bloom), ("focus", focus)] {
        make(&mut frame, name, image);
        apply(&mut frame, &format!("apply {name}"), image);
    }
    make(&mut frame, "blur", blur);
    frame
        .render_pass(commands, "tone")
        .sampled(hdr)
        .sampled(blur)
        .color(back, CLEAR);
    frame.build().unwrap()
}

/// A plan with another size of tile heap, or without one.
fn plan_at(frame: impl Into<ExecutedFrame>, heap: Option<Bytes>) -> Checked<Plan> {
    let preset = DeviceProfile::preset("adreno-830").unwrap();
    let (profile, options) = match heap {
        Some(size) => (preset.with_tile_heap_size(size).unwrap(), PlanOptions::default()),
        None => {
            let off = tileheap::plan::ResidencyStrategy::Off;
            (
                preset,
                PlanOptions {
                    strategy: off,
                    ..PlanOptions::default()
                },
            )
        }
    };
    let plan = plan_with(frame, &Arc::new(profile), &options);
    assert_eq!(plan.violations(), [], "{plan}");
    plan
}

/// Quality of a plan: bytes that it moves off chip, upper bound on those that it keeps on chip, bytes of ordinary memory.
fn quality(plan: &Plan) -> (Bytes, Option<i64>, Bytes) {
    let bound = plan.optimality.map(|found| found.upper_bound);
    (plan.dram_traffic(), bound, plan.totals.arena_bytes)
}

#[test]
fn a_pool_of_one_image_plans_as_well_as_three_images() {
    let (pooled, apart) = (effects([0, 0, 0]), effects([0, 1, 2]));
    let values = separate(&pooled);
    let mut better = 0;
    for quarters in 0..33 {
        let heap = (quarters > 0).then(|| Bytes::kib(256 * quarters));
        let [whole, apart] = [&pooled, &apart].map(|frame| plan_at(frame, heap));
        let values = plan_at(&values, heap);
        assert_eq!(values.totals, apart.totals, "a heap of {heap:?}");
        let [whole, values, apart] = [whole, values, apart].map(|plan| quality(&plan));
        assert_eq!(values, apart, "a heap of {heap:?}");
        better += usize::from(values.0 < whole.0 || values.2 < whole.2);
    }
    assert!(better > 10, "{better} heaps");
}

/// The same frame with images pooled at random, and the number of values of each pool image.
fn pool(frame: &Frame, random: &mut SplitMix64) -> (Frame, BTreeMap<String, usize>) {
    let mut document: Value = serde_json::from_str(&frame.to_json()).unwrap();
    let mut values: BTreeMap<String, usize> = BTreeMap::new();
    let mut ids: Vec<ResourceId> = frame.resource_ids().collect();
    ids.sort_by_key(|&id| frame.lifetime_of(id).first);
    // Per pool image: its name, its kind, and the pass until which it is used.
    let mut free: Vec<(String, ResourceId)> = Vec::new();
    for id in ids {
        let (resource, lifetime) = (frame.resource(id), frame.lifetime_of(id));
        if resource.persistence != Persistence::Transient || lifetime.is_empty() {
            continue;
        }
        let made = |id: ResourceId| {
            let mut described = document["resources"][id.index()].clone();
            described["name"].take();
            described
        };
        let fits = |(_, last): &&mut (String, ResourceId)| {
            frame.lifetime_of(*last).end <= lifetime.first && made(*last) == made(id)
        };
        match free.iter_mut().find(fits).filter(|_| !random.one_in(4)) {
            Some((name, last)) => {
                *last = id;
                rename(&mut document["submits"], &resource.name, name);
                *values.entry(name.clone()).or_insert(1) += 1;
            }
            None => free.push((resource.name.clone(), id)),
        }
    }
    let kept = |described: &Value| {
        let name = described["name"].as_str().unwrap();
        let id = frame.resource_named(name).unwrap();
        let is_free = free.iter().any(|(free, _)| free == name);
        is_free
            || frame.resource(id).persistence != Persistence::Transient
            || frame.lifetime_of(id).is_empty()
    };
    let resources = document["resources"].as_array_mut().unwrap();
    resources.retain(kept);
    (Frame::from_json(&document.to_string()).unwrap(), values)
}

/// The same frame with its resources in the order of a frame with the same accesses: planning uses that order to break ties.
fn in_order_of(executed: &ExecutedFrame, apart: &Frame) -> Frame {
    let mut document: Value = serde_json::from_str(&apart.to_json()).unwrap();
    let accesses = executed.frame().accesses().iter().zip(apart.accesses());
    let mut place = vec![usize::MAX; apart.resources().len()];
    for (ours, theirs) in accesses {
        place[theirs.resource.index()] = ours.resource.index();
    }
    let resources = document["resources"].as_array_mut().unwrap();
    let mut placed: Vec<(usize, Value)> = place.into_iter().zip(std::mem::take(resources)).collect();
    placed.sort_by_key(|(place, _)| *place);
    resources.extend(placed.into_iter().map(|(_, resource)| resource));
    Frame::from_json(&document.to_string()).unwrap()
}

/// Replaces a name in all accesses.
fn rename(document: &mut Value, from: &str, to: &str) {
    match document {
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, from, to)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match ["resource", "resolves"].contains(&key.as_str()) && *value == *from {
                    true => *value = Value::from(to),
                    false => rename(value, from, to),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn frames_that_pool_at_random_plan_as_well_as_frames_that_do_not() {
    let (mut pooled_frames, mut gains, mut different) = (0, 0, Vec::new());
    for seed in 0..1000 {
        let desc = SyntheticDesc {
            passes: 12 + seed as u32 % 25,
            resources: 20 + seed as u32 % 45,
            batches: 1 + seed as u32 % 2,
            ..SyntheticDesc::default()
        };
        let apart = synthetic(seed, desc);
        let (pooled, count) = pool(&apart, &mut SplitMix64::new(seed));
        let executed: ExecutedFrame = separate(&pooled);
        for (name, &count) in &count {
            assert_eq!(
                super::values(&executed, name).len(),
                count,
                "seed {seed}: `{name}`"
            );
        }
        pooled_frames += usize::from(!count.is_empty());
        let apart = in_order_of(&executed, &apart);
        let heap = Some(Bytes::mib(2 + seed % 12));
        let [whole, apart] = [&pooled, &apart].map(|frame| quality(&plan_at(frame, heap)));
        let values = plan_at(&executed, heap);
        assert_eq!(values.described(), &pooled);
        let values = quality(&values);
        if values != apart {
            different.push((seed, values, apart));
        }
        gains += usize::from(values.0 < whole.0);
    }
    assert!(
        different.is_empty(),
        "{} of {pooled_frames}: {different:#?}",
        different.len()
    );
    assert!(
        pooled_frames > 700 && gains > 200,
        "{pooled_frames} pooled, {gains} gain"
    );
}

/// Bytes that the best arrangement moves, its bound on those of every arrangement, and the quality of its plan.
fn best(plan: &Plan) -> (Bytes, Bytes, (Bytes, Option<i64>, Bytes)) {
    let allowed = SearchOptions {
        steps: 1_000,
        ..SearchOptions::default()
    };
    let found = search(plan, &allowed, &mut |_| ControlFlow::Continue(()));
    let caps = found.caps.iter().map(|cap| cap.bytes);
    let crowded = found.crowded.iter().map(|pass| pass.bytes);
    let least: Bytes = caps.chain(crowded).chain([found.fixed]).sum();
    let arranged = plan_with(found.apply(plan).unwrap(), &plan.profile, &plan.options);
    (found.traffic.off_chip(), least, quality(&arranged))
}

#[test]
fn arrangements_of_frames_that_pool_are_as_good_as_of_frames_that_do_not() {
    let (mut pooled_frames, mut arranged) = (0, 0);
    // Frames of the other kinds pool already, or have images of separate levels, which their documents do not list.
    for seed in (0..180).filter(|seed| ![1, 3].contains(&(seed % 6))) {
        let Some(apart) = renderer_frame(seed) else {
            continue;
        };
        let (pooled, count) = pool(&apart, &mut SplitMix64::new(seed));
        if count.is_empty() {
            continue;
        }
        let executed = separate(&pooled);
        let apart = separate(&in_order_of(&executed, &apart));
        let options = PlanOptions {
            split: seed % 4 == 0,
            ..PlanOptions::default()
        };
        let profile = DeviceProfile::preset("adreno-830").unwrap();
        let profile = profile.with_tile_heap_size(Bytes::mib(1 + seed % 7)).unwrap();
        let [pooled, apart] = [executed, apart].map(|frame| plan_with(frame, &profile, &options));
        let found = best(&pooled);
        assert_eq!(found, best(&apart), "seed {seed}");
        pooled_frames += 1;
        arranged += usize::from(found.2.0 < pooled.dram_traffic());
    }
    assert!(
        pooled_frames > 40 && arranged > 15,
        "{pooled_frames} pooled, {arranged} arranged"
    );
}

/// Uses of shared memory are ordered: the checker of tables accepts plans of random frames, with histories, external resources and two queues.
#[test]
fn tables_of_random_values_are_accepted() {
    let profile = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
    let (mut accepted, mut aliased) = (0, 0);
    for seed in 0..2000 {
        let Some(frame) = random_frame(seed) else { continue };
        let executed = separate(&frame);
        if executed.is_as_described() {
            continue;
        }
        let Ok(needs) = estimate(executed.frame(), &profile) else {
            continue;
        };
        let options = PlanOptions::default();
        let plan = match plan(&executed, &Arc::new(needs), &profile, &options) {
            Ok(plan) => plan,
            // The device cannot run it.
            Err(tileheap::Error::Plan(_)) => continue,
            Err(error) => panic!("seed {seed}: {error}"),
        };
        assert_eq!(plan.violations(), [], "seed {seed}");
        let frame = &plan.frame;
        for queues in [
            DeviceQueues::separate_families(frame),
            DeviceQueues::single_queue(frame),
        ] {
            let device = DeviceFacts::declared(&plan.profile, &plan.requirements, frame, &queues);
            let mut lowering_desc = LoweringDesc::first(queues);
            for _ in 0..3 {
                let tables = lower(&plan, &lowering_desc).unwrap();
                let faults = tables.violations(frame, &lowering_desc, &device);
                assert!(faults.is_empty(), "seed {seed}: {}", faults[0]);
                lowering_desc = lowering_desc.after(&tables);
            }
        }
        accepted += 1;
        let arenas = plan
            .placements
            .iter()
            .filter(|one| one.memory == MemoryKind::Arena);
        let bytes: Bytes = arenas.map(|one| one.size).sum();
        aliased += usize::from(bytes > plan.totals.arena_bytes);
    }
    assert!(
        accepted > 500 && aliased > 50,
        "{accepted} accepted, {aliased} aliased"
    );
}
