//! Options of tensor plans.

use std::sync::LazyLock;

use clap::Args;
use clap::builder::TypedValueParser;
use tileheap::units::Bytes;
use tileheap_baselines::tensor::pools::POOLS;
use tileheap_pack::PackingStrategy;
use tileheap_tensor::graph::ShapeBound;
use tileheap_tensor::layout::{ImageLimits, OversizePolicy};
use tileheap_tensor::plan::{CarryRule, Offsets, StorageIds};
use tileheap_tensor::storage::POLICIES;
use tileheap_tensor::{
    Graph, MemoryDesc, PlacementStrategy, StorageOptions, StoragePolicy, TensorId, TensorPlanOptions,
};

use crate::error::{Error, Result};
use crate::values::{named, parse_bytes};

/// Options of tensor plans.
#[derive(Clone, Debug, Args)]
pub(crate) struct TensorOptions {
    /// The strategy that places tensors
    #[arg(long, default_value = "auto", value_name = "NAME", value_parser = strategies())]
    pub(crate) strategy: Strategy,
    /// The policy that chooses the layouts of tensors: images or buffers, and whether channels are packed by 4 for kernels that read vectors
    /// [default: `given` if a file has texture scopes, else `balanced`]
    #[arg(long, value_name = "NAME", value_parser = policies())]
    pub(crate) policy: Option<&'static dyn StoragePolicy>,
    /// Memories in order of preference: sram=1MiB,dram
    #[arg(long, value_name = "NAME=SIZE", value_delimiter = ',')]
    pub(crate) memory: Vec<String>,
    /// Keep as much traffic as possible in on-chip memory of this size, the rest elsewhere; also show the traffic kept by other sizes
    #[arg(long, value_name = "SIZE", conflicts_with = "memory", value_parser = parse_bytes)]
    pub(crate) on_chip: Option<Bytes>,
    /// Keep as much traffic as possible in the tile heap of a device, graph inputs and outputs in ordinary memory: a name (see `tileheap profile --help`) or
    /// a profile as JSON
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["memory", "on_chip"])]
    pub(crate) profile: Option<String>,
    /// Never reuse an operand's memory for the output of the same operator
    #[arg(long)]
    pub(crate) no_in_place: bool,
    /// Names of the `null` nodes of a TVM graph that are activations; the others are then weights [default: guessed from the graph]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) input: Vec<String>,
    /// Preserve the contents of inputs from run to run
    #[arg(long)]
    pub(crate) keep_inputs: bool,
    /// The tensors whose memory the caller supplies
    #[arg(long, value_name = "WHICH", value_delimiter = ',', value_parser = ["inputs", "outputs"])]
    pub(crate) external: Vec<String>,
    /// Treatment of values that loops carry from one iteration to the next
    #[arg(long, default_value = "avoid", value_name = "RULE", value_parser = carry_rules())]
    pub(crate) carry: CarryRule,
    /// The maximum unroll factor of a loop
    #[arg(long, default_value_t = 8, value_name = "COUNT")]
    pub(crate) unroll_limit: u32,
    /// The values of dynamic dimensions to plan for
    #[arg(long, default_value = "ranges", value_name = "BOUND", value_parser = boundings())]
    pub(crate) bound: ShapeBound,
    /// The largest side of an image, in texels
    #[arg(long, default_value_t = 16_384, value_name = "TEXELS")]
    pub(crate) image_limit: u64,
    /// The allowed replacements for images over the limit, tried in this order: another layout, a grid of images, a buffer
    #[arg(long, default_values = ["layout", "buffer"], value_name = "REPLACEMENT", value_delimiter = ',', value_parser = ["layout", "grid", "buffer"])]
    pub(crate) oversize: Vec<String>,
}

impl Default for TensorOptions {
    /// Returns the options of a command line that specifies none.
    fn default() -> TensorOptions {
        #[derive(clap::Parser)]
        struct Alone {
            #[command(flatten)]
            options: TensorOptions,
        }
        <Alone as clap::Parser>::parse_from(["tensors"]).options
    }
}

impl TensorOptions {
    /// Returns the memories that `--on-chip`, `--profile` or `--memory` specifies; empty for a single memory without a limit.
    pub(super) fn memories(&self) -> Result<Vec<MemoryDesc>> {
        match (self.on_chip, &self.profile) {
            (Some(capacity), _) => Ok(on_chip(capacity)),
            (None, Some(profile)) => tile_and_ordinary_memory(profile),
            (None, None) => self.memory.iter().map(|form| memory(form)).collect(),
        }
    }

