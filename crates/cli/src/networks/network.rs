//! A network with the storage of its tensors chosen.

use std::path::Path;

use tileheap_tensor::import::tvm::TvmGraph;
use tileheap_tensor::storage::Buffers;
use tileheap_tensor::{MemoryDesc, StorageChoice, StoragePolicy, choose};

use super::document;
use super::input::Input;
use super::options::{Strategy, TensorOptions, all_strategies};
use super::plan::{Planned, of_graph, of_records};
use crate::documents::Tensors;
use crate::error::{Error, Result};
use crate::input::shown;
use crate::progress::Progress;

/// A network with the storage of its tensors chosen.
pub(crate) struct Network {
    pub(crate) input: Input,
    /// `None` for records.
    pub(crate) choice: Option<StorageChoice>,
    policy: &'static dyn StoragePolicy,
    memories: Vec<MemoryDesc>,
}

impl Network {
    /// Reads a graph or records.
    pub(crate) fn read(text: &str, path: &Path, options: &TensorOptions) -> Result<Network> {
        let input = Input::parse(text, &options.input)
            .map_err(|error| Error::bad_input(format!("{}: {error}", shown(path))))?;
        Network::of(input, path, options)
    }

    /// Chooses the storage.
    pub(crate) fn of(mut input: Input, path: &Path, options: &TensorOptions) -> Result<Network> {
        let (mut choice, mut policy) = (None, &Buffers as &'static dyn StoragePolicy);
        if let Input::Graph(graph) | Input::Tvm(TvmGraph { graph, .. }) = &mut input {
            if options.keep_inputs {
                *graph = graph.clone().with_kept_inputs();
            }
            policy = options.policy_for(graph);
            let chosen = choose(graph, &options.storage(policy));
            choice = Some(chosen.map_err(|error| Error::bad_input(format!("{}: {error}", shown(path))))?);
        }
        Ok(Network {
            input,
            choice,
            policy,
            memories: options.memories()?,
        })
    }

    /// Plans with a strategy.
    pub(crate) fn plan(
        &self,
        options: &TensorOptions,
        strategy: Strategy,
    ) -> tileheap_tensor::Result<Planned> {
        match (&self.input, &self.choice) {
            (Input::Records(items), _) => of_records(items, &self.memories, strategy),
            (_, Some(choice)) => of_graph(
                choice,
                self.policy.name(),
                &options.plan(strategy, &self.memories),
            ),
            _ => unreachable!("graphs have a storage choice"),
        }
    }

    /// The plan, and the bytes of every strategy, as `tileheap tensors --json` writes them.
    pub(crate) fn document(&self, path: &Path, options: &TensorOptions) -> Result<Tensors> {
        let planned = self.plan(options, options.strategy);
        let planned = planned.map_err(|error| Error::of(shown(path), error))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Ok(document::document(
            &name,
            options,
            self.policy.name(),
            &planned,
            &self.compare(options),
        ))
    }

    /// Plans with every strategy.
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
