//! Programs that read no lost contents, and whose bug is a missing dependency between two resources on the same bytes.

use ash::vk;

use crate::block::Block;
use crate::contents::{FULL, SHOWN, shown};
use crate::old_pass::OldPass;
use crate::recording::{
    AFTER_COLOR_OUTPUT, CLEAR_WRITE, COLOR, COLOR_WRITE, COMPUTE_WRITE, COPY_READ, COPY_WRITE, FRAGMENT_READ,
    GENERAL, Motif, NOTHING, PAINTED, READ, Recording, Scope, UNDEFINED,
};
use crate::stage::{Descriptor, SIZE, Screen, Stage};
use crate::support::error::{Called, Result};
use crate::support::memory::{Allocator, HostBuffer};

/// The usage of images that a compute shader writes and a copy reads.
const COMPUTED: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::STORAGE.as_raw() | vk::ImageUsageFlags::TRANSFER_SRC.as_raw(),
);

/// A compute pass reuses the memory of an image that fragment shaders read, after a barrier that waits for nothing.
pub(crate) fn no_source_stage(stage: &Stage<'_>) -> Result<()> {
    let block = Block::new(stage, c"transient block")?;
    let dunes = block.texture(c"dunes", FULL, SHOWN, 0)?;
    let stripes = block.texture(c"stripes", FULL, COMPUTED, 0)?;
    let medallion = block.texture(c"medallion", FULL, SHOWN, dunes.end.max(stripes.end))?;
    let set = shown(stage, dunes, medallion)?;
    let computed = stage.set(&stage.stripes, &[Descriptor::Image(stripes.image.view, GENERAL)])?;

    let frame = Recording::begin(stage)?;
    frame.paint(dunes, Motif::Dunes);
    frame.paint(medallion, Motif::Medallion);
    frame.show(set);
    let before = if stage.wrong {
        NOTHING
    } else {
        // The image's first use is a write: it waits for the last reads, and for the writes before them.
        let used = (COLOR_WRITE.0 | FRAGMENT_READ.0, COLOR_WRITE.1);
        frame.order(used, COMPUTE_WRITE);
        (COMPUTE_WRITE.0, vk::AccessFlags2::NONE)
    };
    frame.transition(stripes.image, (UNDEFINED, GENERAL), before, COMPUTE_WRITE);
    frame.dispatch(&stage.stripes, computed);
    frame.run()
}

/// A pass waits for the previous one with a barrier for its own image only; uses Vulkan 1.0 commands.
pub(crate) fn own_image_barrier(stage: &Stage<'_>) -> Result<()> {
    let block = Block::new(stage, c"transient block")?;
    let sketch = block.texture(c"sketch", FULL, SHOWN, 0)?;
    let dunes = block.texture(c"dunes", FULL, SHOWN, 0)?;
    let medallion = block.texture(c"medallion", FULL, SHOWN, dunes.end)?;
    let set = shown(stage, dunes, medallion)?;
    let (to_sketch, to_dunes) = (
        OldPass::new(stage, sketch, None)?,
        OldPass::new(stage, dunes, None)?,
    );

    let frame = Recording::begin(stage)?;
    frame.transition(sketch.image, (UNDEFINED, PAINTED), NOTHING, COLOR);
    to_sketch.record(&frame, Motif::Stripes);
    let output = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
    let written = vk::AccessFlags::COLOR_ATTACHMENT_WRITE;
    let accessed = vk::AccessFlags::COLOR_ATTACHMENT_READ | written;
    let barrier = |memory: &[vk::MemoryBarrier<'_>], images: &[vk::ImageMemoryBarrier<'_>]| {
        let flags = vk::DependencyFlags::empty();
        // SAFETY: no pass is open.
        unsafe {
            stage
                .device
                .cmd_pipeline_barrier(frame.commands, output, output, flags, memory, &[], images);
        }
    };
    if !stage.wrong {
        let memory = vk::MemoryBarrier::default()
            .src_access_mask(written)
            .dst_access_mask(accessed);
        barrier(&[memory], &[]);
    }
    let image = vk::ImageMemoryBarrier::default()
        .src_access_mask(written)
        .dst_access_mask(accessed)
        .old_layout(UNDEFINED)
        .new_layout(PAINTED)
        .image(dunes.image.handle)
        .subresource_range(dunes.image.range);
    barrier(&[], &[image]);
    to_dunes.record(&frame, Motif::Dunes);
    frame.transition(dunes.image, (PAINTED, READ), COLOR_WRITE, FRAGMENT_READ);
    frame.paint(medallion, Motif::Medallion);
    frame.show(set);
    frame.run()
}

