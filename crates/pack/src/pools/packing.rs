//! Packings of several pools, and answers of a search.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;
use crate::{Steps, Verdict};

/// Where an item is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The pool, by index.
    pub pool: u32,
    /// The offset in it.
    pub offset: Bytes,
}

/// A place for every item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolsPacking {
    /// The place of each item, in the problem's order.
    pub places: Vec<Place>,
    /// For each pool the end of its highest item.
    pub heights: Vec<Bytes>,
    /// The penalties of all pairs that share bytes.
    pub cost: u64,
}

/// The answer of [`solve`](super::solve()).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolsAnswer {
    /// The best packing that was found.
    pub packing: Option<PoolsPacking>,
    /// Lower bound of the cost; with a pool without a capacity, of packings as low as this one.
    pub bound: u64,
    /// Proved: no packing is better, or there is none.
    pub verdict: Verdict,
    /// The steps that were used.
    pub steps: Steps,
    /// Items that fit together in no packing, where there is none and they are known.
    pub conflict: Vec<u32>,
}
