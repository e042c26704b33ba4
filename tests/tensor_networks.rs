//! The seven networks of the peers' tables: the default at the bound under every policy, conversions counted, and faults that name things.

#[path = "support/networks.rs"]
mod networks;
mod support;

use networks::networks;
use tileheap::tensor::{
    ElementType, Graph, GraphBuilder, Home, ImageLimits, MemoryDesc, Oversize, StorageChoice, StorageOptions,
    StoragePolicy, TensorFault, TensorPlan, TensorPlanOptions, TensorRequirements, TensorStrategy, Timeline,
    choose, plan, read_graph,
};
use tileheap::units::{Alignment, Bytes};

fn needs(choice: &StorageChoice) -> Vec<TensorRequirements> {
    let pitch = Alignment::new(64).unwrap();
    choice
        .layouts
        .iter()
        .map(|layout| TensorRequirements::of_layout(layout, pitch))
        .collect()
}

fn planned(choice: &StorageChoice, options: &TensorPlanOptions<'_>) -> Result<TensorPlan, TensorFault> {
    plan(&choice.graph, &choice.layouts, &needs(choice), options)
}

fn chosen(graph: &Graph, policy: StoragePolicy) -> StorageChoice {
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
        for policy in StoragePolicy::ALL {
            let choice = chosen(&graph, policy);
            let plan = planned(&choice, &TensorPlanOptions::default()).unwrap();
            let images = choice
                .layouts
                .iter()
                .filter(|layout| layout.rule.storage.is_image())
                .count();
            let pool: TensorStrategy = "token-later".parse().unwrap();
            let pool = planned(
                &choice,
                &TensorPlanOptions {
                    strategy: pool,
                    ..TensorPlanOptions::default()
                },
            )
            .unwrap();
            println!(
                "{:<18} {policy:<15} {} tensors, {images} images, {} conversions, {}, ratio {:.3}; token-later {:.3}",
                graph.name(),
                choice.graph.tensors().len(),
                choice.conversions.len(),
                plan.size(),
                plan.size().0 as f64 / plan.bound().0 as f64,
                pool.size().0 as f64 / plan.bound().0 as f64,
            );
            assert_eq!(plan.size(), plan.bound(), "{} {policy}", graph.name());
            assert!(pool.size() >= plan.size());
            assert_eq!(
                images > 0,
                policy != StoragePolicy::Buffers,
                "{} {policy}",
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
    let choice = chosen(&chain(), StoragePolicy::Buffers);
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
        fault.contains("`sram` has 2,047 B") && fault.contains("2,048 B are needed"),
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
    let choice = chosen(&chain(), StoragePolicy::Buffers);
    let options = TensorPlanOptions {
        plan_inputs: false,
        plan_outputs: false,
        ..TensorPlanOptions::default()
    };
    let plan = planned(&choice, &options).unwrap();
    let (input, output) = (choice.graph.inputs()[0], choice.graph.outputs()[0]);
    assert_eq!(
        (plan.tensor(input).home, plan.tensor(output).home),
        (Home::Caller, Home::Caller)
    );
    assert!(
        plan.may_share(input, output),
        "the input is dead before the output is made"
    );
    let fault = plan
        .check_bound(&choice.graph, |id| id == input)
        .unwrap_err()
        .to_string();
    assert!(
        fault.contains("`y2`") && fault.contains("bound to nothing"),
        "{fault}"
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
        tileheap::tensor::Shape(vec![n.into(), 16.into()]),
    );
    let y = graph.operator("y", "relu", [], &[x]).unwrap()[0];
    graph.output(y);
    let graph = graph.build().unwrap();
    let choice = chosen(&graph, StoragePolicy::Buffers);
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
