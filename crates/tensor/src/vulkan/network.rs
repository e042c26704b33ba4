//! A planned graph on a device: its memory, its pipelines, and the recording of runs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ash::vk;

use super::constants;
use super::decision::ControlFlowDecision;
use super::dispatch::Dispatcher;
use super::kernel::KernelSet;
use super::objects::Objects;
use crate::error::Result;
use crate::graph::{Graph, NodeId, TensorId};
use crate::plan::TensorPlan;
use tileheap::runtime::{BoundBuffer, Device};

/// The arguments of one run of a network.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetworkRun<'a> {
    /// The values of the graph's symbols, in the order of [`Graph::symbols`].
    pub symbols: &'a [u64],
    /// Buffers bound to the inputs and outputs.
    ///
    /// The buffer of an external tensor ([`Backing::External`](crate::plan::Backing::External)) is used directly, in the plan's
    /// layout. A planned input is filled from a plain buffer of 32-bit elements before the first node, and a planned output is
    /// copied to one after the last.
    pub bindings: &'a [(TensorId, BoundBuffer)],
    /// The decisions of loops and branches.
    pub decisions: &'a [(NodeId, ControlFlowDecision)],
}

/// Counts of recorded commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedCounts {
    /// Dispatched kernels.
    pub dispatches: u32,
    /// Barrier calls.
    pub barriers: u32,
    /// Images that changed their layout or transitioned from `UNDEFINED`.
    pub transitions: u32,
    /// Values of loops and branches that were copied because the plan places them in different bytes.
    pub copies: u32,
}

/// A planned graph with its memory: created once, and recorded for each run, at any shape that it was planned for.
///
/// Runs execute in order on one queue; two must not be in flight on different queues.
///
/// ```no_run
/// # use std::collections::BTreeMap;
/// # use std::sync::Arc;
/// # use ash::vk;
/// # use tileheap::runtime::Device;
/// # use tileheap_tensor::vulkan::{HostBuffer, KernelSet, Network, NetworkRun, measure_tensors};
/// # use tileheap_tensor::{Graph, StorageOptions, TensorId, TensorPlanOptions, choose, plan};
/// # fn f(
/// #     device: &Device, graph: &Graph, weights: &BTreeMap<TensorId, Vec<f32>>, commands: vk::CommandBuffer, (x, y): (TensorId, TensorId),
/// # ) -> tileheap_tensor::Result<()> {
/// let choice = choose(graph, &StorageOptions::default())?;
/// let needs = measure_tensors(device, &choice.graph, &choice.layouts)?;
/// let plan = plan(&choice.graph, &choice.layouts, &needs, &TensorPlanOptions::default())?;
/// let (graph, plan) = (Arc::new(choice.graph), Arc::new(plan));
/// let mut network = Network::new(device, &graph, &plan, weights, KernelSet::new())?;
///
/// let mut input = HostBuffer::new(device, 4 * 64)?; // bytes
/// input.write_floats(&[1.0; 64]);
/// let output = HostBuffer::new(device, 4 * 32)?;
/// let bindings = [(x, input.buffer()), (y, output.buffer())];
/// // SAFETY: recording outside of a render pass; the buffers live until the run is complete.
/// unsafe { network.record(commands, &NetworkRun { bindings: &bindings, ..NetworkRun::default() }) }?;
/// // … submit, wait …
/// println!("{:?}", output.read_floats());
/// # Ok(()) }
/// ```
pub struct Network {
    pub(super) graph: Arc<Graph>,
    pub(super) plan: Arc<TensorPlan>,
    /// The objects; taken when they are destroyed.
    pub(super) objects: Option<Objects>,
    pub(super) dispatcher: Dispatcher,
}

impl Network {
    /// Creates all objects of `plan`, and uploads the constants: `values` has the elements of each in row-major order.
    ///
    /// Waits for the upload, which is submitted to the device's first compute queue with the [queues
    /// locked](tileheap::runtime::Device::lock_queues).
    ///
    /// # Errors
    /// A constant is missing or of another length, an image needs more than the plan gives it (measure with
    /// [`measure_tensors`](super::measure_tensors)), or memory runs out; objects created so far are destroyed.
    ///
    /// # Panics
    /// If the plan is for another graph.
    pub fn new(
        device: &Device,
        graph: &Arc<Graph>,
        plan: &Arc<TensorPlan>,
        values: &BTreeMap<TensorId, Vec<f32>>,
        kernels: KernelSet,
    ) -> Result<Network> {
        let _span = tracing::info_span!("bind", graph = graph.name()).entered();
        let (count, planned) = (graph.tensors().len(), plan.tensors.len());
        assert_eq!(count, planned, "the plan must be for this graph");
        let constants = constants::prepare(graph, &|id| &plan.tensor(id).layout, values)?;
        let mut objects = Objects::new(device);
        let made = objects
            .create(device, graph, plan)
            .and_then(|()| objects.upload(device, constants));
        made.inspect_err(|_| {
            // SAFETY: the upload, the only work submitted with them, was waited for.
            unsafe { objects.owned.destroy() };
        })?;
        Ok(Network {
            graph: graph.clone(),
            plan: plan.clone(),
            objects: Some(objects),
            dispatcher: Dispatcher::new(device, kernels),
        })
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The plan of the graph's tensors.
    pub fn plan(&self) -> &Arc<TensorPlan> {
        &self.plan
    }

    /// The number of pipelines that runs have needed so far: one for each distinct [`PipelineKey`](super::PipelineKey).
    pub fn pipelines(&self) -> usize {
        self.dispatcher.pipelines.len()
    }

    /// Forgets a buffer that was bound, before the caller destroys it.
    ///
    /// # Safety
    /// No run that used the buffer is in flight, or will be submitted.
    pub unsafe fn forget(&mut self, buffer: vk::Buffer) {
        // SAFETY: the caller's duty.
        unsafe { self.dispatcher.forget(buffer) };
    }

    /// Destroys the network and all of its objects.
    ///
    /// # Safety
    /// None of its runs is in flight.
    pub unsafe fn destroy(mut self) {
        if let Some(mut objects) = self.objects.take() {
            // SAFETY: the caller's duty.
            unsafe { self.dispatcher.destroy() };
            // SAFETY: the caller's duty.
            unsafe { objects.owned.destroy() };
        }
    }

    pub(super) fn objects(&self) -> &Objects {
        self.objects.as_ref().expect("only `destroy` takes the objects")
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("graph", &self.graph.name())
            .field("pipelines", &self.dispatcher.pipelines.len())
            .finish_non_exhaustive()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        if self.objects.is_some() {
            let graph = self.graph.name();
            tracing::warn!(
                graph,
                "Network dropped without Network::destroy: its objects leak"
            );
        }
    }
}
