//! The description of a frame, in submission order.

use ash::vk;
use tileheap::frame::{ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, PassId, ReadReach, ResourceId};
use tileheap::units::Bytes;

use super::seen;
use crate::drawing::{DEPTH, HDR, SHADOW, SHADOW_EXTENT};
use crate::scene;
use crate::support::error::Result;
use crate::support::output::{Output, ReadBack};

/// The frame, and the ids of its parts.
pub(crate) struct Forward {
    pub(crate) frame: Frame,
    pub(crate) sun: ResourceId,
    pub(crate) lamp: ResourceId,
    pub(crate) hdr: ResourceId,
    pub(crate) picture: ResourceId,
    /// Depth passes of the eye, the sun and the lamp.
    pub(crate) depths: [PassId; 3],
    pub(crate) forward: PassId,
    pub(crate) tone_map: PassId,
    pub(crate) read_back: ReadBack,
}

/// Describes the frame for a picture of this extent.
pub(crate) fn describe(extent: vk::Extent2D) -> Result<Forward> {
    let mut frame = FrameBuilder::new("forward", extent);
    let sun = frame.image("sun", ImageDesc::new(SHADOW, SHADOW_EXTENT));
    let lamp = frame.image("lamp", ImageDesc::new(SHADOW, SHADOW_EXTENT));
    let depth = frame.image("depth", ImageDesc::new(DEPTH, extent));
    let hdr = frame.image("hdr", ImageDesc::new(HDR, extent));
    // The renderer owns the picture and the buffer that it is copied to, and imports them with every frame.
    let picture = Output::Buffer.picture(&mut frame, extent);

    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    let depths = frame.command_buffer(batch, "depths");
    let far = LoadOp::Clear(ClearValue::DepthStencil(1.0, 0));
    // The view of the eye can be drawn in parts; each part processes all vertices.
    let vertices = Bytes(size_of_val(&*scene::vertices()) as u64);
    let eye = frame.render_pass(depths, "depth").depth(depth, far);
    let eye = eye.in_strips(vertices).id();
    let [sun_pass, lamp_pass] = [("sun", sun), ("lamp", lamp)]
        .map(|(name, map)| frame.render_pass(depths, name).depth(map, far).id());

    let seen = seen::begin(&mut frame, submit, batch);
    let [r, g, b] = scene::SKY.to_array();
    let forward = frame
        .render_pass(seen, "forward")
        .sampled(sun)
        .sampled(lamp)
        .color(hdr, LoadOp::Clear(ClearValue::Float([r, g, b, 1.0])))
        .depth(depth, LoadOp::Load)
        .in_strips(vertices)
        .id();
    let tone_map = frame
        .render_pass(seen, "tone_map")
        .sampled(hdr)
        .reaching(ReadReach::PIXEL)
        .color(picture, LoadOp::DontCare)
        .in_strips(Bytes::ZERO)
        .id();
    let (read_back, _) = Output::Buffer.finish(&mut frame, extent, batch, seen, picture);
    Ok(Forward {
        frame: frame.build()?,
        sun,
        lamp,
        hdr,
        picture,
        depths: [eye, sun_pass, lamp_pass],
        forward,
        tone_map,
        read_back: read_back.expect("of a picture that goes to a buffer"),
    })
}
