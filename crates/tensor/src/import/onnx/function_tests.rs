//! Functions, branches that are decided before execution, and constants in other forms.

use super::proto::{
    AttributeProto, Dimension, FunctionProto, NodeProto, OperatorSet, ShapeProto, SparseTensorProto,
    TensorProto, TensorType, TypeProto,
};
use super::*;

fn value(name: &str, dims: &[i64]) -> ValueInfo {
    let dim = |&dim: &i64| Dimension {
        value: Some(DimensionValue::Value(dim)),
    };
    let shape = Some(ShapeProto {
        dim: dims.iter().map(dim).collect(),
    });
    let tensor = Some(TensorType { elem_type: 1, shape });
    ValueInfo {
        name: name.to_owned(),
        kind: Some(TypeProto { tensor }),
    }
}

fn node(domain: &str, op_type: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        op_type: op_type.to_owned(),
        domain: domain.to_owned(),
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: vec![output.to_owned()],
        ..NodeProto::default()
    }
}

fn attribute(name: &str, i: i64) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        i,
        ..AttributeProto::default()
    }
}

fn number(name: &str, number: i64) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        data_type: 9,
        int32_data: vec![number as i32],
        ..TensorProto::default()
    }
}

fn read(graph: GraphProto, functions: Vec<FunctionProto>) -> Result<Graph> {
    let model = Model {
        graph: Some(graph),
        functions,
        ..Model::default()
    };
    read_onnx(&model.encode_to_vec(), &OnnxOptions::default())
}

fn shape(graph: &Graph, name: &str) -> Vec<u64> {
    let found = graph.find(name).unwrap_or_else(|| panic!("no tensor `{name}`"));
    graph.tensor(found).shape.fixed().unwrap()
}

/// A function with an attribute that the call gives and one with a default value, called twice, once by another function.
#[test]
fn functions_are_replaced_by_their_nodes() {
    let refers = |name: &str| AttributeProto {
        ref_attr_name: "to".to_owned(),
        ..attribute(name, 0)
    };
    let mut concat = node("", "Concat", &["a", "t"], "b");
    concat.attribute.push(refers("axis"));
    let function = |name: &str, nodes: Vec<NodeProto>| FunctionProto {
        name: name.to_owned(),
        domain: "mine".to_owned(),
        input: vec!["a".to_owned()],
        output: vec!["b".to_owned()],
        node: nodes,
        attribute_proto: vec![attribute("to", 1)],
        ..FunctionProto::default()
    };
    let twice = function("Twice", vec![node("", "Relu", &["a"], "t"), concat]);
    let outer = function("Outer", vec![node("mine", "Twice", &["a"], "b")]);
    let mut rows = node("mine", "Twice", &["x"], "rows");
    rows.attribute.push(attribute("to", 0));
    let graph = GraphProto {
        input: vec![value("x", &[2, 3])],
        node: vec![rows, node("mine", "Outer", &["x"], "columns")],
        output: vec![value("rows", &[4, 3]), value("columns", &[2, 6])],
        ..GraphProto::default()
    };
    let found = read(graph.clone(), vec![twice.clone(), outer]).unwrap();
    assert_eq!(
        [shape(&found, "rows"), shape(&found, "columns")],
        [[4, 3], [2, 6]]
    );
    assert_eq!(found.nodes().len(), 4);
    // A function that calls itself.
    let outer = function("Outer", vec![node("mine", "Outer", &["a"], "b")]);
    let said = read(graph, vec![twice, outer]).unwrap_err().to_string();
    assert!(said.contains("nested more than"), "{said}");
}

/// An operator of another domain is not ONNX's operator of that name: its output shapes are taken from the file.
#[test]
fn operators_of_other_domains_need_shapes() {
    let mut graph = GraphProto {
        input: vec![value("x", &[2, 3])],
        node: vec![node("com.microsoft", "Attention", &["x"], "y")],
        output: vec![value("y", &[2, 7])],
        ..GraphProto::default()
    };
    assert_eq!(shape(&read(graph.clone(), Vec::new()).unwrap(), "y"), [2, 7]);
    graph.output[0].kind = None;
    let said = read(graph, Vec::new()).unwrap_err().to_string();
    assert!(said.contains("`y`"), "{said}");
}

