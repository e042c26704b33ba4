//! ExecuTorch: memory planning, and aliasing on Vulkan.

use std::collections::BTreeMap;

use serde_json::Value;
use tileheap_tensor::units::Bytes;
use tileheap_tensor::{
    ElementType, Graph, GraphBuilder, MemoryDesc, Shape, TensorId, TensorPlan, TensorPlanOptions,
};

use crate::{apart_by, node, strategy};

use super::{case, list, number, numbers, planned, region, shape, text};

const F32: ElementType = ElementType::Float32;

type Operation<'a> = (&'a str, Vec<&'a str>);

/// Operators on vectors, by their outputs and operands: tensors that are read but never produced are inputs; the last
/// one is the output.
fn arithmetic(operations: &[Operation<'_>], elements: u64, memory_of: impl Fn(&str) -> Option<u64>) -> Graph {
    let mut graph = GraphBuilder::new("model");
    let mut ids = BTreeMap::new();
    for (output, operands) in operations {
        let mut inputs = Vec::new();
        for &operand in operands {
            let new = || graph.input(operand, F32, [elements]);
            inputs.push(*ids.entry(operand).or_insert_with(new));
        }
        ids.insert(output, node(&mut graph, output, &inputs, [elements]));
    }
    for (name, &id) in &ids {
        if let Some(memory) = memory_of(name) {
            graph.pin(id, memory.to_string());
        }
    }
    graph.output(ids[operations.last().unwrap().0]);
    graph.build().unwrap()
}

/// An accumulator that is combined with each of two values alternately.
fn accumulation(of: &Value) -> Graph {
    let rounds = number(&of["rounds"]);
    let names: Vec<String> = (1..=2 * rounds).map(|step| format!("o{step}")).collect();
    let mut before = "a";
    let mut operations = Vec::new();
    for (index, name) in names.iter().enumerate() {
        operations.push((name.as_str(), vec![before, ["a", "b"][index % 2]]));
        before = name;
    }
    arithmetic(&operations, number(&of["elements"]), |_| None)
}

fn planning() -> Value {
    case("executorch_planning")
}

#[test]
fn memories_are_planned_one_by_one() {
    let of = &planning()["memories"];
    let mut operations: Vec<Operation<'_>> = Vec::new();
    for operator in list(&of["operators"]) {
        let operands = list(&operator[1]).iter().map(text);
        operations.push((text(&operator[0]), operands.collect()));
    }
    let memory_of = |name: &str| of["memory_of"][name].as_u64();
    let graph = arithmetic(&operations, number(&of["elements"]), memory_of);
    for expected in list(&of["expected"]) {
        let sizes = numbers(&expected["sizes"]);
        let memories = (0..sizes.len()).map(|memory| MemoryDesc::new(memory.to_string()));
        let options = TensorPlanOptions {
            memories: memories.collect(),
            ..apart_by(strategy(text(&expected["strategy"])))
        };
        let plan = planned(&graph, &options, number(&of["alignment"]));
        let found: Vec<u64> = plan.memories.iter().map(|memory| memory.size.0).collect();
        assert_eq!(found, sizes, "{expected}");
        let regions = graph.tensor_ids().map(|id| region(&plan, id));
        let places = regions.map(|region| vec![u64::from(region.memory.0), region.offset.0]);
        let mut places: Vec<Vec<u64>> = places.collect();
        let mut expected: Vec<Vec<u64>> = list(&expected["places"]).iter().map(numbers).collect();
        // Compared in the same way as in the published test.
        places.sort_unstable();
        expected.sort_unstable();
        assert_eq!(places, expected);
    }
}

/// A chain of dense layers.
fn layers(widths: &[u64]) -> Graph {
    let mut graph = GraphBuilder::new("layers");
    let mut last = graph.input("x", F32, [1, widths[0]]);
    for (index, pair) in widths.windows(2).enumerate() {
        let weight = graph.constant(format!("w{index}"), F32, [pair[1], pair[0]]);
        let made = graph.operator(&format!("linear{index}"), "dense", [], &[last, weight]);
        last = made.unwrap()[0];
    }
    graph.output(last);
    graph.build().unwrap()
}

/// Naive shares nothing, greedy does, in all its variants.
#[test]
fn greedy_reuses_and_naive_does_not() {
    let of = &planning()["reuse"];
    for graph in [layers(&numbers(&of["layers"])), accumulation(&of["accumulate"])] {
        for (algorithm, reuses) in of["reuses"].as_object().unwrap() {
            let plan = planned(&graph, &apart_by(strategy(algorithm)), 16);
            let places = graph
                .tensor_ids()
                .filter_map(|id| plan.tensor(id).placement.as_ref());
            let regions: Vec<_> = places.filter_map(|place| place.region(&[])).collect();
            let shared = (0..regions.len()).any(|a| (0..a).any(|b| regions[a].overlaps(&regions[b])));
            assert_eq!(Some(shared), reuses.as_bool(), "{} {algorithm}", graph.name());
        }
    }
}

/// A tensor mapped row by row several times; a body's buffer is another tensor of the parent.
#[test]
fn bodies_of_maps_are_tensors_of_their_parents() {
    let of = &planning()["map"];
    let (x, y) = (numbers(&of["x"]), numbers(&of["y"]));
    let algorithm = strategy(text(&of["strategy"]));
    let options = |memory: &str| TensorPlanOptions {
        memories: vec![MemoryDesc::new(memory)],
        ..apart_by(algorithm)
    };
    let alignment = number(&of["alignment"]);
    let mut body = GraphBuilder::new("body");
    let row = body.input("row", F32, Shape::new(x[1..].to_vec()));
    let other = body.input("other", F32, Shape::new(y.clone()));
    let sum = body.operator("sum", "add", [], &[row, other]).unwrap()[0];
    body.output(sum);
    let inner = planned(&body.build().unwrap(), &options("body"), alignment).size();
    assert_eq!(inner.0, number(&of["body_bytes"]));
    let mut parent = GraphBuilder::new("parent");
    let mut last = parent.input("x", F32, Shape::new(x.clone()));
    let other = parent.input("y", F32, Shape::new(y));
    // All bodies are views of one buffer, which is free after each.
    let whole = parent.constant("none", ElementType::UInt8, [1]);
    let buffer = node(&mut parent, "bodies", &[whole], [inner.0 / 4]);
    for round in 0..number(&of["maps"]) {
        let inputs = [last, other, buffer];
        last = node(
            &mut parent,
            &format!("map{round}"),
            &inputs,
            Shape::new(x.clone()),
        );
    }
    parent.output(last);
    let outer = planned(&parent.build().unwrap(), &options("parent"), alignment);
    assert_eq!(outer.size().0, number(&of["bytes"]));
}

/// Inputs that are filled when they are needed, with operators on them, in order; `share` returns the allocation of each tensor.
fn shared(of: &Value, share: &dyn Fn(&str) -> u32) -> Graph {
    let mut graph = GraphBuilder::new(text(&of["name"]));
    let source = graph.constant("host", ElementType::UInt8, [1]);
    let mut ids: BTreeMap<&str, TensorId> = BTreeMap::new();
    let mut last = source;
    for op in list(&of["operators"]) {
        let mut make = |name: &str, inputs: &[TensorId]| {
            let id = node(&mut graph, name, inputs, shape(&of["sizes"]));
            graph.storage(id, Some(share(name)), None);
            id
        };
        let mut inputs = Vec::new();
        for operand in list(&op[1]).iter().map(text) {
            inputs.push(*ids.entry(operand).or_insert_with(|| make(operand, &[source])));
        }
        last = make(text(&op[2]), &inputs);
        ids.insert(text(&op[2]), last);
    }
    graph.output(last);
    graph.build().unwrap()
}

/// The number of allocations of a plan.
fn allocations(plan: &TensorPlan) -> u64 {
    let mut offsets: Vec<_> = plan.allocations.iter().map(|slot| slot.region.offset).collect();
    offsets.sort_unstable();
    offsets.dedup();
    offsets.len() as u64
}

#[test]
fn tensors_alias_as_they_do_on_vulkan() {
    let cases = case("executorch_layouts");
    for of in list(&cases["aliasing"]) {
        let name = text(&of["name"]);
        let check = |graph: &Graph, options: &TensorPlanOptions<'_>| {
            let found = allocations(&planned(graph, options, 16));
            assert_eq!(found, number(&of["allocations"]), "{name} {options:?}");
        };
        let mut graph = GraphBuilder::new(name);
        if of["operators"].is_array() {
            let graph = shared(of, &|tensor| number(&of["object_of"][tensor]) as u32);
            // As given, and as the rule finds it on its own.
            for strategy in ["storage-ids", "executorch-objects"] {
                check(&graph, &apart_by(crate::strategy(strategy)));
            }
            // Resized tensors stay within their planned size.
            let most = numbers(&of["sizes"]);
            for sizes in of.get("resized_to").into_iter().flat_map(list).map(numbers) {
                let within = sizes.iter().zip(&most).all(|(size, most)| size <= most);
                assert!(within, "{name} {sizes:?}");
            }
        } else if let Some(views) = of["views"].as_u64() {
            // Views of one tensor.
            let first = graph.input("first", F32, shape(&of["sizes"]));
            for view in 0..views {
                let view = node(&mut graph, &format!("view {view}"), &[first], shape(&of["sizes"]));
                graph.view(view, first, Bytes(0));
                graph.output(view);
            }
            check(&graph.build().unwrap(), &TensorPlanOptions::default());
        } else {
            // A plan does not allocate; binding does, all at once.
            for tensor in 0..number(&of["tensors"]) {
                let id = graph.input(format!("t{tensor}"), F32, shape(&of["sizes"]));
                graph.output(id);
            }
            let options = TensorPlanOptions {
                strategy: strategy("naive"),
                ..TensorPlanOptions::default()
            };
            check(&graph.build().unwrap(), &options);
        }
    }
}
