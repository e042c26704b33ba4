//! Shapes of results that depend on dynamic dimensions and on values.

use super::proto::{AttributeProto, GraphProto, NodeProto, TensorProto, ValueInfo};
use super::tests::{body, control, model_of, node, numbers, planned, read, says, value, weights};
use crate::check::check;
use crate::error::Result;
use crate::graph::ShapeBound;
use crate::plan::{TensorPlanOptions, TensorRequirements, plan};
use crate::storage::{RowMajor, StorageOptions, choose};
use crate::units::Alignment;

/// Either dimension may be the one that is repeated.
#[test]
fn dynamic_dimensions_are_broadcast() {
    let products = [
        node("Add", &["a", "b"], &["sum"], &[]),
        node("MatMul", &["a3", "b3"], &["product"], &[]),
        node("Sum", &["a", "b", "a"], &["sums"], &[]),
    ];
    let mut graph = body(&[], &products, &["sum", "product", "sums"]);
    graph.input = vec![
        value("a", &[Err("p"), Ok(4)]),
        value("b", &[Err("batch"), Ok(4)]),
        value("a3", &[Err("p"), Ok(4), Ok(4)]),
        value("b3", &[Err("batch"), Ok(4), Ok(4)]),
    ];
    graph.output.iter_mut().for_each(|output| output.kind = None);
    let model = model_of(graph);
    for (first, second) in [
        ((1, 1), (1, 8)),
        ((1, 8), (1, 1)),
        ((1, 8), (1, 8)),
        ((1, 8), (4, 6)),
    ] {
        let graph = read(&model, &[("p", first), ("batch", second)]).unwrap();
        for (p, batch) in [(first.0, second.1), (first.1, second.0), (1, 1), (4, 4)] {
            let is_allowed = (first.0..=first.1).contains(&p) && (second.0..=second.1).contains(&batch);
            if !is_allowed || p != batch && p != 1 && batch != 1 {
                continue;
            }
            for name in ["sum", "product", "sums"] {
                let shape = graph.shape_at(graph.find(name).unwrap(), &[p, batch]).unwrap();
                assert_eq!(shape[0], p.max(batch), "{name}: {p} and {batch}");
            }
        }
        planned(&graph);
    }
}

/// A negative axis counts from the end of the stacked result, which has one dimension more than the body's output.
#[test]
fn scans_stack_along_any_axis() {
    let stacked = |axis: i64| {
        let mut body = body(&["row"], &[node("Relu", &["row"], &["e"], &[])], &["e"]);
        body.input[0] = value("row", &[Ok(4), Ok(5)]);
        body.output[0] = value("e", &[Ok(4), Ok(5)]);
        let mut scan = control("Scan", &["x"], &["y"], &[("body", &body)]);
        let attribute = |name: &str, i: i64| AttributeProto {
            name: name.to_owned(),
            i,
            ints: vec![i],
            ..AttributeProto::default()
        };
        let axes = ["num_scan_inputs", "scan_output_axes"];
        scan.attribute
            .extend(axes.map(|name| attribute(name, if name == axes[0] { 1 } else { axis })));
        let graph = GraphProto {
            input: vec![value("x", &[Ok(3), Ok(4), Ok(5)])],
            node: vec![scan],
            output: vec![ValueInfo {
                kind: None,
                ..value("y", &[])
            }],
            ..GraphProto::default()
        };
        read(&model_of(graph), &[])
    };
    let expected = [[3, 4, 5], [4, 3, 5], [4, 5, 3]];
    for (axis, dims) in (0..3).zip(expected) {
        for axis in [axis, axis - 3] {
            let graph = stacked(axis).unwrap();
            let last = graph.tensor(graph.outputs()[0]);
            assert_eq!(last.shape.fixed().unwrap(), dims, "axis {axis}");
        }
    }
    says(stacked(3), &["`Scan 1`", "axis 3: the stacked tensor has rank 3"]);
    says(stacked(-4), &["axis -4"]);
}

