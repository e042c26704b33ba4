//! Loops and shapes: one plan for any number of rounds and any shape of a range.
#![allow(unreachable_pub)] // As in the support modules.

use std::sync::Arc;

use tileheap::runtime::Capabilities;
use tileheap_tensor::graph::NodeId;
use tileheap_tensor::plan::CarryRule;
use tileheap_tensor::vulkan::{ControlFlowDecision, KernelSet, Network};
use tileheap_tensor::{ElementType, Graph, GraphBuilder, TensorPlanOptions, plan};

use crate::gpu::Gpu;
use crate::rig::{self, Stored, Values, assert_close};
use tileheap_testkit::tensor::reference::evaluate;

/// A network planned by the default strategy, with aliasing.
pub fn network(gpu: &Gpu, graph: &Graph, stored: Stored, carry: CarryRule, values: &Values) -> Network {
    let layouts = rig::layouts(graph, |_| stored);
    let needs = tileheap_tensor::vulkan::measure_tensors(gpu.runtime(), graph, &layouts).expect("measured");
    let options = TensorPlanOptions {
        granularity: gpu.runtime().profile().limits.buffer_image_granularity,
        carry,
        external: graph.find("go on").into_iter().collect(),
        ..TensorPlanOptions::default()
    };
    let planned = plan(graph, &layouts, &needs, &options).unwrap_or_else(|error| panic!("{error}"));
    let (graph, planned) = (Arc::new(graph.clone()), Arc::new(planned));
    let made = Network::new(gpu.runtime(), &graph, &planned, values, KernelSet::new());
    made.unwrap_or_else(|error| panic!("{error}"))
}

/// `x[c] = relu(x[c - 1] * w + x[c - 2])`: the convolution reads the value of the round before last, so that no round can
/// overwrite its operands, and two values are carried.
pub fn recurrence() -> Graph {
    let mut graph = GraphBuilder::new("recurrence");
    let shape = [1, 6, 5, 7];
    let older = graph.input("older", ElementType::Float32, shape);
    let newer = graph.input("newer", ElementType::Float32, shape);
    let go_on = graph.input("go on", ElementType::Float32, [1]);
    let w = graph.constant("w", ElementType::Float32, [6, 6, 3, 3]);
    let left = graph.repeat("rounds", &[older, newer, go_on], |graph, parameters| {
        graph.exit_unless(parameters[2], &[parameters[1]]);
        let padding = [("padding", vec![1, 1].into())];
        let product = graph.operator("product", "conv2d", padding, &[parameters[1], w])?[0];
        let sum = graph.operator("sum", "add", [], &[product, parameters[0]])?[0];
        let next = graph.operator("next", "tanh", [], &[sum])?[0];
        graph.carry(parameters[1], parameters[0]);
        graph.carry(next, parameters[1]);
        Ok(())
    });
    let left = left.expect("a loop");
    let out = graph.operator("out", "relu", [], &left).expect("inferred")[0];
    graph.output(out);
    graph.build().unwrap_or_else(|error| panic!("{error}"))
}

/// Values with small weights: with large ones, rounding errors double from round to round.
pub fn small_values(graph: &Graph) -> Values {
    let mut values = rig::values(graph, &[]);
    let w = graph.find("w").expect("a constant");
    values.insert(w, values[&w].iter().map(|weight| weight / 8.0).collect());
    values
}

/// The node with this name.
pub fn named(graph: &Graph, name: &str) -> NodeId {
    let found = graph.nodes().iter().position(|node| node.name == name);
    NodeId(found.expect("a node of the name") as u32)
}

#[test]
fn a_loop_runs_any_number_of_rounds_without_copies_or_with_those_that_are_counted() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let graph = recurrence();
    let values = small_values(&graph);
    let node = named(&graph, "rounds");
    for stored in [Stored::Buffers, rig::ways()[1], rig::ways()[2]] {
        for carry in [CarryRule::Forbid, CarryRule::Copy] {
            let mut network = network(&gpu, &graph, stored, carry, &values);
            for rounds in [0, 1, 2, 3, 5, 8] {
                let expected = evaluate(&graph, &[], &values, &[(node, rounds)]);
                let decisions = [(node, ControlFlowDecision::Rounds { rounds, exit: 0 })];
                let (got, recorded) = rig::run(&mut gpu, &mut network, &values, &[], &decisions);
                let what = format!("{rounds} rounds in {stored:?}, {carry:?}");
                assert_close(&what, &got[0], &expected[&graph.outputs()[0]], 1e-5);
                let copied = carry == CarryRule::Copy && rounds > 0;
                assert_eq!(recorded.copies > 0, copied, "{what}: {recorded:?}");
            }
            // SAFETY: every run was waited for.
            unsafe { network.destroy() };
        }
    }
}

