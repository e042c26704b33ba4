//! Errors of a network, and their messages.

use std::collections::BTreeMap;
use std::sync::Arc;

use tileheap::runtime::{BoundBuffer, Capabilities};
use tileheap_tensor::graph::Operator;
use tileheap_tensor::vulkan::{HostBuffer, KernelSet, Network, NetworkRun};
use tileheap_tensor::{ElementType, Graph, GraphBuilder, TensorId, TensorPlanOptions, plan};

use crate::gpu::Gpu;
use crate::rig::{self, Stored};
use tileheap_testkit::objects::record;
use tileheap_testkit::tensor::assert_says;

/// `y = relu(x + w)`, `z = y * y`; inputs and outputs are the caller's.
fn graph() -> (Graph, [TensorId; 4]) {
    let mut graph = GraphBuilder::new("small");
    let side = graph.symbol("side", 1, 8);
    let shape = tileheap_tensor::Shape(vec![side.into(), 8.into()]);
    let x = graph.input("x", ElementType::Float32, shape);
    let w = graph.constant("w", ElementType::Float32, [1, 8]);
    let sum = graph.operator("sum", "add", [], &[x, w]).expect("inferred")[0];
    let y = graph.operator("y", "relu", [], &[sum]).expect("inferred")[0];
    let z = graph.operator("z", "mul", [], &[y, y]).expect("inferred")[0];
    graph.output(z);
    (graph.build().expect("a graph"), [x, w, y, z])
}

fn bind(gpu: &Gpu, graph: &Graph, values: &BTreeMap<TensorId, Vec<f32>>) -> tileheap_tensor::Result<Network> {
    let layouts = rig::layouts(graph, |_| Stored::Buffers);
    let needs = tileheap_tensor::vulkan::measure_tensors(gpu.runtime(), graph, &layouts)?;
    let options = TensorPlanOptions {
        plan_inputs: false,
        plan_outputs: false,
        ..TensorPlanOptions::default()
    };
    let plan = Arc::new(plan(graph, &layouts, &needs, &options)?);
    Network::new(
        gpu.runtime(),
        &Arc::new(graph.clone()),
        &plan,
        values,
        KernelSet::new(),
    )
}

fn destroy(hosts: impl IntoIterator<Item = HostBuffer>, network: Network) {
    for host in hosts {
        // SAFETY: nothing was submitted.
        unsafe { host.destroy() };
    }
    // SAFETY: nothing was submitted.
    unsafe { network.destroy() };
}

/// Records a run and returns its error message.
fn says(
    gpu: &mut Gpu,
    network: &mut Network,
    symbols: &[u64],
    bindings: &[(TensorId, BoundBuffer)],
) -> Option<String> {
    let commands = gpu.primaries(1)[0];
    let run = NetworkRun {
        symbols,
        bindings,
        decisions: &[],
    };
    // SAFETY: recording; never submitted.
    let recorded = record(gpu.device(), commands, &Default::default(), || unsafe {
        network.record(commands, &run)
    });
    recorded.err().map(|error| error.to_string())
}

#[test]
fn what_is_not_given_or_does_not_fit_is_named() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let (graph, [x, w, y, z]) = graph();
    let values = rig::values(&graph, &[8]);
    let mut network = bind(&gpu, &graph, &values).unwrap_or_else(|error| panic!("{error}"));
    let tile = gpu.runtime().clone();
    let host = |bytes| HostBuffer::new(&tile, bytes).expect("a buffer");
    let (a, b, small) = (host(512), host(256), host(64));
    let whole = a.buffer();
    let mut check = |symbols: &[u64], bound: &[(TensorId, BoundBuffer)], expected: Option<&[&str]>| {
        let said = says(&mut gpu, &mut network, symbols, bound);
        match (said, expected) {
            (None, None) => {}
            (Some(said), Some(words)) => assert_says(said, words),
            (said, expected) => panic!("said {said:?}, {expected:?} expected"),
        }
    };
    let (result, less) = ((z, b.buffer()), (x, small.buffer()));
    check(&[8], &[(x, whole), result], None);
    check(&[8], &[result], Some(&["`x`", "no buffer is bound"]));
    check(&[8], &[(x, whole)], Some(&["`z`", "no buffer is bound"]));
    check(&[8], &[less, result], Some(&["`x`", "256 B", "64 B"]));
    let inner = [(x, whole), result, (y, b.buffer())];
    check(&[8], &inner, Some(&["`y`", "neither an input nor an output"]));
    // A smaller shape fits in the smaller buffer; a larger one than the plan's is refused.
    check(&[2], &[less, result], None);
    check(&[9], &[(x, whole), result], Some(&["side", "9"]));
    check(&[], &[(x, whole), result], Some(&["side"]));
    // One buffer for both: `x` is read for the last time before `z` is written.
    check(&[8], &[(x, whole), (z, whole)], None);
    let mut short = values.clone();
    short.insert(w, vec![0.0; 3]);
    assert_says(
        bind(&gpu, &graph, &short).unwrap_err(),
        &["`w`", "8 elements", "3"],
    );
    destroy([a, b, small], network);
}

#[test]
fn a_buffer_of_an_input_that_is_still_read_backs_no_output() {
    let mut graph = GraphBuilder::new("again");
    let x = graph.input("x", ElementType::Float32, [4, 8]);
    let y = graph.operator("y", "relu", [], &[x]).expect("inferred")[0];
    let z = graph.operator("z", "add", [], &[x, y]).expect("inferred")[0];
    graph.output(y);
    graph.output(z);
    assert_says(refused(graph, &[(x, 0), (y, 0), (z, 1)]), &["`x`", "`y`"]);
}

/// The error message of a run with two buffers of 128 bytes, with each tensor in one of them.
fn refused(graph: GraphBuilder, tensors: &[(TensorId, usize)]) -> String {
    let (mut gpu, graph) = (Gpu::new(Capabilities::empty()), graph.build().expect("a graph"));
    let mut network = bind(&gpu, &graph, &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}"));
    let tile = gpu.runtime().clone();
    let hosts = [128, 128].map(|bytes| HostBuffer::new(&tile, bytes).expect("a buffer"));
    let bound = tensors
        .iter()
        .map(|&(tensor, host)| (tensor, hosts[host].buffer()));
    let said = says(&mut gpu, &mut network, &[], &bound.collect::<Vec<_>>());
    destroy(hosts, network);
    said.expect("refused")
}

#[test]
fn an_operator_without_a_kernel_is_named() {
    let mut graph = GraphBuilder::new("odd");
    let x = graph.input("x", ElementType::Float32, [4, 8]);
    let operator = Operator::named("cumulate");
    let made = vec![("y".to_owned(), ElementType::Float32, [4, 8].into())];
    let y = graph.node("odd one", operator, &[x], made, vec![])[0];
    graph.output(y);
    assert_says(refused(graph, &[(x, 0), (y, 1)]), &["cumulate"]);
}
