//! Layouts: how the elements of a tensor lie in a buffer or in images, with index maps both ways.
//!
//! ```text
//! logical        [1, 32, 40, 40]        n c h w
//!   │ packs      channels by 4          NCHW4c
//! blocked        [1, 8, 40, 40] x 4     texels, and lanes in each
//!   │ flattening layers 0, rows 3       `texture`: [A, B, C, D, 4] -> [A*B*C, D, 4]
//! image          320 rows of 40 texels
//! ```
//! Source: TVM's [RFC](crate#sources), "Texture Layout"; the later forms and byte sizes, TVM at ce22736e.

mod convention;
pub mod executorch;
mod map;
mod oversize;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ElementType, TensorError};
use crate::units::{Alignment, Bytes};

pub use convention::{Convention, Generation};
pub use map::Location;
pub use oversize::{ImageLimits, Oversize, Reason, fit_layout};

/// What holds a tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// A storage buffer.
    #[default]
    Buffer,
    /// A buffer that is read through texel views.
    TexelBuffer,
    /// A 2D image.
    Image2d,
    /// A 2D image of several layers.
    ImageArray,
    /// A 3D image.
    Image3d,
}

impl Storage {
    /// Whether it is an image.
    pub const fn is_image(self) -> bool {
        matches!(self, Storage::Image2d | Storage::ImageArray | Storage::Image3d)
    }

    /// Its name: `image-2d`.
    pub const fn name(self) -> &'static str {
        match self {
            Storage::Buffer => "buffer",
            Storage::TexelBuffer => "texel-buffer",
            Storage::Image2d => "image-2d",
            Storage::ImageArray => "image-array",
            Storage::Image3d => "image-3d",
        }
    }
}

/// `by` consecutive indices of an axis lie side by side in a texel (in a buffer: side by side); the axis is padded to a
/// multiple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pack {
    /// The axis, after reshape and order.
    pub axis: usize,
    /// How many: 4 for most.
    pub by: u64,
}

/// Which axes of the blocked shape become layers, rows and columns of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flattening {
    /// Axes before this one are layers.
    pub layers: usize,
    /// Axes from there to before this one are rows; the others are columns.
    pub rows: usize,
}

/// How tensors are laid out, whatever their dimensions.
///
/// ```
/// use tileheap_tensor::layout::{Convention, Generation, LayoutRule};
/// use tileheap_tensor::ElementType;
/// use tileheap_tensor::units::{Alignment, Bytes};
///
/// let shape = [1, 32, 40, 40]; // [n, c, h, w]
/// let image = Convention::Texture.packing(4, 1, Generation::Flat); // channels by 4, rows n * c/4 * h
/// let layout = image.apply("x", &shape, ElementType::Float16)?;
/// assert_eq!((layout.extent.width, layout.extent.height), (40, 320)); // texels
/// assert_eq!(layout.bytes(), Bytes(40 * 320 * 8));
///
/// // Where an element is, and back.
/// let at = layout.locate(&[0, 5, 2, 3]);
/// assert_eq!((at.x, at.y, at.lane), (3, 40 + 2, 1));
/// assert_eq!(layout.index_at(at), Some(vec![0, 5, 2, 3]));
/// assert_eq!(LayoutRule::buffer().apply("x", &shape, ElementType::Float16)?.bytes(), layout.bytes());
/// # let _ = Alignment::ONE;
/// # Ok::<(), tileheap_tensor::TensorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LayoutRule {
    /// What holds it.
    pub storage: Storage,
    /// Other dimensions for the same elements in the same order, before anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reshape: Option<Vec<u64>>,
    /// The axes in the order in which they lie, outermost first; as they are where empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<usize>,
    /// Axes packed into texels, the innermost last. An image without any has its last axis as lanes, which has to be 4.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packs: Vec<Pack>,
    /// How images are flattened; buffers are not.
    #[serde(default)]
    pub flattening: Flattening,
}

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

/// A rule applied to dimensions: everything that is needed to find an element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The rule.
    pub rule: LayoutRule,
    /// The logical dimensions.
    pub shape: Vec<u64>,
    /// What an element is.
    pub element: ElementType,
    /// Dimensions after reshape, order and packs, without the lanes.
    pub blocked: Vec<u64>,
    /// Elements of a texel (of a buffer without packs: 1).
    pub lanes: u64,
    /// The whole extent in texels; of a buffer, one row.
    pub extent: ImageExtent,
    /// The extent of each image, where the whole is split into a grid because it passes the limits.
    pub tile: Option<ImageExtent>,
}

