//! Entry points of memory: remapped memory types in queries, tile memory objects, and bindings.

use std::ffi::c_void;

use ash::vk;
use ash::vk::Handle;
use tileheap_device::ffi::TileMemoryRequirementsQCOM;
use tileheap_device::profile::TileRequirements;
use tileheap_layer::{array, call_down, chained, given, store};

use super::device::{Device, device_entry_points};
use super::ordinary;
use super::resources::{tile_buffer_needs, tile_image_needs};
use super::strip;
use super::tile_objects;
use crate::model::objects::Object;
use crate::tables::extended_flags;

macro_rules! requirements_queries {
    ($($command:ident)+) => {
        device_entry_points! {$(
            /// Returns the driver's result with its memory types remapped.
            $command(handle, info, out) |device| {
                call_down!(device.driver.commands, $command(handle, info, out));
                remap(&device, &mut given!(mut out).memory_requirements.memory_type_bits);
            }
        )+}
    };
}

requirements_queries! {
    vkGetGeneratedCommandsMemoryRequirementsEXT
    vkGetTensorMemoryRequirementsARM
    vkGetDeviceTensorMemoryRequirementsARM
    vkGetDataGraphPipelineSessionMemoryRequirementsARM
    vkGetAccelerationStructureMemoryRequirementsNV
    vkGetGeneratedCommandsMemoryRequirementsNV
}

macro_rules! import_queries {
    ($($command:ident($($arg:ident),+);)+) => {
        device_entry_points! {$(
            /// Returns the driver's result with its memory types remapped.
            $command(handle, $($arg,)+ out) |device| {
                let result = call_down!(device.driver.commands, $command(handle, $($arg,)+ out));
                if result == vk::Result::SUCCESS {
                    remap(&device, &mut given!(mut out).memory_type_bits);
                }
                result
            }
        )+}
    };
}

import_queries! {
    vkGetMemoryFdPropertiesKHR(kind, fd);
    vkGetMemoryHostPointerPropertiesEXT(kind, pointer);
    vkGetMemoryWin32HandlePropertiesKHR(kind, external);
    vkGetMemoryZirconHandlePropertiesFUCHSIA(kind, external);
    vkGetAndroidHardwareBufferPropertiesANDROID(buffer);
    vkGetBufferCollectionPropertiesFUCHSIA(collection);
}

macro_rules! binds {
    ($($one:ident, $several:ident($field:ident) in $map:ident;)+) => {
        device_entry_points! {$(
            /// Binds the resource, to the heap's memory if the object is tile memory, and tracks the binding.
            $one(handle, resource, object, offset) |device| {
                let known = device.resources.$map.get(resource.as_raw());
                match tile_objects::place(&device, known.clone(), Object::of(resource), object, offset) {
                    Ok(below) => {
                        let result = call_down!(device.driver.commands, $one(handle, resource, below, offset));
                        if result == vk::Result::SUCCESS {
                            ordinary::bind(&device, known, object, offset);
                        }
                        result
                    }
                    Err(error) => error,
                }
            }

            /// Same as the command that binds one resource, for several resources.
            $several(handle, count, infos) |device| {
                let given = array!(infos, count);
                let mut infos = given.to_vec();
                for info in &mut infos {
                    let about = Object::of(info.$field);
                    let known = device.resources.$map.get(info.$field.as_raw());
                    match tile_objects::place(&device, known, about, info.memory, info.memory_offset) {
                        Ok(below) => info.memory = below,
                        Err(error) => return error,
                    }
                }
                let result = call_down!(device.driver.commands, $several(handle, count, infos.as_ptr()));
                for info in given.iter().filter(|_| result == vk::Result::SUCCESS) {
                    let known = device.resources.$map.get(info.$field.as_raw());
                    match is_bound_in_parts(info.p_next) {
                        true => ordinary::bind_in_parts(&device, info.memory),
                        false => ordinary::bind(&device, known, info.memory, info.memory_offset),
                    }
                }
                result
            }
        )+}
    };
}