fn branch(condition: &str, then: GraphProto, other: GraphProto) -> NodeProto {
    let arm = |name: &str, graph: GraphProto| AttributeProto {
        name: name.to_owned(),
        g: Some(graph),
        ..AttributeProto::default()
    };
    let mut node = node("", "If", &[condition], "y");
    node.attribute = vec![arm("then_branch", then), arm("else_branch", other)];
    node
}

fn arm(op_type: &str, name: &str) -> GraphProto {
    let mut result = value(name, &[]);
    result.kind = None;
    GraphProto {
        node: vec![node("", op_type, &["x"], name)],
        output: vec![result],
        ..GraphProto::default()
    }
}

/// A branch as exporters write it for a `squeeze` of an axis that may be longer than 1: only one arm fits the shape.
#[test]
fn a_branch_with_a_known_condition_is_its_arm() {
    for (condition, dims) in [(1, &[3][..]), (0, &[1, 3])] {
        let graph = GraphProto {
            input: vec![value("x", &[1, 3])],
            initializer: vec![number("c", condition)],
            node: vec![
                branch("c", arm("Squeeze", "s"), arm("Relu", "r")),
                node("", "Neg", &["y"], "z"),
            ],
            output: vec![value("y", dims), value("z", dims)],
            ..GraphProto::default()
        };
        let found = read(graph, Vec::new()).unwrap();
        let expected: Vec<u64> = dims.iter().map(|&dim| dim as u64).collect();
        assert_eq!(
            [shape(&found, "y"), shape(&found, "z")],
            [expected.clone(), expected]
        );
        assert_eq!(found.blocks().len(), 1);
    }
}

/// A graph with a branch whose arms have these nodes, and a node that reads its result `y`.
fn branching(then: NodeProto, other: NodeProto, last: NodeProto) -> GraphProto {
    let of = |node: NodeProto| {
        let name = node.output[0].clone();
        GraphProto {
            node: vec![node],
            ..arm("Relu", &name)
        }
    };
    let mut condition = value("c", &[]);
    if let Some(tensor) = condition.kind.as_mut().and_then(|kind| kind.tensor.as_mut()) {
        tensor.elem_type = 9;
    }
    let mut result = value("z", &[]);
    result.kind = None;
    GraphProto {
        input: vec![value("x", &[1, 3]), condition],
        node: vec![branch("c", of(then), of(other)), last],
        output: vec![result],
        ..GraphProto::default()
    }
}

fn bound(graph: &Graph, name: &str) -> Vec<u64> {
    let found = graph.find(name).unwrap_or_else(|| panic!("no tensor `{name}`"));
    graph
        .shape_bound(found, crate::graph::ShapeBound::Ranges)
        .unwrap()
}

/// Each dimension is planned with the larger of the two sizes, also for nodes that read the result.
#[test]
fn arms_may_have_results_of_different_shapes() {
    let mut rows = node("", "Concat", &["x", "x"], "t");
    rows.attribute.push(attribute("axis", 0));
    let mut columns = node("", "Concat", &["x", "x"], "e");
    columns.attribute.push(attribute("axis", 1));
    let mut reduce = node("", "ReduceMax", &["y"], "z");
    reduce.attribute = vec![attribute("keepdims", 0), attribute("axes", 0)];
    reduce.attribute[1].ints = vec![0];
    let found = read(branching(rows, columns, reduce), Vec::new()).unwrap();
    assert_eq!((bound(&found, "y"), bound(&found, "z")), (vec![2, 6], vec![6]));
    assert!(found.notes().iter().any(|note| note.contains("different shapes")));
}

