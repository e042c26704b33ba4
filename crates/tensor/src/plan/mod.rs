//! Space: lives, sizes and memories in, places and hand-overs out.
//!
//! ```text
//! Graph ──► expand ──► unite ──► space ──► places, hand-overs
//!           timeline,   who shares  through     per tensor, per round
//!           unrolled    a place     `pack`
//! ```
//! Not done: what one exit of a loop leaves and what another leaves never share bytes after it; a view of an image is a copy.

mod expand;
mod expansion;
mod handover;
mod options;
mod places;
mod space;
mod strategy;
mod types;
mod unite;

use std::collections::BTreeMap;

use expansion::{Rules, ValueKind};
pub(crate) use space::check_regions;
use unite::{United, unite};

pub use options::{CarryRule, MemoryDesc, TensorPlanOptions};
pub use space::{Space, SpaceAlgorithm, SpaceItem, place, place_by};
pub use strategy::TensorStrategy;
pub use types::{
    CopyTime, Handover, Home, MemoryId, MemoryPlan, Moment, MultiView, Place, PlacedTensor, Region, Slot,
    TensorPlan, TensorRequirements, ValueCopy,
};

use super::pools::PoolImage;
use super::{Graph, Layout, TensorError, TensorId};
use crate::units::{Bytes, Span};

/// Plans a graph: everything a place, for every round.
///
/// `layouts` and `requirements` are one per tensor of the graph, by id; [`TensorRequirements::of_layout`] where no driver is
/// asked.
///
/// # Errors
/// A memory is too small, a tensor has to be where it cannot be, or a loop needs copies where they are forbidden.
///
/// # Panics
/// If there is not one layout and one requirement per tensor.
pub fn plan(
    graph: &Graph,
    layouts: &[Layout],
    requirements: &[TensorRequirements],
    options: &TensorPlanOptions<'_>,
) -> Result<TensorPlan, TensorError> {
    let count = graph.tensors().len();
    assert_eq!(
        (layouts.len(), requirements.len()),
        (count, count),
        "one of each per tensor"
    );
    let mut rules = Rules {
        graph,
        layouts,
        requirements,
        plan_inputs: options.plan_inputs,
        plan_outputs: options.plan_outputs,
        in_place: options.in_place,
        given: &options.given,
        unroll: BTreeMap::new(),
        copied: BTreeMap::new(),
    };
    let united = unite(&mut rules, options.carry, options.unroll_limit)?;
    let (items, item_of) = items(&rules, &united, options);
    let memories = memories(&items, &options.memories);
    let space = match options.algorithm {
        Some(algorithm) => place_by(algorithm, &items, &memories)?,
        None => place(&items, &memories, options.strategy)?,
    };
    debug_assert_eq!(check_regions(&items, &space.regions, &memories), Ok(()));
    let regions: Vec<Option<Region>> = item_of
        .iter()
        .map(|&item| item.map(|item| space.regions[item]))
        .collect();
    let expansion = &united.expansion;
    let copies = expansion.copies.iter().map(|&(node, from, to, time)| ValueCopy {
        node,
        from,
        to,
        size: requirements[from.index()].size,
        time,
    });
    Ok(TensorPlan {
        tensors: places::place_tensors(&rules, expansion, &regions),
        handovers: handover::handovers(expansion, &regions),
        copies: copies.collect(),
        unrolled: rules
            .unroll
            .iter()
            .map(|(&node, &copies)| (node, copies))
            .collect(),
        slots: items
            .into_iter()
            .zip(space.regions)
            .map(|(item, region)| Slot {
                name: item.name,
                region,
                lives: item.lives,
            })
            .collect(),
        timeline: united.expansion.timeline,
        memories: space.memories,
    })
}

