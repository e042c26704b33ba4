//! Entry points of memory: types in every query, tile memory objects, binding.

use std::ffi::{c_int, c_void};

use ash::vk;
use ash::vk::Handle;
use tileheap_device::ffi::TileMemoryRequirementsQCOM;
use tileheap_device::profile::TileRequirements;
use tileheap_layer::arrays::elements;
use tileheap_layer::chain::find_mut;
use tileheap_layer::{call_down, entry_points};

use super::device::{Device, device_of};
use super::resources::{tile_buffer_needs, tile_image_needs};
use super::strip;
use super::tile_objects;
use crate::tables::extended_flags;

macro_rules! requirements_queries {
    ($($command:ident: $info:ty;)+) => {
        entry_points! {$(
            /// The driver's result with its memory types remapped.
            fn $command(handle: vk::Device, info: *const $info, out: *mut vk::MemoryRequirements2<'_>) {
                let Some(device) = device_of(handle) else { return };
                call_down!(device.driver.commands, $command(handle, info, out));
                // SAFETY: Valid usage, and filled by the driver.
                remap(&device, unsafe { &mut (*out).memory_requirements.memory_type_bits });
            }
        )+}
    };
}

requirements_queries! {
    vkGetGeneratedCommandsMemoryRequirementsEXT: c_void;
    vkGetTensorMemoryRequirementsARM: c_void;
    vkGetDeviceTensorMemoryRequirementsARM: c_void;
    vkGetDataGraphPipelineSessionMemoryRequirementsARM: c_void;
    vkGetAccelerationStructureMemoryRequirementsNV: vk::AccelerationStructureMemoryRequirementsInfoNV<'_>;
    vkGetGeneratedCommandsMemoryRequirementsNV: vk::GeneratedCommandsMemoryRequirementsInfoNV<'_>;
}

macro_rules! import_queries {
    ($($command:ident($($arg:ident: $type:ty),+) -> $out:ty;)+) => {
        entry_points! {$(
            /// The driver's result with its memory types remapped.
            fn $command(handle: vk::Device, $($arg: $type,)+ out: *mut $out) -> vk::Result {
                let Some(device) = device_of(handle) else { return vk::Result::ERROR_INITIALIZATION_FAILED };
                let result = call_down!(device.driver.commands, $command(handle, $($arg,)+ out));
                if result == vk::Result::SUCCESS {
                    // SAFETY: Filled by the driver.
                    remap(&device, unsafe { &mut (*out).memory_type_bits });
                }
                result
            }
        )+}
    };
}

import_queries! {
    vkGetMemoryFdPropertiesKHR(kind: vk::ExternalMemoryHandleTypeFlags, fd: c_int) -> vk::MemoryFdPropertiesKHR<'_>;
    vkGetMemoryHostPointerPropertiesEXT(kind: vk::ExternalMemoryHandleTypeFlags, pointer: *const c_void)
        -> vk::MemoryHostPointerPropertiesEXT<'_>;
    vkGetMemoryWin32HandlePropertiesKHR(kind: vk::ExternalMemoryHandleTypeFlags, external: vk::HANDLE)
        -> vk::MemoryWin32HandlePropertiesKHR<'_>;
    vkGetMemoryZirconHandlePropertiesFUCHSIA(kind: vk::ExternalMemoryHandleTypeFlags, external: vk::zx_handle_t)
        -> vk::MemoryZirconHandlePropertiesFUCHSIA<'_>;
    vkGetAndroidHardwareBufferPropertiesANDROID(buffer: *const vk::AHardwareBuffer)
        -> vk::AndroidHardwareBufferPropertiesANDROID<'_>;
    vkGetBufferCollectionPropertiesFUCHSIA(collection: vk::BufferCollectionFUCHSIA)
        -> vk::BufferCollectionPropertiesFUCHSIA<'_>;
}

