//! A frame whose description changes every time: objects created, memory allocated, waits, and what remains.

use ash::vk;
use tileheap::frame::tables::SkippedOutputs;
use tileheap::frame::{
    BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassId, Persistence,
    ResourceId,
};
use tileheap::lower::Parity;
use tileheap::plan::{MemoryKind, PlanOptions};
use tileheap::runtime::{Capabilities, DynamicFrame, FrameNumber, Imports, PassCommands};
use tileheap::units::{Bytes, SplitMix64};
use tileheap_testkit::counting;
use tileheap_testkit::fake_driver::{Call, Command, Config};
use tileheap_testkit::frames::{extent, one_queue};
use tileheap_testkit::runtime_rig::{EXTENT, IN_FLIGHT, on_fake};

use super::Rig;

/// Number of switches, which combine freely.
const SWITCHES: u32 = 8;

/// Describes a frame with some switches on: passes, the size of two images, histories, a second queue; returns the first command buffer.
pub(super) fn describe(frame: &mut FrameBuilder, on: u32) -> CommandBufferId {
    let is = |switch: u32| on >> switch & 1 == 1;
    frame.reset("switched", EXTENT);
    let desc = |scale| ImageDesc {
        usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::COLOR_ATTACHMENT,
        ..ImageDesc::scaled(vk::Format::R16G16B16A16_SFLOAT, scale, scale)
    };
    let (large, whole) = (if is(1) { 2.0 } else { 1.0 }, if is(3) { 1.0 } else { 0.5 });
    let images = [
        ("albedo", 1.0),
        ("shadow", large),
        ("ao", whole),
        ("hdr", 1.0),
        ("half", 0.5),
    ];
    let [albedo, shadow, ao, hdr, half] = images.map(|(name, scale)| frame.image(name, desc(scale)));
    let picture = frame.image("picture", desc(1.0));
    let histories = ["past", "trail"].map(|name| frame.resource(name, desc(1.0), Persistence::History));
    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    let scene = frame.command_buffer(batch, "scene");
    let (last, late) = (
        if is(6) { half } else { hdr },
        if is(0) { shadow } else { albedo },
    );
    let passes: [(bool, &str, &[ResourceId], ResourceId); 8] = [
        (is(0), "shadow", &[], shadow),
        (true, "gbuffer", &[], albedo),
        (is(2), "ao", &[albedo], ao),
        (true, "lighting", &[if is(2) { ao } else { albedo }], hdr),
        (is(4), "smear", &[hdr], histories[1]),
        (is(5), "temporal", &[hdr], histories[0]),
        (is(6), "bloom", &[hdr], half),
        (true, "tone_map", &[last, late], picture),
    ];
    for (_, name, reads, target) in passes.into_iter().filter(|pass| pass.0) {
        let mut pass = frame.render_pass(scene, name);
        for &read in reads {
            pass = pass.sampled(read);
        }
        if histories.contains(&target) {
            pass = pass.sampled_previous(target);
        }
        pass.color(target, LoadOp::DontCare);
    }
    if is(7) {
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let (bins, done) = (
            frame.buffer("bins", BufferDesc::new(Bytes(1024))),
            frame.semaphore("done"),
        );
        frame.signal(batch, done, all);
        let compute = frame.queue("compute", vk::QueueFlags::COMPUTE);
        let submit = frame.submit(compute);
        let batch = frame.batch(submit);
        frame.wait(batch, done, all);
        let count = frame.command_buffer(batch, "count");
        let pass = frame.compute_pass(count, "histogram").sampled(picture);
        pass.storage_write(bins);
    }
    scene
}

