//! The program: dunes and a medallion are painted into tile memory, something else is drawn, and both are shown together.
//!
//! ```text
//! batch 0   command buffer "paint"   bind whole │ dunes → tile memory │ medallion → tile memory │ interlude
//!           command buffer "show"    bind whole │ exhibition: both → picture │ copy to the host
//! ```

use ash::vk;
use tileheap::ffi;
use tileheap::runtime::Capabilities;

use crate::bug::{Again, Interlude, Program};
use crate::stage::{EXTENT, FORMAT, Stage};
use crate::support::commands::{set_viewport, whole};
use crate::support::error::{Called, Result};
use crate::support::memory::Image;
use crate::support::picture::copy_to_buffer;
use crate::support::shaders::PAINTING_FRAG;

/// The name of the command buffers, which the messages of the validation layers repeat.
const NAME: &std::ffi::CStr = c"deliberate mistake";

const ALL: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_COMMANDS;
const COMPUTE: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::COMPUTE_SHADER;
const NONE: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::NONE;

const UNDEFINED: vk::ImageLayout = vk::ImageLayout::UNDEFINED;
const PAINTED: vk::ImageLayout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
const READ: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
const COPIED: vk::ImageLayout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;

const STORE: vk::AttachmentStoreOp = vk::AttachmentStoreOp::STORE;
const INLINE: vk::RenderingFlags = vk::RenderingFlags::empty();

/// Records and submits the program, and waits for it.
pub(crate) fn perform(stage: &Stage<'_>, program: &Program) -> Result<()> {
    let paint = Recording::begin(stage, vk::CommandBufferLevel::PRIMARY, None)?;
    let show = Recording::begin(stage, vk::CommandBufferLevel::PRIMARY, None)?;

    paint.bind(stage.whole);
    let stores = if program.stores {
        STORE
    } else {
        vk::AttachmentStoreOp::DONT_CARE
    };
    paint.draw_motif(stage.dunes, 0, stores, ALL, program.again);
    let shown_in = if program.in_time { ALL } else { COMPUTE };
    paint.barrier(stage.dunes, (PAINTED, READ), (ALL, shown_in));
    paint.draw_motif(stage.medallion, 1, STORE, ALL, Again::Nothing);
    paint.barrier(stage.medallion, (PAINTED, READ), (ALL, ALL));
    paint.interlude(program.interlude)?;
    let paint = paint.end()?;

    if program.binds_again {
        show.bind(if program.same_object {
            stage.whole
        } else {
            stage.twin
        });
    }
    show.exhibit(program.keeps_layout);
    if let Again::Medallion { ordered } = program.again {
        let after = if ordered { ALL } else { NONE };
        show.draw_motif(stage.medallion, 1, STORE, after, Again::Nothing);
    }
    let show = show.end()?;

    let signals = matches!(program.again, Again::Other { semaphore: true, .. });
    let signals = if signals { ALL } else { NONE };
    submit(stage, &[paint, show], program.second_batch, signals, NONE)?;
    if let Again::Other { ordered, semaphore } = program.again {
        let other = Recording::begin(stage, vk::CommandBufferLevel::PRIMARY, None)?;
        other.bind(stage.twin);
        // After the semaphore wait, the barrier names the stage of the wait.
        let after = if ordered && !semaphore { ALL } else { COMPUTE };
        other.draw_motif(stage.other, 0, STORE, after, Again::Nothing);
        let waits_at = match (semaphore, ordered) {
            (false, _) => NONE,
            (true, true) => COMPUTE,
            (true, false) => vk::PipelineStageFlags2::COPY,
        };
        submit(stage, &[other.end()?], false, NONE, waits_at)?;
    }
    let queue = stage.context.queues()[0].handle;
    // SAFETY: no other thread uses the queue.
    unsafe { stage.device.queue_wait_idle(queue) }.called("vkQueueWaitIdle")
}

/// A command buffer that is recording.
struct Recording<'a> {
    stage: &'a Stage<'a>,
    device: &'a ash::Device,
    commands: vk::CommandBuffer,
}