binds! {
    vkBindImageMemory, vkBindImageMemory2(image) in images;
    vkBindBufferMemory, vkBindBufferMemory2(buffer) in buffers;
}

macro_rules! resource_queries {
    ($($plain:ident, $chained:ident($field:ident): |$device:ident, $resource:ident| $needs:expr;)+) => {
        device_entry_points! {$(
            /// Returns the driver's requirements with remapped memory types, and with the tile type if the resource
            /// can be placed in tile memory.
            $plain(handle, $resource, out) |$device| {
                call_down!($device.driver.commands, $plain(handle, $resource, out));
                let bits = &mut given!(mut out).memory_type_bits;
                *bits = shown(&$device, *bits, $needs);
            }

            /// Same as the command without a chain, with tile memory requirements.
            $chained(handle, info, out) |$device| {
                call_down!($device.driver.commands, $chained(handle, info, out));
                let $resource = given!(info).$field;
                complete(&$device, out, $needs);
            }
        )+}
    };
}
resource_queries! {
    vkGetImageMemoryRequirements, vkGetImageMemoryRequirements2(image):
        |device, image| RequirementInputs {
            tile: device.resources.images.with(image.as_raw(), |image| image.needs).flatten(),
            is_transient: device.resources.transient_images.get(image.as_raw()).is_some(),
        };
    vkGetBufferMemoryRequirements, vkGetBufferMemoryRequirements2(buffer):
        |device, buffer| RequirementInputs {
            tile: device.resources.buffers.with(buffer.as_raw(), |buffer| buffer.needs).flatten(),
            is_transient: false,
        };
}

