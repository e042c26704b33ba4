//! The cap on the share of a frame: no arrangement exceeds it, and it counts no saving that cannot happen.

pub(crate) mod frames;

use std::ops::ControlFlow;

use ash::vk;
use tileheap::Checked;
use tileheap::arrange::{Arrangement, ArrangementCosts, GroupMode, SearchOptions, SearchResult, search};
use tileheap::execute::ExecutedFrame;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::import::read;
use tileheap::frame::{
    ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, PassId, Persistence, ReachAssumptions, ReadReach,
    ResourceId,
};
use tileheap::plan::{Plan, PlanOptions, Traffic};
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;
use tileheap_testkit::frames::{extent, one_queue, rect};

use self::frames::random_frame;
use crate::planned::plan_with;

const STEPS: u64 = 2_000;

fn planned(frame: &Frame, profile: &DeviceProfile, options: &PlanOptions) -> Checked<Plan> {
    let executed = ExecutedFrame::as_described(frame).separate_values().unwrap();
    plan_with(executed, profile, options)
}

fn found(plan: &Plan) -> SearchResult {
    let allowed = SearchOptions {
        steps: STEPS,
        ..SearchOptions::default()
    };
    search(plan, &allowed, &mut |_| ControlFlow::Continue(()))
}

fn pass_name(plan: &Plan, pass: PassId) -> &str {
    &plan.input.frame().pass(pass).name
}

/// The result for the frame as described: its cap is that of every arrangement.
fn as_described(plan: &Plan) -> SearchResult {
    let described = Arrangement::described(plan.input.frame());
    SearchResult::of(plan, described, ArrangementCosts::default()).unwrap()
}

/// Searches, plans what is found, and compares shares and cap. Returns the share and the cap.
fn judged(name: &str, plan: &Plan) -> [f64; 2] {
    let mut found = found(plan);
    let arranged = found.apply(plan).unwrap();
    let best = plan_with(arranged, &plan.profile, &plan.options);
    found.planned(&best);
    let all = found.described.described.0 as f64;
    let named: Bytes = found.shortfalls.iter().map(|one| one.bytes).sum();
    let short = (found.cap() - found.traffic.share()) * all;
    // The search does not count what splits save.
    let is_explained = plan.options.split || (named.0 as f64 - short).abs() <= all / 50.0;
    assert!(is_explained, "{name}: {named} of {short}");
    let (share, described) = (found.traffic.share(), Traffic::of(plan).share());
    assert!(
        share >= described - 1e-9,
        "{name}: {share}, {described} as described"
    );
    // Parts of images are padded: a share is rounded.
    for cap in [found.cap(), as_described(plan).cap()] {
        assert!(share <= cap + 0.002, "{name}: {share} of at most {cap}");
    }
    let frame = plan.input.frame();
    let saved = Arrangement::from_json(&found.arrangement.to_json(frame), frame).unwrap();
    let reloaded = SearchResult::of(plan, saved, found.costs)
        .unwrap()
        .apply(plan)
        .unwrap();
    assert_eq!(plan_with(reloaded, &plan.profile, &plan.options), best, "{name}");
    [share, as_described(plan).cap()]
}

/// A device for a random frame: with a tile heap of one of several sizes, or without.
fn device(seed: u64) -> DeviceProfile {
    let heaps = [
        ("adreno-830", None),
        ("adreno-830", Some(1024)),
        ("hostile", Some(4096)),
        ("adreno-830", Some(6144)),
        ("no-tile-memory", None),
        ("mali-g72", None),
    ];
    let (preset, heap) = heaps[(seed / 6 % 6) as usize];
    let profile = DeviceProfile::preset(preset).unwrap();
    match heap {
        Some(heap) => profile.with_tile_heap_size(Bytes::kib(heap)).unwrap(),
        None => profile,
    }
}

