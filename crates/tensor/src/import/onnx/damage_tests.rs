//! Tests with small files whose graphs would be large.

use super::proto::{FunctionProto, GraphProto};
use super::tests::{body, control, model_of, node, numbers, read, says, value};
use super::*;
use crate::graph::ShapeBound;

/// A model with these nodes, the last of which produces `out`, and with a dynamic dimension.
fn model_with(inputs: Vec<ValueInfo>, nodes: Vec<proto::NodeProto>) -> Model {
    model_of(GraphProto {
        input: inputs,
        node: nodes,
        output: vec![ValueInfo {
            kind: None,
            ..value("out", &[])
        }],
        ..body(&[], &[], &[])
    })
}

fn open(name: &str) -> ValueInfo {
    value(name, &[Err("batch"), Ok(3)])
}

/// The upper bounds of the output's dimensions.
fn bound(graph: &Graph) -> Vec<u64> {
    graph.shape_bound(graph.outputs()[0], ShapeBound::Ranges).unwrap()
}

#[test]
fn sizes_that_double_with_every_node_are_short() {
    let doubled = |count: usize| {
        let double = |step: usize| {
            let name = |step: usize| match step {
                0 => "x".to_owned(),
                step if step == count => "out".to_owned(),
                step => format!("t{step}"),
            };
            let from = name(step);
            node("Concat", &[&from, &from], &[&name(step + 1)], &[("axis", &[0])])
        };
        read(
            &model_with(vec![open("x")], (0..count).map(double).collect()),
            &[("batch", (1, 4))],
        )
    };
    let graph = doubled(30).unwrap();
    assert_eq!(bound(&graph), [4 << 30, 3]);
    let longest = graph.tensors().iter().map(|of| of.shape.0[0].terms(1000)).max();
    assert!(longest <= Some(32), "{longest:?}");
    says(doubled(100), &["2^63"]);
    // In a graph that is built in Rust.
    let mut graph = GraphBuilder::new("doubled");
    let batch = graph.symbol("batch", 1, 4);
    let mut last = graph.input("x", ElementType::Float32, Shape(vec![batch.into(), 3.into()]));
    for step in 0..30 {
        let axis = [("axis", 0i64.into())];
        last = graph
            .operator(&format!("t{step}"), "concat", axis, &[last, last])
            .unwrap()[0];
    }
    graph.output(last);
    assert_eq!(bound(&graph.build().unwrap()), [4 << 30, 3]);
}

/// The depth of an expression is logarithmic in the number of operands.
#[test]
fn operators_have_any_number_of_operands() {
    let all = vec!["x"; 20_000];
    let graph = model_with(
        vec![open("x")],
        vec![node("Concat", &all, &["out"], &[("axis", &[0])])],
    );
    let graph = read(&graph, &[("batch", (1, 4))]).unwrap();
    assert_eq!(bound(&graph), [80_000, 3]);
    let names: Vec<String> = (0..3000).map(|index| format!("x{index}")).collect();
    let inputs = names
        .iter()
        .map(|name| value(name, &[Err(name.as_str()), Ok(3)]))
        .collect();
    let ranges: Vec<(&str, (u64, u64))> = (1..)
        .zip(&names)
        .map(|(most, name)| (name.as_str(), (1, most)))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let graph = model_with(inputs, vec![node("Sum", &names, &["out"], &[])]);
    assert_eq!(bound(&read(&graph, &ranges).unwrap()), [3000, 3]);
    // A known value, whose concatenation is too large to be tracked.
    let all = vec!["n"; 20_000];
    let mut graph = model_with(
        Vec::new(),
        vec![node("Concat", &all, &["out"], &[("axis", &[0])])],
    );
    let known = numbers("n", &[1; 4000]);
    graph.graph.as_mut().unwrap().initializer.push(known);
    assert_eq!(bound(&read(&graph, &[]).unwrap()), [80_000_000]);
}