macro_rules! binds {
    ($($one:ident($resource:ty), $several:ident($info:ty, $field:ident), $kind:ident in $map:ident;)+) => {
        entry_points! {$(
            /// Binds to the heap where the object is tile memory.
            fn $one(
                handle: vk::Device,
                resource: $resource,
                object: vk::DeviceMemory,
                offset: vk::DeviceSize,
            ) -> vk::Result {
                let Some(device) = device_of(handle) else { return vk::Result::ERROR_INITIALIZATION_FAILED };
                let known = device.resources.$map.get(resource.as_raw());
                match tile_objects::place(&device, known, (vk::ObjectType::$kind, resource.as_raw()), object, offset) {
                    Ok(below) => call_down!(device.driver.commands, $one(handle, resource, below, offset)),
                    Err(error) => error,
                }
            }

            /// The same of several resources.
            fn $several(handle: vk::Device, count: u32, infos: *const $info) -> vk::Result {
                let Some(device) = device_of(handle) else { return vk::Result::ERROR_INITIALIZATION_FAILED };
                // SAFETY: Valid usage.
                let mut infos = unsafe { elements(infos, count) }.to_vec();
                for info in &mut infos {
                    let about = (vk::ObjectType::$kind, info.$field.as_raw());
                    let known = device.resources.$map.get(info.$field.as_raw());
                    match tile_objects::place(&device, known, about, info.memory, info.memory_offset) {
                        Ok(below) => info.memory = below,
                        Err(error) => return error,
                    }
                }
                call_down!(device.driver.commands, $several(handle, count, infos.as_ptr()))
            }
        )+}
    };
}