/// Frames of six kinds, on devices of all kinds. Few are far below their caps.
#[test]
fn no_arrangement_of_a_random_frame_exceeds_its_cap() {
    let (mut kinds, mut far) = ([0; 6], 0);
    for seed in 0..200 {
        let Some(frame) = random_frame(seed) else { continue };
        let options = PlanOptions {
            split: seed % 2 == 1,
            ..PlanOptions::default()
        };
        let plan = planned(&frame, &device(seed), &options);
        let [share, cap] = judged(&format!("seed {seed}"), &plan);
        kinds[(seed % 6) as usize] += 1;
        far += usize::from(cap > share + 0.08);
    }
    assert!(kinds.iter().all(|&frames| frames >= 15), "{kinds:?}");
    assert!(far <= 36, "{far} are more than 8 points below their caps");
}

/// With an arrangement, a plan may split fewer lifetimes than as described: the search compares plans.
#[test]
fn no_arrangement_is_worse_than_the_frame_as_described_with_splits() {
    let options = PlanOptions {
        split: true,
        ..PlanOptions::default()
    };
    let (mut frames, mut split) = (0, 0);
    for seed in 1550..1700 {
        let Some(frame) = random_frame(seed) else { continue };
        let plan = planned(&frame, &device(seed), &options);
        judged(&format!("seed {seed}"), &plan);
        frames += 1;
        split += usize::from(plan.stores().next().is_some());
    }
    assert!(frames > 100 && split > 10, "{frames} frames, {split} with splits");
}

#[test]
fn no_arrangement_of_a_published_frame_exceeds_its_cap() {
    let text = |name: &str| std::fs::read_to_string(tileheap_testkit::data(name)).unwrap();
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    for file in [
        "granite_deferred_taa_bloom.json",
        "qualcomm_tile_memory_sample.json",
        "khronos_local_read_deferred.json",
    ] {
        for size in [extent(1280, 720), extent(1920, 1080)] {
            let frame = read(&text(&format!("frames/{file}")), Some(size)).unwrap().frame;
            let reaches = ReachAssumptions::from_json(&text("reach.json"), file).unwrap();
            let frame = frame.with_reaches(&reaches).unwrap();
            let [share, cap] = judged(file, &planned(&frame, &profile, &PlanOptions::default()));
            assert!(cap <= share + 0.15, "{file} {size:?}: {share} of at most {cap}");
        }
    }
}

/// Lights between shadows drawn into quarters of an atlas that the heap cannot hold.
fn shadows_and_lights() -> Frame {
    let size = extent(640, 360);
    let mut frame = FrameBuilder::new("shadows", size);
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let atlas = frame.image("atlas", ImageDesc::new(vk::Format::D16_UNORM, extent(4096, 4096)));
    let lit = frame.image("lit", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, size));
    let all = frame.render_pass(commands, "clear");
    all.depth(atlas, LoadOp::Clear(ClearValue::DepthStencil(1.0, 0)));
    let mut load = LoadOp::Clear(ClearValue::ZERO);
    for (number, (x, y)) in [(0, 0), (2048, 0), (0, 2048), (2048, 2048)]
        .into_iter()
        .enumerate()
    {
        let shadow = frame.render_pass(commands, format!("shadow {number}"));
        shadow.depth(atlas, LoadOp::Load).area(rect(x, y, 2048, 2048));
        let light = frame.render_pass(commands, format!("light {number}"));
        light.sampled(atlas).color(lit, load);
        load = LoadOp::Load;
    }
    let out = frame.image("out", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, size));
    let last = frame.compute_pass(commands, "last");
    last.sampled(lit).storage_write(out);
    frame.build().unwrap()
}

/// The light between two shadows reads what both draw: they never run as one pass.
#[test]
fn passes_do_not_merge_across_one_that_runs_between_them() {
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let plan = planned(&shadows_and_lights(), &profile, &PlanOptions::default());
    let [share, cap] = judged("shadows", &plan);
    assert!(cap <= share + 0.01, "{share} of at most {cap}");
    let frame = plan.input.frame();
    let alone = Arrangement::described(frame).ungrouped(frame);
    let shadow = frame.pass_named("shadow 1").unwrap();
    let shadow = alone.into_iter().find(|one| one.pass == shadow).unwrap();
    let why = shadow.merge.unwrap().to_string();
    assert_eq!(
        why,
        "cannot merge `shadow 1` into `clear`: `light 0` has to run between them"
    );
}

