//! Resize: the old bound plan retires while its last frame may still run, and a larger one takes over.

use ash::vk;
use tileheap::frame::{ClearValue, FrameBuilder, ImageDesc, LoadOp};
use tileheap::plan::PlanOptions;

use tileheap_testkit::gpu::{Gpu, ways};

use super::{begin, bind, copy_image, host_read, submit, wait};
use tileheap_testkit::frames::one_queue;

#[test]
fn the_old_size_retires_when_its_frames_are_complete() {
    let base = vk::Extent2D { width: 4, height: 4 };
    let mut builder = FrameBuilder::new("resized", base);
    let image = builder.image("image", ImageDesc::scaled(vk::Format::R8G8B8A8_UNORM, 1.0, 1.0));
    let result = host_read(&mut builder, "result", 64 * 64 * 4);
    let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    let clear = builder
        .render_pass(scene, "clear")
        .color(image, LoadOp::Clear(ClearValue::Float([1.0; 4])))
        .id();
    let copy = builder
        .transfer_pass(scene, "copy")
        .transfer_source(image)
        .transfer_destination(result)
        .id();
    let mut frame = builder.build().expect("a sound frame");
    for (way, without) in ways() {
        let mut gpu = Gpu::new(without);
        for side in [4, 64, 16] {
            let extent = vk::Extent2D {
                width: side,
                height: side,
            };
            let mut builder = frame.to_builder();
            builder.set_base_extent(extent);
            frame = builder.build().expect("sound at any size");
            let mut bound = bind(&gpu, &frame, &PlanOptions::default());
            let (host, primary) = (gpu.host_buffer(64 * 64 * 4), gpu.primaries(1)[0]);
            let recorder = begin(&mut bound, result, &host);
            // SAFETY: new.
            let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
            commands.pass(clear, |_| ()).expect("clear");
            commands
                .pass(copy, |pass| copy_image(pass, image, result, extent))
                .expect("copy");
            commands.finish().expect("recorded");
            submit(recorder);
            if side == 4 {
                // This one is retired without a wait.
                bound.retire();
                continue;
            }
            wait(&bound, 0);
            let bytes = host.bytes();
            let (written, rest) = bytes.split_at((side * side * 4) as usize);
            assert!(written.iter().all(|&byte| byte == 255), "{way}");
            assert!(rest.iter().all(|&byte| byte == 0xEE), "{way}");
            bound.retire();
            // One queue: everything before is complete too.
            assert_eq!(gpu.tile().collect().expect("collected"), 0, "{way}");
        }
        gpu.finish();
    }
}
