//! The commands of the layer's own extensions, and the commands that these extensions change.

use std::ffi::c_void;

use ash::vk;
use tileheap_device::ffi::tile_memory_heap::PFN_vkCmdBindTileMemoryQCOM;

/// The signature of the commands of `VK_QCOM_tile_shading`.
pub(crate) type PerTileCommand = unsafe extern "system" fn(vk::CommandBuffer, *const c_void);

/// Passes every command to the macro `$for_each`, as `command is entry point: pointer type, field of Enabled;`: the command can be looked up on
/// devices that have enabled its extension or feature.
macro_rules! own_commands {
    ($for_each:ident) => {
        $for_each! {
        vkCmdBindTileMemoryQCOM is vkCmdBindTileMemoryQCOM: PFN_vkCmdBindTileMemoryQCOM, tile_memory_heap;
        vkGetFramebufferTilePropertiesQCOM is vkGetFramebufferTilePropertiesQCOM:
            vk::PFN_vkGetFramebufferTilePropertiesQCOM, tile_properties;
        vkGetDynamicRenderingTilePropertiesQCOM is vkGetDynamicRenderingTilePropertiesQCOM:
            vk::PFN_vkGetDynamicRenderingTilePropertiesQCOM, tile_properties;
        vkCmdBeginPerTileExecutionQCOM is vkCmdBeginPerTileExecutionQCOM: PerTileCommand, tile_shading;
        vkCmdEndPerTileExecutionQCOM is vkCmdEndPerTileExecutionQCOM: PerTileCommand, tile_shading;
        vkCmdDispatchTileQCOM is vkCmdDispatchTileQCOM: PerTileCommand, tile_shading;
        vkCmdDispatch is dispatch_per_tile: vk::PFN_vkCmdDispatch, per_tile;
        vkCmdDispatchBase is dispatch_base_per_tile: vk::PFN_vkCmdDispatchBase, per_tile;
        vkCmdDispatchBaseKHR is dispatch_base_khr_per_tile: vk::PFN_vkCmdDispatchBase, per_tile;
        vkCmdDispatchIndirect is dispatch_indirect_per_tile: vk::PFN_vkCmdDispatchIndirect, per_tile;
        }
    };
}
pub(crate) use own_commands;

macro_rules! table {
    ($($command:ident is $entry:ident: $pointer:ty, $enabled:ident;)+) => {
        /// The types of the layer's own commands, which the next layer does not have.
        #[allow(non_snake_case, reason = "Vulkan's names")]
        pub(crate) struct OwnTable {
            $(pub(crate) $entry: Option<$pointer>,)+
        }
    };
}
own_commands!(table);
