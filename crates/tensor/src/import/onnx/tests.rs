use super::proto::{AttributeProto, Dimension, NodeProto, ShapeProto, TensorProto, TensorType, TypeProto};
use super::*;
use crate::check::check;
use crate::error::Result;
use crate::graph::Bounding;
use crate::plan::{TensorPlanOptions, TensorRequirements, plan};
use crate::storage::{StorageOptions, choose};
use crate::units::Alignment;

fn value(name: &str, dims: &[Result<i64, &str>]) -> ValueInfo {
    let dim = |dim: &Result<i64, &str>| Dimension {
        value: Some(match dim {
            Ok(value) => DimensionValue::Value(*value),
            Err(name) => DimensionValue::Param((*name).to_owned()),
        }),
    };
    ValueInfo {
        name: name.to_owned(),
        kind: Some(TypeProto {
            tensor: Some(TensorType {
                elem_type: 1,
                shape: Some(ShapeProto {
                    dim: dims.iter().map(dim).collect(),
                }),
            }),
        }),
    }
}

fn weights(name: &str, dims: &[i64]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: dims.to_vec(),
        data_type: 1,
        ..TensorProto::default()
    }
}

fn numbers(name: &str, values: &[i64]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: vec![values.len() as i64],
        data_type: 7,
        raw_data: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        ..TensorProto::default()
    }
}

fn node(op_type: &str, inputs: &[&str], outputs: &[&str], attributes: &[(&str, &[i64])]) -> NodeProto {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let attribute = |&(name, ints): &(&str, &[i64])| AttributeProto {
        name: name.to_owned(),
        i: ints[0],
        ints: ints.to_vec(),
        ..AttributeProto::default()
    };
    NodeProto {
        op_type: op_type.to_owned(),
        input: names(inputs),
        output: names(outputs),
        attribute: attributes.iter().map(attribute).collect(),
        ..NodeProto::default()
    }
}

/// A small classifier with an open batch, its shape of the flattened tensor computed node by node as exporters do.
fn model() -> Model {
    let graph = GraphProto {
        name: "small".to_owned(),
        input: vec![value("x", &[Err("batch"), Ok(3), Ok(32), Ok(32)])],
        initializer: vec![
            weights("w1", &[16, 3, 3, 3]),
            weights("b1", &[16]),
            weights("w2", &[16, 1, 3, 3]),
            weights("w3", &[10, 1024]),
            weights("b3", &[10]),
            numbers("to", &[0, -1]),
        ],
        node: vec![
            node(
                "Conv",
                &["x", "w1", "b1"],
                &["c1"],
                &[("strides", &[2, 2]), ("pads", &[1, 1, 1, 1])],
            ),
            node("Relu", &["c1"], &["r1"], &[]),
            node(
                "Conv",
                &["r1", "w2"],
                &["c2"],
                &[("group", &[16]), ("pads", &[1, 1, 1, 1])],
            ),
            node("Add", &["c2", "r1"], &["sum"], &[]),
            node(
                "MaxPool",
                &["sum"],
                &["pool"],
                &[("kernel_shape", &[2, 2]), ("strides", &[2, 2])],
            ),
            node("Strange", &["pool"], &["odd"], &[]),
            node("Reshape", &["odd", "to"], &["flat"], &[]),
            node("Gemm", &["flat", "w3", "b3"], &["y"], &[("transB", &[1])]),
            node("Softmax", &["y"], &["p"], &[("axis", &[-1])]),
        ],
        value_info: vec![value("odd", &[Err("batch"), Ok(16), Ok(8), Ok(8)])],
        output: vec![value("p", &[Err("batch"), Ok(10)])],
    };
    Model { graph: Some(graph) }
}

fn read(model: &Model, ranges: &[(&str, (u64, u64))]) -> Result<Graph> {
    let options = OnnxOptions {
        ranges: ranges
            .iter()
            .map(|&(name, range)| (name.to_owned(), range))
            .collect(),
    };
    read_onnx(&model.encode_to_vec(), &options)
}

