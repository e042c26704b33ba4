//! Formats from which random ones are chosen.

use std::sync::LazyLock;

use ash::vk::{self, Format as F};
use tileheap::format::{self, FormatInfo};
use tileheap::names;

/// Formats that most drivers can render to.
pub(super) const COLORS: [F; 16] = [
    F::R8G8B8A8_UNORM,
    F::R8G8B8A8_UNORM,
    F::B8G8R8A8_UNORM,
    F::R8G8B8A8_SRGB,
    F::R8G8B8A8_UINT,
    F::R16G16B16A16_SFLOAT,
    F::R32_UINT,
    F::R32_SINT,
    F::R32_SFLOAT,
    F::R32G32B32A32_SFLOAT,
    F::R32G32B32A32_UINT,
    F::A2B10G10R10_UNORM_PACK32,
    F::B10G11R11_UFLOAT_PACK32,
    F::R8_UNORM,
    F::R16G16_SFLOAT,
    F::R5G6B5_UNORM_PACK16,
];

/// Formats that all or most devices support for storage images.
pub(super) const STORED: [F; 8] = [
    F::R8G8B8A8_UNORM,
    F::R8G8B8A8_UINT,
    F::R16G16B16A16_SFLOAT,
    F::R32_UINT,
    F::R32_SFLOAT,
    F::R32G32_SFLOAT,
    F::R32G32B32A32_SFLOAT,
    F::R32G32B32A32_UINT,
];

pub(super) const DEPTHS: [F; 7] = [
    F::D32_SFLOAT,
    F::D32_SFLOAT,
    F::D16_UNORM,
    F::X8_D24_UNORM_PACK32,
    F::D24_UNORM_S8_UINT,
    F::D32_SFLOAT_S8_UINT,
    F::S8_UINT,
];

/// Every format that Vulkan names, including multi-planar ones and those of extensions.
pub(super) static ALL: LazyLock<Vec<F>> =
    LazyLock::new(|| names::all::<F>().map(|(_, format)| format).collect());

/// The formats that `format::info` describes.
pub(super) static KNOWN: LazyLock<Vec<&'static FormatInfo>> =
    LazyLock::new(|| ALL.iter().filter_map(|format| format::info(*format)).collect());

/// The formats that are compatible with a format; for a depth or stencil format, only the format itself.
pub(super) fn compatible(own: F) -> Vec<F> {
    let info = format::info(own);
    let fits = |other: &&&FormatInfo| info.is_some_and(|info| info.is_compatible_with(other));
    KNOWN.iter().filter(fits).map(|info| info.format).collect()
}

pub(super) fn is_depth(format: F) -> bool {
    !format::aspects(format).contains(vk::ImageAspectFlags::COLOR)
}
