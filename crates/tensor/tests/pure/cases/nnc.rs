//! NNC.

use std::collections::BTreeMap;

use tileheap_tensor::units::{Alignment, Bytes};
use tileheap_tensor::{ElementType, GraphBuilder, TensorPlanOptions};

use crate::{node, strategy};

use super::{case, list, number, numbers, planned, shape, text};

/// Two products, of whose five tensors the caller binds three.
#[test]
fn tensors_that_the_user_binds_take_no_arena() {
    let of = &case("nnc")["bound_by_the_user"];
    let names = |key: &str| list(&of[key]).iter().map(text).collect::<Vec<_>>();
    let sized = |name: &str| shape(&of["tensors"][name]);
    let mut graph = GraphBuilder::new("nnc");
    let mut ids = BTreeMap::new();
    let mut last = None;
    for operator in list(&of["operators"]) {
        let output = text(&operator[2]);
        let mut inputs = Vec::new();
        for name in list(&operator[1]).iter().map(text) {
            let new = || graph.input(name, ElementType::Float32, sized(name));
            inputs.push(*ids.entry(name).or_insert_with(new));
        }
        let made = node(&mut graph, output, &inputs, sized(output));
        ids.insert(output, made);
        last = Some(made);
    }
    graph.output(last.unwrap());
    let options = TensorPlanOptions {
        strategy: strategy("nnc"),
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
    let input = |name: &&str| graph.input(*name, ElementType::Float32, [1]);
    let inputs: Vec<_> = names.iter().map(input).collect();
    let carried = names.iter().position(|name| *name == into).unwrap();
    let left = graph.repeat("while", &inputs, |body, parameters| {
        body.leave_unless(parameters[carried], &[parameters[carried]]);
        let made = node(body, result, parameters, [1]);
        body.carry(made, parameters[carried]);
        Ok(())
    });
    graph.output(left.unwrap()[0]);
    let options = TensorPlanOptions {
        strategy: strategy("nnc"),
        ..TensorPlanOptions::default()
    };
    let plan = planned(&graph.build().unwrap(), &options, 1);
    let copies = &plan.copies;
    assert_eq!(copies.len() as u64, number(&of["copies"]), "{copies:?}");
}
