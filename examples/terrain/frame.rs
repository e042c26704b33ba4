//! The frame, described once: it streams textures and draws the land with them.

use ash::vk;
use tileheap::frame::{
    ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassId, QueueId, ResourceId,
};

use crate::support::output::{Output, ReadBack, Semaphores};

/// The frame, and the ids of its parts.
pub(crate) struct Landscape {
    pub(crate) frame: Frame,
    pub(crate) graphics: QueueId,
    pub(crate) commands: CommandBufferId,
    /// Records the texture cache's uploads, which use no resource of the frame.
    pub(crate) stream: PassId,
    pub(crate) land: PassId,
    pub(crate) picture: ResourceId,
    pub(crate) read_back: Option<ReadBack>,
    pub(crate) semaphores: Option<Semaphores>,
}

/// Describes the frame for a picture of this extent.
pub(crate) fn describe(extent: vk::Extent2D, output: Output) -> tileheap::Result<Landscape> {
    // Depth is reversed: 0 is farthest away.
    const FAR: LoadOp = LoadOp::Clear(ClearValue::DepthStencil(0.0, 0));
    let mut frame = FrameBuilder::new("landscape", extent);
    let depth = frame.image("depth", ImageDesc::new(vk::Format::D32_SFLOAT, extent));
    let picture = output.picture(&mut frame, extent);
    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "landscape");
    let stream = frame.transfer_pass(commands, "stream").id();
    let land = frame
        .render_pass(commands, "land")
        .color(picture, LoadOp::DontCare)
        .depth(depth, FAR)
        .id();
    let (read_back, semaphores) = output.finish(&mut frame, extent, batch, commands, picture);
    Ok(Landscape {
        frame: frame.build()?,
        graphics,
        commands,
        stream,
        land,
        picture,
        read_back,
        semaphores,
    })
}