    pub(super) fn storage(&self, policy: &'static dyn StoragePolicy) -> StorageOptions<'static> {
        let may = |what: &str| self.oversize.iter().any(|other| other == what);
        StorageOptions {
            policy,
            limits: ImageLimits {
                side_2d: self.image_limit,
                ..ImageLimits::default()
            },
            oversize: OversizePolicy {
                other_layout: may("layout"),
                split: may("grid"),
                buffer: may("buffer"),
            },
            bounding: self.bound,
        }
    }

    pub(super) fn plan(&self, strategy: Strategy, memories: &[MemoryDesc]) -> TensorPlanOptions<'static> {
        let is_planned = |which: &str| !self.external.iter().any(|other| other == which);
        TensorPlanOptions {
            strategy,
            memories: memories.to_vec(),
            in_place: !self.no_in_place,
            plan_inputs: is_planned("inputs"),
            plan_outputs: is_planned("outputs"),
            carry: self.carry,
            unroll_limit: self.unroll_limit,
            memory_of: match self.profile {
                Some(_) => Some(&memory_of_inputs_and_outputs),
                None => None,
            },
            ..TensorPlanOptions::default()
        }
    }
}

/// Returns an on-chip memory of this capacity, followed by a memory without a limit.
pub(super) fn on_chip(capacity: Bytes) -> Vec<MemoryDesc> {
    vec![
        MemoryDesc::limited("on-chip", capacity),
        MemoryDesc::new(ORDINARY_MEMORY),
    ]
}

/// The name of ordinary memory after on-chip memory.
const ORDINARY_MEMORY: &str = "memory";

/// Returns the tile heap of a device profile, followed by a memory without a limit.
fn tile_and_ordinary_memory(name_or_file: &str) -> Result<Vec<MemoryDesc>> {
    let profile = crate::frames::profile::read(name_or_file)?;
    let tile = profile
        .tile
        .ok_or_else(|| Error::usage(format!("--profile {name_or_file}: the device has no tile heap")))?;
    let tile = MemoryDesc {
        alignment: tile.block.bytes,
        ..MemoryDesc::limited("tile", tile.size)
    };
    Ok(vec![tile, MemoryDesc::new(ORDINARY_MEMORY)])
}

/// Pins the inputs and outputs of a graph to ordinary memory: contents of the tile heap are lost when the batch or submit ends.
fn memory_of_inputs_and_outputs(graph: &Graph, id: TensorId) -> Option<String> {
    let is_kept = graph.inputs().contains(&id) || graph.outputs().contains(&id);
    is_kept.then(|| ORDINARY_MEMORY.to_owned())
}

/// Parses `sram=1048576`, or only a name for an unlimited memory.
fn memory(form: &str) -> Result<MemoryDesc> {
    let invalid = |problem: String| Error::usage(format!("--memory {form}: {problem}"));
    let (name, capacity) = match form.split_once('=') {
        None => (form, None),
        Some((name, capacity)) => (name, Some(parse_bytes(capacity).map_err(invalid)?)),
    };
    if name.is_empty() {
        return Err(invalid(
            "expected NAME=SIZE, or NAME for a memory without a limit".to_owned(),
        ));
    }
    Ok(MemoryDesc {
        capacity,
        ..MemoryDesc::new(name)
    })
}

/// A strategy that places tensors: one of [`all_strategies`].
pub(crate) type Strategy = &'static dyn PlacementStrategy;

/// All strategies: those that find offsets, those that use pools, and the one that follows the storage ids of the input.
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

/// Returns true if a strategy lets tensors share whole memory objects rather than ranges of bytes.
pub(super) fn is_pool(strategy: Strategy) -> bool {
    let pool = |name: &str| POOLS.iter().any(|pool| pool.name() == name);
    pool(strategy.name()) || strategy.name() == StorageIds.name()
}

/// Parses a storage policy by its name.
pub(crate) fn policies() -> impl TypedValueParser<Value = &'static dyn StoragePolicy> {
    named(
        POLICIES,
        StoragePolicy::name,
        Some(|policy| policy.description().trim_end_matches('.')),
    )
}

fn carry_rules() -> impl TypedValueParser<Value = CarryRule> {
    let description = |rule| match rule {
        CarryRule::Avoid => {
            "Avoid copies: unroll loops if necessary, up to --unroll-limit; copy only what still needs it"
        }
        CarryRule::Forbid => "Like avoid, but fail if a copy remains",
        CarryRule::Copy => "Always copy",
    };
    let name = |rule| match rule {
        CarryRule::Avoid => "avoid",
        CarryRule::Forbid => "forbid",
        CarryRule::Copy => "copy",
    };
    let all = [CarryRule::Avoid, CarryRule::Forbid, CarryRule::Copy];
    named(all, name, Some(description))
}

fn boundings() -> impl TypedValueParser<Value = ShapeBound> {
    let description = |bounding| match bounding {
        ShapeBound::Ranges => "The largest values in their ranges",
        ShapeBound::Examples => "The values of the example inputs",
    };
    let name = |bounding| match bounding {
        ShapeBound::Ranges => "ranges",
        ShapeBound::Examples => "examples",
    };
    named(
        [ShapeBound::Ranges, ShapeBound::Examples],
        name,
        Some(description),
    )
}

/// Parses a strategy by its name.
pub(crate) fn strategies() -> impl TypedValueParser<Value = Strategy> {
    named(
        all_strategies(),
        PlacementStrategy::name,
        Some(|strategy| strategy.description().trim_end_matches('.')),
    )
}
