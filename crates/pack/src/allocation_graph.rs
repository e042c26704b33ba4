//! The allocation graph of a packing: which bytes each item reuses, and from which item.
//!
//! ```text
//! offset                                  source ─4─► a ─4─► c ─4─► sink
//!   7 ┤┌── b ──┐                          source ─3─► b ─3─► c ─3─► sink
//!   4 ┤├── a ──┤┌───── c ─────┐
//!  0 ┼┴───────┴┴─────────────┴──► steps  the source's weights sum to the height, 7; inflow equals outflow at every item
//! ```
//! Source: NNC's article, "Basic Structure". The graph depends only on the packing, not on how it was found.

use tileheap_units::CompactSort;

use super::byte_owners::ByteOwners;
use super::check::sizes;
use super::{Error, Packing, Problem, Result};
use crate::units::Bytes;

/// Bytes that one item passes on to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AllocationEdge {
    /// The previous user of the bytes; `None` for the source.
    pub from: Option<u32>,
    /// The next user of the bytes; `None` for the sink.
    pub to: Option<u32>,
    /// Offset of the bytes.
    pub offset: Bytes,
    /// Number of bytes: the edge's weight.
    pub size: Bytes,
}

/// An acyclic graph of the bytes that items reuse from each other, with a source and a sink. Items that take no bytes are left out.
///
/// ```
/// use tileheap_pack::{Item, Problem, Strategy, pack};
/// use tileheap_pack::allocation_graph::AllocationGraph;
/// use tileheap_pack::units::{Alignment, Bytes, Span};
/// # let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
/// # let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)]; // those drawn in `pack`
///
/// let problem = Problem::new(items)?;
/// let graph = AllocationGraph::of(&problem, &pack(&problem, Strategy::Auto))?;
/// let to_last = graph.edges.iter().filter(|edge| edge.to == Some(2));
/// assert_eq!(to_last.map(|edge| edge.size).sum::<Bytes>(), Bytes(7)); // from both others
/// graph.check(&problem)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocationGraph {
    /// The edges, sorted by endpoints and offset.
    pub edges: Vec<AllocationEdge>,
    /// The height of the packing: the sum of the source's weights.
    pub height: Bytes,
}

impl AllocationGraph {
    /// Builds the graph of a packing. O(n²) at worst.
    ///
    /// # Errors
    /// The packing is not valid for the problem: see [`check`](super::check()).
    pub fn of(problem: &Problem, packing: &Packing) -> Result<AllocationGraph> {
        super::check(problem, packing)?;
        let items = problem.items();
        let sizes = sizes(items);
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.retain(|&index| !items[index].span.is_empty() && sizes[index] > Bytes::ZERO);
        order.compact_sort_by_key(|&index| (items[index].span.first, index));
        let mut edges = Vec::new();
        let mut owners = ByteOwners::default();
        let mut lost = Vec::new();
        // The block owns all of its bytes before the first item and after the last.
        owners.take(0, packing.height.0, None, &mut lost);
        let ends = order.into_iter().map(|index| {
            let start = packing.offsets[index].0;
            (start, start + sizes[index].0, Some(index as u32))
        });
        for (start, end, to) in ends.chain([(0, packing.height.0, None)]) {
            lost.clear();
            owners.take(start, end, to, &mut lost);
            edges.extend(lost.iter().map(|&(first, last, from)| AllocationEdge {
                from,
                to,
                offset: Bytes(first),
                size: Bytes(last - first),
            }));
        }
        edges.compact_sort_by_key(|edge: &AllocationEdge| (edge.from, edge.to, edge.offset));
        let mut merged: Vec<AllocationEdge> = Vec::with_capacity(edges.len());
        for edge in edges {
            match merged.last_mut() {
                Some(last)
                    if (last.from, last.to) == (edge.from, edge.to)
                        && last.offset + last.size == edge.offset =>
                {
                    last.size += edge.size;
                }
                _ => merged.push(edge),
            }
        }
        Ok(AllocationGraph {
            edges: merged,
            height: packing.height,
        })
    }

    /// Checks flow conservation: inflow and outflow of every item equal its size, each edge leads from an item to a later one, and the source's
    /// weights sum to the height.
    ///
    /// # Errors
    /// The first item (`None`: source and sink) that violates this.
    pub fn check(&self, problem: &Problem) -> Result<()> {
        let items = problem.items();
        let mut flow = vec![(0u64, 0u64); items.len()];
        let (mut out_of_source, mut into_sink) = (0u64, 0u64);
        for edge in &self.edges {
            for (end, is_from) in [(edge.from, true), (edge.to, false)] {
                let bytes = match (end, is_from) {
                    (None, true) => &mut out_of_source,
                    (None, false) => &mut into_sink,
                    (Some(item), _) => {
                        let unknown = Error::EdgeItem(item, items.len());
                        let (into, out) = flow.get_mut(item as usize).ok_or(unknown)?;
                        if is_from { out } else { into }
                    }
                };
                *bytes = bytes.saturating_add(edge.size.0);
            }
            if let (Some(a), Some(b)) = (edge.from, edge.to) {
                let (a_span, b_span) = (items[a as usize].span, items[b as usize].span);
                if a_span.end > b_span.first {
                    return Err(Error::Overlap {
                        a,
                        b,
                        a_span,
                        b_span,
                        offset: edge.offset,
                        end: edge.offset + edge.size,
                    });
                }
            }
        }
        let sizes = items
            .iter()
            .zip(sizes(items))
            .map(|(item, size)| if item.span.is_empty() { 0 } else { size.0 });
        let of_items = (0..).map(Some).zip(sizes).zip(flow);
        for ((item, size), (into, out)) in
            of_items.chain([((None, self.height.0), (into_sink, out_of_source))])
        {
            if (into, out) != (size, size) {
                return Err(Error::Flow {
                    item,
                    inflow: Bytes(into),
                    outflow: Bytes(out),
                    size: Bytes(size),
                });
            }
        }
        Ok(())
    }
}
