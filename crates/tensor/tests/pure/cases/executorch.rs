//! ExecuTorch: memory planning, and layouts on Vulkan.

use std::collections::BTreeMap;

use serde_json::Value;
use tileheap_tensor::graph::Operator;
use tileheap_tensor::layout::executorch::PackedLayout;
use tileheap_tensor::{
    ElementType, Graph, GraphBuilder, MemoryDesc, PlacementStrategy, Shape, TensorPlan, TensorPlanOptions,
};

use crate::strategy;

use super::{case, list, number, numbers, planned, text};

/// `b=a+a; c=a*b`: what is read and never made is an input; the last is the output.
fn arithmetic(statements: &str, elements: u64, memory: &Value) -> Graph {
    let mut graph = GraphBuilder::new("model");
    let mut ids = BTreeMap::new();
    let mut last = None;
    for statement in statements.split(';') {
        let (output, operands) = statement.split_once('=').unwrap();
        let operands = operands.split('(').next().unwrap();
        let mut inputs = Vec::new();
        for operand in operands.split(['+', '*']).map(str::trim) {
            let new = || graph.input(operand, ElementType::Float32, [elements]);
            inputs.push(*ids.entry(operand.to_owned()).or_insert_with(new));
        }
        let output = output.trim();
        let one = vec![(output.to_owned(), ElementType::Float32, Shape::new([elements]))];
        let made = graph.node(output, Operator::default(), &inputs, one, Vec::new())[0];
        ids.insert(output.to_owned(), made);
        last = Some(made);
    }
    for (name, &id) in &ids {
        if let Some(memory) = memory[name].as_u64() {
            graph.pin(id, memory.to_string());
        }
    }
    graph.output(last.unwrap());
    graph.build().unwrap()
}

fn named(name: &str) -> Box<dyn PlacementStrategy> {
    strategy(if name == "greedy" { "executorch" } else { name })
}

#[test]
fn memories_are_planned_one_by_one() {
    let Some(cases) = case("executorch_memory_planning.json") else {
        return;
    };
    for of in list(&cases["cases"])
        .iter()
        .filter(|of| of.get("mem_id").is_some())
    {
        let model = text(&of["model"]);
        let graph = arithmetic(model, 1, &of["mem_id"]);
        for (algorithm, expect) in of["expect"].as_object().unwrap() {
            let sizes = numbers(&expect["non_const_buffer_sizes"]);
            let options = TensorPlanOptions {
                strategy: &*named(algorithm),
                memories: (0..sizes.len())
                    .map(|memory| MemoryDesc::new(memory.to_string()))
                    .collect(),
                in_place: false,
                ..TensorPlanOptions::default()
            };
            let plan = planned(&graph, &options, number(&of["alignment"]));
            let found: Vec<u64> = plan.memories.iter().map(|memory| memory.size.0).collect();
            assert_eq!(found, sizes, "{} {algorithm}", of["name"]);
            let mut places: Vec<(u64, u64)> = graph
                .tensor_ids()
                .map(|id| {
                    let region = plan.tensor(id).placement.as_ref().unwrap().region(&[]).unwrap();
                    (u64::from(region.memory.0), region.offset.0)
                })
                .collect();
            let mut expected: Vec<(u64, u64)> = expect["alloc"]
                .as_object()
                .unwrap()
                .values()
                .map(|place| (number(&place[0]), number(&place[1])))
                .collect();
            // Compared as the published test compares them.
            places.sort_unstable();
            expected.sort_unstable();
            assert_eq!(places, expected, "{} {algorithm}", of["name"]);
        }
    }
}

