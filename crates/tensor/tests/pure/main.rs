//! Plans without a driver: published cases, public networks, loops.

mod cases;
mod compilers;
mod loops;
mod models;
mod networks;

use tileheap_baselines::tensor::pools::POOLS;
use tileheap_tensor::PlacementStrategy;
use tileheap_tensor::plan::{Offsets, StorageIds};

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
