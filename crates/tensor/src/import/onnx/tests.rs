use super::proto::{AttributeProto, Dimension, NodeProto, ShapeProto, TensorProto, TensorType, TypeProto};
use super::*;
use crate::check::check;
use crate::error::Result;
use crate::graph::ShapeBound;
use crate::plan::{TensorPlanOptions, TensorRequirements, plan};
use crate::storage::{StorageOptions, choose};
use crate::units::Alignment;

pub(super) fn value(name: &str, dims: &[Result<i64, &str>]) -> ValueInfo {
    let dim = |dim: &Result<i64, &str>| Dimension {
        value: Some(match dim {
            Ok(value) => DimensionValue::Value(*value),
            Err(name) => DimensionValue::Param((*name).to_owned()),
        }),
    };
    let dim = dims.iter().map(dim).collect();
    let (elem_type, shape) = (1, Some(ShapeProto { dim }));
    let tensor = Some(TensorType { elem_type, shape });
    ValueInfo {
        name: name.to_owned(),
        kind: Some(TypeProto { tensor }),
    }
}

pub(super) fn weights(name: &str, dims: &[i64]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: dims.to_vec(),
        data_type: 1,
        ..TensorProto::default()
    }
}

pub(super) fn numbers(name: &str, values: &[i64]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: vec![values.len() as i64],
        data_type: 7,
        raw_data: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        ..TensorProto::default()
    }
}

pub(super) fn node(
    op_type: &str,
    inputs: &[&str],
    outputs: &[&str],
    attributes: &[(&str, &[i64])],
) -> NodeProto {
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

pub(super) fn model_of(graph: GraphProto) -> Model {
    Model {
        graph: Some(graph),
        ..Model::default()
    }
}

/// A small classifier with a dynamic batch, which computes the shape of its flattened tensor node by node, as exporters do.
fn model() -> Model {
    let two = |name| (name, &[2, 2][..]);
    let pads = ("pads", &[1, 1, 1, 1][..]);
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
            node("Conv", &["x", "w1", "b1"], &["c1"], &[two("strides"), pads]),
            node("Relu", &["c1"], &["r1"], &[]),
            node("Conv", &["r1", "w2"], &["c2"], &[("group", &[16]), pads]),
            node("Add", &["c2", "r1"], &["sum"], &[]),
            node(
                "MaxPool",
                &["sum"],
                &["pool"],
                &[two("kernel_shape"), two("strides")],
            ),
            node("Strange", &["pool"], &["odd"], &[]),
            node("Reshape", &["odd", "to"], &["flat"], &[]),
            node("Gemm", &["flat", "w3", "b3"], &["y"], &[("transB", &[1])]),
            node("Softmax", &["y"], &["p"], &[("axis", &[-1])]),
        ],
        value_info: vec![value("odd", &[Err("batch"), Ok(16), Ok(8), Ok(8)])],
        output: vec![value("p", &[Err("batch"), Ok(10)])],
        ..GraphProto::default()
    };
    model_of(graph)
}

pub(super) fn read(model: &Model, ranges: &[(&str, (u64, u64))]) -> Result<Graph> {
    let ranges = ranges
        .iter()
        .map(|&(name, range)| (name.to_owned(), range))
        .collect();
    read_onnx(&model.encode_to_vec(), &OnnxOptions { ranges, folder: None })
}

/// Plans a graph; asserts that the plan is as small as its lower bound and correct over several runs, and returns its size.
pub(super) fn planned(graph: &Graph) -> u64 {
    let choice = choose(graph, &StorageOptions::default()).unwrap();
    let pitch = Alignment::new(64).unwrap();
    let needs = choice
        .layouts
        .iter()
        .map(|layout| TensorRequirements::of_layout(layout, pitch));
    let (needs, options): (Vec<_>, _) = (needs.collect(), TensorPlanOptions::default());
    let plan = plan(&choice.graph, &choice.layouts, &needs, &options).unwrap();
    assert_eq!(plan.size(), plan.lower_bound());
    check(&choice.graph, &needs, &plan, 10).unwrap();
    plan.size().0
}

