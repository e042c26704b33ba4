//! Histories of which frames with different descriptions write and read different parts: every layer has the contents left by the previous frame.

use std::ops::Range;

use ash::vk;
use tileheap::frame::tables::HistoryVersion;
use tileheap::frame::{AccessKind, ClearValue, FrameBuilder, ImageDesc, LoadOp, Persistence, ResourceId};
use tileheap::plan::PlanOptions;
use tileheap::runtime::{BoundFrame, PassCommands};
use tileheap::units::SplitMix64;
use tileheap_testkit::frames::{extent, one_queue};
use tileheap_testkit::gpu::{Gpu, recording_paths};

use super::{begin, host_read, submit};

const EXTENT: vk::Extent2D = extent(4, 4);
const LAYERS: u32 = 3;
const TEXELS: usize = 16;
const BYTES: u64 = 4 * TEXELS as u64;

/// The layers that a frame uses, and in how many passes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Parts {
    None,
    /// All layers in one pass.
    Whole,
    /// Each layer in a separate pass; the middle one is written by copies, the others as attachments.
    Layers,
    /// Only the middle layer.
    Middle,
}

impl Parts {
    /// The layers of each pass.
    fn passes(self) -> Vec<Range<u32>> {
        let (layers, in_each) = match self {
            Parts::None => (0..0, 1),
            Parts::Whole => (0..LAYERS, LAYERS),
            Parts::Layers => (0..LAYERS, 1),
            Parts::Middle => (1..2, 1),
        };
        let firsts = layers.step_by(in_each as usize);
        firsts.map(|first| first..first + in_each).collect()
    }

    fn has(self, layer: u32) -> bool {
        self.passes().iter().any(|layers| layers.contains(&layer))
    }
}

/// The value of a layer in a frame that writes it.
fn value(turn: u32, layer: u32, writes: Parts) -> u32 {
    match writes {
        Parts::Whole => 10 * turn,
        _ => 10 * turn + layer,
    }
}

/// Describes a frame; returns its history and the buffer to which it copies the previous version.
fn describe(frame: &mut FrameBuilder, turn: u32, reads: Parts, writes: Parts) -> [ResourceId; 2] {
    frame.reset("histories", EXTENT);
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let desc = ImageDesc {
        array_layers: LAYERS,
        usage: usage | vk::ImageUsageFlags::TRANSFER_DST,
        ..ImageDesc::new(vk::Format::R32_UINT, EXTENT)
    };
    let history = frame.resource("history", desc, Persistence::History);
    let result = host_read(frame, "result", u64::from(LAYERS) * BYTES);
    let commands = one_queue(frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    for layers in reads.passes() {
        let pass = frame.transfer_pass(commands, format!("read {layers:?}"));
        let pass = pass.read(history, AccessKind::TransferSource).previous();
        pass.layers(layers).transfer_destination(result);
    }
    for layers in writes.passes() {
        let name = format!("write {layers:?}");
        let clear = ClearValue::Uint([value(turn, layers.start, writes); 4]);
        if layers == (1..2) {
            let pass = frame.transfer_pass(commands, name);
            pass.transfer_destination(history).layers(layers);
        } else {
            let pass = frame.render_pass(commands, name);
            pass.color(history, LoadOp::Clear(clear)).layers(layers);
        }
    }
    [history, result]
}

/// Copies all layers of an image that a pass reads to their positions in a buffer.
fn read(pass: &PassCommands<'_>, image: vk::Image, result: ResourceId, layers: Range<u32>) {
    let to = pass.access(result).buffer();
    let region = vk::BufferImageCopy {
        buffer_offset: to.offset + u64::from(layers.start) * BYTES,
        image_subresource: of(&layers),
        image_extent: EXTENT.into(),
        ..Default::default()
    };
    let (device, layout) = (pass.device(), vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
    // SAFETY: recording; the pass declares both accesses.
    unsafe { device.cmd_copy_image_to_buffer(pass.command_buffer(), image, layout, to.handle, &[region]) };
}

fn of(layers: &Range<u32>) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        mip_level: 0,
        base_array_layer: layers.start,
        layer_count: layers.len() as u32,
    }
}

