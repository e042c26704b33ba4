//! Tile properties and tile shading: the size of bound tile memory is passed to queries and render passes, and per-tile commands access
//! the texels that the pass has drawn.

use ash::vk;
use tileheap::ffi;
use tileheap::frame::{
    AccessKind, BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassId,
    ResourceId,
};
use tileheap::plan::{MemoryKind, PlanOptions, ResidencyStrategy};
use tileheap::profile::binning::binning;
use tileheap::profile::{DeviceProfile, OptionalFeatures};
use tileheap::runtime::{BoundAccess, BoundBuffer, BoundFrame, Capabilities, Imports, Parity, PassCommands};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Binding, Gpu, Pipeline, copy_to_buffer, recording_paths};
use tileheap_testkit::{assert_says, skip};

use super::{begin, bind, copy_image, dispatch, draw, host_read, submit, wait};
use tileheap_testkit::frames::{by, extent, one_queue};

const EXTENT: vk::Extent2D = extent(960, 540);

/// Four images of four bytes per pixel are drawn, of which the first may be in tile memory; a pass with an input attachment follows, which is
/// recorded as a render pass object.
fn frame(shaded: bool) -> (Frame, CommandBufferId, [PassId; 2]) {
    let mut frame = FrameBuilder::new("tiles", EXTENT);
    let images = [0, 1, 2, 3].map(|n| {
        frame.image(
            format!("image{n}"),
            ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT),
        )
    });
    let blend = frame.image("blend", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let sum = frame.buffer("sum", BufferDesc::new(Bytes(64)));
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let clear = LoadOp::Clear(ClearValue::ZERO);
    let draw = frame.render_pass(scene, "draw");
    let draw = images
        .into_iter()
        .fold(draw, |pass, image| pass.color(image, clear));
    let draw = if shaded { draw.tile_shading() } else { draw }.id();
    let blended = frame
        .render_pass(scene, "blend")
        .read(images[0], tileheap::frame::AccessKind::InputAttachment)
        .color(blend, clear)
        .id();
    let used = frame.compute_pass(scene, "use").storage_write(sum).sampled(blend);
    images.into_iter().fold(used, |pass, image| pass.sampled(image));
    (frame.build().expect("a sound frame"), scene, [draw, blended])
}

#[test]
fn tile_properties_are_those_of_what_is_bound() {
    for (way, without) in recording_paths() {
        let gpu = Gpu::new(without);
        let (frame, _, passes) = frame(false);
        let there = gpu
            .runtime()
            .capabilities()
            .contains(Capabilities::TILE_PROPERTIES);
        for strategy in [ResidencyStrategy::Optimal, ResidencyStrategy::Off] {
            let options = by(strategy);
            let plan = gpu.runtime().plan(&frame, &options).expect("a plan");
            let mut bound = gpu.runtime().bind(&plan).expect("a bound plan");
            // SAFETY: nothing is imported.
            let recorder = unsafe { bound.begin(&Imports::default()) }.expect("a frame");
            for pass in passes {
                let found = recorder.tile_properties(pass).expect("an answer");
                assert_eq!(found.is_some(), there, "{way}");
                let Some(found) = found else { continue };
                // The emulator's binning model and the profile of its device are public.
                let profile = std::env::var("VK_TILEHEAP_EMULATOR_PROFILE").unwrap_or_default();
                let Ok(device) = DeviceProfile::preset(&profile) else {
                    continue;
                };
                let object = plan.passes[pass.index()].bound_object;
                let reserved = object.map_or(0, |object| plan.objects[object.index()].size.0);
                let bytes_per_pixel = if pass == passes[0] { 16 } else { 8 };
                let expected = binning(
                    device.gmem.0,
                    reserved,
                    bytes_per_pixel,
                    (EXTENT.width, EXTENT.height),
                );
                let tile = (found.tile_size.width, found.tile_size.height);
                assert_eq!(
                    tile,
                    expected.tile,
                    "{way}, {strategy:?}, pass {}, {} bytes bound of {}",
                    pass.index(),
                    reserved,
                    device.gmem
                );
            }
        }
    }
}

