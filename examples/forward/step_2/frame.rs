//! What a frame does, in the order in which it is submitted.

use ash::vk;
use tileheap::frame::external::{ExternalDesc, ResourceState};
use tileheap::frame::{
    BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassId, Persistence,
    ResourceId,
};
use tileheap::units::Bytes;

use super::seen;
use crate::drawing::{DEPTH, HDR, SHADOW, SHADOW_EXTENT};
use crate::resources::PICTURE;
use crate::scene;
use crate::support::error::Result;

/// The frame, and the names of its parts.
pub(crate) struct Forward {
    pub(crate) frame: Frame,
    pub(crate) sun: ResourceId,
    pub(crate) lamp: ResourceId,
    pub(crate) hdr: ResourceId,
    pub(crate) picture: ResourceId,
    pub(crate) texels: ResourceId,
    /// For the shadow maps, and for what is seen.
    pub(crate) commands: [CommandBufferId; 2],
    pub(crate) shadows: [PassId; 2],
    pub(crate) forward: PassId,
    pub(crate) tone_map: PassId,
    pub(crate) read_back: PassId,
}

/// Describes the frame for a picture of this extent.
pub(crate) fn describe(extent: vk::Extent2D) -> Result<Forward> {
    let mut frame = FrameBuilder::new("forward", extent);
    let sun = frame.image("sun", ImageDesc::new(SHADOW, SHADOW_EXTENT));
    let lamp = frame.image("lamp", ImageDesc::new(SHADOW, SHADOW_EXTENT));
    let depth = frame.image("depth", ImageDesc::new(DEPTH, extent));
    let hdr = frame.image("hdr", ImageDesc::new(HDR, extent));
    // These two stay the renderer's own, and are handed in with every frame.
    let picture = ImageDesc::new(PICTURE, extent);
    let picture = frame.resource("picture", picture, Persistence::External(PICTURE_STATES));
    let size = Bytes(u64::from(extent.width) * u64::from(extent.height) * 4);
    let texels = frame.resource(
        "texels",
        BufferDesc::new(size),
        Persistence::External(ExternalDesc::READ_BACK),
    );

    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    let shadows = frame.command_buffer(batch, "shadows");
    let far = LoadOp::Clear(ClearValue::DepthStencil(1.0, 0));
    let maps = [("sun", sun), ("lamp", lamp)];
    let shadow_passes = maps.map(|(name, map)| frame.render_pass(shadows, name).depth(map, far).id());

    let seen = seen::begin(&mut frame, submit, batch);
    let [r, g, b] = scene::SKY.to_array();
    let forward = frame
        .render_pass(seen, "forward")
        .sampled(sun)
        .sampled(lamp)
        .color(hdr, LoadOp::Clear(ClearValue::Float([r, g, b, 1.0])))
        .depth(depth, far)
        .id();
    let tone_map = frame
        .render_pass(seen, "tone_map")
        .sampled(hdr)
        .color(picture, LoadOp::DontCare)
        .id();
    let read_back = frame
        .transfer_pass(seen, "read_back")
        .transfer_source(picture)
        .transfer_destination(texels)
        .id();
    Ok(Forward {
        frame: frame.build()?,
        sun,
        lamp,
        hdr,
        picture,
        texels,
        commands: [shadows, seen],
        shadows: shadow_passes,
        forward,
        tone_map,
        read_back,
    })
}

/// Nothing is kept from the frame before; afterwards it has been copied from.
const PICTURE_STATES: ExternalDesc = ExternalDesc {
    entry: ResourceState {
        layout: vk::ImageLayout::UNDEFINED,
        stages: vk::PipelineStageFlags2::NONE,
        access: vk::AccessFlags2::NONE,
    },
    exit: ResourceState {
        layout: vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
        stages: vk::PipelineStageFlags2::NONE,
        access: vk::AccessFlags2::NONE,
    },
};
