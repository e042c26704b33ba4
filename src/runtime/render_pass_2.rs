//! Creation of render pass objects with `vkCreateRenderPass2`, for features that `vkCreateRenderPass` cannot express: resolving depth and stencil,
//! and feedback about merged subpasses.

use std::ffi::c_void;

use ash::vk;

use super::capabilities::Capabilities;
use super::device_state::DeviceState;
use super::subpass_merge::SubpassMerge;
use super::subpasses::{DepthResolve, Subpass};

/// The parameters of a render pass object, in the structures of `vkCreateRenderPass`.
pub(super) struct Parameters<'a> {
    pub(super) attachments: &'a [vk::AttachmentDescription],
    pub(super) subpasses: &'a [Subpass<'a>],
    pub(super) dependencies: &'a [vk::SubpassDependency],
    /// The view mask of every subpass.
    pub(super) view_mask: u32,
    /// Structures to chain to the creation info.
    pub(super) chain: *const c_void,
}

/// Returns true if the driver reports which subpasses it merges, for a render pass object with this number of subpasses.
pub(super) fn has_feedback(state: &DeviceState, subpasses: usize) -> bool {
    subpasses > 1 && state.capabilities.contains(Capabilities::SUBPASS_MERGE_FEEDBACK)
}

/// Creates a render pass object from the parameters, converted to the newer structures; also returns the driver's feedback about each subpass, if
/// it [gives any](has_feedback).
///
/// # Safety
/// - The references are to attachments of the list.
/// - The chain is alive, and Vulkan allows it after `VkRenderPassCreateInfo2`.
pub(super) unsafe fn create(
    state: &DeviceState,
    parameters: &Parameters<'_>,
) -> ash::prelude::VkResult<(vk::RenderPass, Vec<SubpassMerge>)> {
    let attachments: Vec<_> = parameters.attachments.iter().map(attachment).collect();
    let dependencies: Vec<_> = parameters.dependencies.iter().map(dependency).collect();
    let subpasses = parameters.subpasses.iter();
    let lists: Vec<References> = subpasses
        .clone()
        .map(|one| References::new(one, parameters.attachments))
        .collect();
    let mut resolves: Vec<_> = lists.iter().map(References::resolve).collect();
    let count = match has_feedback(state, lists.len()) {
        true => lists.len(),
        false => 0,
    };
    let mut merges = vec![vk::RenderPassSubpassFeedbackInfoEXT::default(); count];
    let mut feedback: Vec<_> = merges
        .iter_mut()
        .map(|one| vk::RenderPassSubpassFeedbackCreateInfoEXT::default().subpass_feedback(one))
        .collect();
    let mut feedback = feedback.iter_mut();
    let subpasses: Vec<_> = lists
        .iter()
        .zip(&mut resolves)
        .zip(subpasses)
        .map(|((list, resolve), one)| {
            let description = list
                .description()
                .view_mask(parameters.view_mask)
                .preserve_attachments(one.preserved);
            let description = match resolve {
                Some(resolve) => description.push_next(resolve),
                None => description,
            };
            match feedback.next() {
                Some(feedback) => description.push_next(feedback),
                None => description,
            }
        })
        .collect();
    let mut info = vk::RenderPassCreateInfo2::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    info.p_next = parameters.chain;
    let functions = state.functions.render_pass_2.as_ref();
    let functions = functions.expect("only called if vkCreateRenderPass2 is loaded");
    let mut render_pass = vk::RenderPass::null();
    // SAFETY: the caller's duty; the arrays are those above.
    let result = unsafe {
        (functions.create_render_pass2_khr)(state.device.handle(), &info, std::ptr::null(), &mut render_pass)
    };
    result.result()?;
    Ok((render_pass, merges.iter().map(SubpassMerge::from).collect()))
}

/// The attachment references of a subpass.
struct References {
    colors: Vec<vk::AttachmentReference2<'static>>,
    resolves: Vec<vk::AttachmentReference2<'static>>,
    depth: Option<vk::AttachmentReference2<'static>>,
    depth_resolve: Option<(vk::AttachmentReference2<'static>, vk::ResolveModeFlags)>,
    inputs: Vec<vk::AttachmentReference2<'static>>,
}

impl References {
    fn new(subpass: &Subpass<'_>, attachments: &[vk::AttachmentDescription]) -> References {
        let list = |all: &[vk::AttachmentReference]| all.iter().map(reference).collect();
        // Shaders may read every aspect, as with the older structures.
        let input = |one: &vk::AttachmentReference| {
            let format = attachments[one.attachment as usize].format;
            reference(one).aspect_mask(crate::format::aspects(format))
        };
        let resolve = |one: DepthResolve| (reference(&one.reference), one.mode);
        References {
            colors: list(&subpass.colors),
            resolves: list(&subpass.resolves),
            depth: subpass.depth.as_ref().map(reference),
            depth_resolve: subpass.depth_resolve.map(resolve),
            inputs: subpass.inputs.iter().map(input).collect(),
        }
    }

    fn description(&self) -> vk::SubpassDescription2<'_> {
        let description = vk::SubpassDescription2::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(&self.colors)
            .input_attachments(&self.inputs);
        let description = match &self.depth {
            Some(depth) => description.depth_stencil_attachment(depth),
            None => description,
        };
        match &self.resolves[..] {
            [] => description,
            resolves => description.resolve_attachments(resolves),
        }
    }

    fn resolve(&self) -> Option<vk::SubpassDescriptionDepthStencilResolve<'_>> {
        let (target, mode) = self.depth_resolve.as_ref()?;
        let resolve = vk::SubpassDescriptionDepthStencilResolve::default()
            .depth_resolve_mode(*mode)
            .stencil_resolve_mode(*mode)
            .depth_stencil_resolve_attachment(target);
        Some(resolve)
    }
}

fn reference(one: &vk::AttachmentReference) -> vk::AttachmentReference2<'static> {
    vk::AttachmentReference2::default()
        .attachment(one.attachment)
        .layout(one.layout)
}

fn attachment(one: &vk::AttachmentDescription) -> vk::AttachmentDescription2<'static> {
    vk::AttachmentDescription2::default()
        .flags(one.flags)
        .format(one.format)
        .samples(one.samples)
        .load_op(one.load_op)
        .store_op(one.store_op)
        .stencil_load_op(one.stencil_load_op)
        .stencil_store_op(one.stencil_store_op)
        .initial_layout(one.initial_layout)
        .final_layout(one.final_layout)
}

fn dependency(one: &vk::SubpassDependency) -> vk::SubpassDependency2<'static> {
    vk::SubpassDependency2::default()
        .src_subpass(one.src_subpass)
        .dst_subpass(one.dst_subpass)
        .src_stage_mask(one.src_stage_mask)
        .src_access_mask(one.src_access_mask)
        .dst_stage_mask(one.dst_stage_mask)
        .dst_access_mask(one.dst_access_mask)
        .dependency_flags(one.dependency_flags)
}
