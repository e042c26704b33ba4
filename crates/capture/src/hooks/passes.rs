//! Entry points of render pass objects and dynamic rendering, and of secondary command buffers.

use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap::frame::{AccessKind, LoadOp};
use tileheap_layer::{array, chained, given};

use super::device::Device;
use super::recorder::{commands, submitted};
use crate::document::UnresolvedKind;
use crate::document::recording::{self, AttachmentUse, Role, Subpass};
use crate::model::access::Access;
use crate::model::objects::View;
use crate::model::recording::{Instance, Op, Recording, Rendering};
use crate::model::render_passes::{Rendered, area, attachment, attachment_accesses, load_op, resolve};

const SECONDARY: vk::SubpassContents = vk::SubpassContents::SECONDARY_COMMAND_BUFFERS;

commands! {
    vkCmdBeginRenderPass(info, contents) |device, recording| {
        begin_render_pass(device, recording, given!(info), contents);
    };
    vkCmdBeginRenderPass2(info, contents) |device, recording| begin_render_pass(device, recording, given!(info), given!(contents).contents);
    vkCmdNextSubpass(contents) |device, recording| {
        recording.push(Op::NextSubpass { secondary: contents == SECONDARY });
    };
    vkCmdNextSubpass2(begin, end) |device, recording| {
        recording.push(Op::NextSubpass { secondary: given!(begin).contents == SECONDARY });
    };
    vkCmdEndRenderPass() |device, recording| recording.push(Op::EndPass);
    vkCmdEndRenderPass2(info) |device, recording| recording.push(Op::EndPass);
    vkCmdBeginRendering(info) |device, recording| {
        recording.push(Op::BeginPass(rendering(device, given!(info))));
    };
    vkCmdEndRendering() |device, recording| recording.push(Op::EndPass);
    vkCmdEndRendering2KHR(info) |device, recording| recording.push(Op::EndPass);
    vkCmdClearAttachments(count, attachments, rect_count, rects) |device, recording| {
        recording.push(Op::ClearAttachments);
    };
    vkCmdExecuteCommands(count, all) |device, recording| {
        let all = array!(all, count).iter().map(|one| {
            let secondary = submitted(*one);
            (secondary.name, secondary.ops)
        });
        recording.execute(all.collect());
    };
}

fn begin_render_pass(
    device: &Device,
    recording: &mut Recording,
    info: &vk::RenderPassBeginInfo<'_>,
    contents: vk::SubpassContents,
) {
    let framebuffer = device
        .framebuffers
        .get(info.framebuffer.as_raw())
        .unwrap_or_default();
    let imageless = chained!(info.p_next => vk::RenderPassAttachmentBeginInfo<'_>);
    let views = match imageless.filter(|given| given.attachment_count > 0) {
        Some(given) => known_views(device, array!(given.p_attachments, given.attachment_count)),
        None => framebuffer.views,
    };
    let Some(pass) = device.render_passes.get(info.render_pass.as_raw()) else {
        return recording.push(Op::Unresolved(UnresolvedKind::UnknownObject));
    };
    if views.len() < pass.0.attachments.len() {
        recording.push(Op::Unresolved(UnresolvedKind::UnknownObject));
    }
    let clears = array!(info.p_clear_values, info.clear_value_count);
    let rendered = Rendered {
        area: info.render_area,
        layers: framebuffer.layers,
    };
    let instance = pass.begin(&views, clears, rendered);
    recording.push(Op::BeginPass(Instance {
        secondary: contents == SECONDARY,
        ..instance
    }));
}

/// Returns the views of a framebuffer; empty if one of them is not known.
pub(crate) fn known_views(device: &Device, views: &[vk::ImageView]) -> Vec<Arc<View>> {
    let known: Option<Vec<_>> = views.iter().map(|view| device.objects.view(*view)).collect();
    known.unwrap_or_default()
}

/// The state while the attachments of dynamic rendering are read.
struct DynamicRendering<'a> {
    device: &'a Device,
    info: &'a vk::RenderingInfo<'a>,
    resumes: bool,
    accesses: Vec<Access>,
    resolves: Vec<Access>,
    recorded: recording::Instance,
    subpass: Subpass,
    views: Vec<Arc<View>>,
}

fn rendering(device: &Device, info: &vk::RenderingInfo<'_>) -> Instance {
    let mut all = DynamicRendering {
        device,
        info,
        resumes: info.flags.contains(vk::RenderingFlags::RESUMING),
        accesses: Vec::new(),
        resolves: Vec::new(),
        recorded: recording::Instance::default(),
        subpass: Subpass {
            view_mask: info.view_mask,
            ..Subpass::default()
        },
        views: Vec::new(),
    };
    for one in array!(info.p_color_attachments, info.color_attachment_count) {
        all.color(one);
    }
    let [depth, stencil] =
        [info.p_depth_attachment, info.p_stencil_attachment].map(|info| array!(info, 1).first());
    all.depth_stencil(depth, stencil);
    all.finish()
}

