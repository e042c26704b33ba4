//! <https://registry.khronos.org/vulkan/specs/latest/man/html/VK_QCOM_tile_properties.html>
//!
//! The size and position of the tiles into which a render pass is binned. A reservation of tile memory makes tiles
//! smaller: declare it with [`TileMemorySizeInfoQCOM`](super::TileMemorySizeInfoQCOM), or the result is not valid while
//! memory is bound.
//!
//! ash 0.38 has this extension's structures, function pointer types and raw loader, which are reexported here. This
//! module adds the two commands as methods and an error if one of them is missing.

use std::ptr;

use ash::prelude::VkResult;
use ash::vk;

use super::declare::{layouts, loader};

pub use ash::qcom::tile_properties::{NAME, SPEC_VERSION};
pub use ash::vk::{
    PFN_vkGetDynamicRenderingTilePropertiesQCOM, PFN_vkGetFramebufferTilePropertiesQCOM,
    PhysicalDeviceTilePropertiesFeaturesQCOM, TilePropertiesQCOM,
};

layouts! {
    PhysicalDeviceTilePropertiesFeaturesQCOM: 24 { p_next 8, tile_properties 16 }
    TilePropertiesQCOM: 48 { p_next 8, tile_size 16, apron_size 28, origin 36 }
}

loader! {
    /// `vkGetFramebufferTilePropertiesQCOM`.
    get_framebuffer_tile_properties_qcom: PFN_vkGetFramebufferTilePropertiesQCOM
        = c"vkGetFramebufferTilePropertiesQCOM",
    /// `vkGetDynamicRenderingTilePropertiesQCOM`.
    get_dynamic_rendering_tile_properties_qcom: PFN_vkGetDynamicRenderingTilePropertiesQCOM
        = c"vkGetDynamicRenderingTilePropertiesQCOM",
}

impl Device {
    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/vkGetFramebufferTilePropertiesQCOM.html>
    ///
    /// One element per subpass, or one for all subpasses.
    ///
    /// # Errors
    /// The driver's, such as `OUT_OF_HOST_MEMORY`.
    ///
    /// # Safety
    /// `framebuffer` is a live framebuffer of this device
    /// (`VUID-vkGetFramebufferTilePropertiesQCOM-framebuffer-parameter`, `-framebuffer-parent`), and the extension's
    /// feature is on.
    pub unsafe fn get_framebuffer_tile_properties(
        &self,
        framebuffer: vk::Framebuffer,
    ) -> VkResult<Vec<TilePropertiesQCOM<'static>>> {
        let get = self.fp.get_framebuffer_tile_properties_qcom;
        let mut count = 0;
        // SAFETY: Guaranteed by the caller; null requests only the count.
        unsafe { get(self.handle, framebuffer, &mut count, ptr::null_mut()) }.result()?;
        let mut out = vec![TilePropertiesQCOM::default(); count as usize];
        // SAFETY: Guaranteed by the caller; `out` holds `count` elements.
        unsafe { get(self.handle, framebuffer, &mut count, out.as_mut_ptr()) }.result()?;
        Ok(out)
    }

    /// <https://registry.khronos.org/vulkan/specs/latest/man/html/vkGetDynamicRenderingTilePropertiesQCOM.html>
    ///
    /// # Errors
    /// The driver's, such as `OUT_OF_HOST_MEMORY`.
    ///
    /// # Safety
    /// `rendering_info` and everything it points to is valid and of this device
    /// (`VUID-vkGetDynamicRenderingTilePropertiesQCOM-pRenderingInfo-parameter`), as is the chain of `properties`
    /// (`-pProperties-parameter`), and the extension's feature is on.
    #[inline]
    pub unsafe fn get_dynamic_rendering_tile_properties(
        &self,
        rendering_info: &vk::RenderingInfo<'_>,
        properties: &mut TilePropertiesQCOM<'_>,
    ) -> VkResult<()> {
        // SAFETY: Guaranteed by the caller.
        let result = unsafe {
            (self.fp.get_dynamic_rendering_tile_properties_qcom)(self.handle, rendering_info, properties)
        };
        result.result()
    }
}
