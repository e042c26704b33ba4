//! One request of a texture, and its outcome.

use crate::ids::{ChainId, Level, TextureId};
use crate::units::Bytes;

/// One use of a texture in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Who.
    pub texture: TextureId,
    /// The finest level that is wanted. A texture that is there at a finer one serves as well.
    pub level: Level,
    /// The texture's chain.
    pub chain: ChainId,
    /// What the texture takes at that level, and what an upload moves.
    pub size: Bytes,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The texture is there.
    Hit {
        /// The first byte of its block.
        offset: Bytes,
    },
    /// The texture was placed and has to be uploaded before it is drawn; the journal says who had to go.
    Upload {
        /// The first byte of its block.
        offset: Bytes,
    },
    /// The texture gets no place this time: it is drawn from elsewhere, at the same cost in bytes, or something coarser is.
    Bypass,
}
