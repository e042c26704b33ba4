//! The description of a problem with pools: plain data with names, as in its JSON.

use serde::{Deserialize, Serialize};

use crate::units::{Alignment, Bytes, Span};

/// A packing problem with pools, before validation. Its JSON has the same fields, and omits empty ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolsDesc {
    /// The memories. One of them may have no capacity.
    pub pools: Vec<Pool>,
    /// The items to place.
    pub items: Vec<PoolItem>,
    /// Lists of items that share one offset in one pool. They take their largest size while any of them is live.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub share: Vec<Vec<String>>,
    /// Pairs that must not share bytes, even if their lifetimes do not overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<(String, String)>,
    /// Pairs of which only one item exists in any execution, such as items of two branches of a conditional: they may share bytes although their lifetimes
    /// overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclusive: Vec<(String, String)>,
    /// Pairs with the cost of letting them share bytes. The costs of repeated pairs add up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub penalties: Vec<(String, String, u64)>,
}

/// A memory that items are placed in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// The pool's name.
    pub name: String,
    /// The pool's size. A pool without a capacity is made as small as possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// Bytes that no item may take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserved: Vec<ReservedRange>,
}

/// A range of bytes that no item may take, at all steps or at some.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReservedRange {
    /// Offset of the first byte.
    pub offset: Bytes,
    /// Number of bytes.
    pub size: Bytes,
    /// The steps at which the range is reserved; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "pairs")]
    pub lifetimes: Vec<Span>,
}

/// An item to place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolItem {
    /// The item's name.
    pub id: String,
    /// The steps at which the item is live, as spans `[first, end)`; in between, others may take its bytes.
    #[serde(with = "pairs")]
    pub lifetimes: Vec<Span>,
    /// The item's size. An item of 0 bytes shares no bytes.
    pub size: Bytes,
    /// The alignment of the item's offset; 1 byte by default.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub alignment: Alignment,
    /// The item's fixed offset, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Bytes>,
    /// The lowest offset that the item may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowest: Option<Bytes>,
    /// The highest offset that the item may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest: Option<Bytes>,
    /// The pools that the item may be placed in; any pool if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<String>,
}

impl PoolItem {
    /// Creates an item without constraints on its offset or pool.
    pub fn new(id: impl Into<String>, lifetimes: Vec<Span>, size: Bytes) -> PoolItem {
        PoolItem {
            id: id.into(),
            lifetimes,
            size,
            alignment: Alignment::ONE,
            offset: None,
            lowest: None,
            highest: None,
            pools: Vec::new(),
        }
    }
}

fn one() -> Alignment {
    Alignment::ONE
}

fn is_one(alignment: &Alignment) -> bool {
    *alignment == Alignment::ONE
}

/// Serializes spans as `[first, end]`.
mod pairs {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::units::Span;

    pub(super) fn serialize<S: Serializer>(spans: &[Span], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(spans.iter().map(|span| (span.first.0, span.end.0)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Span>, D::Error> {
        let pairs: Vec<(u32, u32)> = Deserialize::deserialize(deserializer)?;
        let spans = pairs.into_iter().map(|(first, end)| Span::new(first, end));
        Ok(spans.collect())
    }
}
