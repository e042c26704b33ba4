//! What the runtime refuses, and what it says.

use ash::vk;
use tileheap::Error;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{
    AccessKind, BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence,
};
use tileheap::plan::PlanOptions;
use tileheap::runtime::context::DeviceChoice;
use tileheap::runtime::import::ImportedBuffer;
use tileheap::runtime::{Capabilities, ContextDesc, FrameNumber, Imports, RuntimeError};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::Gpu;

const EXTENT: vk::Extent2D = vk::Extent2D { width: 4, height: 4 };

fn frame() -> Frame {
    let mut frame = FrameBuilder::new("small", EXTENT);
    let image = frame.image("image", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let host = ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED);
    let result = frame.resource("result", BufferDesc::new(Bytes(64)), Persistence::External(host));
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "scene");
    frame
        .render_pass(commands, "clear")
        .color(image, LoadOp::Clear(ClearValue::ZERO));
    frame
        .transfer_pass(commands, "copy")
        .transfer_source(image)
        .transfer_destination(result);
    frame.build().expect("a sound frame")
}

fn says<T: std::fmt::Debug>(result: tileheap::Result<T>) -> String {
    result.expect_err("misuse").to_string()
}

#[test]
fn passes_come_in_declared_order() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let frame = frame();
    let plan = gpu.tile().plan(&frame, &PlanOptions::default()).expect("a plan");
    let mut bound = gpu.tile().bind(&plan).expect("a bound plan");
    let [clear, copy] = ["clear", "copy"].map(|name| frame.pass_named(name).expect("declared"));
    let result = frame.resource_named("result").expect("declared");
    let image = frame.resource_named("image").expect("declared");
    let host = gpu.host_buffer(64);
    let command_buffers = gpu.primaries(2);
    let scene = frame.passes()[0].command_buffer;

    // SAFETY: nothing is handed in.
    let missing = says(unsafe { bound.begin(&Imports::default()) });
    assert_eq!(
        missing,
        "external buffer `result` is not imported: add it to Imports"
    );
    let wrong = [ImportedBuffer {
        resource: image,
        buffer: host.buffer,
    }];
    // SAFETY: the buffer lives until `finish`.
    let wrong = says(unsafe {
        bound.begin(&Imports {
            buffers: &wrong,
            ..Imports::default()
        })
    });
    assert_eq!(
        wrong,
        "`image` is imported as external buffer, but the frame does not declare it as one"
    );

    let imported = [ImportedBuffer {
        resource: result,
        buffer: host.buffer,
    }];
    // SAFETY: the buffer lives until `finish`.
    let recorder = unsafe {
        bound.begin(&Imports {
            buffers: &imported,
            ..Imports::default()
        })
    }
    .expect("a frame");
    // SAFETY: new.
    let mut commands = unsafe { recorder.record(command_buffers[0], scene) }.expect("recording");
    let out_of_order = says(commands.pass(copy, |_| ()));
    assert_eq!(
        out_of_order,
        "pass `copy` was recorded in command buffer `scene`, where pass `clear` is next"
    );
    // SAFETY: nothing is executed.
    let secondary = says(unsafe { commands.pass_secondary(clear, &[]) });
    assert_eq!(
        secondary,
        "pass `clear` is declared with inline contents but recorded with secondary contents"
    );
    commands.pass(clear, |_| ()).expect("clear");
    // SAFETY: never reached.
    let twice = says(unsafe { recorder.record(command_buffers[1], scene) });
    assert_eq!(twice, "command buffer `scene` is already recorded in this frame");
    let unfinished = says(commands.finish());
    assert_eq!(
        unfinished,
        "command buffer `scene` is finished before pass `copy` was recorded"
    );
    // SAFETY: nothing is submitted.
    let unrecorded = says(unsafe { recorder.submit() });
    assert_eq!(
        unrecorded,
        "command buffer `scene` is submitted before its recording is finished"
    );
    assert_eq!(
        says(bound.wait(FrameNumber(0), 0)),
        "cannot wait for frame 0: only 0 frames are submitted"
    );
    // SAFETY: nothing was submitted.
    unsafe { bound.destroy() };
    gpu.finish();
}

