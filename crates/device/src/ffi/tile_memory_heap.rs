//! <https://registry.khronos.org/vulkan/specs/latest/man/html/VK_QCOM_tile_memory_heap.html>
//!
//! A heap of on-chip memory. A memory object of N bytes is the heap's prefix `[0, N)`; binding it to a command buffer
//! reserves that prefix for the application; contents last until the end of the batch, or of the submit if
//! `queueSubmitBoundary` is true.
//!
//! Rules that this extension adds to core Vulkan commands, by subject:
//!
//! | Governs | VUIDs |
//! |---|---|
//! | allocation | `VUID-vkAllocateMemory-tileMemoryHeap-10976`, `VUID-vkAllocateMemory-pAllocateInfo-01713` |
//! | creating buffers | `VUID-VkBufferCreateInfo-tileMemoryHeap-10762`, `-usage-10763`, `-usage-10764` |
//! | creating images | `VUID-VkImageCreateInfo-tileMemoryHeap-10766` |
//! | binding buffers | `VUID-vkBindBufferMemory-None-10739`, `-memory-10740`, `-None-10741`, `-memory-10742`, and the same of `VkBindBufferMemoryInfo` |
//! | binding images | `VUID-vkBindImageMemory-None-10735`, `-memory-10736`, `-None-10737`, `-memory-10738`; `VUID-VkBindImageMemoryInfo-pNext-12329`, `-pNext-12330` |
//! | draws and dispatches | `VUID-{command}-commandBuffer-10746`: only resources of the memory object that is bound, by identity |
//! | resolve attachments | `VUID-VkRenderingAttachmentInfo-resolveImageView-10728`, `VUID-VkFramebufferCreateInfo-pAttachments-12327`, `VUID-VkRenderPassBeginInfo-framebuffer-12328` |
//! | secondary command buffers | `VUID-vkCmdExecuteCommands-memory-10724` |

use std::ffi::CStr;
use std::ptr;

use ash::vk;

use super::declare::{layouts, loader, structure};

/// The extension's name.
pub const NAME: &CStr = c"VK_QCOM_tile_memory_heap";
/// The revision that this binding follows.
pub const SPEC_VERSION: u32 = 1;

/// `VK_MEMORY_HEAP_TILE_MEMORY_BIT_QCOM`: the heap is tile memory. No memory *property* flag marks its memory types.
pub const MEMORY_HEAP_TILE_MEMORY_BIT_QCOM: vk::MemoryHeapFlags = vk::MemoryHeapFlags::from_raw(1 << 3);

/// `VK_BUFFER_USAGE_TILE_MEMORY_BIT_QCOM`.
///
/// Source: `VUID-VkBufferCreateInfo-tileMemoryHeap-10762`, `-usage-10763` (flags that it excludes), `-usage-10764` (usages that it can be combined with).
pub const BUFFER_USAGE_TILE_MEMORY_BIT_QCOM: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(1 << 27);

/// `VK_BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM`, for `VkBufferUsageFlags2CreateInfo`.
pub const BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM: vk::BufferUsageFlags2KHR =
    vk::BufferUsageFlags2KHR::from_raw(1 << 27);

/// `VK_IMAGE_USAGE_TILE_MEMORY_BIT_QCOM`.
///
/// Source: `VUID-VkImageCreateInfo-tileMemoryHeap-10766`.
pub const IMAGE_USAGE_TILE_MEMORY_BIT_QCOM: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(1 << 27);