/// Records and submits a frame.
pub(super) fn run(rig: &Rig, frames: &mut DynamicFrame, builder: &FrameBuilder, turn: usize) -> FrameNumber {
    let bound = frames.select(builder).unwrap();
    let plan = bound.plan().clone();
    let recorder = on_fake!(bound.begin(&Imports::default())).unwrap();
    let own = rig.fake.commands[turn % IN_FLIGHT];
    for (declared, handle) in plan.frame.command_buffers().iter().zip([own[0], own[3]]) {
        let ids = plan.frame.pass_ids().skip(declared.passes.indices().start);
        let passes: Vec<_> = ids.take(declared.passes.len()).collect();
        let id = plan.frame.pass(passes[0]).command_buffer;
        let mut commands = on_fake!(recorder.record(handle, id)).unwrap();
        for pass in passes {
            commands.pass(pass, |_| ()).unwrap();
        }
        commands.finish().unwrap();
    }
    on_fake!(recorder.submit()).unwrap()
}

/// Bytes of ordinary memory that a plan requires.
fn bytes_of(rig: &Rig, builder: &FrameBuilder) -> u64 {
    let frame = builder.to_frame().unwrap();
    let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
    let objects = plan.objects.iter();
    let ordinary = objects.filter(|object| object.memory != MemoryKind::Tile);
    ordinary.map(|object| object.size.0).sum()
}

#[test]
fn known_frames_create_nothing_and_wait_for_their_own_alone() {
    for config in [Config::modern(), Config::modern().without_tile_memory()] {
        let mut rig = Rig::new(config.asynchronous());
        // Objects are named again when another description is selected.
        on_fake!(rig.tile.clone().destroy());
        rig.fake.desc.without = Capabilities::DEBUG_UTILS;
        rig.tile = rig.fake.runtime().unwrap();
        let mut random = SplitMix64::new(16);
        // Sixteen combinations of switches, each once.
        let mut known: Vec<u32> = (0..16).map(|one| one * 37 % (1 << SWITCHES)).collect();
        // The largest has all histories: they are kept, whatever else is toggled.
        known[0] = (1 << SWITCHES) - 1;
        let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
        let mut builder = FrameBuilder::default();
        let mut largest = 0;
        let mut numbers = Vec::new();
        // First each of them, then until all are known whatever came before: histories swap their copies in more than one way.
        for turn in 0..300 {
            let on = known.get(turn).copied();
            describe(&mut builder, on.unwrap_or_else(|| random.pick(&known)));
            largest = largest.max(if on.is_some() { bytes_of(&rig, &builder) } else { 0 });
            if turn >= 2 {
                assert!(frames.wait(numbers[turn - 2], u64::MAX).unwrap());
            }
            numbers.push(run(&rig, &mut frames, &builder, turn));
        }
        let held = frames.bytes();
        assert!(held.0 * 4 <= largest * 5, "{held} of {largest}");
        rig.fake.driver.clear_journal();
        let mut allocated = Vec::with_capacity(1000);
        for turn in 0..1000 {
            let before = counting::allocation_count();
            describe(&mut builder, random.pick(&known));
            let last = numbers.len() - 2;
            assert!(frames.wait(numbers[last], u64::MAX).unwrap());
            frames.select(&builder).unwrap();
            allocated.push(counting::allocation_count() - before);
            numbers.push(run(&rig, &mut frames, &builder, turn));
        }
        assert_eq!(allocated[500..].iter().sum::<usize>(), 0, "{allocated:?}");
        let (mut waits, mut cleared) = (0, 0);
        for call in rig.fake.driver.journal() {
            match call {
                Call::Create { .. } | Call::Allocate { .. } | Call::Bind { .. } => panic!("{call:?}"),
                Call::Wait { function } => waits += usize::from(function != "vkWaitSemaphores"),
                Call::Record {
                    command: Command::Transfer(name),
                    ..
                } => cleared += usize::from(name.starts_with("vkCmdClear")),
                _ => {}
            }
        }
        assert_eq!((waits, cleared), (0, 0), "no history is reset");
        rig.fake.driver.complete();
        drop(frames);
        assert_eq!(rig.tile.collect().unwrap(), 0);
    }
}

