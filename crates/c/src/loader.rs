//! Loads Vulkan's functions through the program's `vkGetInstanceProcAddr`.

use std::ffi::{CStr, CString};

use ash::vk;
use tileheap::runtime::{Capabilities, DeviceSupport};

use crate::status::{Fault, Status};
use crate::vulkan::OptionalGetInstanceProcAddr;

/// The functions for querying a physical device.
const QUERIES: [&CStr; 8] = [
    c"vkGetPhysicalDeviceProperties",
    c"vkGetPhysicalDeviceMemoryProperties",
    c"vkGetPhysicalDeviceQueueFamilyProperties",
    c"vkEnumerateDeviceExtensionProperties",
    c"vkGetPhysicalDeviceFeatures2",
    c"vkGetPhysicalDeviceProperties2",
    c"vkGetPhysicalDeviceMemoryProperties2",
    c"vkGetPhysicalDeviceImageFormatProperties2",
];

/// Functions of Vulkan 1.1 that the runtime calls on every device: if they exist, the device was created by this instance's driver.
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
) -> Result<(ash::Instance, DeviceSupport), Fault> {
    let Some(get_instance_proc_addr) = get_instance_proc_addr else {
        return Err(Fault::null("getInstanceProcAddr"));
    };
    if instance == vk::Instance::null() {
        return Err(Fault::null("instance"));
    }
    if physical_device == vk::PhysicalDevice::null() {
        return Err(Fault::null("physicalDevice"));
    }
    let newer = (api_version >= vk::API_VERSION_1_3).then_some(c"vkGetPhysicalDeviceToolProperties");
    for name in QUERIES.into_iter().chain(newer) {
        // SAFETY: the loader's function, with an instance that is alive and a name that ends in zero.
        if unsafe { get_instance_proc_addr(instance, name.as_ptr()) }.is_none() {
            let name = name.to_string_lossy();
            let message = format!(
                "vkGetInstanceProcAddr returned null for {name}: set apiVersion to that of the instance"
            );
            return Err(Fault::new(Status::ErrorVulkan, message));
        }
    }
    let loader = ash::StaticFn {
        get_instance_proc_addr,
    };
    // SAFETY: as above.
    let instance = unsafe { ash::Instance::load(&loader, instance) };
    // SAFETY: the physical device is one of the instance, which was created with the version (the caller's duty).
    let support = unsafe { DeviceSupport::query(&instance, physical_device, api_version) };
    let support = support.map_err(Fault::with(Status::ErrorVulkan))?;
    Ok((instance, support))
}

/// Per capability, the version of Vulkan that has its functions without `KHR` in their names, and the functions. If those of tile memory are missing,
/// the runtime does not use tile memory.
const CAPABILITY_FUNCTIONS: [(Capabilities, u32, &[&CStr]); 9] = {
    use Capabilities as C;
    const NEVER: u32 = u32::MAX;
    const V1_4: u32 = vk::make_api_version(0, 1, 4, 0);
    [
        (
            C::SYNCHRONIZATION_2,
            vk::API_VERSION_1_3,
            &[c"vkCmdPipelineBarrier2KHR", c"vkQueueSubmit2KHR"],
        ),
        (
            C::DYNAMIC_RENDERING,
            vk::API_VERSION_1_3,
            &[c"vkCmdBeginRenderingKHR", c"vkCmdEndRenderingKHR"],
        ),
        (
            C::TIMELINE_SEMAPHORE,
            vk::API_VERSION_1_2,
            &[c"vkGetSemaphoreCounterValueKHR", c"vkWaitSemaphoresKHR"],
        ),
        (
            C::MAINTENANCE_4,
            vk::API_VERSION_1_3,
            &[
                c"vkGetDeviceBufferMemoryRequirementsKHR",
                c"vkGetDeviceImageMemoryRequirementsKHR",
            ],
        ),
        (
            C::BUFFER_DEVICE_ADDRESS,
            vk::API_VERSION_1_2,
            &[c"vkGetBufferDeviceAddressKHR"],
        ),
        (
            C::DEPTH_STENCIL_RESOLVE,
            vk::API_VERSION_1_2,
            &[c"vkCreateRenderPass2KHR"],
        ),
        (
            C::SUBPASS_MERGE_FEEDBACK,
            vk::API_VERSION_1_2,
            &[c"vkCreateRenderPass2KHR"],
        ),
        (
            C::LOCAL_READ,
            V1_4,
            &[
                c"vkCmdSetRenderingAttachmentLocationsKHR",
                c"vkCmdSetRenderingInputAttachmentIndicesKHR",
            ],
        ),
        (
            C::DEBUG_UTILS,
            NEVER,
            &[
                c"vkSetDebugUtilsObjectNameEXT",
                c"vkCmdBeginDebugUtilsLabelEXT",
                c"vkCmdEndDebugUtilsLabelEXT",
            ],
        ),
    ]
};

/// Loads the functions of a device that has these capabilities and supports this version of Vulkan.
///
/// # Safety
/// The device is null or alive, and one of the instance.
pub(crate) unsafe fn device(
    instance: &ash::Instance,
    device: vk::Device,
    version: u32,
    capabilities: Capabilities,
) -> Result<ash::Device, Fault> {
    if device == vk::Device::null() {
        return Err(Fault::null("device"));
    }
    // SAFETY: the device is alive and one of the instance, and names end in zero.
    let is_there = |name: &CStr| unsafe { instance.get_device_proc_addr(device, name.as_ptr()) }.is_some();
    let missing = |name: &CStr, why: &str| {
        let name = name.to_string_lossy();
        Fault::new(
            Status::ErrorVulkan,
            format!("vkGetDeviceProcAddr returned null for {name}{why}"),
        )
    };
    if let Some(name) = DEVICE_FUNCTIONS.into_iter().find(|name| !is_there(name)) {
        return Err(missing(name, ""));
    }
    let enabled = CAPABILITY_FUNCTIONS.iter();
    for (capability, core, names) in enabled.filter(|(one, ..)| capabilities.contains(*one)) {
        for name in *names {
            let promoted = name.to_bytes().strip_suffix(b"KHR").filter(|_| version >= *core);
            let name = match promoted.map(CString::new) {
                Some(Ok(core)) => core,
                _ => CStr::to_owned(name),
            };
            if !is_there(&name) {
                let why = match *capability {
                    Capabilities::DEBUG_UTILS => {
                        ": create the instance with VK_EXT_debug_utils, \
                         or create the device additions with debugNames set to VK_FALSE"
                    }
                    _ => ": create the device with thGetDeviceCreateInfo",
                };
                return Err(missing(&name, why));
            }
        }
    }
    // SAFETY: as above.
    Ok(unsafe { ash::Device::load(instance.fp_v1_0(), device) })
}