#[test]
fn tensors_have_few_dimensions() {
    let gather = |step: usize| {
        let (from, to) = (format!("t{step}"), format!("t{}", step + 1));
        node("Gather", &[&from, &from], &[&to], &[("axis", &[0])])
    };
    let mut nodes: Vec<_> = (0..40).map(gather).collect();
    nodes.push(node("Relu", &["t40"], &["out"], &[]));
    let of = |dims: &[Result<i64, &str>]| model_with(vec![value("t0", dims)], nodes.clone());
    says(
        read(&of(&[Ok(2), Ok(2)]), &[]),
        &["`Gather 6`", "65 dimensions; at most 64"],
    );
    says(read(&of(&[Ok(1); 65]), &[]), &["`t0` has 65 dimensions"]);
    // A known value.
    let mut known = model_with(Vec::new(), nodes.clone());
    let ones = proto::TensorProto {
        dims: vec![1, 1],
        ..numbers("t0", &[0])
    };
    known.graph.as_mut().unwrap().initializer.push(ones);
    says(read(&known, &[]), &["dimensions; at most 64"]);
}

/// Names of calls and branches are part of the names of all tensors in them.
#[test]
fn names_of_tensors_in_bodies_are_short() {
    let (long, steps) = ("n".repeat(1 << 16), 200);
    let relu = |step: usize| {
        let (from, to) = (format!("t{step}"), format!("t{}", step + 1));
        node("Relu", &[&from], &[&to], &[])
    };
    let mut of = function("F", (0..steps).map(relu).collect(), &format!("t{steps}"));
    of.input = vec!["t0".to_owned()];
    let call = |from: &str, to: &str| proto::NodeProto {
        name: long.clone(),
        ..node("F", &[from], &[to], &[])
    };
    let mut model = model_with(vec![open("x")], vec![call("x", "y"), call("y", "out")]);
    model.functions.push(of);
    let graph = read(&model, &[("batch", (1, 4))]).unwrap();
    assert_eq!(graph.nodes().len(), 2 * steps);
    let longest = graph.tensors().iter().map(|of| of.name.len()).max();
    assert!(longest < Some(2000), "{longest:?}");
}

fn function(name: &str, nodes: Vec<proto::NodeProto>, output: &str) -> FunctionProto {
    FunctionProto {
        name: name.to_owned(),
        input: vec!["x".to_owned()],
        output: vec![output.to_owned()],
        node: nodes,
        ..FunctionProto::default()
    }
}

/// A thousand calls of a thousand calls, of a function that describes many values, or has an attribute of many bytes.
#[test]
fn calls_count_with_all_that_they_read() {
    let calls = |name: &str| -> Vec<proto::NodeProto> {
        let call = |index: usize| node(name, &["x"], &[&format!("{name}{index}")], &[]);
        (0..1000).map(call).collect()
    };
    let mut many_values = function("A", Vec::new(), "x");
    let long_name = |index: usize| format!("{index}{}", "v".repeat(10_000));
    many_values.value_info = (0..200).map(|index| value(&long_name(index), &[Ok(1)])).collect();
    let mut constant = node("Constant", &[], &["c"], &[]);
    constant.attribute.push(proto::AttributeProto {
        name: "value".to_owned(),
        ref_attr_name: "given".to_owned(),
        ..proto::AttributeProto::default()
    });
    let mut long = function("A", vec![constant], "x");
    long.attribute_proto.push(proto::AttributeProto {
        name: "given".to_owned(),
        s: vec![0; 1 << 16],
        ..proto::AttributeProto::default()
    });
    for called in [many_values, long] {
        let mut nodes = calls("B");
        nodes.push(node("Relu", &["x"], &["out"], &[]));
        let mut model = model_with(vec![open("x")], nodes);
        model.functions = vec![function("B", calls("A"), "x"), called];
        says(read(&model, &[("batch", (1, 4))]), &["more than", "bytes"]);
    }
    // The bytes of a constant are not read.
    let mut constant = node("Constant", &[], &["c"], &[]);
    constant.attribute.push(proto::AttributeProto {
        name: "value".to_owned(),
        t: Some(proto::TensorProto {
            dims: vec![1 << 24],
            data_type: 2,
            raw_data: vec![0; 1 << 24],
            ..proto::TensorProto::default()
        }),
        ..proto::AttributeProto::default()
    });
    let mut nodes = calls("A");
    nodes.push(node("Relu", &["x"], &["out"], &[]));
    let mut model = model_with(vec![open("x")], nodes);
    model.functions = vec![function("A", vec![constant], "c")];
    assert_eq!(bound(&read(&model, &[("batch", (1, 4))]).unwrap()), [4, 3]);
}