/// A last pass in a batch of its own: there is nothing to merge it with, not even itself.
#[test]
fn the_only_pass_of_a_batch_has_none_to_merge_with() {
    let size = extent(640, 360);
    let mut frame = FrameBuilder::new("copied", size);
    let [drawn, shown] =
        ["drawn", "shown"].map(|name| frame.image(name, ImageDesc::new(vk::Format::R8G8B8A8_UNORM, size)));
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let next_commands = |frame: &mut FrameBuilder, name: &str| {
        let batch = frame.batch(submit);
        frame.command_buffer(batch, name)
    };
    let drawing = next_commands(&mut frame, "drawing");
    let draw = frame.render_pass(drawing, "draw");
    draw.color(drawn, LoadOp::DontCare);
    let copying = next_commands(&mut frame, "copying");
    let copy = frame.render_pass(copying, "copy").sampled(drawn);
    copy.color(shown, LoadOp::DontCare);
    let frame = frame.build().unwrap();
    let mut arrangement = Arrangement::described(&frame);
    let why = "`copy` is the only pass of its batch or group, but merging needs at least two";
    let copy = arrangement.ungrouped(&frame).pop().unwrap();
    assert_eq!(copy.merge.unwrap().to_string(), why);
    arrangement.batches[1].groups[0].mode = GroupMode::Merged;
    let refused = arrangement.check(&frame).unwrap_err().to_string();
    assert_eq!(
        refused,
        format!("arrangement: passes `copy` to `copy` cannot run as one: {why}")
    );
}

/// A compute pass that reads three images of 3.5 MiB with a heap of 8 MiB: one of them moves, in any arrangement.
#[test]
fn what_a_pass_uses_at_once_has_to_fit() {
    let size = extent(1280, 720);
    let mut frame = FrameBuilder::new("crowded", size);
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let mut image = |name: &str| frame.image(name, ImageDesc::new(vk::Format::R8G8B8A8_UNORM, size));
    let images: [ResourceId; 3] = ["first", "second", "third"].map(&mut image);
    let out = image("out");
    for (number, &image) in images.iter().enumerate() {
        let draw = frame.render_pass(commands, format!("draw {number}"));
        draw.color(image, LoadOp::DontCare).in_strips(Bytes::ZERO);
    }
    let mut gather = frame.compute_pass(commands, "gather");
    for image in images {
        gather = gather.sampled(image).reaching(ReadReach::Anywhere);
    }
    gather.storage_write(out).in_strips(Bytes::ZERO);
    let show = frame.compute_pass(commands, "show");
    show.sampled(out);
    let frame = frame.build().unwrap();
    let heap = |bytes| {
        let profile = DeviceProfile::preset("adreno-830").unwrap();
        profile.with_tile_heap_size(bytes).unwrap()
    };
    let plan = planned(&frame, &heap(Bytes::mib(8)), &PlanOptions::default());
    let limits = as_described(&plan);
    let crowded: Vec<(&str, bool)> = limits
        .crowded
        .iter()
        .map(|one| (pass_name(&plan, one.pass), one.bytes >= Bytes(3_600_000)))
        .collect();
    assert_eq!(crowded, [("gather", true)]);
    let words = limits.crowded[0].in_words(plan.input.frame());
    assert!(words.starts_with("pass `gather` uses "), "{words}");
    let [share, cap] = judged("crowded", &plan);
    assert!(cap < 0.9 && share <= cap, "{share} of at most {cap}");
    let roomy = planned(&frame, &heap(Bytes::mib(20)), &PlanOptions::default());
    assert_eq!(as_described(&roomy).crowded, []);
}

