//! Passes in several command buffers, and imports during recording: errors, and the state that they leave unchanged.

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{
    ClearValue, CommandBufferId, FrameBuilder, ImageDesc, LoadOp, PassId, Persistence, SubresourceRange,
};
use tileheap::plan::PlanOptions;
use tileheap::runtime::import::{ImportedImage, ImportedView};
use tileheap::runtime::{BoundFrame, FrameRecorder, Imports};
use tileheap::units::Run;
use tileheap_testkit::fake_driver::{Call, Config};
use tileheap_testkit::frames::one_queue;
use tileheap_testkit::runtime_rig::{EXTENT, on_fake};

use super::Rig;

/// A bound frame with one pass that draws to an image of the frame.
fn drawing(rig: &Rig) -> (BoundFrame, CommandBufferId, PassId) {
    let mut builder = FrameBuilder::new("drawing", EXTENT);
    let image = builder.image("image", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    let clear = LoadOp::Clear(ClearValue::ZERO);
    let draw = builder.render_pass(scene, "draw").color(image, clear).id();
    let frame = builder.build().unwrap();
    let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
    (rig.tile.bind(&plan).unwrap(), scene, draw)
}

#[test]
fn the_parts_of_a_pass_are_submitted_in_order_when_all_are_finished() {
    let rig = Rig::new(Config::modern());
    let (mut bound, scene, draw) = drawing(&rig);
    for (handles, is_finished) in [(rig.fake.commands[1], false), (rig.fake.commands[0], true)] {
        let recorder = on_fake!(bound.begin(&Imports::default())).unwrap();
        let mut commands = on_fake!(recorder.record(handles[0], scene)).unwrap();
        let mut parts = on_fake!(commands.begin_pass_in_parts(draw, &handles[1..])).unwrap();
        assert_eq!(parts.len(), 3);
        // They may be finished in any order.
        commands.end_pass().unwrap();
        commands.finish().unwrap();
        let first = parts.remove(0);
        for part in parts {
            part.finish().unwrap();
        }
        if is_finished {
            first.finish().unwrap();
            let number = on_fake!(recorder.submit()).unwrap();
            assert!(bound.wait(number, u64::MAX).unwrap());
        } else {
            let wanted = "command buffer `scene` is submitted before its recording is finished: FrameRecorder::record begins it, \
                          Commands::finish ends it";
            assert_eq!(on_fake!(recorder.submit()).unwrap_err().to_string(), wanted);
        }
    }
    let journal = rig.fake.driver.journal();
    let submitted = journal.iter().find_map(|call| match call {
        Call::Submit { batches, .. } => Some(batches[0].command_buffers.clone()),
        _ => None,
    });
    assert_eq!(submitted.unwrap(), rig.fake.commands[0]);
    on_fake!(bound.destroy());
}

#[test]
fn parts_that_cannot_begin_leave_the_pass_as_it_was() {
    let rig = Rig::new(Config::modern());
    let (mut bound, scene, draw) = drawing(&rig);
    let handles = rig.fake.commands[0];
    let recorder = on_fake!(bound.begin(&Imports::default())).unwrap();
    let mut commands = on_fake!(recorder.record(handles[0], scene)).unwrap();
    let memory = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
    rig.fake.driver.fail("vkBeginCommandBuffer", 1, memory);
    let failed = on_fake!(commands.begin_pass_in_parts(draw, &handles[1..3])).map(drop);
    let text = failed.unwrap_err().to_string();
    assert!(
        text.contains("vkBeginCommandBuffer") && text.contains("scene"),
        "{text}"
    );
    rig.fake.driver.fail_no_more();
    // The same ones may be begun again, or the pass may be recorded here.
    let parts = on_fake!(commands.begin_pass_in_parts(draw, &handles[1..3])).unwrap();
    parts.into_iter().for_each(|part| part.finish().unwrap());
    commands.end_pass().unwrap();
    commands.finish().unwrap();
    let number = on_fake!(recorder.submit()).unwrap();
    assert!(bound.wait(number, u64::MAX).unwrap());
    on_fake!(bound.destroy());
}

#[test]
fn an_import_that_is_refused_changes_nothing() {
    let rig = Rig::new(Config::modern());
    let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
    let external = || Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::GENERAL));
    let mut builder = FrameBuilder::new("two screens", EXTENT);
    let [left, right] = ["left", "right"].map(|name| builder.resource(name, desc, external()));
    let own = builder.image("own", desc);
    let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    let clear = LoadOp::Clear(ClearValue::ZERO);
    let pass = builder.render_pass(scene, "draw").color(left, clear);
    let draw = pass.color(right, clear).color(own, clear).id();
    let frame = builder.build().unwrap();
    let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
    let mut bound = rig.tile.bind(&plan).unwrap();
    let [one, other] = [0, 1].map(|index| rig.fake.outputs[index]);
    let import = |resource, (image, view)| ImportedImage {
        resource,
        image,
        view,
    };
    fn of(images: &[ImportedImage]) -> Imports<'_> {
        Imports {
            images,
            ..Imports::default()
        }
    }
    let mut recorder = on_fake!(bound.begin(&of(&[import(left, one)]))).unwrap();
    let twice = on_fake!(recorder.import(&of(&[import(right, one)]))).unwrap_err();
    let wanted = "external images `left` and `right` are imported as the same image, and passes use the same part of both: \
                  declare them as one resource";
    assert_eq!(twice.to_string(), wanted);
    let wrong = on_fake!(recorder.import(&of(&[import(right, other), import(own, other)]))).unwrap_err();
    assert!(
        wrong
            .to_string()
            .contains("`own` is imported as an external image"),
        "{wrong}"
    );
    assert_eq!(recorder.access(draw, right).image(), vk::Image::null());
    assert_eq!(recorder.access(draw, left).image(), one.0);
    // The two are swapped: a second import replaces the first.
    on_fake!(recorder.import(&of(&[import(right, one), import(left, other)]))).unwrap();
    assert_eq!(recorder.access(draw, 0).image(), other.0);
    let mut commands = on_fake!(recorder.record(rig.fake.commands[0][0], scene)).unwrap();
    commands.pass(draw, |_| ()).unwrap();
    commands.finish().unwrap();
    let number = on_fake!(recorder.submit()).unwrap();
    assert!(bound.wait(number, u64::MAX).unwrap());
    on_fake!(bound.destroy());
}

