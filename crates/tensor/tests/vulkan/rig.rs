//! Runs graphs on the device and returns their outputs.
#![allow(unreachable_pub)] // As in the other support modules.

use std::collections::BTreeMap;
use std::sync::Arc;

use ash::vk;
use tileheap::frame::{CommandBufferId, FrameBuilder};
use tileheap_pack::Strategy;
use tileheap_tensor::graph::{NodeId, Tensor};
use tileheap_tensor::layout::{Convention, ConventionForm};
use tileheap_tensor::plan::Offsets;
use tileheap_tensor::vulkan::{
    ControlFlowDecision, HostBuffer, KernelSet, Network, NetworkPassesDesc, NetworkRun, PassTensor,
    RecordedCounts,
};
use tileheap_tensor::{Graph, Layout, LayoutRule, TensorId, TensorPlanOptions, plan};

use crate::gpu::Gpu;
use tileheap_testkit::objects;
use tileheap_testkit::tensor::packed_axis;

/// The elements of inputs and constants.
pub type Values = BTreeMap<TensorId, Vec<f32>>;

/// The storage of tensors in a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stored {
    Buffers,
    Images(Convention, ConventionForm),
}

/// Every storage.
pub fn ways() -> Vec<Stored> {
    let generations = [ConventionForm::Flat, ConventionForm::Layered];
    let images = Convention::ALL
        .into_iter()
        .flat_map(|convention| generations.map(|generation| Stored::Images(convention, generation)));
    std::iter::once(Stored::Buffers).chain(images).collect()
}

pub fn layouts(graph: &Graph, choose: impl Fn(&Tensor) -> Stored) -> Vec<Layout> {
    let one = |id: TensorId| {
        let tensor = graph.tensor(id);
        let shape = graph.shape_bound(id, Default::default()).expect("bounded");
        let axis = packed_axis(graph, id);
        let rule = match choose(tensor) {
            Stored::Images(convention, generation) if tensor.shape.rank() > 1 => {
                convention.packing(shape.len(), axis, generation)
            }
            _ => LayoutRule::packed_buffer(axis),
        };
        let layout = rule.apply(&tensor.name, &shape, tensor.element);
        layout.expect("a layout")
    };
    graph.tensor_ids().map(one).collect()
}

/// Noise for every input and constant.
pub fn values(graph: &Graph, symbols: &[u64]) -> Values {
    tileheap_testkit::tensor::values(graph, symbols, 1)
}

/// The number of elements of a tensor.
pub fn count(graph: &Graph, id: TensorId, symbols: &[u64]) -> u64 {
    graph.shape_at(id, symbols).expect("in range").iter().product()
}

/// A host-visible buffer for an input or output, filled from `values`.
pub fn host(gpu: &Gpu, graph: &Graph, id: TensorId, symbols: &[u64], values: &Values) -> HostBuffer {
    let mut host = HostBuffer::new(gpu.runtime(), count(graph, id, symbols) * 4).expect("a buffer");
    if let Some(values) = values.get(&id) {
        host.write_floats(values);
    }
    host
}

/// Records with `record`, submits and waits; afterwards the host may read.
pub fn submit<T>(gpu: &mut Gpu, record: impl FnOnce(vk::CommandBuffer) -> T) -> T {
    let commands = gpu.primaries(1);
    let device = gpu.device();
    let visible = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ)];
    let (from, to) = (
        vk::PipelineStageFlags::COMPUTE_SHADER,
        vk::PipelineStageFlags::HOST,
    );
    let recorded = objects::record(device, commands[0], &Default::default(), || {
        let recorded = record(commands[0]);
        // SAFETY: recording.
        unsafe { device.cmd_pipeline_barrier(commands[0], from, to, Default::default(), &visible, &[], &[]) };
        recorded
    });
    let info = vk::SubmitInfo::default().command_buffers(&commands);
    let queue = gpu.context.queues()[0].handle;
    // SAFETY: nothing else uses the queue.
    unsafe { device.queue_submit(queue, &[info], vk::Fence::null()) }.expect("submitted");
    // SAFETY: as above.
    unsafe { device.queue_wait_idle(queue) }.expect("done");
    recorded
}

