//! The attachment formats and render pass that a pipeline is created for.

use ash::vk;

use crate::lower::Lowered;
use crate::lower::tables::commands::RenderingRow;
use crate::units::Run;

/// The formats, samples and render pass object that pipelines of a subpass are created with.
///
/// Pipelines outlive a resize: another [`BoundFrame`](super::BoundFrame) with the same formats has compatible targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Formats of the colour attachments, in order: of those of the subpass, or of all where several subpasses run by local read.
    pub color_formats: Vec<vk::Format>,
    /// The aspects of depth and stencil that the subpass uses: pipelines test and write no other.
    pub depth_aspects: vk::ImageAspectFlags,
    /// Format of the attachment's depth aspect, or `UNDEFINED`; where subpasses run by local read also of one that others use.
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
    /// Which attachments its shaders write and read, where it runs by local read.
    pub local_read: Option<LocalRead>,
}

/// Locations and input attachment indices of a subpass in dynamic rendering; `ATTACHMENT_UNUSED` for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalRead {
    /// Per colour attachment, the location of the output that writes it (`VkRenderingAttachmentLocationInfo`).
    pub locations: Vec<u32>,
    /// Per colour attachment, the index by which it is read (`VkRenderingInputAttachmentIndexInfo`).
    pub inputs: Vec<u32>,
}

impl LocalRead {
    /// Of a subpass of an instance; `None` for those that need none.
    pub(super) fn new(tables: &Lowered, instance: &[RenderingRow], row: &RenderingRow) -> Option<LocalRead> {
        if !tables.is_local_read(instance) {
            return None;
        }
        let view = |attachment: usize| tables.attachments[attachment].view;
        let colors = tables.color_attachments_of(instance);
        let place_in = |run: Run, color: u32| {
            let place = run.indices().position(|one| view(one) == view(color as usize));
            place.map_or(vk::ATTACHMENT_UNUSED, |place| place as u32)
        };
        let of_colors = |run: Run| colors.iter().map(move |&color| place_in(run, color));
        Some(LocalRead {
            locations: of_colors(row.colors).collect(),
            inputs: of_colors(row.inputs).collect(),
        })
    }

    pub(super) fn locations(&self) -> vk::RenderingAttachmentLocationInfoKHR<'_> {
        vk::RenderingAttachmentLocationInfoKHR::default().color_attachment_locations(&self.locations)
    }

    pub(super) fn indices(&self) -> vk::RenderingInputAttachmentIndexInfoKHR<'_> {
        let info = vk::RenderingInputAttachmentIndexInfoKHR::default();
        info.color_attachment_input_indices(&self.inputs)
            .depth_input_attachment_index(&vk::ATTACHMENT_UNUSED)
            .stencil_input_attachment_index(&vk::ATTACHMENT_UNUSED)
    }
}

/// What is chained to a pipeline's creation where rendering is dynamic.
#[derive(Debug)]
pub struct RenderingInfo<'a> {
    formats: vk::PipelineRenderingCreateInfo<'a>,
    local_read: Option<(
        vk::RenderingAttachmentLocationInfoKHR<'a>,
        vk::RenderingInputAttachmentIndexInfoKHR<'a>,
    )>,
}

impl Target {
    /// The target of a subpass that is recorded through `render_pass`, or dynamically if that is null.
    pub(super) fn new(
        tables: &Lowered,
        instance: &[RenderingRow],
        row: &RenderingRow,
        render_pass: vk::RenderPass,
    ) -> Target {
        Target {
            subpass: row.subpass,
            local_read: LocalRead::new(tables, instance, row),
            depth_aspects: row.depth_aspects,
            color_formats: row.color_formats.of(&tables.formats).to_vec(),
            depth_format: row.depth_format,
            stencil_format: row.stencil_format,
            samples: row.samples,
            extent: row.area.extent,
            layers: row.layers,
            view_mask: row.view_mask,
            render_pass,
        }
    }

    /// The structs to chain to a pipeline's creation where rendering is dynamic.
    pub fn rendering(&self) -> RenderingInfo<'_> {
        let local_read = self.local_read.as_ref();
        RenderingInfo {
            formats: vk::PipelineRenderingCreateInfo::default()
                .view_mask(self.view_mask)
                .color_attachment_formats(&self.color_formats)
                .depth_attachment_format(self.depth_format)
                .stencil_attachment_format(self.stencil_format),
            local_read: local_read.map(|local| (local.locations(), local.indices())),
        }
    }

    /// Sets the target of a pipeline's creation info: by its render pass, or by chaining `rendering` (of
    /// [`Target::rendering`]).
    pub fn attach<'a>(
        &self,
        info: vk::GraphicsPipelineCreateInfo<'a>,
        rendering: &'a mut RenderingInfo<'_>,
    ) -> vk::GraphicsPipelineCreateInfo<'a> {
        if self.render_pass != vk::RenderPass::null() {
            return info.render_pass(self.render_pass).subpass(self.subpass);
        }
        let info = info.push_next(&mut rendering.formats);
        match &mut rendering.local_read {
            Some((locations, inputs)) => info.push_next(locations).push_next(inputs),
            None => info,
        }
    }
}
