//! Enumerations of layers and extensions, and the functions that a layer's library exports for Android's loader.
//!
//! Android's loader reads no manifest and does not negotiate. It opens each library named `libVkLayer*.so`, and calls
//! `vkEnumerateInstanceLayerProperties` and `vkEnumerateInstanceExtensionProperties`; a library without them is ignored. A layer that
//! `vkEnumerateDeviceLayerProperties` lists with the same properties may have device extensions. For an enabled layer it looks up
//! `LAYERGetInstanceProcAddr` and `LAYERGetDeviceProcAddr`, `LAYER` being the layer's name, before the names without the layer. The libraries export
//! only the longer names, so that none replaces a Vulkan command in a program that links it.
//!
//! Source: `LayerLibrary` in `frameworks/native/vulkan/libvulkan/layers_extensions.cpp` of Android.

use std::ffi::{CStr, c_char};

use ash::vk;

use crate::fill;
use crate::layer_desc::LayerDesc;

/// `vkEnumerateInstanceLayerProperties` and `vkEnumerateDeviceLayerProperties`: lists the layer.
///
/// # Safety
/// The arguments must be valid for the Vulkan command.
pub unsafe fn layers(layer: &LayerDesc, count: *mut u32, out: *mut vk::LayerProperties) -> vk::Result {
    let properties = vk::LayerProperties::default()
        .layer_name(layer.name)
        .and_then(|properties| properties.description(layer.description))
        .expect("name and description have at most 255 bytes")
        .spec_version(vk::API_VERSION_1_3)
        .implementation_version(1);
    fill!(&[properties], count, out)
}

/// `vkEnumerateInstanceExtensionProperties`: lists `VK_EXT_layer_settings`, with which applications pass settings. Extensions of other layers are not
/// listed.
///
/// # Safety
/// The arguments must be valid for the Vulkan command.
pub unsafe fn instance_extensions(
    layer: &LayerDesc,
    name: *const c_char,
    count: *mut u32,
    out: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: The caller's promise.
    if !unsafe { is_name_of(layer, name) } {
        return vk::Result::ERROR_LAYER_NOT_PRESENT;
    }
    let settings = vk::ExtensionProperties::default()
        .spec_version(ash::ext::layer_settings::SPEC_VERSION)
        .extension_name(ash::ext::layer_settings::NAME)
        .expect("the name fits into VkExtensionProperties");
    fill!(&[settings], count, out)
}

/// Returns true if `name` is the layer's name.
///
/// # Safety
/// `name` is null or a C string.
pub unsafe fn is_name_of(layer: &LayerDesc, name: *const c_char) -> bool {
    // SAFETY: The caller's promise.
    !name.is_null() && unsafe { CStr::from_ptr(name) } == layer.name
}

/// Exports an entry point of the layer under a name: `export!("name" is entry_point: fn(argument: type, …) -> type)`.
#[macro_export]
macro_rules! export {
    ($($symbol:literal is $entry:ident: fn($($arg:ident: $type:ty),*) -> $answer:ty;)+) => {$(const _: () = {
        /// # Safety
        /// The arguments must be valid for the Vulkan command.
        #[unsafe(export_name = $symbol)]
        unsafe extern "system" fn exported($($arg: $type),*) -> $answer {
            type Pointer = unsafe extern "system" fn($($type),*) -> $answer;
            // SAFETY: The entry point of this command, which has this type.
            let entry = unsafe { ::std::mem::transmute::<$crate::dispatch::EntryPoint, Pointer>($entry()) };
            // SAFETY: The caller's promise.
            unsafe { entry($($arg),*) }
        }
    };)+};
}

/// Exports the four enumerations, given functions in scope that return the entry points of these commands.
#[macro_export]
macro_rules! export_enumerations {
    () => {
        $crate::export! {
            "vkEnumerateInstanceLayerProperties" is vkEnumerateInstanceLayerProperties:
                fn(count: *mut u32, out: *mut ::ash::vk::LayerProperties) -> ::ash::vk::Result;
            "vkEnumerateInstanceExtensionProperties" is vkEnumerateInstanceExtensionProperties:
                fn(layer: *const ::std::ffi::c_char, count: *mut u32, out: *mut ::ash::vk::ExtensionProperties)
                    -> ::ash::vk::Result;
            "vkEnumerateDeviceLayerProperties" is vkEnumerateDeviceLayerProperties:
                fn(physical: ::ash::vk::PhysicalDevice, count: *mut u32, out: *mut ::ash::vk::LayerProperties)
                    -> ::ash::vk::Result;
            "vkEnumerateDeviceExtensionProperties" is vkEnumerateDeviceExtensionProperties:
                fn(
                    physical: ::ash::vk::PhysicalDevice, layer: *const ::std::ffi::c_char,
                    count: *mut u32, out: *mut ::ash::vk::ExtensionProperties
                ) -> ::ash::vk::Result;
        }
    };
}

/// Exports a layer's two look-ups under the layer's own names: `export_look_ups!("…GetInstanceProcAddr" is instance,
/// "…GetDeviceProcAddr" is device)`, given functions in scope that return the entry points.
#[macro_export]
macro_rules! export_look_ups {
    ($instance_symbol:literal is $instance:ident, $device_symbol:literal is $device:ident) => {
        $crate::export! {
            $instance_symbol is $instance:
                fn(handle: ::ash::vk::Instance, name: *const ::std::ffi::c_char) -> ::ash::vk::PFN_vkVoidFunction;
            $device_symbol is $device:
                fn(handle: ::ash::vk::Device, name: *const ::std::ffi::c_char) -> ::ash::vk::PFN_vkVoidFunction;
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYER: LayerDesc = LayerDesc {
        name: c"VK_LAYER_TILEHEAP_test",
        description: c"A test",
        key: "tileheap_test",
        settings: &[],
    };

    #[test]
    fn only_the_layers_own_extensions_are_listed() {
        let mut count = 0;
        let mut list = |name: Option<&CStr>| {
            let name = name.map_or(std::ptr::null(), CStr::as_ptr);
            // SAFETY: A C string or null, a count, and no array.
            unsafe { instance_extensions(&LAYER, name, &mut count, std::ptr::null_mut()) }
        };
        assert_eq!(list(None), vk::Result::ERROR_LAYER_NOT_PRESENT);
        assert_eq!(list(Some(c"VK_LAYER_other")), vk::Result::ERROR_LAYER_NOT_PRESENT);
        assert_eq!(list(Some(LAYER.name)), vk::Result::SUCCESS);
        assert_eq!(count, 1);
    }
}
