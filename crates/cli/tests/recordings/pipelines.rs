//! Pipelines and set layouts, created once for each kind of work.

use std::collections::HashMap;

use ash::vk;
use tileheap_testkit::objects::Objects;

use crate::device::Gpu;
use crate::recording::{ImageKind, Use};
use crate::shaders;

/// Everything that a graphics pipeline is created from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GraphicsKey {
    pub(crate) uses: Vec<Use>,
    pub(crate) has_vertices: bool,
    pub(crate) is_multisampled: bool,
    pub(crate) has_depth: bool,
    /// `None` for dynamic rendering.
    pub(crate) render_pass: Option<(vk::RenderPass, u32)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Pipeline {
    pub(crate) handle: vk::Pipeline,
    pub(crate) layout: vk::PipelineLayout,
    pub(crate) set_layout: vk::DescriptorSetLayout,
}

#[derive(Default)]
pub(crate) struct Pipelines {
    objects: Objects,
    layouts: HashMap<(Vec<Use>, vk::ShaderStageFlags), (vk::PipelineLayout, vk::DescriptorSetLayout)>,
    compute: HashMap<Vec<Use>, Pipeline>,
    graphics: HashMap<GraphicsKey, Pipeline>,
}

impl Pipelines {
    /// Destroys everything.
    pub(crate) fn destroy(&mut self, gpu: &Gpu) {
        self.objects.destroy(&gpu.device);
    }

    fn layout(
        &mut self,
        gpu: &Gpu,
        uses: &[Use],
        stage: vk::ShaderStageFlags,
    ) -> (vk::PipelineLayout, vk::DescriptorSetLayout) {
        if let Some(known) = self.layouts.get(&(uses.to_vec(), stage)) {
            return *known;
        }
        let bindings: Vec<_> = (0..)
            .zip(uses)
            .map(|(binding, used)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(used.descriptor())
                    .descriptor_count(1)
                    .stage_flags(stage)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let set_layout = self.objects.create(&gpu.device, &info);
        let set_layouts = [set_layout];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        let layout = (self.objects.create(&gpu.device, &info), set_layout);
        self.layouts.insert((uses.to_vec(), stage), layout);
        layout
    }

    fn module(&self, gpu: &Gpu, words: &[u32]) -> vk::ShaderModule {
        self.objects
            .create(&gpu.device, &vk::ShaderModuleCreateInfo::default().code(words))
    }

    pub(crate) fn compute(&mut self, gpu: &Gpu, uses: &[Use]) -> Pipeline {
        if let Some(known) = self.compute.get(uses) {
            return *known;
        }
        let (layout, set_layout) = self.layout(gpu, uses, vk::ShaderStageFlags::COMPUTE);
        let module = self.module(gpu, &shaders::compute(uses));
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(layout);
        let pipeline = Pipeline {
            handle: self.objects.create(&gpu.device, &info),
            layout,
            set_layout,
        };
        self.compute.insert(uses.to_vec(), pipeline);
        pipeline
    }

    /// A pipeline for a render pass object has to be destroyed before it: `objects` takes it then.
    pub(crate) fn graphics(&mut self, gpu: &Gpu, key: &GraphicsKey, objects: &Objects) -> Pipeline {
        if let Some(known) = self.graphics.get(key) {
            return *known;
        }
        let (layout, set_layout) = self.layout(gpu, &key.uses, vk::ShaderStageFlags::FRAGMENT);
        let modules = [shaders::vertex(key.has_vertices), shaders::fragment(&key.uses)]
            .map(|words| self.module(gpu, &words));
        let kinds = [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT];
        let stages = [0, 1].map(|index| {
            vk::PipelineShaderStageCreateInfo::default()
                .stage(kinds[index])
                .module(modules[index])
                .name(c"main")
        });
        let bindings = [vk::VertexInputBindingDescription::default().stride(8)];
        let attributes = [vk::VertexInputAttributeDescription::default().format(vk::Format::R32G32_SFLOAT)];
        let mut vertices = vk::PipelineVertexInputStateCreateInfo::default();
        if key.has_vertices {
            vertices = vertices
                .vertex_binding_descriptions(&bindings)
                .vertex_attribute_descriptions(&attributes);
        }
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let (width, height) = (crate::recording::SIDE, crate::recording::SIDE);
        let viewports = [vk::Viewport::default()
            .width(width as f32)
            .height(height as f32)
            .max_depth(1.0)];
        let scissors = [tileheap_testkit::objects::area(width, height)];
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewports(&viewports)
            .scissors(&scissors);
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = match key.is_multisampled {
            true => ImageKind::Multisampled.samples(),
            false => vk::SampleCountFlags::TYPE_1,
        };
        let multisampling = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(samples);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(key.has_depth)
            .depth_write_enable(key.has_depth)
            .depth_compare_op(vk::CompareOp::LESS_OR_EQUAL);
        let blends =
            [vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let formats = [ImageKind::Color.format()];
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        if key.has_depth {
            rendering = rendering.depth_attachment_format(ImageKind::Depth.format());
        }
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertices)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&multisampling)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .layout(layout);
        info = match key.render_pass {
            Some((render_pass, subpass)) => info.render_pass(render_pass).subpass(subpass),
            None => info.push_next(&mut rendering),
        };
        let owner = if key.render_pass.is_some() {
            objects
        } else {
            &self.objects
        };
        let pipeline = Pipeline {
            handle: owner.create(&gpu.device, &info),
            layout,
            set_layout,
        };
        if key.render_pass.is_none() {
            self.graphics.insert(key.clone(), pipeline);
        }
        pipeline
    }
}