#[test]
fn passes_with_tile_shading_declare_what_is_bound() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let (frame, scene, _) = frame(true);
    let plan = gpu.runtime().plan(&frame, &PlanOptions::default());
    if !gpu.runtime().capabilities().contains(Capabilities::TILE_SHADING) {
        let fault = plan.expect_err("no tile shading").to_string();
        assert!(
            fault.contains("pass `draw`") && fault.contains("tileShading"),
            "{fault}"
        );
        return;
    }
    let mut bound = gpu.runtime().bind(&plan.expect("a plan")).expect("a bound plan");
    let primary = gpu.primaries(1)[0];
    for number in 0..2 {
        // SAFETY: nothing is imported.
        let recorder = unsafe { bound.begin(&Imports::default()) }.expect("a frame");
        // SAFETY: the previous frame is complete.
        let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
        for pass in frame.pass_ids() {
            commands.pass(pass, |_| ()).expect("recorded");
        }
        commands.finish().expect("finished");
        submit(recorder);
        wait(&bound, number);
    }
}

/// More texels than fit into one tile of an Adreno 830.
const SHADED: vk::Extent2D = extent(1600, 1000);
const TEXELS: u64 = SHADED.width as u64 * SHADED.height as u64;
/// The texel that draws leave in `color`.
const DRAWN: u32 = 7;
/// The texel (x, y) that draws leave in `source`.
const fn source(x: u32, y: u32) -> u32 {
    x + 2048 * y
}

/// A frame that draws two images and accesses both per tile in the same pass; then `color` is sampled, and `source` is copied.
struct Shaded {
    frame: Frame,
    commands: CommandBufferId,
    shade: PassId,
    read: PassId,
    copy: PassId,
    color: ResourceId,
    source: ResourceId,
    /// The texels of `color`, then those of `source`.
    result: ResourceId,
}

impl Shaded {
    fn new() -> Shaded {
        let mut frame = FrameBuilder::new("shaded", SHADED);
        let desc = ImageDesc::new(vk::Format::R32_UINT, SHADED);
        let (color, source) = (frame.image("color", desc), frame.image("source", desc));
        let result = host_read(&mut frame, "result", 2 * TEXELS * 4);
        let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        let clear = LoadOp::Clear(ClearValue::Uint([1; 4]));
        let shade = frame
            .render_pass(commands, "shade")
            .tile_shading()
            .color(color, clear)
            .color(source, clear)
            .tile_write(color)
            .at(vk::PipelineStageFlags2::COMPUTE_SHADER)
            .tile_read(source)
            .at(vk::PipelineStageFlags2::COMPUTE_SHADER)
            .id();
        let read = frame.compute_pass(commands, "read").sampled(color);
        let read = read.storage_write(result).id();
        // Images in tile memory cannot be copied.
        let copy = frame.transfer_pass(commands, "copy").transfer_source(source);
        let copy = copy.transfer_destination(result).id();
        let frame = frame.build().expect("a sound frame");
        Shaded {
            frame,
            commands,
            shade,
            read,
            copy,
            color,
            source,
            result,
        }
    }

    /// The view that a pass uses for its access of `kind`.
    fn view(&self, bound: &BoundFrame, pass: PassId, image: ResourceId, kind: AccessKind) -> vk::ImageView {
        let count = bound.plan().described().accesses_of(pass).len();
        let mut accesses = (0..count).map(|n| bound.access(pass, n, Parity::Even));
        let wanted = |one: &BoundAccess| one.resource == image && one.kind == kind;
        accesses.find(wanted).expect("a view").view
    }
}

/// A pipeline with its descriptors.
type Bound = (Pipeline, vk::DescriptorSet);

