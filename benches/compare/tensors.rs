//! Compares planners by the memory that they need for the tensors of networks, in bytes.

use tileheap::units::Alignment;
use tileheap_baselines::pack::{BankedGreedy, Executorch, Nnc, PingPong};
use tileheap_baselines::tensor::pools::{
    EXECUTORCH_OBJECTS, LITERT_BEST, LITERT_MIN_COST_FLOW, LITERT_NAIVE, TOKEN_LATER, TOKEN_RFC,
};
use tileheap_tensor::import::read_lines;
use tileheap_tensor::plan::Offsets;
use tileheap_tensor::{
    ElementType, Graph, PlacementStrategy, StorageOptions, TensorPlanOptions, TensorRequirements, choose,
    plan,
};

use crate::rows::{Better, Rows, Side, Table, Unit, data};

/// Planners: pools of whole objects, offsets by published rules, and ours.
const CONTENDERS: [(&str, Side, &dyn PlacementStrategy); 11] = [
    ("an object each", Side::Baseline, &LITERT_NAIVE),
    ("TVM, tokens (RFC)", Side::Baseline, &TOKEN_RFC),
    ("TVM, tokens (later)", Side::Baseline, &TOKEN_LATER),
    ("ExecuTorch, objects", Side::Baseline, &EXECUTORCH_OBJECTS),
    ("ExecuTorch, offsets", Side::Baseline, &Offsets(Executorch)),
    (
        "ExecuTorch, banked (described)",
        Side::Baseline,
        &Offsets(BankedGreedy),
    ),
    ("CLML, ping-pong (described)", Side::Baseline, &Offsets(PingPong)),
    ("LiteRT, best", Side::Baseline, &LITERT_BEST),
    ("LiteRT, min-cost flow", Side::Baseline, &LITERT_MIN_COST_FLOW),
    ("NNC", Side::Baseline, &Offsets(Nnc)),
    ("auto", Side::Ours, &Offsets(tileheap_pack::Strategy::Auto)),
];

pub(crate) fn compare(rows: &mut Rows) {
    rows.table(Table {
        name: "tensors",
        title: "Tensor bytes",
        says: "Memory for a network's intermediate tensors in half precision, after the same choice of storage (textures and buffers) \
               for all; inputs and outputs included, weights not. The named planners are this project's implementations of what the \
               projects publish or ship.",
        unit: Unit::Bytes,
        better: Better::Lower,
    });
    for graph in tileheap_testkit::tensor::networks::networks(ElementType::Float16).expect("known shapes") {
        row(rows, &graph);
    }
    let names: &[&str] = if rows.quick {
        &["squeezenet1_1"]
    } else {
        &[
            "convnext_tiny",
            "densenet121",
            "efficientnet_b0",
            "gpt2s_prefill128",
            "lstm2_loop32",
            "squeezenet1_1",
        ]
    };
    for name in names {
        let text = data(&format!("tensor/models/{name}.jsonl"));
        row(rows, &read_lines(&text).expect("a network"));
    }
}

fn row(rows: &mut Rows, graph: &Graph) {
    let choice = choose(graph, &StorageOptions::default()).expect("within the limits");
    let pitch = Alignment::new(64).expect("not 0");
    let needs: Vec<TensorRequirements> = choice
        .layouts
        .iter()
        .map(|layout| TensorRequirements::of_layout(layout, pitch))
        .collect();
    for (name, side, strategy) in CONTENDERS {
        let options = TensorPlanOptions {
            strategy,
            ..TensorPlanOptions::default()
        };
        // A pool that has no rule for what the graph holds has no answer.
        let planned = plan(&choice.graph, &choice.layouts, &needs, &options).ok();
        if side == Side::Ours {
            let bound = planned.as_ref().map(|plan| plan.lower_bound().0 as f64);
            rows.add(graph.name(), "bound", Side::LowerBound, bound);
        }
        rows.add(graph.name(), name, side, planned.map(|plan| plan.size().0 as f64));
    }
}
