//! What is placed: sizes, alignments and lifetimes.

use serde::{Deserialize, Serialize};

use crate::graph::ElementType;
use crate::units::{Alignment, Bytes, Span};

/// Something that needs bytes: a tensor, or several that share a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceItem {
    /// Its name, for messages.
    pub name: String,
    /// When it lifetimes, ascending; apart from one another.
    pub lifetimes: Vec<Span>,
    /// How many bytes.
    pub size: Bytes,
    /// What its offset is a multiple of, whatever the memory.
    pub alignment: Alignment,
    /// Memory types that can hold it.
    pub memory_type_bits: u32,
    /// The memory that it has to be in, by name.
    pub memory: Option<String>,
    /// Its image, for strategies that share images; none for a buffer.
    pub image: Option<ItemImage>,
    /// The pool entry that was given to it.
    pub storage_id: Option<u32>,
    /// What it is worth in a faster memory: bytes times accesses.
    pub traffic: u64,
}

impl SpaceItem {
    /// A plain record: a lifetime and a size.
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

    /// From the first step of its lives to the last.
    pub fn span(&self) -> Span {
        let living = || self.lifetimes.iter().filter(|lifetime| !lifetime.is_empty());
        Span {
            first: living().map(|lifetime| lifetime.first).min().unwrap_or_default(),
            end: living().map(|lifetime| lifetime.end).max().unwrap_or_default(),
        }
    }

    /// Whether two live at the same step.
    pub fn overlaps(&self, other: &SpaceItem) -> bool {
        self.lifetimes
            .iter()
            .any(|one| other.lifetimes.iter().any(|two| one.overlaps(*two)))
    }
}

/// The image of an item, as pools of images see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ItemImage {
    /// Texels in a row.
    pub width: u64,
    /// Rows, those of all layers.
    pub height: u64,
    /// Type of the elements; a texel has four.
    pub element: ElementType,
    /// The storage scope.
    pub scope: String,
}
