//! The attachment formats and render pass that a pipeline is created for.

use ash::vk;

use crate::lower::Lowered;
use crate::lower::tables::commands::RenderingRow;

/// The formats, samples and render pass object that pipelines of a subpass are created with.
///
/// Pipelines outlive a resize: another [`BoundFrame`](super::BoundFrame) with the same formats has compatible targets.
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
    /// The extent of the described render area.
    pub extent: vk::Extent2D,
    /// Layers rendered to, without a view mask.
    pub layers: u32,
    /// `viewMask`; 0 without multiview.
    pub view_mask: u32,
    /// The render pass, or null: dynamic rendering.
    pub render_pass: vk::RenderPass,
    /// The number of the subpass.
    pub subpass: u32,
}

impl Target {
    /// The target of a subpass that is recorded through `render_pass`, or dynamically if that is null.
    pub(super) fn new(tables: &Lowered, row: &RenderingRow, render_pass: vk::RenderPass) -> Target {
        Target {
            color_formats: row.color_formats.of(&tables.formats).to_vec(),
            depth_format: row.depth_format,
            stencil_format: row.stencil_format,
            samples: row.samples,
            extent: row.area.extent,
            layers: row.layers,
            view_mask: row.view_mask,
            render_pass,
            subpass: row.subpass,
        }
    }

    /// The struct to chain to a pipeline's creation where rendering is dynamic.
    pub fn rendering(&self) -> vk::PipelineRenderingCreateInfo<'_> {
        vk::PipelineRenderingCreateInfo::default()
            .view_mask(self.view_mask)
            .color_attachment_formats(&self.color_formats)
            .depth_attachment_format(self.depth_format)
            .stencil_attachment_format(self.stencil_format)
    }

    /// Sets the target of a pipeline's creation info: by its render pass, or by chaining `rendering` (of
    /// [`Target::rendering`]).
    pub fn attach<'a>(
        &self,
        info: vk::GraphicsPipelineCreateInfo<'a>,
        rendering: &'a mut vk::PipelineRenderingCreateInfo<'_>,
    ) -> vk::GraphicsPipelineCreateInfo<'a> {
        if self.render_pass == vk::RenderPass::null() {
            info.push_next(rendering)
        } else {
            info.render_pass(self.render_pass).subpass(self.subpass)
        }
    }
}
