//! What can be wrong with a geometry, a budget, a use of a texture, or a policy.

use super::{ChainId, Level, TextureId};
use crate::units::Bytes;

/// What is wrong with a cache's description or with how it is used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// A chain without levels, with more than 32, or whose sizes are 0 or fall.
    #[error(
        "chain {chain}: level {level} has {size} after {before}; 1 to 32 levels, sizes above 0 that never fall"
    )]
    Chain {
        /// The chain's place in the geometry.
        chain: usize,
        /// The first wrong level; the number of levels where there are none or too many.
        level: usize,
        /// Its size.
        size: Bytes,
        /// The size of the level before.
        before: Bytes,
    },
    /// A geometry without chains, or with more than 65,536.
    #[error("a geometry of {chains} chains; it needs 1 to 65,536")]
    ChainCount {
        /// How many there are.
        chains: usize,
    },
    /// The budget does not hold the largest texture.
    #[error("a budget of {budget} is smaller than the largest texture, which takes {largest}")]
    BudgetTooSmall {
        /// What was asked for.
        budget: Bytes,
        /// What one texture takes.
        largest: Bytes,
    },
    /// The budget is beyond what offsets in a policy's tables reach.
    #[error(
        "a budget of {budget} is larger than {largest}, the most that {blocks} blocks of the smallest size fill"
    )]
    BudgetTooLarge {
        /// What was asked for.
        budget: Bytes,
        /// The most there can be.
        largest: Bytes,
        /// How many blocks a table holds.
        blocks: u64,
    },
    /// An id that is used and does not exist.
    #[error("texture {texture} is not there: it was never created, or released")]
    Unknown {
        /// The id.
        texture: TextureId,
    },
    /// An id that is created again with other sizes and was not released.
    #[error(
        "texture {texture} has two sizes: it was created with chain {first} and again with chain {second}"
    )]
    TwoSizes {
        /// The id.
        texture: TextureId,
        /// The chain it has.
        first: ChainId,
        /// The chain it is given.
        second: ChainId,
    },
    /// Ids are dense: a new one is the number of those before it.
    #[error("texture {texture} is created before texture {expected}: ids are given out in order")]
    Sparse {
        /// The id.
        texture: TextureId,
        /// The next new id.
        expected: TextureId,
    },
    /// A chain that the geometry does not have.
    #[error("texture {texture} has chain {chain}; the geometry has {chains}")]
    NoChain {
        /// The id.
        texture: TextureId,
        /// Its chain.
        chain: ChainId,
        /// How many there are.
        chains: usize,
    },
    /// A level that the texture does not have.
    #[error("texture {texture} is asked for at level {level}; its chain {chain} has levels 0 to {finest}")]
    NoLevel {
        /// The id.
        texture: TextureId,
        /// The level.
        level: Level,
        /// Its chain.
        chain: ChainId,
        /// Its finest level.
        finest: Level,
    },
    /// A policy's name that is none.
    #[error("no policy is called `{name}`: one of {known}")]
    UnknownPolicy {
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
    /// A scenario's name that is none.
    #[error("no scenario is called `{name}`: one of {known}")]
    UnknownScenario {
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
}