impl DynamicRendering<'_> {
    fn color(&mut self, info: &vk::RenderingAttachmentInfo<'_>) {
        let Some((view, load)) = self.attached(info, vk::ImageAspectFlags::COLOR) else {
            return;
        };
        let (kind, layout) = (AccessKind::ColorAttachment, info.image_layout);
        let accesses = attachment_accesses(&view, kind, layout, [load; 2], [info.store_op; 2]);
        self.accesses.extend(accesses);
        self.resolve(info, &view);
    }

    fn depth_stencil(
        &mut self,
        depth: Option<&vk::RenderingAttachmentInfo<'_>>,
        stencil: Option<&vk::RenderingAttachmentInfo<'_>>,
    ) {
        use vk::ImageAspectFlags as Aspects;
        let with = |all: &mut Self, info, aspect| Some((info, all.attached(info, aspect)?));
        let depth = depth.and_then(|info| with(self, info, Aspects::DEPTH));
        let stencil = stencil.and_then(|info| with(self, info, Aspects::STENCIL));
        let kind = AccessKind::DepthStencilAttachment;
        if let (Some((depth, (view, load))), Some((stencil, (_, stencil_load)))) = (&depth, &stencil) {
            let (loads, stores) = ([*load, *stencil_load], [depth.store_op, stencil.store_op]);
            let accesses = attachment_accesses(view, kind, depth.image_layout, loads, stores);
            self.accesses.extend(accesses);
            return self.resolve(depth, view);
        }
        let only = [(depth, Aspects::DEPTH), (stencil, Aspects::STENCIL)];
        for (one, aspect) in only {
            let Some((info, (view, load))) = one else { continue };
            let accesses = attachment_accesses(&view, kind, info.image_layout, [load; 2], [info.store_op; 2]);
            self.accesses.extend(accesses.into_iter().map(|mut access| {
                access.range.aspects = aspect;
                access
            }));
            self.resolve(info, &view);
        }
    }

    /// Returns the view and the load operation of an attachment, if it has a view, and adds it to the attachments of the recorded instance.
    fn attached(
        &mut self,
        info: &vk::RenderingAttachmentInfo<'_>,
        aspect: vk::ImageAspectFlags,
    ) -> Option<(Arc<View>, LoadOp)> {
        let view = self.device.objects.view(info.image_view)?;
        let role = if aspect == vk::ImageAspectFlags::COLOR {
            Role::Color
        } else {
            Role::DepthStencil
        };
        let is_resolved = info.resolve_mode != vk::ResolveModeFlags::NONE;
        let resolved = self
            .device
            .objects
            .view(info.resolve_image_view)
            .filter(|_| is_resolved);
        let source = self.attach(&view, aspect, info.image_layout, role);
        let attached = &mut self.recorded.attachments[source as usize];
        (attached.load, attached.stencil_load) = (info.load_op, info.load_op);
        (attached.store, attached.stencil_store) = (info.store_op, info.store_op);
        if let Some(target) = resolved {
            self.subpass.uses.push(AttachmentUse {
                attachment: source,
                role: Role::ResolveSource,
                layout: info.image_layout,
            });
            self.attach(&target, aspect, info.resolve_image_layout, Role::ResolveTarget);
        }
        let load = if self.resumes {
            vk::AttachmentLoadOp::LOAD
        } else {
            info.load_op
        };
        let load = load_op(load, info.clear_value, view.format);
        Some((view, load))
    }

    /// Adds an attachment without operations to the recorded instance; returns its index.
    fn attach(
        &mut self,
        view: &Arc<View>,
        aspect: vk::ImageAspectFlags,
        layout: vk::ImageLayout,
        role: Role,
    ) -> u32 {
        let layers = if self.info.view_mask == 0 {
            self.info.layer_count
        } else {
            u32::MAX
        };
        let mut attached = attachment(view, layers);
        attached.range.aspects = aspect;
        (attached.initial, attached.last) = (layout, layout);
        let index = self.recorded.attachments.len() as u32;
        self.recorded.attachments.push(attached);
        self.subpass.uses.push(AttachmentUse {
            attachment: index,
            role,
            layout,
        });
        self.views.push(view.clone());
        index
    }

    /// Adds the access to the target of a resolve.
    fn resolve(&mut self, info: &vk::RenderingAttachmentInfo<'_>, source: &View) {
        let is_resolved = info.resolve_mode != vk::ResolveModeFlags::NONE;
        let target = self
            .device
            .objects
            .view(info.resolve_image_view)
            .filter(|_| is_resolved);
        let store = vk::AttachmentStoreOp::STORE;
        self.resolves
            .extend(target.map(|target| resolve(source, &target, info.resolve_image_layout, store)));
    }

    fn finish(self) -> Instance {
        let flags = self.info.flags;
        let mut attachments = self.accesses;
        attachments.extend(self.resolves);
        Instance {
            recorded: recording::Instance {
                area: area(self.info.render_area, &self.views),
                subpasses: vec![self.subpass],
                resumes: self.resumes,
                suspends: flags.contains(vk::RenderingFlags::SUSPENDING),
                ..self.recorded
            },
            subpasses: vec![Rendering {
                attachments,
                area: self.info.render_area,
                view_mask: self.info.view_mask,
                resumes: self.resumes,
            }],
            views: self.views,
            dynamic: true,
            secondary: flags.contains(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS),
        }
    }
}
