//! Vulkan's functions, from the program's `vkGetInstanceProcAddr`.

use std::ffi::CStr;

use ash::vk;
use tileheap::runtime::Support;

use crate::status::{Fault, Status};
use crate::vulkan::OptionalGetInstanceProcAddr;

/// The functions that querying a physical device calls.
const QUERIES: [&CStr; 7] = [
    c"vkGetPhysicalDeviceProperties",
    c"vkGetPhysicalDeviceMemoryProperties",
    c"vkEnumerateDeviceExtensionProperties",
    c"vkGetPhysicalDeviceFeatures2",
    c"vkGetPhysicalDeviceProperties2",
    c"vkGetPhysicalDeviceMemoryProperties2",
    c"vkGetPhysicalDeviceImageFormatProperties2",
];

/// Functions of Vulkan 1.1 that the runtime calls on every device: if these are there, the device was created by this instance's driver.
const DEVICE_FUNCTIONS: [&CStr; 31] = [
    c"vkAllocateDescriptorSets",
    c"vkAllocateMemory",
    c"vkBeginCommandBuffer",
    c"vkBindBufferMemory",
    c"vkBindImageMemory",
    c"vkCmdBeginRenderPass",
    c"vkCmdClearColorImage",
    c"vkCmdClearDepthStencilImage",
    c"vkCmdDispatch",
    c"vkCmdEndRenderPass",
    c"vkCmdExecuteCommands",
    c"vkCmdFillBuffer",
    c"vkCmdPipelineBarrier",
    c"vkCreateBuffer",
    c"vkCreateDescriptorPool",
    c"vkCreateDescriptorSetLayout",
    c"vkCreateFence",
    c"vkCreateFramebuffer",
    c"vkCreateImage",
    c"vkCreateImageView",
    c"vkCreateRenderPass",
    c"vkCreateSemaphore",
    c"vkEndCommandBuffer",
    c"vkFreeMemory",
    c"vkGetBufferMemoryRequirements2",
    c"vkGetFenceStatus",
    c"vkGetImageMemoryRequirements2",
    c"vkQueueSubmit",
    c"vkResetFences",
    c"vkUpdateDescriptorSets",
    c"vkWaitForFences",
];

/// Loads an instance, and queries one of its physical devices.
///
/// # Safety
/// The handles are null or alive and belong together, and the function is the loader's.
pub(crate) unsafe fn query(
    get_instance_proc_addr: OptionalGetInstanceProcAddr,
    instance: vk::Instance,
    physical_device: vk::PhysicalDevice,
    api_version: u32,
) -> Result<(ash::Instance, Support), Fault> {
    let Some(get_instance_proc_addr) = get_instance_proc_addr else {
        return Err(Fault::null("getInstanceProcAddr"));
    };
    if instance == vk::Instance::null() || physical_device == vk::PhysicalDevice::null() {
        return Err(Fault::null("instance or physicalDevice"));
    }
    let newer = (api_version >= vk::API_VERSION_1_3).then_some(c"vkGetPhysicalDeviceToolProperties");
    for name in QUERIES.into_iter().chain(newer) {
        // SAFETY: the loader's function, with an instance that is alive and a name that ends in zero.
        if unsafe { get_instance_proc_addr(instance, name.as_ptr()) }.is_none() {
            let name = name.to_string_lossy();
            let message =
                format!("vkGetInstanceProcAddr returns no {name}: is apiVersion that of the instance?");
            return Err(Fault::new(Status::ErrorVulkan, message));
        }
    }
    let loader = ash::StaticFn {
        get_instance_proc_addr,
    };
    // SAFETY: as above.
    let instance = unsafe { ash::Instance::load(&loader, instance) };
    // SAFETY: the physical device is one of the instance, which was created with the version (the caller's duty).
    let support = unsafe { Support::query(&instance, physical_device, api_version) };
    let support = support.map_err(Fault::with(Status::ErrorVulkan))?;
    Ok((instance, support))
}

/// Loads a device.
///
/// # Safety
/// The device is null or alive, and one of the instance.
pub(crate) unsafe fn device(instance: &ash::Instance, device: vk::Device) -> Result<ash::Device, Fault> {
    if device == vk::Device::null() {
        return Err(Fault::null("device"));
    }
    for name in DEVICE_FUNCTIONS {
        // SAFETY: the device is alive and one of the instance, and the name ends in zero.
        if unsafe { instance.get_device_proc_addr(device, name.as_ptr()) }.is_none() {
            let message = format!("vkGetDeviceProcAddr returns no {}", name.to_string_lossy());
            return Err(Fault::new(Status::ErrorVulkan, message));
        }
    }
    // SAFETY: as above.
    Ok(unsafe { ash::Device::load(instance.fp_v1_0(), device) })
}
