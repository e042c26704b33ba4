//! Secondary command buffers: the contents of a render pass, and work of a compute pass.

use ash::vk;
use tileheap::frame::{ClearValue, FrameBuilder, ImageDesc, LoadOp};
use tileheap::plan::PlanOptions;
use tileheap::runtime::Parity;

use tileheap_testkit::gpu::{Binding, Gpu, recording_paths};

use super::{begin, bind, copy_image, host_read, submit, wait};
use tileheap_testkit::frames::{extent, one_queue, rect};

const EXTENT: vk::Extent2D = extent(8, 8);

const DRAW: &str = "#version 460
    layout(location = 0) out uint value;
    layout(push_constant) uniform Push { uint number; };
    void main() { value = number + uint(gl_FragCoord.x); }";

const ADD: &str = include_str!("shaders/add.glsl");

#[test]
fn secondary_command_buffers_of_both_kinds() {
    for (way, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        let mut builder = FrameBuilder::new("secondary", EXTENT);
        let image = builder.image("image", ImageDesc::new(vk::Format::R32_UINT, EXTENT));
        let result = host_read(&mut builder, "result", 256);
        let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        let clear = LoadOp::Clear(ClearValue::Uint([7; 4]));
        let clear = builder.render_pass(scene, "clear").color(image, clear).id();
        let draw = builder
            .render_pass(scene, "draw")
            .secondary()
            .color(image, LoadOp::Load)
            .id();
        let add = builder.compute_pass(scene, "add").storage_update(image).id();
        let copy = builder
            .transfer_pass(scene, "copy")
            .transfer_source(image)
            .transfer_destination(result)
            .id();
        let frame = builder.build().expect("a sound frame");
        let mut bound = bind(&gpu, &frame, &PlanOptions::default());

        let drawing = gpu.triangles(bound.target(draw), &[], None, DRAW);
        let adding = gpu.compute(&[vk::DescriptorType::STORAGE_IMAGE], ADD);
        let view = bound.access(add, image, Parity::Even).view;
        let storage = vk::DescriptorType::STORAGE_IMAGE;
        let set = gpu.set(
            &adding,
            &[Binding::Image(storage, view, vk::ImageLayout::GENERAL)],
        );
        let host = gpu.host_buffer(256);
        let primary = gpu.primaries(1)[0];
        let family = gpu.context.queues()[0].family;
        let secondaries = gpu.command_buffers(family, vk::CommandBufferLevel::SECONDARY, 3);
        let device = gpu.device().clone();
        for number in 0..3u32 {
            let mut recorder = begin(&mut bound, result, &host);
            recorder.set_area(draw, rect(1, 0, 5 + number, 7)).expect("less");
            let area = recorder.area(draw).expect("not empty");
            let viewport = vk::Viewport::default().width(8.0).height(8.0).max_depth(1.0);
            for (half, &secondary) in secondaries[..2].iter().enumerate() {
                // SAFETY: the previous frame is complete.
                unsafe { recorder.begin_secondary(secondary, draw, 0) }.expect("begun");
                drawing.bind(&device, secondary, None);
                drawing.push(&device, secondary, &[number * 10 + half as u32]);
                // SAFETY: recording, inside the render pass.
                unsafe { device.cmd_set_viewport(secondary, 0, &[viewport]) };
                // SAFETY: as above.
                unsafe { device.cmd_set_scissor(secondary, 0, &[area]) };
                // SAFETY: as above.
                unsafe { device.cmd_draw(secondary, 3, 1, 0, 0) };
                // SAFETY: recording.
                unsafe { device.end_command_buffer(secondary) }.expect("ended");
            }
            let inheritance = vk::CommandBufferInheritanceInfo::default();
            let info = vk::CommandBufferBeginInfo::default()
                .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)
                .inheritance_info(&inheritance);
            // SAFETY: the previous frame is complete.
            unsafe { device.begin_command_buffer(secondaries[2], &info) }.expect("begun");
            // SAFETY: recording.
            unsafe { recorder.bind_secondary(secondaries[2], add) };
            adding.bind(&device, secondaries[2], Some(set));
            // SAFETY: recording.
            unsafe { device.cmd_dispatch(secondaries[2], 1, 1, 1) };
            // SAFETY: recording.
            unsafe { device.end_command_buffer(secondaries[2]) }.expect("ended");

            // SAFETY: the previous frame is complete.
            let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
            commands.pass(clear, |_| ()).expect("clear");
            // SAFETY: begun for this pass in this turn.
            unsafe { commands.pass_secondary(draw, &[&secondaries[..2]]) }.expect("draw");
            commands
                .pass(add, |pass| {
                    // SAFETY: recorded above, outside render passes.
                    unsafe { pass.execute(&secondaries[2..]) };
                })
                .expect("add");
            commands
                .pass(copy, |pass| copy_image(pass, image, result, EXTENT))
                .expect("copy");
            commands.finish().expect("recorded");
            submit(recorder);
            wait(&bound, u64::from(number));
            let inside = |at: u32| (1..6 + number).contains(&(at % 8)) && at < 56;
            let drawn = |at: u32| if inside(at) { number * 10 + 1 + at % 8 } else { 7 };
            let expected: Vec<u32> = (0..64).map(|at| drawn(at) + 100).collect();
            assert_eq!(host.words(), expected, "frame {number}, {way}");
        }
    }
}
