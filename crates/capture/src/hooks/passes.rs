//! Entry points of render passes of both kinds, and of secondary command buffers.

use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap::frame::{AccessKind, LoadOp};
use tileheap_layer::{array, chained, given};

use super::device::Device;
use super::recorder::{commands, submitted};
use crate::document::UnresolvedKind;
use crate::model::objects::View;
use crate::model::recording::{Access, Instance, Op, Recording, Rendering};
use crate::model::render_passes::{attachment_accesses, load_op, resolve};

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
    vkCmdExecuteCommands(count, all) |device, recording| {
        let all = array!(all, count).iter().map(|one| submitted(*one).ops);
        recording.push(Op::Execute(all.collect()));
    };
}

fn begin_render_pass(
    device: &Device,
    recording: &mut Recording,
    info: &vk::RenderPassBeginInfo<'_>,
    contents: vk::SubpassContents,
) {
    let imageless = chained!(info.p_next => vk::RenderPassAttachmentBeginInfo<'_>);
    let views: Vec<Arc<View>> = match imageless.filter(|given| given.attachment_count > 0) {
        Some(given) => {
            let views = array!(given.p_attachments, given.attachment_count).iter();
            views.filter_map(|view| device.objects.view(*view)).collect()
        }
        None => device
            .framebuffers
            .get(info.framebuffer.as_raw())
            .unwrap_or_default(),
    };
    let Some(pass) = device.render_passes.get(info.render_pass.as_raw()) else {
        return recording.push(Op::Unresolved(
            UnresolvedKind::UnknownObject,
            "vkCmdBeginRenderPass",
        ));
    };
    if views.len() < pass.0.attachments.len() {
        recording.push(Op::Unresolved(
            UnresolvedKind::UnknownObject,
            "vkCmdBeginRenderPass",
        ));
    }
    let clears = array!(info.p_clear_values, info.clear_value_count);
    let instance = pass.begin(&views, clears, info.render_area);
    recording.push(Op::BeginPass(Instance {
        secondary: contents == SECONDARY,
        ..instance
    }));
}

/// The attachment's view, and the accesses to it and to what it is resolved into.
fn attachment(
    device: &Device,
    info: &vk::RenderingAttachmentInfo<'_>,
    resumes: bool,
) -> Option<(Arc<View>, LoadOp, Option<Access>)> {
    let view = device.objects.view(info.image_view)?;
    let load = if resumes {
        vk::AttachmentLoadOp::LOAD
    } else {
        info.load_op
    };
    let load = load_op(load, info.clear_value, view.format);
    let is_resolved = info.resolve_mode != vk::ResolveModeFlags::NONE;
    let target = device
        .objects
        .view(info.resolve_image_view)
        .filter(|_| is_resolved);
    let resolved = target.map(|target| {
        resolve(
            &view,
            &target,
            info.resolve_image_layout,
            vk::AttachmentStoreOp::STORE,
        )
    });
    Some((view, load, resolved))
}

fn rendering(device: &Device, info: &vk::RenderingInfo<'_>) -> Instance {
    let resumes = info.flags.contains(vk::RenderingFlags::RESUMING);
    let (mut all, mut resolved) = (Vec::new(), Vec::new());
    for one in array!(info.p_color_attachments, info.color_attachment_count) {
        let kind = AccessKind::ColorAttachment;
        if let Some((view, load, target)) = attachment(device, one, resumes) {
            all.extend(attachment_accesses(
                &view,
                kind,
                one.image_layout,
                [load; 2],
                [one.store_op; 2],
            ));
            resolved.extend(target);
        }
    }
    let kind = AccessKind::DepthStencilAttachment;
    let [depth, stencil] = [info.p_depth_attachment, info.p_stencil_attachment].map(|info| {
        let info = array!(info, 1).first()?;
        Some((info, attachment(device, info, resumes)?))
    });
    match (depth, stencil) {
        (Some((depth, (view, load, target))), Some((stencil, (_, stencil_load, _)))) => {
            let (loads, stores) = ([load, stencil_load], [depth.store_op, stencil.store_op]);
            all.extend(attachment_accesses(
                &view,
                kind,
                depth.image_layout,
                loads,
                stores,
            ));
            resolved.extend(target);
        }
        (depth, stencil) => {
            let only = [
                (depth, vk::ImageAspectFlags::DEPTH),
                (stencil, vk::ImageAspectFlags::STENCIL),
            ];
            for ((one, (view, load, target)), aspect) in
                only.into_iter().filter_map(|(one, aspect)| Some((one?, aspect)))
            {
                for mut access in
                    attachment_accesses(&view, kind, one.image_layout, [load; 2], [one.store_op; 2])
                {
                    access.range.aspects = aspect;
                    all.push(access);
                }
                resolved.extend(target);
            }
        }
    }
    all.extend(resolved);
    Instance {
        subpasses: vec![Rendering {
            attachments: all,
            area: info.render_area,
            view_mask: info.view_mask,
            resumes,
            ..Rendering::default()
        }],
        dynamic: true,
        secondary: info
            .flags
            .contains(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS),
        ..Instance::default()
    }
}
