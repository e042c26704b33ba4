//! The crate's one error type.

/// `Result` with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong with a texture cache.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A texture cache is described or used in an impossible way.
    #[error(transparent)]
    Cache(#[from] crate::CacheError),
    /// A policy that images in memory cannot follow.
    #[error(
        "policy `{policy}` uploads single levels, and a texture is one image here, which is filled at once: take one of {}",
        names(crate::PolicyKind::uploads_whole)
    )]
    LevelsPolicy {
        /// Its name.
        policy: &'static str,
    },
    /// A policy that moves textures, with a transfer queue.
    #[error(
        "relocating policy `{policy}` does not support a transfer queue: take one of {}, or no transfer queue",
        names(crate::PolicyKind::keeps_places)
    )]
    MovingPolicy {
        /// Its name.
        policy: &'static str,
    },
    /// A frame number out of order.
    #[error(
        "frame {frame} of the texture cache, with {complete} complete, comes after frame {last}: the next is {}, later than what is complete",
        last + 1
    )]
    FrameOrder {
        /// Its number.
        frame: u64,
        /// The newest that is said to be complete.
        complete: u64,
        /// The one before.
        last: u64,
    },
    /// The driver, or the way the runtime is used.
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

fn names(kind: fn(crate::PolicyKind) -> bool) -> String {
    let names = crate::PolicyKind::ALL.into_iter().filter(|&policy| kind(policy));
    names.map(crate::PolicyKind::name).collect::<Vec<_>>().join(", ")
}
