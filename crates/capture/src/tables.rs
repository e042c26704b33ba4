//! The commands that the layer hooks or calls.

use std::ffi::c_void;

use ash::vk;

/// `vkCmdEndRendering2KHR`, which ash 0.38 lacks.
pub(crate) type EndRendering2 = unsafe extern "system" fn(vk::CommandBuffer, *const c_void);

tileheap_layer::command_table! {
    /// Instance commands of the next layer.
    InstanceTable {
        vkGetInstanceProcAddr: vk::PFN_vkGetInstanceProcAddr;
        vkCreateInstance: vk::PFN_vkCreateInstance;
        vkCreateDevice: vk::PFN_vkCreateDevice;
        vkDestroyInstance: vk::PFN_vkDestroyInstance;
        vkGetPhysicalDeviceProperties: vk::PFN_vkGetPhysicalDeviceProperties;
        vkGetPhysicalDeviceQueueFamilyProperties: vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties;
    }
}

include!("device_commands.in");
pub(crate) use device_commands;

macro_rules! table {
    ($($mode:ident $command:ident: $pointer:ty $(, or $($alias:ident)+)?;)+) => {
        tileheap_layer::command_table! {
            /// Device commands of the next layer.
            DeviceTable { $($command: $pointer $(, or $($alias)+)?;)+ }
        }
    };
}
device_commands!(table);
