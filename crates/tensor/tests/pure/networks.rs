//! The seven networks of the published comparison tables: the default strategy at the bound under every policy, conversions included; the
//! caller's options for a plan, and faults that name their subject.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use tileheap_pack::{Packer, Packing, PackingStrategy, Problem, Strategy};
use tileheap_tensor::graph::operators::{OPERATORS, OperatorDefinition};
use tileheap_tensor::graph::{Dim, ShapeBound, Symbol, Tensor};
use tileheap_tensor::import::{read_graph, read_lines};
use tileheap_tensor::layout::{ImageLimits, OversizePolicy};
use tileheap_tensor::plan::placement::{PlacedItems, SpaceItem, place};
use tileheap_tensor::plan::timeline::Timeline;
use tileheap_tensor::plan::{Backing, MemoryId, Offsets, Region};
use tileheap_tensor::storage::{BuffersOnly, POLICIES, RowMajor, StoragePolicies};
use tileheap_tensor::units::{Alignment, Bytes, Span};
use tileheap_tensor::{
    ElementType, Error, Graph, GraphBuilder, MemoryDesc, PlacementStrategy, Result, Shape, StorageChoice,
    StorageOptions, TensorId, TensorPlan, TensorPlanOptions, choose,
};
use tileheap_testkit::tensor::assert_says;
use tileheap_testkit::tensor::networks::networks;

use crate::{apart_by, chosen};

fn planned(choice: &StorageChoice, options: &TensorPlanOptions<'_>) -> Result<TensorPlan> {
    crate::planned(&choice.graph, &choice.layouts, options, 64)
}

#[test]
fn seven_networks_are_planned_at_the_bound_under_every_policy() {
    for graph in networks(ElementType::Float16).unwrap() {
        for policy in POLICIES {
            let choice = chosen(&graph, policy);
            let plan = planned(&choice, &TensorPlanOptions::default()).unwrap();
            let at = format!("{} {policy:?}", graph.name());
            let pool = TensorPlanOptions {
                strategy: &tileheap_baselines::tensor::pools::TOKEN_LATER,
                ..TensorPlanOptions::default()
            };
            let pool = planned(&choice, &pool).unwrap();
            assert_eq!(plan.size(), plan.lower_bound(), "{at}");
            assert!(pool.size() >= plan.size());
            let images = choice.layouts.iter().any(|layout| layout.rule.storage.is_image());
            let plain = ["row-major", "buffers", "given", "given-layered"].contains(&policy.name());
            assert_eq!(images, !plain, "{at}");
            let timeline = Timeline::of_plan(&choice.graph, &plan);
            let peak = timeline.peak().unwrap();
            assert!(peak.1 <= plan.size() && !peak.2.is_empty());
        }
    }
}

/// Convolutions of one channel: packed, each result takes 4 channels and is converted; row-major, it takes one. The graph's outputs keep their names.
#[test]
fn row_major_tensors_are_neither_packed_nor_converted() {
    let mut graph = GraphBuilder::new("one channel");
    let mut last = graph.input("x", ElementType::Float32, [1, 1, 16, 16]);
    for name in ["y1", "y2"] {
        let weights = graph.constant(format!("{name} weights"), ElementType::Float32, [1, 1, 3, 3]);
        let padding = [("padding", vec![1, 1].into())];
        last = graph.operator(name, "conv2d", padding, &[last, weights]).unwrap()[0];
    }
    graph.output(last);
    let graph = graph.build().unwrap();
    for (policy, size, conversions) in [("row-major", 2 * 1024, 0), ("buffers", 2 * 4096, 2)] {
        let policy = StoragePolicies::default().named(policy).unwrap();
        let choice = chosen(&graph, policy);
        let plan = planned(&choice, &TensorPlanOptions::default()).unwrap();
        assert_eq!(plan.size(), Bytes(size), "{policy:?}");
        assert_eq!(choice.conversions.len(), conversions, "{policy:?}");
        let output = choice.graph.tensor(choice.graph.outputs()[0]);
        assert_eq!(output.name, "y2", "{policy:?}");
        let reason = choice.reasons[last.index()].to_string();
        assert!(reason.contains("buffer"), "{reason}");
    }
}

