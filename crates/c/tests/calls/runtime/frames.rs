//! Whole frames through C equal Rust's, recorded on any thread.

use std::collections::HashMap;
use std::ptr::{null, null_mut};

use ash::vk;
use regex::Regex;
use tileheap::plan::PlanOptions;
use tileheap::runtime::Capabilities;
use tileheap_c::bound::*;
use tileheap_c::commands::*;
use tileheap_c::device::*;
use tileheap_c::dynamic_frame::*;
use tileheap_c::imports::*;
use tileheap_c::library::get_object_count;
use tileheap_c::opaque::*;
use tileheap_c::plan::{PlanTotals, destroy_plan, get_plan_totals};
use tileheap_c::profile::{create_profile_text, destroy_profile};
use tileheap_c::recording::*;
use tileheap_c::status::Status;
use tileheap_testkit::fake_driver::Config;
use tileheap_testkit::runtime_rig::{EXTENT, IN_FLIGHT, Rig, on_fake};
use tileheap_testkit::{assert_says, counting};

use super::super::c::{self, call, fill, get, text};
use super::engine::*;

fn configs() -> [Config; 3] {
    [
        Config::modern().asynchronous(),
        Config::vulkan_1_1().asynchronous(),
        Config::modern().without_tile_memory(),
    ]
}

/// The commands of a rig's command buffers, with handles replaced by the order in which they first occur.
fn commands(rig: &Rig, turn: usize) -> Vec<String> {
    let number = Regex::new(r"0x[0-9a-f]+|\b[0-9]{6,}\b").unwrap();
    let mut known: HashMap<String, usize> = HashMap::new();
    let all = rig.commands[turn].iter().chain(&rig.secondaries[turn]);
    let lines = all.flat_map(|buffer| rig.driver.recorded(*buffer));
    lines
        .map(|command| {
            let text = format!("{command:?}");
            let next = |found: &regex::Captures<'_>| {
                let count = known.len();
                format!("#{}", known.entry(found[0].to_owned()).or_insert(count))
            };
            number.replace_all(&text, next).into_owned()
        })
        .collect()
}

#[test]
fn c_records_the_same_commands_as_rust() {
    for config in configs() {
        let rust = Rig::new(config.clone(), Capabilities::empty());
        let device = rust.runtime().unwrap();
        let mut frames = device.dynamic_frame(PlanOptions::default()).unwrap();
        let builder = rust.described.frame.to_builder();
        let engine = Engine::new(config);
        for turn in 0..2 * IN_FLIGHT as u64 {
            let recorder = {
                let selected = frames.select(&builder).unwrap();
                let images = [tileheap::runtime::import::ImportedImage {
                    resource: rust.described.output,
                    image: rust.outputs[0].0,
                    view: rust.outputs[0].1,
                }];
                let imports = tileheap::runtime::Imports {
                    images: &images,
                    ..Default::default()
                };
                on_fake!(selected.begin(&imports)).unwrap()
            };
            let recorder = rust.record_begun(recorder).unwrap();
            let number = on_fake!(recorder.submit()).unwrap();
            frames.wait(number, u64::MAX).unwrap();
            assert_eq!(engine.run().unwrap(), turn);
            assert_eq!(engine.wait(turn), Status::Success);
            let at = turn as usize % IN_FLIGHT;
            assert_eq!(commands(&engine.rig, at), commands(&rust, at));
        }
        let complete = get(|to, error| th!(get_completed_frame_count(engine.frame, to, error))).unwrap();
        assert_eq!(complete, 2 * IN_FLIGHT as u64);
        engine.end();
        drop(frames);
        let _ = on_fake!(rust.device.device_wait_idle());
        on_fake!(device.destroy());
    }
}

#[test]
fn command_buffers_are_recorded_on_several_threads_while_another_waits() {
    let engine = Engine::new(Config::modern().asynchronous());
    for turn in 0..20 {
        engine.select().unwrap();
        let number = engine.begin().unwrap();
        assert_eq!(number, turn);
        std::thread::scope(|scope| {
            for index in 0..4 {
                let engine = &engine;
                scope.spawn(move || engine.record_all(number, index).unwrap());
            }
            if turn > 0 {
                assert_eq!(engine.wait(turn - 1), Status::Success);
            }
        });
        call(|error| submit_frame(engine.frame, error)).unwrap();
    }
    engine.wait(19);
    engine.end();
}

