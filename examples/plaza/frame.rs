//! The frame: its description for a picture of any size, and the shaders and draws of each pass.
//!
//! ```text
//! batch 0  scene   shadow ─► gbuffer ─► lighting ─► halos
//! batch 1  post    temporal ─► bright ─► bloom ─► wide_bloom ─► tone_map ─► read_back
//! ```
//! A pass declares what it samples in the order of the bindings of its shader.

use ash::vk;
use tileheap::frame::tables::SkippedOutputs;
use tileheap::frame::{
    ClearValue, CommandBufferId, FrameBuilder, ImageDesc, LoadOp, PassId, Persistence, QueueId, ResourceId,
};

use crate::support::output::{Output, ReadBack};
use crate::support::shaders::{self, Shader};
use crate::support::sizes;

/// The ids that recording needs.
pub(crate) struct Plaza {
    pub(crate) graphics: QueueId,
    /// Scene and postprocessing, in order of submission.
    pub(crate) command_buffers: [CommandBufferId; 2],
    /// The pass `halos`, which a frame may skip.
    pub(crate) halos: PassId,
    /// The picture, imported with every frame.
    pub(crate) picture: ResourceId,
    /// The copy of the picture to a buffer, which is imported with every frame too.
    pub(crate) read_back: ReadBack,
}

const SHADOW_EXTENT: vk::Extent2D = sizes::extent(1024, 1024);
const HDR: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
const ZERO: LoadOp = LoadOp::Clear(ClearValue::ZERO);
// Depth is reversed: 0 is farthest away.
const FAR: LoadOp = LoadOp::Clear(ClearValue::DepthStencil(0.0, 0));

/// Describes the frame of a picture of this extent in a builder, which is reset first. The ids are the same for every extent.
pub(crate) fn describe(frame: &mut FrameBuilder, extent: vk::Extent2D) -> Plaza {
    let scaled = |format, scale| ImageDesc::scaled(format, scale, scale);
    frame.reset("plaza", extent);
    let shadow = frame.image("shadow", ImageDesc::new(vk::Format::D16_UNORM, SHADOW_EXTENT));
    let albedo = frame.image("albedo", scaled(vk::Format::R8G8B8A8_UNORM, 1.0));
    let normal = frame.image("normal", scaled(vk::Format::A2B10G10R10_UNORM_PACK32, 1.0));
    let motion = frame.image("motion", scaled(vk::Format::R16G16_SFLOAT, 1.0));
    let depth = frame.image("depth", scaled(vk::Format::D32_SFLOAT, 1.0));
    let lit = frame.image("lit", scaled(HDR, 1.0));
    let resolved = frame.resource("resolved", scaled(HDR, 1.0), Persistence::History);
    let bright = frame.image("bright", scaled(HDR, 0.5));
    let bloom = frame.image("bloom", scaled(HDR, 0.5));
    let wide_bloom = frame.image("wide_bloom", scaled(HDR, 0.25));
    let picture = Output::Buffer.picture(frame, extent);

    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    let scene = frame.command_buffer(batch, "scene");
    frame.render_pass(scene, "shadow").depth(shadow, FAR);
    let pass = frame.render_pass(scene, "gbuffer");
    let pass = pass.color(albedo, ZERO).color(normal, ZERO).color(motion, ZERO);
    pass.depth(depth, FAR);
    let pass = frame.render_pass(scene, "lighting");
    let pass = pass
        .sampled(albedo)
        .sampled(normal)
        .sampled(depth)
        .sampled(shadow);
    pass.color(lit, LoadOp::DontCare).fragment();
    let pass = frame.render_pass(scene, "halos").color(lit, LoadOp::Load);
    let pass = pass.depth_read_only(depth).optional(SkippedOutputs::Kept);
    let halos = pass.id();

    let batch = frame.batch(submit);
    let post = frame.command_buffer(batch, "post");
    let pass = frame.render_pass(post, "temporal").sampled(lit).sampled(motion);
    let pass = pass.sampled_previous(resolved);
    pass.color(resolved, LoadOp::DontCare).fragment();
    for (name, from, to) in [
        ("bright", resolved, bright),
        ("bloom", bright, bloom),
        ("wide_bloom", bloom, wide_bloom),
    ] {
        let pass = frame.render_pass(post, name).sampled(from);
        pass.color(to, LoadOp::DontCare).fragment();
    }
    let pass = frame.render_pass(post, "tone_map").sampled(resolved);
    let pass = pass.sampled(bloom).sampled(wide_bloom);
    pass.color(picture, LoadOp::DontCare).fragment();
    let (read_back, _) = Output::Buffer.finish(frame, extent, batch, post, picture);
    Plaza {
        graphics,
        command_buffers: [scene, post],
        halos,
        picture,
        read_back: read_back.expect("the output is a buffer"),
    }
}

/// The vertex and fragment shader of a pass, and its draws.
pub(crate) type Program = (&'static Shader, Option<&'static Shader>, &'static [DrawArguments]);

/// The arguments of `vkCmdDraw`: vertices, instances, first vertex, first instance.
pub(crate) type DrawArguments = [u32; 4];

/// Boxes, then balls, as shaders/plaza_objects.glsl computes them.
const OBJECTS: &[DrawArguments] = &[[36, 36, 0, 0], [2304, 48, 0, 36]];
/// A square around each light.
const HALOS: &[DrawArguments] = &[[6, 21, 0, 0]];
/// One triangle that covers the target.
const SCREEN: &[DrawArguments] = &[[3, 1, 0, 0]];

/// The program of a render pass; `None` for `read_back`.
pub(crate) fn program(pass: &str) -> Option<Program> {
    let screen = |fragment| -> Program { (&shaders::FULLSCREEN_VERT, Some(fragment), SCREEN) };
    Some(match pass {
        "shadow" => (&shaders::PLAZA_SHADOW_VERT, None, OBJECTS),
        "gbuffer" => (
            &shaders::PLAZA_GBUFFER_VERT,
            Some(&shaders::PLAZA_GBUFFER_FRAG),
            OBJECTS,
        ),
        "lighting" => screen(&shaders::PLAZA_LIGHTING_FRAG),
        "halos" => (
            &shaders::PLAZA_HALOS_VERT,
            Some(&shaders::PLAZA_HALOS_FRAG),
            HALOS,
        ),
        "temporal" => screen(&shaders::PLAZA_TEMPORAL_FRAG),
        "bright" => screen(&shaders::PLAZA_BRIGHT_FRAG),
        "bloom" | "wide_bloom" => screen(&shaders::PLAZA_BLOOM_FRAG),
        "tone_map" => screen(&shaders::PLAZA_TONE_FRAG),
        _ => return None,
    })
}