fn chain() -> Graph {
    let mut graph = GraphBuilder::new("chain");
    let mut x = graph.input("x", ElementType::Float32, [256]);
    for index in 0..3 {
        let axes = [("axes", vec![].into())];
        let made = graph.operator(&format!("y{index}"), "reduce", axes, &[x]);
        x = made.unwrap()[0];
    }
    graph.output(x);
    graph.build().unwrap()
}

#[test]
fn memories_spill_and_say_what_does_not_fit() {
    let choice = chosen(&chain(), &BuffersOnly);
    let memory = |name: &str, capacity: Option<u64>| MemoryDesc {
        capacity: capacity.map(Bytes),
        ..MemoryDesc::new(name)
    };
    let with = |memories: Vec<MemoryDesc>| TensorPlanOptions {
        memories,
        ..TensorPlanOptions::default()
    };
    let sizes = |sram: u64| {
        let options = with(vec![memory("sram", Some(sram)), memory("dram", None)]);
        let plan = planned(&choice, &options).unwrap();
        [0, 1].map(|memory: usize| plan.memories[memory].size.0)
    };
    assert_eq!(sizes(2048), [2048, 0]);
    let [fast, slow] = sizes(1024);
    assert!(fast <= 1024 && slow > 0);
    let fault = planned(&choice, &with(vec![memory("sram", Some(2047))])).unwrap_err();
    assert_says(fault, &["tensor `", "`sram` has 2,047 B", "2,048 B are needed"]);
    let pin = |_: &Graph, _| Some("flash".to_owned());
    let options = TensorPlanOptions {
        memory_of: Some(&pin),
        ..with(vec![memory("sram", None)])
    };
    assert_says(
        planned(&choice, &options).unwrap_err(),
        &["`flash`", "no memory has this name"],
    );
}

/// A strategy that packs the tensors of a limited memory. Each proved bound is kept.
#[test]
fn the_strategy_packs_the_tensors_of_a_limited_memory() {
    #[derive(Debug)]
    struct AtTheEnd;
    impl PackingStrategy for AtTheEnd {
        fn name(&self) -> &str {
            "at-the-end"
        }

        fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing) {
            CALLS.fetch_add(1, Ordering::Relaxed);
            Strategy::Exact.pack_into(problem, packer, packing);
        }
    }
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let item = |name: &str, first, end, size| SpaceItem::record(name, Span::new(first, end), Bytes(size));
    let items = [
        item("a", 0, 2, 64),
        item("b", 1, 3, 64),
        item("c", 2, 4, 64),
        item("d", 0, 4, 512),
    ];
    let memories = [MemoryDesc::limited("sram", Bytes(256)), MemoryDesc::new("dram")];
    let placed = place(&items, &memories, &Offsets(AtTheEnd)).unwrap();
    assert_eq!(CALLS.load(Ordering::Relaxed), 2, "once for each memory");
    let sizes = placed
        .memories
        .iter()
        .map(|memory| (memory.size.0, memory.lower_bound.0));
    assert!(sizes.eq([(128, 128), (512, 512)]));
}

#[test]
fn inputs_and_outputs_are_planned_or_the_callers_each_by_a_switch_of_its_own() {
    let choice = chosen(&chain(), &BuffersOnly);
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
        // y0 and y1 are live together; x is live with y0 before that, y2 with y1 after it.
        assert_eq!(plan.size(), Bytes(2 * 1024));
        assert!(
            plan.may_share(input, output),
            "the input is dead before the output is made"
        );
        let missing = plan.check_external(&choice.graph, |_| false);
        assert_eq!(missing.is_ok(), plan_inputs && plan_outputs);
        let missing = plan.check_external(&choice.graph, |id| id == input);
        if let Err(fault) = missing {
            assert_says(fault, &["`y2`", "no buffer is bound to it"]);
        }
    }
}

#[test]
fn a_function_says_which_memory_each_tensor_is_in() {
    let choice = chosen(&chain(), &BuffersOnly);
    let alternating = |graph: &Graph, id| {
        let named = match graph.tensor(id).name.as_str() {
            "x" | "y1" => "even",
            _ => "odd",
        };
        Some(named.to_owned())
    };
    for strategy in ["auto", "greedy-by-size", "executorch", "nnc"] {
        let options = TensorPlanOptions {
            memories: ["even", "odd"].map(MemoryDesc::new).to_vec(),
            memory_of: Some(&alternating),
            ..apart_by(crate::strategy(strategy))
        };
        let plan = planned(&choice, &options).unwrap();
        // Each memory holds one tensor at a time.
        let sizes: Vec<_> = plan.memories.iter().map(|memory| memory.size).collect();
        assert_eq!(sizes, [Bytes(1024), Bytes(1024)], "{strategy}");
    }
}

