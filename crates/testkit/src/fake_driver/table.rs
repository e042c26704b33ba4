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

/// Declares the table. Each function is named as Vulkan names it, and the compiler compares it with `ash`'s type; an alias
/// is `"name" = function`.
macro_rules! table {
    ($($($alias:literal =)? $function:ident: $pointer:ty, $since:expr;)*) => {
        fn look_up(name: &CStr) -> Option<(Since, *const c_void)> {
            let name = name.to_str().ok()?;
            $(
                if name == table!(@name $function $($alias)?) {
                    let function: $pointer = $function;
                    return Some(($since, function as *const c_void));
                }
            )*
            None
        }
    };
    (@name $function:ident) => { stringify!($function) };
    (@name $function:ident $alias:literal) => { $alias };
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
    vkGetPhysicalDeviceQueueFamilyProperties2: vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties2, Instance;
    vkGetPhysicalDeviceFormatProperties: vk::PFN_vkGetPhysicalDeviceFormatProperties, Instance;
    vkGetPhysicalDeviceFormatProperties2: vk::PFN_vkGetPhysicalDeviceFormatProperties2, Instance;
    vkGetPhysicalDeviceImageFormatProperties: vk::PFN_vkGetPhysicalDeviceImageFormatProperties, Instance;
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
    vkFlushMappedMemoryRanges: vk::PFN_vkFlushMappedMemoryRanges, Core(V1_0);
    vkInvalidateMappedMemoryRanges: vk::PFN_vkInvalidateMappedMemoryRanges, Core(V1_0);
    vkBindBufferMemory: vk::PFN_vkBindBufferMemory, Core(V1_0);
    vkBindImageMemory: vk::PFN_vkBindImageMemory, Core(V1_0);
    vkBindBufferMemory2: vk::PFN_vkBindBufferMemory2, Core(V1_1);
    vkBindImageMemory2: vk::PFN_vkBindImageMemory2, Core(V1_1);
    vkGetBufferMemoryRequirements: vk::PFN_vkGetBufferMemoryRequirements, Core(V1_0);
    vkGetImageMemoryRequirements: vk::PFN_vkGetImageMemoryRequirements, Core(V1_0);
    vkGetBufferMemoryRequirements2: vk::PFN_vkGetBufferMemoryRequirements2, Core(V1_1);
    vkGetImageMemoryRequirements2: vk::PFN_vkGetImageMemoryRequirements2, Core(V1_1);
    vkGetDeviceBufferMemoryRequirements: vk::PFN_vkGetDeviceBufferMemoryRequirements, Core(V1_3);
    vkGetDeviceImageMemoryRequirements: vk::PFN_vkGetDeviceImageMemoryRequirements, Core(V1_3);
    "vkGetDeviceBufferMemoryRequirementsKHR" = vkGetDeviceBufferMemoryRequirements:
        vk::PFN_vkGetDeviceBufferMemoryRequirements, Extension(ash::khr::maintenance4::NAME);
    "vkGetDeviceImageMemoryRequirementsKHR" = vkGetDeviceImageMemoryRequirements:
        vk::PFN_vkGetDeviceImageMemoryRequirements, Extension(ash::khr::maintenance4::NAME);
    vkGetBufferDeviceAddress: vk::PFN_vkGetBufferDeviceAddress, Core(V1_2);
    "vkGetBufferDeviceAddressKHR" = vkGetBufferDeviceAddress:
        vk::PFN_vkGetBufferDeviceAddress, Extension(ash::khr::buffer_device_address::NAME);

    vkCreateBuffer: vk::PFN_vkCreateBuffer, Core(V1_0);
    vkDestroyBuffer: vk::PFN_vkDestroyBuffer, Core(V1_0);
    vkCreateBufferView: vk::PFN_vkCreateBufferView, Core(V1_0);
    vkDestroyBufferView: vk::PFN_vkDestroyBufferView, Core(V1_0);
    vkCreateImage: vk::PFN_vkCreateImage, Core(V1_0);
    vkDestroyImage: vk::PFN_vkDestroyImage, Core(V1_0);
    vkCreateImageView: vk::PFN_vkCreateImageView, Core(V1_0);
    vkDestroyImageView: vk::PFN_vkDestroyImageView, Core(V1_0);
    vkCreateSampler: vk::PFN_vkCreateSampler, Core(V1_0);
    vkDestroySampler: vk::PFN_vkDestroySampler, Core(V1_0);
    vkCreateShaderModule: vk::PFN_vkCreateShaderModule, Core(V1_0);
    vkDestroyShaderModule: vk::PFN_vkDestroyShaderModule, Core(V1_0);
    vkCreatePipelineCache: vk::PFN_vkCreatePipelineCache, Core(V1_0);
    vkDestroyPipelineCache: vk::PFN_vkDestroyPipelineCache, Core(V1_0);
    vkCreatePipelineLayout: vk::PFN_vkCreatePipelineLayout, Core(V1_0);
    vkDestroyPipelineLayout: vk::PFN_vkDestroyPipelineLayout, Core(V1_0);
    vkCreateGraphicsPipelines: vk::PFN_vkCreateGraphicsPipelines, Core(V1_0);
    vkCreateComputePipelines: vk::PFN_vkCreateComputePipelines, Core(V1_0);
    vkDestroyPipeline: vk::PFN_vkDestroyPipeline, Core(V1_0);
    vkCreateDescriptorSetLayout: vk::PFN_vkCreateDescriptorSetLayout, Core(V1_0);
    vkDestroyDescriptorSetLayout: vk::PFN_vkDestroyDescriptorSetLayout, Core(V1_0);
    vkCreateDescriptorPool: vk::PFN_vkCreateDescriptorPool, Core(V1_0);
    vkDestroyDescriptorPool: vk::PFN_vkDestroyDescriptorPool, Core(V1_0);
    vkAllocateDescriptorSets: vk::PFN_vkAllocateDescriptorSets, Core(V1_0);
    vkUpdateDescriptorSets: vk::PFN_vkUpdateDescriptorSets, Core(V1_0);
    vkCreateQueryPool: vk::PFN_vkCreateQueryPool, Core(V1_0);
    vkDestroyQueryPool: vk::PFN_vkDestroyQueryPool, Core(V1_0);
    vkCreateEvent: vk::PFN_vkCreateEvent, Core(V1_0);
    vkDestroyEvent: vk::PFN_vkDestroyEvent, Core(V1_0);
    vkCreateRenderPass: vk::PFN_vkCreateRenderPass, Core(V1_0);
    vkCreateRenderPass2: vk::PFN_vkCreateRenderPass2, Core(V1_2);
    "vkCreateRenderPass2KHR" = vkCreateRenderPass2:
        vk::PFN_vkCreateRenderPass2, Extension(ash::khr::create_renderpass2::NAME);
    vkDestroyRenderPass: vk::PFN_vkDestroyRenderPass, Core(V1_0);
    vkCreateFramebuffer: vk::PFN_vkCreateFramebuffer, Core(V1_0);
    vkDestroyFramebuffer: vk::PFN_vkDestroyFramebuffer, Core(V1_0);
    vkCreateCommandPool: vk::PFN_vkCreateCommandPool, Core(V1_0);
    vkDestroyCommandPool: vk::PFN_vkDestroyCommandPool, Core(V1_0);
    vkResetCommandPool: vk::PFN_vkResetCommandPool, Core(V1_0);
    vkAllocateCommandBuffers: vk::PFN_vkAllocateCommandBuffers, Core(V1_0);
    vkFreeCommandBuffers: vk::PFN_vkFreeCommandBuffers, Core(V1_0);
    vkResetCommandBuffer: vk::PFN_vkResetCommandBuffer, Core(V1_0);
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
    vkSignalSemaphore: vk::PFN_vkSignalSemaphore, Core(V1_2);
    "vkGetSemaphoreCounterValueKHR" = vkGetSemaphoreCounterValue:
        vk::PFN_vkGetSemaphoreCounterValue, Extension(ash::khr::timeline_semaphore::NAME);
    "vkWaitSemaphoresKHR" = vkWaitSemaphores:
        vk::PFN_vkWaitSemaphores, Extension(ash::khr::timeline_semaphore::NAME);
    "vkSignalSemaphoreKHR" = vkSignalSemaphore:
        vk::PFN_vkSignalSemaphore, Extension(ash::khr::timeline_semaphore::NAME);
    vkQueueSubmit2: vk::PFN_vkQueueSubmit2, Core(V1_3);
    "vkQueueSubmit2KHR" = vkQueueSubmit2: vk::PFN_vkQueueSubmit2, Extension(ash::khr::synchronization2::NAME);

    vkCmdDraw: vk::PFN_vkCmdDraw, Core(V1_0);
    vkCmdDrawIndexed: vk::PFN_vkCmdDrawIndexed, Core(V1_0);
    vkCmdDrawIndirect: vk::PFN_vkCmdDrawIndirect, Core(V1_0);
    vkCmdDrawIndexedIndirect: vk::PFN_vkCmdDrawIndexedIndirect, Core(V1_0);
    vkCmdClearAttachments: vk::PFN_vkCmdClearAttachments, Core(V1_0);
    vkCmdDispatch: vk::PFN_vkCmdDispatch, Core(V1_0);
    vkCmdDispatchIndirect: vk::PFN_vkCmdDispatchIndirect, Core(V1_0);
    vkCmdCopyBuffer: vk::PFN_vkCmdCopyBuffer, Core(V1_0);
    vkCmdCopyImage: vk::PFN_vkCmdCopyImage, Core(V1_0);
    vkCmdCopyBufferToImage: vk::PFN_vkCmdCopyBufferToImage, Core(V1_0);
    vkCmdCopyImageToBuffer: vk::PFN_vkCmdCopyImageToBuffer, Core(V1_0);
    vkCmdBlitImage: vk::PFN_vkCmdBlitImage, Core(V1_0);
    vkCmdResolveImage: vk::PFN_vkCmdResolveImage, Core(V1_0);
    vkCmdFillBuffer: vk::PFN_vkCmdFillBuffer, Core(V1_0);
    vkCmdUpdateBuffer: vk::PFN_vkCmdUpdateBuffer, Core(V1_0);
    vkCmdClearColorImage: vk::PFN_vkCmdClearColorImage, Core(V1_0);
    vkCmdClearDepthStencilImage: vk::PFN_vkCmdClearDepthStencilImage, Core(V1_0);
    vkCmdBindPipeline: vk::PFN_vkCmdBindPipeline, Core(V1_0);
    vkCmdBindIndexBuffer: vk::PFN_vkCmdBindIndexBuffer, Core(V1_0);
    vkCmdBindDescriptorSets: vk::PFN_vkCmdBindDescriptorSets, Core(V1_0);
    vkCmdBindVertexBuffers: vk::PFN_vkCmdBindVertexBuffers, Core(V1_0);
    vkCmdPushConstants: vk::PFN_vkCmdPushConstants, Core(V1_0);
    vkCmdSetViewport: vk::PFN_vkCmdSetViewport, Core(V1_0);
    vkCmdSetScissor: vk::PFN_vkCmdSetScissor, Core(V1_0);
    vkCmdResetQueryPool: vk::PFN_vkCmdResetQueryPool, Core(V1_0);
    vkCmdWriteTimestamp: vk::PFN_vkCmdWriteTimestamp, Core(V1_0);
    vkCmdWriteTimestamp2: vk::PFN_vkCmdWriteTimestamp2, Core(V1_3);
    "vkCmdWriteTimestamp2KHR" = vkCmdWriteTimestamp2:
        vk::PFN_vkCmdWriteTimestamp2, Extension(ash::khr::synchronization2::NAME);
    vkCmdPipelineBarrier: vk::PFN_vkCmdPipelineBarrier, Core(V1_0);
    vkCmdPipelineBarrier2: vk::PFN_vkCmdPipelineBarrier2, Core(V1_3);
    "vkCmdPipelineBarrier2KHR" = vkCmdPipelineBarrier2:
        vk::PFN_vkCmdPipelineBarrier2, Extension(ash::khr::synchronization2::NAME);
    vkCmdBeginRendering: vk::PFN_vkCmdBeginRendering, Core(V1_3);
    vkCmdEndRendering: vk::PFN_vkCmdEndRendering, Core(V1_3);
    "vkCmdBeginRenderingKHR" = vkCmdBeginRendering:
        vk::PFN_vkCmdBeginRendering, Extension(ash::khr::dynamic_rendering::NAME);
    "vkCmdEndRenderingKHR" = vkCmdEndRendering:
        vk::PFN_vkCmdEndRendering, Extension(ash::khr::dynamic_rendering::NAME);
    vkCmdBeginRenderPass: vk::PFN_vkCmdBeginRenderPass, Core(V1_0);
    vkCmdNextSubpass: vk::PFN_vkCmdNextSubpass, Core(V1_0);
    vkCmdEndRenderPass: vk::PFN_vkCmdEndRenderPass, Core(V1_0);
    vkCmdBeginRenderPass2: vk::PFN_vkCmdBeginRenderPass2, Core(V1_2);
    vkCmdEndRenderPass2: vk::PFN_vkCmdEndRenderPass2, Core(V1_2);
    "vkCmdBeginRenderPass2KHR" = vkCmdBeginRenderPass2:
        vk::PFN_vkCmdBeginRenderPass2, Extension(ash::khr::create_renderpass2::NAME);
    "vkCmdEndRenderPass2KHR" = vkCmdEndRenderPass2:
        vk::PFN_vkCmdEndRenderPass2, Extension(ash::khr::create_renderpass2::NAME);
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
    vkCmdInsertDebugUtilsLabelEXT: vk::PFN_vkCmdInsertDebugUtilsLabelEXT,
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
