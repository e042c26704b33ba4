//! Errors of problems with pools, and of their packings.

use crate::units::{Alignment, Bytes};

/// An invalid problem with pools, or an invalid packing of one; items and pools are named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolsError {
    /// A name that no item or pool has.
    #[error("{of} names the {kind} `{name}`, which does not exist")]
    UnknownName {
        /// The list or the item that has the name.
        of: String,
        /// An item or a pool.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// Two items or two pools of one name.
    #[error("two {kind}s are called `{name}`")]
    DuplicateName {
        /// An item or a pool.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A number past its limit.
    #[error("{what} of `{name}` is {found}, above the limit of {limit}")]
    TooLarge {
        /// The quantity.
        what: &'static str,
        /// The item or pool.
        name: String,
        /// Its value.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// A span that ends before it begins.
    #[error("a lifetime of `{name}` begins at {first} and ends at {end}")]
    Backwards {
        /// The item or pool.
        name: String,
        /// Its first step.
        first: u32,
        /// The first step after.
        end: u32,
    },
    /// No pools, or several without a capacity.
    #[error(
        "a problem has at least one pool, and at most one without a capacity; this one has {pools} and {open}"
    )]
    Pools {
        /// The number of pools.
        pools: usize,
        /// Those without a capacity.
        open: usize,
    },
    /// Two constraints of which only one can be met.
    #[error("`{a}` and `{b}` contradict each other: {why}")]
    Contradiction {
        /// An item.
        a: String,
        /// Another item, or a pool.
        b: String,
        /// The two constraints.
        why: &'static str,
    },
    /// An item without an offset: its constraints, and those of what it shares one with, exclude all.
    #[error("`{item}` of {size} has no offset: a multiple of {alignment} from {lowest} to {highest}")]
    NoOffset {
        /// The item.
        item: String,
        /// Its size, or its group's.
        size: Bytes,
        /// Its alignment, or its group's.
        alignment: Alignment,
        /// The lowest offset.
        lowest: Bytes,
        /// The highest offset.
        highest: Bytes,
    },
    /// A packing that breaks a constraint.
    #[error("{0}")]
    Broken(#[from] Broken),
}

/// How a packing breaks a constraint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Broken {
    /// Another number of places than of items.
    #[error("a packing of {found} places for {expected} items")]
    Count {
        /// The number of items.
        expected: usize,
        /// The number of places.
        found: usize,
    },
    /// An item at an offset or in a pool where it may not be.
    #[error("`{item}` may not be at {offset} of pool {pool}")]
    Place {
        /// The item.
        item: String,
        /// Its pool, by index.
        pool: u32,
        /// Its offset.
        offset: Bytes,
    },
    /// Two items, or an item and a reserved range, on the same bytes.
    #[error("`{a}` and `{b}` must not share bytes, and both take the one at {offset}")]
    Shared {
        /// An item.
        a: String,
        /// Another item, or the pool whose range is reserved.
        b: String,
        /// The first byte of both.
        offset: Bytes,
    },
    /// Two items apart that must share an offset.
    #[error("`{a}` and `{b}` must share an offset and are apart")]
    Apart {
        /// An item.
        a: String,
        /// Another item.
        b: String,
    },
    /// A wrong cost.
    #[error("the packing claims a cost of {claimed}, and has one of {found}")]
    Cost {
        /// What it claims.
        claimed: u64,
        /// What it has.
        found: u64,
    },
    /// A wrong height.
    #[error("the packing claims a height of {claimed} for pool `{pool}`, whose highest item ends at {found}")]
    Height {
        /// The pool.
        pool: String,
        /// What it claims.
        claimed: Bytes,
        /// The end of its highest item.
        found: Bytes,
    },
}