/// Sizes of a chain of linear layers, or an accumulator that two values are added to: naive shares nothing, greedy does, in both of its forms.
#[test]
fn greedy_reuses_and_naive_does_not() {
    let Some(cases) = case("executorch_memory_planning.json") else {
        return;
    };
    for (name, of) in cases["reuse_expectation"].as_object().unwrap() {
        let mut graph = GraphBuilder::new(name.clone());
        let mut last;
        if let Some(linears) = of["linears"].as_array() {
            last = graph.input("x", ElementType::Float32, [1, number(&linears[0])]);
            for (index, pair) in linears.windows(2).enumerate() {
                let weight = graph.constant(
                    format!("w{index}"),
                    ElementType::Float32,
                    [number(&pair[1]), number(&pair[0])],
                );
                last = graph
                    .operator(&format!("linear{index}"), "dense", [], &[last, weight])
                    .unwrap()[0];
            }
        } else {
            let model = text(&of["model"]);
            let times: usize = model
                .split(['x', ' '])
                .find_map(|word| word.parse().ok())
                .unwrap();
            let (a, b) = (
                graph.input("a", ElementType::Float32, [10]),
                graph.input("b", ElementType::Float32, [10]),
            );
            last = a;
            for round in 0..times {
                last = graph
                    .operator(&format!("mul{round}"), "mul", [], &[last, a])
                    .unwrap()[0];
                last = graph
                    .operator(&format!("add{round}"), "add", [], &[last, b])
                    .unwrap()[0];
            }
        }
        graph.output(last);
        let graph = graph.build().unwrap();
        for (algorithm, expected) in [
            ("naive", &of["naive_reuse"]),
            ("executorch", &of["greedy_reuse"]),
            ("executorch-document", &of["greedy_reuse"]),
            ("executorch-objects", &of["greedy_reuse"]),
        ] {
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
            assert_eq!(Some(shared), expected.as_bool(), "{name} {algorithm}");
        }
    }
}

/// `x f32[5,3], y f32[3]`, mapped row by row so many times; a body's buffer is one more tensor of the parent.
#[test]
fn bodies_of_maps_are_tensors_of_their_parents() {
    let Some(cases) = case("executorch_memory_planning.json") else {
        return;
    };
    for of in list(&cases["cases"])
        .iter()
        .filter(|of| of["model"].as_str().is_some_and(|model| model.contains("=map(")))
    {
        let model = text(&of["model"]);
        let words = ["one time", "two times", "three times", "four times", "five times"];
        let times = words.iter().position(|word| model.contains(word)).unwrap() + 1;
        let shape = |name: &str| -> Vec<u64> {
            let dims = model
                .split(&format!("{name} f32["))
                .nth(1)
                .unwrap()
                .split(']')
                .next()
                .unwrap();
            dims.split(',').map(|dim| dim.trim().parse().unwrap()).collect()
        };
        let (x, y) = (shape("x"), shape("y"));
        let algorithm = named(text(&of["algorithm"]));
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
        assert_eq!(inner.0, number(&list(&of["expect"]["map_body_buffer_sizes"])[1]));
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
        for round in 0..times {
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
        assert_eq!(
            outer.size().0,
            number(&list(&of["expect"]["non_const_buffer_sizes"])[1]),
            "{}",
            of["name"]
        );
    }
}

/// `k_cache` and `v_cache` in one memory of their own; devices keep what is theirs apart.
#[test]
fn memories_of_their_own_are_numbered_after_the_constants() {
    let Some(cases) = case("executorch_memory_planning.json") else {
        return;
    };
    for of in list(&cases["cases"]) {
        let expect = &of["expect"];
        let (Some(buffers), Some(k), Some(v)) = (
            expect["num_buffers"].as_u64(),
            expect["k_cache_offset"].as_u64(),
            expect["v_cache_offset"].as_u64(),
        ) else {
            continue;
        };
        let mut graph = GraphBuilder::new("caches");
        let x = graph.input("x", ElementType::Float32, [4]);
        let size = (v - k) / 4;
        let caches = ["k_cache", "v_cache"].map(|name| graph.input(name, ElementType::Float32, [size]));
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
            strategy: &*named("greedy"),
            memories: ["constants", "default", "cache"].map(MemoryDesc::new).to_vec(),
            memory_of: Some(&|graph, id| match graph.tensor(id).memory {
                None => Some("default".to_owned()),
                Some(_) => None,
            }),
            ..TensorPlanOptions::default()
        };
        let plan = planned(&graph, &options, 16);
        assert_eq!(plan.memories.len() as u64, buffers);
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
        assert_eq!([offset(caches[0]), offset(caches[1])], [k, v]);
    }
}

