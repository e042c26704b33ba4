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
use crate::model::access::FollowedAccess;
use crate::model::objects::View;
use crate::model::recording::{Op, Recording, RenderPassInstance, Rendering};
use crate::model::render_passes::{
    Rendered, area, attachment, attachment_accesses, density_map, load_op, resolve, shading_rate, unattached,
};

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
        recording.push(Op::BeginPass(Box::new(rendering(device, given!(info)))));
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
    recording.push(Op::BeginPass(Box::new(RenderPassInstance {
        secondary: contents == SECONDARY,
        ..instance
    })));
}

/// Returns the views of a framebuffer; empty if one of them is not known.
pub(crate) fn known_views(device: &Device, views: &[vk::ImageView]) -> Vec<Arc<View>> {
    let known: Option<Vec<_>> = views.iter().map(|view| device.objects.view(*view)).collect();
    known.unwrap_or_default()
}

/// State kept while the attachments of a dynamic rendering instance are converted.
struct DynamicRendering<'a> {
    device: &'a Device,
    info: &'a vk::RenderingInfo<'a>,
    resumes: bool,
    accesses: Vec<FollowedAccess>,
    resolves: Vec<FollowedAccess>,
    recorded: recording::RenderPassInstance,
    subpass: Subpass,
    views: Vec<Arc<View>>,
    rates: Vec<FollowedAccess>,
}

fn rendering(device: &Device, info: &vk::RenderingInfo<'_>) -> RenderPassInstance {
    let mut all = DynamicRendering {
        device,
        info,
        resumes: info.flags.contains(vk::RenderingFlags::RESUMING),
        accesses: Vec::new(),
        resolves: Vec::new(),
        recorded: recording::RenderPassInstance::default(),
        subpass: Subpass {
            view_mask: info.view_mask,
            ..Subpass::default()
        },
        views: Vec::new(),
        rates: Vec::new(),
    };
    for one in array!(info.p_color_attachments, info.color_attachment_count) {
        all.color(one);
    }
    let [depth, stencil] =
        [info.p_depth_attachment, info.p_stencil_attachment].map(|info| array!(info, 1).first());
    all.depth_stencil(depth, stencil);
    all.rates();
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
        self.resolve(&view, &[(info, vk::ImageAspectFlags::COLOR)]);
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
            return self.resolve(view, &[(*depth, Aspects::DEPTH), (*stencil, Aspects::STENCIL)]);
        }
        let only = [(depth, Aspects::DEPTH), (stencil, Aspects::STENCIL)];
        for (one, aspect) in only {
            let Some((info, (view, load))) = one else { continue };
            let accesses = attachment_accesses(&view, kind, info.image_layout, [load; 2], [info.store_op; 2]);
            self.accesses.extend(accesses.into_iter().map(|mut access| {
                access.range.aspects = aspect;
                access
            }));
            self.resolve(&view, &[(info, aspect)]);
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
                resolved: vk::ImageAspectFlags::empty(),
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

    /// Adds an attachment with load and store operations `NONE` to the recorded instance; returns its index.
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
            resolved: vk::ImageAspectFlags::empty(),
        });
        self.views.push(view.clone());
        index
    }

    /// Adds the access to the target of a resolve, given the attachments of its source: a color attachment, or those of depth and stencil.
    fn resolve(
        &mut self,
        source: &View,
        attached: &[(&vk::RenderingAttachmentInfo<'_>, vk::ImageAspectFlags)],
    ) {
        let modes = attached
            .iter()
            .filter(|(info, _)| info.resolve_mode != vk::ResolveModeFlags::NONE);
        let all = |aspects: &mut dyn Iterator<Item = vk::ImageAspectFlags>| {
            aspects.fold(vk::ImageAspectFlags::empty(), |all, one| all | one)
        };
        let resolved = all(&mut modes.clone().map(|one| one.1));
        let attached = all(&mut attached.iter().map(|one| one.1));
        // Depth and stencil are resolved into the same view.
        let mut modes = modes.map(|one| one.0);
        let target = modes.find_map(|info| Some((self.device.objects.view(info.resolve_image_view)?, info)));
        let Some((target, info)) = target else { return };
        let (store, layout) = (vk::AttachmentStoreOp::STORE, info.resolve_image_layout);
        let access = resolve(source, &target, layout, store, resolved);
        let missing = access.range.aspects & !attached;
        if access.described_as.is_some() && !missing.is_empty() {
            self.accesses.push(unattached(source, info.image_layout, missing));
        }
        self.resolves.push(access);
    }

    /// Adds the reads of shading rates and fragment densities.
    fn rates(&mut self) {
        let objects = &self.device.objects;
        let rate = chained!(self.info.p_next => vk::RenderingFragmentShadingRateAttachmentInfoKHR<'_>);
        let rate = rate.and_then(|one| Some(shading_rate(&*objects.view(one.image_view)?, one.image_layout)));
        let density = chained!(self.info.p_next => vk::RenderingFragmentDensityMapAttachmentInfoEXT<'_>);
        let density = density.and_then(|one| density_map(&*objects.view(one.image_view)?, one.image_layout));
        self.rates.extend(rate.into_iter().chain(density));
    }

    fn finish(self) -> RenderPassInstance {
        let flags = self.info.flags;
        let mut attachments = self.accesses;
        attachments.extend(self.resolves);
        RenderPassInstance {
            recorded: recording::RenderPassInstance {
                area: area(self.info.render_area, &self.views),
                subpasses: vec![self.subpass],
                resumes: self.resumes,
                suspends: flags.contains(vk::RenderingFlags::SUSPENDING),
                ..self.recorded
            },
            subpasses: vec![Rendering {
                attachments,
                rates: self.rates,
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
