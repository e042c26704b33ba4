//! Bytes of networks' tensors, by every planner that they have elsewhere.

#[path = "../../examples/network/networks.rs"]
mod networks;

use tileheap::units::Alignment;
use tileheap_tensor::pools::PoolRule;
use tileheap_tensor::{
    ElementType, Graph, StorageOptions, TensorPlanOptions, TensorRequirements, TensorStrategy, choose, plan,
    read_lines,
};

use crate::rows::{Better, Rows, Side, Table, Unit};

/// Who plans: pools of whole objects, offsets by the published rules, and ours.
const CONTENDERS: [(&str, Side, TensorStrategy); 7] = [
    (
        "an object each",
        Side::Baseline,
        TensorStrategy::Pools(PoolRule::LitertNaive),
    ),
    (
        "TVM, tokens (RFC)",
        Side::Baseline,
        TensorStrategy::Pools(PoolRule::TokenRfc),
    ),
    (
        "TVM, tokens (later)",
        Side::Baseline,
        TensorStrategy::Pools(PoolRule::TokenLater),
    ),
    (
        "ExecuTorch, objects",
        Side::Baseline,
        TensorStrategy::Pools(PoolRule::ExecutorchObjects),
    ),
    (
        "LiteRT, best",
        Side::Baseline,
        TensorStrategy::Pools(PoolRule::LitertBest),
    ),
    (
        "LiteRT, min-cost flow",
        Side::Baseline,
        TensorStrategy::Pools(PoolRule::LitertMinCostFlow),
    ),
    (
        "auto",
        Side::Ours,
        TensorStrategy::Offsets(tileheap_pack::Strategy::Auto),
    ),
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
    for graph in networks::networks(ElementType::Float16).expect("known shapes") {
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
        if let Some((_, text)) = rows.shared(&format!("models/{name}.jsonl")) {
            row(rows, &read_lines(&text).expect("a network"));
        }
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
            let bound = planned.as_ref().map(|plan| plan.bound().0 as f64);
            rows.add(graph.name(), "bound", Side::Bound, bound);
        }
        rows.add(graph.name(), name, side, planned.map(|plan| plan.size().0 as f64));
    }
}
