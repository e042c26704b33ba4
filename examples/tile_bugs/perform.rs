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
use crate::stage::{EXTENT, FORMAT, Image, Stage, WHOLE_IMAGE};
use crate::support::error::{Called, Result};
use crate::support::picture::copy_to_buffer;
use crate::support::shaders::PAINTING_FRAG;

/// The name of the command buffers, which the messages of the validation layers repeat.
const NAME: &std::ffi::CStr = c"deliberate mistake";

/// Records and submits the program, and waits for it; its picture.
pub(crate) fn perform(stage: &Stage<'_>, program: &Program) -> Result<Vec<[u8; 4]>> {
    let device = stage.device;
    let [paint, show] = [0; 2].map(|_| begin(stage, vk::CommandBufferLevel::PRIMARY, None));
    let (paint, show) = (paint?, show?);

    bind(stage, paint, stage.whole);
    let dunes = if program.stores {
        vk::AttachmentStoreOp::STORE
    } else {
        vk::AttachmentStoreOp::DONT_CARE
    };
    draw_motif(stage, paint, stage.dunes, 0, dunes, (ALL, program.again));
    let shown_in = if program.in_time {
        ALL
    } else {
        vk::PipelineStageFlags2::COMPUTE_SHADER
    };
    barrier(stage, paint, stage.dunes, (PAINTED, READ), (ALL, shown_in));
    draw_motif(
        stage,
        paint,
        stage.medallion,
        1,
        vk::AttachmentStoreOp::STORE,
        (ALL, Again::Nothing),
    );
    barrier(stage, paint, stage.medallion, (PAINTED, READ), (ALL, ALL));
    interlude(stage, paint, program.interlude)?;
    // SAFETY: the command buffer is recording, and no pass is open.
    unsafe { device.end_command_buffer(paint) }.called("vkEndCommandBuffer")?;

    if program.binds_again {
        let object = if program.same_object {
            stage.whole
        } else {
            stage.twin
        };
        bind(stage, show, object);
    }
    exhibit(stage, show, program.keeps_layout);
    let none = vk::PipelineStageFlags2::NONE;
    if let Again::Medallion { ordered } = program.again {
        let after = (if ordered { ALL } else { none }, Again::Nothing);
        draw_motif(
            stage,
            show,
            stage.medallion,
            1,
            vk::AttachmentStoreOp::STORE,
            after,
        );
    }
    // SAFETY: as above.
    unsafe { device.end_command_buffer(show) }.called("vkEndCommandBuffer")?;

    submit(
        stage,
        &[paint, show],
        program.second_batch,
        signals(program.again),
    )?;
    if let Again::Other { ordered, semaphore } = program.again {
        let other = begin(stage, vk::CommandBufferLevel::PRIMARY, None)?;
        bind(stage, other, stage.twin);
        let compute = vk::PipelineStageFlags2::COMPUTE_SHADER;
        // Behind the semaphore the barrier names where it is waited for.
        let after = if ordered && !semaphore { ALL } else { compute };
        draw_motif(
            stage,
            other,
            stage.other,
            0,
            vk::AttachmentStoreOp::STORE,
            (after, Again::Nothing),
        );
        // SAFETY: as above.
        unsafe { device.end_command_buffer(other) }.called("vkEndCommandBuffer")?;
        let waits_at = match (semaphore, ordered) {
            (false, _) => none,
            (true, true) => compute,
            (true, false) => vk::PipelineStageFlags2::COPY,
        };
        submit(stage, &[other], false, [none, waits_at])?;
    }
    let queue = stage.context.queues()[0].handle;
    // SAFETY: no other thread uses the queue.
    unsafe { device.queue_wait_idle(queue) }.called("vkQueueWaitIdle")?;
    stage.read_texels()
}