/// The dimensions of the output `y` of a model with these constants.
fn result(inputs: Vec<ValueInfo>, constants: Vec<TensorProto>, nodes: Vec<NodeProto>) -> Result<Vec<u64>> {
    let graph = GraphProto {
        input: inputs,
        initializer: constants,
        node: nodes,
        output: vec![ValueInfo {
            kind: None,
            ..value("y", &[])
        }],
        ..GraphProto::default()
    };
    let graph = read(&model_of(graph), &[])?;
    graph.shape_bound(graph.outputs()[0], ShapeBound::Ranges)
}

/// Exporters write the largest number where only the condition ends the loop.
#[test]
fn loops_without_a_count_have_an_open_number_of_rounds() {
    let stacked = |count: i64, ranges: &[(&str, (u64, u64))]| {
        let nodes = [
            node("Relu", &["go"], &["more"], &[]),
            node("Relu", &["s"], &["u"], &[]),
        ];
        let mut body = body(&["n", "go", "s"], &nodes, &["more", "u"]);
        body.output.push(value("u", &[Ok(4)]));
        let again = control("Loop", &["count", "", "x"], &["last", "y"], &[("body", &body)]);
        let mut graph = super::tests::body(&["x"], &[again], &["last"]);
        graph.initializer.push(numbers("count", &[count]));
        graph.output = vec![ValueInfo {
            kind: None,
            ..value("y", &[])
        }];
        let graph = read(&model_of(graph), ranges)?;
        graph.shape_bound(graph.outputs()[0], ShapeBound::Ranges)
    };
    assert_eq!(stacked(3, &[]).unwrap(), [3, 4]);
    assert_eq!(stacked(-1, &[]).unwrap(), [0, 4]);
    for count in [i64::MAX, i64::from(i32::MAX)] {
        assert_eq!(stacked(count, &[("y.0", (0, 7))]).unwrap(), [7, 4]);
        let said = stacked(count, &[]).unwrap_err().to_string();
        assert!(said.contains("`y.0` needs a range"), "{said}");
    }
    // The name that the file gives to the length.
    let nodes = [
        node("Relu", &["go"], &["more"], &[]),
        node("Relu", &["s"], &["u"], &[]),
    ];
    let mut inner = body(&["n", "go", "s"], &nodes, &["more", "u"]);
    inner.output.push(value("u", &[Ok(4)]));
    let again = control("Loop", &["", "", "x"], &["last", "y"], &[("body", &inner)]);
    let mut graph = super::tests::body(&["x"], &[again], &["last"]);
    graph.output = vec![value("y", &[Err("T"), Ok(4)])];
    let model = model_of(graph);
    let said = read(&model, &[]).unwrap_err().to_string();
    assert!(said.contains("`T` needs a range"), "{said}");
    assert!(read(&model, &[("T", (0, 7))]).is_ok());
}

/// The first index is within the dimension; the end may be one before index 0.
#[test]
fn slices_with_negative_steps_begin_within_the_dimension() {
    let sliced = |begin: i64, end: i64, by: i64| {
        let constants =
            [("b", begin), ("e", end), ("axes", 0), ("s", by)].map(|(name, number)| numbers(name, &[number]));
        let slice = |from: &str| node("Slice", &[from, "b", "e", "axes", "s"], &["y"], &[]);
        let of_data = result(vec![value("x", &[Ok(3)])], constants.to_vec(), vec![slice("x")]).unwrap();
        // The same slice of a known value.
        let shape = node("Shape", &["x"], &["of x"], &[]);
        let x = value("x", &[Ok(5), Ok(6), Ok(7)]);
        let of_known = result(vec![x], constants.to_vec(), vec![shape, slice("of x")]).unwrap();
        assert_eq!(of_data, of_known);
        of_data[0]
    };
    assert_eq!(sliced(-100, i64::MIN, -1), 1);
    assert_eq!(sliced(-1, i64::MIN, -1), 3);
    assert_eq!(sliced(100, 0, -1), 2);
    assert_eq!(sliced(100, -100, -2), 2);
    assert_eq!(sliced(0, 3, -1), 0);
}

