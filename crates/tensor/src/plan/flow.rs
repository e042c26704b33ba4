//! Allocation graphs of plans: which item takes over bytes from which, by name.
//!
//! Source: NNC's [article](crate#sources), "Basic Structure"; [`AllocationGraph`] for the graph itself.

use std::fmt;

use crate::error::{Error, Result};
use crate::plan::{Allocation, MemoryId, MemoryPlan};
use crate::units::{Alignment, Bytes, Span};
use tileheap_pack::allocation_graph::AllocationGraph;
use tileheap_pack::{Item, Packing, Problem};

/// The allocation graph of one memory, verified to conserve bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The memory's name.
    pub memory: String,
    /// Name and lifetime of each item of the graph. A tensor with several lifetimes is several items.
    pub nodes: Vec<(String, Span)>,
    /// The edges, each from an item to one that takes over bytes from it.
    pub graph: AllocationGraph,
}

/// Returns the allocation graph of each memory, and verifies its flow.
///
/// # Errors
/// Allocations share bytes while both are live, or the flow does not add up: this never happens for plans of this crate.
pub fn flows(slots: &[Allocation], memories: &[MemoryPlan]) -> Result<Vec<Flow>> {
    let of_memory = |(number, memory): (usize, &MemoryPlan)| {
        let inside = slots
            .iter()
            .filter(|slot| slot.region.memory == MemoryId(number as u32));
        let (mut nodes, mut items, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
        for slot in inside {
            for &lifetime in &slot.lifetimes {
                nodes.push((slot.name.clone(), lifetime));
                items.push(Item::new(lifetime, slot.region.size, Alignment::ONE));
                offsets.push(slot.region.offset);
            }
        }
        let ends = items
            .iter()
            .zip(&offsets)
            .map(|(item, &offset)| offset + item.size);
        let packing = Packing {
            height: ends.max().unwrap_or(Bytes::ZERO),
            offsets,
        };
        let checked = Problem::new(items).and_then(|problem| {
            let graph = AllocationGraph::of(&problem, &packing)?;
            graph.check(&problem).map(|()| graph)
        });
        let named = |error: tileheap_pack::Error| {
            let node = error.item().and_then(|item| nodes.get(item as usize));
            Error::tensor(node.map_or(&memory.name, |(name, _)| name), error)
        };
        let graph = checked.map_err(named)?;
        Ok(Flow {
            memory: memory.name.clone(),
            nodes,
            graph,
        })
    };
    memories.iter().enumerate().map(of_memory).collect()
}

impl fmt::Display for Flow {
    /// Writes one line per edge.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Allocation graph of memory {}, height {}",
            self.memory, self.graph.height
        )?;
        let name = |end: Option<u32>, other: &str| {
            let node = end.map(|index| &self.nodes[index as usize]);
            node.map_or(other.to_owned(), |(name, lifetime)| format!("{name} {lifetime}"))
        };
        for edge in &self.graph.edges {
            let (from, to) = (name(edge.from, "source"), name(edge.to, "sink"));
            let (size, offset) = (edge.size.to_string(), edge.offset.to_string());
            writeln!(f, "  {size:>16} at {offset:>16}  {from} -> {to}")?;
        }
        Ok(())
    }
}
