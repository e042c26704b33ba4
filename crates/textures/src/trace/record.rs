//! Records, and how they are numbered in a file.

use crate::ids::{ChainId, Level, TextureId};

/// One record of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A texture comes to be. Ids are given out in order; released ones may come again.
    Create {
        /// Who.
        texture: TextureId,
        /// Its sizes.
        chain: ChainId,
    },
    /// A texture gets new contents, perhaps of other sizes.
    Replace {
        /// Who.
        texture: TextureId,
        /// Its sizes from now on.
        chain: ChainId,
    },
    /// A texture ceases to be.
    Release {
        /// Who.
        texture: TextureId,
    },
    /// A texture is used.
    Use {
        /// Who.
        texture: TextureId,
        /// The finest level wanted.
        level: Level,
    },
    /// The frame ends.
    EndFrame,
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