macro_rules! described_queries {
    ($(
        $(#[$doc:meta])* $command:ident($($arg:ident),+), strip::$strip:ident;
        |$device:ident, $create:ident| $complete:block
    )+) => {
        device_entry_points! {$(
            $(#[$doc])*
            $command(handle, info, $($arg),+) |$device| {
                let mut copy = *given!(info);
                let $create = given!(copy.p_create_info);
                let stripped = strip::$strip($create);
                copy.p_create_info = &stripped.info;
                call_down!($device.driver.commands, $command(handle, &copy, $($arg),+));
                $complete
            }
        )+}
    };
}
described_queries! {
    /// Returns the requirements of an image, by its create info.
    vkGetDeviceImageMemoryRequirements(out), strip::image;
    |device, create| {
        let (create, stencil) = extended_flags::image(create);
        let driver = given!(out).memory_requirements;
        let needs = RequirementInputs {
            tile: tile_image_needs(&device, &create, stencil, &driver),
            is_transient: create.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT),
        };
        complete(&device, out, needs);
    }

    /// Returns the requirements of a buffer, by its create info.
    vkGetDeviceBufferMemoryRequirements(out), strip::buffer;
    |device, create| {
        let create = extended_flags::buffer(create);
        let driver = given!(out).memory_requirements;
        let needs = RequirementInputs { tile: tile_buffer_needs(&device, &create, &driver), is_transient: false };
        complete(&device, out, needs);
    }

    /// Removes the tile usage bit for the next layer.
    vkGetDeviceImageSparseMemoryRequirements(count, out), strip::image;
    |device, create| {}

    /// Removes the tile usage bit for the next layer.
    vkGetDeviceImageSubresourceLayoutKHR(out), strip::image;
    |device, create| {}
}

/// Returns true if a binding is for a single plane, for a swapchain's memory, or for individual devices of a device group: these bindings are not
/// tracked.
fn is_bound_in_parts(p_next: *const c_void) -> bool {
    chained!(p_next => vk::BindImagePlaneMemoryInfo<'_>).is_some()
        || chained!(p_next => vk::BindImageMemorySwapchainInfoKHR<'_>).is_some()
        || chained!(p_next => vk::BindImageMemoryDeviceGroupInfo<'_>).is_some()
        || chained!(p_next => vk::BindBufferMemoryDeviceGroupInfo<'_>).is_some()
}

/// The properties of a resource on which its emulated memory requirements depend.
struct RequirementInputs {
    /// Requirements in the tile heap; `None` if the resource cannot be placed there.
    tile: Option<TileRequirements>,
    is_transient: bool,
}

/// Completes the requirements of a resource: remaps the memory types, adds the emulated ones that it supports, and fills in the tile requirements.
fn complete(device: &Device, out: *mut vk::MemoryRequirements2<'_>, needs: RequirementInputs) {
    let out = given!(mut out);
    let (bits, tile_needs) = (out.memory_requirements.memory_type_bits, needs.tile);
    out.memory_requirements.memory_type_bits = shown(device, bits, needs);
    let tile = chained!(mut out.p_next => TileMemoryRequirementsQCOM<'_>);
    if let Some(tile) = tile.filter(|_| device.physical.emulation.is_some()) {
        tile.size = tile_needs.map_or(0, |needs| needs.size.0);
        tile.alignment = tile_needs.map_or(0, |needs| needs.alignment.get());
    }
}

fn shown(device: &Device, driver: u32, needs: RequirementInputs) -> u32 {
    let lazy = if needs.is_transient {
        device.lazy_bits(driver)
    } else {
        0
    };
    device.shown_bits(driver) | device.tile_bits(needs.tile) | lazy
}

device_entry_points! {
    /// Allocates a tile memory object, or ordinary memory with its type remapped.
    vkAllocateMemory(handle, info, allocator, out) |device| {
        tile_objects::allocate(&device, given!(info), allocator, out)
    }

    /// Maps ordinary memory. Fails for tile memory, which is not host visible.
    vkMapMemory(handle, object, offset, size, flags, out) |device| {
        if tile_objects::refuse_mapping(&device, object) {
            return vk::Result::ERROR_MEMORY_MAP_FAILED;
        }
        let result = call_down!(device.driver.commands, vkMapMemory(handle, object, offset, size, flags, out));
        ordinary::map(&device, result, object);
        result
    }

    /// Same as `vkMapMemory`.
    vkMapMemory2KHR(handle, info, out) |device| {
        if tile_objects::refuse_mapping(&device, given!(info).memory) {
            return vk::Result::ERROR_MEMORY_MAP_FAILED;
        }
        let result = call_down!(device.driver.commands, vkMapMemory2KHR(handle, info, out));
        ordinary::map(&device, result, given!(info).memory);
        result
    }

    /// Remaps the memory types of video sessions.
    vkGetVideoSessionMemoryRequirementsKHR(handle, session, count, out) |device| {
        let result = call_down!(device.driver.commands, vkGetVideoSessionMemoryRequirementsKHR(handle, session, count, out));
        if result.as_raw() >= 0 && !out.is_null() {
            let count = *given!(count);
            for needs in array!(mut out, count) {
                remap(&device, &mut needs.memory_requirements.memory_type_bits);
            }
        }
        result
    }

    /// Returns no features for the tile heap: devices of a group cannot access each other's tile memory.
    vkGetDeviceGroupPeerMemoryFeatures(handle, heap, local, remote, out) |device| {
        let emulation = device.physical.emulation.as_ref();
        if emulation.is_some_and(|emulation| emulation.memory_types.tile_heap() == heap) {
            store!(out, vk::PeerMemoryFeatureFlags::empty());
            return;
        }
        call_down!(device.driver.commands, vkGetDeviceGroupPeerMemoryFeatures(handle, heap, local, remote, out));
    }

    /// Returns 0 for tile memory, and for all memory if the layer emulates a lazily allocated type.
    vkGetDeviceMemoryCommitment(handle, object, out) |device| {
        match tile_objects::lazy_commitment(&device, object) {
            Some(bytes) => store!(out, bytes),
            None => call_down!(device.driver.commands, vkGetDeviceMemoryCommitment(handle, object, out)),
        }
    }

}

fn remap(device: &Device, bits: &mut u32) {
    *bits = device.shown_bits(*bits);
}