/// Two passes sample one layer each of an external image with a view per layer.
#[test]
fn views_of_parts_are_imported_together_with_their_image() {
    let rig = Rig::new(Config::modern());
    let formats = [vk::Format::R8G8B8A8_UNORM, vk::Format::D24_UNORM_S8_UINT];
    for (format, commands) in formats.into_iter().zip(rig.fake.commands[0]) {
        let layers = ImageDesc {
            array_layers: 2,
            ..ImageDesc::new(format, EXTENT)
        };
        let external = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::GENERAL));
        let mut builder = FrameBuilder::new("layers", EXTENT);
        let image = builder.resource("cascades", layers, external);
        let own = builder.image("own", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
        let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
        let passes = [0, 1].map(|layer| {
            let pass = builder
                .render_pass(scene, format!("layer {layer}"))
                .sampled(image);
            pass.layer(layer).color(own, LoadOp::Clear(ClearValue::ZERO)).id()
        });
        let frame = builder.build().unwrap();
        let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
        let mut bound = rig.tile.bind(&plan).unwrap();
        let [one, other] = [0, 1].map(|index| rig.fake.outputs[index]);
        let images = |(handle, view): (vk::Image, vk::ImageView)| {
            [ImportedImage {
                resource: image,
                image: handle,
                view,
            }]
        };
        let views = |of: [vk::ImageView; 2]| {
            [0, 1].map(|layer: u32| ImportedView {
                resource: image,
                range: SubresourceRange {
                    aspects: vk::ImageAspectFlags::COLOR, // Ignored.
                    levels: Run::new(0, 1),
                    layers: Run::new(layer, layer + 1),
                },
                view: of[layer as usize],
            })
        };
        let (first, second) = (images(one), images(other));
        let (own_views, other_views) = (views([one.1, other.1]), views([other.1, one.1]));
        let imports = Imports {
            images: &first,
            views: &own_views,
            ..Imports::default()
        };
        let mut recorder = on_fake!(bound.begin(&imports)).unwrap();
        let seen = |recorder: &FrameRecorder<'_>| passes.map(|pass| recorder.access(pass, image).view);
        assert_eq!(seen(&recorder), [one.1, other.1]);
        // The views of the previous image are not those of this one.
        let replaced = Imports {
            images: &second,
            ..Imports::default()
        };
        on_fake!(recorder.import(&replaced)).unwrap();
        let missing = on_fake!(recorder.record(commands, scene)).map(drop).unwrap_err();
        let missing = missing.to_string();
        assert!(
            missing.contains("external view `") && missing.contains("cascades` is not imported"),
            "{missing}"
        );
        let complete = Imports {
            views: &other_views,
            ..Imports::default()
        };
        on_fake!(recorder.import(&complete)).unwrap();
        assert_eq!(seen(&recorder), [other.1, one.1]);
        assert_eq!(recorder.access(passes[0], image).image(), other.0);
        on_fake!(recorder.record(commands, scene)).map(drop).unwrap();
        on_fake!(bound.destroy());
    }
}

