//! NNC.

use tileheap_tensor::graph::Operator;
use tileheap_tensor::units::{Alignment, Bytes};
use tileheap_tensor::{
    ElementType, GraphBuilder, LayoutRule, Shape, TensorPlanOptions, TensorRequirements, plan,
};

use crate::strategy;

use super::{case, list, planned, text};

/// `c=gemm(a[1,2],b[2,1]); e=gemm(c[1],d[1]); a,d,e bound by the user`: names, operands, and who is bound.
#[test]
fn tensors_that_the_user_binds_take_no_arena() {
    let Some(cases) = case("nnc.json") else { return };
    let mut found = 0;
    for of in list(&cases["cases"]) {
        let Some(form) = of["graph"].as_str() else {
            let name = text(&of["name"]);
            if let Some(form) = name.strip_prefix("while ") {
                carries_without_copies(form);
            } else if name.starts_with("VGG-D full training graph") {
                super::vgg_d::stays_within(text(&of["expect"]));
            } else {
                tileheap_testkit::skip(&format!("nnc.json: {name} gives no graph"));
            }
            continue;
        };
        let expected = text(&of["expect"]);
        let alignment = Alignment::new(64).unwrap();
        let mut graph = GraphBuilder::new("nnc");
        let mut ids = std::collections::BTreeMap::new();
        let mut given = Vec::new();
        let (mut last, mut read) = (None, Vec::new());
        for part in form
            .split([';', '('])
            .collect::<Vec<_>>()
            .join(";")
            .split("; ")
            .map(str::trim)
        {
            if let Some((names, _)) = part.split_once(" bound") {
                given = names.split(',').map(|name| name.trim().to_owned()).collect();
            }
        }
        for statement in form.split("; ").filter(|statement| statement.contains('=')) {
            let (output, call) = statement.split_once('=').unwrap();
            let (operator, operands) = call.trim_end_matches([')', ' ']).split_once('(').unwrap();
            let mut inputs = Vec::new();
            for operand in operands.split("],") {
                let (name, shape) = operand.trim().split_once('[').unwrap();
                let dims: Vec<u64> = shape
                    .trim_end_matches(']')
                    .split(',')
                    .map(|dim| dim.trim().parse().unwrap())
                    .collect();
                let input = *ids
                    .entry(name.to_owned())
                    .or_insert_with(|| graph.input(name, ElementType::Float32, Shape::new(dims)));
                read.push(input);
                inputs.push(input);
            }
            let operator = Operator {
                name: operator.to_owned(),
                ..Operator::default()
            };
            let one = vec![(output.trim().to_owned(), ElementType::Float32, Shape::new([1u64]))];
            let made = graph.node(output.trim(), operator, &inputs, one, Vec::new())[0];
            ids.insert(output.trim().to_owned(), made);
            last = Some(made);
        }
        graph.output(last.unwrap());
        let graph = graph.build().unwrap();
        let options = TensorPlanOptions {
            strategy: &*strategy("nnc"),
            external: given.iter().map(|name| ids[name]).collect(),
            ..TensorPlanOptions::default()
        };
        let plan = planned(&graph, &options, 64);
        // One term per tensor that is not bound: `ccv_nnc_tensor_data_size(f32[1,2])`, each rounded up.
        let terms = expected.split("data_size(f32[").skip(1).map(|term| {
            let dims = term.split(']').next().unwrap();
            let elements: u64 = dims
                .split(',')
                .map(|dim| dim.trim().parse::<u64>().unwrap())
                .product();
            Bytes(elements * 4).align_up(alignment)
        });
        assert_eq!(plan.size(), terms.sum(), "{}", of["name"]);
        found += 1;
    }
    assert!(found > 0);
}

/// `z = a*x+b (x<-z)`: a loop whose body makes `z` of the others, and carries it.
fn carries_without_copies(form: &str) {
    let (assignment, carried) = form.split_once('(').unwrap();
    let (output, expression) = assignment.split_once('=').unwrap();
    let (into, value) = carried.trim_end_matches([')', ' ']).split_once("<-").unwrap();
    assert_eq!(output.trim(), value.trim());
    let mut operands: Vec<&str> = expression
        .split(|c: char| !c.is_alphanumeric())
        .filter(|name| !name.is_empty())
        .collect();
    operands.dedup();
    let mut graph = GraphBuilder::new("while");
    let inputs: Vec<_> = operands
        .iter()
        .map(|name| graph.input(*name, ElementType::Float32, Shape::new([1u64])))
        .collect();
    let carried = operands.iter().position(|name| *name == into.trim()).unwrap();
    let left = graph
        .repeat("while", &inputs, |body, parameters| {
            body.leave_unless(parameters[carried], &[parameters[carried]]);
            let one = vec![(output.trim().to_owned(), ElementType::Float32, Shape::new([1u64]))];
            let made = body.node(output.trim(), Operator::default(), parameters, one, Vec::new())[0];
            body.carry(made, parameters[carried]);
            Ok(())
        })
        .unwrap()[0];
    graph.output(left);
    let graph = graph.build().unwrap();
    let layout = |tensor: &tileheap_tensor::graph::Tensor| {
        LayoutRule::buffer()
            .apply(&tensor.name, &tensor.shape.fixed().unwrap(), tensor.element)
            .unwrap()
    };
    let layouts: Vec<_> = graph.tensors().iter().map(layout).collect();
    let needs: Vec<_> = layouts
        .iter()
        .map(|layout| TensorRequirements::of_layout(layout, Alignment::ONE))
        .collect();
    let options = TensorPlanOptions {
        strategy: &*strategy("nnc"),
        ..TensorPlanOptions::default()
    };
    let plan = plan(&graph, &layouts, &needs, &options).unwrap();
    assert!(plan.copies.is_empty(), "{form}: {:?}", plan.copies);
    tileheap_tensor::check(&graph, &needs, &plan, 20).unwrap();
}
