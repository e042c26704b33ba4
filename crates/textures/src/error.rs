//! The crate's error type.

use crate::ids::{Level, MipChainId, TextureId};
use crate::replay::Violation;
use crate::units::Bytes;

/// `Result` with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a texture cache, a trace or a replay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A geometry has no chains or too many, or a chain has no sizes, too many, or sizes that are 0 or decrease.
    #[error("{0}")]
    Geometry(String),
    /// A budget smaller than the largest texture, whose size is the second field.
    #[error("a budget of {0} is smaller than the largest texture, which takes {1}")]
    BudgetTooSmall(Bytes, Bytes),
    /// A budget above the limit in the second field: the total size of as many blocks of the smallest size as a policy can address (third field).
    #[error(
        "a budget of {0} exceeds the maximum of {1}: policies can address at most {2} blocks of the smallest size"
    )]
    BudgetTooLarge(Bytes, Bytes, u64),
    /// A texture that does not exist is used.
    #[error("texture {0} does not exist: it was never created, or it was released")]
    UnknownTexture(TextureId),
    /// A texture with the first chain is created again with the second chain, without having been released.
    #[error("texture {0} has chain {1} and cannot be created again with chain {2}")]
    ChainMismatch(TextureId, MipChainId, MipChainId),
    /// A texture is created out of order; the second id is the next new one.
    #[error("texture {0} is created before texture {1}: new ids must be consecutive")]
    IdOutOfOrder(TextureId, TextureId),
    /// A texture is created with a chain that the geometry does not have; the last field is the number of its chains.
    #[error("texture {0} has chain {1}, which is out of range: the geometry has {2} chains")]
    UnknownChain(TextureId, MipChainId, usize),
    /// A texture is requested at a level that its chain does not have; the last field is the chain's finest level.
    #[error("texture {0} is requested at level {1}; its chain {2} has levels 0 to {3}")]
    UnknownLevel(TextureId, Level, MipChainId, Level),
    /// No policy or scenario has this name; the last string lists the known names.
    #[error("unknown {0} `{1}`; known ones: {2}")]
    UnknownName(&'static str, String, String),
    /// The first string sets no parameter of the named policy; the third lists the known parameters.
    #[error("`{0}` does not set a parameter of policy `{1}`; use name=value with one of: {2}")]
    PolicyParameter(String, String, String),
    /// A frame number is out of order: the frame, the newest complete one, and the previous frame.
    #[error(
        "frame {0} cannot begin after frame {2} with frames up to {1} complete: the next frame is {next}, and only earlier frames can be complete",
        next = .2 + 1
    )]
    FrameOrder(u64, u64, u64),
    /// A policy breaks a rule: a defect of the policy.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// A trace cannot be read.
    #[error("cannot read the trace: {0}")]
    TraceIo(#[from] std::io::Error),
    /// The file does not start with the magic bytes of a trace.
    #[error("not a trace: the file does not start with `tileheap-trace`")]
    NotATrace,
    /// The trace has an unknown version.
    #[error("the trace has version {0}; only version {1} can be read")]
    TraceVersion(u64, u64),
    /// The trace ends at this byte and frame without an end record.
    #[error("the trace is truncated at byte {0}, in frame {1}: the end record is missing")]
    TraceTruncated(u64, u64),
    /// A number at this byte and frame of the trace is invalid.
    #[error("the trace is damaged at byte {0}, in frame {1}: invalid {2} {3}")]
    TraceDamaged(u64, u64, &'static str, u64),
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
