//! Split lifetimes on a real driver: stores out of tile memory preserve the contents, and are recorded by the runtime.

use ash::vk;
use tileheap::frame::tables::HistoryVersion;
use tileheap::frame::{
    BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassId, Persistence,
};
use tileheap::plan::{Ladder, MemoryKind, PlanOptions};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Binding, Gpu, Pipeline, recording_paths};

use super::{begin, bind, dispatch, draw, host_read, submit, wait};
use tileheap_testkit::frames::extent;

const EXTENT: vk::Extent2D = extent(32, 16);
const PIXELS: u64 = 32 * 16;
/// `color`, `numbers`, `signs`, `depth`, `past` and `list`, one after the other.
const WORDS: u64 = 6;

/// The images with a stretch in tile memory: written by `draw`, read by `mix`, and read again in the next batch.
const IMAGES: [&str; 5] = ["color", "numbers", "signs", "depth", "past"];

/// ```text
/// batch 0   draw: color numbers signs depth past   mix, count: read them all, make list   │ batch 1   gather: reads it all again
/// ```
/// `past` is a history, of which `draw` reads the previous version; `list` is a buffer. If the heap is large enough, they are in tile memory during
/// batch 0, and are stored for batch 1 and the next frame.
fn frame() -> Frame {
    let mut frame = FrameBuilder::new("split", EXTENT);
    let mut image =
        |name: &str, format, persistence| frame.resource(name, ImageDesc::new(format, EXTENT), persistence);
    let color = image("color", vk::Format::R8G8B8A8_UNORM, Persistence::Transient);
    let numbers = image("numbers", vk::Format::R32_UINT, Persistence::Transient);
    let signs = image("signs", vk::Format::R32_SINT, Persistence::Transient);
    let depth = image("depth", vk::Format::D32_SFLOAT, Persistence::Transient);
    let past = image("past", vk::Format::R32_UINT, Persistence::History);
    let list = frame.buffer("list", BufferDesc::new(Bytes(PIXELS * 4)));
    let result = host_read(&mut frame, "result", PIXELS * 4 * WORDS);
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let scene = frame.command_buffer(batch, "scene");
    (frame.render_pass(scene, "draw").sampled_previous(past))
        .color(color, LoadOp::DontCare)
        .color(numbers, LoadOp::DontCare)
        .color(signs, LoadOp::DontCare)
        .color(past, LoadOp::DontCare)
        .depth(depth, LoadOp::Clear(ClearValue::DepthStencil(0.0, 0)));
    let images = [color, numbers, signs, depth, past];
    let mix = frame.compute_pass(scene, "mix").storage_write(list);
    images.into_iter().fold(mix, |pass, image| pass.sampled(image));
    let count = frame.compute_pass(scene, "count").storage_update(list);
    images.into_iter().fold(count, |pass, image| pass.sampled(image));
    // In another submit: some devices keep contents until the end of a submit.
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let late = frame.command_buffer(batch, "late");
    let gather = frame.compute_pass(late, "gather").storage_read(list);
    let gather = images.into_iter().fold(gather, |pass, image| pass.sampled(image));
    gather.storage_write(result);
    frame.build().expect("a sound frame")
}

const DRAW: &str = include_str!("shaders/draw.glsl");