#[test]
fn accesses_of_odd_frames_are_known_before_one_is_lowered() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let rig = Rig::new(config);
        let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
        let mut builder = FrameBuilder::default();
        // With two histories.
        describe(&mut builder, 0b11_0000);
        let bound = frames.select(&builder).unwrap();
        let frame = bound.plan().described().clone();
        let accesses = |pass| (0..frame.accesses_of(pass).len()).map(move |nth| (pass, nth));
        let accesses: Vec<(PassId, usize)> = frame.pass_ids().flat_map(accesses).collect();
        let [even, odd] = Parity::BOTH.map(|parity| {
            let access = |&(pass, nth)| bound.access(pass, nth, parity);
            accesses.iter().map(access).collect::<Vec<_>>()
        });
        assert_ne!(even, odd, "histories have two copies");
        for turn in 0..4 {
            let bound = frames.select(&builder).unwrap();
            let expected = [&even, &odd][turn % 2];
            let recorder = on_fake!(bound.begin(&Imports::default())).unwrap();
            let access = |&(pass, nth)| recorder.access(pass, nth);
            let found: Vec<_> = accesses.iter().map(access).collect();
            assert_eq!(found, *expected, "frame {turn}");
            run(&rig, &mut frames, &builder, turn);
        }
    }
}

