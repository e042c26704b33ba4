//! A tensor plan as JSON: what `tileheap report` draws.
//!
//! ```json
//! {
//!   "format": "tileheap-tensors", "version": 1, "name": "resnet50.jsonl", "strategy": "auto", "policy": "balanced",
//!   "memories": [{ "name": "sram", "size": 1048576, "bound": 1040384, "capacity": 1048576 }],
//!   "steps": ["conv2d", "relu"], "live_bytes": [524288, 1040384], "peak": 1,
//!   "tensors": [{ "name": "x", "storage": "texture-2d", "home": "planned", "size": 524288, "lives": [[0, 2]],
//!                 "regions": [{ "memory": 0, "offset": 0, "size": 524288 }] }],
//!   "strategies": [{ "strategy": "naive", "size": 2097152, "bound": 1040384 }, { "strategy": "exact", "fault": "…" }],
//!   "notes": ["12 tensors, 10 in images"]
//! }
//! ```
//! Lives are steps, half-open. A tensor without regions is the caller's, a constant, or a part of another.

use serde_json::{Value, json};
use tileheap::tensor::TensorStrategy;

use super::{Planned, Row, TensorHow};

pub(super) fn document(
    name: &str,
    how: &TensorHow,
    planned: &Planned,
    compared: &[(TensorStrategy, Result<Planned, String>)],
) -> Value {
    let memories = planned.memories.iter().map(|memory| {
        json!({
            "name": memory.name,
            "size": memory.size.0,
            "bound": memory.bound.0,
            "capacity": memory.capacity.map(|capacity| capacity.0),
        })
    });
    let strategies = compared.iter().map(|(strategy, planned)| match planned {
        Ok(planned) => {
            json!({ "strategy": strategy.name(), "size": planned.size.0, "bound": planned.bound.0 })
        }
        Err(fault) => json!({ "strategy": strategy.name(), "fault": fault }),
    });
    let live = planned.timeline.live_bytes();
    json!({
        "format": "tileheap-tensors",
        "version": 1,
        "name": name,
        "strategy": how.strategy.name(),
        "pools": !matches!(how.strategy, TensorStrategy::Offsets(_)),
        "policy": how.policy.name(),
        "size": planned.size.0,
        "bound": planned.bound.0,
        "memories": memories.collect::<Vec<_>>(),
        "steps": planned.timeline.steps,
        "live_bytes": live.iter().map(|bytes| bytes.0).collect::<Vec<_>>(),
        "peak": planned.timeline.peak().map(|(step, ..)| step.0),
        "tensors": planned.tensors.iter().map(tensor).collect::<Vec<_>>(),
        "strategies": strategies.collect::<Vec<_>>(),
        "notes": planned.notes,
    })
}

fn tensor(row: &Row) -> Value {
    let regions = row
        .regions
        .iter()
        .map(|region| json!({ "memory": region.memory.0, "offset": region.offset.0, "size": region.size.0 }));
    let lives = row.lives.iter().map(|life| json!([life.first.0, life.end.0]));
    json!({
        "name": row.name,
        "storage": row.storage,
        "home": if row.elsewhere { json!("within another") } else { json!(row.home) },
        "size": row.size.0,
        "regions": regions.collect::<Vec<_>>(),
        "lives": lives.collect::<Vec<_>>(),
    })
}
