//! Pipelines, the descriptor set and draws, which are the same in every step.

use ash::vk;

use crate::scene::Vertex;
use crate::support::descriptors::{SetLayout, create_pipeline_layout, create_pool};
use crate::support::error::{Called, Result};
use crate::support::pipeline::Module;
use crate::support::shaders::{FORWARD_FRAG, FORWARD_TONE_FRAG, FORWARD_VERT, FULLSCREEN_VERT, Shader};

pub(crate) const SHADOW: vk::Format = vk::Format::D16_UNORM;
pub(crate) const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
pub(crate) const HDR: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
pub(crate) const PICTURE: vk::Format = vk::Format::R8G8B8A8_UNORM;
/// Of both shadow maps.
pub(crate) const SHADOW_EXTENT: vk::Extent2D = vk::Extent2D {
    width: 1024,
    height: 1024,
};

// The attributes are the vertex's fields, in their order.
const _: () = assert!(size_of::<Vertex>() as u32 == FORWARD_VERT.vertex_bytes);

/// Pipelines that draw the scene, and what they read.
pub(crate) struct Drawing {
    device: ash::Device,
    vertices: vk::Buffer,
    vertex_count: u32,
    set_layout: SetLayout,
    layout: vk::PipelineLayout,
    nearer: vk::Sampler,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    shadow: vk::Pipeline,
    forward: vk::Pipeline,
    tone_map: vk::Pipeline,
}

/// The images that shaders read, in their layouts.
pub(crate) struct Inputs {
    pub(crate) sun: (vk::ImageView, vk::ImageLayout),
    pub(crate) lamp: (vk::ImageView, vk::ImageLayout),
    pub(crate) hdr: (vk::ImageView, vk::ImageLayout),
}

impl Drawing {
    /// Draws so many vertices, with constants from another buffer.
    pub(crate) fn new(
        device: &ash::Device,
        vertices: vk::Buffer,
        vertex_count: u32,
        constants: vk::Buffer,
        inputs: &Inputs,
    ) -> Result<Drawing> {
        let nearer = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR)
            .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .compare_enable(true)
            .compare_op(vk::CompareOp::LESS_OR_EQUAL);
        // SAFETY: the description is complete.
        let nearer = unsafe { device.create_sampler(&nearer, None) }.called("vkCreateSampler")?;
        let shaders = [&FORWARD_VERT, &FORWARD_FRAG, &FORWARD_TONE_FRAG];
        let set_layout = SetLayout::new(device, &shaders, 0, &[nearer])?;
        let pool = create_pool(device, 1, &set_layout.pool_sizes(1))?;
        let set = set_layout.allocate(device, pool)?;
        set_layout.write_buffer(device, set, 0, constants, (0, vk::WHOLE_SIZE));
        for (binding, (view, layout)) in (1..).zip([inputs.sun, inputs.lamp, inputs.hdr]) {
            set_layout.write_image(device, set, binding, view, layout);
        }
        let layout = create_pipeline_layout(device, &[set_layout.handle], &shaders)?;
        let make = |vertex, fragment, color: Option<vk::Format>, depth| {
            make_pipeline(device, layout, vertex, fragment, color, depth)
        };
        Ok(Drawing {
            device: device.clone(),
            vertices,
            vertex_count,
            set_layout,
            layout,
            nearer,
            pool,
            set,
            shadow: make(&FORWARD_VERT, None, None, SHADOW)?,
            forward: make(&FORWARD_VERT, Some(&FORWARD_FRAG), Some(HDR), DEPTH)?,
            tone_map: make(
                &FULLSCREEN_VERT,
                Some(&FORWARD_TONE_FRAG),
                Some(PICTURE),
                vk::Format::UNDEFINED,
            )?,
        })
    }

    /// The scene's depth, as light 0 (the sun) or 1 (the lamp) sees it.
    pub(crate) fn shadow(&self, commands: vk::CommandBuffer, light: u32) {
        self.objects(commands, self.shadow, SHADOW_EXTENT, light + 1);
    }

    /// The scene, as the eye sees it.
    pub(crate) fn forward(&self, commands: vk::CommandBuffer, extent: vk::Extent2D) {
        self.objects(commands, self.forward, extent, 0);
    }

    /// The picture of what `forward` drew.
    pub(crate) fn tone_map(&self, commands: vk::CommandBuffer, extent: vk::Extent2D) {
        self.bind(commands, self.tone_map, extent);
        // SAFETY: the pass is being recorded, with all that its pipeline needs.
        unsafe { self.device.cmd_draw(commands, 3, 1, 0, 0) };
    }

    fn objects(&self, commands: vk::CommandBuffer, pipeline: vk::Pipeline, extent: vk::Extent2D, view: u32) {
        self.bind(commands, pipeline, extent);
        let stage = vk::ShaderStageFlags::VERTEX;
        // SAFETY: the pass is being recorded; the buffer holds the vertices and outlives the frame.
        unsafe {
            self.device
                .cmd_push_constants(commands, self.layout, stage, 0, &view.to_ne_bytes());
            self.device
                .cmd_bind_vertex_buffers(commands, 0, &[self.vertices], &[0]);
            self.device.cmd_draw(commands, self.vertex_count, 1, 0, 0);
        }
    }

    fn bind(&self, commands: vk::CommandBuffer, pipeline: vk::Pipeline, extent: vk::Extent2D) {
        let point = vk::PipelineBindPoint::GRAPHICS;
        let viewport = vk::Viewport {
            width: extent.width as f32,
            height: extent.height as f32,
            max_depth: 1.0,
            ..vk::Viewport::default()
        };
        // SAFETY: the pass is being recorded; pipeline and set have the same layout.
        unsafe {
            self.device.cmd_bind_pipeline(commands, point, pipeline);
            self.device
                .cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[self.set], &[]);
            self.device.cmd_set_viewport(commands, 0, &[viewport]);
            self.device.cmd_set_scissor(commands, 0, &[extent.into()]);
        }
    }

    /// # Safety
    /// The device does not use it any more.
    pub(crate) unsafe fn destroy(&self) {
        // SAFETY: the caller's duty; the pool frees its set.
        unsafe {
            for pipeline in [self.shadow, self.forward, self.tone_map] {
                self.device.destroy_pipeline(pipeline, None);
            }
            self.device.destroy_pipeline_layout(self.layout, None);
            self.device.destroy_descriptor_pool(self.pool, None);
            self.device
                .destroy_descriptor_set_layout(self.set_layout.handle, None);
            self.device.destroy_sampler(self.nearer, None);
        }
    }
}

