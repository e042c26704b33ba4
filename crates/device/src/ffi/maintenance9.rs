//! <https://registry.khronos.org/vulkan/specs/latest/man/html/VK_KHR_maintenance9.html>
//!
//! The feature, for barriers that name slices of 3D images (`VUID-VkImageMemoryBarrier2-maintenance9-10798`, `-10799`, `-10800`), and the queue
//! families that share images without a transfer. The rest of the extension is not bound.

use std::ffi::CStr;

use ash::vk;

use super::declare::{layouts, structure};

/// `VK_KHR_maintenance9`.
pub const NAME: &CStr = c"VK_KHR_maintenance9";

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkPhysicalDeviceMaintenance9FeaturesKHR.html>
    ///
    /// Source: `VUID-VkPhysicalDeviceMaintenance9FeaturesKHR-sType-sType`.
    PhysicalDeviceMaintenance9FeaturesKHR, s_type 1_000_584_000, p_next *mut,
    extends [ExtendsPhysicalDeviceFeatures2, ExtendsDeviceCreateInfo] {
        /// Barriers of 3D images that are compatible with 2D arrays apply only to the slices that they name.
        maintenance9: bool => vk::Bool32,
    }
}

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkQueueFamilyOwnershipTransferPropertiesKHR.html>
    ///
    /// Source: `VUID-VkQueueFamilyOwnershipTransferPropertiesKHR-sType-sType`.
    QueueFamilyOwnershipTransferPropertiesKHR, s_type 1_000_584_002, p_next *mut,
    extends [ExtendsQueueFamilyProperties2] {
        /// Bit mask of the queue families that need no ownership transfer to access images with optimal tiling that this family owns.
        optimal_image_transfer_to_queue_families: u32,
    }
}

layouts! {
    PhysicalDeviceMaintenance9FeaturesKHR: 24 { p_next 8, maintenance9 16 }
    QueueFamilyOwnershipTransferPropertiesKHR: 24 { p_next 8, optimal_image_transfer_to_queue_families 16 }
}
