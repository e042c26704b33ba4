//! Shader modules, and pipelines that draw triangles.

use ash::vk;
pub use tileheap::runtime::PipelineTarget;

use super::error::{Called, Result};
use super::shaders::Shader;

/// A shader module, which exists only while pipelines are created from it.
pub struct Module<'a> {
    device: &'a ash::Device,
    stage: vk::ShaderStageFlags,
    handle: vk::ShaderModule,
}

impl<'a> Module<'a> {
    pub fn new(device: &'a ash::Device, shader: &Shader) -> Result<Module<'a>> {
        let info = vk::ShaderModuleCreateInfo::default().code(shader.words);
        // SAFETY: the build compiled the code for Vulkan 1.1.
        let handle = unsafe { device.create_shader_module(&info, None) }.called("vkCreateShaderModule")?;
        Ok(Module {
            device,
            stage: shader.stage,
            handle,
        })
    }

    pub fn stage(&self) -> vk::PipelineShaderStageCreateInfo<'_> {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(self.stage)
            .module(self.handle)
            .name(c"main")
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: pipelines do not need their modules once they exist.
        unsafe { self.device.destroy_shader_module(self.handle, None) };
    }
}

/// A target of dynamic rendering with at most one color format; a depth format of `UNDEFINED` means no depth.
pub fn plain_target(color: Option<vk::Format>, depth_format: vk::Format) -> PipelineTarget {
    PipelineTarget {
        color_formats: color.into_iter().collect(),
        depth_aspects: match depth_format {
            vk::Format::UNDEFINED => vk::ImageAspectFlags::empty(),
            _ => vk::ImageAspectFlags::DEPTH,
        },
        depth_format,
        stencil_format: vk::Format::UNDEFINED,
        samples: vk::SampleCountFlags::TYPE_1,
        extent: vk::Extent2D::default(),
        layers: 1,
        view_mask: 0,
        dynamic: true,
        render_pass: vk::RenderPass::null(),
        subpass: 0,
        local_read: None,
    }
}

/// Describes a pipeline that draws triangles over a target's whole extent.
pub struct Drawing<'a> {
    pub layout: vk::PipelineLayout,
    pub target: &'a PipelineTarget,
    pub vertex: &'a Shader,
    pub fragment: Option<&'a Shader>,
    /// Bytes of a vertex, which begins with the vertex shader's attributes; 0 if there is no vertex buffer.
    pub vertex_stride: u32,
    pub culls: vk::CullModeFlags,
    pub writes_depth: bool,
    /// The comparison with the depth attachment that fragments must pass.
    pub nearer: vk::CompareOp,
    /// Depth bias away from the eye: constant and slope factor; `None` for no bias.
    pub bias: Option<[f32; 2]>,
    /// Blend state of every color attachment; `None` disables blending.
    pub blend: Option<vk::PipelineColorBlendAttachmentState>,
}

impl<'a> Drawing<'a> {
    /// Describes a pipeline without vertex buffer, culling, blending or depth writes; greater depths are nearer.
    pub fn new(
        layout: vk::PipelineLayout,
        target: &'a PipelineTarget,
        vertex: &'a Shader,
        fragment: Option<&'a Shader>,
    ) -> Drawing<'a> {
        Drawing {
            layout,
            target,
            vertex,
            fragment,
            vertex_stride: 0,
            culls: vk::CullModeFlags::NONE,
            writes_depth: false,
            nearer: vk::CompareOp::GREATER_OR_EQUAL,
            bias: None,
            blend: None,
        }
    }

    pub fn create(&self, device: &ash::Device) -> Result<vk::Pipeline> {
        let target = self.target;
        let vertex = Module::new(device, self.vertex)?;
        let fragment = self
            .fragment
            .map(|shader| Module::new(device, shader))
            .transpose()?;
        let mut stages = vec![vertex.stage()];
        stages.extend(fragment.as_ref().map(Module::stage));
        let bindings = [vk::VertexInputBindingDescription::default().stride(self.vertex_stride)];
        let mut input = vk::PipelineVertexInputStateCreateInfo::default();
        if self.vertex_stride > 0 {
            input = input
                .vertex_binding_descriptions(&bindings)
                .vertex_attribute_descriptions(self.vertex.vertex_inputs);
        }
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewport_count(1)
            .scissor_count(1);
        let [constant, slope] = self.bias.unwrap_or_default();
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
            .cull_mode(self.culls)
            .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
            .line_width(1.0)
            .depth_bias_enable(self.bias.is_some())
            .depth_bias_constant_factor(constant)
            .depth_bias_slope_factor(slope);
        let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(target.samples);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(target.depth_aspects.contains(vk::ImageAspectFlags::DEPTH))
            .depth_write_enable(self.writes_depth)
            .depth_compare_op(self.nearer);
        // Without a fragment shader, color attachments are not written.
        let written = self.fragment.map(|_| vk::ColorComponentFlags::RGBA);
        let blend = self
            .blend
            .unwrap_or_default()
            .blend_enable(self.blend.is_some())
            .color_write_mask(written.unwrap_or_default());
        let blends = vec![blend; target.color_formats.len()];
        let color_blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let dynamic_states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic_states);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&samples)
            .depth_stencil_state(&depth)
            .color_blend_state(&color_blend)
            .dynamic_state(&dynamic)
            .layout(self.layout);
        let mut rendering = target.rendering();
        let info = target.attach(info, &mut rendering);
        // SAFETY: the state is complete, the target is that of the pass, the layout has everything that the shaders use.
        unsafe { device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) }
            .map(|pipelines| pipelines[0])
            .map_err(|(_, result)| result)
            .called("vkCreateGraphicsPipelines")
    }
}

/// A sampler with the same filter for magnification and minification, clamped to the edges.
pub fn create_sampler(
    device: &ash::Device,
    filter: vk::Filter,
    mips: vk::SamplerMipmapMode,
) -> Result<vk::Sampler> {
    let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(filter)
        .min_filter(filter)
        .mipmap_mode(mips)
        .max_lod(vk::LOD_CLAMP_NONE)
        .address_mode_u(edge)
        .address_mode_v(edge)
        .address_mode_w(edge);
    // SAFETY: the info is complete and uses no feature.
    unsafe { device.create_sampler(&info, None) }.called("vkCreateSampler")
}
