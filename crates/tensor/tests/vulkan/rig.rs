//! From a graph to its outputs on the device.
#![allow(unreachable_pub)] // As in the other support modules.

use std::collections::BTreeMap;
use std::sync::Arc;

use ash::vk;
use tileheap::frame::{CommandBufferId, FrameBuilder};
use tileheap_tensor::graph::{NodeId, NodeKind, Source, Tensor};
use tileheap_tensor::layout::{Convention, Generation};
use tileheap_tensor::plan::{Backing, MemoryId, MemoryPlan, PlacedTensor, Placement, Region};
use tileheap_tensor::units::{Alignment, Bytes, Span};
use tileheap_tensor::vulkan::{
    Decision, HostBuffer, KernelSet, Network, NetworkPassesDesc, PassTensor, Recorded, Run,
};
use tileheap_tensor::{ElementType, Graph, Layout, LayoutRule, TensorId, TensorPlan, TensorRequirements};

use crate::gpu::Gpu;

/// The elements of inputs and constants.
pub type Values = BTreeMap<TensorId, Vec<f32>>;

/// How a test stores its tensors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stored {
    Buffers,
    Images(Convention, Generation),
}

/// Every way.
pub fn ways() -> Vec<Stored> {
    let generations = [Generation::Flat, Generation::Layered];
    let images = Convention::ALL
        .into_iter()
        .flat_map(|convention| generations.map(|generation| Stored::Images(convention, generation)));
    std::iter::once(Stored::Buffers).chain(images).collect()
}

/// The axis along which kernels want a tensor packed: channels, outputs of weights, else the last.
pub fn axis_of(graph: &Graph, id: TensorId) -> usize {
    let weights = graph.nodes().iter().any(|node| match &node.kind {
        NodeKind::Operator(of) => ["conv2d", "dense"].contains(&&*of.name) && node.inputs.get(1) == Some(&id),
        _ => false,
    });
    let rank = graph.tensor(id).shape.rank();
    match (weights, rank) {
        (true, _) => 0,
        (false, 4) => 1,
        _ => rank - 1,
    }
}

