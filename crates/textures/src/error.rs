//! The crate's error type.

use crate::ids::{ChainId, Level, TextureId};
use crate::replay::Violation;
use crate::units::Bytes;

/// `Result` with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a texture cache, a trace or a replay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A chain has no levels, more than 32, or sizes that are 0 or decrease.
    #[error(
        "level {level} of chain {chain} has {size} after {before}; a chain has 1 to 32 levels of non-zero sizes that do not decrease"
    )]
    InvalidChain {
        /// Index of the chain in the geometry.
        chain: usize,
        /// The first invalid level; the number of levels if there are none or too many.
        level: usize,
        /// Size at that level.
        size: Bytes,
        /// Size at the level before.
        before: Bytes,
    },
    /// A geometry has no chains, or more than 65,536.
    #[error("the geometry has {chains} chains; it needs 1 to 65,536")]
    ChainCount {
        /// Number of chains.
        chains: usize,
    },
    /// The budget does not hold the largest texture.
    #[error("a budget of {budget} is smaller than the largest texture, which takes {largest}")]
    BudgetTooSmall {
        /// The requested budget.
        budget: Bytes,
        /// Size of the largest texture.
        largest: Bytes,
    },
    /// The budget exceeds the offsets that a policy can address.
    #[error(
        "a budget of {budget} is larger than {largest}, the size of {blocks} blocks of the smallest size"
    )]
    BudgetTooLarge {
        /// The requested budget.
        budget: Bytes,
        /// The largest supported budget.
        largest: Bytes,
        /// How many blocks a policy can address.
        blocks: u64,
    },
    /// A texture is used that does not exist.
    #[error("texture {texture} does not exist: it was never created, or it was released")]
    UnknownTexture {
        /// The id.
        texture: TextureId,
    },
    /// A texture is created again with another chain before it is released.
    #[error("texture {texture} has chain {first} and cannot be created again with chain {second}")]
    ChainMismatch {
        /// The id.
        texture: TextureId,
        /// The chain it has.
        first: ChainId,
        /// The chain of the second creation.
        second: ChainId,
    },
    /// A texture is created out of order.
    #[error("texture {texture} is created before texture {expected}: new ids are consecutive")]
    IdOutOfOrder {
        /// The id.
        texture: TextureId,
        /// The next new id.
        expected: TextureId,
    },
    /// A texture is created with a chain that the geometry does not have.
    #[error("texture {texture} has chain {chain}; the geometry has {chains} chains")]
    UnknownChain {
        /// The id.
        texture: TextureId,
        /// Its chain.
        chain: ChainId,
        /// Number of chains in the geometry.
        chains: usize,
    },
    /// A texture is requested at a level that its chain does not have.
    #[error("texture {texture} is requested at level {level}; its chain {chain} has levels 0 to {finest}")]
    UnknownLevel {
        /// The id.
        texture: TextureId,
        /// The level.
        level: Level,
        /// Its chain.
        chain: ChainId,
        /// The finest level of the chain.
        finest: Level,
    },
    /// No policy has this name.
    #[error("unknown policy `{name}`; known policies: {known}")]
    UnknownPolicy {
        /// The name.
        name: String,
        /// Names of all policies.
        known: String,
    },
    /// No scenario has this name.
    #[error("unknown scenario `{name}`; known scenarios: {known}")]
    UnknownScenario {
        /// The name.
        name: String,
        /// Names of all scenarios.
        known: String,
    },
    /// The policy uploads single levels, which the Vulkan cache does not support.
    #[error(
        "policy `{policy}` uploads single levels, but the Vulkan cache uploads a texture as one whole image; built-in policies that upload whole textures: {known}"
    )]
    SingleLevelPolicy {
        /// Name of the policy.
        policy: String,
        /// Names of built-in policies that upload textures whole.
        known: String,
    },
    /// The policy relocates textures, and uploads have a transfer queue.
    #[error(
        "relocating policy `{policy}` does not support a transfer queue; built-in policies that do not relocate: {known}"
    )]
    RelocatingPolicy {
        /// Name of the policy.
        policy: String,
        /// Names of built-in policies that neither relocate nor upload single levels.
        known: String,
    },
    /// A frame number is out of order.
    #[error(
        "frame {frame} cannot begin after frame {last} with frame {complete} complete: the next frame is {}, and only earlier ones can be complete",
        last + 1
    )]
    FrameOrder {
        /// The frame number.
        frame: u64,
        /// The newest complete frame, as passed by the caller.
        complete: u64,
        /// The frame before.
        last: u64,
    },
    /// A policy breaks a rule: a defect of the policy.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// A trace cannot be read.
    #[error("cannot read the trace: {0}")]
    TraceIo(#[from] std::io::Error),
    /// The file does not start with the magic of a trace.
    #[error("not a trace: the file does not start with `tileheap-trace`")]
    NotATrace,
    /// The trace has an unknown version.
    #[error("the trace has version {found}; only version {known} can be read")]
    TraceVersion {
        /// Version in the file.
        found: u64,
        /// The supported version.
        known: u64,
    },
    /// The trace ends without its end record.
    #[error("the trace is truncated at byte {at}, in frame {frame}: the end record is missing")]
    TraceTruncated {
        /// Length of the file.
        at: u64,
        /// The frame that is cut off.
        frame: u64,
    },
    /// A number in the trace is invalid.
    #[error("the trace is damaged at byte {at}, in frame {frame}: invalid {what} {found}")]
    TraceDamaged {
        /// Offset in the file.
        at: u64,
        /// The frame.
        frame: u64,
        /// What the number stands for.
        what: &'static str,
        /// The number.
        found: u64,
    },
    /// A record of the trace is inconsistent with those before it.
    #[error("frame {frame} of the trace: {error}")]
    TraceRecord {
        /// The frame.
        frame: u64,
        /// What is wrong with it.
        error: Box<Error>,
    },
    /// An error of the driver or the runtime.
    #[cfg(feature = "vulkan")]
    #[error(transparent)]
    Tileheap(#[from] tileheap::Error),
}

#[cfg(feature = "vulkan")]
impl From<tileheap::runtime::RuntimeError> for Error {
    fn from(error: tileheap::runtime::RuntimeError) -> Error {
        Error::Tileheap(error.into())
    }
}
