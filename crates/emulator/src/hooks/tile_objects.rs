//! Tile memory objects: handles with a size, and the resources bound to them.

use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::{call_down, given};

use super::device::Device;
use super::driver::Driver;
use super::ordinary;
use crate::model::objects::Object;
use crate::model::placement;
use crate::model::resources::Resource;
use crate::tables::memory_types::TypeOrigin;
use crate::tables::messages::MessageId;

/// Size in bytes of the driver's allocation whose handle represents a tile memory object.
const HANDLE_BYTES: u64 = 4096;

/// Allocates memory: for tile memory, a small allocation that only provides a handle, or a full one if the feature is not enabled; otherwise memory of
/// the remapped type.
pub(crate) fn allocate(
    device: &Device,
    info: &vk::MemoryAllocateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::DeviceMemory,
) -> vk::Result {
    let Driver { handle, commands, .. } = &device.driver;
    let allocate = |info: &vk::MemoryAllocateInfo<'_>| {
        call_down!(commands, vkAllocateMemory(*handle, info, allocator, out))
    };
    let Some(emulation) = &device.physical.emulation else {
        let result = allocate(info);
        ordinary::allocated(device, info, result, out);
        return result;
    };
    let (below, tile) = match emulation.memory_types.origin(info.memory_type_index) {
        Some(TypeOrigin::Driver(index) | TypeOrigin::Lazy(index)) => (index, false),
        Some(TypeOrigin::Tile) => (handle_type(device), true),
        // The application was not given this index: a driver's behavior is undefined.
        None => return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
    };
    let mut copy = *info;
    copy.memory_type_index = below;
    if !tile {
        let result = allocate(&copy);
        ordinary::allocated(device, info, result, out);
        return result;
    }
    let heap = emulation.profile.tile.size.0;
    if info.allocation_size > heap {
        let text = format!(
            "a tile memory object of {} B exceeds the tile heap of {heap} B (VUID-vkAllocateMemory-pAllocateInfo-01713)",
            info.allocation_size
        );
        let about = Object::of(device.driver.handle);
        device.reporter.report(MessageId::TooLarge, about, &text);
        return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
    }
    let Some(tile) = device.tile.as_ref().filter(|_| device.enabled.heap_feature) else {
        // Real memory, in full: programs that take the first device-local type bind ordinary resources to it.
        let about = Object::of(device.driver.handle);
        let text = format!(
            "memory type {} is on the tile heap, but the feature tileMemoryHeap of {about} is not enabled \
             (VUID-vkAllocateMemory-tileMemoryHeap-10976)",
            info.memory_type_index
        );
        device.reporter.report(MessageId::NotEnabled, about, &text);
        return allocate(&copy);
    };
    if let Err(error) = tile.heap.memory(&device.driver) {
        return error;
    }
    copy.allocation_size = HANDLE_BYTES;
    copy.p_next = std::ptr::null();
    let result = allocate(&copy);
    if result == vk::Result::SUCCESS {
        let handle = *given!(out);
        device
            .resources
            .objects
            .insert(handle.as_raw(), info.allocation_size);
    }
    result
}

/// The driver's memory type of the small allocations: the heap's own, or the first device local type.
fn handle_type(device: &Device) -> u32 {
    device.heap_type().unwrap_or_else(|| {
        let types = device
            .physical
            .emulation
            .as_ref()
            .map(|emulation| emulation.driver);
        let local = |kind: &vk::MemoryType| {
            kind.property_flags
                .contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
        };
        types
            .and_then(|types| types.memory_types_as_slice().iter().position(local))
            .unwrap_or_default() as u32
    })
}

/// Reports an attempt to map tile memory, which cannot be mapped, and returns true. Returns false for other memory.
pub(crate) fn refuse_mapping(device: &Device, memory: vk::DeviceMemory) -> bool {
    if device.resources.object_size(memory).is_none() {
        return false;
    }
    let memory = Object::of(memory);
    let text = format!("{memory} is tile memory and cannot be mapped: its type is not HOST_VISIBLE");
    device.reporter.report(MessageId::Mapped, memory, &text);
    true
}

/// Returns a commitment of 0 bytes for tile memory, and for all memory if the layer emulates a lazily allocated type; `None` if the driver must be queried.
pub(crate) fn lazy_commitment(device: &Device, memory: vk::DeviceMemory) -> Option<u64> {
    // The driver's type is not lazy, so it cannot be queried; 0 is allowed for all lazy memory.
    (device.lazy_bits(u32::MAX) != 0 || device.resources.object_size(memory).is_some()).then_some(0)
}

/// Returns the memory to bind in the driver: the application's, or the heap's if `memory` is tile memory, where the placement is then tracked.
///
/// # Errors
/// Returns `ERROR_OUT_OF_DEVICE_MEMORY` if the resource cannot be placed there.
pub(crate) fn place(
    device: &Device,
    resource: Option<Arc<Resource>>,
    object: Object,
    memory: vk::DeviceMemory,
    offset: u64,
) -> Result<vk::DeviceMemory, vk::Result> {
    let (Some(tile), Some(object_size)) = (&device.tile, device.resources.object_size(memory)) else {
        return Ok(memory);
    };
    let below = tile.heap.memory(&device.driver)?;
    let tile_memory = (memory, object_size);
    let placement = placement::place(
        resource.as_deref(),
        object,
        tile_memory,
        offset,
        tile.heap.bytes(),
    );
    device.reporter.report_all(placement.finding);
    let (Some(resource), Some(place)) = (resource, placement.place) else {
        return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    };
    tile.heap.heap.use_up_to(place.end);
    // A resource is bound once; a second time is an error of the application, for the driver to return.
    if let (Ok(()), Some(check)) = (resource.place.set(place), &device.check) {
        let (new, messages) = check.tracker().bind(&resource);
        new.iter().for_each(|resource| device.resources.follow(resource));
        device.reporter.report_all(messages);
    }
    Ok(below)
}