pub fn layouts(graph: &Graph, choose: impl Fn(&Tensor) -> Stored) -> Vec<Layout> {
    let one = |id: TensorId| {
        let tensor = graph.tensor(id);
        let shape = graph.shape_bound(id, Default::default()).expect("bounded");
        let axis = axis_of(graph, id);
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

/// Every tensor in bytes of its own, one after the other; a view where its base is. For graphs without loops.
pub fn unaliased(graph: &Graph, layouts: Vec<Layout>, needs: &[TensorRequirements]) -> TensorPlan {
    let mut end = Bytes(0);
    let granularity = Alignment::new(1 << 16).expect("not 0");
    let mut tensors: Vec<PlacedTensor> = Vec::new();
    for ((tensor, layout), need) in graph.tensors().iter().zip(layouts).zip(needs) {
        let constant = tensor.source == Source::Constant;
        let place = match tensor.view {
            Some(view) => tensors[view.base.index()].placement.clone(),
            None if constant => None,
            None => {
                let (memory, size) = (MemoryId(0), need.size);
                let offset = end.align_up(granularity).align_up(need.alignment);
                end = offset + size;
                Some(Placement::At(Region { memory, offset, size }))
            }
        };
        tensors.push(PlacedTensor {
            backing: if constant {
                Backing::Constant
            } else {
                Backing::Planned
            },
            layout,
            size: need.size,
            placement: place,
            lifetimes: vec![Span::new(0, graph.nodes().len() as u32)],
        });
    }
    TensorPlan {
        memories: vec![MemoryPlan {
            name: "device".to_owned(),
            size: end,
            lower_bound: end,
            alignment: Alignment::ONE,
            capacity: None,
        }],
        tensors,
        allocations: Vec::new(),
        timeline: Vec::new(),
        aliasing: Vec::new(),
        copies: Vec::new(),
        unrolled: Vec::new(),
    }
}

/// Numbers between -1 and 1 that look like noise and are always the same.
pub fn noise(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Noise for every input and constant.
pub fn values(graph: &Graph, symbols: &[u64]) -> Values {
    let given = graph.tensor_ids().filter(|id| {
        let source = graph.tensor(*id).source;
        source == Source::Constant || graph.inputs().contains(id)
    });
    let noisy = given.map(|id| {
        let values = noise(u64::from(id.0) + 1, count(graph, id, symbols) as usize);
        match graph.tensor(id).element {
            ElementType::Float16 => (id, values.into_iter().map(half_of).collect()),
            _ => (id, values),
        }
    });
    noisy.collect()
}

/// How many elements a tensor has.
pub fn count(graph: &Graph, id: TensorId, symbols: &[u64]) -> u64 {
    graph.shape_at(id, symbols).expect("in range").iter().product()
}

/// A buffer of the host for an input or output, filled from `values`.
pub fn host(gpu: &Gpu, graph: &Graph, id: TensorId, symbols: &[u64], values: &Values) -> HostBuffer {
    let mut host = HostBuffer::new(gpu.tile(), count(graph, id, symbols) * 4).expect("a buffer");
    if let Some(values) = values.get(&id) {
        host.write_floats(values);
    }
    host
}

/// Records with `record`, submits, waits; the queue then lets the host read.
pub fn submit<T>(gpu: &mut Gpu, record: impl FnOnce(vk::CommandBuffer) -> T) -> T {
    let commands = gpu.primaries(1);
    let device = gpu.device();
    // SAFETY: new.
    unsafe { device.begin_command_buffer(commands[0], &Default::default()) }.expect("recording");
    let recorded = record(commands[0]);
    let visible = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ)];
    let (from, to) = (
        vk::PipelineStageFlags::COMPUTE_SHADER,
        vk::PipelineStageFlags::HOST,
    );
    // SAFETY: recording.
    unsafe { device.cmd_pipeline_barrier(commands[0], from, to, Default::default(), &visible, &[], &[]) };
    // SAFETY: recording.
    unsafe { device.end_command_buffer(commands[0]) }.expect("recorded");
    let info = vk::SubmitInfo::default().command_buffers(&commands);
    let queue = gpu.context.queues()[0].handle;
    // SAFETY: nobody else uses the queue.
    unsafe { device.queue_submit(queue, &[info], vk::Fence::null()) }.expect("submitted");
    // SAFETY: as above.
    unsafe { device.queue_wait_idle(queue) }.expect("done");
    recorded
}

/// The nearest number of 11 significant bits.
fn half_of(value: f32) -> f32 {
    f32::from_bits((value.to_bits() + 0x1000) & !0x1FFF)
}

/// Runs a network with its inputs filled from `values`; the outputs.
pub fn run(
    gpu: &mut Gpu,
    network: &mut Network,
    values: &Values,
    symbols: &[u64],
    decisions: &[(NodeId, Decision)],
) -> (Vec<Vec<f32>>, Recorded) {
    let graph = network.graph().clone();
    let ids = graph.inputs().iter().chain(graph.outputs());
    let hosts: Vec<_> = ids
        .clone()
        .map(|&id| host(gpu, &graph, id, symbols, values))
        .collect();
    let bound: Vec<_> = ids.zip(&hosts).map(|(&id, host)| (id, host.buffer())).collect();
    let run = Run {
        symbols,
        bound: &bound,
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

/// Runs a graph without loops, nothing aliased, once.
pub fn run_once(
    gpu: &mut Gpu,
    graph: &Graph,
    layouts: Vec<Layout>,
    values: &Values,
) -> (Vec<Vec<f32>>, Recorded) {
    let mut network = network(gpu, graph.clone(), layouts, values);
    let ran = run(gpu, &mut network, values, &[], &[]);
    // SAFETY: the run was waited for.
    unsafe { network.destroy() };
    ran
}

/// A network of a graph without loops, nothing aliased.
fn network(gpu: &Gpu, graph: Graph, layouts: Vec<Layout>, values: &Values) -> Network {
    let needs = tileheap_tensor::vulkan::measure_tensors(gpu.tile(), &graph, &layouts);
    let needs = needs.unwrap_or_else(|error| panic!("{error}"));
    let plan = Arc::new(unaliased(&graph, layouts, &needs));
    let made = Network::new(gpu.tile(), &Arc::new(graph), &plan, values, KernelSet::new());
    made.unwrap_or_else(|error| panic!("{error}"))
}

/// Asserts that two results agree to `tolerance`, relative to the largest element that is expected.
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
    bound: &'a [(TensorId, PassTensor)],
) -> NetworkPassesDesc<'a> {
    NetworkPassesDesc {
        name: name.to_owned(),
        graph,
        layouts,
        values,
        bound,
        decisions: &[],
        kernels: KernelSet::new(),
    }
}
