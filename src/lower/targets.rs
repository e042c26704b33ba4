//! Targets: formats, samples and render passes for creating pipelines, known as soon as a frame is planned.

use ash::vk;

use super::error::LowerError;
use super::lowering_desc::{DeviceQueues, LoweringDesc};
use super::make::lower;
use super::tables::Lowered;
use super::tables::commands::PassContents;
use super::tables::instances::{InstanceRow, SubpassRow};
use crate::Checked;
use crate::frame::PassId;
use crate::plan::Plan;
use crate::units::Run;

/// The formats, samples and render pass for creating the pipelines of a subpass.
///
/// Pipelines outlive a resize: another plan with the same formats has compatible targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineTarget {
    /// Formats of the color attachments, in order: those of the subpass, or of all subpasses if they use dynamic rendering local read.
    pub color_formats: Vec<vk::Format>,
    /// The aspects (depth, stencil) that the subpass uses; its pipelines must not test or write any other aspect.
    pub depth_aspects: vk::ImageAspectFlags,
    /// Format of the attachment's depth aspect, or `UNDEFINED`; with dynamic rendering local read, also that of a depth attachment of other subpasses.
    pub depth_format: vk::Format,
    /// Format of the attachment's stencil aspect, or `UNDEFINED`.
    pub stencil_format: vk::Format,
    /// Sample count of the pipelines: the one that the pass declares, otherwise that of the attachments; 1 if there are none.
    pub samples: vk::SampleCountFlags,
    /// Extent of the render area that the frame describes.
    pub extent: vk::Extent2D,
    /// Number of layers rendered to; 1 with a view mask.
    pub layers: u32,
    /// `viewMask`; 0 without multiview.
    pub view_mask: u32,
    /// True if rendering is dynamic; otherwise pipelines are created with a render pass object.
    pub dynamic: bool,
    /// The render pass object: null if rendering is dynamic, and in the result of [`Checked::targets`], which creates nothing. A compatible
    /// one comes from [`runtime::Device::targets`](crate::runtime::Device::targets).
    pub render_pass: vk::RenderPass,
    /// The index of the subpass in its render pass, from 0.
    pub subpass: u32,
    /// The attachments that the subpass's shaders write and read, if the subpass uses dynamic rendering local read.
    pub local_read: Option<LocalReadMapping>,
}

/// Locations and input attachment indices of a subpass in dynamic rendering; `ATTACHMENT_UNUSED` for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalReadMapping {
    /// Per color attachment, the location of the output that writes it (`VkRenderingAttachmentLocationInfo`).
    pub locations: Vec<u32>,
    /// Per color attachment, the index by which it is read (`VkRenderingInputAttachmentIndexInfo`).
    pub inputs: Vec<u32>,
}

impl LocalReadMapping {
    /// The locations as a structure for `vkCmdSetRenderingAttachmentLocations`, pipelines and secondary command buffers.
    pub fn locations(&self) -> vk::RenderingAttachmentLocationInfoKHR<'_> {
        vk::RenderingAttachmentLocationInfoKHR::default().color_attachment_locations(&self.locations)
    }

    /// The indices as a structure for `vkCmdSetRenderingInputAttachmentIndices`, pipelines and secondary command buffers.
    pub fn indices(&self) -> vk::RenderingInputAttachmentIndexInfoKHR<'_> {
        let info = vk::RenderingInputAttachmentIndexInfoKHR::default();
        info.color_attachment_input_indices(&self.inputs)
            .depth_input_attachment_index(&vk::ATTACHMENT_UNUSED)
            .stencil_input_attachment_index(&vk::ATTACHMENT_UNUSED)
    }
}

/// The structures to chain to a pipeline's creation info if rendering is dynamic.
#[derive(Debug)]
pub struct RenderingInfo<'a> {
    formats: vk::PipelineRenderingCreateInfo<'a>,
    local_read: Option<(
        vk::RenderingAttachmentLocationInfoKHR<'a>,
        vk::RenderingInputAttachmentIndexInfoKHR<'a>,
    )>,
}

impl PipelineTarget {
    /// The target of a subpass, without a render pass object.
    pub(crate) fn new(
        tables: &Lowered,
        instance: &InstanceRow,
        subpass: u32,
        row: &SubpassRow,
    ) -> PipelineTarget {
        let list = |run: Run| run.of(&tables.indices).to_vec();
        PipelineTarget {
            color_formats: row.color_formats.of(&tables.formats).to_vec(),
            depth_aspects: row.depth_aspects,
            depth_format: row.depth_format,
            stencil_format: row.stencil_format,
            samples: row.samples,
            extent: instance.area.extent,
            layers: instance.layers,
            view_mask: instance.view_mask,
            dynamic: instance.dynamic,
            render_pass: vk::RenderPass::null(),
            subpass,
            local_read: instance.local_read.then(|| LocalReadMapping {
                locations: list(row.locations),
                inputs: list(row.input_indices),
            }),
        }
    }

