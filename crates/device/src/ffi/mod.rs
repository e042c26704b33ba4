//! Bindings that `ash` 0.38 lacks, in the style of `ash`: structures, constants and commands; no policy.
//!
//! ```text
//! vk::MemoryRequirements2 ──p_next──► TileMemoryRequirementsQCOM          size 0: cannot be placed in tile memory
//! vk::CommandBufferInheritanceInfo ──► TileMemoryBindInfoQCOM ──► memory  inside a render pass
//! tile_memory_heap::Device::cmd_bind_tile_memory(cmd, Some(&TileMemoryBindInfoQCOM))   outside one
//! ```
//! One module per extension or version, each with its `NAME`, `SPEC_VERSION`, structures, constants and a `Device` that loads its
//! commands. Structures and constants are also named here, as `ash::vk` does. Structures chain with `ash`'s `push_next`
//! exactly where the registry says `structextends`; other chains do not compile.
//!
//! Unlike `ash`'s own loaders, `Device::new` fails if a command is missing instead of storing a function that panics
//! when called: some drivers advertise an extension's name and nothing else, so detection needs to know about
//! missing pointers.
//!
//! Sizes, offsets and values were compared with those of the C header 1.4.363 (x86-64).
//!
//! Not bound: `VkImageUsageFlags2KHR`, the type that `VK_KHR_extended_flags` adds; its tile bit is here as a plain
//! [`vk::Flags64`](ash::vk::Flags64).

mod declare;
pub mod maintenance9;
pub mod tile_memory_heap;
pub mod tile_properties;
pub mod tile_shading;
pub mod vulkan_1_4;

use std::ffi::CStr;

pub use declare::MissingCommand;
pub use maintenance9::{PhysicalDeviceMaintenance9FeaturesKHR, QueueFamilyOwnershipTransferPropertiesKHR};
pub use tile_memory_heap::{
    BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM, BUFFER_USAGE_TILE_MEMORY_BIT_QCOM,
    IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM, MEMORY_HEAP_TILE_MEMORY_BIT_QCOM,
    PhysicalDeviceTileMemoryHeapFeaturesQCOM, PhysicalDeviceTileMemoryHeapPropertiesQCOM,
    TileMemoryBindInfoQCOM, TileMemoryRequirementsQCOM, TileMemorySizeInfoQCOM,
};
pub use tile_properties::{PhysicalDeviceTilePropertiesFeaturesQCOM, TilePropertiesQCOM};
pub use tile_shading::{
    ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM, ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM,
    DispatchTileInfoQCOM, PerTileBeginInfoQCOM, PerTileEndInfoQCOM, PhysicalDeviceTileShadingFeaturesQCOM,
    PhysicalDeviceTileShadingPropertiesQCOM, RenderPassTileShadingCreateInfoQCOM,
    SUBPASS_DESCRIPTION_TILE_SHADING_APRON_BIT_QCOM, TileShadingRenderPassFlagsQCOM,
};
pub use vulkan_1_4::PhysicalDeviceVulkan14Features;

/// The layer that adds an emulated tile memory heap to a driver: the package `tileheap-emulator`. `vkGetPhysicalDeviceToolProperties` returns it as the
/// `layer` of the emulator's entry.
pub const EMULATOR_LAYER_NAME: &CStr = c"VK_LAYER_TILEHEAP_emulator";
