//! What a pipeline must know of the render pass it draws in.

use ash::vk;

/// What the pipelines of a render pass are built from, whichever way the pass is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Formats of the colour attachments, in order.
    pub color_formats: Vec<vk::Format>,
    /// Format of the attachment's depth aspect, or `UNDEFINED`.
    pub depth_format: vk::Format,
    /// Format of the attachment's stencil aspect, or `UNDEFINED`.
    pub stencil_format: vk::Format,
    /// Samples of every attachment; 1 without attachments.
    pub samples: vk::SampleCountFlags,
    /// The render area.
    pub extent: vk::Extent2D,
    /// Layers rendered to.
    pub layers: u32,
    /// The render pass (subpass 0 is the only one), or null: dynamic rendering.
    pub render_pass: vk::RenderPass,
}

impl Target {
    /// The struct to chain to a pipeline's creation where rendering is dynamic.
    pub fn rendering(&self) -> vk::PipelineRenderingCreateInfo<'_> {
        vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&self.color_formats)
            .depth_attachment_format(self.depth_format)
            .stencil_attachment_format(self.stencil_format)
    }

    /// Points a pipeline's creation to this target: by its render pass, or by chaining `rendering` (of [`Target::rendering`]).
    pub fn attach<'a>(
        &self,
        info: vk::GraphicsPipelineCreateInfo<'a>,
        rendering: &'a mut vk::PipelineRenderingCreateInfo<'_>,
    ) -> vk::GraphicsPipelineCreateInfo<'a> {
        let _ = rendering;
        info.render_pass(self.render_pass).subpass(0)
    }
}