    /// The structures to chain to a pipeline's creation info if rendering is dynamic.
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

    /// Sets the target in a pipeline's creation info: sets the render pass and subpass, or chains `rendering`, the result of [`PipelineTarget::rendering`].
    ///
    /// # Panics
    /// If pipelines need a render pass object, and the target has none.
    pub fn attach<'a>(
        &self,
        info: vk::GraphicsPipelineCreateInfo<'a>,
        rendering: &'a mut RenderingInfo<'_>,
    ) -> vk::GraphicsPipelineCreateInfo<'a> {
        if !self.dynamic {
            let missing = self.render_pass == vk::RenderPass::null();
            assert!(
                !missing,
                "the target's render pass object is created by Device::targets"
            );
            return info.render_pass(self.render_pass).subpass(self.subpass);
        }
        let info = info.push_next(&mut rendering.formats);
        match &mut rendering.local_read {
            Some((locations, inputs)) => info.push_next(locations).push_next(inputs),
            None => info,
        }
    }
}

/// The targets of a plan's render passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineTargets {
    /// The targets of all subpasses, in the order of passes.
    targets: Vec<PipelineTarget>,
    /// Per pass of the planned frame, its run in `targets`; empty for compute and transfer passes.
    of_pass: Vec<Run>,
    /// Per pass of the described frame, the pass of the planned frame that runs it.
    planned_passes: Vec<PassId>,
}

impl PipelineTargets {
    /// Creates the targets from a plan's tables; `render_pass` returns the render pass object of a row of instances, or null.
    pub(crate) fn new(
        plan: &Plan,
        tables: &Lowered,
        render_pass: impl Fn(u32) -> vk::RenderPass,
    ) -> PipelineTargets {
        let rows = tables
            .passes
            .iter()
            .filter(|row| row.contents != PassContents::Clear);
        let mut targets = Vec::with_capacity(tables.subpasses.len());
        let of_pass = rows.map(|row| {
            let first = targets.len() as u32;
            if let Some(index) = row.instance.get() {
                let instance = &tables.instances[index as usize];
                let subpasses = (0..).zip(tables.subpasses_of(index));
                targets.extend(subpasses.map(|(number, row)| PipelineTarget {
                    render_pass: render_pass(index),
                    ..PipelineTarget::new(tables, instance, number, row)
                }));
            }
            Run::new(first, targets.len() as u32)
        });
        PipelineTargets {
            of_pass: of_pass.collect(),
            targets,
            planned_passes: plan
                .input
                .frame()
                .pass_ids()
                .map(|pass| plan.pass_of_input(pass))
                .collect(),
        }
    }

    /// The target of the pipelines of one subpass of a pass; `subpass` is 0 for passes with one subpass. `None` if the pass is not a render pass, or has
    /// fewer subpasses.
    pub fn get(&self, pass: PassId, subpass: u32) -> Option<&PipelineTarget> {
        self.in_plan(self.planned_passes[pass.index()], subpass)
    }

    /// Like [`PipelineTargets::get`], for a pass of the planned frame.
    pub(crate) fn in_plan(&self, pass: PassId, subpass: u32) -> Option<&PipelineTarget> {
        let of_pass = self.of_pass[pass.index()].of(&self.targets);
        of_pass.get(subpass as usize)
    }
}

impl Checked<Plan> {
    /// The targets of all render passes, before anything is created or bound.
    ///
    /// Pipelines of devices without dynamic rendering also need render pass objects, which
    /// [`runtime::Device::targets`](crate::runtime::Device::targets) creates.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
    /// # use tileheap::{frame::tables::PassKind, measure::estimate, plan::{PlanOptions, plan}, profile::DeviceProfile};
    /// # let frame = synthetic(7, SyntheticDesc::default());
    /// # let profile = Arc::new(DeviceProfile::preset("adreno-830")?);
    /// # let needs = Arc::new(estimate(&frame, &profile)?);
    /// let plan = plan(&frame, &needs, &profile, &PlanOptions::default())?;
    /// let targets = plan.targets()?;
    /// for pass in frame.pass_ids() {
    ///     assert_eq!(targets.get(pass, 0).is_some(), frame.pass(pass).kind == PassKind::Render);
    /// }
    /// # Ok::<(), tileheap::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`lower`]: for plans that were made only for comparison, and for passes that need dynamic rendering if the device lacks it.
    pub fn targets(&self) -> Result<PipelineTargets, LowerError> {
        let tables = lower(
            self,
            &LoweringDesc::first(DeviceQueues::single_queue(&self.frame)),
        )?;
        Ok(PipelineTargets::new(self, &tables, |_| vk::RenderPass::null()))
    }
}