/// The pipelines of [`Shaded`].
struct Work {
    draws: Pipeline,
    /// Adds one to each texel of `color`.
    counts: Bound,
    /// Writes each texel of `color`: the texel of `source` at the mirrored position in the tile, plus the position of the tile.
    mirrors: Bound,
    reads: Bound,
    /// True if barriers between draws and dispatches are allowed.
    has_barriers: bool,
}

impl Work {
    fn new(gpu: &mut Gpu, bound: &BoundFrame, shaded: &Shaded, result: BoundBuffer) -> Work {
        let words = |bytes: &[u8]| -> Vec<u32> {
            let word = |four: &[u8]| u32::from_le_bytes(four.try_into().expect("four"));
            bytes.chunks_exact(4).map(word).collect()
        };
        // From the emulator's own tests, compiled by a compiler that supports the extension.
        let count = words(include_bytes!(
            "../../../crates/emulator/tests/layer/tile_shaders/count.spv"
        ));
        let mirror = words(include_bytes!(
            "../../../crates/emulator/tests/layer/tile_shaders/rate.spv"
        ));
        let storage = vk::DescriptorType::STORAGE_IMAGE;
        let tile = |image| {
            let view = shaded.view(bound, shaded.shade, image, AccessKind::TileAttachment);
            Binding::Image(storage, view, vk::ImageLayout::GENERAL)
        };
        let [counts, mirrors] = [(count, 1), (mirror, 2)].map(|(words, images)| {
            let pipeline = gpu.compute_words(&[], &vec![storage; images], &words);
            let bindings = [tile(shaded.color), tile(shaded.source)];
            (pipeline, gpu.set(&pipeline, &bindings[..images]))
        });
        let target = bound.target(shaded.shade);
        let draws = gpu.fullscreen(target, &[], include_str!("shaders/shaded.glsl"));
        let (sampled, buffer) = (
            vk::DescriptorType::SAMPLED_IMAGE,
            vk::DescriptorType::STORAGE_BUFFER,
        );
        let reader = gpu.compute(&[sampled, buffer], include_str!("shaders/texels.glsl"));
        let view = shaded.view(bound, shaded.read, shaded.color, AccessKind::SampledImage);
        let image = Binding::Image(sampled, view, vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
        let reads = (reader, gpu.set(&reader, &[image, Binding::Storage(result)]));
        Work {
            draws,
            counts,
            mirrors,
            reads,
            has_barriers: target.dynamic && gpu.runtime().capabilities().contains(Capabilities::LOCAL_READ),
        }
    }

    /// Draws, mirrors per tile if `mirrored`, and counts per tile.
    fn shade(&self, pass: &PassCommands<'_>, mirrored: bool) {
        let (device, commands) = (pass.device(), pass.command_buffer());
        let bind = |(pipeline, set): &Bound| {
            pipeline.bind(device, commands, Some(*set));
            pipeline.push(device, commands, &[SHADED.width, SHADED.height]);
        };
        draw(pass, &self.draws, None);
        let recorded = pass.per_tile(|tile| {
            let drawn = vk::AccessFlags2::COLOR_ATTACHMENT_WRITE;
            self.order(pass, vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT, drawn);
            if mirrored {
                bind(&self.mirrors);
                // SAFETY: the shader has a shading rate, and the pass declares its accesses.
                unsafe { tile.dispatch_tile() }.expect("recorded");
                let written = ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM;
                self.order(pass, vk::PipelineStageFlags2::COMPUTE_SHADER, written);
            }
            bind(&self.counts);
            // SAFETY: in per-tile execution; the pass declares the accesses.
            unsafe { device.cmd_dispatch(commands, 1, 1, 1) };
        });
        recorded.expect("recorded");
    }

    /// Orders the next per-tile dispatch after writes, if a barrier is allowed: in dynamic rendering with local read
    /// (VUID-vkCmdPipelineBarrier2-None-09553, VUID-VkRenderPassCreateInfo-pDependencies-00838). Elsewhere the emulator's own order is enough.
    fn order(&self, pass: &PassCommands<'_>, stage: vk::PipelineStageFlags2, written: vk::AccessFlags2) {
        if !self.has_barriers {
            return;
        }
        let accesses = ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM
            | ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM;
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(stage)
            .src_access_mask(written)
            .dst_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
            .dst_access_mask(accesses)];
        let info = vk::DependencyInfo::default()
            .dependency_flags(vk::DependencyFlags::BY_REGION)
            .memory_barriers(&barriers);
        // SAFETY: recording inside of a pass with tile shading; synchronization2 is enabled.
        unsafe { pass.device().cmd_pipeline_barrier2(pass.command_buffer(), &info) };
    }
}

