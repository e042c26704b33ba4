//! History: frame n reads what frame n - 1 wrote, and frame 0 reads zero.

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::Version;
use tileheap::frame::{AccessKind, BufferDesc, Frame, FrameBuilder, ImageDesc, Persistence};
use tileheap::plan::PlanOptions;
use tileheap::runtime::import::ImportedBuffer;
use tileheap::runtime::{FrameNumber, Imports, Parity};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Binding, Gpu, copy_to_buffer, ways};

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
    let host = ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED);
    let result = frame.resource("result", BufferDesc::new(Bytes(128)), Persistence::External(host));
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "count");
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

const COUNT: &str = "#version 460
    layout(local_size_x = 4, local_size_y = 4) in;
    layout(set = 0, binding = 0, r32ui) uniform readonly uimage2D image_before;
    layout(set = 0, binding = 1, r32ui) uniform writeonly uimage2D image_now;
    layout(set = 0, binding = 2) readonly buffer LoadOp { uint buffer_before[]; };
    layout(set = 0, binding = 3) writeonly buffer Now { uint buffer_now[]; };
    void main() {
        ivec2 at = ivec2(gl_GlobalInvocationID.xy);
        imageStore(image_now, at, imageLoad(image_before, at) + 1u);
        buffer_now[at.y * 4 + at.x] = buffer_before[at.y * 4 + at.x] + 2u;
    }";

#[test]
fn history_counts_frames_from_zero() {
    for (way, without) in ways() {
        let mut gpu = Gpu::new(without);
        let frame = frame();
        let plan = gpu.tile().plan(&frame, &PlanOptions::default()).expect("a plan");
        let mut bound = gpu.tile().bind(&plan).expect("a bound plan");
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
                assert!(
                    bound
                        .wait(FrameNumber(u64::from(number) - 2), u64::MAX)
                        .expect("waited")
                );
                check(&hosts[slot].words(), number - 1, way);
            }
            let imported = [ImportedBuffer {
                resource: result,
                buffer: hosts[slot].buffer,
            }];
            // SAFETY: the buffer lives until `finish`.
            let recorder = unsafe {
                bound.begin(&Imports {
                    buffers: &imported,
                    ..Imports::default()
                })
            }
            .expect("a frame");
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
                .pass(pass("count"), |pass| {
                    count.bind(pass.device(), pass.command_buffer(), Some(set));
                    // SAFETY: recording.
                    unsafe { pass.device().cmd_dispatch(pass.command_buffer(), 1, 1, 1) };
                })
                .expect("count");
            commands
                .pass(pass("copy"), |pass| {
                    let (from, to) = (pass.buffer(buffer), pass.buffer(result));
                    let handle = pass.image(image).handle;
                    let commands = pass.command_buffer();
                    copy_to_buffer(
                        pass.device(),
                        commands,
                        handle,
                        vk::ImageAspectFlags::COLOR,
                        EXTENT,
                        &to,
                    );
                    let region = vk::BufferCopy {
                        src_offset: 0,
                        dst_offset: 64,
                        size: 64,
                    };
                    // SAFETY: recording.
                    unsafe {
                        pass.device()
                            .cmd_copy_buffer(commands, from.handle, to.handle, &[region])
                    };
                })
                .expect("copy");
            commands.finish().expect("recorded");
            // SAFETY: the test has one thread.
            unsafe { recorder.submit() }.expect("submitted");
        }
        assert!(bound.wait(FrameNumber(5), u64::MAX).expect("waited"));
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
