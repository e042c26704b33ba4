//! Entry points that name objects, for messages.

use ash::vk;
use tileheap_layer::{call_down, given, text};

use super::device::device_entry_points;
use crate::model::objects::Object;

device_entry_points! {
    /// Records an object's name.
    vkSetDebugUtilsObjectNameEXT(handle, info) |device| {
        let named = given!(info);
        let object = Object(named.object_type, named.object_handle);
        device.reporter.names.set(object, &text!(named.p_object_name));
        call_down!(device.driver.commands, vkSetDebugUtilsObjectNameEXT(handle, info))
    }

    /// Same as `vkSetDebugUtilsObjectNameEXT`. The object types of `VK_EXT_debug_report` that messages name have the same numbers as those of `VkObjectType`.
    vkDebugMarkerSetObjectNameEXT(handle, info) |device| {
        let named = given!(info);
        let kind = vk::ObjectType::from_raw(named.object_type.as_raw());
        device.reporter.names.set(Object(kind, named.object), &text!(named.p_object_name));
        call_down!(device.driver.commands, vkDebugMarkerSetObjectNameEXT(handle, info))
    }
}