const MIX: &str = "#version 460
    layout(local_size_x = 64) in;
    layout(set = 0, binding = 0) buffer List { uint list[]; };
    void main() {
        list[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * 3u;
    }";

const COUNT: &str = "#version 460
    layout(local_size_x = 64) in;
    layout(set = 0, binding = 0) buffer List { uint list[]; };
    void main() {
        list[gl_GlobalInvocationID.x] += 5u;
    }";

const GATHER: &str = include_str!("shaders/gather.glsl");

/// The words that `gather` reads in frame `number`.
fn expected(number: u32) -> Vec<u32> {
    let pixel = |n: u32| {
        [
            (n % 256) | ((n / 256) << 8) | ((n * 7 % 256) << 16) | (255 << 24),
            n.wrapping_mul(2_654_435_761),
            (-(n as i32) * 65_537) as u32,
            (n as f32 / 1024.0).to_bits(),
            n * (number + 1),
            n * 3 + 5,
        ]
    };
    (0..PIXELS as u32).flat_map(pixel).collect()
}

/// Renders some frames and returns the words that the last one gathered.
fn render(gpu: &mut Gpu, options: &PlanOptions, frames: u32) -> (Vec<u32>, Vec<String>) {
    let frame = frame();
    let mut bound = bind(gpu, &frame, options);
    let stores: Vec<String> = bound
        .plan()
        .stores()
        .map(|store| {
            assert_eq!(bound.plan().memory_of(store.from), Some(MemoryKind::Tile));
            bound.plan().frame.resource(store.to).name.clone()
        })
        .collect();
    let id = |name: &str| frame.resource_named(name).expect("declared");
    let (sampled, storage) = (
        vk::DescriptorType::SAMPLED_IMAGE,
        vk::DescriptorType::STORAGE_BUFFER,
    );
    let named = |name: &str| frame.pass_named(name).expect("declared");
    let all = [sampled, sampled, sampled, sampled, sampled, storage, storage];
    let pipelines = [
        (
            "draw",
            gpu.fullscreen(bound.target(named("draw")), &[sampled], DRAW),
        ),
        ("mix", gpu.compute(&[storage], MIX)),
        ("count", gpu.compute(&[storage], COUNT)),
        ("gather", gpu.compute(&all, GATHER)),
    ];
    let passes: [(PassId, CommandBufferId, Pipeline); 4] = pipelines.map(|(name, pipeline)| {
        let pass = named(name);
        (pass, frame.pass(pass).command_buffer, pipeline)
    });
    let host = gpu.host_buffer(PIXELS * 4 * WORDS);
    let command_buffers = gpu.primaries(2);
    for number in 0..frames {
        let parity = bound.parity();
        let image = |pass, name: &str, version| {
            let image = bound.access(pass, (id(name), version), parity);
            Binding::Image(sampled, image.view, image.layout)
        };
        let list = |pass| Binding::Storage(bound.access(pass, id("list"), parity).buffer());
        let sets: Vec<vk::DescriptorSet> = passes
            .iter()
            .map(|(pass, _, pipeline)| {
                let bindings = match frame.pass(*pass).name.as_str() {
                    "draw" => vec![image(*pass, "past", HistoryVersion::Previous)],
                    "gather" => {
                        let read = |name: &&str| image(*pass, name, HistoryVersion::Current);
                        let mut bindings: Vec<Binding> = IMAGES.iter().map(read).collect();
                        bindings.extend([list(*pass), Binding::Storage(host.buffer)]);
                        bindings
                    }
                    _ => vec![list(*pass)],
                };
                gpu.set(pipeline, &bindings)
            })
            .collect();
        let recorder = begin(&mut bound, id("result"), &host);
        for (index, &command_buffer) in command_buffers.iter().enumerate() {
            let first = frame.batches()[index].command_buffers.first as usize;
            let mut here = passes
                .iter()
                .zip(&sets)
                .filter(|(pass, _)| pass.1.index() == first)
                .peekable();
            let id = here.peek().expect("each has a pass").0.1;
            // SAFETY: its last use is complete (waited for below).
            let mut commands = unsafe { recorder.record(command_buffer, id) }.expect("recording");
            for ((pass, _, pipeline), &set) in here {
                let recorded = commands.pass(*pass, |pass| match pipeline.bind_point {
                    vk::PipelineBindPoint::GRAPHICS => draw(pass, pipeline, Some(set)),
                    _ => dispatch(pass, pipeline, Some(set), [PIXELS as u32 / 64, 1]),
                });
                recorded.expect("a pass in its turn");
            }
            commands.finish().expect("recorded, stores and all");
        }
        assert_eq!(submit(recorder).0, u64::from(number));
        wait(&bound, number.into());
    }
    bound.retire();
    assert_eq!(gpu.runtime().collect().expect("collected"), 0);
    (host.words(), stores)
}

#[test]
fn what_is_stored_is_what_was_there() {
    for (way, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        let tile = gpu.runtime().profile().tile;
        for ladder in [Ladder::Auto, Ladder::Always] {
            let options = PlanOptions {
                split: true,
                ladder,
                ..PlanOptions::default()
            };
            let (words, mut stores) = render(&mut gpu, &options, 3);
            assert!(words == expected(2), "{way}, {ladder:?}");
            stores.sort_unstable();
            let all = ["color", "depth", "list", "numbers", "past", "signs"];
            let wanted: &[&str] = if tile.is_some() { &all } else { &[] };
            assert_eq!(stores, wanted, "{way}, {ladder:?}");
        }
        let (words, stores) = render(&mut gpu, &PlanOptions::default(), 3);
        assert!(words == expected(2) && stores.is_empty(), "{way}: without");
    }
}
