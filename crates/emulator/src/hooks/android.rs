//! Symbols that Android's loader looks up in a layer's library, since it does not negotiate. On other systems only the
//! negotiation is exported.
//!
//! Source: `LayerLibrary` in `frameworks/native/vulkan/libvulkan/layers_extensions.cpp`: a library without the two commands
//! that list instance layers and instance extensions is ignored; look-ups go by the plain names where there are no names of
//! the layer's own.

use std::ffi::c_char;

use ash::vk;
use tileheap_layer::dispatch::EntryPoint;

use super::{instances, look_up};

macro_rules! exports {
    ($($module:ident::$name:ident($($arg:ident: $type:ty),*) -> $answer:ty;)+) => {$(
        /// # Safety
        /// The arguments are those of the command.
        #[allow(non_snake_case, reason = "Vulkan's names")]
        #[unsafe(no_mangle)]
        unsafe extern "system" fn $name($($arg: $type),*) -> $answer {
            type Pointer = unsafe extern "system" fn($($type),*) -> $answer;
            // SAFETY: The entry point of this command, which has this type.
            let entry = unsafe { std::mem::transmute::<EntryPoint, Pointer>($module::$name()) };
            // SAFETY: The caller's promise.
            unsafe { entry($($arg),*) }
        }
    )+};
}

exports! {
    instances::vkEnumerateInstanceLayerProperties(count: *mut u32, out: *mut vk::LayerProperties) -> vk::Result;
    instances::vkEnumerateInstanceExtensionProperties(
        layer: *const c_char, count: *mut u32, out: *mut vk::ExtensionProperties
    ) -> vk::Result;
    instances::vkEnumerateDeviceLayerProperties(
        physical: vk::PhysicalDevice, count: *mut u32, out: *mut vk::LayerProperties
    ) -> vk::Result;
    instances::vkEnumerateDeviceExtensionProperties(
        physical: vk::PhysicalDevice, layer: *const c_char, count: *mut u32, out: *mut vk::ExtensionProperties
    ) -> vk::Result;
    look_up::vkGetInstanceProcAddr(handle: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction;
    look_up::vkGetDeviceProcAddr(handle: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction;
}
