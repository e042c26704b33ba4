//! Render pass objects: for devices without dynamic rendering, and for passes with input attachments.
//!
//! ```text
//! attachments   0 color   1 color   2 depth   3 resolve   4 input      one subpass, no layout changes:
//! layouts       the plan's, before, during and after                  the plan's barriers make those
//! ```

use ash::vk;

use super::attachment::{Attachment, Attachments};
use super::bound_resource::BoundResource;
use super::device_state::DeviceState;
use super::error::{RuntimeError, VkResultExt};
use super::owned::OwnedObjects;
use super::tiles::Tiles;
use crate::Result;
use crate::frame::tables::Pass;
use crate::units::Bytes;

/// A render pass object with its current framebuffer.
pub(super) struct PassObject {
    pub(super) render_pass: vk::RenderPass,
    /// Null until [`PassObject::refresh`].
    pub(super) framebuffer: vk::Framebuffer,
    area: vk::Extent2D,
    layers: u32,
    clears: Vec<vk::ClearValue>,
    /// The attachments, each placement once.
    attachments: Vec<Attachment>,
    /// The views of the framebuffer; rewritten in place.
    views: Vec<vk::ImageView>,
    /// Framebuffers for the views seen so far: swapchain images alternate.
    known: Vec<(Vec<vk::ImageView>, vk::Framebuffer)>,
}

impl PassObject {
    pub(super) fn new(
        render_pass: vk::RenderPass,
        attachments: &Attachments,
        area: vk::Extent2D,
        layers: u32,
    ) -> PassObject {
        let attachments = each_once(attachments);
        PassObject {
            render_pass,
            framebuffer: vk::Framebuffer::null(),
            area,
            layers,
            clears: attachments
                .iter()
                .map(|attachment| attachment.clear.to_vk())
                .collect(),
            views: vec![vk::ImageView::null(); attachments.len()],
            attachments,
            known: Vec::new(),
        }
    }

    /// Looks up the framebuffer of the attachments' views, or creates it.
    pub(super) fn refresh(
        &mut self,
        state: &DeviceState,
        owned: &mut OwnedObjects,
        places: &[BoundResource],
        pass: &Pass,
    ) -> Result<()> {
        for (view, attachment) in self.views.iter_mut().zip(&self.attachments) {
            *view = places[attachment.placement.index()].attachment();
        }
        if self.views.contains(&vk::ImageView::null()) {
            // An external image that is not imported yet.
            return Ok(());
        }
        if let Some((_, framebuffer)) = self.known.iter().find(|(views, _)| *views == self.views) {
            self.framebuffer = *framebuffer;
            return Ok(());
        }
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(self.render_pass)
            .attachments(&self.views)
            .width(self.area.width)
            .height(self.area.height)
            .layers(self.layers);
        // SAFETY: the render pass and the views are alive, and match by construction.
        let framebuffer = unsafe { state.device.create_framebuffer(&info, None) }
            .with_call("vkCreateFramebuffer", || format!("pass `{}`", pass.name))?;
        owned.framebuffers.push(framebuffer);
        state.set_name(framebuffer, &pass.name);
        self.known.push((self.views.clone(), framebuffer));
        self.framebuffer = framebuffer;
        Ok(())
    }

    /// Forgets the framebuffers with `view`; gives them to be destroyed.
    pub(super) fn forget(&mut self, view: vk::ImageView) -> Vec<vk::Framebuffer> {
        let mut gone = Vec::new();
        self.known.retain(|(views, framebuffer)| {
            let is_gone = views.contains(&view);
            gone.extend(is_gone.then_some(*framebuffer));
            !is_gone
        });
        if gone.contains(&self.framebuffer) {
            self.framebuffer = vk::Framebuffer::null();
        }
        gone
    }

    /// # Safety
    /// As [`Rendering::begin`](super::rendering::Rendering::begin).
    pub(super) unsafe fn begin(&self, device: &ash::Device, commands: vk::CommandBuffer, secondary: bool) {
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(self.render_pass)
            .framebuffer(self.framebuffer)
            .render_area(vk::Rect2D {
                offset: vk::Offset2D::default(),
                extent: self.area,
            })
            .clear_values(&self.clears);
        let contents = if secondary {
            vk::SubpassContents::SECONDARY_COMMAND_BUFFERS
        } else {
            vk::SubpassContents::INLINE
        };
        // SAFETY: the caller's duty; the framebuffer was made for this frame's views.
        unsafe { device.cmd_begin_render_pass(commands, &info, contents) };
    }
}

/// Every attachment, each placement once: what is attached and input at the same time is one attachment.
fn each_once(attachments: &Attachments) -> Vec<Attachment> {
    let mut list: Vec<Attachment> = Vec::new();
    for attachment in attachments.all() {
        if list.iter().all(|other| other.placement != attachment.placement) {
            list.push(*attachment);
        }
    }
    list
}

