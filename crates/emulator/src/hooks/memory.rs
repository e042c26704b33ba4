//! Entry points of memory: types in every query, tile memory objects, binding.

use std::ffi::{c_int, c_void};

use ash::vk;
use ash::vk::Handle;
use tileheap_device::ffi::TileMemoryRequirementsQCOM;
use tileheap_device::profile::TileRequirements;
use tileheap_layer::arrays::elements;
use tileheap_layer::call_down;
use tileheap_layer::chain::find_mut;

use super::device::{Device, device_entry_points};
use super::resources::{tile_buffer_needs, tile_image_needs};
use super::strip;
use super::tile_objects;
use crate::model::objects::Object;
use crate::tables::extended_flags;

macro_rules! requirements_queries {
    ($($command:ident: $info:ty;)+) => {
        device_entry_points! {$(
            /// The driver's result with its memory types remapped.
            fn $command(handle: vk::Device, info: *const $info, out: *mut vk::MemoryRequirements2<'_>) |device| {
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
        device_entry_points! {$(
            /// The driver's result with its memory types remapped.
            fn $command(handle: vk::Device, $($arg: $type,)+ out: *mut $out) -> vk::Result |device| {
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
        device_entry_points! {$(
            /// Binds to the heap where the object is tile memory.
            fn $one(
                handle: vk::Device,
                resource: $resource,
                object: vk::DeviceMemory,
                offset: vk::DeviceSize,
            ) -> vk::Result |device| {
                let known = device.resources.$map.get(resource.as_raw());
                match tile_objects::place(&device, known, Object(vk::ObjectType::$kind, resource.as_raw()), object, offset) {
                    Ok(below) => call_down!(device.driver.commands, $one(handle, resource, below, offset)),
                    Err(error) => error,
                }
            }

            /// As the command for one resource.
            fn $several(handle: vk::Device, count: u32, infos: *const $info) -> vk::Result |device| {
                // SAFETY: Valid usage.
                let mut infos = unsafe { elements(infos, count) }.to_vec();
                for info in &mut infos {
                    let about = Object(vk::ObjectType::$kind, info.$field.as_raw());
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

macro_rules! resource_queries {
    ($($plain:ident($resource_type:ty), $chained:ident($info:ty, $field:ident): |$device:ident, $resource:ident| $needs:expr;)+) => {
        device_entry_points! {$(
            /// Remapped types, and the tile type for resources that can be placed there.
            fn $plain(handle: vk::Device, $resource: $resource_type, out: *mut vk::MemoryRequirements) |$device| {
                call_down!($device.driver.commands, $plain(handle, $resource, out));
                // SAFETY: Valid usage, and filled by the driver.
                let bits = unsafe { &mut (*out).memory_type_bits };
                *bits = shown(&$device, *bits, $needs);
            }

            /// The same requirements, with those of tile memory.
            fn $chained(handle: vk::Device, info: *const $info, out: *mut vk::MemoryRequirements2<'_>) |$device| {
                call_down!($device.driver.commands, $chained(handle, info, out));
                // SAFETY: Valid usage: a valid structure.
                let $resource = unsafe { (*info).$field };
                // SAFETY: Filled by the driver.
                unsafe { complete(&$device, out, $needs) };
            }
        )+}
    };
}
resource_queries! {
    vkGetImageMemoryRequirements(vk::Image), vkGetImageMemoryRequirements2(vk::ImageMemoryRequirementsInfo2<'_>, image):
        |device, image| Needs {
            tile: device.resources.images.with(image.as_raw(), |image| image.needs).flatten(),
            is_transient: device.resources.transient_images.get(image.as_raw()).is_some(),
        };
    vkGetBufferMemoryRequirements(vk::Buffer), vkGetBufferMemoryRequirements2(vk::BufferMemoryRequirementsInfo2<'_>, buffer):
        |device, buffer| Needs {
            tile: device.resources.buffers.with(buffer.as_raw(), |buffer| buffer.needs).flatten(),
            is_transient: false,
        };
}

macro_rules! described_queries {
    ($(
        $(#[$doc:meta])* $command:ident($info:ty, $($arg:ident: $type:ty),+), strip::$strip:ident;
        |$device:ident, $create:ident| $complete:block
    )+) => {
        device_entry_points! {$(
            $(#[$doc])*
            fn $command(handle: vk::Device, info: *const $info, $($arg: $type),+) |$device| {
                // SAFETY: Valid usage: a valid structure.
                let mut copy = unsafe { *info };
                // SAFETY: As above.
                let $create = unsafe { &*copy.p_create_info };
                // SAFETY: As above, and it outlives the call.
                let stripped = unsafe { strip::$strip($create) };
                copy.p_create_info = &stripped.info;
                call_down!($device.driver.commands, $command(handle, &copy, $($arg),+));
                $complete
            }
        )+}
    };
}
described_queries! {
    /// Requirements by an image's create info.
    vkGetDeviceImageMemoryRequirements(vk::DeviceImageMemoryRequirements<'_>, out: *mut vk::MemoryRequirements2<'_>),
        strip::image;
    |device, create| {
        // SAFETY: The chain is valid.
        let (create, stencil) = unsafe { extended_flags::image(create) };
        // SAFETY: Filled by the driver.
        let driver = unsafe { (*out).memory_requirements };
        let needs = Needs {
            tile: tile_image_needs(&device, &create, stencil, &driver),
            is_transient: create.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT),
        };
        // SAFETY: As above.
        unsafe { complete(&device, out, needs) };
    }

    /// Requirements by a buffer's create info.
    vkGetDeviceBufferMemoryRequirements(vk::DeviceBufferMemoryRequirements<'_>, out: *mut vk::MemoryRequirements2<'_>),
        strip::buffer;
    |device, create| {
        // SAFETY: The chain is valid.
        let create = unsafe { extended_flags::buffer(create) };
        // SAFETY: Filled by the driver.
        let driver = unsafe { (*out).memory_requirements };
        let needs = Needs { tile: tile_buffer_needs(&device, &create, &driver), is_transient: false };
        // SAFETY: As above.
        unsafe { complete(&device, out, needs) };
    }

    /// Without the tile bit below.
    vkGetDeviceImageSparseMemoryRequirements(
        vk::DeviceImageMemoryRequirements<'_>, count: *mut u32, out: *mut vk::SparseImageMemoryRequirements2<'_>
    ), strip::image;
    |device, create| {}

    /// Without the tile bit below.
    vkGetDeviceImageSubresourceLayoutKHR(vk::DeviceImageSubresourceInfoKHR<'_>, out: *mut vk::SubresourceLayout2KHR<'_>),
        strip::image;
    |device, create| {}
}

/// Requirements of a resource besides the driver's.
struct Needs {
    /// Requirements of the tile heap; `None` if it cannot be placed there.
    tile: Option<TileRequirements>,
    is_transient: bool,
}

/// Completes the requirements of a resource: types remapped, the tile type added, tile requirements filled.
///
/// # Safety
/// `out` is a valid structure, filled by the driver.
unsafe fn complete(device: &Device, out: *mut vk::MemoryRequirements2<'_>, needs: Needs) {
    // SAFETY: The caller's promise.
    let out = unsafe { &mut *out };
    let (bits, tile_needs) = (out.memory_requirements.memory_type_bits, needs.tile);
    out.memory_requirements.memory_type_bits = shown(device, bits, needs);
    // SAFETY: The caller's promise.
    let tile = unsafe { find_mut::<TileMemoryRequirementsQCOM<'_>>(out.p_next) };
    if let Some(tile) = tile.filter(|_| device.physical.emulation.is_some()) {
        tile.size = tile_needs.map_or(0, |needs| needs.size.0);
        tile.alignment = tile_needs.map_or(0, |needs| needs.alignment.get());
    }
}

fn shown(device: &Device, driver: u32, needs: Needs) -> u32 {
    let lazy = if needs.is_transient {
        device.lazy_bits(driver)
    } else {
        0
    };
    device.shown_bits(driver) | device.tile_bits(needs.tile) | lazy
}

device_entry_points! {
    /// A tile memory object, or an allocation with its type remapped.
    fn vkAllocateMemory(
        handle: vk::Device,
        info: *const vk::MemoryAllocateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DeviceMemory,
    ) -> vk::Result |device| {
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
    ) -> vk::Result |device| {
        if tile_objects::refuse_mapping(&device, object) {
            return vk::Result::ERROR_MEMORY_MAP_FAILED;
        }
        call_down!(device.driver.commands, vkMapMemory(handle, object, offset, size, flags, out))
    }

    /// As `vkMapMemory`.
    fn vkMapMemory2KHR(
        handle: vk::Device,
        info: *const vk::MemoryMapInfoKHR<'_>,
        out: *mut *mut c_void,
    ) -> vk::Result |device| {
        // SAFETY: Valid usage: a valid structure.
        if tile_objects::refuse_mapping(&device, unsafe { (*info).memory }) {
            return vk::Result::ERROR_MEMORY_MAP_FAILED;
        }
        call_down!(device.driver.commands, vkMapMemory2KHR(handle, info, out))
    }

    /// Of video sessions.
    fn vkGetVideoSessionMemoryRequirementsKHR(
        handle: vk::Device,
        session: vk::VideoSessionKHR,
        count: *mut u32,
        out: *mut vk::VideoSessionMemoryRequirementsKHR<'_>,
    ) -> vk::Result |device| {
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

    /// Devices of a group cannot access each other's tile memory.
    fn vkGetDeviceGroupPeerMemoryFeatures(
        handle: vk::Device,
        heap: u32,
        local: u32,
        remote: u32,
        out: *mut vk::PeerMemoryFeatureFlags,
    ) |device| {
        let emulation = device.physical.emulation.as_ref();
        if emulation.is_some_and(|emulation| emulation.memory_types.tile_heap() == heap) {
            // SAFETY: Valid usage: room for one.
            unsafe { out.write(vk::PeerMemoryFeatureFlags::empty()) };
            return;
        }
        call_down!(device.driver.commands, vkGetDeviceGroupPeerMemoryFeatures(handle, heap, local, remote, out));
    }

    /// Nothing is committed for tile memory; the emulated lazy type is committed in full.
    fn vkGetDeviceMemoryCommitment(handle: vk::Device, object: vk::DeviceMemory, out: *mut vk::DeviceSize) |device| {
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
