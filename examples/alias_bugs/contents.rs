//! Programs with correct synchronization whose bug is a read of bytes that another resource has overwritten.

use ash::vk;

use crate::block::{Block, Texture};
use crate::old_pass::OldPass;
use crate::recording::{
    AFTER_COLOR_OUTPUT, COLOR, COLOR_WRITE, FRAGMENT_READ, Motif, PAINTED, READ, Recording, UNDEFINED,
};
use crate::stage::{Descriptor, EXTENT, FORMAT, SIZE, Stage};
use crate::support::error::Result;
use crate::support::sizes::{area, extent};

/// The usage of images that are painted and shown.
pub(crate) const SHOWN: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw() | vk::ImageUsageFlags::SAMPLED.as_raw(),
);
pub(crate) const FULL: (vk::Format, vk::Extent2D) = (FORMAT, EXTENT);

/// The images that every frame shows.
pub(crate) fn shown(stage: &Stage<'_>, dunes: Texture, medallion: Texture) -> Result<vk::DescriptorSet> {
    let read = |texture: Texture| Descriptor::Image(texture.image.view, READ);
    stage.set(&stage.exhibition, &[read(dunes), read(medallion)])
}

/// Uses the same memory for two images, one after the other and correctly: every program begins with this.
pub(crate) fn first_frame(stage: &Stage<'_>) -> Result<()> {
    let block = Block::new(stage, c"first frame")?;
    let sketch = block.texture(c"first sketch", FULL, SHOWN, 0)?;
    let other = block.texture(c"second sketch", FULL, SHOWN, 0)?;

    let frame = Recording::begin(stage)?;
    frame.paint(sketch, Motif::Stripes);
    frame.order_everything();
    frame.paint(other, Motif::Dunes);
    frame.run()
}

/// A pass between painting and showing uses the memory of an image that is shown later.
pub(crate) fn short_lifetime(stage: &Stage<'_>) -> Result<()> {
    let block = Block::new(stage, c"transient block")?;
    let dunes = block.texture(c"dunes", FULL, SHOWN, 0)?;
    let medallion = block.texture(c"medallion", FULL, SHOWN, dunes.end)?;
    let at = if stage.wrong { 0 } else { medallion.end };
    let sketch = block.texture(c"sketch", FULL, SHOWN, at)?;
    let set = shown(stage, dunes, medallion)?;

    let frame = Recording::begin(stage)?;
    frame.paint(dunes, Motif::Dunes);
    frame.paint(medallion, Motif::Medallion);
    frame.order_everything();
    frame.paint(sketch, Motif::Stripes);
    frame.order_everything();
    frame.show(set);
    frame.run()
}

/// A buffer for a chain of mip levels is placed as if it had only the first one, and is cleared as a whole.
pub(crate) fn oversized_clear(stage: &Stage<'_>) -> Result<()> {
    let first_level = SIZE * 2; // Eight bytes per texel.
    let all_levels = first_level * 4 / 3;
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
    let block = Block::new(stage, c"transient block")?;
    let levels = block.buffer(c"levels", all_levels, usage, 0)?;
    let at = if stage.wrong {
        first_level.next_multiple_of(crate::block::PAGE)
    } else {
        levels.end
    };
    let dunes = block.texture(c"dunes", FULL, SHOWN, at)?;
    let medallion = block.texture(c"medallion", FULL, SHOWN, dunes.end)?;
    let set = shown(stage, dunes, medallion)?;

    let first = Recording::begin(stage)?;
    first.paint(dunes, Motif::Dunes);
    first.paint(medallion, Motif::Medallion);
    first.run()?;

    let frame = Recording::begin(stage)?;
    frame.order_everything();
    // SAFETY: the buffer is bound, and no pass is open.
    unsafe {
        let (device, commands) = (stage.device, frame.commands);
        device.cmd_fill_buffer(commands, levels.handle, 0, vk::WHOLE_SIZE, 0);
    }
    frame.order_everything();
    frame.show(set);
    frame.run()
}