/// Calls in branches in calls: each reads the next one, within a limited stack.
#[test]
fn functions_and_bodies_are_nested_to_a_limit() {
    let nested = |count: usize| {
        let of = |index: usize| {
            let next = match index + 1 {
                next if next == count => node("Relu", &["x"], &["t"], &[]),
                next => node(&format!("F{next}"), &["x"], &["t"], &[]),
            };
            let arm = |name: &str, node: proto::NodeProto| GraphProto {
                node: vec![proto::NodeProto {
                    output: vec![name.to_owned()],
                    ..node
                }],
                output: vec![ValueInfo {
                    kind: None,
                    ..value(name, &[])
                }],
                ..GraphProto::default()
            };
            let (then, other) = (arm("t", next), arm("e", node("Neg", &["x"], &["e"], &[])));
            let arms = [("then_branch", &then), ("else_branch", &other)];
            let condition = node("ReduceMax", &["x"], &["c"], &[]);
            function(
                &format!("F{index}"),
                vec![condition, control("If", &["c"], &["y"], &arms)],
                "y",
            )
        };
        let mut model = model_with(
            vec![value("x", &[Ok(2)])],
            vec![node("F0", &["x"], &["out"], &[])],
        );
        model.functions = (0..count).map(of).collect();
        // The stack of a thread of Rust's standard library.
        let read = move || read(&model, &[]);
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(read);
        thread.unwrap().join().unwrap()
    };
    assert_eq!(bound(&nested(32).unwrap()), [2]);
    says(nested(33), &["nested more than 64 levels deep"]);
}

/// Sums and products that exceed 64 bits are reported as errors, or give sizes that are rejected.
#[test]
fn numbers_past_64_bits_are_refused() {
    let most = i64::MAX;
    let mut graph = GraphBuilder::new("damaged");
    let batch = graph.symbol("batch", 1, 4);
    for side in [Dim::from(8), batch.into()] {
        let shape = |dims: [Dim; 4]| Shape(dims.to_vec());
        let x = graph.input(
            "x",
            ElementType::Float32,
            shape([1.into(), 4.into(), side.clone(), side]),
        );
        let w = graph.constant("w", ElementType::Float32, [4, 4, 3, 3]);
        for name in ["max_pool2d", "conv2d", "conv2d_transpose", "pad", "slice"] {
            for pads in [[most, 0, 1, 0], [i64::MIN, 0, -1, 0], [i64::MIN; 4], [most; 4]] {
                for ceil in [0i64, 1] {
                    let attributes = [
                        ("padding", pads.to_vec().into()),
                        ("ceil_mode", ceil.into()),
                        ("begin", pads[0].into()),
                        ("output_padding", vec![most, most].into()),
                    ];
                    let inputs = if name.starts_with("conv") {
                        vec![x, w]
                    } else {
                        vec![x]
                    };
                    drop(graph.operator("y", name, attributes, &inputs));
                }
            }
        }
    }
    // Known values.
    let of = |name: &str, dims: &[i64]| proto::TensorProto {
        name: name.to_owned(),
        dims: dims.to_vec(),
        int64_data: vec![1; usize::from(dims.is_empty())],
        data_type: 7,
        ..proto::TensorProto::default()
    };
    let constants = [
        of("one", &[]),
        of("empty", &[0, 1 << 40, 1 << 40]),
        of("long", &[most, 0]),
        of("least", &[i64::MIN]),
        numbers("large", &[1 << 40, 1 << 40]),
        numbers("open", &[1 << 40, 1 << 40, -1]),
        numbers("zero", &[0]),
    ];
    let cases: [(&str, &[&str], i64); 9] = [
        ("Reshape", &["one", "large"], 0),
        ("Reshape", &["one", "open"], 0),
        ("Flatten", &["empty"], 0),
        ("Flatten", &["empty"], 1),
        ("Gather", &["empty", "zero"], 0),
        ("Squeeze", &["empty"], 0),
        ("Concat", &["long", "long", "long"], 0),
        ("Split", &["least"], 0),
        ("Slice", &["empty", "zero", "large", "zero", "zero"], 0),
    ];
    for (op_type, inputs, place) in cases {
        let nodes = vec![node(op_type, inputs, &["out", "b", "c"], &[("axis", &[place])])];
        let mut model = model_with(Vec::new(), nodes);
        model.graph.as_mut().unwrap().initializer = constants.to_vec();
        drop(read(&model, &[]));
    }
}
