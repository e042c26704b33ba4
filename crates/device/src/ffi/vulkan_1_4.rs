//! <https://registry.khronos.org/vulkan/specs/latest/man/html/VK_VERSION_1_4.html>
//!
//! The features of Vulkan 1.4, which a caller may enable in place of the features of the extensions that Vulkan 1.4 includes
//! (`VUID-VkDeviceCreateInfo-pNext-10360`).

use ash::vk;

use super::declare::{layouts, structure};

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkPhysicalDeviceVulkan14Features.html>
    ///
    /// Source: `VUID-VkPhysicalDeviceVulkan14Features-sType-sType`.
    PhysicalDeviceVulkan14Features, s_type 55, p_next *mut,
    extends [ExtendsPhysicalDeviceFeatures2, ExtendsDeviceCreateInfo] {
        /// Queries of the global priorities that a queue family supports.
        global_priority_query: bool => vk::Bool32,
        /// Rotations within subgroups.
        shader_subgroup_rotate: bool => vk::Bool32,
        /// Rotations within clusters of subgroups.
        shader_subgroup_rotate_clustered: bool => vk::Bool32,
        /// Floating-point execution modes (`SPV_KHR_float_controls2`).
        shader_float_controls2: bool => vk::Bool32,
        /// `OpExpectKHR` and `OpAssumeTrueKHR`.
        shader_expect_assume: bool => vk::Bool32,
        /// Rectangular lines.
        rectangular_lines: bool => vk::Bool32,
        /// Bresenham lines.
        bresenham_lines: bool => vk::Bool32,
        /// Smooth lines.
        smooth_lines: bool => vk::Bool32,
        /// Stippled rectangular lines.
        stippled_rectangular_lines: bool => vk::Bool32,
        /// Stippled Bresenham lines.
        stippled_bresenham_lines: bool => vk::Bool32,
        /// Stippled smooth lines.
        stippled_smooth_lines: bool => vk::Bool32,
        /// Vertex attributes that advance every few instances.
        vertex_attribute_instance_rate_divisor: bool => vk::Bool32,
        /// Vertex attributes that never advance.
        vertex_attribute_instance_rate_zero_divisor: bool => vk::Bool32,
        /// Indices of 8 bits.
        index_type_uint8: bool => vk::Bool32,
        /// Reads of attachments at the fragment's own pixel in dynamic rendering.
        dynamic_rendering_local_read: bool => vk::Bool32,
        /// `VK_KHR_maintenance5`.
        maintenance5: bool => vk::Bool32,
        /// `VK_KHR_maintenance6`.
        maintenance6: bool => vk::Bool32,
        /// Pipelines restricted to protected command buffers, or to unprotected ones.
        pipeline_protected_access: bool => vk::Bool32,
        /// Robustness chosen for each pipeline.
        pipeline_robustness: bool => vk::Bool32,
        /// Copies between images and host memory.
        host_image_copy: bool => vk::Bool32,
        /// Descriptors pushed to command buffers.
        push_descriptor: bool => vk::Bool32,
    }
}

layouts! {
    PhysicalDeviceVulkan14Features: 104 { p_next 8, global_priority_query 16, dynamic_rendering_local_read 72, push_descriptor 96 }
}
