//! One frame through every way of recording: a cleared G-buffer, a draw that reads it, a dispatch, a copy to the host.

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::Version;
use tileheap::frame::{BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::plan::{Ladder, PlanOptions, Strategy};
use tileheap::runtime::import::ImportedBuffer;
use tileheap::runtime::{Imports, Parity};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Binding, Gpu, ways};

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 32,
    height: 16,
};
const PIXELS: u64 = 32 * 16;

/// The frame: albedo and depth are cleared, lighting adds to what it samples, doubling rewrites, the copy reads back.
fn frame() -> Frame {
    let mut frame = FrameBuilder::new("a small frame", EXTENT);
    let albedo = frame.image("albedo", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let depth = frame.image("depth", ImageDesc::new(vk::Format::D32_SFLOAT, EXTENT));
    let lit = frame.image("lit", ImageDesc::new(vk::Format::R32_UINT, EXTENT));
    let doubled = frame.buffer("doubled", BufferDesc::new(Bytes(PIXELS * 4)));
    let host = ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED);
    let result = frame.resource(
        "result",
        BufferDesc::new(Bytes(PIXELS * 4)),
        Persistence::External(host),
    );
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "scene");
    let color = ClearValue::Float([10.0 / 255.0, 20.0 / 255.0, 30.0 / 255.0, 1.0]);
    frame
        .render_pass(commands, "gbuffer")
        .color(albedo, LoadOp::Clear(color))
        .depth(depth, LoadOp::Clear(ClearValue::DepthStencil(0.25, 0)));
    frame
        .render_pass(commands, "lighting")
        .sampled(albedo)
        .sampled(depth)
        .color(lit, LoadOp::DontCare);
    frame
        .compute_pass(commands, "doubling")
        .storage_read(lit)
        .storage_write(doubled);
    frame
        .transfer_pass(commands, "copy")
        .transfer_source(doubled)
        .transfer_destination(result);
    frame.build().expect("a sound frame")
}

const LIGHTING: &str = "#version 460
    #extension GL_EXT_samplerless_texture_functions : require
    layout(set = 0, binding = 0) uniform texture2D albedo;
    layout(set = 0, binding = 1) uniform texture2D depth;
    layout(location = 0) out uint lit;
    void main() {
        ivec2 at = ivec2(gl_FragCoord.xy);
        vec4 color = texelFetch(albedo, at, 0);
        lit = uint(round(color.r * 255.0)) + uint(round(color.g * 255.0)) * 256u
            + uint(texelFetch(depth, at, 0).r * 100.0) * 65536u + at.x;
    }";

const DOUBLING: &str = "#version 460
    layout(local_size_x = 8, local_size_y = 8) in;
    layout(set = 0, binding = 0, r32ui) uniform readonly uimage2D lit;
    layout(set = 0, binding = 1) writeonly buffer Doubled { uint doubled[]; };
    void main() {
        ivec2 at = ivec2(gl_GlobalInvocationID.xy);
        doubled[at.y * 32 + at.x] = imageLoad(lit, at).r * 2u;
    }";

fn expected() -> Vec<u32> {
    (0..PIXELS as u32)
        .map(|index| 2 * (10 + 20 * 256 + 25 * 65536 + index % 32))
        .collect()
}