/// Axes and steps that are given, but not known before execution, are not treated as omitted.
#[test]
fn given_axes_and_steps_are_not_left_out() {
    let x = || value("x", &[Ok(5), Ok(6), Ok(7), Ok(8)]);
    let int64 = |name: &str, dims: &[Result<i64, &str>]| {
        let mut value = value(name, dims);
        if let Some(tensor) = value.kind.as_mut().and_then(|kind| kind.tensor.as_mut()) {
            tensor.elem_type = 7;
        }
        value
    };
    let shape = node("Shape", &["x"], &["s"], &[]);
    let constants = || {
        ["0", "4"]
            .map(|name| numbers(name, &[name.parse().unwrap()]))
            .to_vec()
    };
    // The number of elements depends on a step that is known only at run time.
    let slice = node("Slice", &["s", "0", "4", "0", "by"], &["part"], &[]);
    let fill = node("ConstantOfShape", &["part"], &["y"], &[]);
    let said = result(
        vec![x(), int64("by", &[Ok(1)])],
        constants(),
        vec![shape.clone(), slice, fill.clone()],
    );
    says(said, &["`part`"]);
    // With an empty list of axes and `noop_with_empty_axes`, a reduction is a copy.
    let reduce = node(
        "ReduceSum",
        &["s", "none"],
        &["part"],
        &[("noop_with_empty_axes", &[1])],
    );
    let mut all = constants();
    all.push(numbers("none", &[]));
    let filled = result(vec![x()], all, vec![shape, reduce, fill]).unwrap();
    assert_eq!(filled, [5, 6, 7, 8]);
    let longer = result(
        vec![x()],
        constants(),
        vec![node("Squeeze", &["x", "0"], &["y"], &[])],
    );
    says(longer, &["`Squeeze 1`", "axis 0 has 5 elements"]);
    // Sizes that are known only at run time.
    let resize = node("Resize", &["x", "", "", "to"], &["y"], &[]);
    says(
        result(vec![x(), int64("to", &[Ok(4)])], Vec::new(), vec![resize]),
        &["`y`"],
    );
}

/// Empty lists count as omitted, for any number of axes.
#[test]
fn empty_attributes_are_left_out() {
    let empty = |mut node: NodeProto, names: &[&str]| {
        node.attribute.extend(names.iter().map(|&name| AttributeProto {
            name: name.to_owned(),
            ..AttributeProto::default()
        }));
        node
    };
    for sides in 1..4 {
        let dims = |first: [i64; 2], side: i64| -> Vec<Result<i64, &'static str>> {
            first.into_iter().chain(vec![side; sides]).map(Ok).collect()
        };
        let inputs = || vec![value("x", &dims([1, 3], 8)), value("w", &dims([4, 3], 3))];
        let names = ["pads", "strides", "dilations"];
        let conv = empty(node("Conv", &["x", "w"], &["y"], &[]), &names);
        assert_eq!(
            result(inputs(), Vec::new(), vec![conv]).unwrap()[1..],
            dims([1, 4], 6)[1..]
                .iter()
                .map(|dim| dim.unwrap() as u64)
                .collect::<Vec<_>>()
        );
        let pool = node("MaxPool", &["x"], &["y"], &[("kernel_shape", &vec![3; sides])]);
        let pool = result(inputs(), Vec::new(), vec![empty(pool, &names)]).unwrap();
        assert_eq!(pool[2..], vec![6; sides]);
        let mut transposed = node("ConvTranspose", &["x", "v"], &["y"], &[]);
        transposed = empty(transposed, &[&names[..], &["output_padding"]].concat());
        let inputs = vec![value("x", &dims([1, 3], 8)), value("v", &dims([3, 4], 3))];
        assert_eq!(
            result(inputs, Vec::new(), vec![transposed]).unwrap()[2..],
            vec![10; sides]
        );
    }
    let transpose = empty(node("Transpose", &["x"], &["y"], &[]), &["perm"]);
    assert_eq!(
        result(vec![value("x", &[Ok(2), Ok(3)])], Vec::new(), vec![transpose]).unwrap(),
        [3, 2]
    );
}

