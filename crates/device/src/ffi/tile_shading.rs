//! <https://registry.khronos.org/vulkan/specs/latest/man/html/VK_QCOM_tile_shading.html>
//!
//! Draws and dispatches that run once per tile and reach attachments through tile memory. Needs
//! `VK_QCOM_tile_properties`. With `VK_QCOM_tile_memory_heap`, resources in the heap can be read and written by such
//! shaders; the memory object then bound has the size that
//! [`TileMemorySizeInfoQCOM`](super::TileMemorySizeInfoQCOM) declared for the pass.
//!
//! Rules in addition to those named on the items below: of all draws and dispatches in a tile shading pass
//! `VUID-{command}-None-10672`, `-None-10674` to `-10679`, `-None-10743`, `-aspectMask-10673`; of shaders
//! `VUID-RuntimeSpirv-TileShadingQCOM-10698` to `-10701`, `VUID-RuntimeSpirv-tileShadingImageProcessing-10712`.

use std::ffi::CStr;

use ash::vk;

use super::declare::{layouts, loader, structure};

/// The extension's name.
pub const NAME: &CStr = c"VK_QCOM_tile_shading";
/// The revision that this binding follows.
pub const SPEC_VERSION: u32 = 2;

/// `VK_ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM`.
pub const ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM: vk::AccessFlags2 =
    vk::AccessFlags2::from_raw(1 << 51);
/// `VK_ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM`.
pub const ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM: vk::AccessFlags2 =
    vk::AccessFlags2::from_raw(1 << 52);
/// `VK_SUBPASS_DESCRIPTION_TILE_SHADING_APRON_BIT_QCOM`: without it the subpass has no apron.
pub const SUBPASS_DESCRIPTION_TILE_SHADING_APRON_BIT_QCOM: vk::SubpassDescriptionFlags =
    vk::SubpassDescriptionFlags::from_raw(1 << 8);

pub use flags::TileShadingRenderPassFlagsQCOM;

mod flags {
    #![allow(missing_docs, reason = "ash's macro documents none of its methods")]

    use std::fmt;

    use ash::vk;

    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkTileShadingRenderPassFlagBitsQCOM.html>
    #[repr(transparent)]
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct TileShadingRenderPassFlagsQCOM(vk::Flags);

    ash::vk_bitflags_wrapped!(TileShadingRenderPassFlagsQCOM, vk::Flags);

    impl TileShadingRenderPassFlagsQCOM {
        /// The render pass has tile shading.
        pub const ENABLE: Self = Self(0b1);
        /// A secondary command buffer runs inside per-tile execution.
        pub const PER_TILE_EXECUTION: Self = Self(0b10);
    }