impl<'a> Recording<'a> {
    /// Begins a command buffer; a secondary one for the interlude, if `inherits` is given.
    fn begin(
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
        let capabilities = stage.context.runtime().capabilities();
        if capabilities.contains(Capabilities::DEBUG_UTILS) {
            let debug = ash::ext::debug_utils::Device::new(stage.context.instance(), device);
            let name = vk::DebugUtilsObjectNameInfoEXT::default()
                .object_handle(commands)
                .object_name(NAME);
            // SAFETY: the extension is enabled, and only the program uses the command buffer.
            unsafe { debug.set_debug_utils_object_name(&name) }.called("vkSetDebugUtilsObjectNameEXT")?;
        }
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

    fn end(self) -> Result<vk::CommandBuffer> {
        // SAFETY: the command buffer is recording, and no pass is open.
        unsafe { self.device.end_command_buffer(self.commands) }.called("vkEndCommandBuffer")?;
        Ok(self.commands)
    }

    fn bind(&self, object: vk::DeviceMemory) {
        let info = ffi::TileMemoryBindInfoQCOM::default().memory(object);
        // SAFETY: the command buffer is recording outside a pass, and the memory is of the tile heap.
        unsafe { self.stage.tile.cmd_bind_tile_memory(self.commands, Some(&info)) };
    }

    /// Paints into an image of tile memory after the work of some stages, once or twice.
    fn draw_motif(
        &self,
        image: Image,
        motif: u32,
        store: vk::AttachmentStoreOp,
        after: vk::PipelineStageFlags2,
        again: Again,
    ) {
        self.barrier(image, (UNDEFINED, PAINTED), (after, ALL));
        let paint = || self.pass(image, store, INLINE, || self.draw_painting(motif));
        paint();
        if let Again::Dunes { ordered } = again {
            if ordered {
                self.barrier(image, (PAINTED, PAINTED), (ALL, ALL));
            }
            paint();
        }
    }

    /// A pass that draws into ordinary memory, and does not use the pictures in tile memory.
    fn interlude(&self, interlude: Interlude) -> Result<()> {
        let sketch = self.stage.sketch;
        if interlude == Interlude::Smaller {
            self.bind(self.stage.smaller);
        }
        self.barrier(sketch, (UNDEFINED, PAINTED), (ALL, ALL));
        match interlude {
            Interlude::Secondary { says_so } => {
                let secondary = record_secondary(self.stage, says_so)?;
                let flags = vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
                self.pass(sketch, STORE, flags, || {
                    // SAFETY: the pass was begun for secondary command buffers, and this one is recorded.
                    unsafe { self.device.cmd_execute_commands(self.commands, &[secondary]) };
                });
            }
            Interlude::Whole | Interlude::Smaller => {
                self.pass(sketch, STORE, INLINE, || self.draw_painting(1));
            }
        }
        Ok(())
    }

    fn draw_painting(&self, motif: u32) {
        let (device, pipeline) = (self.device, self.stage.painting);
        set_viewport(device, self.commands, whole(EXTENT));
        // SAFETY: a pass with one target of the pipeline's format is open, or inherited.
        unsafe {
            device.cmd_bind_pipeline(self.commands, vk::PipelineBindPoint::GRAPHICS, pipeline.handle);
            let (layout, stages) = (pipeline.layout, PAINTING_FRAG.stage);
            device.cmd_push_constants(self.commands, layout, stages, 0, &motif.to_ne_bytes());
            device.cmd_draw(self.commands, 3, 1, 0, 0);
        }
    }

    /// Shows both pictures, and copies the result to the host.
    fn exhibit(&self, keeps_layout: bool) {
        let (stage, device, commands) = (self.stage, self.device, self.commands);
        if !keeps_layout {
            self.barrier(stage.dunes, (UNDEFINED, READ), (ALL, ALL));
        }
        self.barrier(stage.picture, (UNDEFINED, PAINTED), (ALL, ALL));
        self.pass(stage.picture, STORE, INLINE, || {
            let (point, pipeline) = (vk::PipelineBindPoint::GRAPHICS, stage.exhibition);
            set_viewport(device, commands, whole(EXTENT));
            // SAFETY: a pass with one target of the pipeline's format is open, and the set is complete.
            unsafe {
                device.cmd_bind_pipeline(commands, point, pipeline.handle);
                device.cmd_bind_descriptor_sets(commands, point, pipeline.layout, 0, &[stage.set], &[]);
                device.cmd_draw(commands, 3, 1, 0, 0);
            }
        });
        // Only the copy: commands after it must wait for the pictures themselves.
        let copy = vk::PipelineStageFlags2::COPY;
        let painted = vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT;
        self.barrier(stage.picture, (PAINTED, COPIED), (painted, copy));
        // SAFETY: the buffer holds that many texels, and the image is in that layout.
        unsafe {
            copy_to_buffer(
                device,
                commands,
                (stage.picture.handle, EXTENT),
                stage.texels.handle,
            )
        };
        let to_host = [vk::MemoryBarrier2::default()
            .src_stage_mask(copy)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::HOST)
            .dst_access_mask(vk::AccessFlags2::HOST_READ)];
        let info = vk::DependencyInfo::default().memory_barriers(&to_host);
        // SAFETY: no pass is open.
        unsafe { device.cmd_pipeline_barrier2(commands, &info) };
    }