/// The number of dimensions cannot be bounded: the file has to give it.
#[test]
fn arms_with_results_of_different_ranks_need_a_shape() {
    let arms = || (node("", "Relu", &["x"], "t"), node("", "Squeeze", &["x"], "s"));
    let (then, other) = arms();
    let mut graph = branching(then, other, node("", "Neg", &["y"], "z"));
    let said = read(graph.clone(), Vec::new()).unwrap_err().to_string();
    for word in ["`If 1`", "1 and 2", "`y`", "shape inference"] {
        assert!(said.contains(word), "{said} without {word}");
    }
    graph.value_info.push(value("y", &[1, 2]));
    assert!(
        read(graph.clone(), Vec::new()).is_err(),
        "the given shape is smaller than a result"
    );
    graph.value_info[0] = value("y", &[1, 3]);
    assert_eq!(bound(&read(graph, Vec::new()).unwrap(), "z"), [1, 3]);
}

#[test]
fn sparse_constants_and_negative_dimensions_are_read() {
    let sparse = SparseTensorProto {
        values: Some(TensorProto {
            name: "w".to_owned(),
            dims: vec![1],
            data_type: 1,
            ..TensorProto::default()
        }),
        dims: vec![4, 3],
    };
    let graph = GraphProto {
        input: vec![value("x", &[-1, 3])],
        sparse_initializer: vec![sparse],
        node: vec![node("", "Add", &["x", "w"], "y")],
        output: vec![value("y", &[4, 3])],
        ..GraphProto::default()
    };
    let model = Model {
        graph: Some(graph),
        ..Model::default()
    };
    let ranges = [("x.0".to_owned(), (1, 4))].into();
    let found = read_onnx(&model.encode_to_vec(), &OnnxOptions { ranges, folder: None }).unwrap();
    assert_eq!(shape(&found, "y"), [4, 3]);
}

/// `NonZero` of inputs of different sizes in two calls of a function: their results have symbols of their own.
#[test]
fn each_call_has_symbols_of_its_own() {
    let mut found = value("y", &[1, -1]);
    if let Some(tensor) = found.kind.as_mut().and_then(|kind| kind.tensor.as_mut()) {
        tensor.elem_type = 7;
    }
    let function = FunctionProto {
        name: "F".to_owned(),
        domain: "mine".to_owned(),
        input: vec!["x".to_owned()],
        output: vec!["y".to_owned()],
        node: vec![node("", "NonZero", &["x"], "y")],
        value_info: vec![found.clone()],
        ..FunctionProto::default()
    };
    let none = |name: &str| ValueInfo {
        name: name.to_owned(),
        kind: None,
    };
    let mut graph = GraphProto {
        input: vec![value("small", &[10]), value("large", &[1000])],
        node: vec![
            node("mine", "F", &["small"], "a"),
            node("mine", "F", &["large"], "b"),
        ],
        output: vec![none("a"), none("b")],
        ..GraphProto::default()
    };
    let read_graph = read(graph.clone(), vec![function]).unwrap();
    assert_eq!(
        (bound(&read_graph, "a"), bound(&read_graph, "b")),
        (vec![1, 10], vec![1, 1000])
    );
    // The file may describe the result with a dynamic dimension.
    graph.node = vec![node("", "NonZero", &["small"], "y")];
    graph.output = vec![found];
    let read_graph = read(graph.clone(), Vec::new()).unwrap();
    assert_eq!(bound(&read_graph, "y"), [1, 10]);
    assert_eq!(read_graph.symbols().len(), 1);
    let model = Model {
        graph: Some(graph),
        ..Model::default()
    };
    let ranges = [("y.1".to_owned(), (0, 4))].into();
    let read_graph = read_onnx(&model.encode_to_vec(), &OnnxOptions { ranges, folder: None }).unwrap();
    assert_eq!(bound(&read_graph, "y"), [1, 4]);
}

