//! Images that the program creates: those that the device supports, also as external resources of frames.

use ash::vk::{self, Format as F, ImageCreateFlags as Flags, ImageUsageFlags as U};
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{AccessKind, FrameBuilder, ImageDesc, LoadOp, Persistence, SubresourceRange};
use tileheap::plan::PlanOptions;
use tileheap::profile::OptionalFeatures;
use tileheap::runtime::import::{ImportedImage, ImportedSemaphore, ImportedView};
use tileheap::runtime::{Capabilities, Imports};
use tileheap::units::Run;
use tileheap_testkit::fake_driver::Config;
use tileheap_testkit::frames::{extent, one_queue};
use tileheap_testkit::runtime_rig::{EXTENT, image_info, on_fake};

use super::Rig;

/// A rig whose device has these optional features.
fn with_features(features: OptionalFeatures) -> Rig {
    let mut rig = Rig::new(Config::modern());
    on_fake!(rig.tile.clone().destroy());
    rig.fake.desc.optional_features = Some(features);
    rig.tile = rig.fake.runtime().unwrap();
    rig
}

fn supports(rig: &Rig, info: &vk::ImageCreateInfo<'_>) -> bool {
    rig.tile.supports_image("image", info).unwrap()
}

/// Usages and flags need their features, also those that only external resources of frames have.
#[test]
fn images_for_external_resources_are_supported_with_their_features() {
    let drawn = U::COLOR_ATTACHMENT | U::SAMPLED;
    let cases = [
        (drawn, Flags::empty(), OptionalFeatures::empty()),
        (
            drawn | U::ATTACHMENT_FEEDBACK_LOOP_EXT,
            Flags::empty(),
            OptionalFeatures::ATTACHMENT_FEEDBACK_LOOP_LAYOUT,
        ),
        (
            drawn | U::INVOCATION_MASK_HUAWEI,
            Flags::empty(),
            OptionalFeatures::INVOCATION_MASK,
        ),
        (
            drawn | U::HOST_TRANSFER_EXT,
            Flags::empty(),
            OptionalFeatures::HOST_IMAGE_COPY,
        ),
        (
            drawn,
            Flags::SUBSAMPLED_EXT,
            OptionalFeatures::FRAGMENT_DENSITY_MAP,
        ),
    ];
    for (usage, flags, feature) in cases {
        let info = image_info(usage).flags(flags);
        let with = with_features(feature);
        assert!(supports(&with, &info), "{usage:?} {flags:?}");
        if !feature.is_empty() {
            let without = with_features(OptionalFeatures::all() - feature);
            assert!(!supports(&without, &info), "{usage:?} {flags:?}");
        }
        let mut frame = FrameBuilder::new("external", EXTENT);
        let desc = ImageDesc {
            usage,
            flags,
            ..ImageDesc::new(info.format, EXTENT)
        };
        let external = ExternalDesc::in_layout(vk::ImageLayout::GENERAL);
        let image = frame.resource("image", desc, Persistence::External(external));
        let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
        frame.render_pass(commands, "draw").color(image, LoadOp::DontCare);
        let frame = frame.build().unwrap();
        with.tile.plan(&frame, &PlanOptions::default()).unwrap();
    }
}

#[test]
fn images_that_break_a_rule_are_not_supported() {
    let rig = with_features(OptionalFeatures::all());
    let sampled = |format, [width, height]: [u32; 2]| {
        image_info(U::SAMPLED)
            .format(format)
            .extent(extent(width, height).into())
    };
    let (nv12, yuyv) = (F::G8_B8R8_2PLANE_420_UNORM, F::G8B8G8R8_422_UNORM);
    let cases = [
        // With a sampler Y'CbCr conversion, which frames do not support.
        (sampled(nv12, [4, 2]), true),
        (sampled(nv12, [3, 2]), false),
        (sampled(nv12, [4, 3]), false),
        (sampled(nv12, [4, 2]).mip_levels(2), false),
        (sampled(nv12, [4, 2]).array_layers(2), false),
        (sampled(nv12, [4, 2]).samples(vk::SampleCountFlags::TYPE_4), false),
        (sampled(yuyv, [4, 3]), true),
        (sampled(yuyv, [3, 3]), false),
        (sampled(F::G8_B8_R8_3PLANE_444_UNORM, [3, 3]), true),
        (sampled(F::G8_B8R8_2PLANE_444_UNORM, [4, 2]), false),
        (sampled(F::R10X6G10X6B10X6A10X6_UNORM_4PACK16, [3, 3]), true),
        // Rules about the usage.
        (image_info(U::TRANSIENT_ATTACHMENT | U::COLOR_ATTACHMENT), true),
        (image_info(U::TRANSIENT_ATTACHMENT), false),
        (
            image_info(U::TRANSIENT_ATTACHMENT | U::COLOR_ATTACHMENT | U::SAMPLED),
            false,
        ),
        (image_info(U::STORAGE).format(F::BC7_UNORM_BLOCK), false),
        (image_info(U::SAMPLED).format(F::BC7_UNORM_BLOCK), true),
        // Features, structures and memory that tileheap does not have.
        (image_info(U::SAMPLED).flags(Flags::SPARSE_BINDING), false),
        (image_info(U::SAMPLED).flags(Flags::PROTECTED), false),
        (sampled(nv12, [4, 2]).flags(Flags::DISJOINT), false),
        (image_info(U::SAMPLED | U::VIDEO_DECODE_DST_KHR), false),
        (image_info(U::from_raw(1 << 31)), false),
    ];
    for (index, (info, expected)) in cases.iter().enumerate() {
        assert_eq!(supports(&rig, info), *expected, "case {index}: {info:?}");
    }
}

