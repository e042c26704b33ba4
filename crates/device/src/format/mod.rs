//! Class, texel block, aspects and numeric type of a `vk::Format`.

mod info;
mod table;

use ash::vk;

pub use info::{FormatInfo, NumericType, PackedRun, TexelBlock};
use table::FORMATS;

/// The properties of `format`; `None` for `UNDEFINED`, multi-planar, subsampled and unknown formats.
#[inline]
pub fn info(format: vk::Format) -> Option<&'static FormatInfo> {
    let raw = format.as_raw();
    let first = usize::try_from(raw).ok()?.checked_sub(1)?;
    if first < vk::Format::ASTC_12X12_SRGB_BLOCK.as_raw() as usize {
        return Some(&FORMATS[first]);
    }
    let found = FORMATS.binary_search_by_key(&raw, |row| row.format.as_raw());
    found.ok().map(|index| &FORMATS[index])
}

/// Returns true if shaders need a sampler Y'CbCr conversion to read images of `format`, or if [`info`] does not know the format.
///
/// Source: Vulkan specification, "Formats Requiring Sampler Y'CbCr Conversion for `VK_IMAGE_ASPECT_COLOR_BIT` Image Views".
pub fn needs_conversion(format: vk::Format) -> bool {
    let packed = [
        vk::Format::R10X6G10X6B10X6A10X6_UNORM_4PACK16,
        vk::Format::R12X4G12X4B12X4A12X4_UNORM_4PACK16,
    ];
    packed.contains(&format) || info(format).is_none()
}

/// The texel block of `format`, or `None` for `UNDEFINED`, multi-planar, subsampled and unknown formats.
#[inline]
pub fn texel_block(format: vk::Format) -> Option<TexelBlock> {
    info(format).map(|info| info.block)
}

/// The numeric type of `format`; `Float` if the format is not known.
#[inline]
pub fn numeric_type(format: vk::Format) -> NumericType {
    info(format).map_or(NumericType::Float, |info| info.numeric)
}

/// The image aspects of `format`; color if the format is not known.
#[inline]
pub fn aspects(format: vk::Format) -> vk::ImageAspectFlags {
    info(format).map_or(vk::ImageAspectFlags::COLOR, |info| info.aspects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_blocks() {
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
    fn formats_with_padded_components_need_a_conversion_if_they_have_four() {
        use vk::Format as F;
        assert!(needs_conversion(F::R10X6G10X6B10X6A10X6_UNORM_4PACK16));
        assert!(needs_conversion(F::R12X4G12X4B12X4A12X4_UNORM_4PACK16));
        assert!(!needs_conversion(F::R10X6G10X6_UNORM_2PACK16));
        assert!(!needs_conversion(F::R12X4_UNORM_PACK16));
        assert!(needs_conversion(F::G8_B8_R8_3PLANE_420_UNORM));
    }

    #[test]
    fn compressed_blocks_have_extents() {
        let block = texel_block(vk::Format::ASTC_8X5_UNORM_BLOCK).unwrap();
        assert_eq!((block.width, block.height, block.bytes), (8, 5, 16));
    }

    #[test]
    fn every_row_is_found_by_its_format() {
        for (index, row) in FORMATS.iter().enumerate() {
            let earlier = FORMATS[..index].last();
            assert!(earlier.is_none_or(|earlier| earlier.format.as_raw() < row.format.as_raw()));
            assert_eq!(info(row.format), Some(row));
        }
        let of_no_row = [-1, 0, 185, 1_000_156_000, 1_000_156_002, i32::MAX];
        assert!(
            of_no_row
                .iter()
                .all(|&raw| info(vk::Format::from_raw(raw)).is_none())
        );
    }

    /// The rows of the table agree with the names of the formats, from which they were not derived.
    #[test]
    fn rows_agree_with_names() {
        for row in &FORMATS {
            let name = format!("{:?}", row.format);
            let depth = name.starts_with(['D', 'S', 'X']);
            assert_eq!(row.aspects != vk::ImageAspectFlags::COLOR, depth, "{name}");
            assert_eq!(row.srgb, name.contains("SRGB"), "{name}");
            assert_eq!(row.scaled, name.contains("SCALED"), "{name}");
            assert_eq!(row.is_compressed(), name.contains("BLOCK"), "{name}");
            let integer = name.contains("UINT") || name.contains("SINT");
            assert_eq!(row.is_integer(), integer && !depth, "{name}");
            let class = row.class.strip_suffix("-bit").map(|bits| bits.parse());
            assert!(class.is_none_or(|bits| bits == Ok(row.block.bytes * 8)), "{name}");
        }
    }

    #[test]
    fn formats_of_one_class_are_compatible() {
        use vk::Format as F;
        let compatible = |a, b| info(a).unwrap().is_compatible_with(info(b).unwrap());
        assert!(compatible(F::R8G8B8A8_SRGB, F::R32_SFLOAT));
        assert!(compatible(F::BC1_RGB_UNORM_BLOCK, F::BC1_RGB_SRGB_BLOCK));
        assert!(!compatible(F::R8G8B8A8_UNORM, F::R16_SFLOAT));
        assert!(!compatible(F::D32_SFLOAT, F::R32_SFLOAT));
        assert!(!compatible(F::BC1_RGB_UNORM_BLOCK, F::BC1_RGBA_UNORM_BLOCK));
        assert!(!compatible(F::R8_UNORM, F::A8_UNORM_KHR));
    }
}
