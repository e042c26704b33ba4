//! Pipelines, the descriptor set and draws, which are the same in every step.

use ash::vk;

use crate::resources::Resources;
use crate::scene::Vertex;
use crate::support::commands::set_viewport;
use crate::support::descriptors::{SetLayout, create_pipeline_layout, create_pool};
use crate::support::error::{Called, Result};
use crate::support::pipeline::{self, PipelineTarget};
use crate::support::shaders::{
    FORWARD_FRAG, FORWARD_TONE_FRAG, FORWARD_VERT, FULLSCREEN_VERT, push_constant_range,
};

pub(crate) const SHADOW: vk::Format = vk::Format::D16_UNORM;
pub(crate) const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
pub(crate) const HDR: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// Extent of both shadow maps.
pub(crate) const SHADOW_EXTENT: vk::Extent2D = vk::Extent2D {
    width: 1024,
    height: 1024,
};

// The attributes are the vertex's fields, in the same order.
const _: () = assert!(size_of::<Vertex>() as u32 == FORWARD_VERT.vertex_bytes);

/// Pipelines that draw the scene, and their descriptor sets.
pub(crate) struct Drawing {
    device: ash::Device,
    vertices: vk::Buffer,
    vertex_count: u32,
    set_layout: SetLayout,
    layout: vk::PipelineLayout,
    nearer: vk::Sampler,
    pool: vk::DescriptorPool,
    /// One set per part of the picture.
    sets: Vec<vk::DescriptorSet>,
    depth: vk::Pipeline,
    shadow: vk::Pipeline,
    forward: vk::Pipeline,
    tone_map: vk::Pipeline,
}

/// Viewport and scissor of draws.
pub(crate) type Area = (vk::Viewport, vk::Rect2D);

/// The images that shaders read, in their layouts.
pub(crate) struct Inputs {
    pub(crate) sun: (vk::ImageView, vk::ImageLayout),
    pub(crate) lamp: (vk::ImageView, vk::ImageLayout),
    pub(crate) hdr: (vk::ImageView, vk::ImageLayout),
}

impl Drawing {
    /// Creates the pipelines for four targets: depth only, a shadow map, the scene and the picture.
    pub(crate) fn new(
        device: &ash::Device,
        resources: &Resources,
        inputs: &[Inputs],
        [depth, shadow, forward, screen]: [&PipelineTarget; 4],
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
        let pool = create_pool(device, inputs.len(), &set_layout.pool_sizes(inputs.len()))?;
        let mut sets = Vec::new();
        for inputs in inputs {
            let set = set_layout.allocate(device, pool)?;
            let constants = resources.constants.handle;
            set_layout.write_buffer(device, set, 0, constants, (0, vk::WHOLE_SIZE));
            for (binding, (view, layout)) in (1..).zip([inputs.sun, inputs.lamp, inputs.hdr]) {
                set_layout.write_image(device, set, binding, view, layout);
            }
            sets.push(set);
        }
        let layout = create_pipeline_layout(device, &[set_layout.handle], &shaders)?;
        let scene = |fragment, target, bias| {
            let scene = pipeline::Drawing {
                vertex_stride: size_of::<Vertex>() as u32,
                writes_depth: true,
                nearer: vk::CompareOp::LESS_OR_EQUAL,
                bias,
                ..pipeline::Drawing::new(layout, target, &FORWARD_VERT, fragment)
            };
            scene.create(device)
        };
        let tone_map = pipeline::Drawing::new(layout, screen, &FULLSCREEN_VERT, Some(&FORWARD_TONE_FRAG));
        Ok(Drawing {
            device: device.clone(),
            vertices: resources.vertices.handle,
            vertex_count: resources.vertex_count,
            set_layout,
            layout,
            nearer,
            pool,
            sets,
            depth: scene(None, depth, None)?,
            shadow: scene(None, shadow, Some([1.0, 2.0]))?,
            forward: scene(Some(&FORWARD_FRAG), forward, None)?,
            tone_map: tone_map.create(device)?,
        })
    }

    /// Draws the scene's depth, seen from the eye (0), the sun (1) or the lamp (2).
    pub(crate) fn depth(&self, commands: vk::CommandBuffer, area: Area, view: u32) {
        let pipeline = if view == 0 { self.depth } else { self.shadow };
        self.objects(commands, pipeline, area, view);
    }

    /// Draws the scene, seen from the eye.
    pub(crate) fn forward(&self, commands: vk::CommandBuffer, area: Area) {
        self.objects(commands, self.forward, area, 0);
    }

    /// Draws one part of the picture by tone mapping the output of `forward`, which it reads at an offset of `further` texels.
    pub(crate) fn tone_map(&self, commands: vk::CommandBuffer, area: Area, place: usize, further: [i32; 2]) {
        self.bind(commands, self.tone_map, area, place);
        self.push(commands, [0, 0, further[0], further[1]]);
        // SAFETY: the pass is being recorded, with everything that its pipeline needs.
        unsafe { self.device.cmd_draw(commands, 3, 1, 0, 0) };
    }

    fn objects(&self, commands: vk::CommandBuffer, pipeline: vk::Pipeline, area: Area, view: u32) {
        self.bind(commands, pipeline, area, 0);
        self.push(commands, [view as i32, 0, 0, 0]);
        // SAFETY: the pass is being recorded; the buffer holds the vertices and outlives the frame.
        unsafe {
            self.device
                .cmd_bind_vertex_buffers(commands, 0, &[self.vertices], &[0]);
            self.device.cmd_draw(commands, self.vertex_count, 1, 0, 0);
        }
    }

    fn push(&self, commands: vk::CommandBuffer, words: [i32; 4]) {
        let range = push_constant_range(&[&FORWARD_VERT, &FORWARD_TONE_FRAG]).expect("both have some");
        let (stages, words) = (range.stage_flags, bytemuck::bytes_of(&words));
        // SAFETY: the pass is being recorded; the range is the layout's.
        unsafe {
            self.device
                .cmd_push_constants(commands, self.layout, stages, 0, words)
        };
    }

    fn bind(&self, commands: vk::CommandBuffer, pipeline: vk::Pipeline, area: Area, set: usize) {
        let point = vk::PipelineBindPoint::GRAPHICS;
        set_viewport(&self.device, commands, area);
        // SAFETY: the pass is being recorded; pipeline and set have the same layout.
        unsafe {
            self.device.cmd_bind_pipeline(commands, point, pipeline);
            self.device
                .cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[self.sets[set]], &[]);
        }
    }

    /// # Safety
    /// The device no longer uses it.
    pub(crate) unsafe fn destroy(&self) {
        // SAFETY: the caller's duty; the pool frees its sets.
        unsafe {
            for pipeline in [self.depth, self.shadow, self.forward, self.tone_map] {
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