#[test]
fn what_the_device_cannot_do_is_named() {
    let gpu = Gpu::new(Capabilities::BUFFER_DEVICE_ADDRESS);
    let mut builder = FrameBuilder::new("too large", EXTENT);
    let extent = vk::Extent2D {
        width: 1 << 24,
        height: 1,
    };
    let image = builder.image("endless", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent));
    let queue = builder.queue("main", vk::QueueFlags::GRAPHICS);
    let submit = builder.submit(queue);
    let batch = builder.batch(submit);
    let commands = builder.command_buffer(batch, "scene");
    builder
        .render_pass(commands, "clear")
        .color(image, LoadOp::Clear(ClearValue::ZERO));
    let frame = builder.build().expect("a sound frame");
    let text = says(gpu.tile().measure(&frame));
    assert!(
        text.contains("`endless`") && text.contains("16777216 x 1 x 1"),
        "{text}"
    );

    let mut builder = FrameBuilder::new("addressed", EXTENT);
    let buffer = builder.buffer("pointed at", BufferDesc::new(Bytes(64)));
    let queue = builder.queue("main", vk::QueueFlags::COMPUTE);
    let submit = builder.submit(queue);
    let batch = builder.batch(submit);
    let commands = builder.command_buffer(batch, "scene");
    builder
        .compute_pass(commands, "write")
        .write(buffer, AccessKind::DeviceAddress);
    let frame = builder.build().expect("a sound frame");
    let text = says(gpu.tile().measure(&frame));
    assert!(
        text.contains("`pointed at`") && text.contains("bufferDeviceAddress"),
        "{text}"
    );

    let mut builder = frame.to_builder();
    builder.queue("video", vk::QueueFlags::VIDEO_DECODE_KHR);
    let text = says(builder.build().and_then(|frame| {
        let profile = gpu.tile().profile();
        let requirements = tileheap::measure::estimate(&frame, profile)?;
        let plan = tileheap::plan::plan(&frame, &requirements.into(), profile, &PlanOptions::default())?;
        gpu.tile().bind(&plan.into())
    }));
    assert!(
        text.contains("no device queue") && text.contains("`video`"),
        "{text}"
    );
    gpu.finish();
}

#[test]
fn a_context_names_what_is_missing() {
    let text = |desc: ContextDesc<'_>| {
        tileheap::runtime::Context::new(&desc)
            .expect_err("missing")
            .to_string()
    };
    let base = || ContextDesc::from_env("tileheap tests");
    let other = text(ContextDesc {
        device: DeviceChoice::Name("no such device".to_owned()),
        ..base()
    });
    assert!(
        other.contains("whose name contains `no such device`") && !other.contains('\n'),
        "{other}"
    );
    let index = text(ContextDesc {
        device: DeviceChoice::Index(99),
        ..base()
    });
    assert!(index.contains("of index 99"), "{index}");
    let extension = text(ContextDesc {
        device_extensions: vec![c"VK_FOO_bar"],
        ..base()
    });
    assert!(extension.contains("VK_FOO_bar"), "{extension}");
    let old = text(ContextDesc {
        api_version: vk::API_VERSION_1_0,
        ..base()
    });
    assert!(old.contains("1.0.0") && old.contains("requires 1.1"), "{old}");
    let desc = ContextDesc {
        instance_extensions: vec![c"VK_FOO_baz"],
        ..base()
    };
    let error = tileheap::runtime::Context::new(&desc).expect_err("missing");
    assert!(
        matches!(error, Error::Runtime(RuntimeError::MissingFeature { .. })),
        "{error}"
    );
}

#[test]
fn a_plan_for_another_device_is_refused() {
    let gpu = Gpu::new(Capabilities::empty());
    let frame = frame();
    let profile = std::sync::Arc::new(tileheap::profile::DeviceProfile::preset("adreno-830").expect("known"));
    let requirements = tileheap::measure::estimate(&frame, &profile).expect("estimated");
    let plan = tileheap::plan::plan(&frame, &requirements.into(), &profile, &PlanOptions::default());
    let text = says(gpu.tile().bind(&plan.expect("a plan").into()));
    assert!(
        text.contains("was made for") && text.contains("Device::plan"),
        "{text}"
    );
    gpu.finish();
}
