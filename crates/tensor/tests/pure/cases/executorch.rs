//! ExecuTorch: memory planning, and layouts on Vulkan.

use std::collections::BTreeMap;

use serde_json::Value;
use tileheap_tensor::graph::Operator;
use tileheap_tensor::layout::executorch::PackedLayout;
use tileheap_tensor::{ElementType, Graph, GraphBuilder, MemoryDesc, Shape, TensorPlan, TensorPlanOptions};

use crate::strategy;

use super::{case, indices, list, number, numbers, planned, text};

type Operation<'a> = (&'a str, Vec<&'a str>);

/// Operators on vectors, by their outputs and operands: what is read and never made is an input; the last is the output.
fn arithmetic(operations: &[Operation<'_>], elements: u64, memory_of: impl Fn(&str) -> Option<u64>) -> Graph {
    let mut graph = GraphBuilder::new("model");
    let mut ids = BTreeMap::new();
    for (output, operands) in operations {
        let mut inputs = Vec::new();
        for &operand in operands {
            let new = || graph.input(operand, ElementType::Float32, [elements]);
            inputs.push(*ids.entry(operand).or_insert_with(new));
        }
        let one = vec![((*output).to_owned(), ElementType::Float32, Shape::new([elements]))];
        let made = graph.node(*output, Operator::default(), &inputs, one, Vec::new())[0];
        ids.insert(output, made);
    }
    for (name, &id) in &ids {
        if let Some(memory) = memory_of(name) {
            graph.pin(id, memory.to_string());
        }
    }
    graph.output(ids[operations.last().unwrap().0]);
    graph.build().unwrap()
}

/// An accumulator that two values are multiplied with and added to in turn.
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
    let operations: Vec<Operation<'_>> = list(&of["operators"])
        .iter()
        .map(|operator| (text(&operator[0]), list(&operator[1]).iter().map(text).collect()))
        .collect();
    let graph = arithmetic(&operations, number(&of["elements"]), |name| {
        of["memory_of"][name].as_u64()
    });
    for expected in list(&of["expected"]) {
        let sizes = numbers(&expected["sizes"]);
        let options = TensorPlanOptions {
            strategy: &*strategy(text(&expected["strategy"])),
            memories: (0..sizes.len())
                .map(|memory| MemoryDesc::new(memory.to_string()))
                .collect(),
            in_place: false,
            ..TensorPlanOptions::default()
        };
        let plan = planned(&graph, &options, number(&of["alignment"]));
        let found: Vec<u64> = plan.memories.iter().map(|memory| memory.size.0).collect();
        assert_eq!(found, sizes, "{expected}");
        let mut places: Vec<Vec<u64>> = graph
            .tensor_ids()
            .map(|id| {
                let region = plan.tensor(id).placement.as_ref().unwrap().region(&[]).unwrap();
                vec![u64::from(region.memory.0), region.offset.0]
            })
            .collect();
        let mut expected: Vec<Vec<u64>> = list(&expected["places"]).iter().map(numbers).collect();
        // Compared as the published test compares them.
        places.sort_unstable();
        expected.sort_unstable();
        assert_eq!(places, expected);
    }
}

/// A chain of dense layers.
fn layers(widths: &[u64]) -> Graph {
    let mut graph = GraphBuilder::new("layers");
    let mut last = graph.input("x", ElementType::Float32, [1, widths[0]]);
    for (index, pair) in widths.windows(2).enumerate() {
        let weight = graph.constant(format!("w{index}"), ElementType::Float32, [pair[1], pair[0]]);
        last = graph
            .operator(&format!("linear{index}"), "dense", [], &[last, weight])
            .unwrap()[0];
    }
    graph.output(last);
    graph.build().unwrap()
}

/// Naive shares nothing, greedy does, in all of its forms.
#[test]
fn greedy_reuses_and_naive_does_not() {
    let of = &planning()["reuse"];
    for graph in [layers(&numbers(&of["layers"])), accumulation(&of["accumulate"])] {
        for (algorithm, reuses) in of["reuses"].as_object().unwrap() {
            let options = TensorPlanOptions {
                strategy: &*strategy(algorithm),
                in_place: false,
                ..TensorPlanOptions::default()
            };
            let plan = planned(&graph, &options, 16);
            let regions: Vec<_> = graph
                .tensor_ids()
                .filter_map(|id| plan.tensor(id).placement.as_ref()?.region(&[]))
                .collect();
            let shared = (0..regions.len()).any(|a| (0..a).any(|b| regions[a].overlaps(&regions[b])));
            assert_eq!(Some(shared), reuses.as_bool(), "{} {algorithm}", graph.name());
        }
    }
}

