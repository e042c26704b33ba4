//! A network on the device: planned, bound, recorded, submitted, read.

use std::collections::BTreeMap;
use std::sync::Arc;

use ash::vk;
use tileheap::runtime::Context;
use tileheap_tensor::graph::NodeId;
use tileheap_tensor::plan::Backing;
use tileheap_tensor::plan::Offsets;
use tileheap_tensor::vulkan::{Decision, HostBuffer, KernelSet, Network, Recorded, Run};
use tileheap_tensor::{ElementType, Graph, PlacementStrategy, TensorId, TensorPlan, TensorPlanOptions, plan};

use crate::storage::{Storing, layouts};
use crate::timing::{Stopwatch, Took};
use tileheap_examples::error::{Called, Result};

/// A network that can be run again and again.
pub(crate) struct Bench<'a> {
    context: &'a Context,
    network: Network,
    hosts: Vec<(TensorId, HostBuffer)>,
    decisions: Vec<(NodeId, Decision)>,
    pool: vk::CommandPool,
    fence: vk::Fence,
    pub(crate) recorded: Recorded,
}

/// Every tensor in bytes of its own.
pub(crate) const UNALIASED: Offsets<tileheap_pack::Strategy> = Offsets(tileheap_pack::Strategy::Naive);

/// Plans a graph at the driver's sizes.
pub(crate) fn planned(
    context: &Context,
    graph: &Graph,
    storing: Storing,
    strategy: &dyn PlacementStrategy,
) -> Result<TensorPlan> {
    let tile = context.tile();
    let layouts = layouts(graph, storing)?;
    let needs = tileheap_tensor::vulkan::measure_tensors(tile, graph, &layouts)?;
    let granularity = tile.profile().limits.buffer_image_granularity;
    // A loop's condition is no tensor of floats, and the caller's to know.
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
        let (tile, device) = (context.tile(), context.device());
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
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(context.queues()[0].family);
        // SAFETY: the device has the family.
        let pool = unsafe { device.create_command_pool(&info, None) }.called("vkCreateCommandPool")?;
        // SAFETY: nothing is asked for but a fence.
        let fence = unsafe { device.create_fence(&Default::default(), None) }.called("vkCreateFence")?;
        let decisions = rounds
            .iter()
            .map(|&(node, rounds)| (node, Decision::Rounds { rounds, exit: 0 }));
        Ok(Bench {
            context,
            network,
            hosts,
            decisions: decisions.collect(),
            pool,
            fence,
            recorded: Recorded::default(),
        })
    }

    /// Runs once; how long it took from submission to completion.
    pub(crate) fn run(&mut self) -> Result<Took> {
        let device = self.context.device();
        // SAFETY: nothing of the pool is in flight.
        unsafe { device.reset_command_pool(self.pool, Default::default()) }.called("vkResetCommandPool")?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .command_buffer_count(1);
        // SAFETY: the pool is alive.
        let commands =
            unsafe { device.allocate_command_buffers(&info) }.called("vkAllocateCommandBuffers")?;
        // SAFETY: new.
        unsafe { device.begin_command_buffer(commands[0], &Default::default()) }
            .called("vkBeginCommandBuffer")?;
        let bound: Vec<_> = self.hosts.iter().map(|(id, host)| (*id, host.buffer())).collect();
        let run = Run {
            symbols: &[],
            bound: &bound,
            decisions: &self.decisions,
        };
        // SAFETY: recording on a queue that computes; the buffers outlive the wait.
        self.recorded = unsafe { self.network.record(commands[0], &run) }?;
        // SAFETY: recording.
        unsafe { device.end_command_buffer(commands[0]) }.called("vkEndCommandBuffer")?;
        let submit = vk::SubmitInfo::default().command_buffers(&commands);
        let queue = self.context.queues()[0].handle;
        let stopwatch = Stopwatch::start();
        // SAFETY: nobody else uses the queue or the fence.
        unsafe { device.queue_submit(queue, &[submit], self.fence) }.called("vkQueueSubmit")?;
        // SAFETY: submitted above.
        unsafe { device.wait_for_fences(&[self.fence], true, u64::MAX) }.called("vkWaitForFences")?;
        let took = stopwatch.stop();
        // SAFETY: not in use.
        unsafe { device.reset_fences(&[self.fence]) }.called("vkResetFences")?;
        // SAFETY: complete.
        unsafe { device.free_command_buffers(self.pool, &commands) };
        Ok(took)
    }

    /// The outputs, one after the other.
    pub(crate) fn outputs(&self) -> Vec<f32> {
        let outputs = self.network.graph().outputs();
        let hosts = self.hosts.iter().filter(|(id, _)| outputs.contains(id));
        hosts.flat_map(|(_, host)| host.read_floats()).collect()
    }

    pub(crate) fn destroy(self) {
        let device = self.context.device();
        for (_, host) in self.hosts {
            // SAFETY: every run was waited for.
            unsafe { host.destroy() };
        }
        // SAFETY: every run was waited for.
        unsafe { self.network.destroy() };
        // SAFETY: as above.
        unsafe { device.destroy_fence(self.fence, None) };
        // SAFETY: as above.
        unsafe { device.destroy_command_pool(self.pool, None) };
    }
}

/// Images among the planned tensors.
pub(crate) fn images(plan: &TensorPlan) -> usize {
    let planned = plan
        .tensors
        .iter()
        .filter(|tensor| tensor.backing == Backing::Planned);
    planned
        .filter(|tensor| tensor.layout.rule.storage.is_image())
        .count()
}