/// Creates the render pass object of a pass, during which `bound` bytes of tile memory are bound.
pub(super) fn create(
    state: &DeviceState,
    owned: &mut OwnedObjects,
    pass: &Pass,
    attachments: &Attachments,
    bound: Bytes,
) -> Result<vk::RenderPass> {
    if attachments.depth.is_some_and(|depth| depth.resolve.is_some()) {
        let why = "resolving depth requires dynamic rendering, which input attachments rule out";
        return Err(RuntimeError::UnsupportedPass {
            pass: pass.name.clone(),
            why,
        }
        .into());
    }
    let list = each_once(attachments);
    let reference = |attachment: &Attachment| {
        let index = list
            .iter()
            .position(|other| other.placement == attachment.placement);
        let index = index.expect("every attachment is in the list");
        vk::AttachmentReference {
            attachment: index as u32,
            layout: attachment.layout,
        }
    };
    let describe = |attachment: &Attachment| {
        vk::AttachmentDescription::default()
            .format(attachment.format)
            .samples(attachment.samples)
            .load_op(attachment.load)
            .store_op(attachment.store)
            .stencil_load_op(attachment.load)
            .stencil_store_op(attachment.store)
            .initial_layout(attachment.layout)
            .final_layout(attachment.layout)
    };
    let descriptions: Vec<_> = list.iter().map(describe).collect();
    let colors: Vec<_> = attachments.colors.iter().map(reference).collect();
    let inputs: Vec<_> = attachments.inputs.iter().map(reference).collect();
    let depth = attachments.depth.as_ref().map(reference);
    let unused = vk::AttachmentReference {
        attachment: vk::ATTACHMENT_UNUSED,
        layout: vk::ImageLayout::UNDEFINED,
    };
    let resolve = |attachment: &Attachment| {
        attachment
            .resolve
            .map_or(unused, |index| reference(&attachments.resolves[index]))
    };
    let resolves: Vec<_> = attachments.colors.iter().map(resolve).collect();
    let mut subpass = vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colors)
        .input_attachments(&inputs);
    if let Some(depth) = &depth {
        subpass = subpass.depth_stencil_attachment(depth);
    }
    if !attachments.resolves.is_empty() {
        subpass = subpass.resolve_attachments(&resolves);
    }
    let dependencies = dependencies(attachments);
    let subpasses = [subpass];
    let mut info = vk::RenderPassCreateInfo::default()
        .attachments(&descriptions)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    let mut tiles = Tiles::new(state, pass, bound);
    if let Some(size) = &mut tiles.size {
        info = info.push_next(size);
    }
    if let Some(shading) = &mut tiles.shading {
        info = info.push_next(shading);
    }
    // SAFETY: every reference is to an attachment of the list.
    let render_pass = unsafe { state.device.create_render_pass(&info, None) }
        .with_call("vkCreateRenderPass", || format!("pass `{}`", pass.name))?;
    owned.render_passes.push(render_pass);
    state.set_name(render_pass, &pass.name);
    Ok(render_pass)
}

/// None, as the plan's barriers stand before and after the pass, but for input attachments: the plan knows them as shader
/// reads, while loading and storing them are accesses of the attachment stages.
fn dependencies(attachments: &Attachments) -> Vec<vk::SubpassDependency> {
    use vk::{AccessFlags as A, PipelineStageFlags as S};
    if attachments.inputs.is_empty() {
        return Vec::new();
    }
    let stages = S::COLOR_ATTACHMENT_OUTPUT | S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS;
    let writes = A::COLOR_ATTACHMENT_WRITE | A::DEPTH_STENCIL_ATTACHMENT_WRITE;
    let reads = A::COLOR_ATTACHMENT_READ | A::DEPTH_STENCIL_ATTACHMENT_READ;
    let mut dependencies = vec![
        vk::SubpassDependency::default()
            .src_subpass(vk::SUBPASS_EXTERNAL)
            .dst_subpass(0)
            .src_stage_mask(S::ALL_COMMANDS)
            .src_access_mask(A::MEMORY_WRITE)
            .dst_stage_mask(stages | S::FRAGMENT_SHADER)
            .dst_access_mask(reads | writes | A::INPUT_ATTACHMENT_READ),
        vk::SubpassDependency::default()
            .src_subpass(0)
            .dst_subpass(vk::SUBPASS_EXTERNAL)
            .src_stage_mask(stages)
            .src_access_mask(writes)
            .dst_stage_mask(S::ALL_COMMANDS)
            .dst_access_mask(A::MEMORY_READ | A::MEMORY_WRITE),
    ];
    let written = attachments
        .colors
        .iter()
        .chain(&attachments.depth)
        .map(|attachment| attachment.placement);
    let fed_back = |placement| {
        attachments
            .inputs
            .iter()
            .any(|input| input.placement == placement)
    };
    if written.into_iter().any(fed_back) {
        // Lets the caller's vkCmdPipelineBarrier inside the pass make its own writes readable.
        dependencies.push(
            vk::SubpassDependency::default()
                .src_subpass(0)
                .dst_subpass(0)
                .src_stage_mask(stages)
                .src_access_mask(writes)
                .dst_stage_mask(S::FRAGMENT_SHADER)
                .dst_access_mask(A::INPUT_ATTACHMENT_READ)
                .dependency_flags(vk::DependencyFlags::BY_REGION),
        );
    }
    dependencies
}
