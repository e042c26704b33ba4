//! Entry points of instances: creation, messengers, the extensions of the layer and of devices.

use ash::vk;
use tileheap_layer::{call_down, entry_points, enumerate, export_enumerations, fill, given};

use super::instance::{INSTANCES, Instance, physical_of};
use crate::model::reporter::Listener;
use crate::tables::emulation::own_extensions;
use crate::tables::instance_commands::InstanceTable;
use crate::tables::layer::Layer;

entry_points! {
    of InstanceTable:
    /// Reads the settings, and creates the instance in the next layer.
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

    /// Lists the layer's only instance extension; those of other layers are not listed.
    vkEnumerateInstanceExtensionProperties(layer, count, out) {
        // SAFETY: The application's arguments.
        unsafe { enumerate::instance_extensions(Layer::loaded().desc(), layer, count, out) }
    }

    /// Lists the layer itself.
    vkEnumerateInstanceLayerProperties(count, out) {
        // SAFETY: The application's arguments.
        unsafe { enumerate::layers(Layer::loaded().desc(), count, out) }
    }

    /// Lists the layer itself.
    vkEnumerateDeviceLayerProperties(_physical, count, out) {
        // SAFETY: The application's arguments.
        unsafe { enumerate::layers(Layer::loaded().desc(), count, out) }
    }

    /// Lists the driver's extensions and, if the layer emulates them on the device, its own; only its own if `layer` names the layer.
    vkEnumerateDeviceExtensionProperties(handle, layer, count, out) {
        if handle == vk::PhysicalDevice::null() {
            return fill!(&listed_extensions(), count, out);
        }
        let Some((instance, physical)) = physical_of(handle) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        // SAFETY: Valid usage: null or a C string.
        if unsafe { enumerate::is_name_of(Layer::loaded().desc(), layer) } {
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

export_enumerations!();

/// The device extensions of the loaded layer: those of the emulator; none for the aliasing layer.
fn listed_extensions() -> Vec<vk::ExtensionProperties> {
    match Layer::loaded() {
        Layer::Emulator => own_extensions().to_vec(),
        Layer::Aliasing => Vec::new(),
    }
}
