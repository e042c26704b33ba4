//! The commands that the layer hooks or calls.

use std::ffi::c_void;

use ash::vk;

/// `vkCmdEndRendering2KHR` and other commands that ash 0.38 lacks, which take a command buffer and a structure.
pub(crate) type WithInfo = unsafe extern "system" fn(vk::CommandBuffer, *const c_void);
/// `vkCmdExecuteGeneratedCommandsEXT`, which ash 0.38 lacks.
pub(crate) type ExecuteGeneratedCommands =
    unsafe extern "system" fn(vk::CommandBuffer, vk::Bool32, *const c_void);
/// `vkCmdPreprocessGeneratedCommandsEXT`, which ash 0.38 lacks.
pub(crate) type PreprocessGeneratedCommands =
    unsafe extern "system" fn(vk::CommandBuffer, *const c_void, vk::CommandBuffer);
/// `vkCmdBeginTransformFeedback2EXT` and its counterpart, which ash 0.38 lacks: the first index, the number of structures, and the structures.
pub(crate) type WithInfos = unsafe extern "system" fn(vk::CommandBuffer, u32, u32, *const c_void);
/// `vkCmdDrawIndirectByteCount2EXT`, which ash 0.38 lacks.
pub(crate) type DrawIndirectByteCount =
    unsafe extern "system" fn(vk::CommandBuffer, u32, u32, *const c_void, u32, u32);
/// `vkCmdDecompressMemoryIndirectCountEXT`, which ash 0.38 lacks.
pub(crate) type DecompressMemoryIndirectCount =
    unsafe extern "system" fn(vk::CommandBuffer, u64, u64, u64, u32, u32);
/// `vkCmdConvertCooperativeVectorMatrixNV`, which ash 0.38 lacks.
pub(crate) type ConvertCooperativeVectorMatrix =
    unsafe extern "system" fn(vk::CommandBuffer, u32, *const c_void);
/// `vkCmdUpdateMemoryKHR`, which ash 0.38 lacks.
pub(crate) type UpdateMemory =
    unsafe extern "system" fn(vk::CommandBuffer, *const c_void, u32, vk::DeviceSize, *const c_void);
/// `vkCmdFillMemoryKHR`, which ash 0.38 lacks.
pub(crate) type FillMemory = unsafe extern "system" fn(vk::CommandBuffer, *const c_void, u32, u32);
/// `vkCmdCopyQueryPoolResultsToMemoryKHR`, which ash 0.38 lacks.
pub(crate) type CopyQueryResultsToMemory = unsafe extern "system" fn(
    vk::CommandBuffer,
    vk::QueryPool,
    u32,
    u32,
    *const c_void,
    u32,
    vk::QueryResultFlags,
);
/// `vkCmdCopyGpaSessionResultsAMD`, which ash 0.38 lacks.
pub(crate) type CopyGpaSessionResults = unsafe extern "system" fn(vk::CommandBuffer, u64);
/// `vkCmdDispatchGraphAMDX` and its indirect variant, with the size of the scratch memory.
pub(crate) type DispatchGraph = unsafe extern "system" fn(vk::CommandBuffer, u64, u64, *const c_void);
/// `vkCmdDispatchGraphIndirectCountAMDX`: the counts are given by address.
pub(crate) type DispatchGraphIndirectCount = unsafe extern "system" fn(vk::CommandBuffer, u64, u64, u64);
/// `vkCmdInitializeGraphScratchMemoryAMDX`, with the pipeline and the size of the scratch memory.
pub(crate) type InitializeGraphScratchMemory = unsafe extern "system" fn(vk::CommandBuffer, u64, u64, u64);
/// `vkCmdDispatchDataGraphARM`, which ash 0.38 lacks: a handle and a structure.
pub(crate) type DispatchDataGraph = unsafe extern "system" fn(vk::CommandBuffer, u64, *const c_void);

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
