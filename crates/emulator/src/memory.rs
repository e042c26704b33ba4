//! Tile memory objects: handles with a size, and the places that resources take in them.

use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;

use crate::device::Device;
use crate::guard::down;
use crate::messages::{MessageId, Object};
use crate::remap::Origin;
use crate::resources::{Place, Resource};

/// What stands below for a tile memory object: enough to be a handle like no other.
const HANDLE_BYTES: u64 = 4096;

/// Allocates: tile memory as a small allocation that is never used, everything else with its type remapped.
pub(crate) fn allocate(
    device: &Device,
    info: &vk::MemoryAllocateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::DeviceMemory,
) -> vk::Result {
    let Some(emulation) = &device.physical.emulation else {
        return down!(device.next, vkAllocateMemory(device.handle, info, allocator, out));
    };
    let (below, tile) = match emulation.remap.origin(info.memory_type_index) {
        Some(Origin::Driver(index) | Origin::Lazy(index)) => (index, false),
        Some(Origin::Tile) => (device.handle_type(), true),
        // Never shown; a driver handed such an index might do anything.
        None => return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
    };
    let mut copy = *info;
    copy.memory_type_index = below;
    if !tile {
        return down!(
            device.next,
            vkAllocateMemory(device.handle, &copy, allocator, out)
        );
    }
    let heap = emulation.profile.tile.size.0;
    if info.allocation_size > heap {
        let text = format!(
            "a tile memory object of {} B is asked for, and the tile heap has {heap} B (VUID-vkAllocateMemory-pAllocateInfo-01713)",
            info.allocation_size
        );
        let about = (vk::ObjectType::DEVICE, device.handle.as_raw());
        device.reporter.report(MessageId::TooLarge, about, &text);
        return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if let Some(tile) = &device.tile
        && let Err(error) = tile.heap.memory(device)
    {
        return error;
    }
    copy.allocation_size = HANDLE_BYTES;
    copy.p_next = std::ptr::null();
    let result = down!(
        device.next,
        vkAllocateMemory(device.handle, &copy, allocator, out)
    );
    if result == vk::Result::SUCCESS {
        // SAFETY: The driver has written it.
        let handle = unsafe { *out };
        device
            .resources
            .objects
            .insert(handle.as_raw(), info.allocation_size);
    }
    result
}

impl Device {
    /// The driver's type of the small allocations: the heap's own, or the first device local one.
    fn handle_type(&self) -> u32 {
        let heap = self.tile.as_ref().and_then(|tile| tile.heap.memory_type());
        heap.unwrap_or_else(|| {
            let types = self.physical.emulation.as_ref().map(|emulation| emulation.driver);
            let local = |kind: &vk::MemoryType| {
                kind.property_flags
                    .contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
            };
            types
                .and_then(|types| types.memory_types_as_slice().iter().position(local))
                .unwrap_or_default() as u32
        })
    }

    /// The size of a tile memory object; `None` for other memory.
    pub(crate) fn object_size(&self, memory: vk::DeviceMemory) -> Option<u64> {
        self.resources.objects.get(memory.as_raw())
    }
}

/// Whether memory is tile memory, which cannot be mapped; says so.
pub(crate) fn refuse_mapping(device: &Device, memory: vk::DeviceMemory) -> bool {
    if device.object_size(memory).is_none() {
        return false;
    }
    let text = "tile memory cannot be mapped: its type is not HOST_VISIBLE";
    device.reporter.report(
        MessageId::Mapped,
        (vk::ObjectType::DEVICE_MEMORY, memory.as_raw()),
        text,
    );
    true
}

/// What an object of an emulated lazy type has committed; `None` where the driver knows.
pub(crate) fn lazy_commitment(device: &Device, memory: vk::DeviceMemory) -> Option<u64> {
    // The driver's type below is not lazy, so it cannot be asked; 0 is allowed of all lazy memory.
    (device.lazy_bits(u32::MAX) != 0 || device.object_size(memory).is_some()).then_some(0)
}

/// The memory to bind below: the heap's, if `memory` is tile memory, and the application's otherwise.
///
/// # Errors
/// `ERROR_OUT_OF_DEVICE_MEMORY` where the driver could not bind there.
pub(crate) fn place(
    device: &Device,
    resource: Option<Arc<Resource>>,
    about: Object,
    memory: vk::DeviceMemory,
    offset: u64,
) -> Result<vk::DeviceMemory, vk::Result> {
    let (Some(tile), Some(object_size)) = (&device.tile, device.object_size(memory)) else {
        return Ok(memory);
    };
    let refused = Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    let Some(resource) = resource.filter(|resource| resource.needs.is_some() || resource.fits_below) else {
        let text = "a resource is bound to tile memory that cannot live there: it lacks the tile usage bit, or its tile \
                    requirements are 0";
        device
            .reporter
            .report(MessageId::UnsupportedResource, about, text);
        return refused;
    };
    let below = tile.heap.memory(device)?;
    let place = Place {
        memory: memory.as_raw(),
        object_size,
        first: offset,
        end: offset.saturating_add(resource.driver_size),
    };
    match resource.needs {
        Some(needs) => {
            let (size, alignment) = (needs.size.0, needs.alignment.get());
            if !offset.is_multiple_of(alignment)
                || offset.checked_add(size).is_none_or(|end| end > object_size)
            {
                let text = format!(
                    "a resource of {size} B, aligned to {alignment} B, is bound at offset {offset} of a tile memory object \
                     of {object_size} B: the offset must be a multiple of the alignment, and the resource must fit"
                );
                device.reporter.report(MessageId::BadPlace, about, &text);
                return refused;
            }
        }
        None => {
            let text = "a resource whose tile requirements are 0 is bound to tile memory: a driver that reports 0 cannot put \
                        it there";
            device
                .reporter
                .report(MessageId::UnsupportedResource, about, text);
            if place.end > tile.heap.bytes() {
                return refused;
            }
        }
    }
    tile.heap.use_up_to(place.end);
    // Bound once for life; a second time is an error of the application that the driver answers.
    let _ = resource.place.set(place);
    Ok(below)
}
