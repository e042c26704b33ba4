//! The properties of a format.

use ash::vk;

/// The texel block of a format: `width` x `height` texels in `bytes` bytes (1 x 1 if the format is not compressed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexelBlock {
    /// The width of a block in texels.
    pub width: u32,
    /// The height of a block in texels.
    pub height: u32,
    /// Bytes of one block.
    pub bytes: u32,
}

/// A run of bytes that texels occupy in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedRun {
    /// The offset of the run's first byte from the first byte of the first texel.
    pub first: u64,
    /// The number of bytes.
    pub size: u64,
    /// True if there are no gaps between the texels.
    pub is_dense: bool,
}

impl TexelBlock {
    /// Maximum number of runs; a copy with more of them is described by a single run with gaps.
    pub const MAX_RUNS: u64 = 64;

    /// Returns the bytes that a copy accesses in a buffer: a run for each row if there are gaps between rows, else for each slice if there are gaps between
    /// slices, else a single run. `row_length` and `image_height` are in texels, as in `VkBufferImageCopy`: 0 means the width or height of `extent`.
    ///
    /// Source: Vulkan specification, "Buffer and Image Addressing".
    pub fn packed(
        self,
        extent: vk::Extent3D,
        layers: u32,
        (row_length, image_height): (u32, u32),
    ) -> Vec<PackedRun> {
        let or = |given: u32, size: u32| if given == 0 { size } else { given };
        let across = |texels: u32| u64::from(texels.div_ceil(self.width));
        let down = |texels: u32| u64::from(texels.div_ceil(self.height));
        let (columns, rows) = (across(extent.width), down(extent.height));
        let pitch = across(or(row_length, extent.width));
        let height = down(or(image_height, extent.height));
        let slices = u64::from(extent.depth).saturating_mul(layers.into());
        let whole_rows = slices.saturating_sub(1).saturating_mul(height);
        let last_row = whole_rows.saturating_add(rows.saturating_sub(1));
        let blocks = last_row.saturating_mul(pitch).saturating_add(columns);
        let run = |first: u64, blocks: u64, is_dense| PackedRun {
            first: first.saturating_mul(self.bytes.into()),
            size: blocks.saturating_mul(self.bytes.into()),
            is_dense,
        };
        let (has_row_gaps, has_slice_gaps) = (pitch != columns, height != rows && slices > 1);
        let count = match (has_row_gaps, has_slice_gaps) {
            (true, _) => rows.saturating_mul(slices),
            (false, true) => slices,
            (false, false) => 1,
        };
        if count <= 1 {
            return vec![run(0, blocks, true)];
        }
        if count > Self::MAX_RUNS {
            return vec![run(0, blocks, false)];
        }
        let of_slice = |slice: u64| {
            let first = slice * height;
            let (of_each, size) = match has_row_gaps {
                true => (rows, columns),
                false => (1, rows * columns),
            };
            (0..of_each).map(move |row| (first + row, size))
        };
        let runs = (0..slices).flat_map(of_slice);
        runs.map(|(row, size)| run(row.saturating_mul(pitch), size, true))
            .collect()
    }
}

/// The numeric type of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumericType {
    /// Floating-point, normalized and scaled formats.
    Float,
    /// Signed integers.
    Int,
    /// Unsigned integers.
    Uint,
}

/// The properties of a single-plane format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatInfo {
    /// The format.
    pub format: vk::Format,
    /// The compatibility class, as the specification names it: `32-bit`, `BC1_RGB`, `D16`.
    pub class: &'static str,
    /// Extent and bytes of a texel block. Combined depth and stencil counts both aspects.
    pub block: TexelBlock,
    /// The aspects of images of this format.
    pub aspects: vk::ImageAspectFlags,
    /// The numeric type of the color components, or of depth if the format has depth.
    pub numeric: NumericType,
    /// True if color is encoded as sRGB.
    pub srgb: bool,
    /// True if the color components are integers that shaders read as floating-point numbers.
    pub scaled: bool,
}

impl FormatInfo {
    /// Returns true if texels are compressed in blocks.
    pub fn is_compressed(&self) -> bool {
        self.block.width > 1
    }

    /// Returns true if the color components are integers.
    pub fn is_integer(&self) -> bool {
        self.aspects == vk::ImageAspectFlags::COLOR && self.numeric != NumericType::Float
    }

    /// Returns true if images of this format that are created with `VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT` can have views of format `other`.
    ///
    /// Source: Vulkan specification, "Compatible Formats": the same class; depth and stencil formats only with themselves.
    pub fn is_compatible_with(&self, other: &FormatInfo) -> bool {
        self.class == other.class
    }
}