/// A tensor mapped row by row a few times; a body's buffer is one more tensor of the parent.
#[test]
fn bodies_of_maps_are_tensors_of_their_parents() {
    let of = &planning()["map"];
    let (x, y) = (numbers(&of["x"]), numbers(&of["y"]));
    let algorithm = strategy(text(&of["strategy"]));
    let options = |memory: &str| TensorPlanOptions {
        strategy: &*algorithm,
        memories: vec![MemoryDesc::new(memory)],
        in_place: false,
        ..TensorPlanOptions::default()
    };
    let alignment = number(&of["alignment"]);
    let mut body = GraphBuilder::new("body");
    let (row, other) = (
        body.input("row", ElementType::Float32, Shape::new(x[1..].to_vec())),
        body.input("other", ElementType::Float32, Shape::new(y.clone())),
    );
    let sum = body.operator("sum", "add", [], &[row, other]).unwrap()[0];
    body.output(sum);
    let inner = planned(&body.build().unwrap(), &options("body"), alignment).size();
    assert_eq!(inner.0, number(&of["body_bytes"]));
    let mut parent = GraphBuilder::new("parent");
    let mut last = parent.input("x", ElementType::Float32, Shape::new(x.clone()));
    let other = parent.input("y", ElementType::Float32, Shape::new(y));
    // All bodies are views of one buffer, which is free again after each.
    let whole = parent.constant("none", ElementType::UInt8, [1]);
    let buffer = parent.node(
        "bodies",
        Operator::default(),
        &[whole],
        vec![("bodies".into(), ElementType::UInt8, [inner.0].into())],
        Vec::new(),
    )[0];
    for round in 0..number(&of["maps"]) {
        let made = vec![(format!("x{round}"), ElementType::Float32, Shape::new(x.clone()))];
        last = parent.node(
            format!("map{round}"),
            Operator::default(),
            &[last, other, buffer],
            made,
            Vec::new(),
        )[0];
    }
    parent.output(last);
    let outer = planned(&parent.build().unwrap(), &options("parent"), alignment);
    assert_eq!(outer.size().0, number(&of["bytes"]));
}

/// The caches of keys and values in one memory of their own.
#[test]
fn memories_of_their_own_are_numbered_after_the_constants() {
    let of = &planning()["caches"];
    let (k, v) = (number(&of["k_offset"]), number(&of["v_offset"]));
    let mut graph = GraphBuilder::new("caches");
    let x = graph.input("x", ElementType::Float32, [4]);
    let size = (v - k) / 4;
    // Of equal sizes the later is placed first.
    let caches = ["v_cache", "k_cache"].map(|name| graph.input(name, ElementType::Float32, [size]));
    caches.iter().for_each(|&cache| graph.pin(cache, "cache"));
    let y = graph.node(
        "attend",
        Operator::default(),
        &[x, caches[0], caches[1]],
        vec![("y".into(), ElementType::Float32, [4].into())],
        Vec::new(),
    )[0];
    graph.output(y);
    let graph = graph.build().unwrap();
    let options = TensorPlanOptions {
        strategy: &*strategy("executorch"),
        memories: ["constants", "default", "cache"].map(MemoryDesc::new).to_vec(),
        memory_of: Some(&|graph, id| match graph.tensor(id).memory {
            None => Some("default".to_owned()),
            Some(_) => None,
        }),
        ..TensorPlanOptions::default()
    };
    let plan = planned(&graph, &options, 16);
    assert_eq!(plan.memories.len() as u64, number(&of["memories"]));
    let offset = |id| {
        plan.tensor(id)
            .placement
            .as_ref()
            .unwrap()
            .region(&[])
            .unwrap()
            .offset
            .0
    };
    assert_eq!(caches.map(offset), [v, k]);
}

