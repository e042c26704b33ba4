//! 64-bit flags that replace 32-bit ones: usages of buffers, and the flags and usages of images that `VK_KHR_extended_flags` defines, which
//! ash 0.38 lacks.
//!
//! ```text
//! VkImageCreateInfo { usage: A, pNext } ─► VkImageUsageFlags2CreateInfoKHR { usage: B }       the image's usage is B
//! ```
//! Source: `VkImageUsageFlags2CreateInfoKHR` and its siblings in header 1.4.363; the values of `sType` are those of VK_LAYER_KHRONOS_validation
//! 1.4.363.

use std::ffi::c_void;

use ash::vk;
use tileheap_layer::chained;

use super::emulation::ImageRequest;

/// `VK_STRUCTURE_TYPE_IMAGE_CREATE_FLAGS_2_CREATE_INFO_KHR`.
const FLAGS: i32 = 1_000_668_001;
/// `VK_STRUCTURE_TYPE_IMAGE_USAGE_FLAGS_2_CREATE_INFO_KHR`.
const USAGE: i32 = 1_000_668_002;
/// `VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_2_CREATE_INFO_KHR`.
const VIEW_USAGE: i32 = 1_000_668_003;
/// `VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_2_CREATE_INFO_KHR`.
const STENCIL_USAGE: i32 = 1_000_668_005;

/// A structure of `VK_KHR_extended_flags` whose only member is a 64-bit mask.
#[repr(C)]
pub(crate) struct ExtendedFlags<const TYPE: i32> {
    pub(crate) s_type: vk::StructureType,
    pub(crate) p_next: *const c_void,
    pub(crate) flags: u64,
}

// SAFETY: Laid out as the C structure of that type, which begins with type and next.
unsafe impl<const TYPE: i32> vk::TaggedStructure for ExtendedFlags<TYPE> {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(TYPE);
}

/// `VkImageCreateFlags2CreateInfoKHR`.
type ImageFlags = ExtendedFlags<FLAGS>;
/// `VkImageUsageFlags2CreateInfoKHR`.
pub(crate) type ImageUsage = ExtendedFlags<USAGE>;
/// `VkImageViewUsage2CreateInfoKHR`.
pub(crate) type ImageViewUsage = ExtendedFlags<VIEW_USAGE>;
/// `VkImageStencilUsage2CreateInfoKHR`.
pub(crate) type ImageStencilUsage = ExtendedFlags<STENCIL_USAGE>;

/// Stands for usages past bit 31, which no tile image is guaranteed to have.
const UNKNOWN_USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(1 << 31);

/// Stands for flags past bit 31: a flag that a tile image must not have.
const UNKNOWN_FLAGS: vk::ImageCreateFlags = vk::ImageCreateFlags::PROTECTED;

/// Narrows flags to 32 bits; flags past bit 31 become `unknown`.
fn narrow(wide: u64, unknown: u32) -> u32 {
    let high = if wide >> 32 == 0 { 0 } else { unknown };
    wide as u32 | high
}

fn usage_of(p_next: *const c_void, plain: vk::ImageUsageFlags) -> vk::ImageUsageFlags {
    let wide = chained!(p_next => ImageUsage);
    let narrow = |wide: &ImageUsage| narrow(wide.flags, UNKNOWN_USAGE.as_raw());
    wide.map_or(plain, |wide| vk::ImageUsageFlags::from_raw(narrow(wide)))
}

fn flags_of(p_next: *const c_void, plain: vk::ImageCreateFlags) -> vk::ImageCreateFlags {
    let wide = chained!(p_next => ImageFlags);
    let narrow = |wide: &ImageFlags| narrow(wide.flags, UNKNOWN_FLAGS.as_raw());
    wide.map_or(plain, |wide| vk::ImageCreateFlags::from_raw(narrow(wide)))
}

fn stencil_usage_of(p_next: *const c_void) -> vk::ImageUsageFlags {
    let plain = chained!(p_next => vk::ImageStencilUsageCreateInfo<'_>);
    let wide = chained!(p_next => ImageStencilUsage);
    match wide {
        Some(wide) => vk::ImageUsageFlags::from_raw(narrow(wide.flags, UNKNOWN_USAGE.as_raw())),
        None => plain.map_or(vk::ImageUsageFlags::empty(), |plain| plain.stencil_usage),
    }
}

/// Returns an image's create info, with its flags and usage replaced by those in its chain, if any; and the usage of its stencil aspect: 0 if it is
/// not separate.
pub(crate) fn image<'a>(info: &vk::ImageCreateInfo<'a>) -> (vk::ImageCreateInfo<'a>, vk::ImageUsageFlags) {
    let mut copy = *info;
    copy.flags = flags_of(info.p_next, info.flags);
    copy.usage = usage_of(info.p_next, info.usage);
    (copy, stencil_usage_of(info.p_next))
}

/// The image parameters of a format query, with flags and usage replaced by those in its chain, if any.
pub(crate) fn image_request(info: &vk::PhysicalDeviceImageFormatInfo2<'_>) -> ImageRequest {
    ImageRequest {
        format: info.format,
        kind: info.ty,
        tiling: info.tiling,
        usage: usage_of(info.p_next, info.usage),
        stencil_usage: stencil_usage_of(info.p_next),
        flags: flags_of(info.p_next, info.flags),
    }
}

/// The usage in a query for sparse images, or the usage in its chain that replaces it.
pub(crate) fn sparse_usage(info: &vk::PhysicalDeviceSparseImageFormatInfo2<'_>) -> vk::ImageUsageFlags {
    usage_of(info.p_next, info.usage)
}

/// A buffer's usage, or the usage in its chain that replaces it.
pub(crate) fn buffer_usage(p_next: *const c_void, plain: vk::BufferUsageFlags) -> vk::BufferUsageFlags {
    let wide = chained!(p_next => vk::BufferUsageFlags2CreateInfoKHR<'_>);
    // Bits past 31 are usages that a tile buffer must not have, so a forbidden bit stands for them.
    let unknown = vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw();
    wide.map_or(plain, |wide| {
        vk::BufferUsageFlags::from_raw(narrow(wide.usage.as_raw(), unknown))
    })
}

/// A buffer's create info, with its usage replaced by the one in its chain, if any.
pub(crate) fn buffer<'a>(info: &vk::BufferCreateInfo<'a>) -> vk::BufferCreateInfo<'a> {
    let mut copy = *info;
    copy.usage = buffer_usage(info.p_next, info.usage);
    copy
}
