//! One frame with everything, which other tests write, read and plan.

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{
    AccessKind, BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence,
};
use tileheap::units::Bytes;

const CLEAR: LoadOp = LoadOp::Clear(ClearValue::ZERO);

/// A frame with something of everything that a frame can have, in which every kind of reason can occur: two queues, batches, history,
/// external, lazy, copies, resolves.
pub(crate) fn everything(name: &str) -> Frame {
    use vk::Format as F;
    let mut frame = FrameBuilder::new(
        name,
        vk::Extent2D {
            width: 1280,
            height: 720,
        },
    );
    let full = |format| ImageDesc::scaled(format, 1.0, 1.0);
    let half = |format| ImageDesc::scaled(format, 0.5, 0.5);
    let samples = |format| ImageDesc {
        samples: vk::SampleCountFlags::TYPE_4,
        ..full(format)
    };

    let albedo = frame.image("albedo", full(F::R8G8B8A8_UNORM));
    let normal = frame.image("normal", full(F::A2B10G10R10_UNORM_PACK32));
    let depth = frame.image("depth", full(F::D32_SFLOAT_S8_UINT));
    let many = frame.image("many samples", samples(F::R8G8B8A8_UNORM));
    let resolved = frame.image("resolved", full(F::R8G8B8A8_UNORM));
    let scratch = frame.image("scratch depth", samples(F::D32_SFLOAT));
    let huge = frame.image("huge", full(F::R32G32B32A32_SFLOAT));
    let chain: Vec<_> = (0..5)
        .map(|n| frame.image(format!("bloom {n}"), half(F::R16G16B16A16_SFLOAT)))
        .collect();
    let copied = frame.image("copied", half(F::R8G8B8A8_UNORM));
    let crossing = frame.image("crossing", half(F::R16G16_SFLOAT));
    let exported = frame.image("exported", half(F::R16_SFLOAT));
    let lights = frame.buffer("lights", BufferDesc::new(Bytes::kib(64)));
    let vertices = frame.buffer("vertices", BufferDesc::new(Bytes::kib(300)));
    let counters = frame.buffer("counters", BufferDesc::new(Bytes(16)));
    let layered = frame.image(
        "layered",
        ImageDesc {
            array_layers: 4,
            ..half(F::R8_UNORM)
        },
    );
    let declared = frame.image(
        "declared",
        ImageDesc {
            usage: vk::ImageUsageFlags::TRANSFER_SRC,
            ..half(F::R8_UNORM)
        },
    );
    let (width, height, depth_of) = (32, 32, 16);
    let volume = ImageDesc {
        image_type: vk::ImageType::TYPE_3D,
        mip_levels: 3,
        usage: vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::from_raw(0x4000_0000),
        flags: vk::ImageCreateFlags::MUTABLE_FORMAT,
        ..ImageDesc::new(
            F::R16_SFLOAT,
            vk::Extent3D {
                width,
                height,
                depth: depth_of,
            },
        )
    };
    let volume = frame.image("volume", volume);
    frame.image("unused", full(F::R8_UNORM));
    let history = ImageDesc::scaled(F::R16G16B16A16_SFLOAT, 0.5, 0.1);
    let history = frame.resource("history", history, Persistence::History);
    let screen = frame.resource(
        "swapchain",
        full(F::B8G8R8A8_UNORM),
        Persistence::External(ExternalDesc::SWAPCHAIN),
    );

    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let compute = frame.queue("async", vk::QueueFlags::COMPUTE);
    let done = frame.semaphore("done");
    let acquired = frame.external_semaphore("acquired");
    let all = vk::PipelineStageFlags2::ALL_COMMANDS;

    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    let scene = frame.command_buffer(batch, "scene");
    frame
        .compute_pass(scene, "cull")
        .storage_write(lights)
        .storage_write(vertices)
        .storage_write(counters);
    frame
        .render_pass(scene, "gbuffer")
        .secondary()
        .color(
            albedo,
            LoadOp::Clear(ClearValue::Float([0.1, f32::INFINITY, f32::NEG_INFINITY, -0.0])),
        )
        .color(normal, CLEAR)
        .depth(depth, LoadOp::Clear(ClearValue::DepthStencil(0.1, 7)))
        .read(lights, AccessKind::DeviceAddress)
        .at(vk::PipelineStageFlags2::VERTEX_SHADER | vk::PipelineStageFlags2::from_raw(1 << 62))
        .read(vertices, AccessKind::VertexBuffer);
    frame
        .render_pass(scene, "multisampled")
        .color(many, CLEAR)
        .depth(scratch, LoadOp::Clear(ClearValue::DepthStencil(0.0, 0)))
        .resolve(many, resolved);
    frame
        .render_pass(scene, "lighting")
        .sampled(albedo)
        .sampled(normal)
        .depth_read_only(depth)
        .input(depth)
        .sampled(resolved)
        .storage_read(lights)
        .color(huge, LoadOp::DontCare);
    frame
        .compute_pass(scene, "bloom 0")
        .sampled(huge)
        .storage_write(chain[0])
        .storage_write(crossing);
    for n in 1..chain.len() {
        frame
            .compute_pass(scene, format!("bloom {n}"))
            .sampled(chain[n - 1])
            .storage_write(chain[n]);
    }
    frame
        .compute_pass(scene, "masks")
        .storage_write(layered)
        .storage_write(declared)
        .storage_write(exported)
        .storage_write(volume);
    frame.transfer_pass(scene, "copy").transfer_destination(copied);
    frame
        .compute_pass(scene, "use masks")
        .sampled(layered)
        .sampled(declared)
        .sampled(copied)
        .sampled(chain[4]);

    let batch = frame.batch(submit);
    frame.signal(batch, done, all);
    frame.wait(batch, acquired, vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT);
    let post = frame.command_buffer(batch, "post");
    frame
        .render_pass(post, "resolve history")
        .sampled(crossing)
        .sampled_previous(history)
        .color(history, LoadOp::DontCare)
        .color(screen, LoadOp::DontCare);

    let submit = frame.submit(compute);
    let batch = frame.batch(submit);
    frame.wait(batch, done, all);
    let commands = frame.command_buffer(batch, "statistics");
    frame.compute_pass(commands, "histogram").sampled(exported);
    frame.build().unwrap()
}
