//! A frame whose description changes every time: histories that are toggled continue to count from their last value.

use ash::vk;
use tileheap::frame::tables::HistoryVersion;
use tileheap::frame::{
    AccessKind, BufferDesc, ClearValue, FrameBuilder, ImageDesc, LoadOp, Persistence, ResourceId,
};
use tileheap::plan::PlanOptions;
use tileheap::runtime::{BoundFrame, PassCommands};
use tileheap::units::{Bytes, SplitMix64};
use tileheap_testkit::frames::{extent, one_queue};
use tileheap_testkit::gpu::{Binding, Gpu, recording_paths};

use super::{begin, copy_buffer, copy_image, dispatch, host_read, submit};

const EXTENT: vk::Extent2D = extent(4, 4);
const COUNT: [&str; 2] = ["count a", "count b"];
const COPY: [&str; 2] = ["copy a", "copy b"];

/// Describes two counters, each an image and a buffer, which count if bits 0 and 1 are set; bit 2 adds an image that moves everything else in memory.
/// Returns the destination of the copies of the counters.
fn describe(frame: &mut FrameBuilder, on: u32) -> (ResourceId, [[ResourceId; 2]; 2]) {
    frame.reset("counters", EXTENT);
    let desc = ImageDesc {
        usage: vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC,
        ..ImageDesc::new(vk::Format::R32_UINT, EXTENT)
    };
    let counters = [["image a", "buffer a"], ["image b", "buffer b"]].map(|[image, buffer]| {
        let image = frame.resource(image, desc, Persistence::History);
        let desc = BufferDesc::new(Bytes(64));
        [image, frame.resource(buffer, desc, Persistence::History)]
    });
    let result = host_read(frame, "result", 256);
    let large = extent(256, 256);
    let passing = frame.image("passing", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, large));
    let commands = one_queue(frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    if on & 4 != 0 {
        let clear = LoadOp::Clear(ClearValue::ZERO);
        frame.render_pass(commands, "pass by").color(passing, clear);
    }
    for (at, [image, buffer]) in counters
        .into_iter()
        .enumerate()
        .filter(|(at, _)| on >> at & 1 == 1)
    {
        frame
            .compute_pass(commands, COUNT[at])
            .read(image, AccessKind::StorageImage)
            .previous()
            .storage_write(image)
            .read(buffer, AccessKind::StorageBuffer)
            .previous()
            .storage_write(buffer);
        let copy = frame.transfer_pass(commands, COPY[at]).transfer_source(image);
        copy.transfer_source(buffer).transfer_destination(result);
    }
    frame
        .transfer_pass(commands, "nothing")
        .transfer_destination(result);
    (result, counters)
}

/// The resources that a counter's pass accesses in the next frame.
fn bindings(bound: &BoundFrame, at: usize, [image, buffer]: [ResourceId; 2]) -> [Binding; 4] {
    let pass = bound.plan().described().pass_named(COUNT[at]).expect("it counts");
    let view = |version| {
        let image = bound.access(pass, (image, version), bound.parity());
        Binding::Image(vk::DescriptorType::STORAGE_IMAGE, image.view, image.layout)
    };
    let part = |version| Binding::Storage(bound.access(pass, (buffer, version), bound.parity()).buffer());
    let (now, before) = (HistoryVersion::Current, HistoryVersion::Previous);
    [view(before), view(now), part(before), part(now)]
}

#[test]
fn histories_keep_their_contents_whatever_comes_between() {
    for (way, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        let (storage, buffers) = (
            vk::DescriptorType::STORAGE_IMAGE,
            vk::DescriptorType::STORAGE_BUFFER,
        );
        let count = gpu.compute(
            &[storage, storage, buffers, buffers],
            include_str!("shaders/count.glsl"),
        );
        let mut frames = gpu
            .runtime()
            .dynamic_frame(PlanOptions::default())
            .expect("a dynamic frame");
        let (mut builder, mut random) = (FrameBuilder::default(), SplitMix64::new(11));
        let (commands, host) = (gpu.primaries(1)[0], gpu.host_buffer(256));
        let (mut counted, mut sets) = ([0u32; 2], Vec::new());
        for turn in 0..40 {
            let on = random.below(8) as u32;
            let (result, counters) = describe(&mut builder, on);
            let bound = frames.select(&builder).expect("bound");
            let mut set_of = |at: usize| {
                // There are two copies of a counter, whatever the description: one set for each.
                let pass = bound.plan().described().pass_named(COUNT[at]).expect("it counts");
                let now = bound.access(pass, counters[at][0], bound.parity()).image();
                let known = sets.iter().find(|(image, _)| *image == now);
                let known = known.map(|(_, set)| *set);
                known.unwrap_or_else(|| {
                    let set = gpu.set(&count, &bindings(&bound, at, counters[at]));
                    sets.push((now, set));
                    set
                })
            };
            let sets: Vec<_> = (0..2).map(|at| (on >> at & 1 == 1).then(|| set_of(at))).collect();
            let frame = bound.plan().described().clone();
            let recorder = begin(bound, result, &host);
            // SAFETY: its last use is complete.
            let mut commands =
                unsafe { recorder.record(commands, frame.passes()[0].command_buffer) }.expect("recording");
            for pass in frame.pass_ids() {
                let name = frame.pass(pass).name.as_str();
                let record = |pass: &PassCommands<'_>| {
                    for (at, [image, buffer]) in counters.into_iter().enumerate() {
                        if name == COUNT[at] {
                            dispatch(pass, &count, sets[at], [1, 1]);
                        } else if name == COPY[at] {
                            copy_buffer(pass, buffer, result, 64 + 64 * at as u64);
                            if at == 0 {
                                copy_image(pass, image, result, EXTENT);
                            }
                        }
                    }
                };
                commands.pass(pass, record).expect("recorded");
            }
            commands.finish().expect("recorded");
            let number = submit(recorder);
            assert!(frames.wait(number, u64::MAX).expect("waited"));
            let words = host.words();
            for at in (0..2).filter(|at| on >> at & 1 == 1) {
                counted[at] += 1;
                assert_eq!(
                    words[16 + 16 * at..][..16],
                    [2 * counted[at]; 16],
                    "{way}, frame {turn}"
                );
                assert!(
                    at == 1 || words[..16] == [counted[0]; 16],
                    "{way}, frame {turn}: {words:?}"
                );
            }
        }
        drop(frames);
    }
}
