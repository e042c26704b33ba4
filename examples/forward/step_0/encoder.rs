//! Barriers, passes and submission, each wrapped once.

use ash::vk;

use super::gpu::Gpu;
use crate::support::error::{Called, Result};
use crate::support::memory::Image;
use crate::support::picture::Canvas;

/// The clear value for depth, which is 1 at the far end.
pub(crate) const FAR: vk::ClearValue = vk::ClearValue {
    depth_stencil: vk::ClearDepthStencilValue {
        depth: 1.0,
        stencil: 0,
    },
};

/// A use of an image: its layout, stages and accesses.
pub(crate) type Use = (vk::ImageLayout, vk::PipelineStageFlags2, vk::AccessFlags2);

pub(crate) const NOTHING: Use = (
    vk::ImageLayout::UNDEFINED,
    vk::PipelineStageFlags2::NONE,
    vk::AccessFlags2::NONE,
);
pub(crate) const DEPTH_TARGET: Use = (
    vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL,
    vk::PipelineStageFlags2::from_raw(
        vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS.as_raw()
            | vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS.as_raw(),
    ),
    vk::AccessFlags2::from_raw(
        vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ.as_raw()
            | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw(),
    ),
);
pub(crate) const COLOR_TARGET: Use = (
    vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
    vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
    vk::AccessFlags2::COLOR_ATTACHMENT_WRITE,
);
pub(crate) const SAMPLED: Use = (
    vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
    vk::PipelineStageFlags2::FRAGMENT_SHADER,
    vk::AccessFlags2::SHADER_SAMPLED_READ,
);
pub(crate) const COPIED: Use = (
    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
    vk::PipelineStageFlags2::COPY,
    vk::AccessFlags2::TRANSFER_READ,
);

/// An attachment that is cleared and stored.
pub(crate) fn attachment(
    image: &Image,
    layout: vk::ImageLayout,
    clear: vk::ClearValue,
) -> vk::RenderingAttachmentInfo<'static> {
    vk::RenderingAttachmentInfo::default()
        .image_view(image.view)
        .image_layout(layout)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(clear)
}

/// A command buffer that is recording, outside of passes.
pub(crate) struct Encoder<'a> {
    device: &'a ash::Device,
    commands: vk::CommandBuffer,
}

impl<'a> Encoder<'a> {
    /// Begins a command buffer whose pool was just reset.
    pub(crate) fn begin(device: &'a ash::Device, commands: vk::CommandBuffer) -> Result<Encoder<'a>> {
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: its pool was just reset.
        unsafe { device.begin_command_buffer(commands, &info) }.called("vkBeginCommandBuffer")?;
        Ok(Encoder { device, commands })
    }

    pub(crate) fn end(self) -> Result<()> {
        // SAFETY: it is recording, outside a pass.
        unsafe { self.device.end_command_buffer(self.commands) }.called("vkEndCommandBuffer")
    }

    pub(crate) fn transition(&self, image: &Image, from: Use, to: Use) {
        let barriers = [vk::ImageMemoryBarrier2::default()
            .image(image.handle)
            .subresource_range(image.range)
            .old_layout(from.0)
            .src_stage_mask(from.1)
            .src_access_mask(from.2)
            .new_layout(to.0)
            .dst_stage_mask(to.1)
            .dst_access_mask(to.2)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        // SAFETY: it is recording, outside a pass.
        unsafe { self.device.cmd_pipeline_barrier2(self.commands, &info) };
    }

    /// Records a pass with the commands of `draw`.
    pub(crate) fn pass(
        &self,
        extent: vk::Extent2D,
        colors: &[vk::RenderingAttachmentInfo<'_>],
        depth: Option<&vk::RenderingAttachmentInfo<'_>>,
        draw: impl FnOnce(vk::CommandBuffer),
    ) {
        let mut info = vk::RenderingInfo::default()
            .render_area(extent.into())
            .layer_count(1)
            .color_attachments(colors);
        if let Some(depth) = depth {
            info = info.depth_attachment(depth);
        }
        // SAFETY: it is recording, and the attachments are in their layouts.
        unsafe { self.device.cmd_begin_rendering(self.commands, &info) };
        draw(self.commands);
        // SAFETY: a pass was begun.
        unsafe { self.device.cmd_end_rendering(self.commands) };
    }

    /// Copies the picture to the buffer that the host reads.
    pub(crate) fn read_back(&self, canvas: &Canvas) {
        // SAFETY: it is recording, outside a pass.
        unsafe { canvas.read_back(self.device, self.commands) };
        let barriers = [vk::BufferMemoryBarrier2::default()
            .buffer(canvas.texels.handle)
            .size(vk::WHOLE_SIZE)
            .src_stage_mask(vk::PipelineStageFlags2::COPY)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::HOST)
            .dst_access_mask(vk::AccessFlags2::HOST_READ)];
        let info = vk::DependencyInfo::default().buffer_memory_barriers(&barriers);
        // SAFETY: it is recording, outside a pass.
        unsafe { self.device.cmd_pipeline_barrier2(self.commands, &info) };
    }
}

/// Submits each command buffer as a batch, and waits for both.
pub(crate) fn submit(gpu: &Gpu, commands: &[vk::CommandBuffer; 2], done: vk::Fence) -> Result<()> {
    let infos = commands.map(|commands| [vk::CommandBufferSubmitInfo::default().command_buffer(commands)]);
    let batches = [0, 1].map(|batch| vk::SubmitInfo2::default().command_buffer_infos(&infos[batch]));
    // SAFETY: the command buffers are executable, and only this thread uses the queue.
    unsafe { gpu.device.queue_submit2(gpu.queue, &batches, done) }.called("vkQueueSubmit2")?;
    // SAFETY: the fence was submitted.
    unsafe { gpu.device.wait_for_fences(&[done], true, u64::MAX) }.called("vkWaitForFences")?;
    // SAFETY: the fence is signaled.
    unsafe { gpu.device.reset_fences(&[done]) }.called("vkResetFences")
}
