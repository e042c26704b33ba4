//! Planning: tensors with lifetimes and sizes in, offsets and aliasing out.
//!
//! ```text
//! Graph ──► expand ──► coalesce ────► place ────► placements, aliasing
//!           timeline,   values that    through     per tensor, per round
//!           unrolled    share bytes    a strategy
//! ```
//! Not done: sharing bytes after a loop between the results of its exits; views of images, which are copies.

mod aliasing;
mod alternatives;
mod attempt;
mod bound;
mod by_memory;
mod coalesce;
mod expand;
mod expansion;
#[cfg(test)]
mod fewest;
pub mod flow;
mod item;
mod memory;
mod objects;
mod offsets;
mod options;
mod place;
mod places;
mod problem;
mod storage_ids;
mod strategy;
pub mod timeline;
mod types;

/// Placement of items without a graph: the input of a [`PlacementStrategy`], and object pools that a strategy can use.
pub mod placement {
    pub use super::item::{ItemImage, SpaceItem};
    pub use super::objects::{ObjectPool, place_objects};
    pub use super::place::{PlacedRegions, place};
    pub use super::strategy::PlacedItems;
}

use std::collections::BTreeSet;

use attempt::Attempt;
use coalesce::Coalesced;
use expansion::{Rules, ValueKind};
use item::{ItemImage, SpaceItem};
use place::PlacedRegions;
use places::merged;

pub use memory::MemoryDesc;
pub use offsets::Offsets;
pub use options::{CarryRule, TensorPlanOptions};
pub use storage_ids::StorageIds;
pub use strategy::PlacementStrategy;
pub use types::{
    Aliasing, Allocation, Backing, CopyReason, CopyTime, MemoryId, MemoryPlan, PlacedTensor, Placement,
    Region, RoundPlacements, TensorPlan, TensorRequirements, TimelineStep, ValueCopy,
};

use crate::error::{Error, Result};
use crate::graph::{Graph, TensorId};
use crate::layout::Layout;
use crate::units::{Bytes, Span};

/// Plans a graph: memory, offset and lifetime of every tensor, for every round of its loops.
///
/// `layouts` and `requirements` are one per tensor of the graph, by id; [`TensorRequirements::of_layout`] without a
/// driver.
///
/// # Errors
/// A memory is too small, a tensor cannot be placed where it must be, or a loop needs copies that are forbidden.
///
/// # Panics
/// If the number of layouts or requirements is not that of the tensors.
pub fn plan(
    graph: &Graph,
    layouts: &[Layout],
    requirements: &[TensorRequirements],
    options: &TensorPlanOptions<'_>,
) -> Result<TensorPlan> {
    let counts = [layouts.len(), requirements.len()];
    assert_eq!(counts, [graph.tensors().len(); 2], "one of each per tensor");
    let Attempt {
        rules,
        coalesced,
        items,
        item_of,
        space,
    } = attempt::best(graph, layouts, requirements, options)?;
    let region_of = |item: &Option<usize>| item.map(|item| space.regions[item]);
    let regions: Vec<Option<Region>> = item_of.iter().map(region_of).collect();
    let expansion = &coalesced.expansion;
    let copies = expansion.copies.iter().map(|&(node, from, to, time)| ValueCopy {
        node,
        from,
        to,
        size: requirements[from.index()].size,
        time,
        reason: match options.carry {
            CarryRule::Copy if time == CopyTime::Round => CopyReason::Asked,
            _ => CopyReason::Overlap,
        },
    });
    Ok(TensorPlan {
        tensors: places::place_tensors(&rules, expansion, &regions),
        aliasing: aliasing::aliasing(expansion, &regions),
        copies: copies.collect(),
        unrolled: rules.unroll.into_iter().collect(),
        allocations: Allocation::of_items(&items, &space.regions),
        timeline: coalesced.expansion.timeline,
        memories: space.memories,
    })
}

/// Lowers the bounds of the items to those of the graph, which hold for any plan, whatever it copies or keeps apart.
fn lower_bounds(
    rules: &Rules<'_>,
    item_of: &[Option<usize>],
    coalesced: &Coalesced,
    space: &mut PlacedRegions,
) {
    let expansion = &coalesced.expansion;
    let joined = |candidate: &expansion::InPlaceCandidate| {
        let [output, input] = [candidate.output, candidate.input].map(|value| item_of[value]);
        output == input || output.is_none() || input.is_none()
    };
    if expansion.rounds.is_empty()
        && expansion.copies.is_empty()
        && expansion.in_place_candidates.iter().all(joined)
    {
        return; // Nothing was chosen.
    }
    let mut memory_of: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); rules.graph.tensors().len()];
    for (value, item) in expansion.values.iter().zip(item_of) {
        let memory = item.map(|item| space.regions[item].memory.0);
        memory_of[value.tensor.index()].extend(memory);
    }
    let bounds = bound::graph_bounds(rules, &memory_of, space.memories.len());
    for (memory, bound) in space.memories.iter_mut().zip(bounds) {
        memory.lower_bound = memory.lower_bound.min(Bytes(bound));
    }
}

