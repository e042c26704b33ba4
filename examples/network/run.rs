//! Runs a network on the device: plans, binds, records, submits, reads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tileheap::runtime::Context;
use tileheap::runtime::objects::OneShotCommands;
use tileheap_tensor::graph::NodeId;
use tileheap_tensor::plan::Backing;
use tileheap_tensor::plan::Offsets;
use tileheap_tensor::vulkan::{
    ControlFlowDecision, HostBuffer, KernelSet, Network, NetworkRun, RecordedCounts,
};
use tileheap_tensor::{ElementType, Graph, PlacementStrategy, TensorId, TensorPlan, TensorPlanOptions, plan};

use crate::storage::{Storing, layouts};
use tileheap_examples::error::Result;

/// A network that can be run repeatedly.
pub(crate) struct Bench<'a> {
    context: &'a Context,
    network: Network,
    hosts: Vec<(TensorId, HostBuffer)>,
    decisions: Vec<(NodeId, ControlFlowDecision)>,
    pub(crate) recorded: RecordedCounts,
}

/// The strategy that gives every tensor separate memory.
pub(crate) const UNALIASED: Offsets<tileheap_pack::Strategy> = Offsets(tileheap_pack::Strategy::Naive);

/// Plans a graph with the sizes that the driver reports.
pub(crate) fn planned(
    context: &Context,
    graph: &Graph,
    storing: Storing,
    strategy: &dyn PlacementStrategy,
) -> Result<TensorPlan> {
    let tile = context.runtime();
    let layouts = layouts(graph, storing)?;
    let needs = tileheap_tensor::vulkan::measure_tensors(tile, graph, &layouts)?;
    let granularity = tile.profile().limits.buffer_image_granularity;
    // A loop's condition is not a floating-point tensor, and the caller provides it.
    let inputs = graph.inputs().iter().copied();
    let conditions = inputs.filter(|&input| graph.tensor(input).element == ElementType::Bool);
    let options = TensorPlanOptions {
        strategy,
        in_place: strategy.name() != UNALIASED.name(),
        granularity,
        external: conditions.collect(),
        ..TensorPlanOptions::default()
    };
    Ok(plan(graph, &layouts, &needs, &options)?)
}

impl<'a> Bench<'a> {
    pub(crate) fn new(
        context: &'a Context,
        graph: &Arc<Graph>,
        plan: &Arc<TensorPlan>,
        values: &BTreeMap<TensorId, Vec<f32>>,
        rounds: &[(NodeId, u64)],
    ) -> Result<Bench<'a>> {
        let tile = context.runtime();
        let network = Network::new(tile, graph, plan, values, KernelSet::new())?;
        let mut hosts = Vec::new();
        for &id in graph.inputs().iter().chain(graph.outputs()) {
            let count: u64 = graph.shape_at(id, &[])?.iter().product();
            let mut host = HostBuffer::new(tile, count * 4)?;
            if let Some(values) = values.get(&id) {
                host.write_floats(values);
            }
            hosts.push((id, host));
        }
        let decisions = rounds
            .iter()
            .map(|&(node, rounds)| (node, ControlFlowDecision::Rounds { rounds, exit: 0 }));
        Ok(Bench {
            context,
            network,
            hosts,
            decisions: decisions.collect(),
            recorded: RecordedCounts::default(),
        })
    }

    /// Runs the network once; returns the time from submission to completion.
    pub(crate) fn run(&mut self) -> Result<Duration> {
        let commands = OneShotCommands::begin(self.context.runtime(), 0, "network")?;
        let bindings: Vec<_> = self.hosts.iter().map(|(id, host)| (*id, host.buffer())).collect();
        let run = NetworkRun {
            symbols: &[],
            bindings: &bindings,
            decisions: &self.decisions,
        };
        // SAFETY: recording on a queue that supports compute; the buffers outlive the wait.
        self.recorded = unsafe { self.network.record(commands.command_buffer(), &run) }?;
        let start = Instant::now();
        // SAFETY: only the network's commands were recorded, on the first queue.
        unsafe { commands.submit_and_wait() }?;
        Ok(start.elapsed())
    }

    /// The outputs, concatenated.
    pub(crate) fn outputs(&self) -> Vec<f32> {
        let outputs = self.network.graph().outputs();
        let hosts = self.hosts.iter().filter(|(id, _)| outputs.contains(id));
        hosts.flat_map(|(_, host)| host.read_floats()).collect()
    }

    pub(crate) fn destroy(self) {
        for (_, host) in self.hosts {
            // SAFETY: every run was waited for.
            unsafe { host.destroy() };
        }
        // SAFETY: every run was waited for.
        unsafe { self.network.destroy() };
    }
}

/// The number of images among the planned tensors.
pub(crate) fn images(plan: &TensorPlan) -> usize {
    let planned = plan
        .tensors
        .iter()
        .filter(|tensor| tensor.backing == Backing::Planned);
    planned
        .filter(|tensor| tensor.layout.rule.storage.is_image())
        .count()
}
