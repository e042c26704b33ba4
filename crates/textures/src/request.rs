//! A request of a texture, and its outcome.

use crate::ids::{Level, MipChainId, TextureId};
use crate::units::Bytes;

/// One use of a texture in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The texture.
    pub texture: TextureId,
    /// The finest level needed. A texture resident at a finer level is a hit.
    pub level: Level,
    /// The texture's chain.
    pub chain: MipChainId,
    /// Size of the texture at that level: the most that an upload transfers.
    pub size: Bytes,
}

/// Outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The texture is resident.
    Hit {
        /// The first byte of the texture's block.
        offset: Bytes,
    },
    /// The texture was placed and must be uploaded before it is drawn; the journal lists the evictions.
    Upload {
        /// The first byte of the texture's block.
        offset: Bytes,
    },
    /// The texture is not placed: it is drawn from another source at the same cost in bytes, or at a coarser level.
    Bypass,
}