binds! {
    vkBindImageMemory(vk::Image), vkBindImageMemory2(vk::BindImageMemoryInfo<'_>, image), IMAGE in images;
    vkBindBufferMemory(vk::Buffer), vkBindBufferMemory2(vk::BindBufferMemoryInfo<'_>, buffer), BUFFER in buffers;
}

/// Completes the requirements of a resource: types remapped, the tile type added, tile requirements filled.
///
/// # Safety
/// `out` is a valid structure, filled by the driver.
unsafe fn complete(
    device: &Device,
    out: *mut vk::MemoryRequirements2<'_>,
    needs: Option<TileRequirements>,
    transient: bool,
) {
    // SAFETY: The caller's promise.
    let out = unsafe { &mut *out };
    let bits = out.memory_requirements.memory_type_bits;
    out.memory_requirements.memory_type_bits = shown(device, bits, needs, transient);
    // SAFETY: The caller's promise.
    let tile = unsafe { find_mut::<TileMemoryRequirementsQCOM<'_>>(out.p_next) };
    if let Some(tile) = tile.filter(|_| device.physical.emulation.is_some()) {
        tile.size = needs.map_or(0, |needs| needs.size.0);
        tile.alignment = needs.map_or(0, |needs| needs.alignment.get());
    }
}

fn shown(device: &Device, driver: u32, needs: Option<TileRequirements>, transient: bool) -> u32 {
    let lazy = if transient { device.lazy_bits(driver) } else { 0 };
    device.shown_bits(driver) | device.tile_bit(needs) | lazy
}

fn image_needs(device: &Device, image: vk::Image) -> Option<TileRequirements> {
    device
        .resources
        .images
        .with(image.as_raw(), |image| image.needs)
        .flatten()
}

fn buffer_needs(device: &Device, buffer: vk::Buffer) -> Option<TileRequirements> {
    device
        .resources
        .buffers
        .with(buffer.as_raw(), |buffer| buffer.needs)
        .flatten()
}

fn is_transient(device: &Device, image: vk::Image) -> bool {
    device.resources.transient_images.get(image.as_raw()).is_some()
}

entry_points! {
    /// A tile memory object, or an allocation with its type remapped.
    fn vkAllocateMemory(
        handle: vk::Device,
        info: *const vk::MemoryAllocateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DeviceMemory,
    ) -> vk::Result {
        let Some(device) = device_of(handle) else { return vk::Result::ERROR_INITIALIZATION_FAILED };
        // SAFETY: Valid usage: a valid structure.
        tile_objects::allocate(&device, unsafe { &*info }, allocator, out)
    }

    /// Tile memory is not host visible.
    fn vkMapMemory(
        handle: vk::Device,
        object: vk::DeviceMemory,
        offset: vk::DeviceSize,
        size: vk::DeviceSize,
        flags: vk::MemoryMapFlags,
        out: *mut *mut c_void,
    ) -> vk::Result {
        let Some(device) = device_of(handle) else { return vk::Result::ERROR_MEMORY_MAP_FAILED };
        if tile_objects::refuse_mapping(&device, object) {
            return vk::Result::ERROR_MEMORY_MAP_FAILED;
        }
        call_down!(device.driver.commands, vkMapMemory(handle, object, offset, size, flags, out))
    }

    /// The same.
    fn vkMapMemory2KHR(
        handle: vk::Device,
        info: *const vk::MemoryMapInfoKHR<'_>,
        out: *mut *mut c_void,
    ) -> vk::Result {
        let Some(device) = device_of(handle) else { return vk::Result::ERROR_MEMORY_MAP_FAILED };
        // SAFETY: Valid usage: a valid structure.
        if tile_objects::refuse_mapping(&device, unsafe { (*info).memory }) {
            return vk::Result::ERROR_MEMORY_MAP_FAILED;
        }
        call_down!(device.driver.commands, vkMapMemory2KHR(handle, info, out))
    }

    /// Remapped types, and the tile type for resources that can be placed there.
    fn vkGetImageMemoryRequirements(handle: vk::Device, image: vk::Image, out: *mut vk::MemoryRequirements) {
        let Some(device) = device_of(handle) else { return };
        call_down!(device.driver.commands, vkGetImageMemoryRequirements(handle, image, out));
        // SAFETY: Valid usage, and filled by the driver.
        let bits = unsafe { &mut (*out).memory_type_bits };
        *bits = shown(&device, *bits, image_needs(&device, image), is_transient(&device, image));
    }

    /// The same of buffers.
    fn vkGetBufferMemoryRequirements(handle: vk::Device, buffer: vk::Buffer, out: *mut vk::MemoryRequirements) {
        let Some(device) = device_of(handle) else { return };
        call_down!(device.driver.commands, vkGetBufferMemoryRequirements(handle, buffer, out));
        // SAFETY: Valid usage, and filled by the driver.
        let bits = unsafe { &mut (*out).memory_type_bits };
        *bits = shown(&device, *bits, buffer_needs(&device, buffer), false);
    }

    /// The same with tile requirements.
    fn vkGetImageMemoryRequirements2(
        handle: vk::Device,
        info: *const vk::ImageMemoryRequirementsInfo2<'_>,
        out: *mut vk::MemoryRequirements2<'_>,
    ) {
        let Some(device) = device_of(handle) else { return };
        call_down!(device.driver.commands, vkGetImageMemoryRequirements2(handle, info, out));
        // SAFETY: Valid usage: a valid structure.
        let image = unsafe { (*info).image };
        // SAFETY: Filled by the driver.
        unsafe { complete(&device, out, image_needs(&device, image), is_transient(&device, image)) };
    }

    /// The same of buffers.
    fn vkGetBufferMemoryRequirements2(
        handle: vk::Device,
        info: *const vk::BufferMemoryRequirementsInfo2<'_>,
        out: *mut vk::MemoryRequirements2<'_>,
    ) {
        let Some(device) = device_of(handle) else { return };
        call_down!(device.driver.commands, vkGetBufferMemoryRequirements2(handle, info, out));
        // SAFETY: Valid usage: a valid structure.
        let buffer = unsafe { (*info).buffer };
        // SAFETY: Filled by the driver.
        unsafe { complete(&device, out, buffer_needs(&device, buffer), false) };
    }

    /// The same of an image that does not exist.
    fn vkGetDeviceImageMemoryRequirements(
        handle: vk::Device,
        info: *const vk::DeviceImageMemoryRequirements<'_>,
        out: *mut vk::MemoryRequirements2<'_>,
    ) {
        let Some(device) = device_of(handle) else { return };
        // SAFETY: Valid usage: a valid structure.
        let query = unsafe { &*info };
        // SAFETY: As above.
        let create = unsafe { &*query.p_create_info };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::image(create) };
        let mut copy = *query;
        copy.p_create_info = &stripped.info;
        call_down!(device.driver.commands, vkGetDeviceImageMemoryRequirements(handle, &copy, out));
        // SAFETY: The chain is valid.
        let (create, stencil) = unsafe { extended_flags::image(create) };
        // SAFETY: Filled by the driver.
        let driver = unsafe { (*out).memory_requirements };
        let needs = tile_image_needs(&device, &create, stencil, &driver);
        let transient = create.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT);
        // SAFETY: As above.
        unsafe { complete(&device, out, needs, transient) };
    }

    /// The same of a buffer that does not exist.
    fn vkGetDeviceBufferMemoryRequirements(
        handle: vk::Device,
        info: *const vk::DeviceBufferMemoryRequirements<'_>,
        out: *mut vk::MemoryRequirements2<'_>,
    ) {
        let Some(device) = device_of(handle) else { return };
        // SAFETY: Valid usage: a valid structure.
        let query = unsafe { &*info };
        // SAFETY: As above.
        let create = unsafe { &*query.p_create_info };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::buffer(create) };
        let mut copy = *query;
        copy.p_create_info = &stripped.info;
        call_down!(device.driver.commands, vkGetDeviceBufferMemoryRequirements(handle, &copy, out));
        // SAFETY: The chain is valid.
        let create = unsafe { extended_flags::buffer(create) };
        // SAFETY: Filled by the driver.
        let driver = unsafe { (*out).memory_requirements };
        let needs = tile_buffer_needs(&device, &create, &driver);
        // SAFETY: As above.
        unsafe { complete(&device, out, needs, false) };
    }

    /// Of video sessions.
    fn vkGetVideoSessionMemoryRequirementsKHR(
        handle: vk::Device,
        session: vk::VideoSessionKHR,
        count: *mut u32,
        out: *mut vk::VideoSessionMemoryRequirementsKHR<'_>,
    ) -> vk::Result {
        let Some(device) = device_of(handle) else { return vk::Result::ERROR_INITIALIZATION_FAILED };
        let result = call_down!(device.driver.commands, vkGetVideoSessionMemoryRequirementsKHR(handle, session, count, out));
        if result.as_raw() >= 0 && !out.is_null() {
            // SAFETY: Valid usage.
            let count = unsafe { *count };
            // SAFETY: The driver has filled so many.
            for needs in unsafe { std::slice::from_raw_parts_mut(out, count as usize) } {
                remap(&device, &mut needs.memory_requirements.memory_type_bits);
            }
        }
        result
    }

    /// Devices of a group do not reach each other's tile memory.
    fn vkGetDeviceGroupPeerMemoryFeatures(
        handle: vk::Device,
        heap: u32,
        local: u32,
        remote: u32,
        out: *mut vk::PeerMemoryFeatureFlags,
    ) {
        let Some(device) = device_of(handle) else { return };
        let emulation = device.physical.emulation.as_ref();
        if emulation.is_some_and(|emulation| emulation.memory_types.tile_heap() == heap) {
            // SAFETY: Valid usage: room for one.
            unsafe { out.write(vk::PeerMemoryFeatureFlags::empty()) };
            return;
        }
        call_down!(device.driver.commands, vkGetDeviceGroupPeerMemoryFeatures(handle, heap, local, remote, out));
    }

    /// Nothing is committed for tile memory; the emulated lazy type is committed in full.
    fn vkGetDeviceMemoryCommitment(handle: vk::Device, object: vk::DeviceMemory, out: *mut vk::DeviceSize) {
        let Some(device) = device_of(handle) else { return };
        match tile_objects::lazy_commitment(&device, object) {
            // SAFETY: Valid usage: room for one.
            Some(bytes) => unsafe { out.write(bytes) },
            None => call_down!(device.driver.commands, vkGetDeviceMemoryCommitment(handle, object, out)),
        }
    }

}

fn remap(device: &Device, bits: &mut u32) {
    *bits = device.shown_bits(*bits);
}
