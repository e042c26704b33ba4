//! What the runtime refuses, and what it says.

use ash::vk;
use tileheap::Error;
use tileheap::frame::{AccessKind, BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp};
use tileheap::plan::PlanOptions;
use tileheap::runtime::context::DeviceChoice;
use tileheap::runtime::import::ImportedBuffer;
use tileheap::runtime::{Capabilities, Context, ContextDesc, FrameNumber, Imports, RuntimeError};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::Gpu;

use super::{begin, bind, host_read};
use tileheap_testkit::frames::one_queue;

const EXTENT: vk::Extent2D = vk::Extent2D { width: 4, height: 4 };

fn frame() -> Frame {
    let mut frame = FrameBuilder::new("small", EXTENT);
    let image = frame.image("image", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let result = host_read(&mut frame, "result", 64);
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
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
    let mut bound = bind(&gpu, &frame, &PlanOptions::default());
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

    let recorder = begin(&mut bound, result, &host);
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
    let commands = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
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
    let commands = one_queue(&mut builder, vk::QueueFlags::COMPUTE);
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
    let base = || ContextDesc::from_env("tileheap tests");
    let with = |change: fn(&mut ContextDesc<'_>)| {
        let mut desc = base();
        change(&mut desc);
        Context::new(&desc).expect_err("missing")
    };
    type Change = fn(&mut ContextDesc<'_>);
    let cases: [(Change, &str); 5] = [
        (
            |desc| desc.device = DeviceChoice::Name("no such device".to_owned()),
            "whose name contains `no such device`",
        ),
        (|desc| desc.device = DeviceChoice::Index(99), "of index 99"),
        (|desc| desc.device_extensions = vec![c"VK_FOO_bar"], "VK_FOO_bar"),
        (|desc| desc.api_version = vk::API_VERSION_1_0, "1.0.0"),
        (|desc| desc.api_version = vk::API_VERSION_1_0, "requires 1.1"),
    ];
    for (change, needs) in cases {
        let text = with(change).to_string();
        assert!(text.contains(needs) && !text.contains('\n'), "{text}");
    }
    let error = with(|desc| desc.instance_extensions = vec![c"VK_FOO_baz"]);
    assert!(
        matches!(error, Error::Runtime(RuntimeError::MissingFeature { .. })),
        "{error}"
    );
}
