//! Shapes of results that depend on open dimensions and on values.

use super::proto::{AttributeProto, GraphProto, ValueInfo};
use super::tests::{body, control, model_of, node, planned, read, says, value};

/// Either dimension may be the one that is repeated.
#[test]
fn open_dimensions_are_broadcast() {
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

/// Axes count from the end of the stacked result, which has one dimension more than the body's output.
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
    says(stacked(3), &["`Scan 1`", "axis 3 of rank 3"]);
    says(stacked(-4), &["axis -4"]);
}