/// A node with subgraphs as attributes.
pub(super) fn control(
    op_type: &str,
    inputs: &[&str],
    outputs: &[&str],
    graphs: &[(&str, &GraphProto)],
) -> NodeProto {
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

/// Builds a body from names; its values have shape `[4]`, except for iteration numbers and conditions.
pub(super) fn body(inputs: &[&str], nodes: &[NodeProto], outputs: &[&str]) -> GraphProto {
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

/// A small model with shared weights, as PyTorch exports them: weights are not copied, so only activations are planned.
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
    // Both arms read `x` from outside, and use the same name for their output.
    let then = body(&[], &[relu("x", "t")], &["t"]);
    let other = body(&[], &[node("Softmax", &["x"], &["t"], &[])], &["t"]);
    let arms = [("then_branch", &then), ("else_branch", &other)];
    let branch = control("If", &["c"], &["i"], &arms);
    // The state and a stacked output; `w` is read from outside, and the loop contains another.
    let nodes = [relu("go", "more"), node("Add", &["s", "w"], &["u"], &[])];
    let inner = body(&["n", "go", "s"], &nodes, &["more", "u"]);
    let again = control("Loop", &["trips", "", "v"], &["a"], &[("body", &inner)]);
    let nodes = [relu("go", "more"), again, relu("a", "each")];
    let outer = body(&["n", "go", "v"], &nodes, &["more", "a", "each"]);
    let repeat = control(
        "Loop",
        &["trips", "c", "i"],
        &["last", "all"],
        &[("body", &outer)],
    );
    let nodes = [node("Add", &["s", "row"], &["s2"], &[]), relu("s2", "e")];
    let scan_body = body(&["s", "row"], &nodes, &["s2", "e"]);
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
        model_of(graph)
    };
    let graph = read(&model(&[branch.clone(), repeat.clone(), scan.clone()]), &[]).unwrap();
    assert_eq!(graph.blocks().len(), 1 + 2 + 2 + 1);
    // Outputs of branches and loops have the names of the file.
    for name in ["i", "last", "all", "sum", "rows"] {
        assert!(graph.find(name).is_some(), "no tensor is named `{name}`");
    }
    let rows = graph.tensor(*graph.outputs().last().unwrap());
    assert_eq!(rows.shape.fixed().unwrap(), [3, 4]);
    planned(&graph);
    // Each fault names its node.
    let refused = |node: &NodeProto, word: &str| {
        let read = read(&model(&[branch.clone(), repeat.clone(), node.clone()]), &[]);
        says(read, &[word]);
    };
    scan.attribute.pop();
    refused(&scan, "`Scan 10`");
    scan.attribute.clear();
    refused(&scan, "graph attribute `body` is missing");
    let mut cyclic = scan_body.clone();
    cyclic.node[0].input[0] = "e".to_owned();
    let cyclic = control("Loop", &["trips", "", "last"], &["sum"], &[("body", &cyclic)]);
    refused(&cyclic, "Loop");
}

/// Asserts that the result is an error whose message contains these words.
pub(super) fn says<T: std::fmt::Debug>(read: Result<T>, words: &[&str]) {
    let said = read.unwrap_err().to_string();
    assert!(
        words.iter().all(|word| said.contains(word)),
        "{said} without {words:?}"
    );
}

/// Operators of exported models that this crate does not define.
#[test]
fn shapes_of_more_operators_are_inferred() {
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
            numbers("to", &[3, 1, 8]),
            numbers("times", &[1, 2, 1]),
            numbers("pads", &[0, 0, 1, 0, 0, 1]),
            numbers("parts", &[4, 6]),
        ],
        node: nodes.to_vec(),
        output: vec![
            value("out", &[Ok(3), Ok(4), Ok(4)]),
            value("best", &[Ok(3), Ok(4)]),
        ],
        ..GraphProto::default()
    };
    let graph = read(&model_of(graph), &[]).unwrap();
    let shape = |name: &str| graph.tensor(graph.find(name).unwrap()).shape.fixed().unwrap();
    let found = ["y", "h", "padded", "q", "best", "out"].map(shape);
    let shapes: [&[u64]; 6] = [
        &[5, 1, 2, 8],
        &[1, 2, 8],
        &[3, 4, 10],
        &[3, 4, 6],
        &[3, 4],
        &[3, 4, 4],
    ];
    assert_eq!(found.each_ref().map(Vec::as_slice), shapes);
    planned(&graph);
}

