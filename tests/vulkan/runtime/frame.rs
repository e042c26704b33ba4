//! One frame through every way of recording: a cleared G-buffer, a draw that reads it, a dispatch, a copy to the host.

use ash::vk;
use tileheap::frame::tables::Version;
use tileheap::frame::{BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp};
use tileheap::plan::{Ladder, PlanOptions, Strategy};
use tileheap::runtime::{Capabilities, FrameNumber, Parity};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Binding, Gpu, ways};

use super::{begin, bind, copy_buffer, dispatch, draw, host_read, submit, wait};
use tileheap_testkit::frames::one_queue;

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
    let result = host_read(&mut frame, "result", PIXELS * 4);
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
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

const LIGHTING: &str = include_str!("shaders/lighting.glsl");

const DOUBLING: &str = include_str!("shaders/doubling.glsl");

fn expected() -> Vec<u32> {
    (0..PIXELS as u32)
        .map(|index| 2 * (10 + 20 * 256 + 25 * 65536 + index % 32))
        .collect()
}

fn render(gpu: &mut Gpu, options: &PlanOptions, frames: u64) -> Vec<u32> {
    let frame = frame();
    let mut bound = bind(gpu, &frame, options);
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
        let recorder = begin(&mut bound, id("result"), &host);
        assert_eq!(recorder.number().0, number);
        let command_buffer = command_buffers[number as usize % 2];
        let scene = frame.passes()[0].command_buffer;
        // SAFETY: its last use is complete (waited for below).
        let mut commands = unsafe { recorder.record(command_buffer, scene) }.expect("recording");
        commands.pass(gbuffer, |_| ()).expect("gbuffer");
        commands
            .pass(lighting, |pass| draw(pass, &light, Some(light_set)))
            .expect("lighting");
        commands
            .pass(doubling, |pass| dispatch(pass, &double, Some(double_set), [4, 2]))
            .expect("doubling");
        commands
            .pass(copy, |pass| {
                copy_buffer(pass, &pass.buffer(id("doubled")), &pass.buffer(id("result")), 0);
            })
            .expect("copy");
        commands.finish().expect("recorded");
        assert_eq!(submit(recorder).0, number);
        if let Some(before) = number.checked_sub(1) {
            // Two frames in flight.
            wait(&bound, before);
        }
    }
    let last = FrameNumber(frames - 1);
    wait(&bound, last.0);
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
fn measuring_with_and_without_creating_agree() {
    let newest = Gpu::new(Default::default());
    let oldest = Gpu::new(Capabilities::MAINTENANCE_4);
    let (new, old) = (newest.tile().measure(&frame()), oldest.tile().measure(&frame()));
    assert_eq!(new.expect("measured"), old.expect("measured"));
    newest.finish();
    oldest.finish();
}