/// Formats that are part of the device's version need no statement of the program.
#[test]
fn formats_of_the_version_are_supported() {
    let versions = [vk::API_VERSION_1_2, vk::API_VERSION_1_3];
    let supported = versions.map(|api_version| {
        let mut rig = Rig::new(Config {
            api_version,
            features: Capabilities::empty(),
            ..Config::modern().without_tile_memory()
        });
        on_fake!(rig.tile.clone().destroy());
        rig.fake.desc.optional_features = Some(OptionalFeatures::GEOMETRY_SHADER);
        rig.tile = rig.fake.runtime().unwrap();
        supports(&rig, &image_info(U::SAMPLED).format(F::A4R4G4B4_UNORM_PACK16))
    });
    assert_eq!(supported, [false, true]);
}

/// Levels 0 and all of an image are different views: the caller's only one is used for all of it.
#[test]
fn a_part_of_an_image_needs_its_own_view() {
    let rig = Rig::new(Config::modern());
    let mut frame = FrameBuilder::new("levels", EXTENT);
    let desc = ImageDesc {
        mip_levels: 2,
        ..ImageDesc::new(F::R8G8B8A8_UNORM, EXTENT)
    };
    let external = ExternalDesc::in_layout(vk::ImageLayout::GENERAL);
    let image = frame.resource("image", desc, Persistence::External(external));
    let out = frame.image("out", ImageDesc::new(F::R8G8B8A8_UNORM, EXTENT));
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let pass = frame.render_pass(commands, "draw");
    pass.color(image, LoadOp::Load).level(0);
    let pass = frame.render_pass(commands, "read").sampled(image);
    pass.color(out, LoadOp::DontCare);
    let plan = rig
        .tile
        .plan(&frame.build().unwrap(), &PlanOptions::default())
        .unwrap();
    let mut bound = rig.tile.bind(&plan).unwrap();
    let [(handle, view), (_, other)] = rig.fake.outputs;
    let images = [ImportedImage {
        resource: image,
        image: handle,
        view,
    }];
    let level = |levels| ImportedView {
        resource: image,
        range: SubresourceRange {
            aspects: vk::ImageAspectFlags::COLOR,
            levels,
            layers: Run::new(0, 1),
        },
        view: other,
    };
    let cases = [
        (vec![], false),
        (vec![level(Run::new(1, 2))], false),
        (vec![level(Run::new(0, 1))], true),
        // The view of the image is that of its first level.
        (vec![level(Run::new(0, 2))], true),
    ];
    for ((views, expected), buffers) in cases.into_iter().zip(rig.fake.commands) {
        let imports = Imports {
            images: &images,
            views: &views,
            ..Imports::default()
        };
        let recorder = on_fake!(bound.begin(&imports)).unwrap();
        let recorded = on_fake!(recorder.record(buffers[0], commands)).map(drop);
        match recorded {
            Ok(()) => assert!(expected, "{views:?}"),
            Err(error) => {
                let text = error.to_string();
                assert!(!expected && text.contains("view `level 0 of image`"), "{text}");
            }
        }
    }
}

