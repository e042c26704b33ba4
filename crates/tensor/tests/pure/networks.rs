//! The seven networks of the peers' tables: the default at the bound under every policy, conversions counted; what a caller decides about
//! a plan, and faults that name things.

use tileheap_tensor::graph::{Bounding, Dim, Symbol};
use tileheap_tensor::import::read_graph;
use tileheap_tensor::layout::{ImageLimits, Oversize};
use tileheap_tensor::plan::placement::{PlacedItems, SpaceItem};
use tileheap_tensor::plan::timeline::Timeline;
use tileheap_tensor::plan::{Backing, MemoryId, Region};
use tileheap_tensor::storage::{Buffers, POLICIES};
use tileheap_tensor::units::{Alignment, Bytes};
use tileheap_tensor::{
    ElementType, Error, Graph, GraphBuilder, MemoryDesc, PlacementStrategy, Result, Shape, StorageChoice,
    StorageOptions, StoragePolicy, TensorPlan, TensorPlanOptions, choose,
};
use tileheap_testkit::tensor::networks::networks;

fn planned(choice: &StorageChoice, options: &TensorPlanOptions<'_>) -> Result<TensorPlan> {
    crate::planned(&choice.graph, &choice.layouts, options, 64)
}

fn chosen(graph: &Graph, policy: &dyn StoragePolicy) -> StorageChoice {
    choose(
        graph,
        &StorageOptions {
            policy,
            ..StorageOptions::default()
        },
    )
    .unwrap()
}

#[test]
fn seven_networks_are_planned_at_the_bound_under_every_policy() {
    for graph in networks(ElementType::Float16).unwrap() {
        for policy in POLICIES {
            let choice = chosen(&graph, policy);
            let plan = planned(&choice, &TensorPlanOptions::default()).unwrap();
            let images = choice
                .layouts
                .iter()
                .filter(|layout| layout.rule.storage.is_image())
                .count();
            let pool = tileheap_baselines::tensor::pools::TOKEN_LATER;
            let pool = planned(
                &choice,
                &TensorPlanOptions {
                    strategy: &pool,
                    ..TensorPlanOptions::default()
                },
            )
            .unwrap();
            println!(
                "{:<18} {policy:<15?} {} tensors, {images} images, {} conversions, {}, ratio {:.3}; token-later {:.3}",
                graph.name(),
                choice.graph.tensors().len(),
                choice.conversions.len(),
                plan.size(),
                plan.size().0 as f64 / plan.lower_bound().0 as f64,
                pool.size().0 as f64 / plan.lower_bound().0 as f64,
            );
            assert_eq!(plan.size(), plan.lower_bound(), "{} {policy:?}", graph.name());
            assert!(pool.size() >= plan.size());
            assert_eq!(
                images > 0,
                !["buffers", "given", "given-layered"].contains(&policy.name()),
                "{} {policy:?}",
                graph.name()
            );
            let timeline = Timeline::of_plan(&choice.graph, &plan);
            let peak = timeline.peak().unwrap();
            assert!(peak.1 <= plan.size() && !peak.2.is_empty());
        }
    }
}

fn chain() -> Graph {
    let mut graph = GraphBuilder::new("chain");
    let mut x = graph.input("x", ElementType::Float32, [256]);
    for index in 0..3 {
        x = graph
            .operator(&format!("y{index}"), "reduce", [("axes", vec![].into())], &[x])
            .unwrap()[0];
    }
    graph.output(x);
    graph.build().unwrap()
}

