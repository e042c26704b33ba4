//! Images that exceed a device's limits: another layout, a grid of images, or a buffer instead.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Convention, ConventionForm, ImageExtent, Layout, LayoutRule, Storage};
use crate::error::{Error, Result};
use crate::graph::ElementType;
use crate::units::Bytes;

/// A device's size limits for images and buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageLimits {
    /// `maxImageDimension2D`, texels.
    pub side_2d: u64,
    /// `maxImageArrayLayers`.
    pub layers: u64,
    /// `maxImageDimension3D`, texels.
    pub side_3d: u64,
    /// `maxStorageBufferRange`.
    pub buffer: Bytes,
    /// `maxTexelBufferElements`, texels.
    pub texel_buffer: u64,
}

impl Default for ImageLimits {
    /// The limits of most devices: 16,384 texels a side, 2,048 layers, 2,048 texels a side of a 3D image, 2^32 - 1 bytes of a buffer, 2^27 texels of
    /// a texel buffer.
    fn default() -> ImageLimits {
        ImageLimits {
            side_2d: 16_384,
            layers: 2_048,
            side_3d: 2_048,
            buffer: Bytes(u32::MAX as u64),
            texel_buffer: 1 << 27,
        }
    }
}

impl ImageLimits {
    /// The extent of the largest image of a storage kind.
    pub fn image(&self, storage: Storage) -> ImageExtent {
        let (side, layers) = match storage {
            Storage::Image3d => (self.side_3d, self.side_3d),
            Storage::ImageArray => (self.side_2d, self.layers),
            _ => (self.side_2d, 1),
        };
        let (width, height) = (side, side);
        ImageExtent {
            width,
            height,
            layers,
        }
    }

    /// Returns true if a layout's images, or its buffer, are within the limits.
    pub fn allows(&self, layout: &Layout) -> bool {
        match layout.rule.storage {
            Storage::Buffer => layout.bytes() <= self.buffer,
            Storage::TexelBuffer => layout.extent.texels() <= self.texel_buffer,
            storage => {
                let (most, one) = (self.image(storage), layout.tile.unwrap_or(layout.extent));
                one.width <= most.width && one.height <= most.height && one.layers <= most.layers
            }
        }
    }
}

/// The alternatives allowed for images over the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OversizePolicy {
    /// Allow another layout.
    pub other_layout: bool,
    /// Allow a grid of images, for kernels that support one; the built-in ones do not.
    pub split: bool,
    /// Allow a buffer.
    pub buffer: bool,
}

impl Default for OversizePolicy {
    fn default() -> OversizePolicy {
        OversizePolicy {
            other_layout: true,
            split: false,
            buffer: true,
        }
    }
}

/// The reason for a tensor's storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorageReason {
    /// The storage is the requested one.
    AsRequested,
    /// A buffer, with the reason why it is not an image.
    NoImage(String),
    /// The requested image exceeds the limits.
    TooLarge {
        /// The extent of the requested image.
        extent: ImageExtent,
        /// The largest extent allowed.
        limit: ImageExtent,
        /// The alternative that was chosen.
        fallback: OversizeFallback,
    },
}

/// The alternative to an image that exceeds the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OversizeFallback {
    /// An image of another layout, which is within the limits.
    OtherLayout,
    /// A grid of this many images: a single image was not possible or allowed.
    Split(u64),
    /// A buffer: neither one image nor a grid was possible or allowed.
    Buffer,
}

impl fmt::Display for StorageReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (extent, limit, fallback) = match self {
            StorageReason::AsRequested => return f.write_str("as requested"),
            StorageReason::NoImage(why) => return write!(f, "no image: {why}"),
            StorageReason::TooLarge {
                extent,
                limit,
                fallback,
            } => (extent, limit, fallback),
        };
        write!(f, "an image of {extent} exceeds the limit of {limit}: ")?;
        match fallback {
            OversizeFallback::OtherLayout => f.write_str("another layout"),
            OversizeFallback::Split(images) => write!(f, "{images} images"),
            OversizeFallback::Buffer => f.write_str("a buffer"),
        }
    }
}

/// Maximum number of images of a grid, all of which a kernel has to bind.
const MAX_IMAGES: u64 = 16;