    /// Names joined by `|`, unknown bits in binary, as `ash` prints its own flags.
    impl fmt::Debug for TileShadingRenderPassFlagsQCOM {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let mut rest = self.0;
            let mut separator = "";
            for (bit, name) in [
                (Self::ENABLE, "ENABLE"),
                (Self::PER_TILE_EXECUTION, "PER_TILE_EXECUTION"),
            ] {
                if self.contains(bit) {
                    write!(f, "{separator}{name}")?;
                    separator = " | ";
                    rest &= !bit.0;
                }
            }
            if rest != 0 {
                write!(f, "{separator}{rest:b}")?;
            }
            Ok(())
        }
    }
}

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkPhysicalDeviceTileShadingFeaturesQCOM.html>
    ///
    /// Source: `VUID-VkPhysicalDeviceTileShadingFeaturesQCOM-sType-sType`.
    ///
    /// Features are not properties:
    /// ```compile_fail,E0277
    /// use ash::vk;
    /// let mut features = tileheap_device::ffi::PhysicalDeviceTileShadingFeaturesQCOM::default().tile_shading(true);
    /// let properties = vk::PhysicalDeviceProperties2::default().push_next(&mut features);
    /// assert!(!properties.p_next.is_null());
    /// ```
    PhysicalDeviceTileShadingFeaturesQCOM, s_type 1_000_309_000, p_next *mut,
    extends [ExtendsPhysicalDeviceFeatures2, ExtendsDeviceCreateInfo] {
        /// Tile shading render passes.
        tile_shading: bool => vk::Bool32,
        /// Tile attachments in fragment shaders.
        tile_shading_fragment_stage: bool => vk::Bool32,
        /// Tile attachments that are color attachments.
        tile_shading_color_attachments: bool => vk::Bool32,
        /// Tile attachments that are depth attachments.
        tile_shading_depth_attachments: bool => vk::Bool32,
        /// Tile attachments that are stencil attachments.
        tile_shading_stencil_attachments: bool => vk::Bool32,
        /// Tile attachments that are input attachments.
        tile_shading_input_attachments: bool => vk::Bool32,
        /// Tile attachments that are sampled.
        tile_shading_sampled_attachments: bool => vk::Bool32,
        /// Draws once per tile.
        tile_shading_per_tile_draw: bool => vk::Bool32,
        /// Dispatches once per tile.
        tile_shading_per_tile_dispatch: bool => vk::Bool32,
        /// [`Device::cmd_dispatch_tile`].
        tile_shading_dispatch_tile: bool => vk::Bool32,
        /// Tiles with an apron.
        tile_shading_apron: bool => vk::Bool32,
        /// Aprons whose width and height differ.
        tile_shading_anisotropic_apron: bool => vk::Bool32,
        /// Atomics on tile attachments.
        tile_shading_atomic_ops: bool => vk::Bool32,
        /// Image processing instructions on tile attachments.
        tile_shading_image_processing: bool => vk::Bool32,
    }
}

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkPhysicalDeviceTileShadingPropertiesQCOM.html>
    ///
    /// Source: `VUID-VkPhysicalDeviceTileShadingPropertiesQCOM-sType-sType`.
    ///
    /// A device is created with features, not with properties:
    /// ```compile_fail,E0277
    /// use ash::vk;
    /// let mut tile = tileheap_device::ffi::PhysicalDeviceTileShadingPropertiesQCOM::default();
    /// let info = vk::DeviceCreateInfo::default().push_next(&mut tile);
    /// assert!(!info.p_next.is_null());
    /// ```
    PhysicalDeviceTileShadingPropertiesQCOM, s_type 1_000_309_001, p_next *mut,
    extends [ExtendsPhysicalDeviceProperties2] {
        /// Largest apron in either dimension, in pixels.
        max_apron_size: u32,
        /// True if the device prefers tile attachments decorated `NonCoherentTileAttachmentReadQCOM`.
        prefer_non_coherent: bool => vk::Bool32,
        /// The width and height that tile dimensions are multiples of, in pixels.
        tile_granularity: vk::Extent2D,
        /// Largest shading rate of a tile dispatch, in pixels per invocation.
        max_tile_shading_rate: vk::Extent2D,
    }
}

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkRenderPassTileShadingCreateInfoQCOM.html>
    ///
    /// Source: `VUID-VkRenderPassTileShadingCreateInfoQCOM-tileShading-10658`, `-flags-10659`, `-flags-10660`,
    /// `-tileShadingAnisotropicApron-10661`, `-tileApronSize-10662`, `-tileApronSize-10663`, `-flags-parameter`,
    /// `-sType-sType`.
    ///
    /// It belongs to the creation of a render pass, not to its beginning:
    /// ```compile_fail,E0277
    /// use ash::vk;
    /// let mut shading = tileheap_device::ffi::RenderPassTileShadingCreateInfoQCOM::default();
    /// let begin = vk::RenderPassBeginInfo::default().push_next(&mut shading);
    /// assert!(!begin.p_next.is_null());
    /// ```
    RenderPassTileShadingCreateInfoQCOM, s_type 1_000_309_002, p_next *const,
    extends [
        ExtendsRenderPassCreateInfo,
        ExtendsRenderPassCreateInfo2,
        ExtendsRenderingInfo,
        ExtendsCommandBufferInheritanceInfo
    ] {
        /// Flags that enable tile shading, and that mark a secondary command buffer as executed per tile.
        flags: TileShadingRenderPassFlagsQCOM,
        /// Pixels around a tile that its shaders can read.
        tile_apron_size: vk::Extent2D,
    }
}

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkPerTileBeginInfoQCOM.html>
    ///
    /// Source: `VUID-VkPerTileBeginInfoQCOM-sType-sType`, `-pNext-pNext`.
    PerTileBeginInfoQCOM, s_type 1_000_309_003, p_next *const, extends [] {}
}

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkPerTileEndInfoQCOM.html>
    ///
    /// Source: `VUID-VkPerTileEndInfoQCOM-sType-sType`, `-pNext-pNext`.
    PerTileEndInfoQCOM, s_type 1_000_309_004, p_next *const, extends [] {}
}

structure! {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/VkDispatchTileInfoQCOM.html>
    ///
    /// Source: `VUID-VkDispatchTileInfoQCOM-sType-sType`, `-pNext-pNext`.
    DispatchTileInfoQCOM, s_type 1_000_309_005, p_next *const, extends [] {}
}

layouts! {
    PhysicalDeviceTileShadingFeaturesQCOM: 72 {
        p_next 8, tile_shading 16, tile_shading_fragment_stage 20, tile_shading_color_attachments 24,
        tile_shading_depth_attachments 28, tile_shading_stencil_attachments 32,
        tile_shading_input_attachments 36, tile_shading_sampled_attachments 40, tile_shading_per_tile_draw 44,
        tile_shading_per_tile_dispatch 48, tile_shading_dispatch_tile 52, tile_shading_apron 56,
        tile_shading_anisotropic_apron 60, tile_shading_atomic_ops 64, tile_shading_image_processing 68
    }
    PhysicalDeviceTileShadingPropertiesQCOM: 40 {
        p_next 8, max_apron_size 16, prefer_non_coherent 20, tile_granularity 24, max_tile_shading_rate 32
    }
    RenderPassTileShadingCreateInfoQCOM: 32 { p_next 8, flags 16, tile_apron_size 20 }
    PerTileBeginInfoQCOM: 16 { p_next 8 }
    PerTileEndInfoQCOM: 16 { p_next 8 }
    DispatchTileInfoQCOM: 16 { p_next 8 }
}

