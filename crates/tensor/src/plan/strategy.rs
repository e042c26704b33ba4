//! The interface of placement strategies.

use std::fmt;

use super::item::SpaceItem;
use super::memory::MemoryDesc;
use super::types::Region;
use crate::error::Result;
use crate::units::Bytes;

/// Decides the memory and the offset of every item.
///
/// Implemented by [`Offsets`](super::Offsets), [`StorageIds`](super::StorageIds) and callers' own strategies. Every result is checked by
/// [`place`](super::placement::place()): items with overlapping lifetimes share no bytes, and alignments and capacities hold.
///
/// ```
/// use tileheap_tensor::plan::{MemoryId, Region};
/// use tileheap_tensor::plan::placement::{PlacedItems, SpaceItem};
/// use tileheap_tensor::units::{Alignment, Bytes};
/// use tileheap_tensor::{ElementType, GraphBuilder, MemoryDesc, PlacementStrategy, StorageOptions, Error, TensorPlanOptions, TensorRequirements, choose, plan};
///
/// /// Places everything in the last memory, at consecutive offsets.
/// #[derive(Debug)]
/// struct Stacked;
///
/// impl PlacementStrategy for Stacked {
///     fn name(&self) -> &str {
///         "stacked"
///     }
///
///     fn place(&self, items: &[SpaceItem], memories: &[MemoryDesc]) -> Result<PlacedItems, Error> {
///         let memory = MemoryId(memories.len() as u32 - 1);
///         let mut end = Bytes::ZERO;
///         let place = |item: &SpaceItem| {
///             let offset = end.align_up(item.alignment);
///             end = offset + item.size;
///             Region { memory, offset, size: item.size }
///         };
///         Ok(PlacedItems::from(items.iter().map(place).collect::<Vec<_>>()))
///     }
/// }
///
/// let mut graph = GraphBuilder::new("two");
/// let x = graph.input("x", ElementType::Float32, [64]);
/// let y = graph.operator("y", "exp", [], &[x])?[0];
/// graph.output(y);
/// let choice = choose(&graph.build()?, &StorageOptions::default())?;
/// let pitch = Alignment::new(64).expect("not 0"); // of image rows, in bytes
/// let needs: Vec<_> = choice.layouts.iter().map(|of| TensorRequirements::of_layout(of, pitch)).collect();
/// let options = TensorPlanOptions { strategy: &Stacked, in_place: false, ..TensorPlanOptions::default() };
/// let plan = plan(&choice.graph, &choice.layouts, &needs, &options)?;
/// assert_eq!(plan.size(), Bytes(2 * 64 * 4));
/// # Ok::<(), tileheap_tensor::Error>(())
/// ```
pub trait PlacementStrategy: fmt::Debug + Send + Sync {
    /// The name of the strategy, for the command line and messages.
    fn name(&self) -> &str;

    /// Describes the strategy in one sentence.
    fn description(&self) -> &str {
        ""
    }

    /// Places every item.
    ///
    /// # Errors
    /// An item does not fit; [`Error::Strategy`](crate::Error::Strategy) for a strategy's own reasons.
    fn place(&self, items: &[SpaceItem], memories: &[MemoryDesc]) -> Result<PlacedItems>;
}

/// The result of a strategy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedItems {
    /// The region of each item.
    pub regions: Vec<Region>,
    /// Bytes reserved in each memory; a memory without an entry ends with its last region.
    pub reserved: Vec<Bytes>,
    /// Upper bounds on the traffic that each memory can keep; without an entry, the traffic of all items that the
    /// memory can hold.
    pub traffic_bounds: Vec<Option<Bytes>>,
    /// Lower bounds that the strategy proved on the bytes of any placement of the same items in each memory; without an entry,
    /// that of [`lower_bound`](tileheap_pack::lower_bound()).
    pub lower_bounds: Vec<Option<Bytes>>,
}

impl From<Vec<Region>> for PlacedItems {
    fn from(regions: Vec<Region>) -> PlacedItems {
        PlacedItems {
            regions,
            ..PlacedItems::default()
        }
    }
}
