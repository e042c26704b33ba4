//! Entry points of the instance: its life, the extensions of layer and devices, and the table of instance commands.

use std::ffi::{CStr, c_char};

use ash::vk;

use crate::device::Device;
use crate::dispatch::commands;
use crate::guard::{down, entry_points};
use crate::hooks::look_up::vkGetInstanceProcAddr;
use crate::hooks::physical::*;
use crate::instance::{Instance, instance_of, physical_of};
use crate::messages::Listener;
use crate::physical::own_extensions;
use crate::settings::LAYER_NAME;

commands! {
    /// The instance commands that the layer answers or calls.
    InstanceTable {
        always vkGetInstanceProcAddr: vk::PFN_vkGetInstanceProcAddr;
        always vkCreateInstance: vk::PFN_vkCreateInstance;
        always vkDestroyInstance: vk::PFN_vkDestroyInstance;
        always vkCreateDevice: vk::PFN_vkCreateDevice;
        always vkEnumerateInstanceExtensionProperties: vk::PFN_vkEnumerateInstanceExtensionProperties;
        always vkEnumerateInstanceLayerProperties: vk::PFN_vkEnumerateInstanceLayerProperties;
        always vkEnumerateDeviceLayerProperties: vk::PFN_vkEnumerateDeviceLayerProperties;
        always vkEnumerateDeviceExtensionProperties: vk::PFN_vkEnumerateDeviceExtensionProperties;
        always vkGetPhysicalDeviceMemoryProperties: vk::PFN_vkGetPhysicalDeviceMemoryProperties;
        always vkGetPhysicalDeviceMemoryProperties2: vk::PFN_vkGetPhysicalDeviceMemoryProperties2,
            or vkGetPhysicalDeviceMemoryProperties2KHR;
        always vkGetPhysicalDeviceFeatures2: vk::PFN_vkGetPhysicalDeviceFeatures2, or vkGetPhysicalDeviceFeatures2KHR;
        always vkGetPhysicalDeviceProperties2: vk::PFN_vkGetPhysicalDeviceProperties2,
            or vkGetPhysicalDeviceProperties2KHR;
        always vkGetPhysicalDeviceImageFormatProperties: vk::PFN_vkGetPhysicalDeviceImageFormatProperties;
        always vkGetPhysicalDeviceImageFormatProperties2: vk::PFN_vkGetPhysicalDeviceImageFormatProperties2,
            or vkGetPhysicalDeviceImageFormatProperties2KHR;
        always vkGetPhysicalDeviceSparseImageFormatProperties: vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties;
        always vkGetPhysicalDeviceSparseImageFormatProperties2: vk::PFN_vkGetPhysicalDeviceSparseImageFormatProperties2,
            or vkGetPhysicalDeviceSparseImageFormatProperties2KHR;
        always vkGetPhysicalDeviceExternalBufferProperties: vk::PFN_vkGetPhysicalDeviceExternalBufferProperties,
            or vkGetPhysicalDeviceExternalBufferPropertiesKHR;
        always vkGetPhysicalDeviceToolProperties: vk::PFN_vkGetPhysicalDeviceToolProperties,
            or vkGetPhysicalDeviceToolPropertiesEXT;
        down vkGetPhysicalDeviceProperties: vk::PFN_vkGetPhysicalDeviceProperties;
        always vkCreateDebugUtilsMessengerEXT: vk::PFN_vkCreateDebugUtilsMessengerEXT;
        always vkDestroyDebugUtilsMessengerEXT: vk::PFN_vkDestroyDebugUtilsMessengerEXT;
    }
}

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

    /// Forgets the instance and destroys it below.
    fn vkDestroyInstance(handle: vk::Instance, allocator: *const vk::AllocationCallbacks<'_>) {
        if handle == vk::Instance::null() {
            return;
        }
        if let Some(instance) = Instance::forget(handle) {
            down!(instance.next, vkDestroyInstance(handle, allocator));
        }
    }

    /// Remembers who listens.
    fn vkCreateDebugUtilsMessengerEXT(
        handle: vk::Instance,
        info: *const vk::DebugUtilsMessengerCreateInfoEXT<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DebugUtilsMessengerEXT,
    ) -> vk::Result {
        let Some(instance) = instance_of(handle) else { return vk::Result::ERROR_UNKNOWN };
        let result = down!(instance.next, vkCreateDebugUtilsMessengerEXT(handle, info, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: Written by the next layer.
            let messenger = unsafe { *out };
            // SAFETY: Valid usage: a valid structure.
            instance.listen(Listener::new(messenger, unsafe { &*info }));
        }
        result
    }

    /// Forgets it.
    fn vkDestroyDebugUtilsMessengerEXT(
        handle: vk::Instance,
        messenger: vk::DebugUtilsMessengerEXT,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        let Some(instance) = instance_of(handle) else { return };
        if messenger != vk::DebugUtilsMessengerEXT::null() {
            instance.stop_listening(messenger);
        }
        down!(instance.next, vkDestroyDebugUtilsMessengerEXT(handle, messenger, allocator));
    }

    /// Strips what is the layer's, adds what the layer needs, and creates the device below.
    fn vkCreateDevice(
        handle: vk::PhysicalDevice,
        info: *const vk::DeviceCreateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Device,
    ) -> vk::Result {
        let Some((instance, physical)) = physical_of(handle) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        // SAFETY: The loader passes a valid create info.
        let info = unsafe { &*info };
        // SAFETY: The arguments are the loader's.
        unsafe { Device::create(&instance, &physical, info, allocator, out) }
    }

    /// The layer has one instance extension, and answers for itself alone.
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
        unsafe { give(&[own], count, out) }
    }

    /// The layer itself.
    fn vkEnumerateInstanceLayerProperties(count: *mut u32, out: *mut vk::LayerProperties) -> vk::Result {
        // SAFETY: Vulkan's two-call idiom.
        unsafe { give(&[layer_properties()], count, out) }
    }

    /// The layer itself.
    fn vkEnumerateDeviceLayerProperties(
        _physical: vk::PhysicalDevice,
        count: *mut u32,
        out: *mut vk::LayerProperties,
    ) -> vk::Result {
        // SAFETY: Vulkan's two-call idiom.
        unsafe { give(&[layer_properties()], count, out) }
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
            return unsafe { give(&own_extensions(), count, out) };
        }
        let Some((instance, physical)) = physical_of(handle) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        if is_own_name(layer) {
            // SAFETY: Vulkan's two-call idiom.
            return unsafe { give(&own_extensions(), count, out) };
        }
        if let Some(error) = physical.failure {
            return error;
        }
        if !layer.is_null() || physical.emulation.is_none() {
            return down!(instance.next, vkEnumerateDeviceExtensionProperties(handle, layer, count, out));
        }
        // SAFETY: Vulkan's two-call idiom.
        unsafe { give(&physical.shown_extensions(), count, out) }
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

/// Answers in Vulkan's two-call idiom: the count alone, or as many elements as there is room for.
///
/// # Safety
/// `count` is valid; `out` is null or has room for `*count` elements.
pub(crate) unsafe fn give<T: Clone>(all: &[T], count: *mut u32, out: *mut T) -> vk::Result {
    // SAFETY: The caller's promise.
    let count = unsafe { &mut *count };
    if out.is_null() {
        *count = all.len() as u32;
        return vk::Result::SUCCESS;
    }
    let given = all.len().min(*count as usize);
    for (index, element) in all[..given].iter().enumerate() {
        // SAFETY: Below the count for which there is room.
        let slot = unsafe { out.add(index) };
        // SAFETY: As above.
        unsafe { slot.write(element.clone()) };
    }
    *count = given as u32;
    if given < all.len() {
        vk::Result::INCOMPLETE
    } else {
        vk::Result::SUCCESS
    }
}