/// Every convolution and product refuses weights for another number of channels.
#[test]
fn weights_match_the_channels_of_the_data() {
    let empty = |name: &str| weights(name, &[1]);
    for (operator, inputs, data, other, words) in [
        (
            "Conv",
            &["x", "w"][..],
            &[1, 5, 8][..],
            &[4, 3, 3][..],
            "3 channels x 1 groups",
        ),
        (
            "ConvInteger",
            &["x", "w"],
            &[1, 5, 8, 8],
            &[4, 3, 3, 3],
            "3 channels x 1 groups",
        ),
        (
            "QLinearConv",
            &["x", "s", "z", "w", "s", "z", "s", "z"],
            &[1, 5, 8, 8],
            &[4, 3, 3, 3],
            "3 channels x 1 groups",
        ),
        (
            "ConvTranspose",
            &["x", "w"],
            &[1, 5, 8],
            &[3, 4, 3],
            "the weights need 3 channels",
        ),
        (
            "MatMulInteger",
            &["x", "w"],
            &[2, 5],
            &[3, 4],
            "5 columns, but the second has 3 rows",
        ),
    ] {
        let with = |data: &[i64]| {
            let dims: Vec<_> = data.iter().map(|&dim| Ok(dim)).collect();
            let node = node(operator, inputs, &["y"], &[]);
            result(
                vec![value("x", &dims)],
                vec![weights("w", other), empty("s"), empty("z")],
                vec![node],
            )
        };
        says(with(data), &[operator, "5", words]);
        let mut right = data.to_vec();
        right[1] = 3;
        with(&right).unwrap();
    }
}

/// A cache that a loop carries is updated where it is.
#[test]
fn scattered_elements_are_written_in_place() {
    for operator in ["ScatterND", "ScatterElements", "TensorScatter"] {
        let graph = GraphProto {
            input: vec![
                value("x", &[Ok(4), Ok(8)]),
                value("i", &[Ok(1), Ok(1)]),
                value("u", &[Ok(1), Ok(8)]),
            ],
            node: vec![
                node("Relu", &["x"], &["cache"], &[]),
                node(operator, &["cache", "i", "u"], &["y"], &[]),
            ],
            output: vec![value("y", &[Ok(4), Ok(8)])],
            ..GraphProto::default()
        };
        let graph = read(&model_of(graph), &[]).unwrap();
        let place = |name: &str| {
            let choice = choose(
                &graph,
                &StorageOptions {
                    policy: &RowMajor,
                    ..Default::default()
                },
            )
            .unwrap();
            let pitch = Alignment::new(1).unwrap();
            let needs = choice
                .layouts
                .iter()
                .map(|of| TensorRequirements::of_layout(of, pitch));
            let needs: Vec<_> = needs.collect();
            let options = TensorPlanOptions::default();
            let plan = plan(&choice.graph, &choice.layouts, &needs, &options).unwrap();
            check(&choice.graph, &needs, &plan, 2).unwrap();
            plan.tensor(choice.graph.find(name).unwrap()).placement.clone()
        };
        assert!(place("y").is_some() && place("y") == place("cache"), "{operator}");
    }
}

#[test]
fn unknown_operators_are_noted() {
    let graph = GraphProto {
        input: vec![value("x", &[Ok(4)])],
        node: vec![node("Foo", &["x"], &["y"], &[])],
        output: vec![value("y", &[Ok(4)])],
        ..GraphProto::default()
    };
    let graph = read(&model_of(graph), &[]).unwrap();
    assert_eq!(
        graph.notes(),
        ["operator `Foo` is unknown, so its outputs have the shapes in the file (the first is node `Foo 1`)"]
    );
}

/// The result has the type of the first operand, which a note says.
#[test]
fn operands_of_different_types_are_noted() {
    let mut half = value("h", &[Ok(4)]);
    if let Some(tensor) = half.kind.as_mut().and_then(|kind| kind.tensor.as_mut()) {
        tensor.elem_type = 10;
    }
    let mut graph = super::tests::body(&["x"], &[node("Add", &["x", "h"], &["y"], &[])], &["y"]);
    graph.input.push(half);
    let graph = read(&model_of(graph), &[]).unwrap();
    assert_eq!(
        graph.notes(),
        [
            "node `Add 1` (Add): its operands must have the same type, but have float32 and float16; the plan uses that of the first"
        ]
    );
}