/// Operators that work in place write to another memory if their output is pinned to it.
#[test]
fn tensors_that_are_pinned_to_different_memories_share_no_bytes() {
    let mut graph = GraphBuilder::new("in place");
    let x = graph.input("x", ElementType::Float32, [256]);
    let y = graph.operator("y", "relu", [], &[x]).unwrap()[0];
    let z = graph.operator("z", "exp", [], &[y]).unwrap()[0];
    graph.output(z);
    let choice = chosen(&graph.build().unwrap(), &BuffersOnly);
    let sizes = |pinned: &str| {
        let pin =
            |graph: &Graph, id| Some(if graph.tensor(id).name == pinned { "b" } else { "a" }.to_owned());
        let options = TensorPlanOptions {
            memories: ["a", "b"].map(MemoryDesc::new).to_vec(),
            memory_of: Some(&pin),
            ..TensorPlanOptions::default()
        };
        let plan = planned(&choice, &options).unwrap();
        [0, 1].map(|memory: usize| plan.memories[memory].size.0)
    };
    assert_eq!(sizes(""), [1024, 0]);
    assert_eq!(sizes("y"), [1024, 1024]);
    assert_eq!(sizes("z"), [1024, 1024]);
}

/// If the last of a chain of operators in place has to be in ordinary memory, only its own write goes there.
#[test]
fn chains_in_place_leave_fast_memory_with_their_last_write() {
    let mut graph = GraphBuilder::new("chain");
    let x = graph.input("x", ElementType::Float32, [16, 16]);
    let y = graph.operator("y", "relu", [], &[x]).unwrap()[0];
    let z = graph.operator("z", "exp", [], &[y]).unwrap()[0];
    let flat = graph.operator("flat", "flatten", [], &[z]).unwrap()[0]; // A view of z.
    graph.output(flat);
    let choice = chosen(&graph.build().unwrap(), &RowMajor);
    let pin = |graph: &Graph, id| (graph.tensor(id).name == "flat").then(|| "slow".to_owned());
    let options = TensorPlanOptions {
        memories: vec![MemoryDesc::limited("fast", Bytes(4096)), MemoryDesc::new("slow")],
        memory_of: Some(&pin),
        ..TensorPlanOptions::default()
    };
    let plan = planned(&choice, &options).unwrap();
    let [fast, slow] = &plan.memories[..] else {
        unreachable!("two memories")
    };
    assert_eq!((fast.size, slow.size), (Bytes(1024), Bytes(1024)));
    assert_eq!(fast.traffic, Bytes(3 * 1024)); // x is read, y is written and read
}

/// Places item `i` as the function says.
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
            let (memory, offset) = (MemoryId(0), Bytes(offset));
            Region { memory, offset, size }
        };
        Ok((0..).zip(items).map(region).collect::<Vec<_>>().into())
    }
}

#[test]
fn an_algorithm_of_the_users_is_used_and_judged() {
    let choice = chosen(&chain(), &BuffersOnly);
    let by = |algorithm: &Told, memories: &[MemoryDesc]| {
        let options = TensorPlanOptions {
            memories: memories.to_vec(),
            ..apart_by(algorithm)
        };
        planned(&choice, &options)
    };
    let small = [MemoryDesc {
        capacity: Some(Bytes(2048)),
        alignment: Alignment::new(64).unwrap(),
        ..MemoryDesc::new("small")
    }];
    // Alternating: the second takes the other half, the third the first one's.
    let good = Told(|index, item| (index % 2 * 1024, item.size));
    let plan = by(&good, &small).unwrap();
    assert_eq!((plan.size(), plan.lower_bound()), (Bytes(2048), Bytes(2048)));
    assert!(!plan.aliasing.is_empty());
    let refused = |told: fn(u64, &SpaceItem) -> (u64, Bytes), words: &[&str]| {
        let said = by(&Told(told), &small).unwrap_err();
        assert_says(&said, &["`told`"]);
        assert_says(&said, words);
    };
    refused(
        |_, item| (0, item.size),
        &["`x`", "`y0`", "overlapping lifetimes"],
    );
    let beyond = ["`y1` ends at 3,072 B", "`small` has 2,048 B"];
    refused(|index, item| (index * 1024, item.size), &beyond);
    refused(
        |index, item| (index % 2 * 1000, item.size),
        &["`y0` is at offset 1,000 B", "64"],
    );
    let short = ["`x` needs 1,024 B, but its region has 1,000 B"];
    refused(|index, _| (index % 2 * 1024, Bytes(1000)), &short);
    let two = ["a", "b"].map(MemoryDesc::new);
    assert_says(by(&good, &two).unwrap_err(), &["`told`", "it supports one"]);
}