/// The allocations of a known frame of the testkit in Rust.
fn allocations_of_rust(config: Config) -> usize {
    let rig = Rig::new(config, Capabilities::empty());
    let device = rig.runtime().unwrap();
    let mut frames = device.dynamic_frame(PlanOptions::default()).unwrap();
    let builder = rig.described.frame.to_builder();
    let images = [tileheap::runtime::import::ImportedImage {
        resource: rig.described.output,
        image: rig.outputs[0].0,
        view: rig.outputs[0].1,
    }];
    let imports = tileheap::runtime::Imports {
        images: &images,
        ..Default::default()
    };
    let mut count = 0;
    for _ in 0..20 {
        let before = counting::allocation_count();
        let recorder = on_fake!(frames.select(&builder).unwrap().begin(&imports)).unwrap();
        let recorder = rig.record_begun(recorder).unwrap();
        let number = on_fake!(recorder.submit()).unwrap();
        frames.wait(number, u64::MAX).unwrap();
        count = counting::allocation_count() - before;
    }
    drop(frames);
    let _ = on_fake!(rig.device.device_wait_idle());
    on_fake!(device.destroy());
    count
}

#[test]
fn a_known_frame_allocates_nothing() {
    let engine = Engine::new(Config::modern());
    let mut counts = Vec::with_capacity(100);
    let images = [engine.output(0)];
    let imports = imports(&images);
    let mut selected: SelectedFrame = c::sized();
    for _ in 0..100 {
        let before = counting::allocation_count();
        let none: ErrorHandle = null_mut();
        let mut number = 0;
        let ok = |status: Status| assert_eq!(status, Status::Success);
        ok(th!(select_frame(
            engine.frame,
            &engine.described.desc,
            &mut selected,
            none
        )));
        ok(th!(begin_frame(engine.frame, &imports, &mut number, none)));
        for (pass, secondary) in [GBUFFER, TONEMAP].map(|pass| (pass, engine.secondary(number, pass))) {
            ok(begin_secondary(engine.frame, secondary, pass, 0, none));
            let end = || on_fake!(engine.rig.device.end_command_buffer(secondary)).unwrap();
            end();
        }
        for index in 0..4 {
            let mut commands = null_mut();
            let buffer = engine.command_buffer(number, index);
            ok(th!(begin_commands(
                engine.frame,
                index,
                buffer,
                &mut commands,
                none
            )));
            let passes = engine.rig.described.frame.command_buffers()[index as usize].passes;
            for pass in passes.first..passes.end {
                let mut begun: PassCommands = c::sized();
                ok(th!(begin_pass(commands, pass, &mut begun, none)));
                let mut bound: BoundAccess = c::sized();
                ok(th!(get_bound_access(engine.frame, pass, 0, &mut bound, none)));
                if pass == GBUFFER || pass == TONEMAP {
                    let secondary = engine.secondary(number, pass);
                    ok(th!(execute_secondaries(commands, 1, &secondary, none)));
                }
                ok(end_pass(commands, none));
            }
            ok(end_commands(commands, none));
        }
        ok(submit_frame(engine.frame, none));
        ok(engine.wait(number));
        counts.push(counting::allocation_count() - before);
    }
    assert!(counts[0] > 0, "allocations are counted");
    // Names are stored in strings of earlier frames, until each was once as long as the longest.
    let rust = allocations_of_rust(Config::modern());
    assert_eq!(counts[90..], [rust; 10], "{counts:?}");
    engine.end();
}

