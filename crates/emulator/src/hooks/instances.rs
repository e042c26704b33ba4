//! Entry points of instances: creation, messengers, the extensions of the layer and of devices.

use std::ffi::{CStr, c_char};

use ash::vk;
use tileheap_layer::{call_down, entry_points, fill, given};

use super::instance::{INSTANCES, Instance, physical_of};
use crate::model::reporter::Listener;
use crate::tables::emulation::own_extensions;
use crate::tables::instance_commands::InstanceTable;
use crate::tables::layer::Layer;

entry_points! {
    of InstanceTable:
    /// Settings, the next layer's table, and the instance below.
    vkCreateInstance(info, allocator, out) {
        let info = given!(info);
        // SAFETY: The arguments are the loader's.
        let created = unsafe { Instance::create(info, allocator, out) };
        created.err().unwrap_or(vk::Result::SUCCESS)
    }

    /// Unregisters and destroys the instance.
    vkDestroyInstance(handle, allocator) {
        if handle == vk::Instance::null() {
            return;
        }
        if let Some(instance) = INSTANCES.remove(handle) {
            call_down!(instance.next, vkDestroyInstance(handle, allocator));
        }
    }

    /// Registers the messenger.
    vkCreateDebugUtilsMessengerEXT(handle, info, allocator, out) {
        let Some(instance) = INSTANCES.of(handle) else { return vk::Result::ERROR_UNKNOWN };
        let result = call_down!(instance.next, vkCreateDebugUtilsMessengerEXT(handle, info, allocator, out));
        if result == vk::Result::SUCCESS {
            let messenger = *given!(out);
            instance.listen(Listener::new(messenger, given!(info)));
        }
        result
    }

    /// Unregisters the messenger.
    vkDestroyDebugUtilsMessengerEXT(handle, messenger, allocator) {
        let Some(instance) = INSTANCES.of(handle) else { return };
        if messenger != vk::DebugUtilsMessengerEXT::null() {
            instance.stop_listening(messenger);
        }
        call_down!(instance.next, vkDestroyDebugUtilsMessengerEXT(handle, messenger, allocator));
    }

    /// The layer's one instance extension; those of other layers are not listed.
    vkEnumerateInstanceExtensionProperties(layer, count, out) {
        if !is_own_name(layer) {
            return vk::Result::ERROR_LAYER_NOT_PRESENT;
        }
        let own = vk::ExtensionProperties::default()
            .spec_version(ash::ext::layer_settings::SPEC_VERSION)
            .extension_name(ash::ext::layer_settings::NAME)
            .expect("the name is short");
        fill!(&[own], count, out)
    }

    /// The layer itself.
    vkEnumerateInstanceLayerProperties(count, out) {
        fill!(&[layer_properties()], count, out)
    }

    /// The layer itself.
    vkEnumerateDeviceLayerProperties(_physical, count, out) {
        fill!(&[layer_properties()], count, out)
    }

    /// The driver's extensions and the layer's.
    vkEnumerateDeviceExtensionProperties(handle, layer, count, out) {
        if handle == vk::PhysicalDevice::null() {
            return fill!(&listed_extensions(), count, out);
        }
        let Some((instance, physical)) = physical_of(handle) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        if is_own_name(layer) {
            return fill!(&listed_extensions(), count, out);
        }
        if let Some(error) = physical.failure {
            return error;
        }
        if !layer.is_null() || physical.emulation.is_none() {
            return call_down!(instance.next, vkEnumerateDeviceExtensionProperties(handle, layer, count, out));
        }
        fill!(&physical.shown_extensions(), count, out)
    }
}

/// The extensions that the layer adds to devices: those of the emulator.
fn listed_extensions() -> Vec<vk::ExtensionProperties> {
    match Layer::loaded() {
        Layer::Emulator => own_extensions().to_vec(),
        Layer::Aliasing => Vec::new(),
    }
}

fn is_own_name(layer: *const c_char) -> bool {
    if layer.is_null() {
        return false;
    }
    // SAFETY: Valid usage: null or a C string.
    let name = unsafe { CStr::from_ptr(layer) };
    name == Layer::loaded().name()
}

/// The layer, as layer lists have it.
fn layer_properties() -> vk::LayerProperties {
    vk::LayerProperties::default()
        .layer_name(Layer::loaded().name())
        .and_then(|layer| layer.description(Layer::loaded().description()))
        .expect("both texts are short")
        .spec_version(vk::API_VERSION_1_3)
        .implementation_version(1)
}