/// Begins a command buffer; a secondary one for the pass in between, where `inherits` is given.
fn begin(
    stage: &Stage<'_>,
    level: vk::CommandBufferLevel,
    inherits: Option<&vk::CommandBufferInheritanceInfo<'_>>,
) -> Result<vk::CommandBuffer> {
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(stage.commands)
        .level(level)
        .command_buffer_count(1);
    // SAFETY: the pool is the stage's, and no other thread uses it.
    let commands =
        unsafe { stage.device.allocate_command_buffers(&info) }.called("vkAllocateCommandBuffers")?[0];
    if stage
        .context
        .tile()
        .capabilities()
        .contains(Capabilities::DEBUG_UTILS)
    {
        let debug = ash::ext::debug_utils::Device::new(stage.context.instance(), stage.device);
        let name = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(commands)
            .object_name(NAME);
        // SAFETY: the extension is enabled, and the command buffer is the program's alone.
        unsafe { debug.set_debug_utils_object_name(&name) }.called("vkSetDebugUtilsObjectNameEXT")?;
    }
    let mut info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
    if let Some(inherits) = inherits {
        info = info
            .flags(info.flags | vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
            .inheritance_info(inherits);
    }
    // SAFETY: the command buffer was just allocated.
    unsafe { stage.device.begin_command_buffer(commands, &info) }.called("vkBeginCommandBuffer")?;
    Ok(commands)
}

fn bind(stage: &Stage<'_>, commands: vk::CommandBuffer, object: vk::DeviceMemory) {
    let info = ffi::TileMemoryBindInfoQCOM::default().memory(object);
    // SAFETY: the command buffer is recording outside a pass, and the memory is of the tile heap.
    unsafe { stage.tile.cmd_bind_tile_memory(commands, Some(&info)) };
}

/// The stages at which the first submit signals the semaphore, and those at which it waits.
fn signals(again: Again) -> [vk::PipelineStageFlags2; 2] {
    let signals = matches!(again, Again::Other { semaphore: true, .. });
    let none = vk::PipelineStageFlags2::NONE;
    [if signals { ALL } else { none }, none]
}

/// Paints into an image of tile memory behind the work of some stages, once or twice.
fn draw_motif(
    stage: &Stage<'_>,
    commands: vk::CommandBuffer,
    image: Image,
    motif: u32,
    store: vk::AttachmentStoreOp,
    (after, again): (vk::PipelineStageFlags2, Again),
) {
    barrier(
        stage,
        commands,
        image,
        (vk::ImageLayout::UNDEFINED, PAINTED),
        (after, ALL),
    );
    let paint = || {
        pass(stage, commands, image, store, vk::RenderingFlags::empty(), || {
            draw_painting(stage, commands, motif);
        });
    };
    paint();
    if let Again::Dunes { ordered } = again {
        if ordered {
            barrier(stage, commands, image, (PAINTED, PAINTED), (ALL, ALL));
        }
        paint();
    }
}

const ALL: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_COMMANDS;

const PAINTED: vk::ImageLayout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
const READ: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
const COPIED: vk::ImageLayout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;

/// A pass that draws into ordinary memory, and has nothing to do with the pictures in tile memory.
fn interlude(stage: &Stage<'_>, commands: vk::CommandBuffer, interlude: Interlude) -> Result<()> {
    if interlude == Interlude::Smaller {
        bind(stage, commands, stage.smaller);
    }
    barrier(
        stage,
        commands,
        stage.sketch,
        (vk::ImageLayout::UNDEFINED, PAINTED),
        (ALL, ALL),
    );
    let store = vk::AttachmentStoreOp::STORE;
    match interlude {
        Interlude::Secondary { says_so } => {
            let secondary = record_secondary(stage, says_so)?;
            let flags = vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
            pass(stage, commands, stage.sketch, store, flags, || {
                // SAFETY: the pass was begun for secondary command buffers, and this one is recorded.
                unsafe { stage.device.cmd_execute_commands(commands, &[secondary]) };
            });
        }
        Interlude::Whole | Interlude::Smaller => {
            pass(
                stage,
                commands,
                stage.sketch,
                store,
                vk::RenderingFlags::empty(),
                || {
                    draw_painting(stage, commands, 1);
                },
            );
        }
    }
    Ok(())
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
    let secondary = begin(stage, vk::CommandBufferLevel::SECONDARY, Some(&inherits))?;
    draw_painting(stage, secondary, 1);
    // SAFETY: the command buffer is recording.
    unsafe { stage.device.end_command_buffer(secondary) }.called("vkEndCommandBuffer")?;
    Ok(secondary)
}

fn draw_painting(stage: &Stage<'_>, commands: vk::CommandBuffer, motif: u32) {
    let (device, pipeline) = (stage.device, stage.painting);
    // SAFETY: a pass with one target of the pipeline's format is open, or inherited.
    unsafe {
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline.handle);
        let stages = PAINTING_FRAG.stage;
        device.cmd_push_constants(commands, pipeline.layout, stages, 0, &motif.to_ne_bytes());
        device.cmd_draw(commands, 3, 1, 0, 0);
    }
}

