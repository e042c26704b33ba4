//! The formats, one row each.
//!
//! Source: `formats` in `vk.xml` (Vulkan 1.4.359), without formats that `ash` 0.38 lacks and those with subsampled or multi-planar color.

use ash::vk::{self, Format as F};

use super::info::{FormatInfo, NumericType, TexelBlock};

/// Describes a color format that is not compressed, with `bytes` bytes per texel.
const fn color(format: F, class: &'static str, bytes: u32, numeric: NumericType) -> FormatInfo {
    FormatInfo {
        format,
        class,
        block: TexelBlock {
            width: 1,
            height: 1,
            bytes,
        },
        aspects: vk::ImageAspectFlags::COLOR,
        numeric,
        srgb: false,
        scaled: false,
    }
}

const fn float(format: F, class: &'static str, bytes: u32) -> FormatInfo {
    color(format, class, bytes, NumericType::Float)
}

const fn scaled(format: F, class: &'static str, bytes: u32) -> FormatInfo {
    FormatInfo {
        scaled: true,
        ..float(format, class, bytes)
    }
}

const fn int(format: F, class: &'static str, bytes: u32) -> FormatInfo {
    color(format, class, bytes, NumericType::Int)
}

const fn uint(format: F, class: &'static str, bytes: u32) -> FormatInfo {
    color(format, class, bytes, NumericType::Uint)
}

const fn srgb(format: F, class: &'static str, bytes: u32) -> FormatInfo {
    FormatInfo {
        srgb: true,
        ..float(format, class, bytes)
    }
}

/// Describes a compressed format with blocks of `width` x `height` texels in `bytes` bytes.
const fn compressed(format: F, class: &'static str, [width, height, bytes]: [u32; 3]) -> FormatInfo {
    FormatInfo {
        block: TexelBlock { width, height, bytes },
        ..float(format, class, bytes)
    }
}

const fn compressed_srgb(format: F, class: &'static str, block: [u32; 3]) -> FormatInfo {
    FormatInfo {
        srgb: true,
        ..compressed(format, class, block)
    }
}

const fn depth(format: F, class: &'static str, bytes: u32) -> FormatInfo {
    FormatInfo {
        aspects: vk::ImageAspectFlags::DEPTH,
        ..float(format, class, bytes)
    }
}

const fn stencil(format: F, class: &'static str, bytes: u32) -> FormatInfo {
    FormatInfo {
        aspects: vk::ImageAspectFlags::STENCIL,
        ..uint(format, class, bytes)
    }
}

const fn depth_stencil(format: F, class: &'static str, bytes: u32) -> FormatInfo {
    let both = vk::ImageAspectFlags::DEPTH.as_raw() | vk::ImageAspectFlags::STENCIL.as_raw();
    FormatInfo {
        aspects: vk::ImageAspectFlags::from_raw(both),
        ..float(format, class, bytes)
    }
}

