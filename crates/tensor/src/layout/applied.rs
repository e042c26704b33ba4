//! Layouts: a rule applied to dimensions.

use super::extent::ImageExtent;
use super::rule::{Flattening, LayoutRule};
use crate::error::{Error, Result};
use crate::graph::ElementType;
use crate::units::{Alignment, Bytes};

/// A layout rule applied to a tensor's dimensions: enough to locate an element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The rule.
    pub rule: LayoutRule,
    /// The logical dimensions.
    pub shape: Vec<u64>,
    /// The element type.
    pub element: ElementType,
    /// Dimensions after reshape, order and packs, without the lanes.
    pub blocked: Vec<u64>,
    /// Elements per texel (1 for a buffer without packs).
    pub lanes: u64,
    /// The whole extent in texels; for a buffer, one row.
    pub extent: ImageExtent,
    /// The extent of each image, if the whole is split into a grid because it exceeds the limits.
    pub tile: Option<ImageExtent>,
}

impl LayoutRule {
    /// Applies the rule to dimensions.
    ///
    /// # Errors
    /// A reshape to another number of elements, an order that is not a permutation, a pack by 0 or of an axis that does not
    /// exist, an image without packs whose last axis is not 4, or more than 2^63 bytes. `name` is the tensor named in the error.
    pub fn apply(&self, name: &str, shape: &[u64], element: ElementType) -> Result<Layout> {
        let wrong = |problem: String| Error::tensor(name, problem);
        let too_large = || wrong(format!("{shape:?} elements of {element} exceed 2^63 B"));
        let product = |dims: &[u64]| dims.iter().try_fold(1u64, |sum, &dim| sum.checked_mul(dim));
        let mut dims = shape.to_vec();
        if let Some(reshape) = &self.reshape {
            if product(reshape).is_none() || product(reshape) != product(shape) {
                return Err(wrong(format!("{shape:?} cannot be reshaped to {reshape:?}")));
            }
            dims.clone_from(reshape);
        }
        if !self.order.is_empty() {
            let mut sorted = self.order.clone();
            sorted.sort_unstable();
            if !sorted.into_iter().eq(0..dims.len()) {
                return Err(wrong(format!(
                    "the order {:?} is not a permutation of {} axes",
                    self.order,
                    dims.len()
                )));
            }
            dims = self.order.iter().map(|&axis| dims[axis]).collect();
        }
        let (mut lanes, rank) = (1, dims.len());
        for pack in &self.packs {
            let dim = dims.get_mut(pack.axis).filter(|_| pack.by > 0);
            let dim = dim.ok_or_else(|| {
                wrong(format!(
                    "axis {} cannot be packed by {}: the rank is {rank}, and the factor must not be 0",
                    pack.axis, pack.by
                ))
            })?;
            *dim = dim.div_ceil(pack.by);
            lanes *= pack.by;
        }
        let is_image = self.storage.is_image();
        if is_image && self.packs.is_empty() {
            if dims.last() != Some(&4) {
                return Err(wrong(format!(
                    "an image must have a packed axis, or a last axis of 4 elements, but its dimensions are {dims:?}"
                )));
            }
            dims.pop();
            lanes = 4;
        }
        let Flattening { layers, rows } = if is_image {
            self.flattening
        } else {
            Flattening::default()
        };
        if !(layers <= rows && rows <= dims.len()) {
            return Err(wrong(format!(
                "flattening needs layers <= rows <= rank, but layers end at axis {layers} and rows at axis {rows} of a rank-{} tensor",
                dims.len()
            )));
        }
        let all = product(&dims)
            .and_then(|texels| texels.checked_mul(lanes))
            .and_then(|count| element.bytes_of(count));
        all.filter(|&all| all < 1 << 63).ok_or_else(too_large)?;
        // If a dimension is 0, the product of the others may still exceed 64 bits.
        let side = |dims: &[u64]| product(dims).ok_or_else(too_large);
        let extent = ImageExtent {
            width: side(&dims[rows..])?,
            height: side(&dims[layers..rows])?,
            layers: side(&dims[..layers])?,
        };
        Ok(Layout {
            rule: self.clone(),
            shape: shape.to_vec(),
            element,
            blocked: dims,
            lanes,
            extent,
            tile: None,
        })
    }
}

impl Layout {
    /// Bytes per texel; for a buffer without packs, bytes per element, rounded up.
    pub fn texel_bytes(&self) -> Bytes {
        Bytes(self.lanes_bytes(1))
    }

    fn lanes_bytes(&self, texels: u64) -> u64 {
        let bytes = self.element.bytes_of(texels * self.lanes);
        bytes.expect("`LayoutRule::apply` rejects layouts of more than 2^63 B")
    }

    /// Bytes if every row starts at a multiple of `alignment`; for a buffer, which has no rows, the same as [`Layout::bytes`].
    ///
    /// Source: TVM since #17571, `align_up(width * 4 * element, image_base_address_alignment) * height * depth`.
    pub fn bytes_with_pitch(&self, alignment: Alignment) -> Bytes {
        if !self.rule.storage.is_image() {
            return self.bytes();
        }
        let row = Bytes(self.lanes_bytes(self.extent.width)).align_up(alignment);
        Bytes(row.0 * self.extent.height * self.extent.layers)
    }

    /// Bytes of all texels, without row padding; elements narrower than a byte are packed.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.lanes_bytes(self.extent.texels()))
    }

    /// The number of elements of the tensor, without padding.
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// The number of images that hold the tensor: columns, rows and layers of the grid; 1 each if the layout is not split.
    pub fn grid(&self) -> ImageExtent {
        let tile = self.tile.unwrap_or(self.extent);
        let count = |whole: u64, part: u64| whole.div_ceil(part.max(1)).max(1);
        ImageExtent {
            width: count(self.extent.width, tile.width),
            height: count(self.extent.height, tile.height),
            layers: count(self.extent.layers, tile.layers),
        }
    }

    /// The extent of each image in the order of [`Location::image`](crate::layout::Location::image); those at the far ends may be smaller.
    pub fn images(&self) -> Vec<ImageExtent> {
        let (grid, tile) = (self.grid(), self.tile.unwrap_or(self.extent));
        let part = |index: u64, whole: u64, part: u64| part.min(whole - index * part);
        let mut images = Vec::new();
        for layer in 0..grid.layers {
            for row in 0..grid.height {
                for column in 0..grid.width {
                    images.push(ImageExtent {
                        width: part(column, self.extent.width, tile.width),
                        height: part(row, self.extent.height, tile.height),
                        layers: part(layer, self.extent.layers, tile.layers),
                    });
                }
            }
        }
        images
    }
}