#[test]
fn layouts_on_vulkan() {
    let cases = case("executorch_layouts");
    for of in list(&cases["images"]) {
        let (sizes, name) = (numbers(&of["sizes"]), text(&of["layout"]));
        let layout = PackedLayout::named(name).unwrap_or_else(|| panic!("{name} is a layout"));
        let at = format!("{name} {sizes:?}");
        for (expected, texture) in [(&of["buffer"], false), (&of["texture"], true)] {
            let padded = layout.padded(&sizes, texture).to_vec();
            assert_eq!(padded, numbers(&expected["padded"]), "{at}");
            let elements = layout.physical_elements(&sizes, texture);
            assert_eq!(elements, number(&expected["elements"]), "{at}");
        }
        assert_eq!(layout.dim_order(sizes.len()), indices(&of["order"]), "{at}");
        if let Some(strides) = of["buffer"].get("strides") {
            assert_eq!(layout.strides(&sizes), numbers(strides), "{at}");
        }
        let element = if layout.int8 {
            ElementType::Int8
        } else {
            ElementType::Float32
        };
        let image = layout.rule(&sizes).apply("t", &sizes, element).unwrap();
        let extent = vec![image.extent.width, image.extent.height, image.extent.layers];
        assert_eq!(extent, numbers(&of["texture"]["extent"]), "{at}");
    }
    for of in list(&cases["layouts"]) {
        let layout = PackedLayout::named(text(&of["layout"])).unwrap();
        let axis = |name: &Value| ["W", "H", "C"].iter().position(|known| known == name).unwrap();
        assert_eq!(layout.packed, axis(&of["packed"]));
        assert_eq!(layout.outer, axis(&of["outer"]));
        assert_eq!(layout.block, of["block"]);
        assert_eq!(layout.transposed, of["transposed"]);
        assert_eq!(layout.int8, of["int8"]);
    }
    // Every size of the published sweep, in every layout, there and back.
    for sizes in list(&cases["sizes"]).iter().map(numbers) {
        for name in ["kWidthPacked", "kHeightPacked", "kChannelsPacked"] {
            let layout = PackedLayout::named(name)
                .unwrap()
                .rule(&sizes)
                .apply("t", &sizes, ElementType::Float32)
                .unwrap();
            let values: Vec<u32> = (0..layout.elements() as u32).collect();
            assert_eq!(layout.unpack(&layout.pack(&values)), values, "{name} {sizes:?}");
        }
    }
}

/// A memory for each device that has a tensor, after that of the constants: the CPU first, then in the order of their first tensors.
#[test]
fn devices_have_memories_of_their_own() {
    let cases = planning();
    let graph = accumulation(&cases["reuse"]["accumulate"]);
    let count = graph.tensors().len();
    for of in list(&cases["devices"]) {
        let name = text(&of["name"]);
        let known: Vec<&str> = list(&of["devices"]).iter().map(text).collect();
        let devices: Vec<&str> = (0..count)
            .map(|index| match text(&of["split"]) {
                "half" => known[index * 2 / count],
                _ => known[index.min(known.len() - 1)],
            })
            .collect();
        let mut memories = vec!["constants", "cpu"];
        memories.retain(|&memory| memory == "constants" || devices.contains(&memory));
        for device in &devices {
            if !memories.contains(device) {
                memories.push(device);
            }
        }
        let of_device = |_: &Graph, id: tileheap_tensor::TensorId| Some(devices[id.index()].to_owned());
        let options = TensorPlanOptions {
            strategy: &*strategy("executorch"),
            memories: memories.iter().map(|&memory| MemoryDesc::new(memory)).collect(),
            memory_of: Some(&of_device),
            in_place: false,
            ..TensorPlanOptions::default()
        };
        let plan = planned(&graph, &options, 16);
        assert_eq!(plan.memories.len() as u64, number(&of["memories"]), "{name}");
        assert_eq!(plan.memories[0].size.0, 0, "constants are outside");
        assert!(
            plan.memories[1..].iter().all(|memory| memory.size.0 > 0),
            "{name}"
        );
        let memory_of = |device: &str| memories.iter().position(|memory| *memory == device).unwrap() as u64;
        for (device, expected) in of["memory_of"].as_object().unwrap() {
            assert_eq!(memory_of(device), number(expected), "{name} {device}");
        }
        for id in graph.tensor_ids() {
            let region = plan.tensor(id).placement.as_ref().unwrap().region(&[]).unwrap();
            let device = devices[id.index()];
            assert_eq!(u64::from(region.memory.0), memory_of(device), "{name}");
        }
    }
}

