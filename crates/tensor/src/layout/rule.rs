//! Layout rules, independent of a tensor's dimensions.

use serde::{Deserialize, Serialize};

/// The kind of object that holds a tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// A storage buffer.
    #[default]
    Buffer,
    /// A uniform texel buffer or storage texel buffer.
    TexelBuffer,
    /// A 2D image.
    Image2d,
    /// A 2D image with several layers.
    ImageArray,
    /// A 3D image.
    Image3d,
}

impl Storage {
    /// Returns true for images.
    pub const fn is_image(self) -> bool {
        matches!(self, Storage::Image2d | Storage::ImageArray | Storage::Image3d)
    }

    /// The name of the storage kind, such as `image-2d`.
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

/// `by` consecutive indices of an axis are adjacent in a texel (or in a buffer); the axis is padded to a multiple of `by`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AxisPacking {
    /// The index of the axis in the shape that [`LayoutRule::reshape`] and [`LayoutRule::order`] result in.
    pub axis: usize,
    /// The number of consecutive indices in one pack: usually 4.
    pub by: u64,
}

/// Assigns the axes of the blocked shape to layers, rows and columns of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flattening {
    /// Axes before this one are layers.
    pub layers: usize,
    /// Axes from `layers` up to, but not including, this one are rows; the others are columns.
    pub rows: usize,
}

/// A rule that lays out tensors, independent of their dimensions.
///
/// ```
/// use tileheap_tensor::layout::{Convention, ConventionForm, LayoutRule};
/// use tileheap_tensor::ElementType;
/// use tileheap_tensor::units::{Alignment, Bytes};
///
/// let shape = [1, 32, 40, 40]; // [n, c, h, w]
/// let image = Convention::Texture.packing(4, 1, ConventionForm::Flat); // channels by 4, rows n * c/4 * h
/// let layout = image.apply("x", &shape, ElementType::Float16)?;
/// assert_eq!((layout.extent.width, layout.extent.height), (40, 320)); // texels
/// assert_eq!(layout.bytes(), Bytes(40 * 320 * 8));
///
/// // Where an element is.
/// let at = layout.locate(&[0, 5, 2, 3]);
/// assert_eq!((at.x, at.y, at.lane), (3, 40 + 2, 1));
/// assert_eq!(LayoutRule::buffer().apply("x", &shape, ElementType::Float16)?.bytes(), layout.bytes());
/// # let _ = Alignment::ONE;
/// # Ok::<(), tileheap_tensor::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LayoutRule {
    /// The kind of object that holds the tensor.
    pub storage: Storage,
    /// Other dimensions for the same elements in the same order, applied first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reshape: Option<Vec<u64>>,
    /// The order of the axes, outermost first; unchanged if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<usize>,
    /// Axes packed into texels, the innermost last. An image without packs has its last axis as lanes, which must be 4.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packs: Vec<AxisPacking>,
    /// The flattening of an image; unused for buffers.
    #[serde(default)]
    pub flattening: Flattening,
}

impl LayoutRule {
    /// The layout rule of a plain row-major buffer.
    pub fn buffer() -> LayoutRule {
        LayoutRule::default()
    }

    /// The layout rule of a buffer with an axis packed by 4: `NCHW4c` for axis 1 of an activation, `OIHW4o` for axis 0 of weights.
    pub fn packed_buffer(axis: usize) -> LayoutRule {
        LayoutRule {
            packs: vec![AxisPacking { axis, by: 4 }],
            ..LayoutRule::default()
        }
    }
}
