//! A render pass object and barriers of Vulkan 1.0.

use ash::vk;

use crate::block::Texture;
use crate::recording::{Motif, PAINTED, Recording};
use crate::stage::{FORMAT, Stage};
use crate::support::error::{Called, Result};
use crate::support::pipeline::{Drawing, plain_target};
use crate::support::shaders::{FULLSCREEN_VERT, PAINTING_FRAG};

const DEPTH: vk::ImageLayout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;

/// A render pass that paints an image in [`PAINTED`], and may use a depth buffer that it does not store.
pub(crate) struct OldPass {
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    pipeline: vk::Pipeline,
    extent: vk::Extent2D,
}

impl OldPass {
    pub(crate) fn new(stage: &Stage<'_>, color: Texture, depth: Option<Texture>) -> Result<OldPass> {
        let device = stage.device;
        let attachment = vk::AttachmentDescription::default()
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
            .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE);
        let attachments = [
            attachment
                .format(FORMAT)
                .store_op(vk::AttachmentStoreOp::STORE)
                .initial_layout(PAINTED)
                .final_layout(PAINTED),
            attachment
                .format(vk::Format::D16_UNORM)
                .store_op(vk::AttachmentStoreOp::DONT_CARE)
                .initial_layout(vk::ImageLayout::UNDEFINED)
                .final_layout(DEPTH),
        ];
        let count = 1 + usize::from(depth.is_some());
        let colors = [vk::AttachmentReference {
            attachment: 0,
            layout: PAINTED,
        }];
        let depths = vk::AttachmentReference {
            attachment: 1,
            layout: DEPTH,
        };
        let mut subpass = vk::SubpassDescription::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(&colors);
        if depth.is_some() {
            subpass = subpass.depth_stencil_attachment(&depths);
        }
        // The depth buffer's layout transition waits for all earlier uses of its memory.
        let tests =
            vk::PipelineStageFlags::EARLY_FRAGMENT_TESTS | vk::PipelineStageFlags::LATE_FRAGMENT_TESTS;
        let dependencies = [vk::SubpassDependency::default()
            .src_subpass(vk::SUBPASS_EXTERNAL)
            .dst_subpass(0)
            .src_stage_mask(vk::PipelineStageFlags::ALL_COMMANDS)
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_stage_mask(tests)
            .dst_access_mask(
                vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_READ
                    | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE,
            )];
        let subpasses = [subpass];
        let mut info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments[..count])
            .subpasses(&subpasses);
        if depth.is_some() {
            info = info.dependencies(&dependencies);
        }
        // SAFETY: the info is complete.
        let pass = unsafe { device.create_render_pass(&info, None) }.called("vkCreateRenderPass")?;
        // SAFETY: run at the end.
        stage.keep(move |device| unsafe { device.destroy_render_pass(pass, None) });

        let views: Vec<_> = [Some(color), depth]
            .into_iter()
            .flatten()
            .map(|texture| texture.image.view)
            .collect();
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(color.extent.width)
            .height(color.extent.height)
            .layers(1);
        // SAFETY: the views have the formats of the attachments.
        let framebuffer = unsafe { device.create_framebuffer(&info, None) }.called("vkCreateFramebuffer")?;
        // SAFETY: run at the end, before the views are destroyed.
        stage.keep(move |device| unsafe { device.destroy_framebuffer(framebuffer, None) });

        let depth_format = depth.map_or(vk::Format::UNDEFINED, |_| vk::Format::D16_UNORM);
        let mut target = plain_target(Some(FORMAT), depth_format);
        target.dynamic = false;
        target.render_pass = pass;
        let layout = stage.painting.layout;
        let mut drawing = Drawing::new(layout, &target, &FULLSCREEN_VERT, Some(&PAINTING_FRAG));
        drawing.writes_depth = depth.is_some();
        let pipeline = drawing.create(device)?;
        // SAFETY: run at the end.
        stage.keep(move |device| unsafe { device.destroy_pipeline(pipeline, None) });
        Ok(OldPass {
            pass,
            framebuffer,
            pipeline,
            extent: color.extent,
        })
    }

    /// Paints over the image, which is in layout [`PAINTED`] before and after.
    pub(crate) fn record(&self, frame: &Recording<'_>, motif: Motif) {
        let clears = [vk::ClearValue::default(); 2];
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffer)
            .render_area(self.extent.into())
            .clear_values(&clears);
        let (device, commands) = (frame.device, frame.commands);
        // SAFETY: no pass is open, and the pipeline was created for the pass.
        unsafe {
            device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
            frame.bind_painting(self.extent, self.pipeline, motif);
            device.cmd_draw(commands, 3, 1, 0, 0);
            device.cmd_end_render_pass(commands);
        }
    }
}
