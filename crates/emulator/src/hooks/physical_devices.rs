//! Entry points of physical devices: the driver's results, completed.

use ash::vk;
use tileheap_device::ffi::{BUFFER_USAGE_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM};

use tileheap_layer::arrays::write_array;
use tileheap_layer::call_down;
use tileheap_layer::chain::find;

use super::device::allocated_of_heap;
use super::instance::physical_entry_points;
use super::strip;
use crate::tables::emulation::ImageRequest;
use crate::tables::extended_flags;
use crate::tables::settings::LAYER_NAME;

macro_rules! completed_queries {
    ($($(#[$doc:meta])* $command:ident($type:ty): |$handle:ident, $emulation:ident, $out:ident| $complete:expr;)+) => {
        physical_entry_points! {$(
            $(#[$doc])*
            fn $command($handle: vk::PhysicalDevice, out: *mut $type) |instance, physical| {
                call_down!(instance.next, $command($handle, out));
                if let Some($emulation) = &physical.emulation {
                    // SAFETY: Valid usage: a valid structure, whose chain is valid, and which the driver has filled.
                    let $out = unsafe { &mut *out };
                    $complete
                }
            }
        )+}
    };
}
completed_queries! {
    /// The driver's types and heaps, with the tile heap.
    vkGetPhysicalDeviceMemoryProperties(vk::PhysicalDeviceMemoryProperties):
        |handle, emulation, out| *out = *emulation.memory_types.shown();
    /// The same properties, with the heap's budget.
    vkGetPhysicalDeviceMemoryProperties2(vk::PhysicalDeviceMemoryProperties2<'_>): |handle, emulation, out| {
        // SAFETY: The chain is valid, and filled.
        unsafe { emulation.complete_memory_properties(out, allocated_of_heap(handle)) }
    };
    /// The driver's features, and the layer's.
    vkGetPhysicalDeviceFeatures2(vk::PhysicalDeviceFeatures2<'_>): |handle, emulation, out| {
        // SAFETY: The chain is valid.
        unsafe { emulation.complete_features(out.p_next) }
    };
    /// The driver's properties, and the layer's.
    vkGetPhysicalDeviceProperties2(vk::PhysicalDeviceProperties2<'_>): |handle, emulation, out| {
        // SAFETY: The chain is valid.
        unsafe { emulation.complete_properties(out.p_next) }
    };
}

physical_entry_points! {
    /// With the tile usage bit: what is granted, and what the driver says without the bit.
    fn vkGetPhysicalDeviceImageFormatProperties(
        handle: vk::PhysicalDevice,
        format: vk::Format,
        kind: vk::ImageType,
        tiling: vk::ImageTiling,
        usage: vk::ImageUsageFlags,
        flags: vk::ImageCreateFlags,
        out: *mut vk::ImageFormatProperties,
    ) -> vk::Result |instance, physical| {
        let request = ImageRequest { format, kind, tiling, usage, flags, ..Default::default() };
        let Some(emulation) = physical.emulation.as_ref().filter(|_| request.is_tile()) else {
            let next = &instance.next;
            return call_down!(next, vkGetPhysicalDeviceImageFormatProperties(handle, format, kind, tiling, usage, flags, out));
        };
        if !emulation.grants(&request) {
            // SAFETY: Valid usage: room for one.
            unsafe { out.write(vk::ImageFormatProperties::default()) };
            return vk::Result::ERROR_FORMAT_NOT_SUPPORTED;
        }
        let usage = usage & !IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        let result = call_down!(
            instance.next,
            vkGetPhysicalDeviceImageFormatProperties(handle, format, kind, tiling, usage, flags, out)
        );
        if result == vk::Result::SUCCESS {
            // SAFETY: The driver has written it.
            emulation.limit(unsafe { &mut *out });
        }
        result
    }

    /// As `vkGetPhysicalDeviceImageFormatProperties`, where the bit may also be a stencil usage.
    fn vkGetPhysicalDeviceImageFormatProperties2(
        handle: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceImageFormatInfo2<'_>,
        out: *mut vk::ImageFormatProperties2<'_>,
    ) -> vk::Result |instance, physical| {
        // SAFETY: Valid usage: a valid structure.
        let query = unsafe { &*info };
        // SAFETY: The chain is valid.
        let request = unsafe { extended_flags::image_request(query) };
        let Some(emulation) = physical.emulation.as_ref().filter(|_| request.is_tile()) else {
            return call_down!(instance.next, vkGetPhysicalDeviceImageFormatProperties2(handle, info, out));
        };
        // SAFETY: The chain is valid.
        let external = unsafe { find::<vk::PhysicalDeviceExternalImageFormatInfo<'_>>(query.p_next) };
        let is_external = external.is_some_and(|external| !external.handle_type.is_empty());
        if is_external || !emulation.grants(&request) {
            // SAFETY: Valid usage: a valid structure.
            unsafe { (*out).image_format_properties = vk::ImageFormatProperties::default() };
            return vk::Result::ERROR_FORMAT_NOT_SUPPORTED;
        }
        // SAFETY: The structure is valid and outlives the call.
        let stripped = unsafe { strip::format_info(query) };
        let result = call_down!(instance.next, vkGetPhysicalDeviceImageFormatProperties2(handle, &stripped.info, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The driver has written it.
            emulation.limit(unsafe { &mut (*out).image_format_properties });
        }
        result
    }

    /// No tile image is sparse.
    fn vkGetPhysicalDeviceSparseImageFormatProperties(
        handle: vk::PhysicalDevice,
        format: vk::Format,
        kind: vk::ImageType,
        samples: vk::SampleCountFlags,
        usage: vk::ImageUsageFlags,
        tiling: vk::ImageTiling,
        count: *mut u32,
        out: *mut vk::SparseImageFormatProperties,
    ) |instance, physical| {
        if physical.emulation.is_some() && usage.contains(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM) {
            // SAFETY: Vulkan's two-call idiom.
            let _ = unsafe { write_array(&[], count, out) };
            return;
        }
        let next = &instance.next;
        call_down!(
            next,
            vkGetPhysicalDeviceSparseImageFormatProperties(handle, format, kind, samples, usage, tiling, count, out)
        );
    }

    /// As `vkGetPhysicalDeviceSparseImageFormatProperties`.
    fn vkGetPhysicalDeviceSparseImageFormatProperties2(
        handle: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceSparseImageFormatInfo2<'_>,
        count: *mut u32,
        out: *mut vk::SparseImageFormatProperties2<'_>,
    ) |instance, physical| {
        // SAFETY: Valid usage: a valid structure.
        let query = unsafe { &*info };
        // SAFETY: The chain is valid.
        let usage = unsafe { extended_flags::sparse_usage(query) };
        if physical.emulation.is_some() && usage.contains(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM) {
            // SAFETY: Vulkan's two-call idiom.
            let _ = unsafe { write_array(&[], count, out) };
            return;
        }
        call_down!(instance.next, vkGetPhysicalDeviceSparseImageFormatProperties2(handle, info, count, out));
    }

    /// No tile buffer is exported or imported.
    fn vkGetPhysicalDeviceExternalBufferProperties(
        handle: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceExternalBufferInfo<'_>,
        out: *mut vk::ExternalBufferProperties<'_>,
    ) |instance, physical| {
        // SAFETY: Valid usage: a valid structure.
        let query = unsafe { &*info };
        // SAFETY: The chain is valid.
        let usage = unsafe { extended_flags::buffer_usage(query.p_next, query.usage) };
        if physical.emulation.is_some() && usage.contains(BUFFER_USAGE_TILE_MEMORY_BIT_QCOM) {
            // SAFETY: Valid usage: a valid structure.
            unsafe { (*out).external_memory_properties = vk::ExternalMemoryProperties::default() };
            return;
        }
        call_down!(instance.next, vkGetPhysicalDeviceExternalBufferProperties(handle, info, out));
    }

    /// The layer, before the tools below it.
    fn vkGetPhysicalDeviceToolProperties(
        handle: vk::PhysicalDevice,
        count: *mut u32,
        out: *mut vk::PhysicalDeviceToolProperties<'_>,
    ) -> vk::Result |instance, physical| {
        let next = &instance.next;
        // SAFETY: Valid usage.
        let room = unsafe { &mut *count };
        if out.is_null() {
            let result = call_down!(next, vkGetPhysicalDeviceToolProperties(handle, count, out));
            *room += u32::from(physical.emulation.is_some());
            return result;
        }
        if physical.emulation.is_none() {
            return call_down!(next, vkGetPhysicalDeviceToolProperties(handle, count, out));
        }
        if *room == 0 {
            return vk::Result::INCOMPLETE;
        }
        // SAFETY: Room for one at least, with a chain of the application's.
        let first = unsafe { &mut *out };
        let p_next = first.p_next;
        *first = tool();
        first.p_next = p_next;
        let mut rest = *room - 1;
        // SAFETY: At most one past the elements.
        let behind = unsafe { out.add(1) };
        let result = if rest == 0 {
            let mut below = 0;
            match call_down!(next, vkGetPhysicalDeviceToolProperties(handle, &mut below, std::ptr::null_mut())) {
                vk::Result::SUCCESS if below > 0 => vk::Result::INCOMPLETE,
                result => result,
            }
        } else {
            call_down!(next, vkGetPhysicalDeviceToolProperties(handle, &mut rest, behind))
        };
        *room = rest + 1;
        result
    }
}

/// The layer as a tool.
fn tool() -> vk::PhysicalDeviceToolProperties<'static> {
    let tool = vk::PhysicalDeviceToolProperties::default()
        .name(c"tileheap emulator")
        .and_then(|tool| tool.version(VERSION))
        .and_then(|tool| tool.description(c"Emulates VK_QCOM_tile_memory_heap"))
        .and_then(|tool| tool.layer(LAYER_NAME));
    tool.expect("the texts are short").purposes(
        vk::ToolPurposeFlags::ADDITIONAL_FEATURES
            | vk::ToolPurposeFlags::MODIFYING_FEATURES
            | vk::ToolPurposeFlags::VALIDATION,
    )
}

/// The package's version as a C string.
const VERSION: &std::ffi::CStr =
    match std::ffi::CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version holds no NUL"),
    };