/// The bytes of a plan at the bound, which the judge accepts over several runs.
fn planned(graph: &Graph) -> u64 {
    let choice = choose(graph, &StorageOptions::default()).unwrap();
    let pitch = Alignment::new(64).unwrap();
    let needs = choice
        .layouts
        .iter()
        .map(|layout| TensorRequirements::of_layout(layout, pitch));
    let needs: Vec<_> = needs.collect();
    let plan = plan(
        &choice.graph,
        &choice.layouts,
        &needs,
        &TensorPlanOptions::default(),
    )
    .unwrap();
    assert_eq!(plan.size(), plan.lower_bound());
    check(&choice.graph, &needs, &plan, 10).unwrap();
    plan.size().0
}

/// A node with graphs as attributes.
fn control(op_type: &str, inputs: &[&str], outputs: &[&str], graphs: &[(&str, &GraphProto)]) -> NodeProto {
    let graph = |&(name, graph): &(&str, &GraphProto)| AttributeProto {
        name: name.to_owned(),
        g: Some(graph.clone()),
        ..AttributeProto::default()
    };
    NodeProto {
        attribute: graphs.iter().map(graph).collect(),
        ..node(op_type, inputs, outputs, &[])
    }
}

/// A body from names: values of `[4]`, but for round numbers and conditions.
fn body(inputs: &[&str], nodes: &[NodeProto], outputs: &[&str]) -> GraphProto {
    let of = |name: &&str| match *name {
        "n" | "go" | "more" | "c" => value(name, &[]),
        name => value(name, &[Ok(4)]),
    };
    let values = |names: &[&str]| names.iter().map(of).collect();
    GraphProto {
        input: values(inputs),
        node: nodes.to_vec(),
        output: values(outputs),
        ..GraphProto::default()
    }
}

/// What PyTorch writes for shared weights, and the same in small: no copies of weights, so that activations alone are planned.
#[test]
fn identities_of_weights_are_no_tensors() {
    for (file, most) in [("torch_lstm", 8_192), ("identity_of_initializer", 512)] {
        let bytes = std::fs::read(tileheap_testkit::data(&format!("tensor/compilers/{file}.onnx"))).unwrap();
        let graph = read_onnx(&bytes, &OnnxOptions::default()).unwrap();
        let size = planned(&graph);
        assert!(size <= most, "{file}: {size}");
    }
}

#[test]
fn branches_and_loops_are_read() {
    let relu = |from: &str, to: &str| node("Relu", &[from], &[to], &[]);
    // Both arms read x from outside, and use one name.
    let (then, other) = (
        body(&[], &[relu("x", "t")], &["t"]),
        body(&[], &[node("Softmax", &["x"], &["t"], &[])], &["t"]),
    );
    let branch = control(
        "If",
        &["c"],
        &["i"],
        &[("then_branch", &then), ("else_branch", &other)],
    );
    // The state and a stacked output; w is read from outside, and a loop is within the loop.
    let inner = body(
        &["n", "go", "s"],
        &[relu("go", "more"), node("Add", &["s", "w"], &["u"], &[])],
        &["more", "u"],
    );
    let outer = body(
        &["n", "go", "v"],
        &[
            relu("go", "more"),
            control("Loop", &["trips", "", "v"], &["a"], &[("body", &inner)]),
            relu("a", "each"),
        ],
        &["more", "a", "each"],
    );
    let repeat = control(
        "Loop",
        &["trips", "c", "i"],
        &["last", "all"],
        &[("body", &outer)],
    );
    let scan_body = body(
        &["s", "row"],
        &[node("Add", &["s", "row"], &["s2"], &[]), relu("s2", "e")],
        &["s2", "e"],
    );
    let mut scan = control(
        "Scan",
        &["last", "all"],
        &["sum", "rows"],
        &[("body", &scan_body)],
    );
    scan.attribute.push(AttributeProto {
        name: "num_scan_inputs".to_owned(),
        i: 1,
        ..AttributeProto::default()
    });
    let model = |nodes: &[NodeProto]| {
        let mut graph = body(&["x", "w", "c"], nodes, &["sum", "rows"]);
        graph.output[1] = value("rows", &[Ok(3), Ok(4)]);
        graph.initializer.push(numbers("trips", &[3]));
        Model { graph: Some(graph) }
    };
    let graph = read(&model(&[branch.clone(), repeat.clone(), scan.clone()]), &[]).unwrap();
    assert_eq!(graph.blocks().len(), 1 + 2 + 2 + 1);
    let rows = graph.tensor(*graph.outputs().last().unwrap());
    assert_eq!(rows.shape.fixed().unwrap(), [3, 4]);
    planned(&graph);
    // Each fault names its node.
    let said = |node: &NodeProto| {
        read(&model(&[branch.clone(), repeat.clone(), node.clone()]), &[])
            .unwrap_err()
            .to_string()
    };
    scan.attribute.pop();
    assert!(said(&scan).contains("`Scan 10`"), "{}", said(&scan));
    scan.attribute.clear();
    assert!(said(&scan).contains("no graph `body`"), "{}", said(&scan));
    let mut cyclic = scan_body.clone();
    cyclic.node[0].input[0] = "e".to_owned();
    let cyclic = control("Loop", &["trips", "", "last"], &["sum"], &[("body", &cyclic)]);
    assert!(
        said(&cyclic).contains("`e`") || said(&cyclic).contains("Loop"),
        "{}",
        said(&cyclic)
    );
}

