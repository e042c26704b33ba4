//! Entry points that name objects, for messages.

use std::ffi::{CStr, c_char};

use ash::vk;
use tileheap_layer::call_down;

use super::device::{Device, device_entry_points};
use crate::model::objects::Object;

device_entry_points! {
    /// Records the name.
    fn vkSetDebugUtilsObjectNameEXT(
        handle: vk::Device,
        info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
    ) -> vk::Result |device| {
        // SAFETY: Valid usage: a valid structure.
        let named = unsafe { &*info };
        // SAFETY: As above.
        unsafe { remember(&device, Object(named.object_type, named.object_handle), named.p_object_name) };
        call_down!(device.driver.commands, vkSetDebugUtilsObjectNameEXT(handle, info))
    }

    /// As `vkSetDebugUtilsObjectNameEXT`, by the types of `VK_EXT_debug_report`: the numbers of the objects in messages are the same.
    fn vkDebugMarkerSetObjectNameEXT(
        handle: vk::Device,
        info: *const vk::DebugMarkerObjectNameInfoEXT<'_>,
    ) -> vk::Result |device| {
        // SAFETY: Valid usage: a valid structure.
        let named = unsafe { &*info };
        let kind = vk::ObjectType::from_raw(named.object_type.as_raw());
        // SAFETY: As above.
        unsafe { remember(&device, Object(kind, named.object), named.p_object_name) };
        call_down!(device.driver.commands, vkDebugMarkerSetObjectNameEXT(handle, info))
    }
}

/// # Safety
/// `name` is null or a C string.
unsafe fn remember(device: &Device, object: Object, name: *const c_char) {
    let name = if name.is_null() {
        c""
    } else {
        // SAFETY: The caller's promise.
        unsafe { CStr::from_ptr(name) }
    };
    device.reporter.names.set(object, &name.to_string_lossy());
}