/// A submit waits for another queue at the stage that reads its result, after an earlier stage has reused its memory.
///
/// One queue simulates both: no barrier in the second submit synchronizes with the first.
pub(crate) fn late_semaphore_wait(stage: &Stage<'_>) -> Result<()> {
    let (block, results) = (
        Block::new(stage, c"transient block")?,
        Block::new(stage, c"results")?,
    );
    let stripes = block.texture(c"stripes", FULL, COMPUTED, 0)?;
    let dunes = block.texture(c"dunes", FULL, SHOWN, 0)?;
    let medallion = block.texture(c"medallion", FULL, SHOWN, stripes.end.max(dunes.end))?;
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let result = results.buffer(c"result", SIZE, usage, 0)?;
    let memory = Allocator::of_all(stage.device, &stage.gpu.memory);
    let polled = HostBuffer::new(memory, SIZE, vk::BufferUsageFlags::TRANSFER_DST)?;
    let set = shown(stage, dunes, medallion)?;
    let computed = stage.set(&stage.stripes, &[Descriptor::Image(stripes.image.view, GENERAL)])?;
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: timeline semaphores are enabled.
    let timeline = unsafe { stage.device.create_semaphore(&info, None) }.called("vkCreateSemaphore")?;
    // SAFETY: run at the end.
    stage.keep(move |device| unsafe { device.destroy_semaphore(timeline, None) });
    let at = |stages| {
        vk::SemaphoreSubmitInfo::default()
            .semaphore(timeline)
            .value(1)
            .stage_mask(stages)
    };

    let compute = Recording::begin(stage)?;
    compute.transition(stripes.image, (UNDEFINED, GENERAL), NOTHING, COMPUTE_WRITE);
    compute.dispatch(&stage.stripes, computed);
    compute.order(COMPUTE_WRITE, COPY_READ);
    compute.copy_image(stripes, result.handle);
    let done = at(vk::PipelineStageFlags2::ALL_COMMANDS);
    stage.submit_with(compute.end()?, &[], &[done])?;

    let frame = Recording::begin(stage)?;
    frame.paint(dunes, Motif::Dunes); // Waits for color output only.
    frame.paint(medallion, Motif::Medallion);
    frame.copy_texels(result.handle, polled.handle);
    frame.show(set);
    let waited = if stage.wrong {
        COPY_READ.0
    } else {
        COPY_READ.0 | AFTER_COLOR_OUTPUT.0
    };
    stage.submit_with(frame.end()?, &[at(waited)], &[])?;
    stage.wait()?;
    // SAFETY: the device is idle.
    unsafe { polled.destroy(stage.device) };
    Ok(())
}

