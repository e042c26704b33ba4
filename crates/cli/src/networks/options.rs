//! How tensors are planned.

use std::sync::LazyLock;

use clap::builder::TypedValueParser;
use tileheap_baselines::tensor::pools::POOLS;
use tileheap_pack::PackingStrategy;
use tileheap_tensor::plan::{Offsets, StorageIds};
use tileheap_tensor::storage::POLICIES;
use tileheap_tensor::{MemoryDesc, PlacementStrategy, StoragePolicy};

use crate::error::{Error, Result};
use crate::values::{named, parse_bytes};

/// How tensors are planned.
#[derive(Clone, Debug)]
pub(crate) struct TensorOptions {
    pub(crate) strategy: Strategy,
    pub(crate) policy: &'static dyn StoragePolicy,
    /// `NAME=BYTES` or `NAME`.
    pub(crate) memories: Vec<String>,
    pub(crate) in_place: bool,
}

impl TensorOptions {
    /// The memories; none for a single unlimited one.
    pub(super) fn memories(&self) -> Result<Vec<MemoryDesc>> {
        self.memories.iter().map(|form| memory(form)).collect()
    }
}

/// `sram=1048576`, or a name alone for an unlimited memory.
fn memory(form: &str) -> Result<MemoryDesc> {
    let invalid = |problem: String| Error::bad_input(format!("--memory {form}: {problem}"));
    let (name, capacity) = match form.split_once('=') {
        None => (form, None),
        Some((name, capacity)) => (name, Some(parse_bytes(capacity).map_err(invalid)?)),
    };
    if name.is_empty() {
        return Err(invalid(
            "write NAME=BYTES, or NAME for an unlimited memory".to_owned(),
        ));
    }
    Ok(MemoryDesc {
        capacity,
        ..MemoryDesc::new(name)
    })
}

/// A strategy of the tensor crate, or a pool of another runtime.
pub(crate) type Strategy = &'static dyn PlacementStrategy;

/// Every strategy: offsets, pools, given storage ids.
pub(crate) fn all_strategies() -> impl Iterator<Item = Strategy> {
    static OFFSETS: LazyLock<Vec<Offsets<&dyn PackingStrategy>>> = LazyLock::new(|| {
        let built_in = tileheap_pack::Strategy::ALL
            .iter()
            .map(|strategy| strategy as &dyn PackingStrategy);
        built_in
            .chain(tileheap_baselines::pack::STRATEGIES)
            .map(Offsets)
            .collect()
    });
    let offsets = OFFSETS.iter().map(|strategy| strategy as Strategy);
    let pools = POOLS.iter().map(|pool| pool as Strategy);
    offsets.chain(pools).chain([&StorageIds as Strategy])
}

/// Whether a strategy shares whole objects.
pub(super) fn is_pool(strategy: Strategy) -> bool {
    let pool = |name: &str| POOLS.iter().any(|pool| pool.name() == name);
    pool(strategy.name()) || strategy.name() == StorageIds.name()
}

/// Storage policies by name.
pub(crate) fn policies() -> impl TypedValueParser<Value = &'static dyn StoragePolicy> {
    named(POLICIES, StoragePolicy::name, None)
}

/// Strategies by name.
pub(crate) fn strategies() -> impl TypedValueParser<Value = Strategy> {
    named(all_strategies(), PlacementStrategy::name, None)
}