/// The items to place, and the item of each value.
fn items(
    rules: &Rules<'_>,
    coalesced: &Coalesced,
    options: &TensorPlanOptions<'_>,
) -> (Vec<SpaceItem>, Vec<Option<usize>>) {
    let expansion = &coalesced.expansion;
    let images = |value: &expansion::Value| rules.requirements[value.tensor.index()].image;
    let mixed = options.granularity.get() > 1 && expansion.values.iter().any(images);
    let mut items = Vec::new();
    let mut item_of = vec![None; expansion.values.len()];
    for members in &coalesced.classes.members {
        let values = members.iter().map(|&value| &expansion.values[value]);
        let Some(first) = values.clone().find(|value| value.kind != ValueKind::External) else {
            continue;
        };
        let spans = values.clone().flat_map(|value| &value.spans).copied();
        let lifetimes: Vec<Span> = spans.filter(|lifetime| !lifetime.is_empty()).collect();
        let needs = &rules.requirements[first.tensor.index()];
        let (mut size, mut alignment) = (needs.size, needs.alignment);
        if mixed && !needs.image {
            // A buffer that starts and ends on the granularity shares no page with an image, wherever the image is.
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
            lifetimes: merged(lifetimes),
            size,
            alignment,
            memory_type_bits: needs.memory_type_bits,
            memory: pin.or_else(|| tensor.memory.clone()),
            image: needs.image.then(|| item_image(rules, first.tensor)),
            storage_id: tensor.storage_id,
            traffic: size.0.saturating_mul(accesses.max(1)),
        });
    }
    (items, item_of)
}

fn item_image(rules: &Rules<'_>, tensor: TensorId) -> ItemImage {
    let layout = &rules.layouts[tensor.index()];
    let of = rules.graph.tensor(tensor);
    ItemImage {
        width: layout.extent.width,
        height: layout.extent.height * layout.extent.layers,
        element: of.element,
        scope: of.scope.clone().unwrap_or_default(),
    }
}

/// The memories of the options; if there are none, one for the lowest memory type of each item.
fn memories(items: &[SpaceItem], given: &[MemoryDesc]) -> Vec<MemoryDesc> {
    if !given.is_empty() {
        return given.to_vec();
    }
    let lowest = |item: &SpaceItem| item.memory_type_bits.trailing_zeros();
    let mut types: BTreeSet<u32> = items.iter().map(lowest).collect();
    if types.is_empty() {
        types.insert(0);
    }
    let memory = |memory_type: &u32| MemoryDesc {
        memory_type_bits: 1u32.checked_shl(*memory_type).unwrap_or(0),
        ..MemoryDesc::new(format!("type {memory_type}"))
    };
    types.iter().map(memory).collect()
}

impl TensorPlan {
    /// Returns true if one external buffer may back both, such as an output and the input of the next run: their lifetimes do not overlap.
    pub fn may_share(&self, a: TensorId, b: TensorId) -> bool {
        let (a, b) = (&self.tensor(a).lifetimes, &self.tensor(b).lifetimes);
        !a.iter().any(|one| b.iter().any(|other| one.overlaps(*other)))
    }

    /// Checks that every external tensor has memory.
    ///
    /// # Errors
    /// The first external tensor without a buffer, by name.
    pub fn check_external(&self, graph: &Graph, is_bound: impl Fn(TensorId) -> bool) -> Result<()> {
        let mut ends = graph.inputs().iter().chain(graph.outputs());
        match ends.find(|&&id| self.tensor(id).backing == Backing::External && !is_bound(id)) {
            None => Ok(()),
            Some(&id) => Err(not_bound(graph, id, &self.tensor(id).layout)),
        }
    }
}

/// The error for an external tensor without a buffer.
pub(crate) fn not_bound(graph: &Graph, tensor: TensorId, layout: &Layout) -> Error {
    let size = layout.bytes();
    let problem = format!("its {size} are external, and no buffer is bound to it");
    Error::tensor(&graph.tensor(tensor).name, problem)
}
