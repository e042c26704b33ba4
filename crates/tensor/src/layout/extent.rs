//! Extents of images.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The extent of an image, in texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageExtent {
    /// Texels per row.
    pub width: u64,
    /// The number of rows.
    pub height: u64,
    /// The number of layers, or of slices of a 3D image.
    pub layers: u64,
}

impl ImageExtent {
    /// The number of texels.
    pub const fn texels(self) -> u64 {
        self.width.saturating_mul(self.height).saturating_mul(self.layers)
    }
}

impl fmt::Display for ImageExtent {
    /// Formats as width x height x layers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} x {}", self.width, self.height, self.layers)
    }
}