/// After a resize, an image is created again, larger and at its old offset, next to one that stays.
pub(crate) fn stale_offset(stage: &Stage<'_>) -> Result<()> {
    let half = (FORMAT, extent(EXTENT.width / 2, EXTENT.height / 2));
    let block = Block::new(stage, c"transient block")?;
    let glow = block.texture(c"glow", half, SHOWN, 0)?;
    let dunes = block.texture(c"dunes", FULL, SHOWN, glow.end)?;
    let medallion = block.texture(c"medallion", FULL, SHOWN, dunes.end)?;
    let set = shown(stage, dunes, medallion)?;

    let first = Recording::begin(stage)?;
    first.paint(glow, Motif::Stripes);
    first.paint(dunes, Motif::Dunes); // Kept for all frames.
    first.run()?;

    // The old image is destroyed some frames later.
    let at = if stage.wrong { 0 } else { medallion.end };
    let glow = block.texture(c"resized glow", FULL, SHOWN, at)?;
    let second = Recording::begin(stage)?;
    second.order_everything();
    second.paint(glow, Motif::Stripes);
    second.paint(medallion, Motif::Medallion);
    second.order_everything();
    second.show(set);
    second.run()
}

/// An image that the next frame reads is in the transient block, which that frame overwrites first.
pub(crate) fn transient_history(stage: &Stage<'_>) -> Result<()> {
    let block = Block::new(stage, c"transient block")?;
    let sketch = block.texture(c"sketch", FULL, SHOWN, 0)?;
    let at = if stage.wrong { 0 } else { sketch.end };
    let history = block.texture(c"history", FULL, SHOWN, at)?;
    let medallion = block.texture(c"medallion", FULL, SHOWN, sketch.end.max(history.end))?;
    let set = shown(stage, history, medallion)?;

    let first = Recording::begin(stage)?;
    first.paint_by_secondary(history, Motif::Dunes)?;
    stage.submit(first.end()?)?;

    let second = Recording::begin(stage)?;
    second.order_everything();
    second.paint_by_secondary(sketch, Motif::Stripes)?;
    second.paint_by_secondary(medallion, Motif::Medallion)?;
    second.order_everything();
    second.show(set);
    second.run()
}

/// The first pass of an image loads it and draws over a part of it.
pub(crate) fn uncleared_target(stage: &Stage<'_>) -> Result<()> {
    let block = Block::new(stage, c"transient block")?;
    let dunes = block.texture(c"dunes", FULL, SHOWN, 0)?;
    let sketch = block.texture(c"sketch", FULL, SHOWN, dunes.end)?;
    let medallion = block.texture(c"medallion", FULL, SHOWN, dunes.end)?;
    let set = shown(stage, dunes, medallion)?;

    let frame = Recording::begin(stage)?;
    frame.paint(sketch, Motif::Stripes);
    frame.order_everything();
    frame.paint(dunes, Motif::Dunes);
    frame.transition(medallion.image, (UNDEFINED, PAINTED), AFTER_COLOR_OUTPUT, COLOR);
    let load = if stage.wrong {
        vk::AttachmentLoadOp::LOAD
    } else {
        vk::AttachmentLoadOp::CLEAR
    };
    let inline = vk::RenderingFlags::empty();
    frame.pass(medallion.image, EXTENT, load, inline, || {
        frame.bind_painting(EXTENT, stage.painting.handle, Motif::Medallion);
        let half = area(EXTENT.width / 2, 0, extent(EXTENT.width / 2, EXTENT.height));
        // SAFETY: a pass with one target of the pipeline's format is open.
        unsafe {
            stage.device.cmd_set_scissor(frame.commands, 0, &[half]);
            stage.device.cmd_draw(frame.commands, 3, 1, 0, 0);
        }
    });
    frame.transition(medallion.image, (PAINTED, READ), COLOR_WRITE, FRAGMENT_READ);
    frame.show(set);
    frame.run()
}