/// `VK_IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM`, for the 64-bit usage of `VK_KHR_extended_flags`, a type that ash lacks.
pub const IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM: vk::Flags64 = 1 << 27;

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkPhysicalDeviceTileMemoryHeapFeaturesQCOM.html>
    ///
    /// Source: `VUID-VkPhysicalDeviceTileMemoryHeapFeaturesQCOM-sType-sType`.
    ///
    /// ```
    /// use ash::vk;
    /// let mut features = tileheap_device::ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default().tile_memory_heap(true);
    /// let info = vk::DeviceCreateInfo::default().push_next(&mut features);
    /// assert!(!info.p_next.is_null());
    /// ```
    /// It extends only features and devices:
    /// ```compile_fail,E0277
    /// use ash::vk;
    /// let mut features = tileheap_device::ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default().tile_memory_heap(true);
    /// let info = vk::InstanceCreateInfo::default().push_next(&mut features);
    /// assert!(!info.p_next.is_null());
    /// ```
    PhysicalDeviceTileMemoryHeapFeaturesQCOM, s_type 1_000_547_000, p_next *mut,
    extends [ExtendsPhysicalDeviceFeatures2, ExtendsDeviceCreateInfo] {
        /// Tile memory can be allocated, and tile usage bits can be used.
        tile_memory_heap: bool => vk::Bool32,
    }
}

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkPhysicalDeviceTileMemoryHeapPropertiesQCOM.html>
    ///
    /// Source: `VUID-VkPhysicalDeviceTileMemoryHeapPropertiesQCOM-sType-sType`.
    ///
    /// Properties are not features:
    /// ```compile_fail,E0277
    /// use ash::vk;
    /// let mut tile = tileheap_device::ffi::PhysicalDeviceTileMemoryHeapPropertiesQCOM::default();
    /// let features = vk::PhysicalDeviceFeatures2::default().push_next(&mut tile);
    /// assert!(!features.p_next.is_null());
    /// ```
    PhysicalDeviceTileMemoryHeapPropertiesQCOM, s_type 1_000_547_001, p_next *mut,
    extends [ExtendsPhysicalDeviceProperties2] {
        /// Contents persist until the end of the submit call, not only until the end of the batch.
        queue_submit_boundary: bool => vk::Bool32,
        /// Buffers in tile memory can be copied from and to.
        tile_buffer_transfers: bool => vk::Bool32,
    }
}

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkTileMemoryRequirementsQCOM.html>
    ///
    /// Size and alignment 0: the resource cannot be placed in tile memory. The alignment need not be a power of two.
    ///
    /// Source: `VUID-VkTileMemoryRequirementsQCOM-sType-sType`.
    ///
    /// It is an output and not part of an allocation:
    /// ```compile_fail,E0277
    /// use ash::vk;
    /// let mut tile = tileheap_device::ffi::TileMemoryRequirementsQCOM::default();
    /// let allocation = vk::MemoryAllocateInfo::default().push_next(&mut tile);
    /// assert!(!allocation.p_next.is_null());
    /// ```
    TileMemoryRequirementsQCOM, s_type 1_000_547_002, p_next *mut, extends [ExtendsMemoryRequirements2] {
        /// Bytes that the resource takes up in a tile memory object.
        size: vk::DeviceSize,
        /// Required alignment of the offset in a tile memory object.
        alignment: vk::DeviceSize,
    }
}

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkTileMemoryBindInfoQCOM.html>
    ///
    /// The argument of [`Device::cmd_bind_tile_memory`], and chained to the inheritance of a secondary command buffer
    /// that runs inside a render pass.
    ///
    /// Source: `VUID-VkTileMemoryBindInfoQCOM-memory-10726` (memory of a tile heap), `-memory-parameter`, `-sType-sType`;
    /// `VUID-vkCmdExecuteCommands-memory-10724` (the size of the memory that the primary has bound).
    ///
    /// A primary command buffer, and rendering without secondaries, take no such structure:
    /// ```compile_fail,E0277
    /// use ash::vk;
    /// let mut bind = tileheap_device::ffi::TileMemoryBindInfoQCOM::default();
    /// let begin = vk::CommandBufferBeginInfo::default().push_next(&mut bind);
    /// assert!(!begin.p_next.is_null());
    /// ```
    /// ```compile_fail,E0277
    /// use ash::vk;
    /// let mut bind = tileheap_device::ffi::TileMemoryBindInfoQCOM::default();
    /// let rendering = vk::RenderingInfo::default().push_next(&mut bind);
    /// assert!(!rendering.p_next.is_null());
    /// ```
    TileMemoryBindInfoQCOM, s_type 1_000_547_003, p_next *const, extends [ExtendsCommandBufferInheritanceInfo] {
        /// The memory object. To unbind, the command is called without this structure.
        memory: vk::DeviceMemory,
    }
}

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkTileMemorySizeInfoQCOM.html>
    ///
    /// The number of bytes that will be bound while a render pass runs, from which its tile properties follow;
    /// only with `VK_QCOM_tile_properties`. `vkCmdBeginRendering` ignores it.
    ///
    /// Source: `VUID-VkTileMemorySizeInfoQCOM-size-10729` (not above the largest tile heap), `-sType-sType`.
    ///
    /// It is not part of an inheritance:
    /// ```compile_fail,E0277
    /// use ash::vk;
    /// let mut size = tileheap_device::ffi::TileMemorySizeInfoQCOM::default().size(4096);
    /// let inheritance = vk::CommandBufferInheritanceInfo::default().push_next(&mut size);
    /// assert!(!inheritance.p_next.is_null());
    /// ```
    TileMemorySizeInfoQCOM, s_type 1_000_547_004, p_next *const,
    extends [ExtendsRenderPassCreateInfo, ExtendsRenderPassCreateInfo2, ExtendsRenderingInfo] {
        /// Size of the tile memory object, in bytes; 0 has the same effect as omitting the structure.
        size: vk::DeviceSize,
    }
}

