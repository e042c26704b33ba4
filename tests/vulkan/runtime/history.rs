//! History: frame n reads what frame n - 1 wrote, and frame 0 reads zero.

use ash::vk;
use tileheap::frame::tables::Version;
use tileheap::frame::{AccessKind, BufferDesc, Frame, FrameBuilder, ImageDesc, Persistence};
use tileheap::plan::PlanOptions;
use tileheap::runtime::Parity;
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Binding, Gpu, ways};

use super::{begin, bind, copy_buffer, copy_image, dispatch, host_read, submit, wait};
use tileheap_testkit::frames::one_queue;

const EXTENT: vk::Extent2D = vk::Extent2D { width: 4, height: 4 };

/// An image and a buffer count frames: current = previous + 1.
fn frame() -> Frame {
    let mut frame = FrameBuilder::new("counting", EXTENT);
    let image = frame.resource(
        "image",
        ImageDesc::new(vk::Format::R32_UINT, EXTENT),
        Persistence::History,
    );
    let buffer = frame.resource("buffer", BufferDesc::new(Bytes(64)), Persistence::History);
    let result = host_read(&mut frame, "result", 128);
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    frame
        .compute_pass(commands, "count")
        .read(image, AccessKind::StorageImage)
        .previous()
        .storage_write(image)
        .read(buffer, AccessKind::StorageBuffer)
        .previous()
        .storage_write(buffer);
    frame
        .transfer_pass(commands, "copy")
        .transfer_source(image)
        .transfer_source(buffer)
        .transfer_destination(result);
    frame.build().expect("a sound frame")
}

const COUNT: &str = include_str!("shaders/count.glsl");

#[test]
fn history_counts_frames_from_zero() {
    for (way, without) in ways() {
        let mut gpu = Gpu::new(without);
        let frame = frame();
        let mut bound = bind(&gpu, &frame, &PlanOptions::default());
        let id = |name| frame.resource_named(name).expect("declared");
        let pass = |name| frame.pass_named(name).expect("declared");
        let (image, buffer, result) = (id("image"), id("buffer"), id("result"));
        let (storage, buffers) = (
            vk::DescriptorType::STORAGE_IMAGE,
            vk::DescriptorType::STORAGE_BUFFER,
        );
        let count = gpu.compute(&[storage, storage, buffers, buffers], COUNT);
        let sets = Parity::BOTH.map(|parity| {
            let view = |version| {
                let view = bound.image_in(pass("count"), image, version, parity).view;
                Binding::Image(storage, view, bound.layout_in(pass("count"), image, version))
            };
            let part = |version| Binding::Storage(bound.buffer_in(pass("count"), buffer, version, parity));
            let (now, before) = (Version::Current, Version::Previous);
            gpu.set(&count, &[view(before), view(now), part(before), part(now)])
        });
        assert_ne!(bound.image(image, Parity::Even), bound.image(image, Parity::Odd));
        let hosts = [gpu.host_buffer(128), gpu.host_buffer(128)];
        let command_buffers = gpu.primaries(2);
        for number in 0..6u32 {
            let slot = number as usize % 2;
            if number >= 2 {
                wait(&bound, u64::from(number) - 2);
                check(&hosts[slot].words(), number - 1, way);
            }
            let recorder = begin(&mut bound, result, &hosts[slot]);
            assert_eq!(recorder.parity().index(), slot, "{way}");
            assert_eq!(
                recorder.image_previous(image),
                recorder.bound().image(image, Parity::BOTH[1 - slot])
            );
            let set = sets[recorder.parity().index()];
            // SAFETY: its last use is complete.
            let mut commands =
                unsafe { recorder.record(command_buffers[slot], frame.passes()[0].command_buffer) }
                    .expect("recording");
            commands
                .pass(pass("count"), |pass| dispatch(pass, &count, Some(set), [1, 1]))
                .expect("count");
            commands
                .pass(pass("copy"), |pass| {
                    copy_image(pass, image, result, EXTENT);
                    copy_buffer(pass, &pass.buffer(buffer), &pass.buffer(result), 64);
                })
                .expect("copy");
            commands.finish().expect("recorded");
            submit(recorder);
        }
        wait(&bound, 5);
        check(&hosts[1].words(), 6, way);
        // SAFETY: the last frame is complete.
        unsafe { bound.destroy() };
        gpu.finish();
    }
}

fn check(words: &[u32], frames: u32, way: &str) {
    assert_eq!(words[..16], [frames; 16], "image after {frames} frames, {way}");
    assert_eq!(
        words[16..],
        [2 * frames; 16],
        "buffer after {frames} frames, {way}"
    );
}
