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
mod classes;
mod coalesce;
mod continued;
mod expand;
mod expansion;
#[cfg(test)]
mod fewest;
pub mod flow;
mod initial;
mod item;
mod items;
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

use attempt::Attempt;

pub use memory::MemoryDesc;
pub use offsets::Offsets;
pub use options::{CarryRule, TensorPlanOptions};
pub use storage_ids::StorageIds;
pub use strategy::PlacementStrategy;
pub use types::{
    Aliasing, Allocation, Backing, ContinuedLoop, CopyReason, CopyTime, MemoryId, MemoryPlan, PlacedTensor,
    Placement, Region, RoundPlacements, TensorPlan, TensorRequirements, TimelineStep, ValueCopy,
};

use crate::error::{Error, Result};
use crate::graph::{Graph, Node, NodeKind, TensorId};
use crate::layout::Layout;
use tileheap_json::clip;

/// Plans a graph: memory, offset and lifetime of every tensor, for every round of its loops.
///
/// `layouts` and `requirements` have one element for each tensor of the graph, by id. Without a driver,
/// [`TensorRequirements::of_layout`] estimates the requirements.
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
    assert_eq!(
        counts,
        [graph.tensors().len(); 2],
        "every tensor needs one layout and one requirement"
    );
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
            _ if from == to => CopyReason::External,
            _ => CopyReason::Overlap,
        },
    });
    Ok(TensorPlan {
        tensors: places::place_tensors(&rules, expansion, &regions),
        aliasing: aliasing::aliasing(expansion, &regions),
        copies: copies.collect(),
        continued: rules.continued_loops().unwrap_or_default(),
        unrolled: rules.unroll.into_iter().collect(),
        allocations: Allocation::of_items(&items, &space.regions),
        timeline: coalesced.expansion.timeline,
        memories: space.memories,
    })
}

impl TensorPlan {
    /// Says for which loops [`MemoryPlan::traffic`] does not count every iteration: those whose number of iterations is not known. `None` if there are none.
    pub fn traffic_note(graph: &Graph) -> Option<String> {
        let is_open = |node: &&Node| matches!(&node.kind, NodeKind::Loop(of) if of.rounds.is_none());
        let mut loops = graph.nodes().iter().filter(is_open);
        let first = clip(&loops.next()?.name).to_string();
        let count = 1 + loops.count();
        Some(format!(
            "loops whose number of iterations is not known, counted in traffic once for each unrolled copy of the body: {count} (the first is `{first}`)"
        ))
    }

    /// Returns true if one external buffer may back both tensors, such as an output and the input of the next run: their lifetimes do not overlap.
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
    let problem = format!("it is external ({size}), but no buffer is bound to it");
    Error::tensor(&graph.tensor(tensor).name, problem)
}