/// What exporters write beside the operators of this crate.
#[test]
fn shapes_of_more_operators_are_inferred() {
    let ints = |name: &str, values: &[i64]| numbers(name, values);
    let nodes = [
        node("LSTM", &["x", "w", "r"], &["y", "h"], &[("hidden_size", &[8])]),
        node("Expand", &["h", "to"], &["wide"], &[]),
        node("Tile", &["wide", "times"], &["tiled"], &[]),
        node("Pad", &["tiled", "pads"], &["padded"], &[]),
        node("Split", &["padded", "parts"], &["p", "q"], &[("axis", &[-1])]),
        node(
            "ArgMax",
            &["q"],
            &["best"],
            &[("axis", &[-1]), ("keepdims", &[0])],
        ),
        node("GreaterOrEqual", &["p", "p"], &["where"], &[]),
        node("Where", &["where", "p", "p"], &["z"], &[]),
        node("Mish", &["z"], &["out"], &[]),
    ];
    let graph = GraphProto {
        input: vec![value("x", &[Ok(5), Ok(2), Ok(4)])],
        initializer: vec![
            weights("w", &[1, 32, 4]),
            weights("r", &[1, 32, 8]),
            ints("to", &[3, 1, 8]),
            ints("times", &[1, 2, 1]),
            ints("pads", &[0, 0, 1, 0, 0, 1]),
            ints("parts", &[4, 6]),
        ],
        node: nodes.to_vec(),
        output: vec![
            value("out", &[Ok(3), Ok(4), Ok(4)]),
            value("best", &[Ok(3), Ok(4)]),
        ],
        ..GraphProto::default()
    };
    let graph = read(&Model { graph: Some(graph) }, &[]).unwrap();
    let shape = |name: &str| graph.tensor(graph.find(name).unwrap()).shape.fixed().unwrap();
    assert_eq!((shape("y"), shape("h")), (vec![5, 1, 2, 8], vec![1, 2, 8]));
    assert_eq!(
        (shape("padded"), shape("q"), shape("best"), shape("out")),
        (vec![3, 4, 10], vec![3, 4, 6], vec![3, 4], vec![3, 4, 4])
    );
    planned(&graph);
}

