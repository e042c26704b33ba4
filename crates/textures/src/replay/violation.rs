//! Rules that a policy can break.

use crate::ids::{Level, TextureId};
use crate::request::Outcome;
use crate::units::Bytes;

/// What a policy did wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A block past the budget.
    #[error("texture {texture} takes {block} at {offset}, past the budget of {budget}")]
    PastBudget {
        /// Who.
        texture: TextureId,
        /// First byte.
        offset: Bytes,
        /// Size of the block.
        block: Bytes,
        /// What there is.
        budget: Bytes,
    },
    /// A block at no multiple of the unit.
    #[error("texture {texture} is at {offset}, which is no multiple of {unit}")]
    Misaligned {
        /// Who.
        texture: TextureId,
        /// First byte.
        offset: Bytes,
        /// What it should be a multiple of.
        unit: Bytes,
    },
    /// A block smaller than what it holds.
    #[error("texture {texture} needs {upload} and gets a block of {block}")]
    TooSmall {
        /// Who.
        texture: TextureId,
        /// What it needs.
        upload: Bytes,
        /// Size of the block.
        block: Bytes,
    },
    /// Two textures share bytes.
    #[error("textures {a} and {b} share bytes at {offset}")]
    Overlap {
        /// Who was there.
        a: TextureId,
        /// Who came.
        b: TextureId,
        /// Where the newcomer starts.
        offset: Bytes,
    },
    /// An event about a block that its texture does not have.
    #[error("texture {texture} leaves {offset} of {block}, but it is not there")]
    NotThere {
        /// Who.
        texture: TextureId,
        /// First byte.
        offset: Bytes,
        /// Size of the block.
        block: Bytes,
    },
    /// A texture, or a part of one, is placed twice.
    #[error("texture {texture} is placed again without having left")]
    Twice {
        /// Who.
        texture: TextureId,
    },
    /// An outcome that is not what the events come to.
    #[error(
        "the request of texture {texture} at level {level} came out as {outcome:?}, but in memory is {found}"
    )]
    Untrue {
        /// Who.
        texture: TextureId,
        /// The level asked for.
        level: Level,
        /// What the policy said.
        outcome: Outcome,
        /// What the events come to.
        found: String,
    },
    /// A texture that shrinks to no coarser level or to more bytes.
    #[error("texture {texture} shrinks from {from} to {block} and loses no level")]
    Grows {
        /// Who.
        texture: TextureId,
        /// Size of the block before.
        from: Bytes,
        /// Size of the block now.
        block: Bytes,
    },
    /// An upload of other bytes than those asked for.
    #[error("the request of texture {texture} uploads {found} in place of {expected}")]
    Upload {
        /// Who.
        texture: TextureId,
        /// What was uploaded.
        found: Bytes,
        /// What was asked for.
        expected: Bytes,
    },
    /// The gaps at the walls are larger than they may be.
    #[error("the walls leave {gaps} unused; at most {worst} may be")]
    Gaps {
        /// What they leave.
        gaps: Bytes,
        /// The bound.
        worst: Bytes,
    },
}
