//! Ids of textures and chains, and the number of a level.

use std::fmt;

/// A texture: a small number, given out in order, so that tables are indexed by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextureId(pub u32);

impl TextureId {
    /// The id as an index into tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for TextureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A mip level as the paper counts: 0 is 1 x 1, n is 2^n x 2^n. A texture at level n has all levels from 0 to n.
///
/// Vulkan counts the other way: a texture of `k` levels in all whose finest wanted is Vulkan's level `m` is at `k - 1 - m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(pub u8);

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which chain of a [`Geometry`] a texture has: its index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainId(pub u16);

impl fmt::Display for ChainId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
