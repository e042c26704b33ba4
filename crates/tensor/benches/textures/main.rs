//! One kernel, one tensor, from a buffer and from textures: whether staging pays (`runtime::tensors::StagingCost`) on the device at
//! hand, and what whole convolutions take.
//!
//! ```text
//! cargo bench --bench textures
//! ```
//! First means over windows of growing size, which read every vector of their source as often as the window has places: from the buffer, from a
//! texture, and from a texture that the buffer is copied to first. The costs that follow from them, as `StagingCost` takes them, and whether its rule
//! stages where that was quicker. Then a convolution of 64 channels, data and weights in buffers and textures. Every variant runs 16 times
//! in one submission, variants in turn; the least time of 12 turns counts. Without Vulkan it says so and measures nothing.

mod device;
mod staging;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tileheap::runtime::{Context, ContextDesc};
use tileheap_tensor::layout::{Convention, Generation};
use tileheap_tensor::vulkan::{HostBuffer, KernelSet, Network, Run};
use tileheap_tensor::{ElementType, Graph, GraphBuilder, LayoutRule, TensorId, TensorPlanOptions, plan};

const CHANNELS: i64 = 64;
const SIDE: i64 = 28;
const REPEATS: usize = 16;
const TURNS: usize = 12;

/// One convolution after the other, all with the same weights.
fn graph(window: i64, element: ElementType) -> tileheap_tensor::Result<Graph> {
    let mut graph = GraphBuilder::new("convolution");
    let x = graph.input("x", element, [1, CHANNELS, SIDE, SIDE]);
    let w = graph.constant("w", element, [CHANNELS, CHANNELS, window, window]);
    let padding = || [("padding", vec![window / 2, window / 2].into())];
    let mut last = x;
    for turn in 0..REPEATS {
        last = graph.operator(&format!("conv {turn}"), "conv2d", padding(), &[last, w])?[0];
    }
    graph.output(last);
    graph.build()
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
        if let Err(error) = staging::measure(&context, element) {
            println!("staging of {element}: {error}");
        }
    }
    for element in [ElementType::Float32, ElementType::Float16] {
        for window in [1, 3] {
            if let Err(error) = measure(&context, window, element) {
                println!("{window} x {window} of {element}: {error}");
            }
        }
    }
    context.destroy();
}

fn measure(context: &Context, window: i64, element: ElementType) -> tileheap_tensor::Result<()> {
    let graph = Arc::new(graph(window, element)?);
    let (x, w) = (graph.inputs()[0], TensorId(1));
    let count = |id: TensorId| graph.shape_at(id, &[]).map(|dims| dims.iter().product::<u64>());
    // Means, so that nothing grows from one to the next.
    let mean = 1.0 / (CHANNELS * window * window) as f32;
    let values = BTreeMap::from([(w, vec![mean; count(w)? as usize])]);
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
            let needs = tileheap_tensor::vulkan::measure_tensors(context.tile(), &graph, &layouts)?;
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
    println!("convolution of {window} x {window}, {CHANNELS} channels of {SIDE} x {SIDE}, {element}:");
    let base = variants[0].least.as_secs_f64();
    for Variant {
        name,
        network,
        hosts,
        least,
    } in variants
    {
        let each = least.as_secs_f64() * 1e6 / REPEATS as f64;
        println!("  {each:10.1} us {:6.2} x  {name}", least.as_secs_f64() / base);
        for host in hosts {
            // SAFETY: every run was waited for.
            unsafe { host.destroy() };
        }
        // SAFETY: every run was waited for.
        unsafe { network.destroy() };
    }
    Ok(())
}

fn run(context: &Context, variant: &mut Variant, graph: &Graph) -> Duration {
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
    device::timed(context, |commands| {
        // SAFETY: recording on a queue that computes; the buffers outlive the wait.
        unsafe { variant.network.record(commands, &run) }.expect("recorded");
    })
}