#[test]
fn cut_and_broken_files_are_errors() {
    let file = tileheap_testkit::data("tensor/compilers/identity_of_initializer.onnx");
    let bytes = std::fs::read(file).unwrap();
    for end in 1..bytes.len().min(400) {
        // Some truncations leave a smaller model; none may panic.
        drop(read_onnx(&bytes[..end], &OnnxOptions::default()));
        let mut broken = bytes.clone();
        broken[end] ^= 0x55;
        drop(read_onnx(&broken, &OnnxOptions::default()));
    }
    assert!(read_onnx(&bytes[..100], &OnnxOptions::default()).is_err());
}

#[test]
fn a_model_is_read_with_its_dynamic_dimensions_and_planned() {
    let graph = read(&model(), &[("batch", (1, 4))]).unwrap();
    let shape = |name: &str, batch: u64| graph.shape_at(graph.find(name).unwrap(), &[batch]).unwrap();
    assert_eq!(shape("c1", 2), [2, 16, 16, 16]);
    assert_eq!(shape("pool", 3), [3, 16, 8, 8]);
    assert_eq!(shape("flat", 4), [4, 1024]);
    assert_eq!(shape("p", 1), [1, 10]);
    assert!(graph.check_values(&[5]).is_err());
    let p = graph.find("p").unwrap();
    assert_eq!(graph.shape_bound(p, ShapeBound::Ranges).unwrap(), [4, 10]);
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
    let read = read(&model, &[]).unwrap();
    let flat = read.find("flat").unwrap();
    assert_eq!(read.tensor(flat).shape.fixed().unwrap(), [2, 1024]);
}

#[test]
fn what_is_wrong_with_a_model_is_named() {
    let refused = |change: fn(&mut GraphProto), words: &[&str]| {
        let mut model = model();
        change(model.graph.as_mut().unwrap());
        says(read(&model, &[("batch", (1, 4))]), words);
    };
    says(read(&model(), &[]), &["`batch`", "range"]);
    refused(|graph| graph.value_info.clear(), &["Strange", "`odd`"]);
    refused(
        |graph| graph.node[1].input[0] = "nowhere".to_owned(),
        &["`nowhere`", "nothing produces"],
    );
    refused(|graph| graph.node.swap(1, 2), &["`r1`", "`Relu` produces later"]);
    refused(
        |graph| graph.node[1].input[0] = "sum".to_owned(),
        &["`sum`", "`Add`", "the graph has a cycle"],
    );
    let other = |graph: &mut GraphProto| {
        graph
            .value_info
            .push(value("pool", &[Ok(1), Ok(16), Ok(9), Ok(9)]));
        graph.input[0] = value("x", &[Ok(1), Ok(3), Ok(32), Ok(32)]);
    };
    refused(other, &["`pool`", "[1, 16, 9, 9]"]);
    says(
        read_onnx(b"{ \"no\": \"model\" }", &OnnxOptions::default()),
        &["ONNX"],
    );
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(tileheap_testkit::data(&format!("tensor/onnx/{name}.onnx"))).unwrap()
}

