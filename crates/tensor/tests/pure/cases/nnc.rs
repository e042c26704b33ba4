//! NNC's published cases.

use std::collections::BTreeMap;

use tileheap_tensor::import::read_graph;
use tileheap_tensor::units::{Alignment, Bytes};
use tileheap_tensor::{ElementType, GraphBuilder, TensorPlanOptions};

use crate::{node, strategy};

use super::{case, list, number, numbers, planned, shape, text};

/// Two products of five tensors, three of which the caller binds.
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

/// One picture of VGG-D forwards and backwards, by NNC's own rule. The case gives a bound on its arena but no graph: the layers are
/// public, and so are the operands of each one's gradient.
#[test]
fn the_training_graph_of_vgg_d_stays_within_its_arena() {
    let most = Bytes(number(&case("nnc")["vgg_d_training"]["arena_at_most"]));
    let graph = read_graph(&case("nnc_vgg_d").to_string()).unwrap();
    let options = TensorPlanOptions {
        strategy: strategy("nnc"),
        external: graph.inputs().to_vec(),
        ..TensorPlanOptions::default()
    };
    let plan = planned(&graph, &options, 64);
    let (size, bound) = (plan.size(), plan.lower_bound());
    // The bound is that of this graph, and of none much smaller: all activations plus the largest gradient.
    let is_tight = bound.0 * 1000 > most.0 * 999;
    assert!(
        size <= most && is_tight,
        "{size} of {most} at most, bound {bound}"
    );
}