/// What has to be placed, and by value which of these it is.
fn items(
    rules: &Rules<'_>,
    united: &United,
    options: &TensorPlanOptions<'_>,
) -> (Vec<SpaceItem>, Vec<Option<usize>>) {
    let United { expansion, classes } = united;
    let images = |value: &expansion::Value| rules.requirements[value.tensor.index()].image;
    let mixed = options.granularity.get() > 1 && expansion.values.iter().any(images);
    let mut items = Vec::new();
    let mut item_of = vec![None; expansion.values.len()];
    for members in &classes.members {
        let values = members.iter().map(|&value| &expansion.values[value]);
        let Some(first) = values.clone().find(|value| value.kind != ValueKind::Outside) else {
            continue;
        };
        let mut lives: Vec<Span> = values
            .clone()
            .flat_map(|value| value.spans.iter().copied())
            .collect();
        lives.retain(|life| !life.is_empty());
        let needs = &rules.requirements[first.tensor.index()];
        let (mut size, mut alignment) = (needs.size, needs.alignment);
        if mixed && !needs.image {
            // A buffer that starts and ends on the granularity shares no page with an image, wherever that lies.
            alignment = alignment.lcm(options.granularity).unwrap_or(alignment);
            size = size.align_up(options.granularity);
        }
        let tensor = rules.graph.tensor(first.tensor);
        let pin = options
            .memory_of
            .and_then(|memory_of| memory_of(rules.graph, first.tensor));
        let accesses: u64 = values.map(|value| value.accesses).sum();
        for &value in members {
            item_of[value] = Some(items.len());
        }
        items.push(SpaceItem {
            name: tensor.name.clone(),
            lives: merged(lives),
            size,
            alignment,
            memory_type_bits: needs.memory_type_bits,
            memory: pin.or_else(|| tensor.memory.clone()),
            image: needs.image.then(|| pool_image(rules, first.tensor)),
            storage_id: tensor.storage_id,
            worth: size.0.saturating_mul(accesses.max(1)),
        });
    }
    (items, item_of)
}

fn pool_image(rules: &Rules<'_>, tensor: TensorId) -> PoolImage {
    let layout = &rules.layouts[tensor.index()];
    let of = rules.graph.tensor(tensor);
    PoolImage {
        width: layout.extent.width,
        height: layout.extent.height * layout.extent.layers,
        element: of.element,
        scope: of.scope.clone().unwrap_or_default(),
    }
}

/// Spans in order, those that touch as one.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.first <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// The memories that were given; without any, one for each lowest memory type that something needs.
fn memories(items: &[SpaceItem], given: &[MemoryDesc]) -> Vec<MemoryDesc> {
    if !given.is_empty() {
        return given.to_vec();
    }
    let mut types: Vec<u32> = items
        .iter()
        .map(|item| item.memory_type_bits.trailing_zeros())
        .collect();
    types.sort_unstable();
    types.dedup();
    if types.is_empty() {
        types.push(0);
    }
    let memory = |memory_type: &u32| MemoryDesc {
        memory_type_bits: 1u32.checked_shl(*memory_type).unwrap_or(0),
        ..MemoryDesc::new(format!("type {memory_type}"))
    };
    types.iter().map(memory).collect()
}

impl TensorPlan {
    /// Whether one of the caller's buffers may back both, an output and the input of the next run: no step uses both.
    pub fn may_share(&self, a: TensorId, b: TensorId) -> bool {
        let (a, b) = (&self.tensor(a).lives, &self.tensor(b).lives);
        !a.iter().any(|one| b.iter().any(|other| one.overlaps(*other)))
    }

    /// Judges that what runs has all it needs from the caller.
    ///
    /// # Errors
    /// The first tensor that the caller has to give memory for and did not.
    pub fn check_bound(&self, graph: &Graph, is_bound: impl Fn(TensorId) -> bool) -> Result<(), TensorError> {
        let missing = graph
            .inputs()
            .iter()
            .chain(graph.outputs())
            .find(|&&id| self.tensor(id).home == Home::Caller && !is_bound(id));
        match missing {
            None => Ok(()),
            Some(&id) => Err(TensorError::Unbound {
                tensor: graph.tensor(id).name.clone(),
                size: Bytes(self.tensor(id).layout.bytes().0),
            }),
        }
    }
}