#[test]
fn one_plan_of_a_range_runs_every_shape_in_it() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let mut graph = GraphBuilder::new("any size");
    let (batch, side) = (graph.symbol("batch", 1, 3), graph.symbol("side", 4, 17));
    let shape = tileheap_tensor::Shape(vec![batch.into(), 5.into(), side.into(), side.into()]);
    let x = graph.input("x", ElementType::Float32, shape);
    let w = graph.constant("w", ElementType::Float32, [9, 5, 3, 3]);
    let strides = [("strides", vec![2, 2].into()), ("padding", vec![1, 1].into())];
    let conv = graph
        .operator("conv", "conv2d", strides, &[x, w])
        .expect("inferred");
    let act = graph.operator("act", "hard_swish", [], &conv).expect("inferred");
    let pooled = graph
        .operator("pooled", "global_avg_pool2d", [], &act)
        .expect("inferred");
    let scaled = graph
        .operator("scaled", "mul", [], &[act[0], pooled[0]])
        .expect("inferred")[0];
    graph.output(scaled);
    let graph = graph.build().unwrap_or_else(|error| panic!("{error}"));
    for stored in rig::ways() {
        let largest = rig::values(&graph, &[3, 17]);
        let mut network = network(&gpu, &graph, stored, CarryRule::Avoid, &largest);
        let mut pipelines = 0;
        for symbols in [[3, 17], [1, 4], [2, 9], [3, 17]] {
            let mut values = rig::values(&graph, &symbols);
            values.insert(w, largest[&w].clone());
            let expected = evaluate(&graph, &symbols, &values, &[]);
            let (got, _) = rig::run(&mut gpu, &mut network, &values, &symbols, &[]);
            let what = format!("{symbols:?} in {stored:?}");
            assert_close(&what, &got[0], &expected[&scaled], 1e-5);
            // Pipelines are made for the range, not for a shape.
            assert!(pipelines == 0 || pipelines == network.pipelines());
            pipelines = network.pipelines();
        }
        // SAFETY: every run was waited for.
        unsafe { network.destroy() };
    }
}

/// `while (a) { while (b) { y = conv(x); x = y } }`: after an odd number of the inner loop's rounds, its value is in the other place.
fn turning() -> Graph {
    let mut graph = GraphBuilder::new("turning");
    let x = graph.input("x", ElementType::Float32, [1, 6, 5, 7]);
    let go_on = graph.input("go on", ElementType::Float32, [1]);
    let w = graph.constant("w", ElementType::Float32, [6, 6, 3, 3]);
    let left = graph.repeat("outer", &[x, go_on], |graph, outer| {
        graph.exit_unless(outer[1], &[outer[0]]);
        let inner = graph.repeat("inner", outer, |graph, inner| {
            graph.exit_unless(inner[1], &[inner[0]]);
            let padding = [("padding", vec![1, 1].into())];
            let next = graph.operator("next", "conv2d", padding, &[inner[0], w])?[0];
            graph.carry(next, inner[0]);
            Ok(())
        })?;
        graph.carry(inner[0], outer[0]);
        Ok(())
    });
    let left = left.expect("a loop");
    let out = graph.operator("out", "relu", [], &left).expect("inferred")[0];
    graph.output(out);
    graph.build().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_nested_loop_begins_where_it_was_left() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let graph = turning();
    let values = small_values(&graph);
    let loops = ["outer", "inner"].map(|name| named(&graph, name));
    for stored in [Stored::Buffers, rig::ways()[1]] {
        let mut network = network(&gpu, &graph, stored, CarryRule::Forbid, &values);
        for [outer, inner] in [[0, 3], [1, 1], [3, 1], [2, 3], [3, 2]] {
            let rounds = [(loops[0], outer), (loops[1], inner)];
            let expected = evaluate(&graph, &[], &values, &rounds);
            let decisions =
                rounds.map(|(node, rounds)| (node, ControlFlowDecision::Rounds { rounds, exit: 0 }));
            let (got, recorded) = rig::run(&mut gpu, &mut network, &values, &[], &decisions);
            let what = format!("{outer} times {inner} rounds in {stored:?}");
            assert_close(&what, &got[0], &expected[&graph.outputs()[0]], 1e-5);
            assert_eq!(recorded.copies, 0, "{what}: {recorded:?}");
        }
        // SAFETY: every run was waited for.
        unsafe { network.destroy() };
    }
}
