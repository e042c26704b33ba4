//! Shapes of results that depend on open dimensions and on values.

use super::tests::{body, model_of, node, planned, read, value};

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
    for (first, second) in [((1, 1), (1, 8)), ((1, 8), (1, 1)), ((1, 8), (1, 8)), ((1, 8), (4, 6))] {
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