    /// A pass over one target, recorded by `contents`.
    fn pass(
        &self,
        target: Image,
        store: vk::AttachmentStoreOp,
        flags: vk::RenderingFlags,
        contents: impl FnOnce(),
    ) {
        let targets = [vk::RenderingAttachmentInfo::default()
            .image_view(target.view)
            .image_layout(PAINTED)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(store)];
        let info = vk::RenderingInfo::default()
            .flags(flags)
            .render_area(EXTENT.into())
            .layer_count(1)
            .color_attachments(&targets);
        // SAFETY: the target is in that layout, and no pass is open.
        unsafe { self.device.cmd_begin_rendering(self.commands, &info) };
        contents();
        // SAFETY: opened above.
        unsafe { self.device.cmd_end_rendering(self.commands) };
    }

    /// A layout transition with all accesses of the stages before and after: this program is not about speed.
    fn barrier(
        &self,
        image: Image,
        (from, to): (vk::ImageLayout, vk::ImageLayout),
        (before, after): (vk::PipelineStageFlags2, vk::PipelineStageFlags2),
    ) {
        let src_access = if before == NONE {
            vk::AccessFlags2::NONE
        } else {
            vk::AccessFlags2::MEMORY_WRITE
        };
        let barriers = [vk::ImageMemoryBarrier2::default()
            .src_stage_mask(before)
            .src_access_mask(src_access)
            .dst_stage_mask(after)
            .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)
            .old_layout(from)
            .new_layout(to)
            .image(image.handle)
            .subresource_range(image.range)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        // SAFETY: the command buffer is recording outside a pass.
        unsafe { self.device.cmd_pipeline_barrier2(self.commands, &info) };
    }
}

fn record_secondary(stage: &Stage<'_>, says_so: bool) -> Result<vk::CommandBuffer> {
    let mut tile = ffi::TileMemoryBindInfoQCOM::default().memory(stage.whole);
    let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
        .color_attachment_formats(&[FORMAT])
        .rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let mut inherits = vk::CommandBufferInheritanceInfo::default().push_next(&mut rendering);
    if says_so {
        inherits = inherits.push_next(&mut tile);
    }
    let secondary = Recording::begin(stage, vk::CommandBufferLevel::SECONDARY, Some(&inherits))?;
    secondary.draw_painting(1);
    secondary.end()
}

/// Submits command buffers in one or two batches; the semaphore, if any, is signaled and waited for at those stages.
fn submit(
    stage: &Stage<'_>,
    commands: &[vk::CommandBuffer],
    second_batch: bool,
    signals: vk::PipelineStageFlags2,
    waits: vk::PipelineStageFlags2,
) -> Result<()> {
    let infos: Vec<_> = commands
        .iter()
        .map(|&commands| vk::CommandBufferSubmitInfo::default().command_buffer(commands))
        .collect();
    let mut batches: Vec<_> = infos
        .chunks(if second_batch { 1 } else { infos.len() })
        .map(|infos| vk::SubmitInfo2::default().command_buffer_infos(infos))
        .collect();
    let at = |stages| {
        vk::SemaphoreSubmitInfo::default()
            .semaphore(stage.semaphore)
            .stage_mask(stages)
    };
    let (signaled, waited) = ([at(signals)], [at(waits)]);
    if let Some(first) = batches.first_mut().filter(|_| !waits.is_empty()) {
        *first = first.wait_semaphore_infos(&waited);
    }
    if let Some(last) = batches.last_mut().filter(|_| !signals.is_empty()) {
        *last = last.signal_semaphore_infos(&signaled);
    }
    let queue = stage.context.queues()[0].handle;
    // SAFETY: the command buffers are recorded, and no other thread uses the queue.
    unsafe { stage.device.queue_submit2(queue, &batches, vk::Fence::null()) }.called("vkQueueSubmit2")
}