#[test]
fn selected_frames_know_their_plan_queues_targets_and_objects() {
    let engine = Engine::new(Config::modern());
    let selected = engine.select().unwrap();
    assert_eq!((selected.pass_count, selected.command_buffer_count), (8, 4));
    assert_eq!((selected.queue_count, selected.resource_count), (2, 7));
    let plan: PlanHandle = get(|to, error| th!(create_selected_plan(engine.frame, to, error))).unwrap();
    let totals: PlanTotals = fill(|to, error| th!(get_plan_totals(plan, to, error))).unwrap();
    assert!(totals.tile_bytes > 0, "the frame uses tile memory");
    call(|_| destroy_plan(plan)).unwrap();

    let own = queues(&engine.rig);
    for (index, known) in own.iter().enumerate() {
        let queue = get(|to, error| th!(get_selected_queue(engine.frame, index as u32, to, error))).unwrap();
        assert_eq!(queue, *known);
    }

    let target: PassTarget =
        fill(|to, error| th!(get_pass_target(engine.frame, GBUFFER, 0, to, error))).unwrap();
    assert_eq!(
        (target.dynamic, target.render_pass),
        (vk::TRUE, vk::RenderPass::null())
    );
    let formats = c::slice(target.color_formats, target.color_format_count);
    assert_eq!(
        formats,
        [vk::Format::R8G8B8A8_UNORM, vk::Format::R16G16B16A16_SFLOAT]
    );
    assert_eq!(
        (target.depth_format, target.extent),
        (vk::Format::D32_SFLOAT, EXTENT)
    );
    assert_eq!(
        (target.samples, target.subpass),
        (vk::SampleCountFlags::TYPE_1, 0)
    );
    // Its input attachment is read by local read, in a rendering with its own formats.
    let target: PassTarget =
        fill(|to, error| th!(get_pass_target(engine.frame, LIGHTING, 0, to, error))).unwrap();
    assert_eq!(target.color_locations.is_null(), target.color_inputs.is_null());
    assert_eq!(
        target.dynamic == vk::TRUE,
        target.render_pass == vk::RenderPass::null()
    );

    // Nothing is imported before the frame begins.
    let depth = engine.access(OCCLUSION, 0).unwrap();
    assert!(depth.image != vk::Image::null() && depth.view != vk::ImageView::null());
    assert_eq!(
        (depth.resource, depth.layout),
        (2, vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL)
    );
    assert_eq!(engine.access(TONEMAP, 1).unwrap().image, vk::Image::null());
    engine.begin().unwrap();
    let output = engine.access(TONEMAP, 1).unwrap();
    assert_eq!(output.image, engine.output(0).image);
    assert_eq!((output.range.level_count, output.range.layer_count), (1, 1));
    assert_eq!(engine.access(OCCLUSION, 0).unwrap().image, depth.image);
    engine.end();
}

#[test]
fn external_images_are_imported_as_late_as_their_command_buffer() {
    let engine = Engine::new(Config::modern());
    for turn in 0..4 {
        engine.select().unwrap();
        let number = get(|to, error| th!(begin_frame(engine.frame, NONE, to, error))).unwrap();
        engine.record_all(number, 0).unwrap();
        engine.record_all(number, 1).unwrap();
        let (status, message) = engine.record(number, 2).unwrap_err();
        assert_eq!(status, Status::ErrorWrongState);
        assert_says(
            message,
            &["output", "not imported", "ThImports", "thImportResources"],
        );
        let images = [engine.output(turn)];
        let mut imports = imports(&images);
        // A view of the whole image, as one of its parts.
        let views = [ImportedView {
            resource: OUTPUT,
            range: vk::ImageSubresourceRange::default(),
            view: images[0].view,
        }];
        (imports.view_count, imports.views) = (1, views.as_ptr());
        call(|error| th!(import_resources(engine.frame, &imports, error))).unwrap();
        assert_eq!(engine.access(TONEMAP, 1).unwrap().view, vk::ImageView::null());
        engine.record_all(number, 2).unwrap();
        let (status, message) =
            call(|error| th!(import_resources(engine.frame, &imports, error))).unwrap_err();
        assert_eq!(status, Status::ErrorWrongState);
        assert_says(message, &["too late", "post"]);
        engine.record_all(number, 3).unwrap();
        call(|error| submit_frame(engine.frame, error)).unwrap();
        assert_eq!(engine.wait(number), Status::Success);
        call(|error| forget_imported_view(engine.frame, images[0].view, error)).unwrap();
    }
    engine.end();
}