impl LayoutRule {
    /// A plain row-major buffer.
    pub fn buffer() -> LayoutRule {
        LayoutRule::default()
    }

    /// A buffer with an axis packed by 4: `NCHW4c` for axis 1 of an activation, `OIHW4o` for axis 0 of weights.
    pub fn packed_buffer(axis: usize) -> LayoutRule {
        LayoutRule {
            packs: vec![Pack { axis, by: 4 }],
            ..LayoutRule::default()
        }
    }

    /// The rule applied to dimensions.
    ///
    /// # Errors
    /// A reshape to another number of elements, an order that is no permutation, a pack of an axis that is not there or by 0,
    /// an image whose last axis is not 4 and that packs none, or more than 2^63 bytes. `name` is the tensor they name.
    pub fn apply(&self, name: &str, shape: &[u64], element: ElementType) -> Result<Layout, TensorError> {
        let wrong = |problem: String| TensorError::Layout {
            tensor: name.to_owned(),
            problem,
        };
        let too_large = || wrong(format!("{shape:?} elements of {element} pass 2^63 B"));
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
                    "{:?} is no order of {} axes",
                    self.order,
                    dims.len()
                )));
            }
            dims = self.order.iter().map(|&axis| dims[axis]).collect();
        }
        let mut lanes = 1;
        for pack in &self.packs {
            let dim = dims.get_mut(pack.axis).filter(|_| pack.by > 0);
            let dim =
                dim.ok_or_else(|| wrong(format!("axis {} cannot be packed by {}", pack.axis, pack.by)))?;
            *dim = dim.div_ceil(pack.by);
            lanes *= pack.by;
        }
        let is_image = self.storage.is_image();
        if is_image && self.packs.is_empty() {
            if dims.last() != Some(&4) {
                return Err(wrong(format!(
                    "the last axis of {dims:?} is not 4, and none is packed"
                )));
            }
            dims.pop();
            lanes = 4;
        }
        let flat = self.flattening;
        if is_image && !(flat.layers <= flat.rows && flat.rows <= dims.len()) {
            let problem = format!(
                "layers {} and rows {} of {} axes",
                flat.layers,
                flat.rows,
                dims.len()
            );
            return Err(wrong(problem));
        }
        let (layers, rows) = if is_image {
            (flat.layers, flat.rows)
        } else {
            (0, 0)
        };
        let all = product(&dims).and_then(|texels| texels.checked_mul(lanes)?.checked_mul(element.bytes()));
        all.filter(|&all| all < 1 << 63).ok_or_else(too_large)?;
        // With a dimension of 0, the product of the others may still pass 64 bits.
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
    /// Bytes of a texel; of a buffer without packs, of an element.
    pub fn texel_bytes(&self) -> Bytes {
        Bytes(self.lanes * self.element.bytes())
    }

    /// Bytes from one row to the next, where rows start at multiples of `alignment`.
    pub fn row_pitch(&self, alignment: Alignment) -> Bytes {
        Bytes(self.extent.width * self.texel_bytes().0).align_up(alignment)
    }

    /// Bytes where rows start at multiples of `alignment`; a buffer has no rows.
    ///
    /// Source: TVM since #17571, `align_up(width * 4 * element, image_base_address_alignment) * height * depth`.
    pub fn bytes_with_pitch(&self, alignment: Alignment) -> Bytes {
        if !self.rule.storage.is_image() {
            return self.bytes();
        }
        Bytes(self.row_pitch(alignment).0 * self.extent.height * self.extent.layers)
    }

    /// Bytes of all texels, rows side by side.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.extent.texels() * self.texel_bytes().0)
    }

    /// How many elements the tensor has, padding not counted.
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// How many images hold it: columns, rows and layers of the grid; 1 of each where it is not split.
    pub fn grid(&self) -> ImageExtent {
        let tile = self.tile.unwrap_or(self.extent);
        let count = |whole: u64, part: u64| whole.div_ceil(part.max(1)).max(1);
        ImageExtent {
            width: count(self.extent.width, tile.width),
            height: count(self.extent.height, tile.height),
            layers: count(self.extent.layers, tile.layers),
        }
    }

    /// The extent of each image in the order of [`Location::image`]; those at the far ends may be smaller.
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
