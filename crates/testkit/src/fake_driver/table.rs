//! Every entry point by name, and when it is there.

use std::ffi::{CStr, c_char, c_void};

use ash::vk;
use ash::vk::Handle;
use tileheap::ffi::tile_memory_heap::{self, PFN_vkCmdBindTileMemoryQCOM};

use super::instance::*;
use super::memory::*;
use super::objects::*;
use super::recording::*;
use super::records::Detail;
use super::rendering::*;
use super::state::{Entered, enter};
use super::submission::*;

/// What brings a function.
#[derive(Clone, Copy)]
enum Since {
    /// Nothing: it makes instances.
    Global,
    /// An instance.
    Instance,
    /// An extension of the instance.
    InstanceExtension(&'static CStr),
    /// A device of this version.
    Core(u32),
    /// An extension of the device.
    Extension(&'static CStr),
}

use Since::{Core, Extension, Global, Instance, InstanceExtension};
use vk::{
    API_VERSION_1_0 as V1_0, API_VERSION_1_1 as V1_1, API_VERSION_1_2 as V1_2, API_VERSION_1_3 as V1_3,
};

/// Declares the table. Each function is named as Vulkan names it, and the compiler compares it with `ash`'s type.
macro_rules! table {
    ($($function:ident: $pointer:ty, $since:expr;)*) => {
        fn look_up(name: &CStr) -> Option<(Since, *const c_void)> {
            let name = name.to_str().ok()?;
            $(
                if name == stringify!($function) {
                    let function: $pointer = $function;
                    return Some(($since, function as *const c_void));
                }
            )*
            None
        }
    };
}

table! {
    vkGetInstanceProcAddr: vk::PFN_vkGetInstanceProcAddr, Global;
    vkCreateInstance: vk::PFN_vkCreateInstance, Global;
    vkEnumerateInstanceVersion: vk::PFN_vkEnumerateInstanceVersion, Global;
    vkEnumerateInstanceExtensionProperties: vk::PFN_vkEnumerateInstanceExtensionProperties, Global;
    vkEnumerateInstanceLayerProperties: vk::PFN_vkEnumerateInstanceLayerProperties, Global;

    vkDestroyInstance: vk::PFN_vkDestroyInstance, Instance;
    vkEnumeratePhysicalDevices: vk::PFN_vkEnumeratePhysicalDevices, Instance;
    vkGetPhysicalDeviceProperties: vk::PFN_vkGetPhysicalDeviceProperties, Instance;
    vkGetPhysicalDeviceProperties2: vk::PFN_vkGetPhysicalDeviceProperties2, Instance;
    vkGetPhysicalDeviceToolProperties: vk::PFN_vkGetPhysicalDeviceToolProperties, Instance;
    vkGetPhysicalDeviceFeatures: vk::PFN_vkGetPhysicalDeviceFeatures, Instance;
    vkGetPhysicalDeviceFeatures2: vk::PFN_vkGetPhysicalDeviceFeatures2, Instance;
    vkGetPhysicalDeviceMemoryProperties: vk::PFN_vkGetPhysicalDeviceMemoryProperties, Instance;
    vkGetPhysicalDeviceMemoryProperties2: vk::PFN_vkGetPhysicalDeviceMemoryProperties2, Instance;
    vkGetPhysicalDeviceQueueFamilyProperties: vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties, Instance;
    vkGetPhysicalDeviceImageFormatProperties2: vk::PFN_vkGetPhysicalDeviceImageFormatProperties2, Instance;
    vkEnumerateDeviceExtensionProperties: vk::PFN_vkEnumerateDeviceExtensionProperties, Instance;
    vkCreateDevice: vk::PFN_vkCreateDevice, Instance;
    vkGetDeviceProcAddr: vk::PFN_vkGetDeviceProcAddr, Core(V1_0);

    vkDestroyDevice: vk::PFN_vkDestroyDevice, Core(V1_0);
    vkGetDeviceQueue: vk::PFN_vkGetDeviceQueue, Core(V1_0);
    vkQueueSubmit: vk::PFN_vkQueueSubmit, Core(V1_0);
    vkQueueWaitIdle: vk::PFN_vkQueueWaitIdle, Core(V1_0);
    vkDeviceWaitIdle: vk::PFN_vkDeviceWaitIdle, Core(V1_0);
    vkAllocateMemory: vk::PFN_vkAllocateMemory, Core(V1_0);
    vkFreeMemory: vk::PFN_vkFreeMemory, Core(V1_0);
    vkMapMemory: vk::PFN_vkMapMemory, Core(V1_0);
    vkUnmapMemory: vk::PFN_vkUnmapMemory, Core(V1_0);
    vkBindBufferMemory: vk::PFN_vkBindBufferMemory, Core(V1_0);
    vkBindImageMemory: vk::PFN_vkBindImageMemory, Core(V1_0);
    vkGetBufferMemoryRequirements: vk::PFN_vkGetBufferMemoryRequirements, Core(V1_0);
    vkGetImageMemoryRequirements: vk::PFN_vkGetImageMemoryRequirements, Core(V1_0);
    vkGetBufferMemoryRequirements2: vk::PFN_vkGetBufferMemoryRequirements2, Core(V1_1);
    vkGetImageMemoryRequirements2: vk::PFN_vkGetImageMemoryRequirements2, Core(V1_1);
    vkGetDeviceBufferMemoryRequirements: vk::PFN_vkGetDeviceBufferMemoryRequirements, Core(V1_3);
    vkGetDeviceImageMemoryRequirements: vk::PFN_vkGetDeviceImageMemoryRequirements, Core(V1_3);
    vkGetBufferDeviceAddress: vk::PFN_vkGetBufferDeviceAddress, Core(V1_2);

    vkCreateBuffer: vk::PFN_vkCreateBuffer, Core(V1_0);
    vkDestroyBuffer: vk::PFN_vkDestroyBuffer, Core(V1_0);
    vkCreateImage: vk::PFN_vkCreateImage, Core(V1_0);
    vkDestroyImage: vk::PFN_vkDestroyImage, Core(V1_0);
    vkCreateImageView: vk::PFN_vkCreateImageView, Core(V1_0);
    vkDestroyImageView: vk::PFN_vkDestroyImageView, Core(V1_0);
    vkCreateDescriptorSetLayout: vk::PFN_vkCreateDescriptorSetLayout, Core(V1_0);
    vkDestroyDescriptorSetLayout: vk::PFN_vkDestroyDescriptorSetLayout, Core(V1_0);
    vkCreateDescriptorPool: vk::PFN_vkCreateDescriptorPool, Core(V1_0);
    vkDestroyDescriptorPool: vk::PFN_vkDestroyDescriptorPool, Core(V1_0);
    vkAllocateDescriptorSets: vk::PFN_vkAllocateDescriptorSets, Core(V1_0);
    vkUpdateDescriptorSets: vk::PFN_vkUpdateDescriptorSets, Core(V1_0);
    vkCreateRenderPass: vk::PFN_vkCreateRenderPass, Core(V1_0);
    vkDestroyRenderPass: vk::PFN_vkDestroyRenderPass, Core(V1_0);
    vkCreateFramebuffer: vk::PFN_vkCreateFramebuffer, Core(V1_0);
    vkDestroyFramebuffer: vk::PFN_vkDestroyFramebuffer, Core(V1_0);
    vkCreateCommandPool: vk::PFN_vkCreateCommandPool, Core(V1_0);
    vkDestroyCommandPool: vk::PFN_vkDestroyCommandPool, Core(V1_0);
    vkAllocateCommandBuffers: vk::PFN_vkAllocateCommandBuffers, Core(V1_0);
    vkBeginCommandBuffer: vk::PFN_vkBeginCommandBuffer, Core(V1_0);
    vkEndCommandBuffer: vk::PFN_vkEndCommandBuffer, Core(V1_0);

    vkCreateFence: vk::PFN_vkCreateFence, Core(V1_0);
    vkDestroyFence: vk::PFN_vkDestroyFence, Core(V1_0);
    vkResetFences: vk::PFN_vkResetFences, Core(V1_0);
    vkGetFenceStatus: vk::PFN_vkGetFenceStatus, Core(V1_0);
    vkWaitForFences: vk::PFN_vkWaitForFences, Core(V1_0);
    vkCreateSemaphore: vk::PFN_vkCreateSemaphore, Core(V1_0);
    vkDestroySemaphore: vk::PFN_vkDestroySemaphore, Core(V1_0);
    vkGetSemaphoreCounterValue: vk::PFN_vkGetSemaphoreCounterValue, Core(V1_2);
    vkWaitSemaphores: vk::PFN_vkWaitSemaphores, Core(V1_2);
    vkQueueSubmit2: vk::PFN_vkQueueSubmit2, Core(V1_3);

    vkCmdDraw: vk::PFN_vkCmdDraw, Core(V1_0);
    vkCmdDispatch: vk::PFN_vkCmdDispatch, Core(V1_0);
    vkCmdCopyBuffer: vk::PFN_vkCmdCopyBuffer, Core(V1_0);
    vkCmdCopyImage: vk::PFN_vkCmdCopyImage, Core(V1_0);
    vkCmdCopyBufferToImage: vk::PFN_vkCmdCopyBufferToImage, Core(V1_0);
    vkCmdCopyImageToBuffer: vk::PFN_vkCmdCopyImageToBuffer, Core(V1_0);
    vkCmdFillBuffer: vk::PFN_vkCmdFillBuffer, Core(V1_0);
    vkCmdClearColorImage: vk::PFN_vkCmdClearColorImage, Core(V1_0);
    vkCmdClearDepthStencilImage: vk::PFN_vkCmdClearDepthStencilImage, Core(V1_0);
    vkCmdPipelineBarrier: vk::PFN_vkCmdPipelineBarrier, Core(V1_0);
    vkCmdPipelineBarrier2: vk::PFN_vkCmdPipelineBarrier2, Core(V1_3);
    vkCmdBeginRendering: vk::PFN_vkCmdBeginRendering, Core(V1_3);
    vkCmdEndRendering: vk::PFN_vkCmdEndRendering, Core(V1_3);
    vkCmdBeginRenderPass: vk::PFN_vkCmdBeginRenderPass, Core(V1_0);
    vkCmdEndRenderPass: vk::PFN_vkCmdEndRenderPass, Core(V1_0);
    vkCmdExecuteCommands: vk::PFN_vkCmdExecuteCommands, Core(V1_0);
    vkCmdBindTileMemoryQCOM: PFN_vkCmdBindTileMemoryQCOM, Extension(tile_memory_heap::NAME);

    vkCreateDebugUtilsMessengerEXT: vk::PFN_vkCreateDebugUtilsMessengerEXT,
        InstanceExtension(ash::ext::debug_utils::NAME);
    vkDestroyDebugUtilsMessengerEXT: vk::PFN_vkDestroyDebugUtilsMessengerEXT,
        InstanceExtension(ash::ext::debug_utils::NAME);
    vkSetDebugUtilsObjectNameEXT: vk::PFN_vkSetDebugUtilsObjectNameEXT,
        InstanceExtension(ash::ext::debug_utils::NAME);
    vkCmdBeginDebugUtilsLabelEXT: vk::PFN_vkCmdBeginDebugUtilsLabelEXT,
        InstanceExtension(ash::ext::debug_utils::NAME);
    vkCmdEndDebugUtilsLabelEXT: vk::PFN_vkCmdEndDebugUtilsLabelEXT,
        InstanceExtension(ash::ext::debug_utils::NAME);
}

/// Whether an instance has an extension enabled.
fn instance_has(call: &Entered, instance: u64, extension: &CStr) -> bool {
    match call.objects.get(&instance).map(|record| &record.detail) {
        Some(Detail::Instance(names)) => names.iter().any(|name| name.as_c_str() == extension),
        _ => false,
    }
}

/// A pointer as `vkGet*ProcAddr` returns it.
fn function(pointer: *const c_void) -> vk::PFN_vkVoidFunction {
    // SAFETY: The table holds functions alone; callers call them by their own types.
    Some(unsafe { std::mem::transmute::<*const c_void, unsafe extern "system" fn()>(pointer) })
}

pub(super) unsafe extern "system" fn vkGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: Valid usage: the name ends in NUL.
    let (since, pointer) = look_up(unsafe { CStr::from_ptr(name) })?;
    if instance == vk::Instance::null() {
        return matches!(since, Global).then(|| function(pointer)).flatten();
    }
    let call = enter(instance, "vkGetInstanceProcAddr");
    let there = match since {
        InstanceExtension(extension) => instance_has(&call, instance.as_raw(), extension),
        Core(version) => version <= call.driver.config.api_version,
        Extension(extension) => call.driver.config.listed().contains(&extension),
        Global | Instance => true,
    };
    there.then(|| function(pointer)).flatten()
}

pub(super) unsafe extern "system" fn vkGetDeviceProcAddr(
    device: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: Valid usage: the name ends in NUL.
    let name = unsafe { CStr::from_ptr(name) };
    let (since, pointer) = look_up(name)?;
    let call = enter(device, "vkGetDeviceProcAddr");
    let config = &call.driver.config;
    if name == c"vkCmdBindTileMemoryQCOM" && !config.tile.command {
        return None;
    }
    let there = match since {
        Global | Instance => false,
        InstanceExtension(extension) => instance_has(&call, call.objects[&device.as_raw()].parent, extension),
        Core(version) => version <= config.api_version,
        Extension(extension) => call
            .enabled()
            .extensions
            .iter()
            .any(|name| name.as_c_str() == extension),
    };
    there.then(|| function(pointer)).flatten()
}
