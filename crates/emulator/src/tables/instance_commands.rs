//! The instance commands that the layer hooks or calls.

use std::ffi::CStr;

use ash::vk;
use tileheap_layer::dispatch::is_of_extension;

/// Passes every command to the macro `$for_each`, as `device_commands` does.
macro_rules! instance_commands {
    ($for_each:ident) => {
        $for_each! {
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
        down vkGetPhysicalDeviceQueueFamilyProperties2: vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties2,
            or vkGetPhysicalDeviceQueueFamilyProperties2KHR;
        always vkCreateDebugUtilsMessengerEXT: vk::PFN_vkCreateDebugUtilsMessengerEXT;
        always vkDestroyDebugUtilsMessengerEXT: vk::PFN_vkDestroyDebugUtilsMessengerEXT;
        }
    };
}
pub(crate) use instance_commands;

/// The Vulkan version in which an instance command became core, for commands that an extension introduced.
///
/// Source: `vk.xml`, the features `VK_BASE_VERSION_1_1` and `VK_BASE_VERSION_1_3`.
fn core_since(name: &CStr) -> Option<u32> {
    let name = name.to_str().unwrap_or_default();
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_uppercase());
    match name {
        "vkGetPhysicalDeviceToolProperties" => Some(vk::API_VERSION_1_3),
        "vkGetPhysicalDeviceExternalBufferProperties" => Some(vk::API_VERSION_1_1),
        _ if name.starts_with("vkGetPhysicalDevice") && name.ends_with('2') => Some(vk::API_VERSION_1_1),
        _ => None,
    }
}

/// Returns true if an instance of `version` has a command with this name: a promoted command has its core name from the version that promoted it on,
/// and its extension's name in earlier versions.
pub(crate) fn has_name(version: u32, name: &CStr) -> bool {
    core_since(name).is_none_or(|core| is_of_extension(name) == (version < core))
}

macro_rules! table {
    ($($mode:ident $command:ident: $pointer:ty $(, or $($alias:ident)+)?;)+) => {
        tileheap_layer::command_table! {
            /// The next layer's instance commands.
            InstanceTable { $($command: $pointer $(, or $($alias)+)?;)+ }
        }
    };
}
instance_commands!(table);
