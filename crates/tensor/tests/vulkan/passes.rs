//! A network as passes of a frame, with an image from the renderer as input and an image for the renderer as output.

use std::sync::Arc;

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{
    BufferDesc, CommandBufferId, Frame, ImageDesc, LoadOp, PassId, Persistence, ResourceId,
};
use tileheap::plan::{MemoryKind, PlanOptions};
use tileheap::runtime::import::ImportedBuffer;
use tileheap::runtime::{Capabilities, Imports, Parity};
use tileheap_tensor::layout::{Convention, ConventionForm};
use tileheap_tensor::units::Bytes;
use tileheap_tensor::vulkan::{NetworkPasses, PassTensor};
use tileheap_tensor::{ElementType, Graph, GraphBuilder, Layout, TensorId};

use crate::gpu::{Binding, Gpu};
use crate::rig::{self, Stored, Values, assert_close};
use tileheap_testkit::tensor::reference;

const SIDE: u32 = 16;
const EXTENT: vk::Extent2D = vk::Extent2D {
    width: SIDE,
    height: SIDE,
};
const TEXELS: u64 = SIDE as u64 * SIDE as u64;

/// `y = x + w2 * relu(w1 * x + b)`, and the mean of `y` over the image.
fn graph() -> (Graph, TensorId, [TensorId; 2]) {
    let mut graph = GraphBuilder::new("filter");
    let f32 = ElementType::Float32;
    let x = graph.input("x", f32, [1, 4, u64::from(SIDE), u64::from(SIDE)]);
    let w1 = graph.constant("w1", f32, [8, 4, 3, 3]);
    let b1 = graph.constant("b1", f32, [8]);
    let w2 = graph.constant("w2", f32, [4, 8, 1, 1]);
    let padding = [("padding", vec![1, 1].into())];
    let wide = graph
        .operator("wide", "conv2d", padding, &[x, w1, b1])
        .expect("inferred")[0];
    let mut add = |name: &str, operator: &str, inputs: &[TensorId]| {
        let made = graph.operator(name, operator, [], inputs);
        made.expect("inferred")[0]
    };
    let active = add("active", "relu", &[wide]);
    let narrow = add("narrow", "conv2d", &[active, w2]);
    let y = add("y", "add", &[x, narrow]);
    let mean = add("mean", "global_avg_pool2d", &[y]);
    let flat = add("flat", "flatten", &[mean]);
    graph.output(y);
    graph.output(flat);
    (graph.build().expect("a graph"), x, [y, flat])
}

/// The scene's fragment shader; the CPU computes the same values.
const SCENE: &str = "#version 460
    layout(location = 0) out vec4 color;
    void main() {
        vec2 at = floor(gl_FragCoord.xy);
        color = vec4(at.x / 16.0, at.y / 16.0 - 0.5, mod(at.x + at.y, 5.0) / 4.0 - 0.5, at.x * at.y / 256.0);
    }";
const SHOW: &str = "#version 460
    #extension GL_EXT_samplerless_texture_functions : require
    layout(set = 0, binding = 0) uniform texture2D filtered;
    layout(location = 0) out vec4 color;
    void main() { color = 2.0 * texelFetch(filtered, ivec2(gl_FragCoord.xy), 0); }";

fn scene() -> Vec<f32> {
    let channels: [fn(f32, f32) -> f32; 4] = [
        |x, _| x / 16.0,
        |_, y| y / 16.0 - 0.5,
        |x, y| (x + y) % 5.0 / 4.0 - 0.5,
        |x, y| x * y / 256.0,
    ];
    let texels = || (0..TEXELS as u32).map(|index| ((index % SIDE) as f32, (index / SIDE) as f32));
    channels
        .iter()
        .flat_map(|of| texels().map(|(x, y)| of(x, y)))
        .collect()
}