/// The final texel (x, y) of `color`, with tiles of this size.
fn expected((x, y): (u32, u32), tile: vk::Extent2D, mirrored: bool) -> u32 {
    if !mirrored {
        return DRAWN + 1;
    }
    let mirror = |at: u32, tile: u32, side: u32| {
        let first = at / tile * tile;
        let end = (first + tile).min(side);
        (first, end - 1 - (at - first))
    };
    let (left, x) = mirror(x, tile.width, SHADED.width);
    let (top, y) = mirror(y, tile.height, SHADED.height);
    source(x, y) + left * 1000 + top * 1_000_000 + 1
}

/// Describes the first texel of `color` or `source` that has a wrong value.
fn first_difference(words: &[u32], tile: vk::Extent2D, mirrored: bool) -> Option<String> {
    let (color, drawn) = words.split_at(TEXELS as usize);
    (0..)
        .zip(color.iter().zip(drawn))
        .find_map(|(index, (&color, &drawn))| {
            let (x, y) = (index % SHADED.width, index / SHADED.width);
            let expected = [expected((x, y), tile, mirrored), source(x, y)];
            let differs = [color, drawn] != expected;
            differs.then(|| format!("({x}, {y}): {color} and {drawn}, not {expected:?}"))
        })
}

#[test]
fn dispatches_per_tile_reach_what_their_pass_draws() {
    let shaded = Shaded::new();
    let known = std::env::var("VK_TILEHEAP_EMULATOR_PROFILE").is_ok_and(|profile| profile == "adreno-830");
    for without in [Capabilities::empty(), Capabilities::DYNAMIC_RENDERING] {
        for strategy in [ResidencyStrategy::Optimal, ResidencyStrategy::Off] {
            let mut gpu = Gpu::new(without);
            let needed = OptionalFeatures::TILE_SHADING
                | OptionalFeatures::TILE_SHADING_COLOR_ATTACHMENTS
                | OptionalFeatures::TILE_SHADING_PER_TILE_DISPATCH
                | OptionalFeatures::TILE_SHADING_DISPATCH_TILE;
            let plan = gpu.runtime().plan(&shaded.frame, &by(strategy));
            if !gpu.runtime().profile().may_have(needed) {
                assert!(!known, "the emulator has all of it");
                assert_says(
                    plan.expect_err("no tile shading"),
                    &["pass `shade`", "tileShading"],
                );
                continue;
            }
            let plan = plan.expect("a plan");
            let in_tile_memory = plan.memory_of(shaded.color) == Some(MemoryKind::Tile);
            assert!(!known || in_tile_memory == (strategy == ResidencyStrategy::Optimal));
            let mut bound = gpu.runtime().bind(&plan).expect("a bound plan");
            let host = gpu.host_buffer(2 * TEXELS * 4);
            let work = Work::new(&mut gpu, &bound, &shaded, host.buffer);
            let primary = gpu.primaries(1)[0];
            for (number, mirrored) in [(0, false), (1, true)] {
                let recorder = begin(&mut bound, shaded.result, &host);
                let tiles = recorder.tile_properties(shaded.shade).expect("an answer");
                let tile = tiles.expect("tile shading comes with tile properties").tile_size;
                let tile = extent(tile.width, tile.height);
                assert!(!known || tile.width < SHADED.width || tile.height < SHADED.height);
                // SAFETY: the previous frame is complete.
                let mut commands = unsafe { recorder.record(primary, shaded.commands) }.expect("recording");
                let shade = |pass: &PassCommands<'_>| work.shade(pass, mirrored);
                commands.pass(shaded.shade, shade).expect("recorded");
                let (reader, set) = &work.reads;
                let groups = [SHADED.width / 8, SHADED.height / 8];
                let read = |pass: &PassCommands<'_>| dispatch(pass, reader, Some(*set), groups);
                commands.pass(shaded.read, read).expect("recorded");
                let copy = |pass: &PassCommands<'_>| {
                    let image = pass.access(shaded.source).image();
                    let color = vk::ImageAspectFlags::COLOR;
                    let to = BoundBuffer {
                        offset: TEXELS * 4,
                        ..host.buffer
                    };
                    copy_to_buffer(pass.device(), pass.command_buffer(), image, color, SHADED, &to);
                };
                commands.pass(shaded.copy, copy).expect("recorded");
                commands.finish().expect("finished");
                submit(recorder);
                wait(&bound, number);
                let found = first_difference(&host.words(), tile, mirrored);
                assert_eq!(found, None, "{tile:?}, {strategy:?}, {without:?}");
            }
        }
    }
}