#[test]
fn faults_name_the_tensor_and_the_limit() {
    let graph = |x: &str, nodes: &str| {
        read_graph(&format!(
            r#"{{"format": "tileheap-graph", "version": 1, "name": "g", "symbols": [{{"name": "n", "range": [1, 8]}}, {{"name": "m"}}],
            "tensors": [{{"name": "x", "element": "f32", "shape": {x}}}], "inputs": ["x"], "outputs": ["y"], "nodes": [{nodes}]}}"#
        ))
    };
    let (x, y) = (
        r#"[4, "n"]"#,
        r#"{"name": "y", "operator": "relu", "inputs": ["x"]}"#,
    );
    assert_eq!(graph(x, y).unwrap().tensors().len(), 2);
    let (other, twice) = (y.replace("[\"x\"]", "[\"z\"]"), format!("{y}, {y}"));
    let later = format!(r#"{other}, {{"name": "z", "operator": "relu", "inputs": ["x"]}}"#);
    let cycle = format!(r#"{other}, {{"name": "z", "operator": "relu", "inputs": ["y"]}}"#);
    let shape = |shape: &str| format!(r#"[4, 4]}}, {{"name": "y", "element": "f32", "shape": {shape}"#);
    let (same, contradicts) = (shape("[4, 4]"), shape("[4, 5]"));
    let listed = y.replace("[\"x\"]}", r#"["x"], "outputs": ["y"]}"#);
    assert_eq!(graph(&same, &listed).unwrap().tensors().len(), 2);
    let view = r#"[4, 4]}, {"name": "z", "element": "f32", "shape": [16], "view": {"of": "x", "offset": 0}"#;
    let rows: [(&str, &str, &[&str]); 9] = [
        (
            view,
            &other,
            &["`z`: it is a view of `x`, but nothing produces it"],
        ),
        (x, &other, &["`y` reads tensor `z`", "nothing produces"]),
        (x, &later, &["`y` reads tensor `z`", "node `z` produces later"]),
        (x, &cycle, &["`y` reads tensor `z`", "the graph has a cycle"]),
        (
            &contradicts,
            &listed,
            &["`y` (relu)", "[4, 4]", "the document says [4, 5]"],
        ),
        (x, &twice, &["`y`"]),
        ("[4, -1]", y, &["`x`", "-1"]),
        (r#"[4, {"sub": ["n", 2]}]"#, y, &["`x`", "is -1"]),
        (r#"[4, "m"]"#, y, &["`x`", "`m` needs a range"]),
    ];
    for (x, nodes, words) in rows {
        assert_says(graph(x, nodes).unwrap_err(), words);
    }
    // Misspelled names of operators and attributes are noted, once.
    let soft = listed.replace("\"relu\"", r#""softmax", "attributes": {"axxis": 1}"#);
    let notes = graph(&same, &soft).unwrap().notes().to_vec();
    assert_eq!(
        notes,
        ["node `y`: attribute `axxis` is ignored: operator `softmax` takes `axis`"]
    );
    let misspelled = graph(&same, &listed.replace("relu", "softmaxx")).unwrap();
    assert_eq!(
        misspelled.notes(),
        ["node `y`: operator `softmaxx` is unknown; is `softmax` meant?"]
    );
    assert_eq!(read_graph(&misspelled.to_json()).unwrap(), misspelled);
    let no_outputs = r#"{"format": "tileheap-graph", "version": 1, "name": "g", "inputs": [], "outputs": [], "nodes": []}"#;
    assert_says(read_graph(no_outputs).unwrap_err(), &["`outputs` is empty"]);
}

#[test]
fn a_plan_for_a_range_holds_every_shape_in_it() {
    let mut graph = GraphBuilder::new("range");
    let n = graph.symbol("n", 1, 64);
    let x = graph.input("x", ElementType::Float32, Shape(vec![n.into(), 16.into()]));
    let y = graph.operator("y", "relu", [], &[x]).unwrap()[0];
    graph.output(y);
    let graph = graph.build().unwrap();
    let choice = chosen(&graph, &BuffersOnly);
    let plan = planned(&choice, &apart_by(crate::strategy("auto"))).unwrap();
    assert_eq!(plan.size(), Bytes(2 * 64 * 64));
    assert_eq!(graph.shape_at(y, &[3]).unwrap(), [3, 16]);
    assert_says(graph.shape_at(y, &[65]).unwrap_err(), &["`n` is 65", "1 to 64"]);
}

#[test]
fn images_over_the_limits_are_an_error_where_nothing_else_is_allowed() {
    let graph = networks(ElementType::Float16).unwrap().remove(0);
    let options = StorageOptions {
        limits: ImageLimits {
            side_2d: 64,
            ..ImageLimits::default()
        },
        oversize: OversizePolicy {
            other_layout: false,
            split: false,
            buffer: false,
        },
        ..StorageOptions::default()
    };
    let fault = choose(&graph, &options).unwrap_err();
    assert_says(fault, &["tensor `", "the limit is 64 x 64"]);
    let split = StorageOptions {
        oversize: OversizePolicy::default(),
        ..options
    };
    assert!(choose(&graph, &split).is_ok());
}

/// Everything that a graph can contain: symbols, constants, a view, pins, given ids, a loop with two exits, a branch.
fn everything() -> Graph {
    let mut graph = GraphBuilder::new("everything");
    let batch = graph.symbol("batch", 1, 8);
    let dim: Dim = batch.into();
    let f32 = ElementType::Float32;
    let rows = (dim.clone() * 2 + 1).ceil_div(2).max(3);
    let x = graph.input("x", f32, Shape(vec![dim, rows, 4.into()]));
    let scale = graph.constant("scale", f32, [4]);
    let y = graph.operator("y", "mul", [], &[x, scale]).unwrap()[0];
    let out = graph.repeat("loop", &[y, scale], |body, p| {
        body.exit_unless(p[1], &[p[0]]);
        let z = body.operator("z", "relu", [], &[p[0]])?[0];
        body.exit_unless(p[1], &[z]);
        body.carry(z, p[0]);
        Ok(())
    });
    let out = out.unwrap()[0];
    let chosen = graph.branch("if", &[out], 2, |arm, index, p| {
        let what = if index == 0 { "tanh" } else { "exp" };
        arm.operator(&format!("arm{index}"), what, [], p)
    });
    let flat = graph
        .operator("flat", "flatten", [("axis", 1.into())], &chosen.unwrap())
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
        // Ids follow the text, so tensors are compared by name.
        let name = |graph: &Graph, id: TensorId| graph.tensor(id).name.clone();
        let by_name = |graph: &Graph| {
            let described = |tensor: &Tensor| {
                let view = tensor.view.map(|view| (name(graph, view.base), view.offset));
                let (id, scope, memory) = (tensor.storage_id, tensor.scope.clone(), tensor.memory.clone());
                let form = (tensor.element, tensor.shape.clone());
                (tensor.name.clone(), (form, view, id, scope, memory))
            };
            graph.tensors().iter().map(described).collect::<BTreeMap<_, _>>()
        };
        assert_eq!(by_name(&again), by_name(&graph));
        let nodes = |graph: &Graph| {
            let names = |ids: &[TensorId]| ids.iter().map(|&id| name(graph, id)).collect::<Vec<_>>();
            let nodes = graph.nodes().iter();
            let described = nodes.map(|node| {
                let (inputs, outputs) = (names(&node.inputs), names(&node.outputs));
                (node.name.clone(), inputs, outputs, node.in_place.clone())
            });
            described.collect::<Vec<_>>()
        };
        assert_eq!(nodes(&again), nodes(&graph), "{}", graph.name());
        assert_eq!(again.symbols(), graph.symbols());
    }
}

/// Bounds from example inputs, whatever the ranges: too small for larger inputs.
#[test]
fn shapes_are_bounded_by_examples_on_request() {
    let sized = |range: Option<(u64, u64)>, example: Option<u64>| {
        let mut graph = GraphBuilder::new("examples");
        let name = "rows".to_owned();
        let rows = graph.add_symbol(Symbol { name, range, example });
        let x = graph.input("x", ElementType::Float32, Shape(vec![rows.into(), 16.into()]));
        let attributes = [("axes", vec![1].into()), ("keep", 1.into())];
        let y = graph.operator("y", "reduce", attributes, &[x]).unwrap()[0];
        graph.output(y);
        graph.build()
    };
    let bytes = |graph: &Graph, bounding: ShapeBound| {
        let options = StorageOptions {
            policy: &BuffersOnly,
            bounding,
            ..StorageOptions::default()
        };
        let plan = |choice| planned(&choice, &TensorPlanOptions::default()).unwrap().size();
        choose(graph, &options).map(plan)
    };
    let both = sized(Some((1, 100)), Some(10)).unwrap();
    let x = both.inputs()[0];
    assert_eq!(both.shape_bound(x, ShapeBound::Ranges).unwrap(), [100, 16]);
    assert_eq!(both.shape_bound(x, ShapeBound::Examples).unwrap(), [10, 16]);
    let [ranges, examples] = [ShapeBound::Ranges, ShapeBound::Examples].map(|by| bytes(&both, by).unwrap());
    assert!(examples < ranges, "{examples} by examples, {ranges} by ranges");
    // An example without a range is enough only for planning by examples.
    let alone = sized(None, Some(10)).unwrap();
    assert_eq!(bytes(&alone, ShapeBound::Examples).unwrap(), examples);
    assert_says(bytes(&alone, ShapeBound::Ranges).unwrap_err(), &["`x`", "`rows`"]);
    let without = sized(Some((1, 100)), None).unwrap();
    assert_says(
        bytes(&without, ShapeBound::Examples).unwrap_err(),
        &["`x`", "`rows`"],
    );
}

/// The page of the guide has graphs that are read, and lists every operator with its attributes. `TILEHEAP_REWRITE=1` writes the list.
#[test]
fn the_page_of_the_formats_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/graph_json.md");
    let page = std::fs::read_to_string(path).unwrap();
    let fenced = |kind: &str| {
        let (_, rest) = page.split_once(&format!("\n```{kind}\n")).expect("an example");
        rest.split_once("```\n").expect("an end").0
    };
    let graph = read_graph(fenced("json")).unwrap();
    assert!(graph.notes().is_empty() && graph.nodes().len() == 3);
    let (_, looping) = page.split_once("over a cache").expect("a second graph");
    let (_, looping) = looping.split_once("```json\n").expect("its beginning");
    let graph = read_graph(looping.split_once("```\n").expect("its end").0).unwrap();
    let plan = crate::planned(&graph, &crate::buffers(&graph), &TensorPlanOptions::default(), 64).unwrap();
    let view = graph.tensor(graph.find("latest").unwrap()).view;
    assert_eq!(
        (plan.copies.len(), view.map(|view| view.offset)),
        (0, Some(Bytes(8192)))
    );
    let graph = read_lines(fenced("jsonl")).unwrap();
    assert_eq!(graph.nodes()[1].in_place.len(), 1);
    let row = |of: &OperatorDefinition| {
        let attributes: Vec<String> = of.attributes.iter().map(|name| format!("`{name}`")).collect();
        let inputs = match of.inputs {
            usize::MAX => "any number".to_owned(),
            1 => "1".to_owned(),
            most => format!("up to {most}"),
        };
        format!("| `{}` | {inputs} | {} |\n", of.name, attributes.join(", "))
    };
    let rows: String = OPERATORS.iter().map(row).collect();
    let (before, rest) = page
        .split_once("| operator | inputs | attributes |\n|---|---|---|\n")
        .unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    let current = format!("{before}| operator | inputs | attributes |\n|---|---|---|\n{rows}\n{after}");
    if std::env::var_os("TILEHEAP_REWRITE").is_some() {
        std::fs::write(path, &current).unwrap();
    } else {
        assert!(
            page == current,
            "the list of operators differs: rewrite it with TILEHEAP_REWRITE=1"
        );
    }
}
