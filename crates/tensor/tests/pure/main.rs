//! Plans without a driver: published cases, public networks, loops.

mod cases;
mod compilers;
mod loops;
mod models;
mod networks;

use tileheap_baselines::tensor::pools::POOLS;
use tileheap_tensor::plan::{Offsets, StorageIds};
use tileheap_tensor::units::Alignment;
use tileheap_tensor::{
    Graph, Layout, LayoutRule, PlacementStrategy, Result, TensorPlan, TensorPlanOptions, TensorRequirements,
    check, plan,
};

/// Every strategy: offsets, pools, given storage ids.
fn strategies() -> Vec<Box<dyn PlacementStrategy>> {
    let mut all: Vec<Box<dyn PlacementStrategy>> = Vec::new();
    for strategy in tileheap_pack::Strategy::ALL {
        all.push(Box::new(Offsets(strategy)));
    }
    for &strategy in &tileheap_baselines::pack::STRATEGIES {
        all.push(Box::new(Offsets(strategy)));
    }
    for pool in POOLS {
        all.push(Box::new(pool));
    }
    all.push(Box::new(StorageIds));
    all
}

/// A strategy by its name.
fn strategy(name: &str) -> Box<dyn PlacementStrategy> {
    let found = strategies().into_iter().find(|strategy| strategy.name() == name);
    found.unwrap_or_else(|| panic!("no strategy is named {name}"))
}

/// Layouts of a graph whose tensors are all row-major buffers.
fn buffers(graph: &Graph) -> Vec<Layout> {
    let layout = |tensor: &tileheap_tensor::graph::Tensor| {
        let shape = tensor.shape.fixed().unwrap();
        LayoutRule::buffer()
            .apply(&tensor.name, &shape, tensor.element)
            .unwrap()
    };
    graph.tensors().iter().map(layout).collect()
}

fn needs(layouts: &[Layout], alignment: u64) -> Vec<TensorRequirements> {
    let alignment = Alignment::new(alignment).unwrap();
    layouts
        .iter()
        .map(|layout| TensorRequirements::of_layout(layout, alignment))
        .collect()
}

/// A plan that the judge accepts, over several runs in a row.
fn planned(
    graph: &Graph,
    layouts: &[Layout],
    options: &TensorPlanOptions<'_>,
    alignment: u64,
) -> Result<TensorPlan> {
    let needs = needs(layouts, alignment);
    let plan = plan(graph, layouts, &needs, options)?;
    // What has loops or branches goes another way in each run.
    let runs = if graph.blocks().len() > 1 { 20 } else { 2 };
    check(graph, &needs, &plan, runs).unwrap_or_else(|fault| panic!("{}: {fault}", graph.name()));
    Ok(plan)
}