/// Writes the middle layer of an image.
fn write_middle(pass: &PassCommands<'_>, history: ResourceId, value: u32) {
    let range = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: 1,
        base_array_layer: 1,
        layer_count: 1,
        ..Default::default()
    };
    let (image, layout) = (
        pass.access(history).image(),
        vk::ImageLayout::TRANSFER_DST_OPTIMAL,
    );
    let color = vk::ClearColorValue { uint32: [value; 4] };
    // SAFETY: recording; the pass declares the access.
    unsafe {
        pass.device()
            .cmd_clear_color_image(pass.command_buffer(), image, layout, &color, &[range])
    };
}

/// The previous version of an image, if the frame reads it.
fn previous(bound: &BoundFrame, history: ResourceId) -> Option<vk::Image> {
    let frame = bound.plan().described();
    let mut accesses = frame.accesses_to(history);
    let read = accesses.find(|access| access.version == HistoryVersion::Previous)?;
    let read = bound.access(read.pass, (history, HistoryVersion::Previous), bound.parity());
    Some(read.image())
}

/// The action of a pass with this name, and its layers.
fn parse(name: &str) -> (&str, Range<u32>) {
    let (what, layers) = name.split_once(' ').expect("two words");
    let (first, end) = layers.split_once("..").expect("a range");
    let number = |text: &str| text.parse().expect("a number");
    (what, number(first)..number(end))
}

#[test]
fn a_history_written_whole_is_read_by_layer_and_the_reverse() {
    for (way, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        let mut frames = gpu
            .runtime()
            .dynamic_frame(PlanOptions::default())
            .expect("a dynamic frame");
        let (mut builder, mut random) = (FrameBuilder::default(), SplitMix64::new(5));
        let (commands, host) = (gpu.primaries(1)[0], gpu.host_buffer(u64::from(LAYERS) * BYTES));
        let mut left = [0; LAYERS as usize];
        for turn in 0..30 {
            let writes = random.pick(&[Parts::Whole, Parts::Layers, Parts::Middle]);
            let reads = match writes {
                Parts::Middle => random.pick(&[Parts::None, Parts::Middle]),
                _ => random.pick(&[Parts::Whole, Parts::Layers, Parts::Layers, Parts::None]),
            };
            let [history, result] = describe(&mut builder, turn, reads, writes);
            let bound = frames.select(&builder).expect("bound");
            let frame = bound.plan().described().clone();
            let image = previous(&bound, history);
            let recorder = begin(bound, result, &host);
            // SAFETY: its last use is complete.
            let mut commands =
                unsafe { recorder.record(commands, frame.passes()[0].command_buffer) }.expect("recording");
            for pass in frame.pass_ids() {
                let record = |pass: &PassCommands<'_>, name: &str| match parse(name) {
                    ("read", layers) => read(pass, image.expect("it reads"), result, layers),
                    (_, Range { start: 1, end: 2 }) => write_middle(pass, history, value(turn, 1, writes)),
                    _ => {}
                };
                let name = frame.pass(pass).name.as_str();
                commands.pass(pass, |pass| record(pass, name)).expect("recorded");
            }
            commands.finish().expect("recorded");
            let number = submit(recorder);
            assert!(frames.wait(number, u64::MAX).expect("waited"));
            let words = host.words();
            for layer in (0..LAYERS).filter(|layer| reads.has(*layer)) {
                let found = &words[TEXELS * layer as usize..][..TEXELS];
                let needs = [left[layer as usize]; TEXELS];
                assert_eq!(found, needs, "{way}, frame {turn}, {reads:?}, layer {layer}");
            }
            left = std::array::from_fn(|layer| match writes.has(layer as u32) {
                true => value(turn, layer as u32, writes),
                false => 0,
            });
        }
        drop(frames);
    }
}