/// A semaphore that two declared ones stand for is signaled twice, which is possible only in two submits.
#[test]
fn a_semaphore_is_signaled_once_with_a_value() {
    let rig = Rig::new(Config::modern());
    let mut frame = FrameBuilder::new("signals", EXTENT);
    let out = frame.image("out", ImageDesc::new(F::R8G8B8A8_UNORM, EXTENT));
    let semaphores = ["first", "second", "waited", "later"].map(|name| frame.external_semaphore(name));
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "draw");
    frame.render_pass(commands, "draw").color(out, LoadOp::DontCare);
    let stages = vk::PipelineStageFlags2::ALL_COMMANDS;
    frame.wait(batch, semaphores[2], stages);
    frame.signal(batch, semaphores[0], stages);
    frame.signal(batch, semaphores[1], stages);
    let later = frame.submit(queue);
    let batch = frame.batch(later);
    let commands = frame.command_buffer(batch, "draw more");
    frame.render_pass(commands, "draw more").color(out, LoadOp::Load);
    frame.signal(batch, semaphores[3], stages);
    let plan = rig
        .tile
        .plan(&frame.build().unwrap(), &PlanOptions::default())
        .unwrap();
    let mut bound = rig.tile.bind(&plan).unwrap();
    let import = |declared: usize, handle, value| ImportedSemaphore {
        semaphore: semaphores[declared],
        handle: vk::Handle::from_raw(handle),
        value,
    };
    let mut imported = |now: &[ImportedSemaphore], later: &[ImportedSemaphore]| {
        let [now, later] = [now, later].map(|semaphores| Imports {
            semaphores,
            ..Imports::default()
        });
        let mut recorder = on_fake!(bound.begin(&now))?;
        on_fake!(recorder.import(&later))
    };
    let same = [import(0, 8, 0), import(1, 8, 0)];
    for (now, later) in [(&same[..], &[][..]), (&same[..1], &same[1..])] {
        let error = imported(now, later).unwrap_err().to_string();
        assert!(error.contains("`first`") && error.contains("`second`"), "{error}");
    }
    imported(&[import(0, 8, 0), import(1, 9, 0)], &[]).unwrap();
    imported(&[import(0, 8, 4), import(1, 8, 5)], &[]).unwrap();
    imported(&[import(0, 8, 0), import(2, 8, 0)], &[]).unwrap();
    imported(&[import(0, 8, 0), import(3, 8, 0)], &[]).unwrap();
    imported(&same[..1], &[import(0, 9, 0), import(1, 8, 0)]).unwrap();
}

/// A binary semaphore that two declared ones stand for is signaled between the waits for it.
#[test]
fn a_binary_semaphore_is_waited_for_once_per_signal() {
    let rig = Rig::new(Config::modern());
    let mut frame = FrameBuilder::new("waits", EXTENT);
    let out = frame.image("out", ImageDesc::new(F::R8G8B8A8_UNORM, EXTENT));
    let [first, between, second] = ["first", "between", "second"].map(|name| frame.external_semaphore(name));
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS);
    let stages = vk::PipelineStageFlags2::ALL_COMMANDS;
    for (waited, name, load_op) in [
        (first, "draw", LoadOp::DontCare),
        (second, "draw more", LoadOp::Load),
    ] {
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        frame.wait(batch, waited, stages);
        let commands = frame.command_buffer(batch, name);
        frame.render_pass(commands, name).color(out, load_op);
        if waited == first {
            frame.signal(batch, between, stages);
        }
    }
    let frame = frame.build().unwrap();
    let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
    let mut bound = rig.tile.bind(&plan).unwrap();
    let mut imported = |handles: [u64; 3], value| {
        let semaphores: Vec<ImportedSemaphore> = [first, between, second]
            .into_iter()
            .zip(handles)
            .map(|(semaphore, handle)| ImportedSemaphore {
                semaphore,
                handle: vk::Handle::from_raw(handle),
                value,
            })
            .collect();
        let all = Imports {
            semaphores: &semaphores,
            ..Imports::default()
        };
        on_fake!(bound.begin(&all)).map(|_| ())
    };
    let error = imported([8, 9, 8], 0).unwrap_err().to_string();
    assert!(
        error.contains("`first` and `second`") && error.contains("waits for it twice"),
        "{error}"
    );
    imported([8, 8, 8], 0).unwrap();
    imported([8, 9, 7], 0).unwrap();
    imported([8, 9, 8], 5).unwrap();
}

/// A history stays in the image of the first description, whose usages allow layouts that those of the second do not.
#[test]
fn histories_are_left_in_layouts_of_other_descriptions() {
    let rig = Rig::new(Config::modern());
    let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
    for drawn in [true, true, false, true, false] {
        let mut frame = FrameBuilder::new("history", EXTENT);
        let desc = ImageDesc::new(F::R8G8B8A8_UNORM, EXTENT);
        let history = frame.resource("history", desc, Persistence::History);
        let out = frame.image("out", desc);
        let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
        let pass = frame.transfer_pass(commands, "copy");
        let pass = pass.read(history, AccessKind::TransferSource).previous();
        let copy = pass.transfer_destination(out).id();
        let write = frame
            .transfer_pass(commands, "write")
            .transfer_destination(history);
        let mut passes = vec![copy, write.id()];
        if drawn {
            let draw = frame.render_pass(commands, "draw");
            passes.push(draw.color(history, LoadOp::Load).id());
        }
        let selected = frames.select(&frame).unwrap();
        let recorder = on_fake!(selected.begin(&Imports::default())).unwrap();
        let mut recorded = on_fake!(recorder.record(rig.fake.commands[0][0], commands)).unwrap();
        for pass in passes {
            recorded.pass(pass, |_| ()).unwrap();
        }
        recorded.finish().unwrap();
        let number = on_fake!(recorder.submit()).unwrap();
        assert!(frames.wait(number, u64::MAX).unwrap());
    }
}