/// Runs a network with its inputs filled from `values`; returns the outputs.
pub fn run(
    gpu: &mut Gpu,
    network: &mut Network,
    values: &Values,
    symbols: &[u64],
    decisions: &[(NodeId, ControlFlowDecision)],
) -> (Vec<Vec<f32>>, RecordedCounts) {
    let graph = network.graph().clone();
    let ids = graph.inputs().iter().chain(graph.outputs());
    let hosts: Vec<_> = ids
        .clone()
        .map(|&id| host(gpu, &graph, id, symbols, values))
        .collect();
    let bindings: Vec<_> = ids.zip(&hosts).map(|(&id, host)| (id, host.buffer())).collect();
    let run = NetworkRun {
        symbols,
        bindings: &bindings,
        decisions,
    };
    let recorded = submit(gpu, |commands| {
        // SAFETY: recording; the buffers outlive the wait.
        unsafe { network.record(commands, &run) }.unwrap_or_else(|error| panic!("{error}"))
    });
    let outputs = hosts[graph.inputs().len()..].iter().zip(graph.outputs());
    let outputs =
        outputs.map(|(host, &id)| host.read_floats()[..count(&graph, id, symbols) as usize].to_vec());
    let outputs = outputs.collect();
    for host in hosts {
        // SAFETY: idle.
        unsafe { network.forget(host.buffer().handle) };
        // SAFETY: idle.
        unsafe { host.destroy() };
    }
    (outputs, recorded)
}

/// Runs a graph without loops once, with nothing aliased.
pub fn run_once(
    gpu: &mut Gpu,
    graph: &Graph,
    layouts: Vec<Layout>,
    values: &Values,
) -> (Vec<Vec<f32>>, RecordedCounts) {
    let mut network = network(gpu, graph.clone(), layouts, values);
    let ran = run(gpu, &mut network, values, &[], &[]);
    // SAFETY: the run was waited for.
    unsafe { network.destroy() };
    ran
}

/// A network for a graph without loops, with nothing aliased.
fn network(gpu: &Gpu, graph: Graph, layouts: Vec<Layout>, values: &Values) -> Network {
    let needs = tileheap_tensor::vulkan::measure_tensors(gpu.runtime(), &graph, &layouts)
        .unwrap_or_else(|error| panic!("{error}"));
    let options = TensorPlanOptions {
        strategy: &Offsets(Strategy::Naive),
        in_place: false,
        granularity: gpu.runtime().profile().limits.buffer_image_granularity,
        ..TensorPlanOptions::default()
    };
    let mut planned = plan(&graph, &layouts, &needs, &options).unwrap_or_else(|error| panic!("{error}"));
    // A view is placed within its base.
    for (index, tensor) in graph.tensors().iter().enumerate() {
        if let Some(view) = tensor.view {
            planned.tensors[index].placement = planned.tensor(view.base).placement.clone();
        }
    }
    let made = Network::new(
        gpu.runtime(),
        &Arc::new(graph),
        &Arc::new(planned),
        values,
        KernelSet::new(),
    );
    made.unwrap_or_else(|error| panic!("{error}"))
}

/// Asserts that two results agree to `tolerance`, relative to the largest expected element.
pub fn assert_close(what: &str, got: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1e-6f64, |most, value| most.max(value.abs()));
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        let error = (f64::from(*got) - expected).abs() / scale;
        assert!(
            error <= tolerance,
            "{what}: element {index} is {got}, {expected} expected"
        );
    }
}

/// A frame with one command buffer on one queue.
pub fn frame(name: &str, extent: vk::Extent2D, flags: vk::QueueFlags) -> (FrameBuilder, CommandBufferId) {
    let mut frame = FrameBuilder::new(name, extent);
    let queue = frame.queue("main", flags);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "all");
    (frame, commands)
}

/// A graph without loops or branches to declare as passes.
pub fn passes_of<'a>(
    name: &str,
    graph: &'a Arc<Graph>,
    layouts: &'a [Layout],
    values: &'a Values,
    bindings: &'a [(TensorId, PassTensor)],
) -> NetworkPassesDesc<'a> {
    NetworkPassesDesc {
        name: name.to_owned(),
        graph,
        layouts,
        values,
        bindings,
        decisions: &[],
        kernels: KernelSet::new(),
    }
}