/// A compute shader adds to a buffer that was never cleared.
pub(crate) fn uncleared_buffer(stage: &Stage<'_>) -> Result<()> {
    let block = Block::new(stage, c"transient block")?;
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER
        | vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST;
    let dunes = block.texture(c"dunes", FULL, SHOWN, 0)?;
    let sketch = block.texture(c"sketch", FULL, SHOWN, dunes.end)?;
    let sums = block.buffer(c"sums", SIZE, usage, dunes.end)?;
    let source = block.texture(c"medallion", FULL, SHOWN, sketch.end.max(sums.end))?;
    let received = SHOWN | vk::ImageUsageFlags::TRANSFER_DST;
    let medallion = block.texture(c"summed medallion", FULL, received, source.end)?;
    let set = shown(stage, dunes, medallion)?;
    let descriptors = [
        Descriptor::Image(source.image.view, READ),
        Descriptor::Buffer(sums.handle),
    ];
    let accumulated = stage.set(&stage.accumulate, &descriptors)?;

    let first = Recording::begin(stage)?;
    first.paint(sketch, Motif::Stripes);
    first.run()?;

    let frame = Recording::begin(stage)?;
    frame.paint(dunes, Motif::Dunes);
    frame.paint(source, Motif::Medallion);
    frame.order_everything();
    if !stage.wrong {
        // SAFETY: the buffer is bound, and no pass is open.
        unsafe {
            stage
                .device
                .cmd_fill_buffer(frame.commands, sums.handle, 0, vk::WHOLE_SIZE, 0);
        }
        frame.order_everything();
    }
    frame.dispatch(&stage.accumulate, accumulated);
    frame.order_everything();
    let copied = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
    let everything = (
        vk::PipelineStageFlags2::ALL_COMMANDS,
        vk::AccessFlags2::MEMORY_WRITE,
    );
    frame.transition(medallion.image, (UNDEFINED, copied), everything, everything);
    let layers = vk::ImageSubresourceLayers::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .layer_count(1);
    let region = vk::BufferImageCopy::default()
        .image_subresource(layers)
        .image_extent(EXTENT.into());
    // SAFETY: the buffer holds the texels of the image, and no pass is open.
    unsafe {
        let (device, image) = (stage.device, medallion.image.handle);
        device.cmd_copy_buffer_to_image(frame.commands, sums.handle, image, copied, &[region]);
    }
    frame.transition(medallion.image, (copied, READ), everything, FRAGMENT_READ);
    frame.show(set);
    frame.run()
}

/// A result is copied to the host when it is polled, after a later pass has overwritten its memory.
pub(crate) fn late_readback(stage: &Stage<'_>) -> Result<()> {
    let block = Block::new(stage, c"transient block")?;
    let dunes = block.texture(c"dunes", FULL, SHOWN, 0)?;
    let medallion = block.texture(c"medallion", FULL, SHOWN, dunes.end)?;
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let result = block.buffer(c"result", SIZE, usage, medallion.end)?;
    let at = if stage.wrong { medallion.end } else { result.end };
    let sketch = block.texture(c"sketch", FULL, SHOWN, at)?;
    let set = shown(stage, dunes, medallion)?;

    let frame = Recording::begin(stage)?;
    frame.paint(dunes, Motif::Dunes);
    frame.paint(medallion, Motif::Medallion);
    frame.exhibit(set, &stage.screen);
    frame.read_back(&stage.screen, result.handle);
    frame.order_everything();
    frame.paint(sketch, Motif::Stripes);
    frame.run()?;

    let poll = Recording::begin(stage)?;
    poll.order_everything();
    poll.copy_texels(result.handle, stage.screen.texels.handle);
    poll.run()
}

/// A depth buffer that is not stored is placed as if it needed no memory; uses render pass objects.
pub(crate) fn unstored_attachment(stage: &Stage<'_>) -> Result<()> {
    let block = Block::new(stage, c"transient block")?;
    let dunes = block.texture(c"dunes", FULL, SHOWN, 0)?;
    let medallion = block.texture(c"medallion", FULL, SHOWN, dunes.end)?;
    let sketch = block.texture(c"sketch", FULL, SHOWN, medallion.end)?;
    let format = (vk::Format::D16_UNORM, EXTENT);
    let at = if stage.wrong { 0 } else { sketch.end };
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
    let depth = block.texture(c"unstored depth", format, usage, at)?;
    let set = shown(stage, dunes, medallion)?;
    let pass = OldPass::new(stage, sketch, Some(depth))?;

    let frame = Recording::begin(stage)?;
    frame.paint(dunes, Motif::Dunes);
    frame.paint(medallion, Motif::Medallion);
    frame.transition(sketch.image, (UNDEFINED, PAINTED), AFTER_COLOR_OUTPUT, COLOR);
    frame.order_everything();
    pass.record(&frame, Motif::Stripes);
    frame.order_everything();
    frame.show(set);
    frame.run()
}