/// Two frames use the same block, and the second does not wait for the first; submitted as in Vulkan 1.0.
pub(crate) fn frames_in_flight(stage: &Stage<'_>) -> Result<()> {
    let (block, kept) = (
        Block::new(stage, c"transient block")?,
        Block::new(stage, c"kept")?,
    );
    // The picture that both frames process is painted beforehand.
    let dunes = kept.texture(c"dunes", FULL, SHOWN, 0)?;
    let medallion = kept.texture(c"medallion", FULL, SHOWN, dunes.end)?;
    let set = shown(stage, dunes, medallion)?;
    let setup = Recording::begin(stage)?;
    setup.paint(dunes, Motif::Dunes);
    setup.paint(medallion, Motif::Medallion);
    setup.exhibit(set, &stage.screen);
    setup.transition(stage.screen.picture, (PAINTED, READ), COLOR_WRITE, FRAGMENT_READ);
    setup.order_everything();
    setup.run()?;

    let developed = [
        block.texture(c"developed 0", FULL, COMPUTED, 0)?,
        block.texture(c"developed 1", FULL, COMPUTED, 0)?,
    ];
    let first = Screen::new(stage.gpu)?;
    let mut frames = Vec::new();
    for (texture, texels) in developed.into_iter().zip([&first.texels, &stage.screen.texels]) {
        let descriptors = [
            Descriptor::Image(stage.screen.picture.view, READ),
            Descriptor::Image(texture.image.view, GENERAL),
        ];
        let set = stage.set(&stage.copy, &descriptors)?;
        let frame = Recording::begin(stage)?;
        // It waits for earlier compute shaders, which the semaphore may hold back.
        let shaders = (COMPUTE_WRITE.0, vk::AccessFlags2::NONE);
        frame.order(COMPUTE_WRITE, COMPUTE_WRITE);
        frame.transition(texture.image, (UNDEFINED, GENERAL), shaders, COMPUTE_WRITE);
        frame.dispatch(&stage.copy, set);
        frame.order(COMPUTE_WRITE, COPY_READ);
        frame.copy_image(texture, texels.handle);
        let host: Scope = (vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ);
        frame.order(COPY_WRITE, host);
        frames.push([frame.end()?]);
    }

    // SAFETY: the description is complete.
    let semaphore = unsafe {
        stage
            .device
            .create_semaphore(&vk::SemaphoreCreateInfo::default(), None)
    };
    let semaphore = [semaphore.called("vkCreateSemaphore")?];
    stage.keep(move |device| {
        // SAFETY: run at the end.
        unsafe { device.destroy_semaphore(semaphore[0], None) };
    });
    let mut submits = [
        vk::SubmitInfo::default().command_buffers(&frames[0]),
        vk::SubmitInfo::default().command_buffers(&frames[1]),
    ];
    if !stage.wrong {
        submits[0] = submits[0].signal_semaphores(&semaphore);
        submits[1] = submits[1]
            .wait_semaphores(&semaphore)
            .wait_dst_stage_mask(&[vk::PipelineStageFlags::COMPUTE_SHADER]);
    }
    for submit in submits {
        // SAFETY: the command buffers are recorded, and no other thread uses the queue.
        unsafe {
            stage
                .device
                .queue_submit(stage.gpu.queue, &[submit], vk::Fence::null())
        }
        .called("vkQueueSubmit")?;
    }
    stage.wait()?;
    // SAFETY: the device is idle.
    unsafe { first.destroy(stage.device) };
    Ok(())
}

/// A compute pass reuses the memory of arguments, and waits for the upload that wrote them, not for the draw that reads them.
pub(crate) fn indirect_arguments(stage: &Stage<'_>) -> Result<()> {
    let block = Block::new(stage, c"transient block")?;
    let usage = vk::BufferUsageFlags::INDIRECT_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
    let draw = [3_u32, 1, 0, 0];
    let arguments = block.buffer(c"arguments", size_of_val(&draw) as u64, usage, 0)?;
    let canvas = block.texture(c"canvas", FULL, SHOWN | vk::ImageUsageFlags::TRANSFER_DST, 0)?;
    let dunes = block.texture(c"dunes", FULL, SHOWN, canvas.end)?;
    let medallion = block.texture(c"medallion", FULL, SHOWN, dunes.end)?;
    let set = shown(stage, dunes, medallion)?;

    let frame = Recording::begin(stage)?;
    let device = stage.device;
    // SAFETY: the buffer is bound, and no pass is open.
    unsafe {
        let bytes: &[u8] = bytemuck::cast_slice(&draw);
        device.cmd_update_buffer(frame.commands, arguments.handle, 0, bytes);
    }
    let uploaded = (
        vk::PipelineStageFlags2::ALL_TRANSFER,
        vk::AccessFlags2::TRANSFER_WRITE,
    );
    let drawn = vk::PipelineStageFlags2::DRAW_INDIRECT;
    frame.order(uploaded, (drawn, vk::AccessFlags2::INDIRECT_COMMAND_READ));
    frame.paint_with(dunes, || {
        frame.bind_painting(dunes.extent, stage.painting.handle, Motif::Dunes);
        // SAFETY: a pass with one target of the pipeline's format is open, and the buffer holds a draw.
        unsafe { device.cmd_draw_indirect(frame.commands, arguments.handle, 0, 1, 0) };
    });
    let used = if stage.wrong {
        uploaded
    } else {
        (uploaded.0 | drawn, uploaded.1)
    };
    // A clear: graphics and compute stages would wait for DRAW_INDIRECT, which precedes them in their pipelines.
    frame.order(used, CLEAR_WRITE);
    let clears = (CLEAR_WRITE.0, vk::AccessFlags2::NONE);
    frame.transition(canvas.image, (UNDEFINED, GENERAL), clears, CLEAR_WRITE);
    let (black, ranges) = (vk::ClearColorValue::default(), [canvas.image.range]);
    // SAFETY: the image is in that layout, and no pass is open.
    unsafe { device.cmd_clear_color_image(frame.commands, canvas.image.handle, GENERAL, &black, &ranges) };
    frame.paint(medallion, Motif::Medallion);
    frame.show(set);
    frame.run()
}