#[test]
fn memories_spill_and_say_what_does_not_fit() {
    let choice = chosen(&chain(), &Buffers);
    let memory = |name: &str, capacity: Option<u64>| MemoryDesc {
        capacity: capacity.map(Bytes),
        ..MemoryDesc::new(name)
    };
    let with = |memories: Vec<MemoryDesc>| TensorPlanOptions {
        memories,
        ..TensorPlanOptions::default()
    };
    let two = planned(
        &choice,
        &with(vec![memory("sram", Some(2048)), memory("dram", None)]),
    )
    .unwrap();
    assert_eq!(
        (two.memories[0].size, two.memories[1].size),
        (Bytes(2048), Bytes(0))
    );
    let small = planned(
        &choice,
        &with(vec![memory("sram", Some(1024)), memory("dram", None)]),
    )
    .unwrap();
    assert!(small.memories[0].size <= Bytes(1024) && small.memories[1].size > Bytes(0));
    let fault = planned(&choice, &with(vec![memory("sram", Some(2047))]))
        .unwrap_err()
        .to_string();
    assert!(
        fault.starts_with("tensor `")
            && fault.contains("`sram` has 2,047 B")
            && fault.contains("2,048 B are needed"),
        "{fault}"
    );
    let pin = |_: &Graph, _| Some("flash".to_owned());
    let options = TensorPlanOptions {
        memory_of: Some(&pin),
        ..with(vec![memory("sram", None)])
    };
    let fault = planned(&choice, &options).unwrap_err().to_string();
    assert!(
        fault.contains("`flash`") && fault.contains("no such memory"),
        "{fault}"
    );
}

#[test]
fn what_the_caller_gives_is_not_planned_and_has_to_be_there() {
    let choice = chosen(&chain(), &Buffers);
    let options = TensorPlanOptions {
        plan_inputs: false,
        plan_outputs: false,
        ..TensorPlanOptions::default()
    };
    let plan = planned(&choice, &options).unwrap();
    let (input, output) = (choice.graph.inputs()[0], choice.graph.outputs()[0]);
    assert_eq!(
        (plan.tensor(input).backing, plan.tensor(output).backing),
        (Backing::External, Backing::External)
    );
    assert!(
        plan.may_share(input, output),
        "the input is dead before the output is made"
    );
    let fault = plan
        .check_external(&choice.graph, |id| id == input)
        .unwrap_err()
        .to_string();
    assert!(
        fault.contains("`y2`") && fault.contains("no buffer is bound to it"),
        "{fault}"
    );
}

#[test]
fn inputs_and_outputs_are_planned_or_the_callers_each_by_a_switch_of_its_own() {
    let choice = chosen(&chain(), &Buffers);
    let (input, output) = (choice.graph.inputs()[0], choice.graph.outputs()[0]);
    let home = |planned: bool| {
        if planned {
            Backing::Planned
        } else {
            Backing::External
        }
    };
    for (plan_inputs, plan_outputs) in [(false, false), (false, true), (true, false), (true, true)] {
        let options = TensorPlanOptions {
            plan_inputs,
            plan_outputs,
            in_place: false,
            ..TensorPlanOptions::default()
        };
        let plan = planned(&choice, &options).unwrap();
        let homes = (plan.tensor(input).backing, plan.tensor(output).backing);
        assert_eq!(homes, (home(plan_inputs), home(plan_outputs)));
        // y0 and y1 meet; x is with y0 before them, y2 with y1 after them.
        assert_eq!(plan.size(), Bytes(2 * 1024));
        let missing = plan.check_external(&choice.graph, |_| false);
        assert_eq!(missing.is_ok(), plan_inputs && plan_outputs);
    }
}

#[test]
fn a_function_says_which_memory_each_tensor_is_in() {
    let choice = chosen(&chain(), &Buffers);
    let alternating = |graph: &Graph, id| {
        let named = match graph.tensor(id).name.as_str() {
            "x" | "y1" => "even",
            _ => "odd",
        };
        Some(named.to_owned())
    };
    for strategy in ["auto", "greedy-by-size", "executorch", "nnc"] {
        let options = TensorPlanOptions {
            strategy: &*crate::strategy(strategy),
            memories: vec![MemoryDesc::new("even"), MemoryDesc::new("odd")],
            memory_of: Some(&alternating),
            in_place: false,
            ..TensorPlanOptions::default()
        };
        let plan = planned(&choice, &options).unwrap();
        // Each memory has one tensor at a time.
        let sizes: Vec<_> = plan.memories.iter().map(|memory| memory.size).collect();
        assert_eq!(sizes, [Bytes(1024), Bytes(1024)], "{strategy}");
    }
}

