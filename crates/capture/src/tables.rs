//! The commands that the layer hooks or calls.

use std::ffi::c_void;

use ash::vk;

/// `vkCmdEndRendering2KHR` and others that ash 0.38 lacks: a structure follows the command buffer.
pub(crate) type WithInfo = unsafe extern "system" fn(vk::CommandBuffer, *const c_void);
/// `vkCmdExecuteGeneratedCommandsEXT`, which ash 0.38 lacks.
pub(crate) type Executes = unsafe extern "system" fn(vk::CommandBuffer, vk::Bool32, *const c_void);
/// `vkCmdPreprocessGeneratedCommandsEXT`, which ash 0.38 lacks.
pub(crate) type Preprocesses = unsafe extern "system" fn(vk::CommandBuffer, *const c_void, vk::CommandBuffer);
/// `vkCmdDispatchDataGraphARM`, which ash 0.38 lacks: a handle and a structure.
pub(crate) type OfSession = unsafe extern "system" fn(vk::CommandBuffer, u64, *const c_void);

tileheap_layer::command_table! {
    /// Instance commands of the next layer.
    InstanceTable {
        vkGetInstanceProcAddr: vk::PFN_vkGetInstanceProcAddr;
        vkCreateInstance: vk::PFN_vkCreateInstance;
        vkCreateDevice: vk::PFN_vkCreateDevice;
        vkDestroyInstance: vk::PFN_vkDestroyInstance;
        vkEnumerateInstanceLayerProperties: vk::PFN_vkEnumerateInstanceLayerProperties;
        vkEnumerateInstanceExtensionProperties: vk::PFN_vkEnumerateInstanceExtensionProperties;
        vkEnumerateDeviceLayerProperties: vk::PFN_vkEnumerateDeviceLayerProperties;
        vkEnumerateDeviceExtensionProperties: vk::PFN_vkEnumerateDeviceExtensionProperties;
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
