//! Converts a tensor plan to the JSON document that `tileheap report` draws.

use tileheap_tensor::plan::Backing;

use super::options::{Strategy, TensorOptions, is_pool};
use super::plan::{Planned, Row};
use crate::documents::{Memory, OnChip, StrategyResult, Tensor, Tensors};

pub(super) fn document(
    name: &str,
    options: &TensorOptions,
    policy: &str,
    planned: &Planned,
    compared: &[(Strategy, Result<Planned, String>)],
    ignores_limited_memories: &dyn Fn(Strategy) -> bool,
    on_chip: Vec<OnChip>,
) -> Tensors {
    let memories = planned.memories.iter().map(|memory| Memory {
        name: memory.name.clone(),
        size: memory.size.0,
        lower_bound: memory.lower_bound.0,
        capacity: memory.capacity.map(|capacity| capacity.0),
        traffic: memory.traffic.0,
        traffic_bound: memory.traffic_bound.0,
    });
    let strategies = compared.iter().map(|(strategy, planned)| {
        let ignores_limited_memories = ignores_limited_memories(*strategy);
        let strategy = strategy.name().to_owned();
        match planned {
            Ok(planned) => StrategyResult::Planned {
                strategy,
                size: planned.size.0,
                lower_bound: planned.bound.0,
                ignores_limited_memories,
            },
            Err(error) => StrategyResult::Failed {
                strategy,
                error: error.clone(),
            },
        }
    });
    let timeline = &planned.timeline;
    Tensors {
        name: name.to_owned(),
        strategy: options.strategy.name().to_owned(),
        pools: is_pool(options.strategy),
        policy: policy.to_owned(),
        size: planned.size.0,
        lower_bound: planned.bound.0,
        memories: memories.collect(),
        steps: timeline.steps.clone(),
        live_bytes: timeline.live_bytes().iter().map(|bytes| bytes.0).collect(),
        peak: timeline.peak().map(|(step, ..)| step.0 as usize),
        inputs: planned.inputs.clone(),
        outputs: planned.outputs.clone(),
        tensors: planned.tensors.iter().map(tensor).collect(),
        strategies: strategies.collect(),
        on_chip,
        notes: planned.notes.clone(),
    }
}

fn tensor(row: &Row) -> Tensor {
    let extent = row
        .extent
        .map(|extent| [extent.width, extent.height, extent.layers]);
    let lifetimes = row
        .lifetimes
        .iter()
        .map(|span| (span.first.0 as usize, span.end.0 as usize));
    Tensor {
        name: row.name.clone(),
        storage: row.storage.map(str::to_owned),
        home: match (row.is_within_another, row.backing) {
            (true, _) => "part of another",
            (_, Backing::Planned) => "planned",
            (_, Backing::External) => "external",
            (_, Backing::Constant) => "constant",
        }
        .to_owned(),
        size: row.size.0,
        extent,
        scope: row.scope.clone(),
        place: row.place.clone(),
        regions: row.regions.clone(),
        lifetimes: lifetimes.collect(),
    }
}