/// Chooses a layout of a tensor that is within the limits, and returns it with the reason.
///
/// Tries in turn: the requested rule; the other conventions of the same packing and their layered forms, the squarest first; a grid of at
/// most 16 images; a buffer with the same packing.
///
/// # Errors
/// Those of [`LayoutRule::apply`]; the image exceeds the limits and no alternative is allowed or possible.
pub fn fit_layout(
    name: &str,
    rule: &LayoutRule,
    shape: &[u64],
    element: ElementType,
    limits: &ImageLimits,
    oversize: OversizePolicy,
) -> Result<(Layout, StorageReason)> {
    let requested = rule.apply(name, shape, element)?;
    if limits.allows(&requested) {
        return Ok((requested, StorageReason::AsRequested));
    }
    if !rule.storage.is_image() {
        let problem = match rule.storage {
            Storage::TexelBuffer => format!(
                "it needs a texel buffer of {} texels, but the limit is {}",
                requested.extent.texels(),
                limits.texel_buffer
            ),
            _ => format!(
                "it needs a buffer of {}, but the limit is {}",
                requested.bytes(),
                limits.buffer
            ),
        };
        return Err(Error::tensor(name, problem));
    }
    let (extent, limit) = (requested.extent, limits.image(rule.storage));
    let reason = |fallback| StorageReason::TooLarge {
        extent,
        limit,
        fallback,
    };
    if oversize.other_layout {
        let mut others = other_layouts(name, rule, &requested);
        others.retain(|layout| limits.allows(layout));
        let squareness = |layout: &Layout| layout.extent.width.abs_diff(layout.extent.height);
        if let Some(best) = others.into_iter().min_by_key(squareness) {
            return Ok((best, reason(OversizeFallback::OtherLayout)));
        }
    }
    if oversize.split {
        let mut split = requested.clone();
        split.tile = Some(ImageExtent {
            width: extent.width.min(limit.width),
            height: extent.height.min(limit.height),
            layers: extent.layers.min(limit.layers),
        });
        let images = split.grid().texels();
        if images <= MAX_IMAGES {
            return Ok((split, reason(OversizeFallback::Split(images))));
        }
    }
    if oversize.buffer {
        let mut rule = rule.clone();
        rule.storage = Storage::Buffer;
        let layout = rule.apply(name, shape, element)?;
        if limits.allows(&layout) {
            return Ok((layout, reason(OversizeFallback::Buffer)));
        }
    }
    let problem = format!(
        "it needs an image of {extent} texels, but the limit is {limit}, and no other layout, grid of images or buffer is both allowed and possible"
    );
    Err(Error::tensor(name, problem))
}

/// Layouts of the same texels in images of other proportions.
fn other_layouts(name: &str, rule: &LayoutRule, requested: &Layout) -> Vec<Layout> {
    let rank = requested.blocked.len() + 1;
    let mut layouts = Vec::new();
    for generation in [ConventionForm::Flat, ConventionForm::Layered] {
        for convention in Convention::ALL {
            let LayoutRule {
                storage, flattening, ..
            } = convention.rule(rank, generation);
            let other = LayoutRule {
                storage,
                flattening,
                ..rule.clone()
            };
            // A convention may not be applicable to so few axes.
            layouts.extend(other.apply(name, &requested.shape, requested.element));
        }
    }
    layouts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fits an image of 64 blocks of channels x 512 rows, which exceeds the height limit.
    fn fit(other_layout: bool, split: bool, buffer: bool) -> Result<(Layout, StorageReason)> {
        let rule = Convention::Texture.packing(4, 1, ConventionForm::Flat);
        let (shape, limits) = ([1, 256, 512, 16], ImageLimits::default());
        let oversize = OversizePolicy {
            other_layout,
            split,
            buffer,
        };
        fit_layout("a", &rule, &shape, ElementType::Float32, &limits, oversize)
    }

    #[test]
    fn another_layout_comes_before_a_grid_and_a_grid_before_a_buffer() {
        let shown = |reason: StorageReason| reason.to_string();
        // As 64 rows of 512 x 16 it fits.
        let (layout, reason) = fit(true, true, true).unwrap();
        assert!(ImageLimits::default().allows(&layout) && shown(reason).ends_with("another layout"));
        let (layout, reason) = fit(false, true, true).unwrap();
        assert!(shown(reason).ends_with("2 images"));
        assert_eq!(
            layout.images().iter().map(|image| image.height).sum::<u64>(),
            32_768
        );
        let (layout, reason) = fit(false, false, true).unwrap();
        assert!(layout.rule.storage == Storage::Buffer && shown(reason).ends_with("a buffer"));
        let fault = fit(false, false, false).unwrap_err().to_string();
        assert!(
            ["`a`", "32768", "16384"].iter().all(|word| fault.contains(word)),
            "{fault}"
        );
    }
}
