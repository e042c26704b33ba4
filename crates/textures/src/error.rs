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
    /// A geometry has so many chains: none, or more than 65,536.
    #[error("the geometry has {0} chains; it needs 1 to 65,536")]
    ChainCount(usize),
    /// A budget that does not hold the largest texture, of the second size.
    #[error("a budget of {0} is smaller than the largest texture, which takes {1}")]
    BudgetTooSmall(Bytes, Bytes),
    /// A budget above the second size, of as many blocks as a policy can address.
    #[error("a budget of {0} is larger than {1}, the size of {2} blocks of the smallest size")]
    BudgetTooLarge(Bytes, Bytes, u64),
    /// A texture is used that does not exist.
    #[error("texture {0} does not exist: it was never created, or it was released")]
    UnknownTexture(TextureId),
    /// A texture with the first chain is created again with the second before it is released.
    #[error("texture {0} has chain {1} and cannot be created again with chain {2}")]
    ChainMismatch(TextureId, ChainId, ChainId),
    /// A texture is created before the second, which is the next new one.
    #[error("texture {0} is created before texture {1}: new ids are consecutive")]
    IdOutOfOrder(TextureId, TextureId),
    /// A texture is created with a chain that the geometry, which has so many, does not have.
    #[error("texture {0} has chain {1}; the geometry has {2} chains")]
    UnknownChain(TextureId, ChainId, usize),
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
    /// No policy has the first name; the second text lists those there are.
    #[error("unknown policy `{0}`; known policies: {1}")]
    UnknownPolicy(String, String),
    /// No scenario has the first name; the second text lists those there are.
    #[error("unknown scenario `{0}`; known scenarios: {1}")]
    UnknownScenario(String, String),
    /// The named policy uploads single levels, which the Vulkan cache does not support; built-in policies that do not.
    #[error(
        "policy `{0}` uploads single levels, but the Vulkan cache uploads a texture as one whole image; built-in policies that upload whole textures: {1}"
    )]
    SingleLevelPolicy(String, String),
    /// The named policy relocates textures, and uploads have a transfer queue; built-in policies that can be used.
    #[error(
        "relocating policy `{0}` does not support a transfer queue; built-in policies that do not relocate: {1}"
    )]
    RelocatingPolicy(String, String),
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
    #[error("the trace has version {0}; only version {1} can be read")]
    TraceVersion(u64, u64),
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
    /// A record in this frame of the trace is inconsistent with those before it.
    #[error("frame {0} of the trace: {1}")]
    TraceRecord(u64, Box<Error>),
    /// An error of the driver or the runtime.
    #[cfg(feature = "vulkan")]
    #[error(transparent)]
    Tileheap(Box<tileheap::Error>),
}

#[cfg(feature = "vulkan")]
impl From<tileheap::Error> for Error {
    fn from(error: tileheap::Error) -> Error {
        Error::Tileheap(Box::new(error))
    }
}

#[cfg(feature = "vulkan")]
impl From<tileheap::runtime::RuntimeError> for Error {
    fn from(error: tileheap::runtime::RuntimeError) -> Error {
        tileheap::Error::from(error).into()
    }
}
