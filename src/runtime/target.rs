//! The attachment formats and render pass that a pipeline is created for.

use ash::vk;

use super::attachment::Attachments;
use crate::frame::tables::Pass;

/// The formats, samples and render pass object that pipelines of a render pass are created with.
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
    /// The render area.
    pub extent: vk::Extent2D,
    /// Layers rendered to.
    pub layers: u32,
    /// The render pass (subpass 0 is the only one), or null: dynamic rendering.
    pub render_pass: vk::RenderPass,
}

impl Target {
    /// The target of a render pass that is recorded through `render_pass`, or dynamically if that is null.
    pub(super) fn new(pass: &Pass, attachments: &Attachments, render_pass: vk::RenderPass) -> Target {
        let depth = attachments.depth.as_ref();
        let with_aspect = |aspect: vk::ImageAspectFlags| {
            let attachment = depth.filter(|attachment| attachment.aspects.contains(aspect));
            attachment.map_or(vk::Format::UNDEFINED, |attachment| attachment.format)
        };
        let samples = attachments
            .colors
            .iter()
            .chain(depth)
            .map(|attachment| attachment.samples)
            .next();
        Target {
            color_formats: attachments
                .colors
                .iter()
                .map(|attachment| attachment.format)
                .collect(),
            depth_format: with_aspect(vk::ImageAspectFlags::DEPTH),
            stencil_format: with_aspect(vk::ImageAspectFlags::STENCIL),
            samples: samples.unwrap_or(vk::SampleCountFlags::TYPE_1),
            extent: pass.area,
            layers: pass.layers,
            render_pass,
        }
    }

    /// The struct to chain to a pipeline's creation where rendering is dynamic.
    pub fn rendering(&self) -> vk::PipelineRenderingCreateInfo<'_> {
        vk::PipelineRenderingCreateInfo::default()
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
            info.render_pass(self.render_pass).subpass(0)
        }
    }
}