#[test]
fn cut_and_broken_files_are_errors() {
    let bytes = std::fs::read(tileheap_testkit::data(
        "tensor/compilers/identity_of_initializer.onnx",
    ))
    .unwrap();
    for end in 1..bytes.len().min(400) {
        // Some cuts leave a smaller model; none may panic.
        drop(read_onnx(&bytes[..end], &OnnxOptions::default()));
        let mut broken = bytes.clone();
        broken[end] ^= 0x55;
        drop(read_onnx(&broken, &OnnxOptions::default()));
    }
    assert!(read_onnx(&bytes[..100], &OnnxOptions::default()).is_err());
}

#[test]
fn a_model_is_read_with_its_open_dimensions_and_planned() {
    let graph = read(&model(), &[("batch", (1, 4))]).unwrap();
    let shape = |name: &str, batch: u64| graph.shape_at(graph.find(name).unwrap(), &[batch]).unwrap();
    assert_eq!(shape("c1", 2), [2, 16, 16, 16]);
    assert_eq!(shape("pool", 3), [3, 16, 8, 8]);
    assert_eq!(shape("flat", 4), [4, 1024]);
    assert_eq!(shape("p", 1), [1, 10]);
    assert!(graph.check_values(&[5]).is_err());
    let p = graph.find("p").unwrap();
    assert_eq!(graph.shape_bound(p, Bounding::Ranges).unwrap(), [4, 10]);
    planned(&graph);
}

#[test]
fn shapes_that_are_computed_are_folded() {
    let mut model = model();
    let graph = model.graph.as_mut().unwrap();
    graph.input[0] = value("x", &[Ok(2), Ok(3), Ok(32), Ok(32)]);
    graph.initializer.push(numbers("first", &[0]));
    graph.initializer.push(numbers("rest", &[-1]));
    let at = graph
        .node
        .iter()
        .position(|node| node.op_type == "Reshape")
        .unwrap();
    graph.node[at].input[1] = "computed".to_owned();
    let computed = [
        node("Shape", &["x"], &["all"], &[]),
        node("Gather", &["all", "first"], &["batch of x"], &[]),
        node(
            "Concat",
            &["batch of x", "rest"],
            &["computed"],
            &[("axis", &[0])],
        ),
    ];
    graph.node.splice(at..at, computed);
    graph.value_info[0] = value("odd", &[Ok(2), Ok(16), Ok(8), Ok(8)]);
    let read = read(&model, &[("batch", (2, 2))]).unwrap();
    let flat = read.find("flat").unwrap();
    assert_eq!(read.tensor(flat).shape.fixed().unwrap(), [2, 1024]);
}

#[test]
fn what_is_wrong_with_a_model_is_named() {
    let said = |model: &Model, ranges: &[(&str, (u64, u64))]| read(model, ranges).unwrap_err().to_string();
    let open = said(&model(), &[]);
    assert!(open.contains("`batch`") && open.contains("range"), "{open}");
    let mut unknown = model();
    unknown.graph.as_mut().unwrap().value_info.clear();
    let unknown = said(&unknown, &[("batch", (1, 4))]);
    assert!(
        unknown.contains("Strange") && unknown.contains("`odd`"),
        "{unknown}"
    );
    let mut dangling = model();
    dangling.graph.as_mut().unwrap().node[1].input[0] = "nowhere".to_owned();
    let dangling = said(&dangling, &[("batch", (1, 4))]);
    assert!(dangling.contains("`nowhere`"), "{dangling}");
    let mut other = model();
    other
        .graph
        .as_mut()
        .unwrap()
        .value_info
        .push(value("pool", &[Ok(1), Ok(16), Ok(9), Ok(9)]));
    other.graph.as_mut().unwrap().input[0] = value("x", &[Ok(1), Ok(3), Ok(32), Ok(32)]);
    let other = said(&other, &[("batch", (1, 4))]);
    assert!(
        other.contains("`pool`") && other.contains("[1, 16, 9, 9]"),
        "{other}"
    );
    let text = read_onnx(b"{ \"no\": \"model\" }", &OnnxOptions::default())
        .unwrap_err()
        .to_string();
    assert!(text.contains("ONNX"), "{text}");
}
