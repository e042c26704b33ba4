//! Entry points of physical devices: the driver's results, completed with those of the emulation.

use ash::vk;
use tileheap_device::ffi::{BUFFER_USAGE_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM};
use tileheap_layer::{call_down, chained, fill, given, store};

use super::device::allocated_of_heap;
use super::instance::physical_entry_points;
use super::strip;
use crate::tables::emulation::ImageRequest;
use crate::tables::extended_flags;
use crate::tables::layer::LAYER_NAME;

macro_rules! completed_queries {
    ($($(#[$doc:meta])* $command:ident: |$handle:ident, $emulation:ident, $out:ident| $complete:expr;)+) => {
        physical_entry_points! {$(
            $(#[$doc])*
            $command($handle, out) |instance, physical| {
                call_down!(instance.next, $command($handle, out));
                if let Some($emulation) = &physical.emulation {
                    let $out = given!(mut out);
                    $complete
                }
            }
        )+}
    };
}
completed_queries! {
    /// Returns the driver's memory types and heaps, together with the tile heap.
    vkGetPhysicalDeviceMemoryProperties: |handle, emulation, out| *out = *emulation.memory_types.shown();
    /// Same as `vkGetPhysicalDeviceMemoryProperties`, with the budget of the tile heap.
    vkGetPhysicalDeviceMemoryProperties2: |handle, emulation, out| {
        emulation.complete_memory_properties(out, allocated_of_heap(handle))
    };
    /// Returns the driver's features and the layer's.
    vkGetPhysicalDeviceFeatures2: |handle, emulation, out| {
        emulation.complete_features(out.p_next)
    };
    /// Returns the driver's properties and the layer's.
    vkGetPhysicalDeviceProperties2: |handle, emulation, out| {
        emulation.complete_properties(out.p_next)
    };
}

physical_entry_points! {
    /// With the tile usage bit, returns the driver's result for the image without the bit, restricted to the guaranteed set.
    vkGetPhysicalDeviceImageFormatProperties(handle, format, kind, tiling, usage, flags, out) |instance, physical| {
        let request = ImageRequest { format, kind, tiling, usage, flags, ..Default::default() };
        let Some(emulation) = physical.emulation.as_ref().filter(|_| request.is_tile()) else {
            let next = &instance.next;
            return call_down!(next, vkGetPhysicalDeviceImageFormatProperties(handle, format, kind, tiling, usage, flags, out));
        };
        if !emulation.allows_tile_image(&request) {
            store!(out, vk::ImageFormatProperties::default());
            return vk::Result::ERROR_FORMAT_NOT_SUPPORTED;
        }
        let usage = usage & !IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        let result = call_down!(
            instance.next,
            vkGetPhysicalDeviceImageFormatProperties(handle, format, kind, tiling, usage, flags, out)
        );
        if result == vk::Result::SUCCESS {
            emulation.limit(given!(mut out));
        }
        result
    }

    /// Same as `vkGetPhysicalDeviceImageFormatProperties`; the tile usage bit may also be in the stencil usage.
    vkGetPhysicalDeviceImageFormatProperties2(handle, info, out) |instance, physical| {
        let query = given!(info);
        let request = extended_flags::image_request(query);
        let Some(emulation) = physical.emulation.as_ref().filter(|_| request.is_tile()) else {
            return call_down!(instance.next, vkGetPhysicalDeviceImageFormatProperties2(handle, info, out));
        };
        let external = chained!(query.p_next => vk::PhysicalDeviceExternalImageFormatInfo<'_>);
        let is_external = external.is_some_and(|external| !external.handle_type.is_empty());
        if is_external || !emulation.allows_tile_image(&request) {
            given!(mut out).image_format_properties = vk::ImageFormatProperties::default();
            return vk::Result::ERROR_FORMAT_NOT_SUPPORTED;
        }
        let stripped = strip::format_info(query);
        let result = call_down!(instance.next, vkGetPhysicalDeviceImageFormatProperties2(handle, &stripped.info, out));
        if result == vk::Result::SUCCESS {
            emulation.limit(&mut given!(mut out).image_format_properties);
        }
        result
    }

    /// Returns no properties for tile images, which cannot be sparse.
    vkGetPhysicalDeviceSparseImageFormatProperties(handle, format, kind, samples, usage, tiling, count, out) |instance, physical| {
        if physical.emulation.is_some() && usage.contains(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM) {
            let _ = fill!(&[], count, out);
            return;
        }
        let next = &instance.next;
        call_down!(
            next,
            vkGetPhysicalDeviceSparseImageFormatProperties(handle, format, kind, samples, usage, tiling, count, out)
        );
    }

    /// Same as `vkGetPhysicalDeviceSparseImageFormatProperties`.
    vkGetPhysicalDeviceSparseImageFormatProperties2(handle, info, count, out) |instance, physical| {
        let query = given!(info);
        let usage = extended_flags::sparse_usage(query);
        if physical.emulation.is_some() && usage.contains(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM) {
            let _ = fill!(&[], count, out);
            return;
        }
        call_down!(instance.next, vkGetPhysicalDeviceSparseImageFormatProperties2(handle, info, count, out));
    }

    /// Returns no external memory properties for tile buffers, which can be neither exported nor imported.
    vkGetPhysicalDeviceExternalBufferProperties(handle, info, out) |instance, physical| {
        let query = given!(info);
        let usage = extended_flags::buffer_usage(query.p_next, query.usage);
        if physical.emulation.is_some() && usage.contains(BUFFER_USAGE_TILE_MEMORY_BIT_QCOM) {
            given!(mut out).external_memory_properties = vk::ExternalMemoryProperties::default();
            return;
        }
        call_down!(instance.next, vkGetPhysicalDeviceExternalBufferProperties(handle, info, out));
    }

    /// Lists the layer, if it emulates an extension on the device, followed by the tools of the next layers.
    vkGetPhysicalDeviceToolProperties(handle, count, out) |instance, physical| {
        let next = &instance.next;
        let room = given!(mut count);
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
        let first = given!(mut out);
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

/// Describes the layer as a tool.
fn tool() -> vk::PhysicalDeviceToolProperties<'static> {
    let tool = vk::PhysicalDeviceToolProperties::default()
        .name(c"tileheap emulator")
        .and_then(|tool| tool.version(VERSION))
        .and_then(|tool| tool.description(c"Emulates VK_QCOM_tile_memory_heap"))
        .and_then(|tool| tool.layer(LAYER_NAME));
    tool.expect("the texts fit into VkPhysicalDeviceToolProperties")
        .purposes(
            vk::ToolPurposeFlags::ADDITIONAL_FEATURES
                | vk::ToolPurposeFlags::MODIFYING_FEATURES
                | vk::ToolPurposeFlags::VALIDATION,
        )
}

/// The package's version as a C string.
const VERSION: &std::ffi::CStr =
    match std::ffi::CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version contains no NUL"),
    };
