//! Pipelines, the descriptor set, draws: what a renderer has whoever plans its memory. No step changes it.

use ash::vk;

use crate::scene::Vertex;
use crate::support::fault::{Called, Result};

mod spirv {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}

pub(crate) const SHADOW: vk::Format = vk::Format::D16_UNORM;
pub(crate) const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
pub(crate) const HDR: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
pub(crate) const PICTURE: vk::Format = vk::Format::R8G8B8A8_UNORM;
/// Of both shadow maps.
pub(crate) const SHADOW_EXTENT: vk::Extent2D = vk::Extent2D {
    width: 1024,
    height: 1024,
};

/// Pipelines that draw the scene, and what they read.
pub(crate) struct Drawing {
    device: ash::Device,
    vertices: vk::Buffer,
    vertex_count: u32,
    set_layout: vk::DescriptorSetLayout,
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
        let (set_layout, pool, set) = make_set(device)?;
        write_set(device, set, constants, inputs, nearer);

        let push = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::VERTEX,
            offset: 0,
            size: 4,
        }];
        let layouts = [set_layout];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&layouts)
            .push_constant_ranges(&push);
        // SAFETY: the description is complete.
        let layout =
            unsafe { device.create_pipeline_layout(&info, None) }.called("vkCreatePipelineLayout")?;
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
            shadow: make(spirv::FORWARD_VERT, None, None, SHADOW)?,
            forward: make(spirv::FORWARD_VERT, Some(spirv::FORWARD_FRAG), Some(HDR), DEPTH)?,
            tone_map: make(
                spirv::FULLSCREEN_VERT,
                Some(spirv::FORWARD_TONE_FRAG),
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
            self.device.destroy_descriptor_set_layout(self.set_layout, None);
            self.device.destroy_sampler(self.nearer, None);
        }
    }
}

fn make_set(
    device: &ash::Device,
) -> Result<(vk::DescriptorSetLayout, vk::DescriptorPool, vk::DescriptorSet)> {
    use vk::DescriptorType as T;
    let types = [
        T::UNIFORM_BUFFER,
        T::SAMPLED_IMAGE,
        T::SAMPLED_IMAGE,
        T::SAMPLED_IMAGE,
        T::SAMPLER,
    ];
    let mut binding = 0..;
    let bindings = types.map(|kind| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(binding.next().expect("endless"))
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT)
    });
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: the description is complete.
    let layout =
        unsafe { device.create_descriptor_set_layout(&info, None) }.called("vkCreateDescriptorSetLayout")?;
    let sizes = types.map(|ty| vk::DescriptorPoolSize {
        ty,
        descriptor_count: 1,
    });
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(1)
        .pool_sizes(&sizes);
    // SAFETY: as above.
    let pool = unsafe { device.create_descriptor_pool(&info, None) }.called("vkCreateDescriptorPool")?;
    let layouts = [layout];
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&layouts);
    // SAFETY: the pool has room for it.
    let set = unsafe { device.allocate_descriptor_sets(&info) }.called("vkAllocateDescriptorSets")?[0];
    Ok((layout, pool, set))
}

fn write_set(
    device: &ash::Device,
    set: vk::DescriptorSet,
    constants: vk::Buffer,
    inputs: &Inputs,
    nearer: vk::Sampler,
) {
    let write = |binding, kind| {
        vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(binding)
            .descriptor_type(kind)
    };
    let buffer = [vk::DescriptorBufferInfo {
        buffer: constants,
        offset: 0,
        range: vk::WHOLE_SIZE,
    }];
    let image = |(image_view, image_layout)| {
        [vk::DescriptorImageInfo {
            image_view,
            image_layout,
            sampler: vk::Sampler::null(),
        }]
    };
    let (sun, lamp, hdr) = (image(inputs.sun), image(inputs.lamp), image(inputs.hdr));
    let sampler = [vk::DescriptorImageInfo {
        sampler: nearer,
        ..vk::DescriptorImageInfo::default()
    }];
    let writes = [
        write(0, vk::DescriptorType::UNIFORM_BUFFER).buffer_info(&buffer),
        write(1, vk::DescriptorType::SAMPLED_IMAGE).image_info(&sun),
        write(2, vk::DescriptorType::SAMPLED_IMAGE).image_info(&lamp),
        write(3, vk::DescriptorType::SAMPLED_IMAGE).image_info(&hdr),
        write(4, vk::DescriptorType::SAMPLER).image_info(&sampler),
    ];
    // SAFETY: nothing uses the set yet, and what it points to lives as long.
    unsafe { device.update_descriptor_sets(&writes, &[]) };
}

fn make_pipeline(
    device: &ash::Device,
    layout: vk::PipelineLayout,
    vertex: &[u32],
    fragment: Option<&[u32]>,
    color: Option<vk::Format>,
    depth: vk::Format,
) -> Result<vk::Pipeline> {
    let module = |code: &[u32]| {
        let info = vk::ShaderModuleCreateInfo::default().code(code);
        // SAFETY: the build compiled the code for Vulkan 1.1.
        unsafe { device.create_shader_module(&info, None) }.called("vkCreateShaderModule")
    };
    let vertex = module(vertex)?;
    let fragment = fragment.map(module).transpose()?;
    let stage = |stage, module| {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(stage)
            .module(module)
            .name(c"main")
    };
    let mut stages = vec![stage(vk::ShaderStageFlags::VERTEX, vertex)];
    stages.extend(fragment.map(|module| stage(vk::ShaderStageFlags::FRAGMENT, module)));

    let has_depth = depth != vk::Format::UNDEFINED;
    let binding = [vk::VertexInputBindingDescription::default().stride(size_of::<Vertex>() as u32)];
    let attributes = [0, 1, 2].map(|location| vk::VertexInputAttributeDescription {
        location,
        binding: 0,
        format: vk::Format::R32G32B32_SFLOAT,
        offset: location * 12,
    });
    let mut input = vk::PipelineVertexInputStateCreateInfo::default();
    if has_depth {
        input = input
            .vertex_binding_descriptions(&binding)
            .vertex_attribute_descriptions(&attributes);
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
    let made = unsafe { device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    for module in fragment.into_iter().chain([vertex]) {
        // SAFETY: pipelines do not need their modules once they exist.
        unsafe { device.destroy_shader_module(module, None) };
    }
    made.map(|pipelines| pipelines[0])
        .map_err(|(_, result)| result)
        .called("vkCreateGraphicsPipelines")
}