struct Described {
    frame: Frame,
    commands: CommandBufferId,
    passes: NetworkPasses,
    draw: PassId,
    show: PassId,
    copy: PassId,
    filtered: ResourceId,
    shown: ResourceId,
    picture: ResourceId,
    mean: ResourceId,
}

/// Describes a renderer's passes around those of the network.
fn describe(
    gpu: &Gpu,
    graph: &Arc<Graph>,
    layouts: &[Layout],
    values: &Values,
    x: TensorId,
    [y, flat]: [TensorId; 2],
) -> Described {
    let format = vk::Format::R32G32B32A32_SFLOAT;
    let flags = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    let (mut frame, commands) = rig::frame("filtered", EXTENT, flags);
    let color = frame.image("scene", ImageDesc::new(format, EXTENT));
    let filtered = frame.image("filtered", ImageDesc::new(format, EXTENT));
    let shown = frame.image("shown", ImageDesc::new(format, EXTENT));
    let host = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED));
    let picture = frame.resource("picture", BufferDesc::new(Bytes(TEXELS * 16)), host);
    let mean = frame.resource("means", BufferDesc::new(Bytes(16)), host);
    let draw = frame
        .render_pass(commands, "draw")
        .color(color, LoadOp::DontCare)
        .id();
    let bound = [
        (x, PassTensor::InLayout(color)),
        (y, PassTensor::InLayout(filtered)),
        (flat, PassTensor::Plain(mean)),
    ];
    let desc = rig::passes_of("filter", graph, layouts, values, &bound);
    let passes = NetworkPasses::declare(gpu.runtime(), &mut frame, commands, desc)
        .unwrap_or_else(|error| panic!("{error}"));
    let show = frame
        .render_pass(commands, "show")
        .sampled(filtered)
        .color(shown, LoadOp::DontCare)
        .id();
    let copy = frame
        .transfer_pass(commands, "copy")
        .transfer_source(shown)
        .transfer_destination(picture)
        .id();
    Described {
        frame: frame.build().unwrap_or_else(|error| panic!("{error}")),
        commands,
        passes,
        draw,
        show,
        copy,
        filtered,
        shown,
        picture,
        mean,
    }
}

/// The texels of the image, and the means, of the last of three frames.
fn render(gpu: &mut Gpu, described: &mut Described) -> (Vec<f32>, Vec<f32>, Vec<Option<MemoryKind>>) {
    let plan = gpu
        .runtime()
        .plan(&described.frame, &PlanOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let homes = described
        .frame
        .resource_ids()
        .map(|id| plan.memory_of(id))
        .collect();
    let mut bound = gpu
        .runtime()
        .bind(&plan)
        .unwrap_or_else(|error| panic!("{error}"));
    let draw = gpu.fullscreen(bound.target(described.draw), &[], SCENE);
    let sampled = vk::DescriptorType::SAMPLED_IMAGE;
    let show = gpu.fullscreen(bound.target(described.show), &[sampled], SHOW);
    let filtered = bound.access(described.show, described.filtered, Parity::Even);
    let show_set = gpu.set(&show, &[Binding::Image(sampled, filtered.view, filtered.layout)]);
    let (picture, means) = (gpu.host_buffer(TEXELS * 16), gpu.host_buffer(16));
    let import = |resource, buffer| ImportedBuffer { resource, buffer };
    let buffers = [
        import(described.picture, picture.buffer),
        import(described.mean, means.buffer),
    ];
    for _ in 0..3 {
        let command_buffer = gpu.primaries(1)[0];
        let imports = Imports {
            buffers: &buffers,
            ..Imports::default()
        };
        // SAFETY: the buffers live until `finish`.
        let recorder = unsafe { bound.begin(&imports) }.expect("a frame");
        // SAFETY: new, and used once.
        let mut commands = unsafe { recorder.record(command_buffer, described.commands) }.expect("recording");
        let fullscreen =
            |pipeline: &crate::gpu::Pipeline, set, pass: &tileheap::runtime::PassCommands<'_>| {
                pipeline.bind(pass.device(), pass.command_buffer(), set);
                // SAFETY: recording inside the render pass.
                unsafe { pass.device().cmd_draw(pass.command_buffer(), 3, 1, 0, 0) };
            };
        commands
            .pass(described.draw, |pass| fullscreen(&draw, None, pass))
            .expect("drawn");
        // SAFETY: of the frame that they were declared in.
        unsafe { described.passes.record(&mut commands) }.unwrap_or_else(|error| panic!("{error}"));
        commands
            .pass(described.show, |pass| fullscreen(&show, Some(show_set), pass))
            .expect("shown");
        let copied = commands.pass(described.copy, |pass| {
            let (from, to) = (
                pass.access(described.shown).image(),
                pass.access(described.picture).buffer(),
            );
            let (commands, color) = (pass.command_buffer(), vk::ImageAspectFlags::COLOR);
            crate::gpu::copy_to_buffer(pass.device(), commands, from, color, EXTENT, &to);
        });
        copied.expect("copied");
        commands.finish().expect("recorded");
        // SAFETY: the test has one thread.
        let number = unsafe { recorder.submit() }.expect("submitted");
        assert!(bound.wait(number, u64::MAX).expect("waited"));
    }
    // SAFETY: every frame was waited for.
    unsafe { described.passes.forget() };
    let floats = |words: Vec<u32>| words.into_iter().map(f32::from_bits).collect();
    (floats(picture.words()), floats(means.words()), homes)
}

