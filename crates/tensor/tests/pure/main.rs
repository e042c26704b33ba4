//! Plans without a driver: published cases, public networks, loops.

mod bounds;
mod branches;
mod cases;
mod compilers;
mod continued;
mod judge;
mod judge_files;
mod loops;
mod models;
mod networks;

use tileheap_baselines::tensor::pools::POOLS;
use tileheap_tensor::graph::Operator;
use tileheap_tensor::plan::{Offsets, StorageIds};
use tileheap_tensor::units::Alignment;
use tileheap_tensor::{
    ElementType, Graph, GraphBuilder, Layout, LayoutRule, PlacementStrategy, Result, Shape, StorageChoice,
    StorageOptions, StoragePolicy, TensorId, TensorPlan, TensorPlanOptions, TensorRequirements, check,
    choose, plan,
};

/// All strategies: those that find offsets, pools, and given storage ids.
fn strategies() -> Vec<Box<dyn PlacementStrategy>> {
    let mut all: Vec<Box<dyn PlacementStrategy>> = vec![Box::new(StorageIds)];
    all.extend(tileheap_pack::Strategy::ALL.map(|of| Box::new(Offsets(of)) as Box<_>));
    all.extend(tileheap_baselines::pack::STRATEGIES.map(|of| Box::new(Offsets(of)) as Box<_>));
    all.extend(POOLS.map(|pool| Box::new(pool) as Box<_>));
    all
}

/// A strategy by name.
fn strategy(name: &str) -> &'static dyn PlacementStrategy {
    let found = strategies().into_iter().find(|strategy| strategy.name() == name);
    Box::leak(found.unwrap_or_else(|| panic!("no strategy is named {name}")))
}

/// Layouts of a graph whose tensors are all row-major buffers.
fn buffers(graph: &Graph) -> Vec<Layout> {
    let layout = |tensor: &tileheap_tensor::graph::Tensor| {
        let (rule, shape) = (LayoutRule::buffer(), tensor.shape.fixed().unwrap());
        rule.apply(&tensor.name, &shape, tensor.element).unwrap()
    };
    graph.tensors().iter().map(layout).collect()
}

fn needs(layouts: &[Layout], alignment: u64) -> Vec<TensorRequirements> {
    let alignment = Alignment::new(alignment).unwrap();
    let needs = layouts
        .iter()
        .map(|of| TensorRequirements::of_layout(of, alignment));
    needs.collect()
}

/// The storage chosen by a policy.
fn chosen(graph: &Graph, policy: &dyn StoragePolicy) -> StorageChoice {
    let options = StorageOptions {
        policy,
        ..StorageOptions::default()
    };
    choose(graph, &options).unwrap()
}

/// Options with a strategy, and nothing written in place.
fn apart_by(strategy: &dyn PlacementStrategy) -> TensorPlanOptions<'_> {
    TensorPlanOptions {
        strategy,
        in_place: false,
        ..TensorPlanOptions::default()
    }
}

/// Adds a node of some operator with one output of the same name.
fn node(graph: &mut GraphBuilder, name: &str, inputs: &[TensorId], shape: impl Into<Shape>) -> TensorId {
    let made = vec![(name.to_owned(), ElementType::Float32, shape.into())];
    graph.node(name, Operator::named("f"), inputs, made, Vec::new())[0]
}

/// A plan that the judge accepts over several consecutive runs.
fn planned(
    graph: &Graph,
    layouts: &[Layout],
    options: &TensorPlanOptions<'_>,
    alignment: u64,
) -> Result<TensorPlan> {
    let needs = needs(layouts, alignment);
    let plan = plan(graph, layouts, &needs, options)?;
    // Graphs with loops or branches take a different path in each run.
    let runs = if graph.blocks().len() > 1 { 20 } else { 2 };
    check(graph, &needs, &plan, runs).unwrap_or_else(|fault| panic!("{}: {fault}", graph.name()));
    Ok(plan)
}
