//! Images over a device's limits: another layout, then a grid of images, then a buffer.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Convention, Generation, ImageExtent, Layout, LayoutRule, Storage};
use crate::error::{Error, Result};
use crate::graph::ElementType;
use crate::units::Bytes;

/// The largest images and buffers of a device.
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
    /// 16,384 texels a side, 2,048 layers and texels of a 3D image, 2^32 - 1 bytes of a buffer, 2^27 texels of a texel buffer: what most
    /// devices have.
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
    /// The largest image of a storage.
    pub fn image(&self, storage: Storage) -> ImageExtent {
        match storage {
            Storage::Image3d => ImageExtent {
                width: self.side_3d,
                height: self.side_3d,
                layers: self.side_3d,
            },
            _ => ImageExtent {
                width: self.side_2d,
                height: self.side_2d,
                layers: if storage == Storage::ImageArray {
                    self.layers
                } else {
                    1
                },
            },
        }
    }

    /// Whether a layout's images, or its buffer, are within the limits.
    pub fn allow(&self, layout: &Layout) -> bool {
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

/// What may be done with images over the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Oversize {
    /// Another layout may be taken.
    pub other_layout: bool,
    /// A grid of images, for kernels that take one; the built-in ones do not.
    pub split: bool,
    /// A buffer.
    pub buffer: bool,
}

impl Default for Oversize {
    fn default() -> Oversize {
        Oversize {
            other_layout: true,
            split: false,
            buffer: true,
        }
    }
}

/// Why a tensor is laid out as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorageReason {
    /// As requested.
    AsRequested,
    /// A buffer, and why it is no image.
    NoImage(String),
    /// The requested image exceeds the limits; this one does not.
    OtherLayout {
        /// The extent that is over the limits.
        extent: ImageExtent,
        /// The largest there is.
        limit: ImageExtent,
    },
    /// No layout is within the limits: it is split.
    Split {
        /// The whole extent.
        extent: ImageExtent,
        /// The largest there is.
        limit: ImageExtent,
        /// How many images.
        images: u64,
    },
    /// No image, one or several, was possible or allowed.
    Buffer {
        /// The extent that is over the limits.
        extent: ImageExtent,
        /// The largest there is.
        limit: ImageExtent,
    },
}

impl fmt::Display for StorageReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (extent, limit, instead) = match self {
            StorageReason::AsRequested => return f.write_str("as requested"),
            StorageReason::NoImage(why) => return write!(f, "no image: {why}"),
            StorageReason::OtherLayout { extent, limit } => (extent, limit, "another layout".to_owned()),
            StorageReason::Split {
                extent,
                limit,
                images,
            } => (extent, limit, format!("{images} images")),
            StorageReason::Buffer { extent, limit } => (extent, limit, "a buffer".to_owned()),
        };
        write!(f, "an image of {extent} exceeds the limit of {limit}: {instead}")
    }
}

/// More images than this in a grid are no longer bound as one kernel's descriptors.
const MOST_IMAGES: u64 = 16;

/// The layout of a tensor within the limits, and why it is that one.
///
/// In turn: the rule as it is; the other conventions of the same packing, and their layered forms, the squarest first; a grid of at most 16
/// images; a buffer with the same packing.
///
/// # Errors
/// As [`LayoutRule::apply`]; the image is over the limits and nothing else is allowed or possible.
pub fn fit_layout(
    name: &str,
    rule: &LayoutRule,
    shape: &[u64],
    element: ElementType,
    limits: &ImageLimits,
    oversize: Oversize,
) -> Result<(Layout, StorageReason)> {
    let requested = rule.apply(name, shape, element)?;
    if limits.allow(&requested) {
        return Ok((requested, StorageReason::AsRequested));
    }
    let (extent, limit) = (requested.extent, limits.image(rule.storage));
    let over = || Error::ImageTooLarge {
        tensor: name.to_owned(),
        extent,
        limit,
    };
    if !rule.storage.is_image() {
        return Err(Error::BufferTooLarge {
            tensor: name.to_owned(),
            size: requested.bytes(),
            limit: limits.buffer,
        });
    }
    if oversize.other_layout {
        let mut others = other_layouts(name, rule, &requested);
        others.retain(|layout| limits.allow(layout));
        let squareness = |layout: &Layout| layout.extent.width.abs_diff(layout.extent.height);
        if let Some(best) = others.into_iter().min_by_key(squareness) {
            return Ok((best, StorageReason::OtherLayout { extent, limit }));
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
        if images <= MOST_IMAGES {
            let reason = StorageReason::Split {
                extent,
                limit,
                images,
            };
            return Ok((split, reason));
        }
    }
    if oversize.buffer {
        let rule = LayoutRule {
            storage: Storage::Buffer,
            ..rule.clone()
        };
        let layout = rule.apply(name, shape, element)?;
        if limits.allow(&layout) {
            return Ok((layout, StorageReason::Buffer { extent, limit }));
        }
    }
    Err(over())
}

/// The same texels in images of other proportions.
fn other_layouts(name: &str, rule: &LayoutRule, requested: &Layout) -> Vec<Layout> {
    let rank = requested.blocked.len() + 1;
    let mut layouts = Vec::new();
    for generation in [Generation::Flat, Generation::Layered] {
        for convention in Convention::ALL {
            let flattening = convention.flattening(rank, generation);
            let form = convention.rule(rank, generation);
            let other = LayoutRule {
                storage: form.storage,
                flattening,
                ..rule.clone()
            };
            // A convention may not suit so few axes.
            layouts.extend(other.apply(name, &requested.shape, requested.element));
        }
    }
    layouts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(shape: &[u64], oversize: Oversize) -> Result<(Layout, StorageReason)> {
        let rule = Convention::Texture.packing(4, 1, Generation::Flat);
        fit_layout(
            "a",
            &rule,
            shape,
            ElementType::Float32,
            &ImageLimits::default(),
            oversize,
        )
    }

    #[test]
    fn another_layout_comes_before_a_grid_and_a_grid_before_a_buffer() {
        // 64 blocks of channels x 512 rows: too high; as 64 rows of 512 x 16 it is not.
        let (layout, reason) = fit(&[1, 256, 512, 16], Oversize::default()).unwrap();
        assert!(matches!(reason, StorageReason::OtherLayout { .. }), "{reason:?}");
        assert!(ImageLimits::default().allow(&layout));
        let only_split = Oversize {
            other_layout: false,
            split: true,
            ..Oversize::default()
        };
        let (layout, reason) = fit(&[1, 256, 512, 16], only_split).unwrap();
        assert!(
            matches!(reason, StorageReason::Split { images: 2, .. }),
            "{reason:?}"
        );
        assert_eq!(
            layout.images().iter().map(|image| image.height).sum::<u64>(),
            32_768
        );
        let only_buffer = Oversize {
            other_layout: false,
            split: false,
            buffer: true,
        };
        let (layout, reason) = fit(&[1, 256, 512, 16], only_buffer).unwrap();
        assert_eq!(layout.rule.storage, Storage::Buffer);
        assert!(matches!(reason, StorageReason::Buffer { .. }));
    }

    #[test]
    fn nothing_allowed_is_an_error_that_names_the_limit() {
        let nothing = Oversize {
            other_layout: false,
            split: false,
            buffer: false,
        };
        let fault = fit(&[1, 256, 512, 16], nothing).unwrap_err().to_string();
        assert!(
            fault.contains("`a`") && fault.contains("32,768") || fault.contains("32768"),
            "{fault}"
        );
        assert!(fault.contains("16384"), "{fault}");
    }
}
