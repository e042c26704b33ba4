//! Items to be placed: sizes, alignments and lifetimes.

use serde::{Deserialize, Serialize};

use crate::graph::ElementType;
use crate::units::{Alignment, Bytes, Span};

/// An item that needs bytes: a tensor, or several that share a placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceItem {
    /// The item's name, for messages.
    pub name: String,
    /// The item's lifetimes, ascending and disjoint.
    pub lifetimes: Vec<Span>,
    /// The item's size.
    pub size: Bytes,
    /// The alignment of the item's offset, in addition to that of the memory.
    pub alignment: Alignment,
    /// Memory types that can hold the item, as a bit mask.
    pub memory_type_bits: u32,
    /// The name of the memory that the item is pinned to.
    pub memory: Option<String>,
    /// The item's image, for strategies that share images; `None` for a buffer.
    pub image: Option<ItemImage>,
    /// The pool entry that another tool assigned to the item.
    pub storage_id: Option<u32>,
    /// The item's weight when items for a faster memory are selected: bytes times accesses.
    pub traffic: u64,
}

impl SpaceItem {
    /// An item with only a lifetime and a size.
    pub fn record(name: impl Into<String>, lifetime: Span, size: Bytes) -> SpaceItem {
        SpaceItem {
            name: name.into(),
            lifetimes: vec![lifetime],
            size,
            alignment: Alignment::ONE,
            memory_type_bits: u32::MAX,
            memory: None,
            image: None,
            storage_id: None,
            traffic: size.0,
        }
    }

    /// The span from the first step of the item's lifetimes to the end of the last.
    pub fn span(&self) -> Span {
        let living = || self.lifetimes.iter().filter(|lifetime| !lifetime.is_empty());
        Span {
            first: living().map(|lifetime| lifetime.first).min().unwrap_or_default(),
            end: living().map(|lifetime| lifetime.end).max().unwrap_or_default(),
        }
    }

    /// Returns true if two items are live at the same step.
    pub fn overlaps(&self, other: &SpaceItem) -> bool {
        self.lifetimes
            .iter()
            .any(|one| other.lifetimes.iter().any(|two| one.overlaps(*two)))
    }
}

/// The image of an item, as image pools see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ItemImage {
    /// Texels per row.
    pub width: u64,
    /// The number of rows in all layers.
    pub height: u64,
    /// The element type; a texel has four elements.
    pub element: ElementType,
    /// The storage scope.
    pub scope: String,
}