#[test]
fn an_odd_frame_that_cannot_be_lowered_can_begin_again() {
    let rig = Rig::new(Config::vulkan_1_1());
    let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
    let mut builder = FrameBuilder::default();
    describe(&mut builder, 0b11_0000);
    run(&rig, &mut frames, &builder, 0);
    rig.fake
        .driver
        .fail("vkCreateFramebuffer", 0, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    let bound = frames.select(&builder).unwrap();
    let failed = on_fake!(bound.begin(&Imports::default()))
        .unwrap_err()
        .to_string();
    assert!(failed.contains("vkCreateFramebuffer"), "{failed}");
    rig.fake.driver.fail_no_more();
    for turn in 1..4 {
        run(&rig, &mut frames, &builder, turn);
    }
    rig.fake.driver.complete();
    drop(frames);
    assert_eq!(rig.tile.collect().unwrap(), 0);
}

#[test]
fn a_description_that_is_refused_leaves_what_is_bound() {
    let rig = Rig::new(Config::modern());
    let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
    let mut builder = FrameBuilder::default();
    // With a history.
    let scene = describe(&mut builder, 0b10_0000);
    run(&rig, &mut frames, &builder, 0);
    let number = frames.select(&builder).unwrap().number();
    let known = rig.fake.driver.calls();
    let mut invalid = builder.clone();
    invalid.compute_pass(scene, "");
    let refused = frames.select(&invalid).unwrap_err().to_string();
    assert!(refused.contains("pass name"), "{refused}");
    let mut unplanned = builder.clone();
    let unused = unplanned.buffer("unused", BufferDesc::new(Bytes(1024)));
    unplanned.pin(unused);
    let refused = frames.select(&unplanned).unwrap_err().to_string();
    assert!(refused.contains("`unused`"), "{refused}");
    assert_eq!(frames.bound().count(), 1);
    assert_eq!(frames.select(&builder).unwrap().number(), number);
    assert_eq!(rig.fake.driver.calls(), known);
    rig.fake.driver.clear_journal();
    run(&rig, &mut frames, &builder, 1);
    let journal = rig.fake.driver.journal();
    let cleared = |call: &Call| matches!(call, Call::Record { command: Command::Transfer(name), .. } if name.starts_with("vkCmdClear"));
    assert!(!journal.iter().any(cleared), "the history keeps its contents");
}

#[test]
fn frames_in_a_smaller_block_are_bound_in_the_larger_one_when_they_are_next_selected() {
    let (small, large) = (0b01, 0b11);
    let created = |rig: &Rig| {
        let journal = rig.fake.driver.journal().into_iter();
        let created = journal
            .filter(|call| matches!(call, Call::Create { function, .. } if *function == "vkCreateImage"));
        created.count()
    };
    let alone = {
        let rig = Rig::new(Config::modern().without_tile_memory());
        let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
        let mut builder = FrameBuilder::default();
        describe(&mut builder, large);
        run(&rig, &mut frames, &builder, 0);
        (created(&rig), frames.bytes())
    };
    let rig = Rig::new(Config::modern().without_tile_memory());
    let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
    let mut builder = FrameBuilder::default();
    let known: Vec<u32> = (0..4).map(|one| small | one << 2).collect();
    for (turn, &on) in known.iter().enumerate() {
        describe(&mut builder, on);
        run(&rig, &mut frames, &builder, turn);
    }
    describe(&mut builder, known[0]);
    let before = frames.select(&builder).unwrap().number();
    rig.fake.driver.clear_journal();
    describe(&mut builder, large);
    run(&rig, &mut frames, &builder, 0);
    assert_eq!(created(&rig), alone.0, "nothing else is created");
    assert_eq!(frames.bound().count(), 1);
    describe(&mut builder, known[0]);
    let again = frames.select(&builder).unwrap().number();
    assert_ne!(again, before, "bound again");
    assert_eq!(frames.bound().count(), 2);
    run(&rig, &mut frames, &builder, 1);
    rig.fake.driver.complete();
    rig.tile.collect().unwrap();
    let held = rig.tile.pool_bytes();
    let rounded = alone.1 + Bytes(alone.1.0 / 8);
    assert!(held <= rounded, "the smaller block is freed: {held}");
    drop(frames);
    assert_eq!(rig.tile.trim().unwrap(), 0);
    assert_eq!(rig.tile.pool_bytes(), Bytes::ZERO);
}

#[test]
fn histories_outlive_the_frames_in_a_smaller_block() {
    let rig = Rig::new(Config::modern().without_tile_memory());
    let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
    let mut builder = FrameBuilder::default();
    let (small_with_history, large) = (0b10_0001, 0b11);
    let mut clears = |on: u32, turns: usize| {
        rig.fake.driver.clear_journal();
        for turn in 0..turns {
            describe(&mut builder, on);
            run(&rig, &mut frames, &builder, turn);
        }
        let journal = rig.fake.driver.journal().into_iter();
        let clears = journal.filter(|call| match call {
            Call::Record {
                command: Command::Transfer(name),
                ..
            } => name.starts_with("vkCmdClear"),
            _ => false,
        });
        clears.count()
    };
    assert!(clears(small_with_history, 2) > 0, "nothing has written it");
    // More memory than is not borrowed stays in the pool.
    assert_eq!(clears(large, 600), 0);
    assert_eq!(clears(small_with_history, 2), 0, "it kept its contents");
}

#[test]
fn without_timelines_a_dynamic_frame_stays_on_the_queue_of_its_first_frame() {
    let mut rig = Rig::new(Config::vulkan_1_1().asynchronous());
    on_fake!(rig.tile.clone().destroy());
    rig.fake.desc.queues.reverse(); // The one without graphics comes first.
    rig.tile = rig.fake.runtime().unwrap();
    let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
    let [compute, graphics] = [vk::QueueFlags::COMPUTE, vk::QueueFlags::GRAPHICS].map(|capabilities| {
        let mut builder = FrameBuilder::new("frame", EXTENT);
        let bins = builder.buffer("bins", BufferDesc::new(Bytes(1024)));
        let commands = one_queue(&mut builder, capabilities | vk::QueueFlags::COMPUTE);
        builder.compute_pass(commands, "count").storage_write(bins);
        builder
    });
    let first = frames.select(&compute).unwrap();
    let queue = first.plan().frame.submits()[0].queue;
    assert_eq!(first.queue(queue).handle, rig.fake.desc.queues[0].handle);
    // Its frames may still run.
    frames.forget(&compute);
    let refused = frames.select(&graphics).unwrap_err().to_string();
    assert!(refused.contains("on a different device queue"), "{refused}");
    frames.select(&compute).unwrap();
}

#[test]
fn an_unknown_frame_of_known_resources_calls_no_driver() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let rig = Rig::new(config);
        let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
        let mut builder = FrameBuilder::default();
        // All except the second queue, to which a semaphore belongs.
        let on = (1 << (SWITCHES - 1)) - 1;
        describe(&mut builder, on);
        run(&rig, &mut frames, &builder, 0);
        let known = rig.fake.driver.calls();
        let scene = describe(&mut builder, on);
        builder.compute_pass(scene, "timestamps");
        frames.select(&builder).unwrap();
        assert_eq!(rig.fake.driver.calls(), known);
        run(&rig, &mut frames, &builder, 1);
        drop(frames);
        assert_eq!(rig.tile.collect().unwrap(), 0);
    }
}

