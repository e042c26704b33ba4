//! Every operator, in every storage, in 32 and 16 bits, against the CPU.

use std::collections::BTreeMap;

use tileheap::runtime::Capabilities;
use tileheap_tensor::graph::Attribute;
use tileheap_tensor::{ElementType, Graph, GraphBuilder, Shape, TensorId};

use crate::gpu::Gpu;
use crate::rig::{self, assert_close, ways};
use tileheap_testkit::tensor::reference::evaluate;

/// An operator, its attributes, the shapes of its inputs, and those of the constants after them.
type Case = (String, BTreeMap<String, Attribute>, Vec<Vec<i64>>, Vec<Vec<i64>>);

/// The cases: sizes that are not a multiple of 4 or of a workgroup, strides, padding, batches, broadcasts.
fn cases(element: ElementType) -> Vec<Graph> {
    let text = std::fs::read_to_string(tileheap_testkit::data("tensor/operators.json")).expect("rows");
    let cases: Vec<Case> = serde_json::from_str(&text).expect("rows of cases");
    let dims = |shape: &[i64]| Shape(shape.iter().map(|&dim| dim.into()).collect());
    let graph = |(operator, attributes, inputs, constants): Case| {
        let mut graph = GraphBuilder::new(operator.as_str());
        let mut operands: Vec<TensorId> = Vec::new();
        for (index, shape) in inputs.iter().enumerate() {
            operands.push(graph.input(format!("input {index}"), element, dims(shape)));
        }
        for (index, shape) in constants.iter().enumerate() {
            operands.push(graph.constant(format!("constant {index}"), element, dims(shape)));
        }
        let attributes = attributes
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone()));
        let made = graph.operator("result", &operator, attributes, &operands);
        made.expect("inferred")
            .into_iter()
            .for_each(|made| graph.output(made));
        graph.build().unwrap_or_else(|error| panic!("{error}"))
    };
    cases.into_iter().map(graph).collect()
}

/// Relative to the largest element. Sums of 32-bit products differ in their order; 16-bit results are rounded to 11 bits,
/// and so are results computed from them.
const TOLERANCE: [(ElementType, f64); 2] = [(ElementType::Float32, 1e-5), (ElementType::Float16, 2e-3)];

#[test]
fn every_operator_computes_what_the_cpu_does_in_every_storage() {
    let mut gpu = Gpu::new(Capabilities::empty());
    for (element, tolerance) in TOLERANCE {
        for graph in cases(element) {
            let values = rig::values(&graph, &[]);
            let expected = evaluate(&graph, &[], &values, &[]);
            for way in ways() {
                let layouts = rig::layouts(&graph, |_| way);
                let what = format!("{} of {element} in {way:?}", graph.name());
                let (got, _) = rig::run_once(&mut gpu, &graph, layouts, &values);
                for (got, output) in got.iter().zip(graph.outputs()) {
                    assert_close(&what, got, &expected[output], tolerance);
                }
            }
        }
    }
}

/// Lanes past the last element hold 0 / 0: code that reads whole vectors must not use them as elements.
#[test]
fn what_fills_up_the_last_vector_is_nobodys_element() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let mut graph = GraphBuilder::new("quotient");
    let [a, b] = ["a", "b"].map(|name| graph.input(name, ElementType::Float32, [3, 7]));
    let mut add = |name: &str, operator: &str, inputs: &[TensorId]| {
        let transposed = [("transpose_b", 1.into())];
        let attributes = transposed.into_iter().filter(|_| operator == "matmul");
        graph
            .operator(name, operator, attributes, inputs)
            .expect("inferred")[0]
    };
    let square = add("square", "mul", &[a, a]);
    let ones = add("ones", "div", &[square, square]);
    let y = add("y", "mul", &[ones, b]);
    let product = add("product", "matmul", &[y, y]);
    let likely = add("likely", "softmax", &[y]);
    [y, product, likely]
        .into_iter()
        .for_each(|made| graph.output(made));
    let graph = graph.build().expect("a graph");
    let values = rig::values(&graph, &[]);
    let expected = evaluate(&graph, &[], &values, &[]);
    for way in ways() {
        let (got, _) = rig::run_once(&mut gpu, &graph, rig::layouts(&graph, |_| way), &values);
        for (got, output) in got.iter().zip(graph.outputs()) {
            assert_close(&graph.tensor(*output).name, got, &expected[output], 1e-5);
        }
    }
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
    // Input, activation, output: nothing for the view.
    assert_eq!(recorded.dispatches, 3);
}