/// Inputs that are filled when they are needed, and operators on them, in order; `share` says which tensors have one allocation.
fn shared(of: &Value, share: &dyn Fn(&str) -> u32) -> Graph {
    let sizes = numbers(&of["sizes"]);
    let mut graph = GraphBuilder::new(text(&of["name"]));
    let source = graph.constant("host", ElementType::UInt8, [1]);
    let mut ids: BTreeMap<&str, tileheap_tensor::TensorId> = BTreeMap::new();
    let mut last = None;
    for op in list(&of["operators"]) {
        let (operator, operands, output) = (text(&op[0]), list(&op[1]), text(&op[2]));
        let make =
            |graph: &mut GraphBuilder, name: &str, what: &str, inputs: &[tileheap_tensor::TensorId]| {
                let made = vec![(name.to_owned(), ElementType::Float32, Shape::new(sizes.clone()))];
                let operator = Operator::named(what);
                let id = graph.node(name, operator, inputs, made, Vec::new())[0];
                graph.storage(id, Some(share(name)), None);
                id
            };
        let mut inputs = Vec::new();
        for operand in operands.iter().map(text) {
            if !ids.contains_key(operand) {
                let id = make(&mut graph, operand, "fill", &[source]);
                ids.insert(operand, id);
            }
            inputs.push(ids[operand]);
        }
        let id = make(&mut graph, output, operator, &inputs);
        ids.insert(output, id);
        last = Some(id);
    }
    graph.output(last.unwrap());
    graph.build().unwrap()
}

/// How many allocations a plan's tensors are in.
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
        if of["operators"].is_array() {
            let share = |tensor: &str| number(&of["object_of"][tensor]) as u32;
            let graph = shared(of, &share);
            // As it was given, and as the rule finds it by itself.
            for strategy in ["storage-ids", "executorch-objects"] {
                let options = TensorPlanOptions {
                    strategy: &*crate::strategy(strategy),
                    in_place: false,
                    ..TensorPlanOptions::default()
                };
                let plan = planned(&graph, &options, 16);
                assert_eq!(
                    allocations(&plan),
                    number(&of["allocations"]),
                    "{name} {strategy}"
                );
            }
            // What is resized stays within what was planned.
            let most = numbers(&of["sizes"]);
            for sizes in of.get("resized_to").into_iter().flat_map(list).map(numbers) {
                assert!(
                    sizes.iter().zip(&most).all(|(size, most)| size <= most),
                    "{name} {sizes:?}"
                );
            }
        } else if let Some(views) = of["views"].as_u64() {
            // Views of one tensor.
            let sizes = numbers(&of["sizes"]);
            let mut graph = GraphBuilder::new(name);
            let first = graph.input("first", ElementType::Float32, Shape::new(sizes.clone()));
            for view in 0..views {
                let made = vec![(
                    format!("copy {view}"),
                    ElementType::Float32,
                    Shape::new(sizes.clone()),
                )];
                let view = graph.node(
                    format!("view {view}"),
                    Operator::default(),
                    &[first],
                    made,
                    Vec::new(),
                )[0];
                graph.view(view, first, tileheap_tensor::units::Bytes(0));
                graph.output(view);
            }
            let plan = planned(&graph.build().unwrap(), &TensorPlanOptions::default(), 16);
            assert_eq!(allocations(&plan), number(&of["allocations"]), "{name}");
        } else {
            // A plan allocates nothing; what binds it does, all at once.
            let mut graph = GraphBuilder::new(name);
            for tensor in 0..number(&of["tensors"]) {
                let id = graph.input(
                    format!("t{tensor}"),
                    ElementType::Float32,
                    Shape::new(numbers(&of["sizes"])),
                );
                graph.output(id);
            }
            let options = TensorPlanOptions {
                strategy: &*strategy("naive"),
                ..TensorPlanOptions::default()
            };
            let plan = planned(&graph.build().unwrap(), &options, 16);
            assert_eq!(allocations(&plan), number(&of["allocations"]), "{name}");
        }
    }
}