fn make_pipeline(
    device: &ash::Device,
    layout: vk::PipelineLayout,
    vertex: &Shader,
    fragment: Option<&Shader>,
    color: Option<vk::Format>,
    depth: vk::Format,
) -> Result<vk::Pipeline> {
    let module = |shader: &Shader| Module::new(device, shader);
    let vertex_module = module(vertex)?;
    let fragment = fragment.map(module).transpose()?;
    let mut stages = vec![vertex_module.stage()];
    stages.extend(fragment.as_ref().map(Module::stage));

    let has_depth = depth != vk::Format::UNDEFINED;
    let binding = [vk::VertexInputBindingDescription::default().stride(size_of::<Vertex>() as u32)];
    let mut input = vk::PipelineVertexInputStateCreateInfo::default();
    if !vertex.vertex_inputs.is_empty() {
        input = input
            .vertex_binding_descriptions(&binding)
            .vertex_attribute_descriptions(vertex.vertex_inputs);
    }
    let assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default()
        .viewport_count(1)
        .scissor_count(1);
    let is_shadow = has_depth && color.is_none();
    let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
        .line_width(1.0)
        .depth_bias_enable(is_shadow)
        .depth_bias_constant_factor(1.0)
        .depth_bias_slope_factor(2.0);
    let samples =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let depth_state = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(has_depth)
        .depth_write_enable(has_depth)
        .depth_compare_op(vk::CompareOp::LESS_OR_EQUAL);
    let all =
        vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA);
    let blends: Vec<_> = color.map(|_| all).into_iter().collect();
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
    let formats: Vec<_> = color.into_iter().collect();
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(&formats)
        .depth_attachment_format(depth);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&rasterization)
        .multisample_state(&samples)
        .depth_stencil_state(&depth_state)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout)
        .push_next(&mut rendering);
    // SAFETY: the state is complete, and the layout has what the shaders use.
    unsafe { device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) }
        .map(|pipelines| pipelines[0])
        .map_err(|(_, result)| result)
        .called("vkCreateGraphicsPipelines")
}