#[test]
fn what_is_retired_is_lent_again_without_a_wait() {
    let rig = Rig::new(Config::modern().asynchronous());
    let mut one = rig.bind(&PlanOptions::default());
    rig.fake.frame(&mut one).unwrap();
    one.retire();
    rig.fake.driver.clear_journal();
    let mut other = rig.bind(&PlanOptions::default());
    let created = |call: &Call| {
        matches!(call, Call::Allocate { .. } | Call::Bind { .. })
            || matches!(call, Call::Create { function, .. } if ["vkCreateImage", "vkCreateBuffer"].contains(function))
    };
    assert!(!rig.fake.driver.journal().iter().any(created));
    rig.fake.driver.complete();
    rig.fake.frame(&mut other).unwrap();
    rig.fake.driver.complete();
    other.retire();
    assert_eq!(rig.tile.trim().unwrap(), 0);
    assert_eq!(rig.tile.pool_bytes(), Bytes::ZERO);
}

#[test]
fn a_block_is_exact_unless_it_replaces_a_smaller_one() {
    let rig = Rig::new(Config::modern().without_tile_memory());
    let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
    let mut builder = FrameBuilder::default();
    describe(&mut builder, 0b00);
    frames.select(&builder).unwrap();
    let first = bytes_of(&rig, &builder);
    assert_eq!(frames.bytes().0, first);
    // With a pass that renders a large image.
    describe(&mut builder, 0b11);
    frames.select(&builder).unwrap();
    let (held, larger) = (frames.bytes().0, bytes_of(&rig, &builder));
    assert!(first < larger && larger < held, "{held} B for {larger} B");
    assert!(held <= larger + larger / 8, "{held} B for {larger} B");
    // The borrower's own block is reused, no matter how little of it a description needs.
    describe(&mut builder, 0b00);
    let bound = frames.select(&builder).unwrap().number();
    assert_eq!(frames.bytes().0, held);
    let created = rig.tile.pool_created();
    assert_eq!(frames.select(&builder).unwrap().number(), bound);
    assert_eq!((rig.tile.pool_created(), frames.bytes().0), (created, held));
    rig.tile.trim().unwrap();
    assert_eq!(rig.tile.pool_bytes().0, held);
}

#[test]
fn a_block_of_another_is_at_most_twice_as_large_as_needed() {
    let frame = |height| {
        let mut builder = FrameBuilder::new("one image", extent(256, height));
        let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent(256, height));
        let image = builder.image("image", desc);
        let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
        builder.render_pass(scene, "draw").color(image, LoadOp::DontCare);
        builder.build().unwrap()
    };
    for (height, fits) in [(512, true), (256, true), (252, false)] {
        let rig = Rig::new(Config::modern().without_tile_memory());
        let bind = |height| {
            let plan = rig.tile.plan(&frame(height), &PlanOptions::default()).unwrap();
            rig.tile.bind(&plan).unwrap()
        };
        bind(512).retire();
        let held = rig.tile.pool_bytes();
        bind(height).retire();
        assert_eq!(rig.tile.pool_bytes() == held, fits, "{height} after 512 rows");
    }
}

#[test]
fn memory_limits_are_held_and_said() {
    let planned = |rig: &Rig| {
        let frame = &rig.fake.described.frame;
        rig.tile.plan(frame, &PlanOptions::default()).unwrap()
    };
    let mut rig = Rig::new(Config::modern());
    on_fake!(rig.tile.clone().destroy());
    rig.fake.desc.memory_limit = Some(Bytes(1 << 20));
    rig.tile = rig.fake.runtime().unwrap();
    let error = rig.tile.bind(&planned(&rig)).unwrap_err().to_string();
    let said = error.contains("memory limit of the device") && error.contains("frame `rig`");
    assert!(said, "{error}");

    let extensions = vec![ash::ext::memory_budget::NAME];
    let rig = Rig::new(Config {
        extensions,
        ..Config::modern()
    });
    let mut held = rig.bind(&PlanOptions::default());
    rig.run(&mut held);
    rig.fake.driver.set_heap_use(1 << 20, 1 << 20);
    let error = rig.tile.bind(&planned(&rig)).unwrap_err().to_string();
    assert!(error.contains("memory budget of the system"), "{error}");
    // The memory of a retired frame makes room.
    held.retire();
    rig.tile.bind(&planned(&rig)).unwrap().retire();
}

