//! Records the passes of the programs. Barriers have exactly the scopes that a program names.

use ash::vk;

use crate::block::Texture;
use crate::stage::{EXTENT, FORMAT, Screen, Stage};
use crate::support::commands::{set_viewport, whole};
use crate::support::error::{Called, Result};
use crate::support::memory::Image;
use crate::support::picture::copy_to_buffer;
use crate::support::shaders::PAINTING_FRAG;

pub(crate) const UNDEFINED: vk::ImageLayout = vk::ImageLayout::UNDEFINED;
pub(crate) const PAINTED: vk::ImageLayout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
pub(crate) const READ: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
pub(crate) const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// One scope of a dependency: stages and accesses.
pub(crate) type Scope = (vk::PipelineStageFlags2, vk::AccessFlags2);

pub(crate) const NOTHING: Scope = (vk::PipelineStageFlags2::NONE, vk::AccessFlags2::NONE);
/// Color output as an execution dependency only: other barriers cover its memory accesses.
pub(crate) const AFTER_COLOR_OUTPUT: Scope = (
    vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
    vk::AccessFlags2::NONE,
);
pub(crate) const COLOR_WRITE: Scope = (
    vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
    vk::AccessFlags2::COLOR_ATTACHMENT_WRITE,
);
pub(crate) const COLOR: Scope = (
    vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
    vk::AccessFlags2::from_raw(
        vk::AccessFlags2::COLOR_ATTACHMENT_READ.as_raw() | vk::AccessFlags2::COLOR_ATTACHMENT_WRITE.as_raw(),
    ),
);
pub(crate) const FRAGMENT_READ: Scope = (
    vk::PipelineStageFlags2::FRAGMENT_SHADER,
    vk::AccessFlags2::SHADER_SAMPLED_READ,
);
pub(crate) const COMPUTE_WRITE: Scope = (
    vk::PipelineStageFlags2::COMPUTE_SHADER,
    vk::AccessFlags2::SHADER_STORAGE_WRITE,
);
pub(crate) const CLEAR_WRITE: Scope = (vk::PipelineStageFlags2::CLEAR, vk::AccessFlags2::TRANSFER_WRITE);
pub(crate) const COPY_READ: Scope = (vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_READ);
pub(crate) const COPY_WRITE: Scope = (vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_WRITE);
const ALL_WRITES: Scope = (
    vk::PipelineStageFlags2::ALL_COMMANDS,
    vk::AccessFlags2::MEMORY_WRITE,
);
const ALL: Scope = (
    vk::PipelineStageFlags2::ALL_COMMANDS,
    vk::AccessFlags2::from_raw(
        vk::AccessFlags2::MEMORY_READ.as_raw() | vk::AccessFlags2::MEMORY_WRITE.as_raw(),
    ),
);

/// The motif that the painting shader paints.
#[derive(Clone, Copy)]
pub(crate) enum Motif {
    Dunes,
    Medallion,
    Stripes,
}

/// A command buffer that is recording.
pub(crate) struct Recording<'a> {
    pub(crate) stage: &'a Stage<'a>,
    pub(crate) device: &'a ash::Device,
    pub(crate) commands: vk::CommandBuffer,
}

