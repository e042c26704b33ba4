//! Converts judged allocations to the document from which charts of tensors are drawn.

use tileheap_tensor::judge::JudgedAllocations;
use tileheap_tensor::plan::{MemoryId, Region};
use tileheap_tensor::units::Step;

use crate::documents::{Memory, Tensor, Tensors};

/// Returns the document; steps at which no lifetime begins or ends are omitted.
pub(crate) fn document(name: &str, judged: &JudgedAllocations) -> Tensors {
    let of = &judged.allocations;
    let spans = of.buffers.iter().flat_map(|buffer| &buffer.lifetimes);
    let mut at: Vec<Step> = spans.flat_map(|span| [span.first, span.end]).collect();
    at.sort_unstable();
    at.dedup();
    let place = |step: Step| at.partition_point(|&other| other < step);
    let mut changes = vec![0i128; at.len() + 1];
    let tensors = of.buffers.iter().map(|buffer| {
        let lifetimes = buffer
            .lifetimes
            .iter()
            .map(|span| (place(span.first), place(span.end)));
        let lifetimes: Vec<(usize, usize)> = lifetimes.collect();
        for &(first, end) in &lifetimes {
            changes[first] += i128::from(buffer.size.0);
            changes[end] -= i128::from(buffer.size.0);
        }
        Tensor {
            name: buffer.name.clone(),
            storage: Some("buffer".to_owned()),
            home: "planned".to_owned(),
            size: buffer.size.0,
            extent: None,
            scope: None,
            place: None,
            regions: vec![Region {
                memory: MemoryId(buffer.arena),
                offset: buffer.offset,
                size: buffer.size,
            }],
            lifetimes,
        }
    });
    let tensors: Vec<Tensor> = tensors.collect();
    let mut live = 0;
    let live_bytes = changes.iter().take(at.len().saturating_sub(1)).map(|change| {
        live += change;
        u64::try_from(live).unwrap_or(u64::MAX)
    });
    let live_bytes: Vec<u64> = live_bytes.collect();
    let most = live_bytes.iter().max();
    let step_name = |step: &Step| match of.steps.get(step.0 as usize) {
        Some(name) if !name.is_empty() => name.clone(),
        _ => step.0.to_string(),
    };
    let memories = of.arenas.iter().zip(&judged.arenas).map(|(arena, bytes)| Memory {
        name: arena.name.clone(),
        size: bytes.used.0,
        lower_bound: bytes.bound.0,
        capacity: arena.size.map(|size| size.0),
        traffic: 0,
        traffic_bound: 0,
    });
    Tensors {
        name: name.to_owned(),
        strategy: of.format.to_owned(),
        pools: false,
        policy: "as given".to_owned(),
        size: judged
            .arenas
            .iter()
            .map(|bytes| bytes.used.0)
            .fold(0, u64::saturating_add),
        lower_bound: judged
            .arenas
            .iter()
            .map(|bytes| bytes.bound.0)
            .fold(0, u64::saturating_add),
        memories: memories.collect(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        steps: at.iter().take(live_bytes.len()).map(step_name).collect(),
        peak: live_bytes.iter().position(|bytes| Some(bytes) == most),
        live_bytes,
        tensors,
        strategies: Vec::new(),
        on_chip: Vec::new(),
        notes: of.notes.clone(),
    }
}