/// Arms may use the same names for tensors of different shapes; a shape in the file is that of its own arm.
#[test]
fn each_arm_has_names_of_its_own() {
    let of = |dims: &[i64], op_type: &str| GraphProto {
        node: vec![node("", op_type, &["x"], "t"), node("", "Neg", &["t"], "u")],
        value_info: vec![value("t", dims)],
        ..arm("Relu", "u")
    };
    let mut graph = branching(
        node("", "Relu", &["x"], "t"),
        node("", "Relu", &["x"], "t"),
        node("", "Neg", &["y"], "z"),
    );
    let then = GraphProto {
        value_info: Vec::new(),
        ..of(&[1, 3], "Relu")
    };
    graph.node[0] = branch("c", then, of(&[3], "Squeeze"));
    graph.value_info.push(value("y", &[1, 3]));
    assert_eq!(bound(&read(graph, Vec::new()).unwrap(), "z"), [1, 3]);
}

fn function(name: &str, inputs: &[&str], nodes: &[NodeProto], output: &str) -> FunctionProto {
    FunctionProto {
        name: name.to_owned(),
        domain: "mine".to_owned(),
        input: inputs.iter().map(|&input| input.to_owned()).collect(),
        output: vec![output.to_owned()],
        node: nodes.to_vec(),
        ..FunctionProto::default()
    }
}

/// An input that a call omits is omitted in the nodes that read it, also within a branch.
#[test]
fn inputs_of_functions_are_optional() {
    let mut condition = value("c", &[]);
    if let Some(tensor) = condition.kind.as_mut().and_then(|kind| kind.tensor.as_mut()) {
        tensor.elem_type = 9;
    }
    let conv = |to: &str| node("", "Conv", &["x", "w", "b"], to);
    let in_arm = |to: &str| GraphProto {
        node: vec![conv(to)],
        ..arm("Relu", to)
    };
    let nodes = [
        conv("d"),
        branch("c", in_arm("t"), in_arm("e")),
        node("", "Add", &["y", "d"], "z"),
    ];
    let layer = function("L", &["x", "w", "c", "b"], &nodes, "z");
    for inputs in [&["x", "w", "c"][..], &["x", "w", "c", ""]] {
        let graph = GraphProto {
            input: vec![
                value("x", &[1, 3, 8, 8]),
                value("w", &[4, 3, 1, 1]),
                condition.clone(),
            ],
            node: vec![node("mine", "L", inputs, "out")],
            output: vec![value("out", &[1, 4, 8, 8])],
            ..GraphProto::default()
        };
        let found = read(graph, vec![layer.clone()]).unwrap();
        assert_eq!(shape(&found, "out"), [1, 4, 8, 8]);
    }
}

/// The axis of a `DFT` without one depends on the version of the operator.
#[test]
fn functions_have_versions_of_their_own() {
    let transform = |version: i64| {
        let mut dft = node("", "DFT", &["x"], "y");
        dft.attribute.push(attribute("onesided", 1));
        let set = |version: i64| OperatorSet {
            domain: String::new(),
            version,
        };
        let mut of = function("F", &["x"], &[dft.clone()], "y");
        of.opset_import = vec![set(version)];
        dft.output = vec!["direct".to_owned()];
        let kind = |name: &str| ValueInfo {
            name: name.to_owned(),
            kind: None,
        };
        let model = Model {
            graph: Some(GraphProto {
                input: vec![value("x", &[1, 8, 16, 1])],
                node: vec![node("mine", "F", &["x"], "called"), dft],
                output: vec![kind("called"), kind("direct")],
                ..GraphProto::default()
            }),
            functions: vec![of],
            opset_import: vec![set(20)],
        };
        let found = read_onnx(&model.encode_to_vec(), &OnnxOptions::default()).unwrap();
        (shape(&found, "called"), shape(&found, "direct"))
    };
    assert_eq!(transform(17), (vec![1, 5, 16, 2], vec![1, 8, 9, 2]));
    assert_eq!(transform(20), (vec![1, 8, 9, 2], vec![1, 8, 9, 2]));
}
