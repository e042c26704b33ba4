//! The frame, described once: what there is, and which pass does what to it.
//!
//! ```text
//! batch 0  geometry   shadow ─► gbuffer
//!          lighting   cull   ao ─► ao_blur   reflection ─► lighting ─► glow
//! batch 1  post       temporal ─► exposure   threshold ─► down ×3 ─► up ×3 ─► tone_map (─► read_back)
//! ```
//! What shaders read is declared in the order of their bindings in set 1: descriptor sets follow from the frame.

use ash::vk;
use tileheap::arrange::{Arranged, Arrangement};
use tileheap::frame::{
    BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, PassId, Persistence, QueueId, ReadReach,
    ResourceId,
};
use tileheap::units::Bytes;

use crate::camera::SHADOW_SIZE;
use crate::support::output::{Output, ReadBack, Semaphores};
use crate::support::shaders::CULL_COMP;

/// The frame, and the names of its parts.
#[derive(Clone, Debug)]
pub(crate) struct Deferred {
    pub(crate) frame: Frame,
    /// The frame that runs: another arrangement of the same, or the same.
    pub(crate) arranged: Arranged,
    pub(crate) graphics: QueueId,
    pub(crate) tone_map: PassId,
    /// The picture, handed in with every frame.
    pub(crate) picture: ResourceId,
    /// For [`Output::Buffer`].
    pub(crate) read_back: Option<ReadBack>,
    /// For [`Output::Swapchain`].
    pub(crate) semaphores: Option<Semaphores>,
}

/// Pixels of a tile of light culling a side, which is a workgroup; `TILE` in shaders/constants.glsl.
pub(crate) const TILE: u32 = CULL_COMP.local_size[0];
/// Bytes of a tile's mask; `MASK_WORDS` in shaders/constants.glsl.
const MASK_BYTES: u64 = 32;

