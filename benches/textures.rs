//! One kernel, one tensor, from a buffer and from textures: the number that decides whether staging pays
//! (`runtime::tensors::StagingCost`), for the device at hand.
//!
//! ```text
//! cargo bench --bench textures
//! ```
//! Every variant of a convolution of 64 channels runs 16 times in one submission, variants in turn; the least time of 12 turns is
//! printed. Without Vulkan it says so and measures nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use tileheap::runtime::tensors::{HostBuffer, KernelSet, Network, Run};
use tileheap::runtime::{Context, ContextDesc};
use tileheap::tensor::{
    Convention, ElementType, Generation, Graph, GraphBuilder, LayoutRule, TensorId, TensorPlanOptions, plan,
};

const CHANNELS: i64 = 64;
const SIDE: i64 = 28;
const REPEATS: usize = 16;
const TURNS: usize = 12;

/// Convolutions of one input, their results added up.
fn graph(window: i64, element: ElementType) -> tileheap::Result<Graph> {
    let mut graph = GraphBuilder::new("convolution");
    let x = graph.input("x", element, [1, CHANNELS, SIDE, SIDE]);
    let w = graph.constant("w", element, [CHANNELS, CHANNELS, window, window]);
    let padding = || [("padding", vec![window / 2, window / 2].into())];
    let mut last = x;
    for turn in 0..REPEATS {
        last = graph.operator(&format!("conv {turn}"), "conv2d", padding(), &[last, w])?[0];
    }
    graph.output(last);
    Ok(graph.build()?)
}

struct Variant {
    name: String,
    network: Network,
    hosts: [HostBuffer; 2],
    least: Duration,
}

fn main() {
    let context = match Context::new(&ContextDesc::from_env("tileheap: textures")) {
        Ok(context) => context,
        Err(error) => return println!("nothing measured: {error}"),
    };
    println!("{}", context.tile().profile().name);
    for element in [ElementType::Float32, ElementType::Float16] {
        for window in [1, 3] {
            if let Err(error) = measure(&context, window, element) {
                println!("{window} x {window} of {element}: {error}");
            }
        }
    }
    context.destroy();
}

fn measure(context: &Context, window: i64, element: ElementType) -> tileheap::Result<()> {
    let graph = Arc::new(graph(window, element)?);
    let (x, w) = (graph.inputs()[0], TensorId(1));
    let count = |id: TensorId| graph.shape_at(id, &[]).map(|dims| dims.iter().product::<u64>());
    let values = BTreeMap::from([(w, vec![0.01; count(w)? as usize])]);
    let forms: [(&str, Option<Generation>); 3] = [
        ("buffer", None),
        ("texture", Some(Generation::Flat)),
        ("image array", Some(Generation::Layered)),
    ];
    let mut variants = Vec::new();
    for (data, data_form) in forms {
        for (weights, weights_form) in &forms[..2] {
            let layouts: Result<Vec<_>, _> = graph
                .tensor_ids()
                .map(|id| {
                    let tensor = graph.tensor(id);
                    let shape = graph.shape_bound(id, Default::default())?;
                    let (form, axis) = if id == w {
                        (*weights_form, 0)
                    } else {
                        (data_form, 1)
                    };
                    let convention = if id == w {
                        Convention::Weight
                    } else {
                        Convention::Texture
                    };
                    let rule = form.map(|form| convention.packing(4, axis, form));
                    rule.unwrap_or(LayoutRule::packed_buffer(axis)).apply(
                        &tensor.name,
                        &shape,
                        tensor.element,
                    )
                })
                .collect();
            let layouts = layouts?;
            let needs = context.tile().measure_tensors(&graph, &layouts)?;
            let planned = Arc::new(plan(&graph, &layouts, &needs, &TensorPlanOptions::default())?);
            let network = Network::new(context.tile(), &graph, &planned, &values, KernelSet::new())?;
            let mut input = HostBuffer::new(context.tile(), count(x)? * 4)?;
            input.write_floats(&vec![0.5; count(x)? as usize]);
            let output = HostBuffer::new(context.tile(), count(x)? * 4)?;
            variants.push(Variant {
                name: format!("data in a {data}, weights in a {weights}"),
                network,
                hosts: [input, output],
                least: Duration::MAX,
            });
        }
    }
    for turn in 0..TURNS {
        for index in 0..variants.len() {
            // Another one first at every turn, so that none is always behind the same.
            let index = (index + turn) % variants.len();
            let took = run(context, &mut variants[index], &graph);
            variants[index].least = variants[index].least.min(took);
        }
    }
    println!("{window} x {window}, {CHANNELS} channels, {SIDE} x {SIDE}, {element}:");
    let base = variants[0].least.as_secs_f64();
    for Variant {
        name,
        network,
        hosts,
        least,
    } in variants
    {
        let each = least.as_secs_f64() * 1e6 / REPEATS as f64;
        println!("  {each:8.1} us  {:5.2} x  {name}", least.as_secs_f64() / base);
        for host in hosts {
            // SAFETY: every run was waited for.
            unsafe { host.destroy(context.tile()) };
        }
        // SAFETY: every run was waited for.
        unsafe { network.destroy() };
    }
    Ok(())
}

fn run(context: &Context, variant: &mut Variant, graph: &Graph) -> Duration {
    let (device, queue) = (context.device(), context.queues()[0]);
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(queue.family);
    // SAFETY: the device has the family.
    let pool = unsafe { device.create_command_pool(&info, None) }.expect("a command pool");
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .command_buffer_count(1);
    // SAFETY: the pool was just created.
    let commands = unsafe { device.allocate_command_buffers(&info) }.expect("a command buffer");
    // SAFETY: new.
    unsafe { device.begin_command_buffer(commands[0], &Default::default()) }.expect("recording");
    let [input, output] = &variant.hosts;
    let bound = [
        (graph.inputs()[0], input.buffer()),
        (graph.outputs()[0], output.buffer()),
    ];
    let run = Run {
        symbols: &[],
        bound: &bound,
        decisions: &[],
    };
    // SAFETY: recording on a queue that computes; the buffers outlive the wait.
    unsafe { variant.network.record(commands[0], &run) }.expect("recorded");
    // SAFETY: recording.
    unsafe { device.end_command_buffer(commands[0]) }.expect("recorded");
    let submit = vk::SubmitInfo::default().command_buffers(&commands);
    let start = Instant::now();
    // SAFETY: nobody else uses the queue.
    unsafe { device.queue_submit(queue.handle, &[submit], vk::Fence::null()) }.expect("submitted");
    // SAFETY: nobody else uses the queue.
    unsafe { device.queue_wait_idle(queue.handle) }.expect("done");
    let took = start.elapsed();
    // SAFETY: idle.
    unsafe { device.destroy_command_pool(pool, None) };
    took
}
