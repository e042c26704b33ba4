//! NNC.

use std::collections::BTreeMap;

use tileheap_tensor::graph::Operator;
use tileheap_tensor::units::{Alignment, Bytes};
use tileheap_tensor::{ElementType, GraphBuilder, Shape, TensorPlanOptions};

use crate::strategy;

use super::{case, list, number, numbers, planned, text};

/// Two products, of whose five tensors the caller binds three.
#[test]
fn tensors_that_the_user_binds_take_no_arena() {
    let of = &case("nnc")["bound_by_the_user"];
    let names = |key: &str| list(&of[key]).iter().map(text).collect::<Vec<_>>();
    let shape = |name: &str| Shape::new(numbers(&of["tensors"][name]));
    let mut graph = GraphBuilder::new("nnc");
    let mut ids = BTreeMap::new();
    let mut last = None;
    for operator in list(&of["operators"]) {
        let (what, output) = (text(&operator[0]), text(&operator[2]));
        let mut inputs = Vec::new();
        for name in list(&operator[1]).iter().map(text) {
            let new = || graph.input(name, ElementType::Float32, shape(name));
            inputs.push(*ids.entry(name).or_insert_with(new));
        }
        let operator = Operator::named(what);
        let one = vec![(output.to_owned(), ElementType::Float32, shape(output))];
        let made = graph.node(output, operator, &inputs, one, Vec::new())[0];
        ids.insert(output, made);
        last = Some(made);
    }
    graph.output(last.unwrap());
    let options = TensorPlanOptions {
        strategy: &*strategy("nnc"),
        external: names("external").iter().map(|name| ids[name]).collect(),
        ..TensorPlanOptions::default()
    };
    let plan = planned(&graph.build().unwrap(), &options, 64);
    let pitch = Alignment::new(64).unwrap();
    let bytes = |name: &&str| {
        let elements: u64 = numbers(&of["tensors"][*name]).iter().product();
        Bytes(elements * 4).align_up(pitch)
    };
    assert_eq!(plan.size(), names("in_arena").iter().map(bytes).sum());
}

#[test]
fn the_training_graph_of_vgg_d_stays_within_its_arena() {
    let cases = case("nnc");
    super::vgg_d::stays_within(Bytes(number(&cases["vgg_d_training"]["arena_at_most"])));
}

/// A loop whose body makes one value of its parameters, and carries it into one of them.
#[test]
fn a_loop_carries_without_copies() {
    let of = &case("nnc")["loop"];
    let (result, into) = (text(&of["result"]), text(&of["carried_into"]));
    let names: Vec<&str> = list(&of["parameters"]).iter().map(text).collect();
    let mut graph = GraphBuilder::new("while");
    let inputs: Vec<_> = names
        .iter()
        .map(|name| graph.input(*name, ElementType::Float32, Shape::new([1u64])))
        .collect();
    let carried = names.iter().position(|name| *name == into).unwrap();
    let left = graph
        .repeat("while", &inputs, |body, parameters| {
            body.leave_unless(parameters[carried], &[parameters[carried]]);
            let one = vec![(result.to_owned(), ElementType::Float32, Shape::new([1u64]))];
            let made = body.node(result, Operator::default(), parameters, one, Vec::new())[0];
            body.carry(made, parameters[carried]);
            Ok(())
        })
        .unwrap()[0];
    graph.output(left);
    let options = TensorPlanOptions {
        strategy: &*strategy("nnc"),
        ..TensorPlanOptions::default()
    };
    let plan = planned(&graph.build().unwrap(), &options, 1);
    assert_eq!(
        plan.copies.len() as u64,
        number(&of["copies"]),
        "{:?}",
        plan.copies
    );
}
