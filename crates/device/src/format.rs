//! Texel block, aspects and numeric type of a `vk::Format`.

use std::sync::LazyLock;

use ash::vk;

/// The compressed texel block of a format: `width` x `height` texels in `bytes` bytes (1 x 1 when not compressed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexelBlock {
    /// Texels across.
    pub width: u32,
    /// Texels down.
    pub height: u32,
    /// Bytes of one block.
    pub bytes: u32,
}

impl TexelBlock {
    /// The bytes from the first to the last of the texels that a copy between a buffer and an image has in the buffer, and whether these
    /// are texels without gaps. `row_length` and `image_height` are in texels, as in `VkBufferImageCopy`: 0 for those of the extent.
    ///
    /// Source: Vulkan specification, "Buffer and Image Addressing".
    pub fn packed(
        self,
        extent: vk::Extent3D,
        layers: u32,
        (row_length, image_height): (u32, u32),
    ) -> (u64, bool) {
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
        let is_dense =
            (pitch == columns || rows.saturating_mul(slices) <= 1) && (height == rows || slices <= 1);
        (blocks.saturating_mul(self.bytes.into()), is_dense)
    }
}

/// The texel block of `format`, or `None` for `UNDEFINED`, multi-planar and unknown formats.
///
/// Combined depth and stencil counts both aspects, the depth padded to whole bytes of 16 or 32 bits.
///
/// Source: Vulkan specification, "Compatible formats" (the block sizes follow from the format's own name).
pub fn texel_block(format: vk::Format) -> Option<TexelBlock> {
    static FIRST: LazyLock<Vec<Option<TexelBlock>>> = LazyLock::new(|| of_first_formats(block_by_name));
    let known = index(format).and_then(|index| FIRST.get(index));
    known.copied().unwrap_or_else(|| block_by_name(format))
}

/// A property of the formats of Vulkan 1.0, which are numbered from 0 on, and asked for all the time.
fn of_first_formats<T>(property: fn(vk::Format) -> T) -> Vec<T> {
    let formats = 0..=vk::Format::ASTC_12X12_SRGB_BLOCK.as_raw();
    formats.map(|raw| property(vk::Format::from_raw(raw))).collect()
}

fn index(format: vk::Format) -> Option<usize> {
    usize::try_from(format.as_raw()).ok()
}

/// The numeric type of a colour format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumericType {
    /// Floating-point, normalized and scaled formats.
    Float,
    /// Signed integers.
    Int,
    /// Unsigned integers.
    Uint,
}

/// The numeric type of a colour format.
///
/// Source: Vulkan specification, "Interpretation of Numeric Format" (the type is part of the format's own name).
pub fn numeric_type(format: vk::Format) -> NumericType {
    static FIRST: LazyLock<Vec<NumericType>> = LazyLock::new(|| of_first_formats(type_by_name));
    let known = index(format).and_then(|index| FIRST.get(index));
    known.copied().unwrap_or_else(|| type_by_name(format))
}

fn type_by_name(format: vk::Format) -> NumericType {
    let name = format!("{format:?}");
    if name.contains("UINT") {
        NumericType::Uint
    } else if name.contains("SINT") {
        NumericType::Int
    } else {
        NumericType::Float
    }
}

fn block_by_name(format: vk::Format) -> Option<TexelBlock> {
    let name = format!("{format:?}");
    if let Some(block) = compressed_block(&name) {
        return Some(block);
    }
    if name.contains("PLANE") || name.contains("422") || name == "UNDEFINED" {
        return None;
    }
    // `D32_SFLOAT_S8_UINT` is stored as 5 bytes in two planes; every other name's component widths add up.
    let mut bits = 0u32;
    for part in name.split('_') {
        let packed = part.starts_with("PACK") || part.ends_with("PACK16") || part.ends_with("PACK32");
        if !packed && part.starts_with(['R', 'G', 'B', 'A', 'D', 'S', 'X', 'E']) {
            bits += component_bits(part).unwrap_or(0);
        }
    }
    (bits > 0 && bits % 8 == 0).then_some(TexelBlock {
        width: 1,
        height: 1,
        bytes: bits / 8,
    })
}