/// All formats, in ascending order of their numbers; those of Vulkan 1.0 are numbered from 1 without gaps.
pub(super) static FORMATS: [FormatInfo; 217] = [
    float(F::R4G4_UNORM_PACK8, "8-bit", 1),
    float(F::R4G4B4A4_UNORM_PACK16, "16-bit", 2),
    float(F::B4G4R4A4_UNORM_PACK16, "16-bit", 2),
    float(F::R5G6B5_UNORM_PACK16, "16-bit", 2),
    float(F::B5G6R5_UNORM_PACK16, "16-bit", 2),
    float(F::R5G5B5A1_UNORM_PACK16, "16-bit", 2),
    float(F::B5G5R5A1_UNORM_PACK16, "16-bit", 2),
    float(F::A1R5G5B5_UNORM_PACK16, "16-bit", 2),
    float(F::R8_UNORM, "8-bit", 1),
    float(F::R8_SNORM, "8-bit", 1),
    scaled(F::R8_USCALED, "8-bit", 1),
    scaled(F::R8_SSCALED, "8-bit", 1),
    uint(F::R8_UINT, "8-bit", 1),
    int(F::R8_SINT, "8-bit", 1),
    srgb(F::R8_SRGB, "8-bit", 1),
    float(F::R8G8_UNORM, "16-bit", 2),
    float(F::R8G8_SNORM, "16-bit", 2),
    scaled(F::R8G8_USCALED, "16-bit", 2),
    scaled(F::R8G8_SSCALED, "16-bit", 2),
    uint(F::R8G8_UINT, "16-bit", 2),
    int(F::R8G8_SINT, "16-bit", 2),
    srgb(F::R8G8_SRGB, "16-bit", 2),
    float(F::R8G8B8_UNORM, "24-bit", 3),
    float(F::R8G8B8_SNORM, "24-bit", 3),
    scaled(F::R8G8B8_USCALED, "24-bit", 3),
    scaled(F::R8G8B8_SSCALED, "24-bit", 3),
    uint(F::R8G8B8_UINT, "24-bit", 3),
    int(F::R8G8B8_SINT, "24-bit", 3),
    srgb(F::R8G8B8_SRGB, "24-bit", 3),
    float(F::B8G8R8_UNORM, "24-bit", 3),
    float(F::B8G8R8_SNORM, "24-bit", 3),
    scaled(F::B8G8R8_USCALED, "24-bit", 3),
    scaled(F::B8G8R8_SSCALED, "24-bit", 3),
    uint(F::B8G8R8_UINT, "24-bit", 3),
    int(F::B8G8R8_SINT, "24-bit", 3),
    srgb(F::B8G8R8_SRGB, "24-bit", 3),
    float(F::R8G8B8A8_UNORM, "32-bit", 4),
    float(F::R8G8B8A8_SNORM, "32-bit", 4),
    scaled(F::R8G8B8A8_USCALED, "32-bit", 4),
    scaled(F::R8G8B8A8_SSCALED, "32-bit", 4),
    uint(F::R8G8B8A8_UINT, "32-bit", 4),
    int(F::R8G8B8A8_SINT, "32-bit", 4),
    srgb(F::R8G8B8A8_SRGB, "32-bit", 4),
    float(F::B8G8R8A8_UNORM, "32-bit", 4),
    float(F::B8G8R8A8_SNORM, "32-bit", 4),
    scaled(F::B8G8R8A8_USCALED, "32-bit", 4),
    scaled(F::B8G8R8A8_SSCALED, "32-bit", 4),
    uint(F::B8G8R8A8_UINT, "32-bit", 4),
    int(F::B8G8R8A8_SINT, "32-bit", 4),
    srgb(F::B8G8R8A8_SRGB, "32-bit", 4),
    float(F::A8B8G8R8_UNORM_PACK32, "32-bit", 4),
    float(F::A8B8G8R8_SNORM_PACK32, "32-bit", 4),
    scaled(F::A8B8G8R8_USCALED_PACK32, "32-bit", 4),
    scaled(F::A8B8G8R8_SSCALED_PACK32, "32-bit", 4),
    uint(F::A8B8G8R8_UINT_PACK32, "32-bit", 4),
    int(F::A8B8G8R8_SINT_PACK32, "32-bit", 4),
    srgb(F::A8B8G8R8_SRGB_PACK32, "32-bit", 4),
    float(F::A2R10G10B10_UNORM_PACK32, "32-bit", 4),
    float(F::A2R10G10B10_SNORM_PACK32, "32-bit", 4),
    scaled(F::A2R10G10B10_USCALED_PACK32, "32-bit", 4),
    scaled(F::A2R10G10B10_SSCALED_PACK32, "32-bit", 4),
    uint(F::A2R10G10B10_UINT_PACK32, "32-bit", 4),
    int(F::A2R10G10B10_SINT_PACK32, "32-bit", 4),
    float(F::A2B10G10R10_UNORM_PACK32, "32-bit", 4),
    float(F::A2B10G10R10_SNORM_PACK32, "32-bit", 4),
    scaled(F::A2B10G10R10_USCALED_PACK32, "32-bit", 4),
    scaled(F::A2B10G10R10_SSCALED_PACK32, "32-bit", 4),
    uint(F::A2B10G10R10_UINT_PACK32, "32-bit", 4),
    int(F::A2B10G10R10_SINT_PACK32, "32-bit", 4),
    float(F::R16_UNORM, "16-bit", 2),
    float(F::R16_SNORM, "16-bit", 2),
    scaled(F::R16_USCALED, "16-bit", 2),
    scaled(F::R16_SSCALED, "16-bit", 2),
    uint(F::R16_UINT, "16-bit", 2),
    int(F::R16_SINT, "16-bit", 2),
    float(F::R16_SFLOAT, "16-bit", 2),
    float(F::R16G16_UNORM, "32-bit", 4),
    float(F::R16G16_SNORM, "32-bit", 4),
    scaled(F::R16G16_USCALED, "32-bit", 4),
    scaled(F::R16G16_SSCALED, "32-bit", 4),
    uint(F::R16G16_UINT, "32-bit", 4),
    int(F::R16G16_SINT, "32-bit", 4),
    float(F::R16G16_SFLOAT, "32-bit", 4),
    float(F::R16G16B16_UNORM, "48-bit", 6),
    float(F::R16G16B16_SNORM, "48-bit", 6),
    scaled(F::R16G16B16_USCALED, "48-bit", 6),
    scaled(F::R16G16B16_SSCALED, "48-bit", 6),
    uint(F::R16G16B16_UINT, "48-bit", 6),
    int(F::R16G16B16_SINT, "48-bit", 6),
    float(F::R16G16B16_SFLOAT, "48-bit", 6),
    float(F::R16G16B16A16_UNORM, "64-bit", 8),
    float(F::R16G16B16A16_SNORM, "64-bit", 8),
    scaled(F::R16G16B16A16_USCALED, "64-bit", 8),
    scaled(F::R16G16B16A16_SSCALED, "64-bit", 8),
    uint(F::R16G16B16A16_UINT, "64-bit", 8),
    int(F::R16G16B16A16_SINT, "64-bit", 8),
    float(F::R16G16B16A16_SFLOAT, "64-bit", 8),
    uint(F::R32_UINT, "32-bit", 4),
    int(F::R32_SINT, "32-bit", 4),
    float(F::R32_SFLOAT, "32-bit", 4),
    uint(F::R32G32_UINT, "64-bit", 8),
    int(F::R32G32_SINT, "64-bit", 8),
    float(F::R32G32_SFLOAT, "64-bit", 8),
    uint(F::R32G32B32_UINT, "96-bit", 12),
    int(F::R32G32B32_SINT, "96-bit", 12),
    float(F::R32G32B32_SFLOAT, "96-bit", 12),
    uint(F::R32G32B32A32_UINT, "128-bit", 16),
    int(F::R32G32B32A32_SINT, "128-bit", 16),
    float(F::R32G32B32A32_SFLOAT, "128-bit", 16),
    uint(F::R64_UINT, "64-bit", 8),
    int(F::R64_SINT, "64-bit", 8),
    float(F::R64_SFLOAT, "64-bit", 8),
    uint(F::R64G64_UINT, "128-bit", 16),
    int(F::R64G64_SINT, "128-bit", 16),
    float(F::R64G64_SFLOAT, "128-bit", 16),
    uint(F::R64G64B64_UINT, "192-bit", 24),
    int(F::R64G64B64_SINT, "192-bit", 24),
    float(F::R64G64B64_SFLOAT, "192-bit", 24),
    uint(F::R64G64B64A64_UINT, "256-bit", 32),
    int(F::R64G64B64A64_SINT, "256-bit", 32),
    float(F::R64G64B64A64_SFLOAT, "256-bit", 32),
    float(F::B10G11R11_UFLOAT_PACK32, "32-bit", 4),
    float(F::E5B9G9R9_UFLOAT_PACK32, "32-bit", 4),
    depth(F::D16_UNORM, "D16", 2),
    depth(F::X8_D24_UNORM_PACK32, "D24", 4),
    depth(F::D32_SFLOAT, "D32", 4),
    stencil(F::S8_UINT, "S8", 1),
    depth_stencil(F::D16_UNORM_S8_UINT, "D16S8", 3),
    depth_stencil(F::D24_UNORM_S8_UINT, "D24S8", 4),
    depth_stencil(F::D32_SFLOAT_S8_UINT, "D32S8", 5),
    compressed(F::BC1_RGB_UNORM_BLOCK, "BC1_RGB", [4, 4, 8]),
    compressed_srgb(F::BC1_RGB_SRGB_BLOCK, "BC1_RGB", [4, 4, 8]),
    compressed(F::BC1_RGBA_UNORM_BLOCK, "BC1_RGBA", [4, 4, 8]),
    compressed_srgb(F::BC1_RGBA_SRGB_BLOCK, "BC1_RGBA", [4, 4, 8]),
    compressed(F::BC2_UNORM_BLOCK, "BC2", [4, 4, 16]),
    compressed_srgb(F::BC2_SRGB_BLOCK, "BC2", [4, 4, 16]),
    compressed(F::BC3_UNORM_BLOCK, "BC3", [4, 4, 16]),
    compressed_srgb(F::BC3_SRGB_BLOCK, "BC3", [4, 4, 16]),
    compressed(F::BC4_UNORM_BLOCK, "BC4", [4, 4, 8]),
    compressed(F::BC4_SNORM_BLOCK, "BC4", [4, 4, 8]),
    compressed(F::BC5_UNORM_BLOCK, "BC5", [4, 4, 16]),
    compressed(F::BC5_SNORM_BLOCK, "BC5", [4, 4, 16]),
    compressed(F::BC6H_UFLOAT_BLOCK, "BC6H", [4, 4, 16]),
    compressed(F::BC6H_SFLOAT_BLOCK, "BC6H", [4, 4, 16]),
    compressed(F::BC7_UNORM_BLOCK, "BC7", [4, 4, 16]),
    compressed_srgb(F::BC7_SRGB_BLOCK, "BC7", [4, 4, 16]),
    compressed(F::ETC2_R8G8B8_UNORM_BLOCK, "ETC2_RGB", [4, 4, 8]),
    compressed_srgb(F::ETC2_R8G8B8_SRGB_BLOCK, "ETC2_RGB", [4, 4, 8]),
    compressed(F::ETC2_R8G8B8A1_UNORM_BLOCK, "ETC2_RGBA", [4, 4, 8]),
    compressed_srgb(F::ETC2_R8G8B8A1_SRGB_BLOCK, "ETC2_RGBA", [4, 4, 8]),
    compressed(F::ETC2_R8G8B8A8_UNORM_BLOCK, "ETC2_EAC_RGBA", [4, 4, 16]),
    compressed_srgb(F::ETC2_R8G8B8A8_SRGB_BLOCK, "ETC2_EAC_RGBA", [4, 4, 16]),
    compressed(F::EAC_R11_UNORM_BLOCK, "EAC_R", [4, 4, 8]),
    compressed(F::EAC_R11_SNORM_BLOCK, "EAC_R", [4, 4, 8]),
    compressed(F::EAC_R11G11_UNORM_BLOCK, "EAC_RG", [4, 4, 16]),
    compressed(F::EAC_R11G11_SNORM_BLOCK, "EAC_RG", [4, 4, 16]),
    compressed(F::ASTC_4X4_UNORM_BLOCK, "ASTC_4x4", [4, 4, 16]),
    compressed_srgb(F::ASTC_4X4_SRGB_BLOCK, "ASTC_4x4", [4, 4, 16]),
    compressed(F::ASTC_5X4_UNORM_BLOCK, "ASTC_5x4", [5, 4, 16]),
    compressed_srgb(F::ASTC_5X4_SRGB_BLOCK, "ASTC_5x4", [5, 4, 16]),
    compressed(F::ASTC_5X5_UNORM_BLOCK, "ASTC_5x5", [5, 5, 16]),
    compressed_srgb(F::ASTC_5X5_SRGB_BLOCK, "ASTC_5x5", [5, 5, 16]),
    compressed(F::ASTC_6X5_UNORM_BLOCK, "ASTC_6x5", [6, 5, 16]),
    compressed_srgb(F::ASTC_6X5_SRGB_BLOCK, "ASTC_6x5", [6, 5, 16]),
    compressed(F::ASTC_6X6_UNORM_BLOCK, "ASTC_6x6", [6, 6, 16]),
    compressed_srgb(F::ASTC_6X6_SRGB_BLOCK, "ASTC_6x6", [6, 6, 16]),
    compressed(F::ASTC_8X5_UNORM_BLOCK, "ASTC_8x5", [8, 5, 16]),
    compressed_srgb(F::ASTC_8X5_SRGB_BLOCK, "ASTC_8x5", [8, 5, 16]),
    compressed(F::ASTC_8X6_UNORM_BLOCK, "ASTC_8x6", [8, 6, 16]),
    compressed_srgb(F::ASTC_8X6_SRGB_BLOCK, "ASTC_8x6", [8, 6, 16]),
    compressed(F::ASTC_8X8_UNORM_BLOCK, "ASTC_8x8", [8, 8, 16]),
    compressed_srgb(F::ASTC_8X8_SRGB_BLOCK, "ASTC_8x8", [8, 8, 16]),
    compressed(F::ASTC_10X5_UNORM_BLOCK, "ASTC_10x5", [10, 5, 16]),
    compressed_srgb(F::ASTC_10X5_SRGB_BLOCK, "ASTC_10x5", [10, 5, 16]),
    compressed(F::ASTC_10X6_UNORM_BLOCK, "ASTC_10x6", [10, 6, 16]),
    compressed_srgb(F::ASTC_10X6_SRGB_BLOCK, "ASTC_10x6", [10, 6, 16]),
    compressed(F::ASTC_10X8_UNORM_BLOCK, "ASTC_10x8", [10, 8, 16]),
    compressed_srgb(F::ASTC_10X8_SRGB_BLOCK, "ASTC_10x8", [10, 8, 16]),
    compressed(F::ASTC_10X10_UNORM_BLOCK, "ASTC_10x10", [10, 10, 16]),
    compressed_srgb(F::ASTC_10X10_SRGB_BLOCK, "ASTC_10x10", [10, 10, 16]),
    compressed(F::ASTC_12X10_UNORM_BLOCK, "ASTC_12x10", [12, 10, 16]),
    compressed_srgb(F::ASTC_12X10_SRGB_BLOCK, "ASTC_12x10", [12, 10, 16]),
    compressed(F::ASTC_12X12_UNORM_BLOCK, "ASTC_12x12", [12, 12, 16]),
    compressed_srgb(F::ASTC_12X12_SRGB_BLOCK, "ASTC_12x12", [12, 12, 16]),
    compressed(F::PVRTC1_2BPP_UNORM_BLOCK_IMG, "PVRTC1_2BPP", [8, 4, 8]),
    compressed(F::PVRTC1_4BPP_UNORM_BLOCK_IMG, "PVRTC1_4BPP", [4, 4, 8]),
    compressed(F::PVRTC2_2BPP_UNORM_BLOCK_IMG, "PVRTC2_2BPP", [8, 4, 8]),
    compressed(F::PVRTC2_4BPP_UNORM_BLOCK_IMG, "PVRTC2_4BPP", [4, 4, 8]),
    compressed_srgb(F::PVRTC1_2BPP_SRGB_BLOCK_IMG, "PVRTC1_2BPP", [8, 4, 8]),
    compressed_srgb(F::PVRTC1_4BPP_SRGB_BLOCK_IMG, "PVRTC1_4BPP", [4, 4, 8]),
    compressed_srgb(F::PVRTC2_2BPP_SRGB_BLOCK_IMG, "PVRTC2_2BPP", [8, 4, 8]),
    compressed_srgb(F::PVRTC2_4BPP_SRGB_BLOCK_IMG, "PVRTC2_4BPP", [4, 4, 8]),
    compressed(F::ASTC_4X4_SFLOAT_BLOCK, "ASTC_4x4", [4, 4, 16]),
    compressed(F::ASTC_5X4_SFLOAT_BLOCK, "ASTC_5x4", [5, 4, 16]),
    compressed(F::ASTC_5X5_SFLOAT_BLOCK, "ASTC_5x5", [5, 5, 16]),
    compressed(F::ASTC_6X5_SFLOAT_BLOCK, "ASTC_6x5", [6, 5, 16]),
    compressed(F::ASTC_6X6_SFLOAT_BLOCK, "ASTC_6x6", [6, 6, 16]),
    compressed(F::ASTC_8X5_SFLOAT_BLOCK, "ASTC_8x5", [8, 5, 16]),
    compressed(F::ASTC_8X6_SFLOAT_BLOCK, "ASTC_8x6", [8, 6, 16]),
    compressed(F::ASTC_8X8_SFLOAT_BLOCK, "ASTC_8x8", [8, 8, 16]),
    compressed(F::ASTC_10X5_SFLOAT_BLOCK, "ASTC_10x5", [10, 5, 16]),
    compressed(F::ASTC_10X6_SFLOAT_BLOCK, "ASTC_10x6", [10, 6, 16]),
    compressed(F::ASTC_10X8_SFLOAT_BLOCK, "ASTC_10x8", [10, 8, 16]),
    compressed(F::ASTC_10X10_SFLOAT_BLOCK, "ASTC_10x10", [10, 10, 16]),
    compressed(F::ASTC_12X10_SFLOAT_BLOCK, "ASTC_12x10", [12, 10, 16]),
    compressed(F::ASTC_12X12_SFLOAT_BLOCK, "ASTC_12x12", [12, 12, 16]),
    float(F::R10X6_UNORM_PACK16, "16-bit", 2),
    float(F::R10X6G10X6_UNORM_2PACK16, "32-bit", 4),
    float(F::R10X6G10X6B10X6A10X6_UNORM_4PACK16, "64-bit R10G10B10A10", 8),
    float(F::R12X4_UNORM_PACK16, "16-bit", 2),
    float(F::R12X4G12X4_UNORM_2PACK16, "32-bit", 4),
    float(F::R12X4G12X4B12X4A12X4_UNORM_4PACK16, "64-bit R12G12B12A12", 8),
    float(F::A4R4G4B4_UNORM_PACK16, "16-bit", 2),
    float(F::A4B4G4R4_UNORM_PACK16, "16-bit", 2),
    float(F::R16G16_S10_5_NV, "32-bit", 4),
    float(F::A1B5G5R5_UNORM_PACK16_KHR, "16-bit", 2),
    float(F::A8_UNORM_KHR, "8-bit alpha", 1),
];