/// Puts item `i` wherever it is told.
#[derive(Debug)]
struct Told(fn(u64, &SpaceItem) -> (u64, Bytes));

impl PlacementStrategy for Told {
    fn name(&self) -> &str {
        "told"
    }

    fn place(&self, items: &[SpaceItem], memories: &[MemoryDesc]) -> Result<PlacedItems> {
        if memories.len() != 1 {
            return Err(Error::Strategy {
                strategy: self.name().to_owned(),
                problem: format!("{} memories; it supports one", memories.len()),
            });
        }
        let region = |(index, item): (u64, &SpaceItem)| {
            let (offset, size) = (self.0)(index, item);
            Region {
                memory: MemoryId(0),
                offset: Bytes(offset),
                size,
            }
        };
        Ok((0..).zip(items).map(region).collect::<Vec<_>>().into())
    }
}

#[test]
fn an_algorithm_of_the_users_is_used_and_judged() {
    let choice = chosen(&chain(), &Buffers);
    let by = |algorithm: &Told, memories: &[MemoryDesc]| {
        let options = TensorPlanOptions {
            strategy: algorithm,
            memories: memories.to_vec(),
            in_place: false,
            ..TensorPlanOptions::default()
        };
        planned(&choice, &options).map_err(|fault| fault.to_string())
    };
    let small = [MemoryDesc {
        capacity: Some(Bytes(2048)),
        alignment: Alignment::new(64).unwrap(),
        ..MemoryDesc::new("small")
    }];
    // In turn: the second takes the other half, the third the first one's.
    let good = Told(|index, item| (index % 2 * 1024, item.size));
    let plan = by(&good, &small).unwrap();
    assert_eq!((plan.size(), plan.lower_bound()), (Bytes(2048), Bytes(2048)));
    assert!(!plan.aliasing.is_empty());
    let wrong: [(Told, &[&str]); 4] = [
        (
            Told(|_, item| (0, item.size)),
            &["`told`", "`x`", "`y0`", "overlapping lifetimes"],
        ),
        (
            Told(|index, item| (index * 1024, item.size)),
            &["`told`", "`y1` ends at 3,072 B", "`small` has 2,048 B"],
        ),
        (
            Told(|index, item| (index % 2 * 1000, item.size)),
            &["`told`", "`y0` is at 1,000 B", "64"],
        ),
        (
            Told(|index, _| (index % 2 * 1024, Bytes(1000))),
            &["`told`", "`x` of 1,024 B has 1,000 B"],
        ),
    ];
    for (algorithm, words) in wrong {
        let said = by(&algorithm, &small).unwrap_err();
        assert!(
            words.iter().all(|word| said.contains(word)),
            "{said} without {words:?}"
        );
    }
    let two = [MemoryDesc::new("a"), MemoryDesc::new("b")];
    let said = by(&good, &two).unwrap_err();
    assert!(
        said.contains("`told`") && said.contains("it supports one"),
        "{said}"
    );
}

