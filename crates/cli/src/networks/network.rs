//! A network, and the storage chosen for its tensors.

use std::path::Path;

use tileheap::units::Bytes;
use tileheap_tensor::import::ImportedInput;
use tileheap_tensor::import::tvm::TvmGraph;
use tileheap_tensor::storage::{BuffersOnly, default_policy};
use tileheap_tensor::{MemoryDesc, StorageChoice, StoragePolicy, choose};

use super::document;
use super::options::{Strategy, TensorOptions, all_strategies, is_pool, on_chip};
use super::plan::{Planned, Row, of_graph, of_records};
use crate::documents::{OnChip, Tensors};
use crate::error::{Error, Result};
use crate::input::shown;
use crate::progress::Progress;

/// A network, and the storage chosen for its tensors.
pub(crate) struct Network {
    pub(crate) input: ImportedInput,
    /// The storage of each tensor; `None` for records.
    pub(crate) choice: Option<StorageChoice>,
    policy: &'static dyn StoragePolicy,
    memories: Vec<MemoryDesc>,
}

impl Network {
    /// Reads a graph, or records of tensor lifetimes and sizes.
    pub(crate) fn read(text: &str, path: &Path, options: &TensorOptions) -> Result<Network> {
        let input =
            ImportedInput::parse(text, &options.input).map_err(|error| Error::of(shown(path), error))?;
        Network::of(input, options, |error| Error::of(shown(path), error))
    }

    /// Chooses the storage of an input's tensors; `failed` turns errors about the input into messages.
    pub(crate) fn of(
        mut input: ImportedInput,
        options: &TensorOptions,
        failed: impl Fn(tileheap_tensor::Error) -> Error,
    ) -> Result<Network> {
        let (mut choice, mut policy) = (None, &BuffersOnly as &'static dyn StoragePolicy);
        if let ImportedInput::Graph(graph) | ImportedInput::Tvm(TvmGraph { graph, .. }) = &mut input {
            if options.keep_inputs {
                *graph = graph.clone().with_kept_inputs();
            }
            policy = options.policy.unwrap_or_else(|| default_policy(graph));
            let chosen = choose(graph, &options.storage(policy));
            choice = Some(chosen.map_err(failed)?);
        }
        Ok(Network {
            input,
            choice,
            policy,
            memories: options.memories()?,
        })
    }

    /// Plans the network with a strategy.
    pub(crate) fn plan(
        &self,
        options: &TensorOptions,
        strategy: Strategy,
    ) -> tileheap_tensor::Result<Planned> {
        let mut planned = self.plan_in(&self.memories, options, strategy)?;
        if let Some(profile) = &options.profile {
            planned.notes.push(match self.choice {
                Some(_) => format!(
                    "memory tile is the tile heap of `{profile}`, whose contents are lost after the batch or submit: inputs and outputs of the graph are in ordinary memory"
                ),
                None => format!(
                    "memory tile is the tile heap of `{profile}`, whose contents are lost after the batch or submit: records do not say which tensors have to outlive it"
                ),
            });
        }
        Ok(planned)
    }

    /// Returns true if a strategy places only tensors that need it in a limited memory, and all others in the next.
    pub(crate) fn ignores_limited_memories(&self, strategy: Strategy) -> bool {
        let is_limited = self.memories.iter().any(|memory| memory.capacity.is_some());
        self.memories.len() > 1 && is_limited && is_pool(strategy)
    }

    fn plan_in(
        &self,
        memories: &[MemoryDesc],
        options: &TensorOptions,
        strategy: Strategy,
    ) -> tileheap_tensor::Result<Planned> {
        match (&self.input, &self.choice) {
            (ImportedInput::Records(items), _) => of_records(items, memories, strategy),
            (_, Some(choice)) => of_graph(choice, self.policy.name(), &options.plan(strategy, memories)),
            _ => unreachable!("graphs have a storage choice"),
        }
    }

    /// The traffic that on-chip memories of different sizes keep; empty without `--on-chip`. The sizes start at a sixteenth of `--on-chip` and double
    /// until all traffic is kept, up to sixteen times `--on-chip`.
    pub(crate) fn on_chip(&self, options: &TensorOptions) -> tileheap_tensor::Result<Vec<OnChip>> {
        let mut all = Vec::new();
        let given = options.on_chip.map_or(0, |given| u128::from(given.0));
        let sizes = (0..9).filter_map(|shift| u64::try_from((given << shift) >> 4).ok());
        for capacity in sizes.filter(|&size| size > 0) {
            let planned = self.plan_in(&on_chip(Bytes(capacity)), options, options.strategy)?;
            let [chip, memory] = [0, 1].map(|index: usize| &planned.memories[index]);
            let is_there = |row: &&Row| row.regions.iter().any(|region| region.memory.0 == 0);
            all.push(OnChip {
                capacity,
                tensors: planned.tensors.iter().filter(is_there).count() as u64,
                kept: chip.traffic.0,
                bound: chip.traffic_bound.0,
                traffic: (chip.traffic + memory.traffic).0,
            });
            if memory.traffic == Bytes::ZERO {
                break;
            }
        }
        Ok(all)
    }

    /// The plan, and the bytes of every strategy, as `tileheap tensors --json` writes them.
    pub(crate) fn document(&self, path: &Path, options: &TensorOptions) -> Result<Tensors> {
        let planned = self.plan(options, options.strategy);
        let planned = planned.map_err(|error| Error::of(shown(path), error))?;
        let on_chip = self
            .on_chip(options)
            .map_err(|error| Error::of(shown(path), error))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Ok(document::document(
            &name,
            options,
            self.policy.name(),
            &planned,
            &self.compare(options),
            &|strategy| self.ignores_limited_memories(strategy),
            on_chip,
        ))
    }

    /// Plans the network with every strategy.
    pub(crate) fn compare(&self, options: &TensorOptions) -> Vec<(Strategy, Result<Planned, String>)> {
        let strategies = all_strategies().collect::<Vec<_>>();
        let progress = Progress::new("planning with every strategy", strategies.len() as u64);
        let planned = strategies.into_iter().enumerate().map(|(done, strategy)| {
            progress.set_position(done as u64);
            let planned = self.plan(options, strategy);
            (strategy, planned.map_err(|error| error.to_string()))
        });
        planned.collect()
    }
}
