//! Packings into several pools, and the answers of a search.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;
use crate::{Steps, Verdict};

/// The pool and offset of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolPlacement {
    /// The pool, by index.
    pub pool: u32,
    /// The offset in the pool.
    pub offset: Bytes,
}

/// The pool and the offset of every item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolsPacking {
    /// The placement of each item, in the problem's order.
    pub places: Vec<PoolPlacement>,
    /// For each pool, the end of its highest item.
    pub heights: Vec<Bytes>,
    /// The sum of the penalties of all pairs that share bytes.
    pub cost: u64,
}

/// The result of [`solve`](super::solve()).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolsAnswer {
    /// The best packing found.
    pub packing: Option<PoolsPacking>,
    /// A lower bound on the cost. For pools without a capacity, it covers only packings in which they are no larger than in `packing`.
    pub bound: u64,
    /// `Proved` if no packing is better, or if none exists.
    pub verdict: Verdict,
    /// Number of search steps used.
    pub steps: Steps,
    /// Items that cannot be packed together, if no packing exists and such items are known.
    pub conflict: Vec<u32>,
}