layouts! {
    PhysicalDeviceTileMemoryHeapFeaturesQCOM: 24 { p_next 8, tile_memory_heap 16 }
    PhysicalDeviceTileMemoryHeapPropertiesQCOM: 24 {
        p_next 8, queue_submit_boundary 16, tile_buffer_transfers 20
    }
    TileMemoryRequirementsQCOM: 32 { p_next 8, size 16, alignment 24 }
    TileMemoryBindInfoQCOM: 24 { p_next 8, memory 16 }
    TileMemorySizeInfoQCOM: 24 { p_next 8, size 16 }
}

/// <https://registry.khronos.org/vulkan/specs/latest/man/html/vkCmdBindTileMemoryQCOM.html>
#[allow(non_camel_case_types, reason = "ash's names for function pointer types")]
pub type PFN_vkCmdBindTileMemoryQCOM = unsafe extern "system" fn(
    command_buffer: vk::CommandBuffer,
    p_tile_memory_bind_info: *const TileMemoryBindInfoQCOM<'_>,
);

loader! {
    /// `vkCmdBindTileMemoryQCOM`.
    cmd_bind_tile_memory_qcom: PFN_vkCmdBindTileMemoryQCOM = c"vkCmdBindTileMemoryQCOM",
}

impl Device {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/vkCmdBindTileMemoryQCOM.html>
    ///
    /// `None` unbinds: the next action command then discards all tile contents. The end of the command buffer unbinds
    /// too.
    ///
    /// # Safety
    /// `command_buffer` was allocated from this device, is in the recording state outside a render pass and outside video
    /// coding, and its pool's family has graphics or compute
    /// (`VUID-vkCmdBindTileMemoryQCOM-commandBuffer-recording`, `-renderpass`, `-videocoding`, `-commandBuffer-cmdpool`);
    /// the memory is of this device and of a tile heap (`VUID-VkTileMemoryBindInfoQCOM-memory-10726`); the extension's
    /// feature is on.
    #[inline]
    pub unsafe fn cmd_bind_tile_memory(
        &self,
        command_buffer: vk::CommandBuffer,
        tile_memory_bind_info: Option<&TileMemoryBindInfoQCOM<'_>>,
    ) {
        let info = tile_memory_bind_info.map_or(ptr::null(), ptr::from_ref);
        // SAFETY: Guaranteed by the caller; null is allowed (`VUID-vkCmdBindTileMemoryQCOM-pTileMemoryBindInfo-parameter`).
        unsafe { (self.fp.cmd_bind_tile_memory_qcom)(command_buffer, info) }
    }
}
