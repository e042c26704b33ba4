//! Misuse that the runtime refuses, and its error messages.

use ash::vk;
use tileheap::Error;
use tileheap::frame::{AccessKind, BufferDesc, FrameBuilder, ImageDesc};
use tileheap::plan::PlanOptions;
use tileheap::runtime::context::{DeviceSelection, ExtensionNames};
use tileheap::runtime::{Capabilities, Context, ContextDesc, RuntimeError};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::Gpu;

use tileheap_testkit::frames::{extent, one_queue};

const EXTENT: vk::Extent2D = extent(4, 4);

fn says<T: std::fmt::Debug>(result: tileheap::Result<T>) -> String {
    result.expect_err("misuse").to_string()
}

#[test]
fn what_the_device_cannot_do_is_named() {
    let gpu = Gpu::new(Capabilities::BUFFER_DEVICE_ADDRESS);
    let mut builder = FrameBuilder::new("too large", EXTENT);
    let extent = extent(1 << 24, 1);
    let image = builder.image("endless", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent));
    let commands = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    builder
        .transfer_pass(commands, "clear")
        .transfer_destination(image);
    let frame = builder.build().expect("a sound frame");
    let text = says(gpu.runtime().measure(&frame));
    assert!(
        text.contains("`endless`") && text.contains("16777216") && text.contains("extent-02252"),
        "{text}"
    );

    let mut builder = FrameBuilder::new("addressed", EXTENT);
    let buffer = builder.buffer("pointed at", BufferDesc::new(Bytes(64)));
    let commands = one_queue(&mut builder, vk::QueueFlags::COMPUTE);
    builder
        .compute_pass(commands, "write")
        .write(buffer, AccessKind::DeviceAddress);
    let frame = builder.build().expect("a sound frame");
    let text = says(gpu.runtime().measure(&frame));
    assert!(
        text.contains("`pointed at`") && text.contains("bufferDeviceAddress"),
        "{text}"
    );

    let mut builder = FrameBuilder::new("decoded", EXTENT);
    let buffer = builder.buffer("picture", BufferDesc::new(Bytes(64)));
    let commands = one_queue(&mut builder, vk::QueueFlags::COMPUTE);
    builder.compute_pass(commands, "write").storage_write(buffer);
    builder.queue("video", vk::QueueFlags::VIDEO_DECODE_KHR);
    let text = says(builder.build().and_then(|frame| {
        let profile = gpu.runtime().profile();
        let requirements = tileheap::measure::estimate(&frame, profile)?;
        let plan = tileheap::plan::plan(&frame, &requirements.into(), profile, &PlanOptions::default())?;
        gpu.runtime().bind(&plan.into())
    }));
    assert!(
        text.contains("no device queue") && text.contains("`video`"),
        "{text}"
    );
}

#[test]
fn a_context_names_what_is_missing() {
    let with = |change: fn(&mut ContextDesc<'_>)| {
        let mut desc = ContextDesc::from_env("tileheap tests");
        change(&mut desc);
        Context::new(&desc).expect_err("missing")
    };
    type Change = fn(&mut ContextDesc<'_>);
    let cases: [(Change, &str); 5] = [
        (
            |desc| desc.device = DeviceSelection::Name("no such device".to_owned()),
            "whose name contains `no such device`",
        ),
        (|desc| desc.device = DeviceSelection::Index(99), "at index 99"),
        (
            // SAFETY: no device has it.
            |desc| desc.device_extensions = unsafe { ExtensionNames::new([c"VK_FOO_bar"]) },
            "VK_FOO_bar",
        ),
        (|desc| desc.api_version = vk::API_VERSION_1_0, "1.0.0"),
        (|desc| desc.api_version = vk::API_VERSION_1_0, "requires 1.1"),
    ];
    for (change, needs) in cases {
        let text = with(change).to_string();
        assert!(text.contains(needs) && !text.contains('\n'), "{text}");
    }
    // SAFETY: no loader has it.
    let error = with(|desc| desc.instance_extensions = unsafe { ExtensionNames::new([c"VK_FOO_baz"]) });
    assert!(
        matches!(error, Error::Runtime(RuntimeError::MissingFeature { .. })),
        "{error}"
    );
}