/// <https://registry.khronos.org/vulkan/specs/latest/man/html/vkCmdBeginPerTileExecutionQCOM.html>
#[allow(non_camel_case_types, reason = "ash's names for function pointer types")]
pub type PFN_vkCmdBeginPerTileExecutionQCOM = unsafe extern "system" fn(
    command_buffer: vk::CommandBuffer,
    p_per_tile_begin_info: *const PerTileBeginInfoQCOM<'_>,
);
/// <https://registry.khronos.org/vulkan/specs/latest/man/html/vkCmdEndPerTileExecutionQCOM.html>
#[allow(non_camel_case_types, reason = "ash's names for function pointer types")]
pub type PFN_vkCmdEndPerTileExecutionQCOM = unsafe extern "system" fn(
    command_buffer: vk::CommandBuffer,
    p_per_tile_end_info: *const PerTileEndInfoQCOM<'_>,
);
/// <https://registry.khronos.org/vulkan/specs/latest/man/html/vkCmdDispatchTileQCOM.html>
#[allow(non_camel_case_types, reason = "ash's names for function pointer types")]
pub type PFN_vkCmdDispatchTileQCOM = unsafe extern "system" fn(
    command_buffer: vk::CommandBuffer,
    p_dispatch_tile_info: *const DispatchTileInfoQCOM<'_>,
);

loader! {
    /// `vkCmdDispatchTileQCOM`.
    cmd_dispatch_tile_qcom: PFN_vkCmdDispatchTileQCOM = c"vkCmdDispatchTileQCOM",
    /// `vkCmdBeginPerTileExecutionQCOM`.
    cmd_begin_per_tile_execution_qcom: PFN_vkCmdBeginPerTileExecutionQCOM = c"vkCmdBeginPerTileExecutionQCOM",
    /// `vkCmdEndPerTileExecutionQCOM`.
    cmd_end_per_tile_execution_qcom: PFN_vkCmdEndPerTileExecutionQCOM = c"vkCmdEndPerTileExecutionQCOM",
}

impl Device {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/vkCmdDispatchTileQCOM.html>
    ///
    /// # Safety
    /// Per-tile execution has begun (`VUID-vkCmdDispatchTileQCOM-None-10668`), the feature `tileShadingDispatchTile` is on
    /// (`-None-10669`), and the requirements of every dispatch, `-commandBuffer-10746` included, are met.
    #[inline]
    pub unsafe fn cmd_dispatch_tile(
        &self,
        command_buffer: vk::CommandBuffer,
        dispatch_tile_info: &DispatchTileInfoQCOM<'_>,
    ) {
        // SAFETY: Guaranteed by the caller.
        unsafe { (self.fp.cmd_dispatch_tile_qcom)(command_buffer, dispatch_tile_info) }
    }

    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/vkCmdBeginPerTileExecutionQCOM.html>
    ///
    /// # Safety
    /// `command_buffer` records a tile shading render pass (`VUID-vkCmdBeginPerTileExecutionQCOM-None-10664`,
    /// `-commandBuffer-recording`, `-commandBuffer-cmdpool`, `-renderpass`, `-videocoding`), and a per-tile feature is on
    /// (`-None-10665`).
    #[inline]
    pub unsafe fn cmd_begin_per_tile_execution(
        &self,
        command_buffer: vk::CommandBuffer,
        per_tile_begin_info: &PerTileBeginInfoQCOM<'_>,
    ) {
        // SAFETY: Guaranteed by the caller.
        unsafe { (self.fp.cmd_begin_per_tile_execution_qcom)(command_buffer, per_tile_begin_info) }
    }

    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/vkCmdEndPerTileExecutionQCOM.html>
    ///
    /// # Safety
    /// `command_buffer` records a tile shading render pass (`VUID-vkCmdEndPerTileExecutionQCOM-None-10667`) in which
    /// per-tile execution has begun (`-None-10666`).
    #[inline]
    pub unsafe fn cmd_end_per_tile_execution(
        &self,
        command_buffer: vk::CommandBuffer,
        per_tile_end_info: &PerTileEndInfoQCOM<'_>,
    ) {
        // SAFETY: Guaranteed by the caller.
        unsafe { (self.fp.cmd_end_per_tile_execution_qcom)(command_buffer, per_tile_end_info) }
    }
}
