//! Every operator, in every storage, in 32 and 16 bits, against the CPU.

use tileheap::runtime::Capabilities;
use tileheap_tensor::graph::Attribute;
use tileheap_tensor::{ElementType, Graph, GraphBuilder, Shape, TensorId};

use crate::gpu::Gpu;
use crate::rig::{self, assert_close, ways};
use tileheap_testkit::tensor::reference::evaluate;

type Attributes = Vec<(&'static str, Attribute)>;

/// One operator on inputs and constants of these shapes.
fn one(
    operator: &str,
    attributes: Attributes,
    element: ElementType,
    inputs: &[&[i64]],
    constants: &[&[i64]],
) -> Graph {
    let mut graph = GraphBuilder::new(operator);
    let mut operands: Vec<TensorId> = Vec::new();
    for (index, shape) in inputs.iter().enumerate() {
        operands.push(graph.input(format!("input {index}"), element, dims(shape)));
    }
    for (index, shape) in constants.iter().enumerate() {
        operands.push(graph.constant(format!("constant {index}"), element, dims(shape)));
    }
    let made = graph.operator("result", operator, attributes, &operands);
    graph.output(made.expect("inferred")[0]);
    graph.build().unwrap_or_else(|error| panic!("{error}"))
}

fn dims(shape: &[i64]) -> Shape {
    Shape(shape.iter().map(|&dim| dim.into()).collect())
}

/// The cases: sizes that are no multiple of 4 nor of a workgroup, strides, padding, batches, broadcasts.
fn cases(element: ElementType) -> Vec<Graph> {
    let one = |operator: &str, attributes: Attributes, inputs: &[&[i64]], constants: &[&[i64]]| {
        one(operator, attributes, element, inputs, constants)
    };
    let int = |name: &'static str, value: i64| (name, Attribute::Int(value));
    let pair = |name: &'static str, values: [i64; 2]| (name, Attribute::Ints(values.to_vec()));
    let act = |name: &str| ("activation", Attribute::Text(name.to_owned()));
    let conv = |strides: i64, padding: i64| vec![int("strides", strides), int("padding", padding)];
    let depthwise = [conv(2, 1), vec![int("groups", 10)]].concat();
    let fused = [conv(1, 1), vec![act("relu6")]].concat();
    let max = [conv(2, 1), vec![int("kernel", 3)]].concat();
    let average = vec![pair("kernel", [2, 3]), pair("strides", [2, 1])];
    let epsilon = vec![("epsilon", Attribute::Float(1e-4))];
    let mut cases = vec![
        one("conv2d", conv(1, 0), &[&[2, 10, 7, 9]], &[&[6, 10, 1, 1], &[6]]),
        one("conv2d", fused, &[&[1, 3, 11, 9]], &[&[9, 3, 3, 3], &[9]]),
        one("conv2d", conv(2, 3), &[&[1, 3, 13, 15]], &[&[8, 3, 7, 7]]),
        one("conv2d", depthwise, &[&[1, 10, 9, 8]], &[&[10, 1, 3, 3], &[10]]),
        one("dense", vec![], &[&[3, 18]], &[&[7, 18], &[7]]),
        one("dense", vec![act("tanh")], &[&[5, 6]], &[&[9, 6]]),
        one("matmul", vec![], &[&[2, 3, 6], &[2, 6, 10]], &[]),
        one(
            "matmul",
            vec![int("transpose_b", 1)],
            &[&[2, 5, 7], &[2, 6, 7]],
            &[],
        ),
        one("max_pool2d", max, &[&[1, 6, 9, 7]], &[]),
        one("avg_pool2d", average, &[&[2, 5, 8, 9]], &[]),
        one("global_avg_pool2d", vec![], &[&[2, 9, 5, 7]], &[]),
        one("add", vec![], &[&[2, 6, 5, 3], &[2, 6, 5, 3]], &[]),
        // Broadcast: a bias of channels, and one element of a vector for all lanes.
        one("add", vec![act("relu")], &[&[2, 6, 5, 3], &[1, 6, 1, 1]], &[]),
        one("mul", vec![], &[&[2, 6, 5, 3], &[2, 1, 5, 3]], &[]),
        one("mul", vec![], &[&[4, 10], &[1, 1]], &[]),
        one("softmax", vec![], &[&[3, 11]], &[]),
        one("softmax", vec![int("axis", 1)], &[&[2, 7, 3, 2]], &[]),
        one("layer_norm", epsilon, &[&[2, 5, 13]], &[&[13], &[13]]),
        one("copy", vec![], &[&[2, 6, 5, 3]], &[]),
    ];
    let activations = ["relu", "relu6", "hard_swish", "sigmoid", "tanh"];
    cases.extend(activations.map(|name| one(name, vec![], &[&[1, 6, 5, 3]], &[])));
    cases
}

/// Of the largest element. Sums of 32-bit products differ in their order; 16-bit results are rounded to 11 bits, and so are
/// results that are put together from them.
const TOLERANCE: [(ElementType, f64); 2] = [(ElementType::Float32, 1e-5), (ElementType::Float16, 2e-3)];

#[test]
fn every_operator_computes_what_the_cpu_does_in_every_storage() {
    let mut gpu = Gpu::new(Capabilities::empty());
    for (element, tolerance) in TOLERANCE {
        for graph in cases(element) {
            let values = rig::values(&graph, &[]);
            let expected = evaluate(&graph, &[], &values, &[]);
            let output = graph.outputs()[0];
            for way in ways() {
                let layouts = rig::layouts(&graph, |_| way);
                let what = format!("{} of {element} in {way:?}", graph.name());
                let (got, _) = rig::run_once(&mut gpu, &graph, layouts, &values);
                assert_close(&what, &got[0], &expected[&output], tolerance);
            }
        }
    }
    gpu.finish();
}

#[test]
fn operands_may_each_be_stored_differently() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let graph = cases(ElementType::Float32).swap_remove(1);
    let values = rig::values(&graph, &[]);
    let expected = evaluate(&graph, &[], &values, &[]);
    for input in ways() {
        for result in ways() {
            let layouts = rig::layouts(&graph, |tensor| match tensor.name.as_str() {
                "input 0" => input,
                "result" => result,
                _ => ways()[2],
            });
            let (got, _) = rig::run_once(&mut gpu, &graph, layouts, &values);
            let what = format!("{input:?} to {result:?}");
            assert_close(&what, &got[0], &expected[&graph.outputs()[0]], 1e-5);
        }
    }
    gpu.finish();
}

#[test]
fn a_reshape_of_channels_moves_them_and_one_of_ones_does_nothing() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let mut graph = GraphBuilder::new("reshape");
    let x = graph.input("x", ElementType::Float32, [2, 6, 1, 1]);
    let flat = graph.operator("flat", "flatten", [], &[x]).expect("inferred")[0];
    let y = graph.operator("y", "relu", [], &[flat]).expect("inferred")[0];
    graph.output(y);
    let graph = graph.build().expect("a graph");
    let values = rig::values(&graph, &[]);
    let expected = evaluate(&graph, &[], &values, &[]);
    let layouts = rig::layouts(&graph, |_| crate::rig::Stored::Buffers);
    let (got, recorded) = rig::run_once(&mut gpu, &graph, layouts, &values);
    assert_close("a view", &got[0], &expected[&y], 1e-6);
    // In, the activation, out: nothing for the view.
    assert_eq!(recorded.dispatches, 3);
    gpu.finish();
}
