//! Extents of images.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The extent of an image, in texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageExtent {
    /// Texels in a row.
    pub width: u64,
    /// Rows.
    pub height: u64,
    /// Layers, or slices of a 3D image.
    pub layers: u64,
}

impl ImageExtent {
    /// How many texels.
    pub const fn texels(self) -> u64 {
        self.width.saturating_mul(self.height).saturating_mul(self.layers)
    }
}

impl fmt::Display for ImageExtent {
    /// Width, height, layers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} x {}", self.width, self.height, self.layers)
    }
}
