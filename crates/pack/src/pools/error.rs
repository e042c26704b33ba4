//! Errors of problems with pools, and of their packings.

use crate::units::{Alignment, Bytes};

/// Upper limit of every offset, size, capacity and alignment, of the sum of all sizes and alignments, and of the sum of penalties.
pub(super) const LIMIT: u64 = 1 << 48;

/// An invalid problem with pools, or a packing that violates its constraints; items and pools are given by name.
///
/// The fields of a variant are in the order of its message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolsError {
    /// A list or an item refers to a name that no item or pool has.
    #[error("{0} names the {1} `{2}`, which does not exist")]
    UnknownName(String, &'static str, String),
    /// Two items or two pools with the same name.
    #[error("two {0}s are called `{1}`")]
    DuplicateName(&'static str, String),
    /// A number of an item or a pool that exceeds the limit.
    #[error("{0} of `{1}` is {2}, above the limit of {LIMIT}")]
    TooLarge(&'static str, String, u64),
    /// A span of an item or a pool that ends before it begins.
    #[error("a lifetime of `{0}` begins at step {1}, but ends at step {2}")]
    ReversedSpan(String, u32, u32),
    /// No pools, or several without a capacity.
    #[error(
        "the problem has {0} pools, {1} of them without a capacity, but must have at least one pool and at most one without a capacity"
    )]
    PoolCount(usize, usize),
    /// Two constraints, of an item and of another item or a pool, that cannot both be met.
    #[error("`{0}` and `{1}` contradict each other: {2}")]
    Contradiction(String, String, &'static str),
    /// No offset satisfies the constraints of an item and of the items that must have the same offset.
    #[error(
        "`{item}` of {size} has no possible offset: no multiple of {alignment} is between {lowest} and {highest}"
    )]
    NoOffset {
        /// The item.
        item: String,
        /// The size of the item, or of its group.
        size: Bytes,
        /// The alignment of the item, or of its group.
        alignment: Alignment,
        /// The lowest offset that the item may have.
        lowest: Bytes,
        /// The highest offset that the item may have.
        highest: Bytes,
    },
    /// A packing with a number of places that differs from the number of items.
    #[error("the packing must have one place per item, but has {0} places for {1} items")]
    PlaceCount(usize, usize),
    /// An item at an offset or in a pool (by index) that is not allowed.
    #[error("`{0}` is placed at {1} in pool {2}, which its constraints do not allow")]
    InvalidPlace(String, Bytes, u32),
    /// Two items, or an item and a reserved range of a pool, that take the same bytes; the first shared byte.
    #[error("`{0}` and `{1}` must not share bytes, but both take the byte at {2}")]
    Overlap(String, String, Bytes),
    /// Two items that must share an offset, at different offsets or in different pools.
    #[error("`{0}` and `{1}` must have the same offset in the same pool, but do not")]
    GroupSplit(String, String),
    /// The stated cost differs from the actual one.
    #[error("the packing claims a cost of {0}, but its cost is {1}")]
    Cost(u64, u64),
    /// The stated height of a pool differs from the actual one.
    #[error("the packing claims a height of {0} for pool `{1}`, whose highest item ends at {2}")]
    Height(Bytes, String, Bytes),
}