#[test]
fn layouts_on_vulkan() {
    let Some(cases) = case("executorch_vulkan_layout.json") else {
        return;
    };
    for of in list(&cases["golden"]) {
        let (sizes, name) = (numbers(&of["sizes"]), text(&of["layout"]));
        let layout = PackedLayout::named(name).unwrap_or_else(|| panic!("{name} is a layout"));
        let at = format!("{name} {sizes:?}");
        assert_eq!(
            layout.padded(&sizes, false).to_vec(),
            numbers(&of["padded_sizes_buffer"]),
            "{at}"
        );
        assert_eq!(
            layout.padded(&sizes, true).to_vec(),
            numbers(&of["padded_sizes_texture"]),
            "{at}"
        );
        let order: Vec<u64> = layout
            .dim_order(sizes.len())
            .into_iter()
            .map(|axis| axis as u64)
            .collect();
        assert_eq!(order, numbers(&of["dim_order"]), "{at}");
        if of["strides_buffer"].is_array() {
            assert_eq!(layout.strides(&sizes), numbers(&of["strides_buffer"]), "{at}");
        }
        assert_eq!(
            layout.physical_elements(&sizes, false),
            number(&of["physical_numel_buffer"]),
            "{at}"
        );
        assert_eq!(
            layout.physical_elements(&sizes, true),
            number(&of["physical_numel_texture"]),
            "{at}"
        );
        let element = if layout.int8 {
            ElementType::Int8
        } else {
            ElementType::Float32
        };
        let image = layout.rule(&sizes).apply("t", &sizes, element).unwrap();
        let extent = [image.extent.width, image.extent.height, image.extent.layers];
        assert_eq!(extent.to_vec(), numbers(&of["image_extents_texture3d"]), "{at}");
    }
    for of in list(&cases["layout_table"]) {
        let layout = PackedLayout::named(text(&of["layout"])).unwrap();
        let axis = |name: &Value| {
            ["W", "H", "C"]
                .iter()
                .position(|known| *known == text(name))
                .unwrap()
        };
        assert_eq!(layout.packed, axis(&of["packed_dim"]));
        assert_eq!(layout.outer, axis(&of["outer_packed_dim"]));
        assert_eq!(Some(layout.block), of["block_packed"].as_bool());
        assert_eq!(Some(layout.transposed), of["block_transposed"].as_bool());
        assert_eq!(layout.int8, text(&of["dtype"]) == "int8");
    }
    // Every size of the published sweep, in every layout, there and back.
    for sizes in list(&cases["standard_sizes_to_test"]).iter().map(numbers) {
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

/// Which device each tensor of a case is on: the case files name the scenario, the published tests say what it is.
fn devices(scenario: &str, count: usize) -> Option<Vec<&'static str>> {
    let of = |index: usize| match scenario {
        "all_cuda" => Some("cuda:0"),
        "mixed" if index < count / 2 => Some("cpu"),
        "mixed" => Some("cuda:0"),
        "different_device_indices" => Some(["cuda:0", "cuda:1"].get(index).copied().unwrap_or("cpu")),
        _ => None,
    };
    (0..count).map(of).collect()
}

/// A memory for each device that has a tensor, after that of the constants: the CPU first, then in the order of their first tensors.
#[test]
fn devices_have_memories_of_their_own() {
    let Some(cases) = case("executorch_memory_planning.json") else {
        return;
    };
    let model = text(&cases["reuse_expectation"]["ToyModelForMemPlanning"]["model"]);
    let times: usize = model
        .split(['x', ' '])
        .find_map(|word| word.parse().ok())
        .unwrap();
    let rounds = (0..times).map(|round| {
        let before = if round == 0 {
            "a".to_owned()
        } else {
            format!("o{}", 2 * round)
        };
        format!(
            "o{}={before}*a; o{}=o{}+b",
            2 * round + 1,
            2 * round + 2,
            2 * round + 1
        )
    });
    let graph = arithmetic(&rounds.collect::<Vec<_>>().join("; "), 10, &Value::Null);
    for of in list(&cases["cases"]) {
        let Some(scenario) = text(&of["name"]).strip_prefix("device_aware/") else {
            continue;
        };
        let Some(devices) = devices(scenario, graph.tensors().len()) else {
            tileheap_testkit::skip(&format!(
                "device_aware/{scenario}: where its tensors are is not in the case"
            ));
            continue;
        };
        let mut memories = vec!["constants", "cpu"];
        memories.retain(|&memory| memory == "constants" || devices.contains(&memory));
        for device in &devices {
            if !memories.contains(device) {
                memories.push(device);
            }
        }
        let of_device = |_: &Graph, id: tileheap_tensor::TensorId| Some(devices[id.index()].to_owned());
        let options = TensorPlanOptions {
            strategy: &*named("greedy"),
            memories: memories.iter().map(|&memory| MemoryDesc::new(memory)).collect(),
            memory_of: Some(&of_device),
            in_place: false,
            ..TensorPlanOptions::default()
        };
        let plan = planned(&graph, &options, 16);
        let expect = &of["expect"];
        assert_eq!(
            plan.memories.len() as u64,
            number(&expect["num_buffers"]),
            "{scenario}"
        );
        assert_eq!(plan.memories[0].size.0, 0, "constants are outside");
        assert!(
            plan.memories[1..].iter().all(|memory| memory.size.0 > 0),
            "{scenario}"
        );
        let memory_of = |device: &str| memories.iter().position(|memory| *memory == device).unwrap() as u64;
        for (key, device) in [
            ("cpu_mem_id", "cpu"),
            ("cuda_mem_id", "cuda:0"),
            ("buffer_idx", "cuda:0"),
        ] {
            if let Some(expected) = expect[key].as_u64() {
                assert_eq!(memory_of(device), expected, "{scenario} {key}");
            }
        }
        for id in graph.tensor_ids() {
            let region = plan.tensor(id).placement.as_ref().unwrap().region(&[]).unwrap();
            assert_eq!(
                u64::from(region.memory.0),
                memory_of(devices[id.index()]),
                "{scenario}"
            );
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
    for op in list(&of["ops"]) {
        let (operator, operands, output) = (text(&op[0]), list(&op[1]), text(&op[2]));
        let make =
            |graph: &mut GraphBuilder, name: &str, what: &str, inputs: &[tileheap_tensor::TensorId]| {
                let made = vec![(name.to_owned(), ElementType::Float32, Shape::new(sizes.clone()))];
                let operator = Operator {
                    name: what.to_owned(),
                    ..Operator::default()
                };
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
    let Some(cases) = case("executorch_vulkan_layout.json") else {
        return;
    };
    for of in list(&cases["aliasing"]) {
        let name = text(&of["name"]);
        if of["ops"].is_array() {
            let groups = list(&of["share"]);
            let share = |tensor: &str| match of["shared_object_idx"][tensor].as_u64() {
                Some(object) => object as u32,
                None => {
                    let has = |group: &Value| list(group).iter().any(|other| text(other) == tensor);
                    groups.iter().position(has).unwrap() as u32
                }
            };
            let graph = shared(of, &share);
            let expected = of["expect_allocations"]
                .as_u64()
                .or(of["expect_shared_object_allocations"].as_u64());
            // As it was given, and as the rule finds it by itself.
            for strategy in ["storage-ids", "executorch-objects"] {
                let options = TensorPlanOptions {
                    strategy: &*crate::strategy(strategy),
                    in_place: false,
                    ..TensorPlanOptions::default()
                };
                assert_eq!(
                    Some(allocations(&planned(&graph, &options, 16))),
                    expected,
                    "{name} {strategy}"
                );
            }
            // What is resized stays within what was planned.
            let most = numbers(&of["sizes"]);
            for sizes in list(&of["resize_to"]).iter().map(numbers) {
                assert!(
                    sizes.iter().zip(&most).all(|(size, most)| size <= most),
                    "{name} {sizes:?}"
                );
            }
        } else if let Some(copies) = of["copies"].as_u64() {
            // All but the first are views of it.
            let sizes = numbers(&of["sizes"]);
            let mut graph = GraphBuilder::new(name);
            let first = graph.input("first", ElementType::Float32, Shape::new(sizes.clone()));
            for copy in 1..copies {
                let made = vec![(
                    format!("copy {copy}"),
                    ElementType::Float32,
                    Shape::new(sizes.clone()),
                )];
                let view = graph.node(
                    format!("view {copy}"),
                    Operator::default(),
                    &[first],
                    made,
                    Vec::new(),
                )[0];
                graph.view(view, first, tileheap_tensor::units::Bytes(0));
                graph.output(view);
            }
            let plan = planned(&graph.build().unwrap(), &TensorPlanOptions::default(), 16);
            assert_eq!(allocations(&plan), number(&of["expect_allocations"]), "{name}");
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
            assert_eq!(allocations(&plan), number(&of["allocations_after"]), "{name}");
        }
    }
}
