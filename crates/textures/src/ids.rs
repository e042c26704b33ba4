//! Ids of textures and chains, and the number of a level.

use std::fmt;

/// Id of a texture. New ids are consecutive, so that they can index tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextureId(pub u32);

impl TextureId {
    /// The id as an index into tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A mip level, counted from the coarsest: at level n, the larger side has at least 2^n and less than 2^(n + 1) texels. A texture at level n has all
/// levels from 0 to n.
///
/// Vulkan counts from the finest: Vulkan's level `m` of a texture with `k` levels is level `k - 1 - m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(pub u8);

/// Index of a chain in a [`Geometry`](crate::Geometry).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MipChainId(pub u16);

macro_rules! display {
    ($($id:ident)*) => {$(
        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}
display!(TextureId Level MipChainId);