/// If a framebuffer of an imported view cannot be created, the import counts as missing, and can be repeated.
#[test]
fn an_import_without_a_framebuffer_is_missing() {
    let rig = Rig::new(Config::vulkan_1_1());
    let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
    let external = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::GENERAL));
    let mut builder = FrameBuilder::new("screen", EXTENT);
    let screen = builder.resource("screen", desc, external);
    let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    let clear = LoadOp::Clear(ClearValue::ZERO);
    let draw = builder.render_pass(scene, "draw").color(screen, clear).id();
    let frame = builder.build().unwrap();
    let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
    let mut bound = rig.tile.bind(&plan).unwrap();
    let of = |(image, view)| {
        [ImportedImage {
            resource: screen,
            image,
            view,
        }]
    };
    let [first, second] = [0, 1].map(|index| of(rig.fake.outputs[index]));
    let imports = |images| Imports {
        images,
        ..Imports::default()
    };
    let mut recorder = on_fake!(bound.begin(&imports(&first))).unwrap();
    let memory = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
    rig.fake.driver.fail("vkCreateFramebuffer", 0, memory);
    let failed = on_fake!(recorder.import(&imports(&second)))
        .unwrap_err()
        .to_string();
    assert!(failed.contains("vkCreateFramebuffer"), "{failed}");
    rig.fake.driver.fail_no_more();
    let commands = rig.fake.commands[0][0];
    let missing = on_fake!(recorder.record(commands, scene))
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(
        missing.contains("external image `screen` is not imported"),
        "{missing}"
    );
    on_fake!(recorder.import(&imports(&second))).unwrap();
    let mut recording = on_fake!(recorder.record(commands, scene)).unwrap();
    recording.pass(draw, |_| ()).unwrap();
    recording.finish().unwrap();
    let number = on_fake!(recorder.submit()).unwrap();
    assert!(bound.wait(number, u64::MAX).unwrap());
    on_fake!(bound.destroy());
}

/// An image that is imported without a view cannot be an attachment.
#[test]
fn an_import_without_a_view_is_missing_where_a_view_is_needed() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let rig = Rig::new(config);
        let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
        let external = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::GENERAL));
        let mut builder = FrameBuilder::new("screen", EXTENT);
        let screen = builder.resource("screen", desc, external);
        let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
        builder
            .render_pass(scene, "draw")
            .color(screen, LoadOp::Clear(ClearValue::ZERO));
        let plan = builder.build().unwrap();
        let plan = rig.tile.plan(&plan, &PlanOptions::default()).unwrap();
        let mut bound = rig.tile.bind(&plan).unwrap();
        let (image, view) = rig.fake.outputs[0];
        for (view, is_enough) in [(vk::ImageView::null(), false), (view, true)] {
            let images = [ImportedImage {
                resource: screen,
                image,
                view,
            }];
            let imports = Imports {
                images: &images,
                ..Imports::default()
            };
            let recorder = on_fake!(bound.begin(&imports)).unwrap();
            let recorded = on_fake!(recorder.record(rig.fake.commands[0][0], scene)).map(drop);
            let message = recorded.map_or_else(|error| error.to_string(), |()| String::new());
            assert_eq!(
                message.contains("screen` is not imported"),
                !is_enough,
                "{message}"
            );
        }
        on_fake!(bound.destroy());
    }
}