/// Describes the frame for a picture of this extent.
pub(crate) fn describe(extent: vk::Extent2D, output: Output) -> tileheap::Result<Deferred> {
    const ZERO: LoadOp = LoadOp::Clear(ClearValue::ZERO);
    // Depth is reversed: far away is 0.
    const FAR: LoadOp = LoadOp::Clear(ClearValue::DepthStencil(0.0, 0));
    // How far the shaders look, in texels of what they read; all know where their strip begins.
    const PIXEL: ReadReach = ReadReach::PIXEL;
    const FREE: Bytes = Bytes::ZERO;
    let within = ReadReach::Texels;
    use vk::Format as F;

    let mut frame = FrameBuilder::new("deferred", extent);

    // G-buffer, light lists, occlusion, reflections: written and read within batch 0.
    let shadow_extent = vk::Extent2D {
        width: SHADOW_SIZE,
        height: SHADOW_SIZE,
    };
    let shadow = frame.image("shadow", ImageDesc::new(F::D16_UNORM, shadow_extent));
    let albedo = frame.image("albedo", ImageDesc::new(F::R8G8B8A8_SRGB, extent));
    let normal = frame.image("normal", ImageDesc::new(F::A2B10G10R10_UNORM_PACK32, extent));
    let depth = frame.image("depth", ImageDesc::new(F::D32_SFLOAT, extent));
    let tiles = u64::from(extent.width.div_ceil(TILE)) * u64::from(extent.height.div_ceil(TILE));
    let light_masks = frame.buffer("light_masks", BufferDesc::new(Bytes(tiles * MASK_BYTES)));
    let ao_noisy = frame.image("ao_noisy", ImageDesc::scaled(F::R8_UNORM, 0.5, 0.5));
    let ao = frame.image("ao", ImageDesc::scaled(F::R8_UNORM, 0.5, 0.5));
    let reflection = frame.image("reflection", ImageDesc::scaled(F::R16G16B16A16_SFLOAT, 0.5, 0.5));

    // These two go on into batch 1, where what the frame before resolved is averaged with them.
    let hdr = frame.image("hdr", ImageDesc::new(F::R16G16B16A16_SFLOAT, extent));
    let motion = frame.image("motion", ImageDesc::new(F::R16G16_SFLOAT, extent));
    let resolved_desc = ImageDesc::new(F::R16G16B16A16_SFLOAT, extent);
    let resolved = frame.resource("resolved", resolved_desc, Persistence::History);

    // Bloom and exposure: batch 1.
    let exposure = frame.buffer("exposure", BufferDesc::new(Bytes(4)));
    let mut bloom_image =
        |name: &str, scale: f32| frame.image(name, ImageDesc::scaled(F::R16G16B16A16_SFLOAT, scale, scale));
    let bright = bloom_image("bright", 0.5);
    let down = [
        bloom_image("down_0", 0.25),
        bloom_image("down_1", 0.125),
        bloom_image("down_2", 0.0625),
    ];
    let up = [
        bloom_image("up_2", 0.125),
        bloom_image("up_1", 0.25),
        bloom_image("up_0", 0.5),
    ];

    let picture = output.picture(&mut frame, extent);

    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let submit = frame.submit(graphics);

    let scene = frame.batch(submit);
    let geometry = frame.command_buffer(scene, "geometry");
    frame.render_pass(geometry, "shadow").depth(shadow, FAR);
    frame
        .render_pass(geometry, "gbuffer")
        // Sky keeps these: the passes that read them look at the depth first, and motion is 0 there.
        .color(albedo, ZERO)
        .color(normal, ZERO)
        .color(motion, ZERO)
        .depth(depth, FAR);

    let lighting = frame.command_buffer(scene, "lighting");
    frame
        .compute_pass(lighting, "cull")
        .sampled(depth)
        .reaching(within(TILE - 1))
        .storage_write(light_masks)
        .in_strips(FREE);
    frame
        .render_pass(lighting, "ao")
        .sampled(depth)
        // `reach` in shaders/ao.frag.
        .reaching(within(extent.height * 12 / 100 + 2))
        .sampled(normal)
        .reaching(PIXEL)
        .color(ao_noisy, LoadOp::DontCare)
        .in_strips(FREE)
        .fragment();
    frame
        .render_pass(lighting, "ao_blur")
        .sampled(ao_noisy)
        .reaching(within(2))
        .sampled(depth)
        .reaching(within(4))
        .color(ao, LoadOp::DontCare)
        .in_strips(FREE)
        .fragment();
    frame
        .render_pass(lighting, "reflection")
        .sampled(albedo)
        .reaching(PIXEL)
        .sampled(normal)
        .reaching(PIXEL)
        .sampled(depth)
        .sampled_previous(resolved)
        .color(reflection, LoadOp::DontCare)
        .in_strips(FREE)
        .fragment();
    frame
        .render_pass(lighting, "lighting")
        .sampled(albedo)
        .reaching(PIXEL)
        .sampled(normal)
        .reaching(PIXEL)
        .sampled(depth)
        .reaching(within(2))
        .sampled(shadow)
        .sampled(ao)
        .reaching(within(1))
        .sampled(reflection)
        .reaching(within(1))
        .storage_read(light_masks)
        .reaching(PIXEL)
        .color(hdr, LoadOp::DontCare)
        .in_strips(FREE)
        .fragment();
    frame
        .render_pass(lighting, "glow")
        .color(hdr, LoadOp::Load)
        .depth_read_only(depth)
        .in_strips(FREE);

    let post_batch = frame.batch(submit);
    let post = frame.command_buffer(post_batch, "post");
    frame
        .render_pass(post, "temporal")
        .sampled(hdr)
        .reaching(within(1))
        .sampled(motion)
        .reaching(PIXEL)
        .sampled_previous(resolved)
        .color(resolved, LoadOp::DontCare)
        .in_strips(FREE)
        .fragment();
    frame
        .compute_pass(post, "exposure")
        .sampled(resolved)
        .storage_write(exposure);
    for (name, from, to) in [
        ("threshold", resolved, bright),
        ("down_0", bright, down[0]),
        ("down_1", down[0], down[1]),
        ("down_2", down[1], down[2]),
    ] {
        let pass = frame.render_pass(post, name).sampled(from).reaching(within(2));
        pass.color(to, LoadOp::DontCare).in_strips(FREE).fragment();
    }
    for (name, from, with, to) in [
        ("up_2", down[2], down[1], up[0]),
        ("up_1", up[0], down[0], up[1]),
        ("up_0", up[1], bright, up[2]),
    ] {
        let pass = frame.render_pass(post, name).sampled(from).reaching(within(2));
        let pass = pass.sampled(with).reaching(PIXEL);
        pass.color(to, LoadOp::DontCare).in_strips(FREE).fragment();
    }
    let tone_map = frame
        .render_pass(post, "tone_map")
        .sampled(resolved)
        .reaching(PIXEL)
        .sampled(up[2])
        .reaching(within(2))
        .storage_read(exposure)
        .color(picture, LoadOp::DontCare)
        .in_strips(FREE)
        .fragment()
        .id();

    let (read_back, semaphores) = output.finish(&mut frame, extent, post_batch, post, picture);
    let frame = frame.build()?;
    Ok(Deferred {
        arranged: Arrangement::described(&frame).apply(&frame)?,
        frame,
        graphics,
        tone_map,
        picture,
        read_back,
        semaphores,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_sound_at_any_size_and_for_any_output() {
        for (width, height) in [(1, 1), (17, 31), (320, 180), (1280, 720), (3840, 2160)] {
            let extent = vk::Extent2D { width, height };
            for output in [Output::Buffer, Output::Swapchain(vk::Format::B8G8R8A8_UNORM)] {
                let deferred = describe(extent, output).expect("the description is sound");
                assert!(deferred.frame.passes().len() >= 18);
                assert_eq!(deferred.frame.batches().len(), 2);
            }
        }
    }

    #[test]
    fn what_is_local_to_batch_0_stays_there_and_the_picture_goes_on() {
        let extent = vk::Extent2D {
            width: 1280,
            height: 720,
        };
        let frame = describe(extent, Output::Buffer)
            .expect("the description is sound")
            .frame;
        let batches = |name: &str| {
            let uses = frame.uses_of(frame.resource_named(name).expect("declared"));
            let mut batches: Vec<usize> = uses
                .iter()
                .map(|&use_index| frame.batch_of(frame.accesses()[use_index as usize].pass).index())
                .collect();
            batches.dedup();
            batches
        };
        let local = "shadow albedo normal depth light_masks ao_noisy ao reflection";
        for name in local.split(' ') {
            assert_eq!(batches(name), [0], "{name}");
        }
        for name in ["exposure", "bright", "down_0", "down_2", "up_0"] {
            assert_eq!(batches(name), [1], "{name}");
        }
        assert_eq!(batches("hdr"), [0, 1]);
    }
}
