//! Rules that a policy can break.

use crate::ids::{Level, TextureId};
use crate::request::Outcome;
use crate::units::Bytes;

/// A rule that a policy broke.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A block extends past the budget.
    #[error("texture {texture} takes {block} at {offset}, past the budget of {budget}")]
    PastBudget {
        /// The texture.
        texture: TextureId,
        /// First byte.
        offset: Bytes,
        /// Size of the block.
        block: Bytes,
        /// The budget.
        budget: Bytes,
    },
    /// A block is not aligned to the unit.
    #[error("texture {texture} is at {offset}, which is not a multiple of {unit}")]
    Misaligned {
        /// The texture.
        texture: TextureId,
        /// First byte.
        offset: Bytes,
        /// The unit.
        unit: Bytes,
    },
    /// A block is smaller than its contents.
    #[error("texture {texture} needs {upload} and is placed in a block of {block}")]
    TooSmall {
        /// The texture.
        texture: TextureId,
        /// Size of the upload.
        upload: Bytes,
        /// Size of the block.
        block: Bytes,
    },
    /// Two blocks overlap.
    #[error("the blocks of textures {a} and {b} overlap at {offset}")]
    Overlap {
        /// The resident texture.
        a: TextureId,
        /// The texture placed over it.
        b: TextureId,
        /// First byte of the second block.
        offset: Bytes,
    },
    /// An event names a block that the texture does not have.
    #[error("texture {texture} is evicted or moved from {block} at {offset}, where it is not resident")]
    NotResident {
        /// The texture.
        texture: TextureId,
        /// First byte.
        offset: Bytes,
        /// Size of the block.
        block: Bytes,
    },
    /// A texture, or a part of one, is placed twice without an eviction between.
    #[error("texture {texture} is placed again without an eviction")]
    PlacedTwice {
        /// The texture.
        texture: TextureId,
    },
    /// An outcome contradicts the events.
    #[error("the outcome of texture {texture} at level {level} is {outcome:?}, but memory has {found}")]
    WrongOutcome {
        /// The texture.
        texture: TextureId,
        /// The requested level.
        level: Level,
        /// The outcome by the policy.
        outcome: Outcome,
        /// The resident parts by the events.
        found: String,
    },
    /// A texture shrinks without dropping a level, or to more bytes.
    #[error("texture {texture} shrinks from {from} to {block} without dropping a level")]
    InvalidShrink {
        /// The texture.
        texture: TextureId,
        /// Size of the block before.
        from: Bytes,
        /// Size of the block after.
        block: Bytes,
    },
    /// The uploaded bytes differ from those requested.
    #[error("the request of texture {texture} uploads {found} instead of {expected}")]
    UploadSize {
        /// The texture.
        texture: TextureId,
        /// Uploaded bytes.
        found: Bytes,
        /// Requested bytes.
        expected: Bytes,
    },
    /// The gaps at the walls exceed their bound.
    #[error("the walls leave {gaps} unused, more than the bound of {worst}")]
    Gaps {
        /// Bytes in gaps.
        gaps: Bytes,
        /// The bound.
        worst: Bytes,
    },
}