#[test]
fn secondary_command_buffers_inherit_tile_shading() {
    let side = extent(64, 64);
    let mut builder = FrameBuilder::new("inherited", side);
    let image = builder.image("image", ImageDesc::new(vk::Format::R32_UINT, side));
    let result = host_read(&mut builder, "result", 64 * 64 * 4);
    let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    let clear = LoadOp::Clear(ClearValue::Uint([1; 4]));
    let draws = builder.render_pass(scene, "draw").tile_shading().secondary();
    let draws = draws.color(image, clear).id();
    let copy = builder
        .transfer_pass(scene, "copy")
        .transfer_source(image)
        .transfer_destination(result)
        .id();
    let frame = builder.build().expect("a sound frame");
    // Validation 1.4.363 crashes at vkCmdExecuteCommands in a dynamic render pass with tile shading.
    let mut gpu = Gpu::new(Capabilities::DYNAMIC_RENDERING);
    if !gpu.runtime().capabilities().contains(Capabilities::TILE_SHADING) {
        skip("the device has no tile shading");
        return;
    }
    let mut bound = bind(&gpu, &frame, &PlanOptions::default());
    let pipeline = gpu.fullscreen(
        bound.target(draws),
        &[],
        "#version 460
            layout(location = 0) out uint value;
            void main() { value = 7; }",
    );
    let host = gpu.host_buffer(64 * 64 * 4);
    let (primary, family) = (gpu.primaries(1)[0], gpu.context.queues()[0].family);
    let secondary = gpu.command_buffers(family, vk::CommandBufferLevel::SECONDARY, 1)[0];
    let device = gpu.device().clone();
    let recorder = begin(&mut bound, result, &host);
    // SAFETY: a new command buffer.
    unsafe { recorder.begin_secondary(secondary, draws, 0) }.expect("begun");
    pipeline.bind(&device, secondary, None);
    // Not per tile: the emulator does not execute that in secondary command buffers.
    // SAFETY: recording inside of the pass.
    unsafe { device.cmd_draw(secondary, 3, 1, 0, 0) };
    // SAFETY: recording.
    unsafe { device.end_command_buffer(secondary) }.expect("ended");
    // SAFETY: a new command buffer.
    let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
    // SAFETY: begun for this pass in this frame.
    unsafe { commands.pass_secondary(draws, &[&[secondary]]) }.expect("recorded");
    let copied = |pass: &PassCommands<'_>| copy_image(pass, image, result, side);
    commands.pass(copy, copied).expect("recorded");
    commands.finish().expect("finished");
    submit(recorder);
    wait(&bound, 0);
    assert!(host.words().iter().all(|&word| word == 7));
}