/// The image aspects of `format`; color unless the name says otherwise.
pub fn aspects(format: vk::Format) -> vk::ImageAspectFlags {
    use vk::Format as F;
    match format {
        F::D16_UNORM | F::X8_D24_UNORM_PACK32 | F::D32_SFLOAT => vk::ImageAspectFlags::DEPTH,
        F::S8_UINT => vk::ImageAspectFlags::STENCIL,
        F::D16_UNORM_S8_UINT | F::D24_UNORM_S8_UINT | F::D32_SFLOAT_S8_UINT => {
            vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL
        }
        _ => vk::ImageAspectFlags::COLOR,
    }
}

/// Sum of the digits' numbers of a component list: `R16G16` is 32; `None` for `SFLOAT` and other words.
fn component_bits(part: &str) -> Option<u32> {
    let mut sum = 0;
    let mut rest = part;
    while !rest.is_empty() {
        let body = rest.strip_prefix(['R', 'G', 'B', 'A', 'D', 'S', 'X', 'E'])?;
        let digits = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
        sum += body[..digits].parse::<u32>().ok()?;
        rest = &body[digits..];
    }
    Some(sum)
}

fn compressed_block(name: &str) -> Option<TexelBlock> {
    let block = |width, height, bytes| Some(TexelBlock { width, height, bytes });
    if name.starts_with("BC1_") || name.starts_with("BC4_") {
        block(4, 4, 8)
    } else if ["BC", "ETC2_R8G8B8A8", "EAC_R11G11"]
        .iter()
        .any(|large| name.starts_with(large))
    {
        block(4, 4, 16)
    } else if name.starts_with("ETC2") || name.starts_with("EAC") {
        block(4, 4, 8)
    } else if let Some(rest) = name.strip_prefix("ASTC_") {
        let (width, rest) = rest.split_once('X').or_else(|| rest.split_once('x'))?;
        let height = rest.split('_').next()?;
        block(width.parse().ok()?, height.parse().ok()?, 16)
    } else if name.starts_with("PVRTC") {
        block(if name.contains("2BPP") { 8 } else { 4 }, 4, 8)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_bytes_follow_from_names() {
        let bytes = |format| texel_block(format).map(|block| block.bytes);
        assert_eq!(bytes(vk::Format::R8_UNORM), Some(1));
        assert_eq!(bytes(vk::Format::R8G8B8A8_SRGB), Some(4));
        assert_eq!(bytes(vk::Format::A2B10G10R10_UNORM_PACK32), Some(4));
        assert_eq!(bytes(vk::Format::B10G11R11_UFLOAT_PACK32), Some(4));
        assert_eq!(bytes(vk::Format::E5B9G9R9_UFLOAT_PACK32), Some(4));
        assert_eq!(bytes(vk::Format::R5G6B5_UNORM_PACK16), Some(2));
        assert_eq!(bytes(vk::Format::R16G16B16A16_SFLOAT), Some(8));
        assert_eq!(bytes(vk::Format::R64G64B64A64_SFLOAT), Some(32));
        assert_eq!(bytes(vk::Format::D16_UNORM), Some(2));
        assert_eq!(bytes(vk::Format::X8_D24_UNORM_PACK32), Some(4));
        assert_eq!(bytes(vk::Format::D24_UNORM_S8_UINT), Some(4));
        assert_eq!(bytes(vk::Format::D32_SFLOAT_S8_UINT), Some(5));
        assert_eq!(bytes(vk::Format::S8_UINT), Some(1));
        assert_eq!(bytes(vk::Format::BC1_RGB_UNORM_BLOCK), Some(8));
        assert_eq!(bytes(vk::Format::BC7_SRGB_BLOCK), Some(16));
        assert_eq!(bytes(vk::Format::UNDEFINED), None);
        assert_eq!(bytes(vk::Format::G8_B8_R8_3PLANE_420_UNORM), None);
    }

    #[test]
    fn compressed_blocks_have_extents() {
        let block = texel_block(vk::Format::ASTC_8X5_UNORM_BLOCK).unwrap();
        assert_eq!((block.width, block.height, block.bytes), (8, 5, 16));
    }
}