#[test]
fn a_frame_that_never_comes_back_is_waited_for_by_nobody() {
    let rig = Rig::new(Config::modern().asynchronous());
    let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
    let mut builder = FrameBuilder::default();
    describe(&mut builder, 5);
    let number = run(&rig, &mut frames, &builder, 0);
    assert_eq!(frames.completed().unwrap(), None);
    let later = frames.wait(FrameNumber(number.0 + 1), 0).unwrap_err().to_string();
    assert!(later.contains("the number of submitted frames is 1"), "{later}");
    drop(frames);
    assert!(rig.tile.collect().unwrap() > 0);
    assert!(rig.tile.trim().unwrap() > 0 && rig.tile.pool_bytes() > Bytes::ZERO);
    rig.fake.driver.complete();
    assert_eq!(rig.tile.trim().unwrap(), 0);
    assert_eq!(rig.tile.pool_bytes(), Bytes::ZERO);
}

#[test]
fn a_skipped_pass_is_cleared_and_has_no_commands() {
    let rig = Rig::new(Config::modern());
    let mut builder = FrameBuilder::new("skipped", EXTENT);
    let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
    let color = builder.image("color", desc);
    let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    let clear = LoadOp::Clear(ClearValue::ZERO);
    let sky = builder
        .render_pass(scene, "sky")
        .color(color, clear)
        .optional(SkippedOutputs::Kept)
        .id();
    let scenery = builder
        .render_pass(scene, "scenery")
        .color(color, LoadOp::Load)
        .id();
    let frame = builder.build().unwrap();
    let read = Frame::from_json(&frame.to_json()).unwrap();
    assert_eq!(read, frame);
    let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
    let mut bound = rig.tile.bind(&plan).unwrap();
    let handle = rig.fake.commands[0][0];
    for skips in [true, false] {
        let recorder = on_fake!(bound.begin(&Imports::default())).unwrap();
        let mut commands = on_fake!(recorder.record(handle, scene)).unwrap();
        if skips {
            commands.skip(sky).unwrap();
        } else {
            commands.pass(sky, |_| ()).unwrap();
        }
        assert_eq!(recorder.is_skipped(sky), skips);
        let refused = commands.skip(scenery).unwrap_err().to_string();
        assert!(refused.contains("pass `scenery` cannot be left out"), "{refused}");
        let draw = |pass: &PassCommands<'_>| {
            on_fake!(pass.device().cmd_draw(pass.command_buffer(), 3, 1, 0, 0));
        };
        commands.pass(scenery, draw).unwrap();
        commands.finish().unwrap();
        let recorded = rig.fake.driver.recorded(handle);
        let count = |of: fn(&Command) -> bool| recorded.iter().filter(|one| of(one)).count();
        assert_eq!(count(|one| matches!(one, Command::BeginRendering { .. })), 2);
        assert_eq!(count(|one| matches!(one, Command::Draw)), 1);
        let number = on_fake!(recorder.submit()).unwrap();
        assert!(bound.wait(number, u64::MAX).unwrap());
    }
}

#[test]
fn a_skipped_pass_keeps_no_outputs_that_it_overwrites() {
    let mut builder = FrameBuilder::new("skipped", EXTENT);
    let color = builder.image("color", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    let sky = builder.render_pass(scene, "sky").color(color, LoadOp::DontCare);
    sky.optional(SkippedOutputs::Kept);
    let refused = builder.build().unwrap_err().to_string();
    assert!(refused.contains("pass `sky` keeps its outputs"), "{refused}");
}
