//! Networks in planned memory, with checked results.
//!
//! MobileNetV2- and ResNet-18-shaped networks, an LSTM in a loop, a transformer block and a multi-layer perceptron run in buffers only, in 2D
//! textures and in image arrays, each with separate memory for every tensor and with planned, aliased memory. The results must equal those of the CPU
//! within a tolerance, and must be identical with and without aliasing. With `--tile` they run in tile memory, as passes of a frame: alone, and after
//! the renderer of `examples/forward` in one submit, whose picture must be the same with and without them.
//!
//! ```text
//! cargo run --example network                          all of them, pictures of 96 x 96
//! cargo run --example network -- --model lstm --rounds 5
//! cargo run --example network -- --half --time 20
//! cargo run --example network -- --tile 2MiB --model mobilenet,transformer,mlp
//! ```
//! Needs Vulkan 1.1 of any driver; lavapipe (`mesa-vulkan-drivers`) will do if there is no GPU. Without Vulkan it reports an error in one line.
//! `--tile` needs Vulkan 1.3, and uses ordinary memory if there is no tile memory; the emulator (`crates/emulator/README.md`) adds it to any driver.

// Almost every call of ash is unsafe: one comment covers a run of them.
#![allow(clippy::multiple_unsafe_ops_per_block)]

mod args;
#[path = "../forward/drawing.rs"]
mod drawing;
#[path = "../forward/step_2/frame.rs"]
mod frame;
#[path = "../deferred/mesh.rs"]
mod mesh;
mod models;
#[path = "../forward/step_3/passes.rs"]
mod passes;
#[path = "../forward/resources.rs"]
mod resources;
mod run;
#[path = "../forward/scene.rs"]
mod scene;
#[path = "../forward/step_4/seen.rs"]
mod seen;
mod storage;
mod tile;
mod timing;
use tileheap_examples as support;

use std::process::ExitCode;
use std::sync::Arc;

use tileheap::runtime::Context;
use tileheap_tensor::plan::Offsets;
use tileheap_tensor::{ElementType, TensorPlan};
use tileheap_testkit::tensor::reference;

use crate::args::{Args, Model};
use crate::run::{Bench, UNALIASED, images, planned};
use crate::storage::Storing;
use tileheap_examples::error::{Result, bail};
use tileheap_examples::program::{context_desc, report, start, with_context};

fn main() -> ExitCode {
    start(run_all)
}

fn run_all(args: &Args) -> Result<()> {
    let desc = context_desc("tileheap: network", None, args.validate);
    let messages = with_context(&desc, |context| {
        let mut models = args.model.iter();
        models.try_for_each(|&model| run_model(context, model, args))
    })?;
    report(&messages)
}

/// The largest allowed error, relative to the largest element of the result. In 32 bits, sums differ only in their order; in
/// 16 bits, each of about fifty layers rounds its results to 11 bits.
fn tolerance(element: ElementType) -> f64 {
    if element == ElementType::Float16 {
        3e-2
    } else {
        1e-4
    }
}

/// Returns the error relative to the largest element, or fails if the result differs too much from the CPU's.
fn compare(args: &Args, model: Model, variant: &'static str, got: &[f32], expected: &[f64]) -> Result<f64> {
    let tolerance = tolerance(element(args));
    let error = if got.len() == expected.len() {
        largest_error(got, expected)
    } else {
        f64::INFINITY
    };
    match error <= tolerance {
        true => Ok(error),
        false => bail!(
            "{} in {variant}: the result is off by {error:.2e} of its largest element, but only {tolerance:.0e} is allowed",
            model.name()
        ),
    }
}

fn element(args: &Args) -> ElementType {
    match args.half {
        true => ElementType::Float16,
        false => ElementType::Float32,
    }
}

fn run_model(context: &Context, model: Model, args: &Args) -> Result<()> {
    let element = element(args);
    let seeded = models::build(model, args.size, args.rounds, element, args.seed)?;
    let graph = &seeded.graph;
    let computed = reference::evaluate(graph, &[], &seeded.values, &seeded.rounds);
    let expected: Vec<f64> = graph
        .outputs()
        .iter()
        .flat_map(|output| computed[output].clone())
        .collect();
    println!(
        "{}: {} nodes, {} tensors of {element}, on {}",
        model.name(),
        graph.nodes().len(),
        graph.tensors().len(),
        context.runtime().profile().name
    );
    if let Some(limit) = args.tile {
        let ran = tile::run(context, &seeded, limit, args.dump_frame.as_deref())?;
        for (variant, outputs) in ["alone", "beside a renderer"].into_iter().zip(ran) {
            let error = compare(args, model, variant, &outputs, &expected)?;
            println!("    {variant}: largest error {error:.2e}");
        }
        return Ok(());
    }
    for (name, storing) in [
        ("buffers", Storing::Buffers),
        ("textures", Storing::Textures),
        ("image arrays", Storing::Layers),
    ] {
        let unaliased = Arc::new(planned(context, graph, storing, &UNALIASED)?);
        let aliased = Arc::new(planned(
            context,
            graph,
            storing,
            &Offsets(tileheap_pack::Strategy::Auto),
        )?);
        println!("  {name}: {} of the planned tensors are images", images(&aliased));
        let bench = |plan: &Arc<TensorPlan>| Bench::new(context, graph, plan, &seeded.values, &seeded.rounds);
        let (mut apart, mut together) = (bench(&unaliased)?, bench(&aliased)?);
        apart.run()?;
        together.run()?;
        let (first, second) = (apart.outputs(), together.outputs());
        let elements = first
            .iter()
            .zip(&second)
            .filter(|(a, b)| a.to_bits() != b.to_bits())
            .count();
        if elements > 0 {
            bail!(
                "{} in {name}: {elements} elements of the result differ with and without aliasing",
                model.name()
            );
        }
        for (what, plan, bench) in [
            ("unaliased", &unaliased, &apart),
            ("aliased", &aliased, &together),
        ] {
            print_plan(what, plan);
            let ran = bench.recorded;
            println!(
                "      {} kernels, {} barriers, {} image transitions, {} copies",
                ran.dispatches, ran.barriers, ran.transitions, ran.copies
            );
        }
        let error = compare(args, model, name, &second, &expected)?;
        println!("    largest error {error:.2e}; identical with and without aliasing");
        if args.time > 0 {
            timing::time(|| apart.run(), || together.run(), args.time)?;
        }
        apart.destroy();
        together.destroy();
    }
    Ok(())
}

fn print_plan(what: &str, plan: &TensorPlan) {
    let (size, bound) = (plan.size(), plan.lower_bound());
    let ratio = size.0 as f64 / bound.0.max(1) as f64;
    println!("    {what:26} {size:>14}  {ratio:.3} x the bound of {bound}");
}

/// The largest error, relative to the largest expected element.
fn largest_error(got: &[f32], expected: &[f64]) -> f64 {
    let scale = expected
        .iter()
        .fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
    let errors = got
        .iter()
        .zip(expected)
        .map(|(got, expected)| (f64::from(*got) - expected).abs());
    // A NaN counts as the largest error.
    errors.fold(0.0, |most: f64, error| if error <= most { most } else { error }) / scale
}
