//! Records of a trace, and their tags in a file.

use crate::TextureTable;
use crate::error::Result;
use crate::ids::{Level, MipChainId, TextureId};
use crate::request::Request;

/// One record of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceRecord {
    /// Creates a texture. New ids are consecutive; released ids may be reused.
    Create {
        /// The texture.
        texture: TextureId,
        /// The texture's chain.
        chain: MipChainId,
    },
    /// Replaces the contents of a texture, possibly with another size.
    Replace {
        /// The texture.
        texture: TextureId,
        /// The texture's new chain.
        chain: MipChainId,
    },
    /// Releases a texture.
    Release {
        /// The texture.
        texture: TextureId,
    },
    /// Requests a texture.
    Use {
        /// The texture.
        texture: TextureId,
        /// The finest level needed.
        level: Level,
    },
    /// Ends the frame.
    EndFrame,
}

/// A validated record, as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEntry {
    /// A texture is released, or its contents are replaced.
    Release(TextureId),
    /// A texture is requested.
    Use(Request),
    /// The frame ends.
    EndFrame,
}

impl TraceRecord {
    /// Applies the record to `textures`; returns the entry for a cache, if any.
    ///
    /// # Errors
    /// If the texture does not exist, or cannot be created with the chain.
    pub(crate) fn apply(self, textures: &mut TextureTable) -> Result<Option<TraceEntry>> {
        Ok(Some(match self {
            TraceRecord::Create { texture, chain } => {
                textures.create(texture, chain)?;
                return Ok(None);
            }
            TraceRecord::Replace { texture, chain } => {
                textures.replace(texture, chain)?;
                TraceEntry::Release(texture)
            }
            TraceRecord::Release { texture } => {
                textures.release(texture)?;
                TraceEntry::Release(texture)
            }
            TraceRecord::Use { texture, level } => TraceEntry::Use(textures.request(texture, level)?),
            TraceRecord::EndFrame => TraceEntry::EndFrame,
        }))
    }
}

pub(super) const MAGIC: &[u8] = b"tileheap-trace\n";
pub(super) const VERSION: u64 = 1;

pub(super) const USE: u64 = 0;
pub(super) const USE_AT: u64 = 1;
pub(super) const CREATE: u64 = 2;
pub(super) const REPLACE: u64 = 3;
pub(super) const RELEASE: u64 = 4;
pub(super) const FRAME: u64 = 5;
pub(super) const END: u64 = 6;