#[test]
fn faults_name_the_tensor_and_the_limit() {
    let read = |text: &str| read_graph(text).unwrap_err().to_string();
    let graph = |tensors: &str, nodes: &str| {
        format!(
            r#"{{"format": "tileheap-graph", "version": 1, "name": "g", "symbols": [{{"name": "n", "range": [1, 8]}}, {{"name": "m"}}],
            "tensors": [{tensors}], "inputs": ["x"], "outputs": ["y"], "nodes": [{nodes}]}}"#
        )
    };
    let x = r#"{"name": "x", "element": "f32", "shape": [4, "n"]}"#;
    let y = r#"{"name": "y", "operator": "relu", "inputs": ["x"]}"#;
    assert_eq!(read_graph(&graph(x, y)).unwrap().tensors().len(), 2);
    let fault = read(&graph(x, r#"{"name": "y", "operator": "relu", "inputs": ["z"]}"#));
    assert!(fault.contains("`y` reads tensor `z`"), "{fault}");
    let fault = read(&graph(x, &format!("{y}, {y}")));
    assert!(fault.contains("`y`"), "{fault}");
    let fault = read(&graph(r#"{"name": "x", "element": "f32", "shape": [4, -1]}"#, y));
    assert!(fault.contains("`x`") && fault.contains("-1"), "{fault}");
    let fault = read(&graph(
        r#"{"name": "x", "element": "f32", "shape": [4, {"sub": ["n", 2]}]}"#,
        y,
    ));
    assert!(fault.contains("`x`") && fault.contains("is -1"), "{fault}");
    let fault = read(&graph(r#"{"name": "x", "element": "f32", "shape": [4, "m"]}"#, y));
    assert!(
        fault.contains("`x`") && fault.contains("`m` needs a range"),
        "{fault}"
    );
}

#[test]
fn a_plan_for_a_range_holds_every_shape_in_it() {
    let mut graph = GraphBuilder::new("range");
    let n = graph.symbol("n", 1, 64);
    let x = graph.input(
        "x",
        ElementType::Float32,
        tileheap_tensor::Shape(vec![n.into(), 16.into()]),
    );
    let y = graph.operator("y", "relu", [], &[x]).unwrap()[0];
    graph.output(y);
    let graph = graph.build().unwrap();
    let choice = chosen(&graph, &Buffers);
    assert_eq!(
        planned(
            &choice,
            &TensorPlanOptions {
                in_place: false,
                ..TensorPlanOptions::default()
            }
        )
        .unwrap()
        .size(),
        Bytes(2 * 64 * 64)
    );
    assert_eq!(graph.shape_at(y, &[3]).unwrap(), [3, 16]);
    let fault = graph.shape_at(y, &[65]).unwrap_err().to_string();
    assert!(
        fault.contains("`n` is 65") && fault.contains("1 to 64"),
        "{fault}"
    );
}

#[test]
fn images_over_the_limits_are_an_error_where_nothing_else_is_allowed() {
    let graph = networks(ElementType::Float16).unwrap().remove(0);
    let options = StorageOptions {
        limits: ImageLimits {
            side_2d: 64,
            ..ImageLimits::default()
        },
        oversize: Oversize {
            other_layout: false,
            split: false,
            buffer: false,
        },
        ..StorageOptions::default()
    };
    let fault = choose(&graph, &options).unwrap_err().to_string();
    assert!(
        fault.contains("tensor `") && fault.contains("the limit is 64 x 64"),
        "{fault}"
    );
    let split = StorageOptions {
        oversize: Oversize::default(),
        ..options
    };
    assert!(choose(&graph, &split).is_ok());
}

/// Everything that a graph can have: symbols, constants, a view, pins, given ids, a loop with two exits, a branch.
fn everything() -> Graph {
    let mut graph = GraphBuilder::new("everything");
    let batch = graph.symbol("batch", 1, 8);
    let dim: Dim = batch.into();
    let f32 = ElementType::Float32;
    let x = graph.input(
        "x",
        f32,
        Shape(vec![dim.clone(), (dim * 2 + 1).ceil_div(2).max(3), 4.into()]),
    );
    let scale = graph.constant("scale", f32, [4]);
    let y = graph.operator("y", "mul", [], &[x, scale]).unwrap()[0];
    let out = graph
        .repeat("loop", &[y, scale], |body, p| {
            body.leave_unless(p[1], &[p[0]]);
            let z = body.operator("z", "relu", [], &[p[0]])?[0];
            body.leave_unless(p[1], &[z]);
            body.carry(z, p[0]);
            Ok(())
        })
        .unwrap()[0];
    let chosen = graph
        .branch("if", &[out], 2, |arm, index, p| {
            let what = if index == 0 { "tanh" } else { "exp" };
            Ok(vec![arm.operator(&format!("arm{index}"), what, [], p)?[0]])
        })
        .unwrap()[0];
    let flat = graph
        .operator("flat", "flatten", [("axis", 1.into())], &[chosen])
        .unwrap()[0];
    graph.pin(y, "sram");
    graph.storage(out, Some(3), Some("global.texture".to_owned()));
    graph.output(flat);
    graph.build().unwrap()
}

#[test]
fn graphs_are_written_and_read_back() {
    let mut graphs = networks(ElementType::Float16).unwrap();
    graphs.extend([chain(), everything()]);
    for graph in graphs {
        let text = graph.to_json();
        let again = read_graph(&text).unwrap_or_else(|fault| panic!("{}: {fault}", graph.name()));
        assert_eq!(again.to_json().len(), text.len(), "{}", graph.name());
        // Ids follow the text; names say what is the same.
        let by_name = |graph: &Graph| {
            let mut tensors: Vec<_> = graph
                .tensors()
                .iter()
                .map(|tensor| {
                    let view = tensor
                        .view
                        .map(|view| (graph.tensor(view.base).name.clone(), view.offset));
                    let own = (
                        tensor.element,
                        tensor.storage_id,
                        tensor.scope.clone(),
                        tensor.memory.clone(),
                    );
                    (tensor.name.clone(), tensor.shape.clone(), view, own)
                })
                .collect();
            tensors.sort_by(|a, b| a.0.cmp(&b.0));
            tensors
        };
        assert_eq!(by_name(&again), by_name(&graph));
        let nodes = |graph: &Graph| -> Vec<_> {
            let names = |ids: &[tileheap_tensor::TensorId]| {
                ids.iter()
                    .map(|&id| graph.tensor(id).name.clone())
                    .collect::<Vec<_>>()
            };
            graph
                .nodes()
                .iter()
                .map(|node| {
                    (
                        node.name.clone(),
                        names(&node.inputs),
                        names(&node.outputs),
                        node.in_place.clone(),
                    )
                })
                .collect()
        };
        assert_eq!(nodes(&again), nodes(&graph), "{}", graph.name());
        assert_eq!(again.symbols(), graph.symbols());
    }
}

/// The older way: what the example inputs are, whatever the ranges; too little for larger inputs.
#[test]
fn shapes_are_bounded_by_examples_on_request() {
    let sized = |range: Option<(u64, u64)>, example: Option<u64>| {
        let mut graph = GraphBuilder::new("examples");
        let name = "rows".to_owned();
        let rows = graph.add_symbol(Symbol { name, range, example });
        let x = graph.input("x", ElementType::Float32, Shape(vec![rows.into(), 16.into()]));
        let y = graph
            .operator(
                "y",
                "reduce",
                [("axes", vec![1].into()), ("keep", 1.into())],
                &[x],
            )
            .unwrap()[0];
        graph.output(y);
        graph.build()
    };
    let bytes = |graph: &Graph, bounding: Bounding| {
        let options = StorageOptions {
            policy: &Buffers,
            bounding,
            ..StorageOptions::default()
        };
        choose(graph, &options).map(|choice| planned(&choice, &TensorPlanOptions::default()).unwrap().size())
    };
    let both = sized(Some((1, 100)), Some(10)).unwrap();
    let x = both.inputs()[0];
    assert_eq!(both.shape_bound(x, Bounding::Ranges).unwrap(), [100, 16]);
    assert_eq!(both.shape_bound(x, Bounding::Examples).unwrap(), [10, 16]);
    let (ranges, examples) = (
        bytes(&both, Bounding::Ranges).unwrap(),
        bytes(&both, Bounding::Examples).unwrap(),
    );
    assert!(examples < ranges, "{examples} by examples, {ranges} by ranges");
    // An example alone is enough to plan by examples, and for nothing else.
    let alone = sized(None, Some(10)).unwrap();
    assert_eq!(bytes(&alone, Bounding::Examples).unwrap(), examples);
    let fault = bytes(&alone, Bounding::Ranges).unwrap_err().to_string();
    assert!(fault.contains("`x`") && fault.contains("`rows`"), "{fault}");
    let without = sized(Some((1, 100)), None).unwrap();
    let fault = bytes(&without, Bounding::Examples).unwrap_err().to_string();
    assert!(fault.contains("`x`") && fault.contains("`rows`"), "{fault}");
}