/// Element types of 4 and 8 bits, in the whole model or only in constants.
#[test]
fn types_of_current_exports_are_read_by_their_width() {
    for name in ["c12a", "c14a"] {
        let graph =
            read_onnx(&file(name), &OnnxOptions::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(graph.notes().is_empty(), "{:?}", graph.notes());
        planned(&graph);
    }
    let w4 = read_onnx(&file("c14a"), &OnnxOptions::default()).unwrap();
    let w4 = w4.tensor(w4.find("w4").unwrap()).clone();
    assert_eq!(w4.element.bits(), 4);
}

#[test]
fn types_that_are_not_known_count_by_size_and_are_noted() {
    let cast = |to: i64| node("Cast", &["x"], &["narrow"], &[("to", &[to])]);
    let mut later = weights("w", &[3, 5]);
    (later.data_type, later.raw_data) = (99, vec![0; 8]);
    let graph = |nodes: &[NodeProto]| GraphProto {
        initializer: vec![later.clone()],
        ..body(&["x"], nodes, &["out"])
    };
    let nodes = [cast(98), node("Relu", &["narrow"], &["out"], &[])];
    let read = read(&model_of(graph(&nodes)), &[]).unwrap();
    let element = |name: &str| read.tensor(read.find(name).unwrap()).element;
    // 15 elements in 8 bytes are 4 bits each.
    assert_eq!(
        (element("w"), element("narrow")),
        (ElementType::Bits4, ElementType::Bits64)
    );
    let notes = read.notes().join("\n");
    for word in ["98", "64 bits", "`narrow`", "the size of their data: 1"] {
        assert!(notes.contains(word), "{notes} without {word}");
    }
    planned(&read);
    let again = crate::import::read_graph(&read.to_json()).unwrap();
    assert_eq!(again.notes(), read.notes());
}

/// The batch is taken from the input's shape, node by node: the reshape is a view, for every batch.
#[test]
fn shapes_of_dynamic_dimensions_are_computed() {
    let ranges = [("batch".to_owned(), (1, 8))].into();
    let graph = read_onnx(&file("c13c_i"), &OnnxOptions { ranges, folder: None }).unwrap();
    let reshaped = graph.find("r").unwrap();
    assert!(graph.tensor(reshaped).view.is_some());
    for batch in [1, 5, 8] {
        let before = graph.shape_at(graph.inputs()[0], &[batch]).unwrap();
        let after = graph.shape_at(reshaped, &[batch]).unwrap();
        assert_eq!(before.iter().product::<u64>(), after.iter().product::<u64>());
    }
    planned(&graph);
}

/// Sizes of `Resize`, `Expand`, `Slice`, `Range` and `ConstantOfShape`, computed from dynamic shapes as exporters do.
#[test]
fn computed_shapes_reach_what_uses_them() {
    let with = |op: &str, inputs: &[&str], output: &str| node(op, inputs, &[output], &[]);
    let nodes = [
        with("Shape", &["x"], "s"),
        node("Gather", &["s", "0"], &["n"], &[("axis", &[0])]),
        node("Gather", &["s", "2"], &["h"], &[("axis", &[0])]),
        with("Slice", &["s", "[0]", "[2]"], "nc"),
        with("Mul", &["h", "2"], "h2"),
        with("Unsqueeze", &["h2", "[0]"], "h2s"),
        node("Concat", &["nc", "h2s", "h2s"], &["to"], &[("axis", &[0])]),
        node("Resize", &["x", "", "", "to"], &["up"], &[]),
        node("Resize", &["x", "", "scales"], &["half"], &[]),
        with("Unsqueeze", &["n", "[0]"], "ns"),
        node("Concat", &["ns", "[-1]"], &["flat to"], &[("axis", &[0])]),
        with("Reshape", &["up", "flat to"], "flat"),
        with("Equal", &["flat to", "[-1]"], "is open"),
        with("Where", &["is open", "[7]", "flat to"], "filled to"),
        with("ConstantOfShape", &["filled to"], "filled"),
        with("Range", &["0", "n", "1"], "places"),
        with("Expand", &["v", "filled to"], "wide"),
        with("Slice", &["x", "[1]", "hs", "[2]"], "cut"),
        with("Unsqueeze", &["h", "[0]"], "hs2"),
    ];
    let mut nodes = nodes.to_vec();
    nodes.insert(17, with("Unsqueeze", &["h", "[0]"], "hs"));
    let scalar = |name: &str, number: i64| TensorProto {
        dims: Vec::new(),
        ..numbers(name, &[number])
    };
    let mut scales = weights("scales", &[4]);
    scales.float_data = vec![1.0, 1.0, 0.5, 0.5];
    let graph = GraphProto {
        input: vec![
            value("x", &[Err("batch"), Ok(3), Err("side"), Err("side")]),
            value("v", &[Err("batch"), Ok(1)]),
        ],
        initializer: vec![
            scalar("0", 0),
            scalar("1", 1),
            scalar("2", 2),
            numbers("[0]", &[0]),
            numbers("[1]", &[1]),
            numbers("[2]", &[2]),
            numbers("[7]", &[7]),
            numbers("[-1]", &[-1]),
            scales,
        ],
        node: nodes,
        output: ["flat", "half", "filled", "places", "wide", "cut"]
            .map(|name| value(name, &[]))
            .to_vec(),
        ..GraphProto::default()
    };
    let mut graph = graph;
    for value in &mut graph.output {
        value.kind = None;
    }
    let graph = read(&model_of(graph), &[("batch", (1, 4)), ("side", (8, 64))]).unwrap();
    let shape = |name: &str| graph.shape_at(graph.find(name).unwrap(), &[2, 10]).unwrap();
    assert_eq!(shape("up"), [2, 3, 20, 20]);
    assert_eq!(shape("half"), [2, 3, 5, 5]);
    assert_eq!(shape("flat"), [2, 1200]);
    assert_eq!(shape("filled"), [2, 7]);
    assert_eq!(shape("wide"), [2, 7]);
    assert_eq!(shape("places"), [2]);
    assert_eq!(shape("cut"), [2, 3, 9, 10]);
    assert!(graph.tensor(graph.find("flat").unwrap()).view.is_some());
    let bound = graph
        .shape_bound(graph.find("flat").unwrap(), ShapeBound::Ranges)
        .unwrap();
    assert_eq!(bound, [4, 3 * 128 * 128]);
}

/// Sums of sums, which would double with every node.
#[test]
fn long_computations_of_open_shapes_end() {
    let mut nodes = vec![node("Size", &["x"], &["0"], &[])];
    nodes.extend((0..200).map(|step| {
        let (from, to) = (step.to_string(), (step + 1).to_string());
        node("Add", &[&from, &from], &[&to], &[])
    }));
    nodes.push(node("Relu", &["x"], &["out"], &[]));
    let mut graph = body(&["x"], &nodes, &["out"]);
    graph.input[0] = value("x", &[Err("batch")]);
    graph.output[0] = value("out", &[Err("batch")]);
    // Past the limit of tracking, the file has to give the shape.
    graph.value_info = (0..=200).map(|step| value(&step.to_string(), &[])).collect();
    drop(read(&model_of(graph), &[("batch", (1, 4))]));
}

#[test]
fn ranges_of_dimensions_that_are_not_there_are_errors() {
    says(
        read(&model(), &[("batch", (1, 4)), ("bathc", (1, 4))]),
        &["`bathc`", "`batch`"],
    );
    let mut fixed = model();
    fixed.graph.as_mut().unwrap().input[0] = value("x", &[Ok(2), Ok(3), Ok(32), Ok(32)]);
    fixed.graph.as_mut().unwrap().value_info[0] = value("odd", &[Ok(2), Ok(16), Ok(8), Ok(8)]);
    fixed.graph.as_mut().unwrap().output[0] = value("p", &[Ok(2), Ok(10)]);
    says(
        read(&fixed, &[("n", (1, 4))]),
        &["`n`", "all dimensions are fixed"],
    );
}

#[test]
fn models_are_told_from_text() {
    assert!(is_onnx(&model().encode_to_vec()) && is_onnx(&file("c12a")));
    for text in [
        "",
        "{ \"format\": \"tileheap-graph\" }",
        "id,lower,upper,size\nx,0,1,4\n",
        "\u{1}",
    ] {
        assert!(!is_onnx(text.as_bytes()), "{text}");
    }
}