/// Three images of 3.5 MiB with a heap of 8 MiB fit in two strips: the passes that use all of them run once more, in any arrangement.
#[test]
fn what_only_strips_hold_at_once_costs_their_repeats() {
    let size = extent(1280, 720);
    let mut frame = FrameBuilder::new("in strips", size);
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, size);
    let images = ["first", "second", "third"].map(|name| frame.image(name, desc));
    let out = Persistence::External(ExternalDesc::SWAPCHAIN);
    let out = frame.resource("out", desc, out);
    let repeat = Bytes::kib(512);
    let mut draw = frame.render_pass(commands, "draw");
    for image in images {
        draw = draw.color(image, LoadOp::DontCare);
    }
    draw.in_strips(repeat);
    let mut present = frame.render_pass(commands, "present");
    for image in images {
        present = present.sampled(image).reaching(ReadReach::PIXEL);
    }
    present.color(out, LoadOp::DontCare).in_strips(repeat);
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let profile = profile.with_tile_heap_size(Bytes::mib(8)).unwrap();
    let plan = planned(&frame.build().unwrap(), &profile, &PlanOptions::default());
    let limits = as_described(&plan);
    let crowded: Vec<(&str, Bytes)> = limits
        .crowded
        .iter()
        .map(|one| (pass_name(&plan, one.pass), one.bytes))
        .collect();
    assert_eq!(crowded, [("draw", repeat), ("present", repeat)]);
    let [share, cap] = judged("in strips", &plan);
    assert!(cap <= share + 0.001, "{share} of at most {cap}");
    // The cap counts the repeats: nothing is left to explain.
    let shortfalls = found(&plan).shortfalls;
    assert!(shortfalls.iter().all(|one| one.bytes < repeat), "{shortfalls:?}");
}

/// An image that only fits as a whole moves in all of its passes, or in none: those that are needed after a pass have to fit with those that it uses.
#[test]
fn what_lives_across_a_pass_has_to_fit_with_what_it_uses() {
    let size = extent(1280, 720);
    let mut frame = FrameBuilder::new("kept", size);
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let mut image = |name: &str| frame.image(name, ImageDesc::new(vk::Format::R8G8B8A8_UNORM, size));
    let [kept, first, second] = ["kept", "first", "second"].map(&mut image);
    let draw = frame.render_pass(commands, "draw kept");
    draw.color(kept, LoadOp::DontCare);
    let draw = frame.render_pass(commands, "draw first").sampled(kept);
    draw.color(first, LoadOp::DontCare);
    let draw = frame.render_pass(commands, "draw second").sampled(first);
    draw.color(second, LoadOp::DontCare);
    let all = frame.compute_pass(commands, "all");
    all.sampled(second).sampled(kept);
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let profile = profile.with_tile_heap_size(Bytes::mib(8)).unwrap();
    let plan = planned(&frame.build().unwrap(), &profile, &PlanOptions::default());
    // `draw second` uses `first` and `second`, and `all` reads `kept` after it. An image moves when it is drawn and when it is read.
    let limits = as_described(&plan);
    let crowded: Vec<&str> = limits
        .crowded
        .iter()
        .map(|one| pass_name(&plan, one.pass))
        .collect();
    assert_eq!(crowded, ["draw second"]);
    let bytes: Bytes = limits.crowded.iter().map(|one| one.bytes).sum();
    assert!(bytes >= Bytes(7_300_000), "{bytes}");
    let [share, cap] = judged("kept", &plan);
    assert!(cap <= share + 0.01, "{share} of at most {cap}");
}

/// A stretch of a history's lifetime is in tile memory as described: its store moves nevertheless, and the read of the last frame's version.
#[test]
fn histories_in_tile_memory_are_stored() {
    let size = extent(1280, 720);
    let mut frame = FrameBuilder::new("history", size);
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, size);
    let history = frame.resource("history", desc, Persistence::History);
    let out = frame.image("out", desc);
    let resolve = frame.render_pass(commands, "resolve").sampled_previous(history);
    resolve.color(history, LoadOp::DontCare);
    let tone = frame.compute_pass(commands, "tone").sampled(history);
    tone.storage_write(out);
    frame.compute_pass(commands, "show").sampled(out).sampled(history);
    let options = PlanOptions {
        split: true,
        ..PlanOptions::default()
    };
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let plan = planned(&frame.build().unwrap(), &profile, &options);
    assert_eq!(plan.stores().count(), 1);
    let [share, cap] = judged("history", &plan);
    assert!(cap < 0.7 && cap <= share + 0.01, "{share} of at most {cap}");
}
