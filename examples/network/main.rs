//! Networks in planned memory, checked.
//!
//! A MobileNetV2-shaped and a ResNet-18-shaped network and an LSTM in a loop run in buffers alone, in 2D textures and in
//! image arrays, each with every tensor in bytes of its own and with planned, aliased bytes. The results have to be those of the CPU
//! within a tolerance, and bit for bit the same with and without aliasing.
//!
//! ```text
//! cargo run --example network                          all of them, pictures of 96 x 96
//! cargo run --example network -- --model lstm --rounds 5
//! cargo run --example network -- --half --time 20
//! ```
//! Needs Vulkan 1.1 of any driver; lavapipe (`mesa-vulkan-drivers`) serves where there is no GPU. Without Vulkan it says so in
//! one line.

mod args;
mod models;
mod run;
mod storage;
mod timing;

use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use tileheap::runtime::Context;
use tileheap_baselines::tensor::pools::POOLS;
use tileheap_tensor::plan::Offsets;
use tileheap_tensor::{ElementType, PlacementStrategy, TensorPlan};
use tileheap_testkit::tensor::reference;

use crate::args::{Args, Model};
use crate::run::{Bench, UNALIASED, images, planned};
use crate::storage::Storing;
use tileheap_examples::error::{Error, Result};
use tileheap_examples::program::{context_desc, report, start, with_context};

fn main() -> ExitCode {
    start(run_all)
}

fn run_all(args: &Args) -> Result<()> {
    let models = if args.model.is_empty() {
        Model::value_variants()
    } else {
        &args.model
    };
    let desc = context_desc("tileheap: network", None, args.validate);
    let messages = with_context(&desc, |context| {
        models
            .iter()
            .try_for_each(|&model| run_model(context, model, args))
    })?;
    report(&messages)
}

/// The largest error that is allowed, of the largest element of the result. In 32 bits sums differ in their order alone; in 16
/// bits each of some fifty layers rounds its results to 11 bits.
fn tolerance(element: ElementType) -> f64 {
    if element == ElementType::Float16 {
        3e-2
    } else {
        1e-4
    }
}

/// Every strategy but the ids that a graph may come with: these have none.
fn strategies() -> Vec<Box<dyn PlacementStrategy>> {
    let offsets = tileheap_pack::Strategy::ALL.into_iter().map(Offsets);
    let offsets = offsets.map(|strategy| Box::new(strategy) as Box<dyn PlacementStrategy>);
    let pools = POOLS
        .into_iter()
        .map(|pool| Box::new(pool) as Box<dyn PlacementStrategy>);
    offsets.chain(pools).collect()
}

fn run_model(context: &Context, model: Model, args: &Args) -> Result<()> {
    let element = if args.half {
        ElementType::Float16
    } else {
        ElementType::Float32
    };
    let seeded = models::build(model, args.size, args.rounds, element, args.seed)?;
    let graph = Arc::new(seeded.graph);
    let computed = reference::evaluate(&graph, &[], &seeded.values, &seeded.rounds);
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
        context.tile().profile().name
    );
    for (name, storing) in [
        ("buffers", Storing::Buffers),
        ("textures", Storing::Textures),
        ("image arrays", Storing::Layers),
    ] {
        let unaliased = Arc::new(planned(context, &graph, storing, &UNALIASED)?);
        let aliased = Arc::new(planned(
            context,
            &graph,
            storing,
            &Offsets(tileheap_pack::Strategy::Auto),
        )?);
        println!("  {name}: {} of the planned tensors are images", images(&aliased));
        let bench =
            |plan: &Arc<TensorPlan>| Bench::new(context, &graph, plan, &seeded.values, &seeded.rounds);
        let (mut apart, mut together) = (bench(&unaliased)?, bench(&aliased)?);
        apart.run()?;
        together.run()?;
        let (first, second) = (apart.outputs(), together.outputs());
        let elements = first
            .iter()
            .zip(&second)
            .filter(|(a, b)| a.to_bits() != b.to_bits())
            .count();
        if elements > 0 || first.len() != expected.len() {
            let (network, variant) = (model.name(), name);
            return Err(Error::AliasingChanges {
                network,
                variant,
                elements,
            });
        }
        let error = largest_error(&second, &expected);
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
        println!("    largest error {error:.2e}; identical with and without aliasing");
        if error > tolerance(element) {
            let (network, variant, tolerance) = (model.name(), name, tolerance(element));
            return Err(Error::Inexact {
                network,
                variant,
                error,
                tolerance,
            });
        }
        if args.time > 0 {
            timing::time(|| apart.run(), || together.run(), args.time)?;
        }
        apart.destroy();
        together.destroy();
        for strategy in strategies() {
            let strategy_name = strategy.name();
            match planned(context, &graph, storing, &*strategy) {
                Ok(plan) => print_plan(strategy_name, &plan),
                Err(Error::Tensor(why)) => println!("    {strategy_name:26} cannot: {why}"),
                Err(other) => return Err(other),
            }
        }
    }
    Ok(())
}

fn print_plan(what: &str, plan: &TensorPlan) {
    let (size, bound) = (plan.size(), plan.lower_bound());
    let ratio = size.0 as f64 / bound.0.max(1) as f64;
    println!("    {what:26} {size:>14}  {ratio:.3} x the bound of {bound}");
}

/// Relative to the largest element that is expected.
fn largest_error(got: &[f32], expected: &[f64]) -> f64 {
    let scale = expected
        .iter()
        .fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
    let errors = got
        .iter()
        .zip(expected)
        .map(|(got, expected)| (f64::from(*got) - expected).abs());
    // A NaN is the largest error there is.
    errors.fold(0.0, |most: f64, error| if error <= most { most } else { error }) / scale
}