impl<'a> Recording<'a> {
    pub(crate) fn begin(stage: &'a Stage<'a>) -> Result<Recording<'a>> {
        Recording::begin_level(stage, vk::CommandBufferLevel::PRIMARY, None)
    }

    /// Begins a command buffer; a secondary one inside a pass, if `inherits` is given.
    fn begin_level(
        stage: &'a Stage<'a>,
        level: vk::CommandBufferLevel,
        inherits: Option<&vk::CommandBufferInheritanceInfo<'_>>,
    ) -> Result<Recording<'a>> {
        let device = stage.device;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(stage.commands)
            .level(level)
            .command_buffer_count(1);
        // SAFETY: the pool is the stage's, and no other thread uses it.
        let commands =
            unsafe { device.allocate_command_buffers(&info) }.called("vkAllocateCommandBuffers")?[0];
        // Validation messages contain the name, and scripts/test.sh excuses messages about deliberate mistakes.
        let name = if stage.wrong {
            c"deliberate mistake"
        } else {
            c"frame"
        };
        stage.gpu.set_name(commands, name)?;
        let mut info =
            vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        if let Some(inherits) = inherits {
            info = info
                .flags(info.flags | vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
                .inheritance_info(inherits);
        }
        // SAFETY: the command buffer was just allocated.
        unsafe { device.begin_command_buffer(commands, &info) }.called("vkBeginCommandBuffer")?;
        Ok(Recording {
            stage,
            device,
            commands,
        })
    }

    pub(crate) fn end(self) -> Result<vk::CommandBuffer> {
        // SAFETY: the command buffer is recording, and no pass is open.
        unsafe { self.device.end_command_buffer(self.commands) }.called("vkEndCommandBuffer")?;
        Ok(self.commands)
    }

    /// Ends recording, submits, and waits for completion.
    pub(crate) fn run(self) -> Result<()> {
        let stage = self.stage;
        stage.submit(self.end()?)?;
        stage.wait()
    }

    /// Records a global memory barrier.
    pub(crate) fn order(&self, before: Scope, after: Scope) {
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(before.0)
            .src_access_mask(before.1)
            .dst_stage_mask(after.0)
            .dst_access_mask(after.1)];
        let info = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: the command buffer is recording outside a pass.
        unsafe { self.device.cmd_pipeline_barrier2(self.commands, &info) };
    }

    /// Records a global memory barrier between all earlier writes and everything after.
    pub(crate) fn order_everything(&self) {
        self.order(ALL_WRITES, ALL);
    }

    /// Records an image memory barrier, with a change of layout.
    pub(crate) fn transition(
        &self,
        image: Image,
        (from, to): (vk::ImageLayout, vk::ImageLayout),
        before: Scope,
        after: Scope,
    ) {
        let barriers = [vk::ImageMemoryBarrier2::default()
            .src_stage_mask(before.0)
            .src_access_mask(before.1)
            .dst_stage_mask(after.0)
            .dst_access_mask(after.1)
            .old_layout(from)
            .new_layout(to)
            .image(image.handle)
            .subresource_range(image.range)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        // SAFETY: the command buffer is recording outside a pass.
        unsafe { self.device.cmd_pipeline_barrier2(self.commands, &info) };
    }

    /// Paints over an image whose old contents are not needed, for fragment shaders to read.
    pub(crate) fn paint(&self, texture: Texture, motif: Motif) {
        self.paint_with(texture, || self.draw(texture, motif));
    }

    /// Like [`paint`](Recording::paint), with other draws.
    pub(crate) fn paint_with(&self, texture: Texture, draws: impl FnOnce()) {
        self.transition(texture.image, (UNDEFINED, PAINTED), AFTER_COLOR_OUTPUT, COLOR);
        let inline = vk::RenderingFlags::empty();
        self.pass(
            texture.image,
            texture.extent,
            vk::AttachmentLoadOp::CLEAR,
            inline,
            draws,
        );
        self.transition(texture.image, (PAINTED, READ), COLOR_WRITE, FRAGMENT_READ);
    }

    /// Like [`paint`](Recording::paint), with a secondary command buffer.
    pub(crate) fn paint_by_secondary(&self, texture: Texture, motif: Motif) -> Result<()> {
        let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
            .color_attachment_formats(&[FORMAT])
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let inherits = vk::CommandBufferInheritanceInfo::default().push_next(&mut rendering);
        let level = vk::CommandBufferLevel::SECONDARY;
        let secondary = Recording::begin_level(self.stage, level, Some(&inherits))?;
        secondary.draw(texture, motif);
        let secondary = [secondary.end()?];
        self.transition(texture.image, (UNDEFINED, PAINTED), AFTER_COLOR_OUTPUT, COLOR);
        let flags = vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
        self.pass(
            texture.image,
            texture.extent,
            vk::AttachmentLoadOp::CLEAR,
            flags,
            || {
                // SAFETY: the pass was begun for secondary command buffers, and this one is recorded.
                unsafe { self.device.cmd_execute_commands(self.commands, &secondary) };
            },
        );
        self.transition(texture.image, (PAINTED, READ), COLOR_WRITE, FRAGMENT_READ);
        Ok(())
    }

    /// Records a pass with one color attachment, which it stores.
    pub(crate) fn pass(
        &self,
        image: Image,
        extent: vk::Extent2D,
        load: vk::AttachmentLoadOp,
        flags: vk::RenderingFlags,
        draws: impl FnOnce(),
    ) {
        let attachments = [vk::RenderingAttachmentInfo::default()
            .image_view(image.view)
            .image_layout(PAINTED)
            .load_op(load)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = vk::RenderingInfo::default()
            .flags(flags)
            .render_area(extent.into())
            .layer_count(1)
            .color_attachments(&attachments);
        // SAFETY: the image is in that layout, and no pass is open.
        unsafe { self.device.cmd_begin_rendering(self.commands, &info) };
        draws();
        // SAFETY: opened above.
        unsafe { self.device.cmd_end_rendering(self.commands) };
    }

    /// Draws a motif over the whole target of the open pass.
    pub(crate) fn draw(&self, texture: Texture, motif: Motif) {
        self.bind_painting(texture.extent, self.stage.painting.handle, motif);
        // SAFETY: the pipeline is bound, and a pass with one target of its format is open.
        unsafe { self.device.cmd_draw(self.commands, 3, 1, 0, 0) };
    }

    /// Binds a painting pipeline, which has the same layout as the stage's.
    pub(crate) fn bind_painting(&self, extent: vk::Extent2D, pipeline: vk::Pipeline, motif: Motif) {
        set_viewport(self.device, self.commands, whole(extent));
        let (layout, stages) = (self.stage.painting.layout, PAINTING_FRAG.stage);
        let motif = (motif as u32).to_ne_bytes();
        // SAFETY: the command buffer is recording, and the layout has the shader's push constants.
        unsafe {
            self.device
                .cmd_bind_pipeline(self.commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            self.device
                .cmd_push_constants(self.commands, layout, stages, 0, &motif);
        }
    }

    /// Runs a compute shader with one invocation per texel of a picture.
    pub(crate) fn dispatch(&self, pipeline: &crate::stage::Pipeline, set: vk::DescriptorSet) {
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the command buffer is recording outside a pass, and the set is complete.
        unsafe {
            self.device
                .cmd_bind_pipeline(self.commands, point, pipeline.handle);
            self.device
                .cmd_bind_descriptor_sets(self.commands, point, pipeline.layout, 0, &[set], &[]);
            self.device
                .cmd_dispatch(self.commands, EXTENT.width / 8, EXTENT.height / 8, 1);
        }
    }

    /// Shows two images on a screen, and copies the picture to the host.
    pub(crate) fn show(&self, set: vk::DescriptorSet) {
        self.exhibit(set, &self.stage.screen);
        self.read_back(&self.stage.screen, self.stage.screen.texels.handle);
        self.order(
            COPY_WRITE,
            (vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ),
        );
    }

    /// Draws two images, one over the other.
    pub(crate) fn exhibit(&self, set: vk::DescriptorSet, screen: &Screen) {
        let (device, commands, exhibition) = (self.device, self.commands, &self.stage.exhibition);
        self.transition(screen.picture, (UNDEFINED, PAINTED), NOTHING, COLOR);
        let (load, inline) = (vk::AttachmentLoadOp::CLEAR, vk::RenderingFlags::empty());
        self.pass(screen.picture, EXTENT, load, inline, || {
            let point = vk::PipelineBindPoint::GRAPHICS;
            set_viewport(device, commands, whole(EXTENT));
            // SAFETY: a pass with one target of the pipeline's format is open, and the set is complete.
            unsafe {
                device.cmd_bind_pipeline(commands, point, exhibition.handle);
                device.cmd_bind_descriptor_sets(commands, point, exhibition.layout, 0, &[set], &[]);
                device.cmd_draw(commands, 3, 1, 0, 0);
            }
        });
    }

    /// Copies the painted picture to a buffer.
    pub(crate) fn read_back(&self, screen: &Screen, buffer: vk::Buffer) {
        let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        self.transition(screen.picture, (PAINTED, layout), COLOR_WRITE, COPY_READ);
        let picture = (screen.picture.handle, EXTENT);
        // SAFETY: the buffer holds that many texels, and the image is in that layout.
        unsafe { copy_to_buffer(self.device, self.commands, picture, buffer) };
    }

    /// Copies a computed image, in layout [`GENERAL`], to a buffer.
    pub(crate) fn copy_image(&self, texture: Texture, buffer: vk::Buffer) {
        let layers = vk::ImageSubresourceLayers::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .layer_count(1);
        let region = vk::BufferImageCopy::default()
            .image_subresource(layers)
            .image_extent(texture.extent.into());
        let (commands, image) = (self.commands, texture.image.handle);
        // SAFETY: the buffer holds that many texels, and the image is in that layout.
        unsafe {
            self.device
                .cmd_copy_image_to_buffer(commands, image, GENERAL, buffer, &[region]);
        }
    }

    /// Copies the texels of a picture to the host.
    pub(crate) fn copy_texels(&self, from: vk::Buffer, to: vk::Buffer) {
        let region = vk::BufferCopy::default().size(crate::stage::SIZE);
        // SAFETY: both buffers hold that many bytes, and no pass is open.
        unsafe { self.device.cmd_copy_buffer(self.commands, from, to, &[region]) };
        self.order(
            COPY_WRITE,
            (vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ),
        );
    }
}
