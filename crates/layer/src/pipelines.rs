//! The shader stages of graphics pipelines; none if Vulkan ignores the pointer to them.

use ash::vk;
use vk::GraphicsPipelineLibraryFlagsEXT as F;

use crate::{array, chained};

/// The shader stages of a graphics pipeline; none for a pipeline library without shaders, whose pointer is ignored.
///
/// Source: `VkGraphicsPipelineCreateInfo`, "pStages".
pub fn shader_stages<'a>(
    info: &'a vk::GraphicsPipelineCreateInfo<'_>,
) -> &'a [vk::PipelineShaderStageCreateInfo<'a>] {
    let library = chained!(info.p_next => vk::GraphicsPipelineLibraryCreateInfoEXT<'_>);
    let has_shaders = library.is_none_or(|library| {
        let with_shaders = F::PRE_RASTERIZATION_SHADERS | F::FRAGMENT_SHADER;
        library.flags.intersects(with_shaders)
    });
    array!(info.p_stages, if has_shaders { info.stage_count } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_of_a_library_without_shaders_are_not_read() {
        let dangling = std::ptr::without_provenance(8);
        let mut library =
            vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(F::VERTEX_INPUT_INTERFACE);
        let mut info = vk::GraphicsPipelineCreateInfo::default().push_next(&mut library);
        (info.p_stages, info.stage_count) = (dangling, 2);
        assert!(shader_stages(&info).is_empty());
        let stages = [vk::PipelineShaderStageCreateInfo::default()];
        let mut library = vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(F::FRAGMENT_SHADER);
        let info = vk::GraphicsPipelineCreateInfo::default().push_next(&mut library);
        assert_eq!(shader_stages(&info.stages(&stages)).len(), 1);
        let complete = vk::GraphicsPipelineCreateInfo::default().stages(&stages);
        assert_eq!(shader_stages(&complete).len(), 1);
    }
}
