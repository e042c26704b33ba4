//! Ordinary memory that is checked: allocations, bindings and mappings.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk;
use ash::vk::Handle;
use serde_json::json;
use tileheap_layer::{chained, given};
use tileheap_units::spread;

use super::device::Device;
use crate::model::resources::{MemoryBinding, Resource};

/// Marks a new memory object as untracked if it is exported or imported, since other programs may access it.
pub(crate) fn allocated(
    device: &Device,
    info: &vk::MemoryAllocateInfo<'_>,
    result: vk::Result,
    out: *const vk::DeviceMemory,
) {
    if result == vk::Result::SUCCESS && device.follows_ordinary() && is_external(info) {
        device.resources.external.insert(given!(out).as_raw(), ());
    }
}

fn is_external(info: &vk::MemoryAllocateInfo<'_>) -> bool {
    let exported = chained!(info.p_next => vk::ExportMemoryAllocateInfo<'_>);
    exported.is_some_and(|exported| !exported.handle_types.is_empty())
        || chained!(info.p_next => vk::ImportMemoryFdInfoKHR<'_>).is_some()
        || chained!(info.p_next => vk::ImportMemoryHostPointerInfoEXT<'_>).is_some()
        || chained!(info.p_next => vk::ImportMemoryWin32HandleInfoKHR<'_>).is_some()
        || chained!(info.p_next => vk::ImportAndroidHardwareBufferInfoANDROID<'_>).is_some()
        || chained!(info.p_next => vk::ImportMemoryZirconHandleInfoFUCHSIA<'_>).is_some()
}

/// Tracks the binding of a resource to ordinary memory, if ordinary memory is checked and `memory` is not external.
pub(crate) fn bind(device: &Device, resource: Option<Arc<Resource>>, memory: vk::DeviceMemory, offset: u64) {
    let (Some(check), Some(resource)) = (&device.check, resource) else {
        return;
    };
    let is_tile = device.resources.object_size(memory).is_some();
    let is_followed = check.follows_ordinary && !is_tile && memory != vk::DeviceMemory::null();
    if !is_followed || device.resources.external.get(memory.as_raw()).is_some() {
        return;
    }
    let contents = match resource.contents {
        0 => 0,
        contents => spread(spread(contents ^ offset) ^ memory.as_raw()) | 1,
    };
    let place = MemoryBinding {
        memory: memory.as_raw(),
        is_tile: false,
        first: offset,
        end: offset.saturating_add(resource.driver_size),
        contents,
    };
    // A resource is bound once; a second time is an error of the application, for the driver to return.
    if resource.place.set(place).is_err() {
        return;
    }
    let (new, messages) = check.tracker().bind(&resource);
    new.iter().for_each(|resource| device.resources.follow(resource));
    if !new.is_empty() && !check.has_shared_memory.swap(true, Ordering::Relaxed) {
        // Nothing is checked before this.
        device.reporter.write(json!({"event": "shared-memory"}));
    }
    device.reporter.report_all(messages);
}

/// Marks memory as untracked because only a part of a resource, or a resource on only some devices of a group, is bound to it.
pub(crate) fn bind_in_parts(device: &Device, memory: vk::DeviceMemory) {
    if let Some(check) = device.check.as_ref().filter(|check| check.follows_ordinary) {
        device.resources.external.insert(memory.as_raw(), ());
        check.tracker().allow_unseen_writes_in(memory);
    }
}

/// Records that the host has mapped a memory object, if mapping succeeded.
pub(crate) fn map(device: &Device, result: vk::Result, memory: vk::DeviceMemory) {
    if let Some(check) = device.check.as_ref().filter(|_| result == vk::Result::SUCCESS) {
        check.tracker().map(memory);
    }
}