/// Shows both pictures, and copies what is shown to the host.
fn exhibit(stage: &Stage<'_>, commands: vk::CommandBuffer, keeps_layout: bool) {
    if !keeps_layout {
        barrier(
            stage,
            commands,
            stage.dunes,
            (vk::ImageLayout::UNDEFINED, READ),
            (ALL, ALL),
        );
    }
    let (device, pipeline) = (stage.device, stage.exhibition);
    barrier(
        stage,
        commands,
        stage.picture,
        (vk::ImageLayout::UNDEFINED, PAINTED),
        (ALL, ALL),
    );
    let store = vk::AttachmentStoreOp::STORE;
    pass(
        stage,
        commands,
        stage.picture,
        store,
        vk::RenderingFlags::empty(),
        || {
            let point = vk::PipelineBindPoint::GRAPHICS;
            // SAFETY: a pass with one target of the pipeline's format is open, and the set is complete.
            unsafe {
                device.cmd_bind_pipeline(commands, point, pipeline.handle);
                device.cmd_bind_descriptor_sets(commands, point, pipeline.layout, 0, &[stage.set], &[]);
                device.cmd_draw(commands, 3, 1, 0, 0);
            }
        },
    );
    // No more than the copy: what comes after it must wait for the pictures by itself.
    let (painted, copied) = (
        vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
        vk::PipelineStageFlags2::COPY,
    );
    barrier(
        stage,
        commands,
        stage.picture,
        (PAINTED, COPIED),
        (painted, copied),
    );
    // SAFETY: the buffer holds that many texels, and the image is in that layout.
    unsafe { copy_to_buffer(device, commands, (stage.picture.handle, EXTENT), stage.texels) };
    let to_host = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::COPY)
        .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::HOST)
        .dst_access_mask(vk::AccessFlags2::HOST_READ)];
    let info = vk::DependencyInfo::default().memory_barriers(&to_host);
    // SAFETY: no pass is open.
    unsafe { device.cmd_pipeline_barrier2(commands, &info) };
}

/// A pass over one target, which `contents` record.
fn pass(
    stage: &Stage<'_>,
    commands: vk::CommandBuffer,
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
    unsafe { stage.device.cmd_begin_rendering(commands, &info) };
    contents();
    // SAFETY: opened above.
    unsafe { stage.device.cmd_end_rendering(commands) };
}

/// From layout to layout, with all accesses of the stages before and after: this program is not about speed.
fn barrier(
    stage: &Stage<'_>,
    commands: vk::CommandBuffer,
    image: Image,
    (from, to): (vk::ImageLayout, vk::ImageLayout),
    (before, after): (vk::PipelineStageFlags2, vk::PipelineStageFlags2),
) {
    let src_access = if before == vk::PipelineStageFlags2::NONE {
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
        .subresource_range(WHOLE_IMAGE)];
    let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
    // SAFETY: the command buffer is recording outside a pass.
    unsafe { stage.device.cmd_pipeline_barrier2(commands, &info) };
}

/// Submits command buffers, in one batch or in two; the semaphore is signaled and waited for at those stages, if any.
fn submit(
    stage: &Stage<'_>,
    commands: &[vk::CommandBuffer],
    second_batch: bool,
    [signals, waits]: [vk::PipelineStageFlags2; 2],
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