#[test]
fn areas_restrict_passes_and_passes_that_render_nothing_are_skipped() {
    let engine = Engine::new(Config::modern());
    engine.select().unwrap();
    let number = engine.begin().unwrap();
    let part = vk::Rect2D {
        offset: vk::Offset2D { x: 8, y: 4 },
        extent: vk::Extent2D {
            width: 100,
            height: 50,
        },
    };
    call(|error| th!(set_render_area(engine.frame, LIGHTING, &part, error))).unwrap();
    call(|error| th!(set_render_area(engine.frame, DECALS, null(), error))).unwrap();
    let commands = engine.record(number, 0).unwrap();
    engine.record_pass(commands, number, GBUFFER).unwrap();
    let (status, message) = engine.record_pass(commands, number, DECALS).unwrap_err();
    assert_eq!(status, Status::ErrorInvalidArgument);
    assert_says(message, &["decals", "renders nothing"]);
    call(|error| skip_pass(commands, DECALS, error)).unwrap();
    call(|error| end_commands(commands, error)).unwrap();
    let commands = engine.record(number, 1).unwrap();
    engine.record_pass(commands, number, OCCLUSION).unwrap();
    let begun: PassCommands = fill(|to, error| th!(begin_pass(commands, LIGHTING, to, error))).unwrap();
    assert_eq!(begun.area, part);
    assert_eq!(
        (begun.viewport.x, begun.viewport.width, begun.viewport.max_depth),
        (8.0, 100.0, 1.0)
    );
    call(|error| end_pass(commands, error)).unwrap();
    // A pass that is not optional.
    let (status, message) = call(|error| skip_pass(commands, 4, error)).unwrap_err();
    assert_eq!(status, Status::ErrorInvalidArgument, "{message}");
    engine.record_pass(commands, number, 4).unwrap();
    call(|error| end_commands(commands, error)).unwrap();
    engine.record_all(number, 2).unwrap();
    engine.record_all(number, 3).unwrap();
    call(|error| submit_frame(engine.frame, error)).unwrap();
    engine.end();
}

#[test]
fn an_abandoned_recording_has_no_effect() {
    let engine = Engine::new(Config::modern());
    assert_eq!(engine.run().unwrap(), 0);
    engine.select().unwrap();
    assert_eq!(engine.begin().unwrap(), 1);
    let commands = engine.record(1, 0).unwrap();
    call(|error| discard_commands(commands, error)).unwrap();
    let (status, _) = engine.record(1, 0).unwrap_err();
    assert_eq!(status, Status::ErrorWrongState, "it is recorded once in a frame");
    let (status, message) = call(|error| submit_frame(engine.frame, error)).unwrap_err();
    assert_eq!(status, Status::ErrorWrongState);
    assert_says(message, &["scene", "before its recording is finished"]);
    // Still being recorded.
    engine.record_all(1, 1).unwrap();
    call(|error| discard_frame(engine.frame, error)).unwrap();
    on_fake!(engine.rig.device.end_command_buffer(engine.command_buffer(1, 0))).unwrap();
    assert_eq!(engine.run().unwrap(), 1);
    engine.end();
}

#[test]
fn texts_and_profiles_say_what_is_in_use() {
    let engine = Engine::new(Config::modern());
    engine.run().unwrap();
    let written = text(|to, error| th!(create_device_text(engine.device, to, error))).unwrap();
    assert_says(
        &written,
        &["tile memory", "synchronization_2", "queue", "held by frames"],
    );
    let profile = get(|to, error| th!(create_device_profile(engine.device, to, error))).unwrap();
    let json = text(|to, error| th!(create_profile_text(profile, to, error))).unwrap();
    assert_says(json, &["tile"]);
    call(|_| destroy_profile(profile)).unwrap();
    engine.end();

    let engine = Engine::with(Config::modern(), |desc| desc.without_tile_memory = vk::TRUE);
    let written = text(|to, error| th!(create_device_text(engine.device, to, error))).unwrap();
    assert_says(written, &["no tile memory", "not enabled"]);
    engine.end();
}

#[test]
fn objects_and_blocks_are_gone_at_the_end() {
    let engine = Engine::new(Config::modern().asynchronous());
    for _ in 0..3 {
        engine.run().unwrap();
    }
    let waiting: u32 = get(|to, error| th!(trim_device(engine.device, to, error))).unwrap();
    assert_eq!(waiting, 0, "nothing was retired");
    // Other descriptions.
    let second = DynamicFrameDesc {
        device: engine.device,
        mode: tileheap_c::enums::PlanMode::Now as u32,
        ..c::sized()
    };
    let second: DynamicFrameHandle = get(|to, error| th!(create_dynamic_frame(&second, to, error))).unwrap();
    let selected: SelectedFrame =
        fill(|to, error| th!(select_frame(second, &engine.described.desc, to, error))).unwrap();
    assert!(selected.bound != engine.select().unwrap().bound);
    call(|error| destroy_dynamic_frame(second, error)).unwrap();
    call(|error| th!(trim_device(engine.device, null_mut(), error))).unwrap();
    let count: u32 = get(|to, error| th!(get_object_count(to, error))).unwrap();
    assert!(count >= 2);
    engine.end();
}