fn render(gpu: &mut Gpu, options: &PlanOptions, frames: u64) -> Vec<u32> {
    let frame = frame();
    let plan = gpu.tile().plan(&frame, options).expect("a plan");
    let mut bound = gpu.tile().bind(&plan).expect("a bound plan");
    let id = |name| frame.resource_named(name).expect("declared");
    let pass = |name| frame.pass_named(name).expect("declared");
    let (gbuffer, lighting, doubling, copy) =
        (pass("gbuffer"), pass("lighting"), pass("doubling"), pass("copy"));
    let sampled = vk::DescriptorType::SAMPLED_IMAGE;
    let light = gpu.fullscreen(bound.target(lighting), &[sampled; 2], LIGHTING);
    let storage = vk::DescriptorType::STORAGE_IMAGE;
    let double = gpu.compute(&[storage, vk::DescriptorType::STORAGE_BUFFER], DOUBLING);
    let image = |kind, pass, name| {
        let image = bound.image_in(pass, id(name), Version::Current, Parity::Even);
        Binding::Image(
            kind,
            image.view,
            bound.layout_in(pass, id(name), Version::Current),
        )
    };
    let light_set = gpu.set(
        &light,
        &[
            image(sampled, lighting, "albedo"),
            image(sampled, lighting, "depth"),
        ],
    );
    let doubled = bound.buffer(id("doubled"), Parity::Even);
    let double_set = gpu.set(
        &double,
        &[image(storage, doubling, "lit"), Binding::Storage(doubled)],
    );
    let host = gpu.host_buffer(PIXELS * 4);
    let command_buffers = gpu.primaries(2);
    for number in 0..frames {
        let imports = Imports {
            buffers: &[ImportedBuffer {
                resource: id("result"),
                buffer: host.buffer,
            }],
            ..Imports::default()
        };
        // SAFETY: the buffer lives until `finish`.
        let recorder = unsafe { bound.begin(&imports) }.expect("a frame");
        assert_eq!(recorder.number().0, number);
        let command_buffer = command_buffers[number as usize % 2];
        let scene = frame.passes()[0].command_buffer;
        // SAFETY: its last use is complete (waited for below).
        let mut commands = unsafe { recorder.record(command_buffer, scene) }.expect("recording");
        commands.pass(gbuffer, |_| ()).expect("gbuffer");
        commands
            .pass(lighting, |pass| {
                light.bind(pass.device(), pass.command_buffer(), Some(light_set));
                // SAFETY: recording inside the render pass.
                unsafe { pass.device().cmd_draw(pass.command_buffer(), 3, 1, 0, 0) };
            })
            .expect("lighting");
        commands
            .pass(doubling, |pass| {
                double.bind(pass.device(), pass.command_buffer(), Some(double_set));
                // SAFETY: recording outside render passes.
                unsafe { pass.device().cmd_dispatch(pass.command_buffer(), 4, 2, 1) };
            })
            .expect("doubling");
        commands
            .pass(copy, |pass| {
                let (from, to) = (pass.buffer(id("doubled")), pass.buffer(id("result")));
                let region = vk::BufferCopy {
                    src_offset: from.offset,
                    dst_offset: to.offset,
                    size: from.size,
                };
                // SAFETY: recording outside render passes.
                unsafe {
                    pass.device()
                        .cmd_copy_buffer(pass.command_buffer(), from.handle, to.handle, &[region])
                };
            })
            .expect("copy");
        commands.finish().expect("recorded");
        // SAFETY: the test has one thread.
        let submitted = unsafe { recorder.submit() }.expect("submitted");
        if let Some(before) = number.checked_sub(1) {
            // Two frames in flight.
            assert!(
                bound
                    .wait(tileheap::runtime::FrameNumber(before), u64::MAX)
                    .expect("waited")
            );
        }
        assert_eq!(submitted.0, number);
    }
    let last = tileheap::runtime::FrameNumber(frames - 1);
    assert!(bound.wait(last, u64::MAX).expect("waited"));
    assert_eq!(bound.completed().expect("asked"), Some(last));
    bound.retire();
    assert_eq!(gpu.tile().collect().expect("collected"), 0);
    host.words()
}

#[test]
fn every_way_of_recording_computes_the_same() {
    for (way, without) in ways() {
        let mut gpu = Gpu::new(without);
        assert!(!gpu.tile().capabilities().intersects(without), "{way}");
        for options in [
            PlanOptions::default(),
            PlanOptions {
                ladder: Ladder::Always,
                ..PlanOptions::default()
            },
            PlanOptions {
                aliasing: false,
                strategy: Strategy::Off,
                lazy: false,
                ..PlanOptions::default()
            },
        ] {
            assert_eq!(render(&mut gpu, &options, 7), expected(), "{way}");
        }
        gpu.finish();
    }
}

#[test]
fn the_same_frame_again_is_the_same_plan() {
    let gpu = Gpu::new(Default::default());
    let frame = frame();
    let plan = gpu.tile().plan(&frame, &PlanOptions::default()).expect("a plan");
    let again = gpu
        .tile()
        .plan(&frame.clone(), &PlanOptions::default())
        .expect("a plan");
    assert!(std::sync::Arc::ptr_eq(&plan, &again));
    gpu.finish();
}

#[test]
fn measuring_with_and_without_creating_agree() {
    let newest = Gpu::new(Default::default());
    let oldest = Gpu::new(tileheap::runtime::Capabilities::MAINTENANCE_4);
    let (new, old) = (newest.tile().measure(&frame()), oldest.tile().measure(&frame()));
    assert_eq!(new.expect("measured"), old.expect("measured"));
    newest.finish();
    oldest.finish();
}
