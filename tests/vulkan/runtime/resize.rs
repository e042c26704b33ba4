//! Resize: the old bound plan retires while its last frame may still run, and a larger one takes over.

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::plan::PlanOptions;
use tileheap::runtime::Imports;
use tileheap::runtime::import::ImportedBuffer;
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Gpu, copy_to_buffer, ways};

fn frame() -> Frame {
    let base = vk::Extent2D { width: 4, height: 4 };
    let mut frame = FrameBuilder::new("resized", base);
    let image = frame.image("image", ImageDesc::scaled(vk::Format::R8G8B8A8_UNORM, 1.0, 1.0));
    let host = ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED);
    let result = frame.resource(
        "result",
        BufferDesc::new(Bytes(64 * 64 * 4)),
        Persistence::External(host),
    );
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "scene");
    frame
        .render_pass(commands, "clear")
        .color(image, LoadOp::Clear(ClearValue::Float([1.0; 4])));
    frame
        .transfer_pass(commands, "copy")
        .transfer_source(image)
        .transfer_destination(result);
    frame.build().expect("a sound frame")
}

#[test]
fn the_old_size_retires_when_its_frames_are_complete() {
    for (way, without) in ways() {
        let mut gpu = Gpu::new(without);
        let mut frame = frame();
        for side in [4, 64, 16] {
            let extent = vk::Extent2D {
                width: side,
                height: side,
            };
            let mut builder = frame.to_builder();
            builder.set_base_extent(extent);
            frame = builder.build().expect("sound at any size");
            let plan = gpu.tile().plan(&frame, &PlanOptions::default()).expect("a plan");
            let mut bound = gpu.tile().bind(&plan).expect("a bound plan");
            let host = gpu.host_buffer(64 * 64 * 4);
            let commands = gpu.primaries(1)[0];
            let id = |name| frame.resource_named(name).expect("declared");
            let imported = [ImportedBuffer {
                resource: id("result"),
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
            let scene = frame.passes()[0].command_buffer;
            // SAFETY: new.
            let mut commands = unsafe { recorder.record(commands, scene) }.expect("recording");
            let [clear, copy] = ["clear", "copy"].map(|name| frame.pass_named(name).expect("declared"));
            commands.pass(clear, |_| ()).expect("clear");
            commands
                .pass(copy, |pass| {
                    let (from, to) = (pass.image(id("image")).handle, pass.buffer(id("result")));
                    let color = vk::ImageAspectFlags::COLOR;
                    copy_to_buffer(pass.device(), pass.command_buffer(), from, color, extent, &to);
                })
                .expect("copy");
            commands.finish().expect("recorded");
            // SAFETY: the test has one thread.
            let number = unsafe { recorder.submit() }.expect("submitted");
            if side == 4 {
                // This one is retired without a wait.
                bound.retire();
            } else {
                assert!(bound.wait(number, u64::MAX).expect("waited"));
                let bytes = host.bytes();
                let (written, rest) = bytes.split_at((side * side * 4) as usize);
                assert!(written.iter().all(|&byte| byte == 255), "{way}");
                assert!(rest.iter().all(|&byte| byte == 0xEE), "{way}");
                bound.retire();
                // One queue: everything before is complete too.
                assert_eq!(gpu.tile().collect().expect("collected"), 0, "{way}");
            }
        }
        gpu.finish();
    }
}
