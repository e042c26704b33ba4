//! Views, render pass and framebuffer of a render pass instance.

use ash::vk;
use tileheap_testkit::objects::{Objects, area};

use crate::commands::view_info;
use crate::device::Gpu;
use crate::recording::*;
use crate::resources::Resources;

pub(crate) struct PassObjects {
    pub(crate) pass: Pass,
    views: Vec<vk::ImageView>,
    /// Null for dynamic rendering, as the framebuffer.
    pub(crate) render_pass: vk::RenderPass,
    pub(crate) framebuffer: vk::Framebuffer,
}

impl PassObjects {
    pub(crate) fn new(gpu: &Gpu, objects: &Objects, pass: &Pass, resources: &Resources) -> PassObjects {
        let device = &gpu.device;
        let view = |attachment: &Attachment| {
            let image = resources.images[attachment.layer.image];
            let view = objects.create(device, &view_info(image, attachment.kind, attachment.layer.layer));
            gpu.name(view, &format!("image {}", attachment.layer.image));
            view
        };
        let views: Vec<vk::ImageView> = pass.attachments.iter().map(view).collect();
        let (mut render_pass, mut framebuffer) = (vk::RenderPass::null(), vk::Framebuffer::null());
        if !pass.is_dynamic {
            render_pass = create_render_pass(device, objects, pass);
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(render_pass)
                .attachments(&views)
                .width(SIDE)
                .height(SIDE)
                .layers(1);
            framebuffer = objects.create(device, &info);
        }
        PassObjects {
            pass: pass.clone(),
            views,
            render_pass,
            framebuffer,
        }
    }

    pub(crate) fn begin(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        match self.pass.is_dynamic {
            true => self.begin_rendering(device, commands),
            false => {
                let clears: Vec<vk::ClearValue> = self.pass.attachments.iter().map(clear_value).collect();
                let info = vk::RenderPassBeginInfo::default()
                    .render_pass(self.render_pass)
                    .framebuffer(self.framebuffer)
                    .render_area(area(SIDE, SIDE))
                    .clear_values(&clears);
                let contents = match self.pass.secondaries {
                    true => vk::SubpassContents::SECONDARY_COMMAND_BUFFERS,
                    false => vk::SubpassContents::INLINE,
                };
                // SAFETY: recording outside of a pass; the framebuffer was created for the render pass.
                unsafe { device.cmd_begin_render_pass(commands, &info, contents) };
            }
        }
    }

    fn begin_rendering(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let subpass = &self.pass.subpasses[0];
        let describe = |(index, layout): (usize, vk::ImageLayout)| {
            let attachment = &self.pass.attachments[index];
            vk::RenderingAttachmentInfo::default()
                .image_view(self.views[index])
                .image_layout(layout)
                .load_op(attachment.load)
                .store_op(attachment.store)
                .clear_value(clear_value(attachment))
        };
        let mut color = describe(subpass.colors[0]);
        if let Some((index, layout)) = subpass.resolves.first() {
            color = color
                .resolve_mode(vk::ResolveModeFlags::AVERAGE)
                .resolve_image_view(self.views[*index])
                .resolve_image_layout(*layout);
        }
        let colors = [color];
        let depth = subpass.depth.map(describe);
        let flags = match self.pass.secondaries {
            true => vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS,
            false => vk::RenderingFlags::empty(),
        };
        let mut info = vk::RenderingInfo::default()
            .flags(flags)
            .render_area(area(SIDE, SIDE))
            .layer_count(1)
            .color_attachments(&colors);
        if let Some(depth) = &depth {
            info = info.depth_attachment(depth);
        }
        // SAFETY: recording outside of a pass; views of live images.
        unsafe { device.cmd_begin_rendering(commands, &info) };
    }

    pub(crate) fn end(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        // SAFETY: recording in this pass.
        unsafe {
            match self.pass.is_dynamic {
                true => device.cmd_end_rendering(commands),
                false => device.cmd_end_render_pass(commands),
            }
        }
    }
}

fn clear_value(attachment: &Attachment) -> vk::ClearValue {
    match attachment.kind {
        ImageKind::Depth => vk::ClearValue {
            depth_stencil: vk::ClearDepthStencilValue {
                depth: 1.0,
                stencil: 0,
            },
        },
        _ => vk::ClearValue {
            color: vk::ClearColorValue { float32: [0.25; 4] },
        },
    }
}

fn create_render_pass(device: &ash::Device, objects: &Objects, pass: &Pass) -> vk::RenderPass {
    let attachments: Vec<_> = pass
        .attachments
        .iter()
        .map(|one| {
            vk::AttachmentDescription2::default()
                .format(one.kind.format())
                .samples(one.kind.samples())
                .load_op(one.load)
                .store_op(one.store)
                .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
                .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
                .initial_layout(one.layer.layout)
                .final_layout(one.final_layout)
        })
        .collect();
    let reference = |&(index, layout): &(usize, vk::ImageLayout)| {
        vk::AttachmentReference2::default()
            .attachment(index as u32)
            .layout(layout)
            .aspect_mask(pass.attachments[index].kind.aspect())
    };
    let references = |all: &[(usize, vk::ImageLayout)]| all.iter().map(reference).collect::<Vec<_>>();
    let lists: Vec<_> = pass
        .subpasses
        .iter()
        .map(|one| {
            let depth = one.depth.as_ref().map(reference);
            (
                references(&one.colors),
                references(&one.resolves),
                references(&one.inputs),
                depth,
            )
        })
        .collect();
    let subpasses: Vec<_> = lists
        .iter()
        .map(|(colors, resolves, inputs, depth)| {
            let mut subpass = vk::SubpassDescription2::default()
                .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
                .color_attachments(colors)
                .input_attachments(inputs);
            if !resolves.is_empty() {
                subpass = subpass.resolve_attachments(resolves);
            }
            if let Some(depth) = depth {
                subpass = subpass.depth_stencil_attachment(depth);
            }
            subpass
        })
        .collect();
    let mut masks: Vec<_> = pass
        .dependencies
        .iter()
        .map(|one| {
            vk::MemoryBarrier2::default()
                .src_stage_mask(one.masks.source.0)
                .src_access_mask(one.masks.source.1)
                .dst_stage_mask(one.masks.destination.0)
                .dst_access_mask(one.masks.destination.1)
        })
        .collect();
    let dependencies: Vec<_> = pass
        .dependencies
        .iter()
        .zip(&mut masks)
        .map(|(one, masks)| {
            let flags = match one.by_region {
                true => vk::DependencyFlags::BY_REGION,
                false => vk::DependencyFlags::empty(),
            };
            vk::SubpassDependency2::default()
                .src_subpass(one.from.unwrap_or(vk::SUBPASS_EXTERNAL))
                .dst_subpass(one.to.unwrap_or(vk::SUBPASS_EXTERNAL))
                .dependency_flags(flags)
                .push_next(masks)
        })
        .collect();
    let info = vk::RenderPassCreateInfo2::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    objects.create(device, &info)
}
