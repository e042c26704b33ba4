//! Entry points of instances: creation, messengers, the extensions of the layer and of devices.

use std::ffi::{CStr, c_char};

use ash::vk;

use tileheap_layer::arrays::write_array;
use tileheap_layer::{call_down, entry_points};

use super::instance::{Instance, instance_of, physical_of};
use crate::model::reporter::Listener;
use crate::tables::emulation::own_extensions;
use crate::tables::settings::LAYER_NAME;

entry_points! {
    /// Settings, the next layer's table, and the instance below.
    fn vkCreateInstance(
        info: *const vk::InstanceCreateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Instance,
    ) -> vk::Result {
        // SAFETY: The loader passes a valid create info.
        let info = unsafe { &*info };
        // SAFETY: The arguments are the loader's.
        unsafe { Instance::create(info, allocator, out) }
    }

    /// Unregisters and destroys the instance.
    fn vkDestroyInstance(handle: vk::Instance, allocator: *const vk::AllocationCallbacks<'_>) {
        if handle == vk::Instance::null() {
            return;
        }
        if let Some(instance) = Instance::forget(handle) {
            call_down!(instance.next, vkDestroyInstance(handle, allocator));
        }
    }

    /// Registers the messenger.
    fn vkCreateDebugUtilsMessengerEXT(
        handle: vk::Instance,
        info: *const vk::DebugUtilsMessengerCreateInfoEXT<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DebugUtilsMessengerEXT,
    ) -> vk::Result {
        let Some(instance) = instance_of(handle) else { return vk::Result::ERROR_UNKNOWN };
        let result = call_down!(instance.next, vkCreateDebugUtilsMessengerEXT(handle, info, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: Written by the next layer.
            let messenger = unsafe { *out };
            // SAFETY: Valid usage: a valid structure.
            instance.listen(Listener::new(messenger, unsafe { &*info }));
        }
        result
    }

    /// Unregisters the messenger.
    fn vkDestroyDebugUtilsMessengerEXT(
        handle: vk::Instance,
        messenger: vk::DebugUtilsMessengerEXT,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        let Some(instance) = instance_of(handle) else { return };
        if messenger != vk::DebugUtilsMessengerEXT::null() {
            instance.stop_listening(messenger);
        }
        call_down!(instance.next, vkDestroyDebugUtilsMessengerEXT(handle, messenger, allocator));
    }

    /// The layer's one instance extension; those of other layers are not listed.
    fn vkEnumerateInstanceExtensionProperties(
        layer: *const c_char,
        count: *mut u32,
        out: *mut vk::ExtensionProperties,
    ) -> vk::Result {
        if !is_own_name(layer) {
            return vk::Result::ERROR_LAYER_NOT_PRESENT;
        }
        let own = vk::ExtensionProperties::default()
            .spec_version(ash::ext::layer_settings::SPEC_VERSION)
            .extension_name(ash::ext::layer_settings::NAME)
            .expect("the name is short");
        // SAFETY: Vulkan's two-call idiom.
        unsafe { write_array(&[own], count, out) }
    }

    /// The layer itself.
    fn vkEnumerateInstanceLayerProperties(count: *mut u32, out: *mut vk::LayerProperties) -> vk::Result {
        // SAFETY: Vulkan's two-call idiom.
        unsafe { write_array(&[layer_properties()], count, out) }
    }

    /// The layer itself.
    fn vkEnumerateDeviceLayerProperties(
        _physical: vk::PhysicalDevice,
        count: *mut u32,
        out: *mut vk::LayerProperties,
    ) -> vk::Result {
        // SAFETY: Vulkan's two-call idiom.
        unsafe { write_array(&[layer_properties()], count, out) }
    }

    /// The driver's extensions and the layer's.
    fn vkEnumerateDeviceExtensionProperties(
        handle: vk::PhysicalDevice,
        layer: *const c_char,
        count: *mut u32,
        out: *mut vk::ExtensionProperties,
    ) -> vk::Result {
        if handle == vk::PhysicalDevice::null() {
            // SAFETY: Vulkan's two-call idiom.
            return unsafe { write_array(&own_extensions(), count, out) };
        }
        let Some((instance, physical)) = physical_of(handle) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        if is_own_name(layer) {
            // SAFETY: Vulkan's two-call idiom.
            return unsafe { write_array(&own_extensions(), count, out) };
        }
        if let Some(error) = physical.failure {
            return error;
        }
        if !layer.is_null() || physical.emulation.is_none() {
            return call_down!(instance.next, vkEnumerateDeviceExtensionProperties(handle, layer, count, out));
        }
        // SAFETY: Vulkan's two-call idiom.
        unsafe { write_array(&physical.shown_extensions(), count, out) }
    }
}

fn is_own_name(layer: *const c_char) -> bool {
    if layer.is_null() {
        return false;
    }
    // SAFETY: Valid usage: null or a C string.
    let name = unsafe { CStr::from_ptr(layer) };
    name == LAYER_NAME
}

/// The layer, as layer lists have it.
fn layer_properties() -> vk::LayerProperties {
    vk::LayerProperties::default()
        .layer_name(LAYER_NAME)
        .and_then(|layer| layer.description(c"A strict VK_QCOM_tile_memory_heap on any driver"))
        .expect("both texts are short")
        .spec_version(vk::API_VERSION_1_3)
        .implementation_version(1)
}