#[test]
fn a_network_filters_a_renderers_image_in_its_frame() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let (graph, x, outputs) = graph();
    let graph = Arc::new(graph);
    let mut values = rig::values(&graph, &[]);
    values.insert(x, scene());
    let computed = reference::evaluate(&graph, &[], &values, &[]);
    let layouts = rig::layouts(&graph, |tensor| match tensor.shape.rank() {
        4 if tensor.name != "mean" => Stored::Images(Convention::Texture, ConventionForm::Flat),
        _ => Stored::Buffers,
    });
    let mut described = describe(&gpu, &graph, &layouts, &values, x, outputs);
    // Bound twice: the second frame's objects may have the first one's handles.
    for _ in 0..2 {
        let (picture, means, homes) = render(&mut gpu, &mut described);
        let texel = |channel: u64, at: u64| 2.0 * computed[&outputs[0]][(channel * TEXELS + at) as usize];
        let texels = (0..TEXELS).flat_map(|at| (0..4).map(move |channel| texel(channel, at)));
        let expected: Vec<f64> = texels.collect();
        assert_close("the picture", &picture, &expected, 1e-5);
        assert_close("the means", &means, &computed[&outputs[1]], 1e-5);
        // The tensors between the passes are as hot as anything in the frame: they are on chip if there is room.
        let in_tile = || {
            let resources = described.frame.resource_ids().zip(&homes);
            let tile = resources.filter(|(_, home)| **home == Some(MemoryKind::Tile));
            tile.map(|(id, _)| described.frame.resource(id))
        };
        let in_tile_memory = |names: &[&str]| {
            let wanted = |name: &str| names.iter().any(|wanted| name.starts_with(wanted));
            in_tile().filter(|resource| wanted(&resource.name)).count()
        };
        let hot = in_tile_memory(&["filter/wide", "filter/active", "filter/narrow"]);
        // An emulated heap may refuse the images' format: then it holds the buffers.
        let takes_images = in_tile().any(|resource| resource.is_image());
        match gpu.runtime().profile().tile {
            None => assert_eq!(in_tile_memory(&["filter/"]), 0, "{homes:?}"),
            Some(_) if takes_images => assert_eq!(hot, 3, "{homes:?}"),
            Some(_) => assert!(in_tile_memory(&["filter/"]) > 0, "{homes:?}"),
        }
    }
    // SAFETY: every frame was waited for.
    unsafe { described.passes.destroy() };
}
