//! The description of the frame: its resources, and the accesses of each pass.
//!
//! ```text
//! batch 0  geometry   shadow ─► gbuffer
//!          lighting   cull   ao ─► ao_blur   reflection ─► lighting ─► glow
//! batch 1  post       temporal ─► exposure   threshold ─► down ×3 ─► up ×3 ─► tone_map (─► read_back)
//! ```
//! Shader reads are declared in the order of their bindings in set 1, so descriptor sets follow from the frame. [`Switches`] select parts
//! of the frame; names of the second view's resources and passes end in [`INSET`].

use ash::vk;
use tileheap::execute::ExecutedFrame;
use tileheap::frame::{
    BatchId, BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassBuilder,
    PassId, Persistence, QueueId, ReadReach, ResourceId,
};
use tileheap::units::Bytes;

use crate::camera::SHADOW_SIZE;
use crate::support::output::{Output, ReadBack, Semaphores};
use crate::support::shaders::CULL_COMP;
use crate::support::sizes;

/// The frame, and the ids of its parts.
#[derive(Clone, Debug)]
pub(crate) struct Deferred {
    pub(crate) frame: Frame,
    /// The executed frame: as described, or another arrangement of it.
    pub(crate) arranged: ExecutedFrame,
    pub(crate) parts: Parts,
    /// The resolution of the frame: the base extent, or less.
    pub(crate) resolution: vk::Extent2D,
    /// The resolution at which each view was last rendered.
    pub(crate) before: [vk::Extent2D; 2],
}

/// The ids of imported resources and of special parts of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) graphics: QueueId,
    /// The queue of the exposure pass, if it has a separate one.
    pub(crate) compute: Option<QueueId>,
    pub(crate) tone_map: PassId,
    /// The picture, imported with every frame.
    pub(crate) picture: ResourceId,
    /// The copy of the picture to a buffer, for [`Output::Buffer`].
    pub(crate) read_back: Option<ReadBack>,
    /// The semaphores of the swapchain image, for [`Output::Swapchain`].
    pub(crate) semaphores: Option<Semaphores>,
}

impl Parts {
    /// The described frame with these parts.
    pub(crate) fn of(self, frame: Frame) -> tileheap::Result<Deferred> {
        Ok(Deferred {
            arranged: ExecutedFrame::as_described(&frame),
            resolution: frame.base_extent(),
            before: [frame.base_extent(); 2],
            frame,
            parts: self,
        })
    }
}

/// Optional parts of a frame, one bit each.
pub(crate) type Switches = u8;
const OCCLUSION: Switches = 1;
const REFLECTIONS: Switches = 1 << 1;
const BLOOM: Switches = 1 << 2;
const FINE_SHADOWS: Switches = 1 << 3; // else half the size
const CASCADES: Switches = 1 << 4; // a second shadow map, of the near part
const MULTISAMPLING: Switches = 1 << 5; // of the G-buffer
const ASYNC_EXPOSURE: Switches = 1 << 6; // on a separate queue
const SECOND_VIEW: Switches = 1 << 7; // in a corner of the picture
/// The switches that are on without `--toggle`.
const USUAL: Switches = OCCLUSION | REFLECTIONS | BLOOM | FINE_SHADOWS;

/// Pixels per side of a light culling tile, which is a workgroup; `TILE` in shaders/constants.glsl.
pub(crate) const TILE: u32 = CULL_COMP.local_size[0];
/// Bytes of a tile's mask; `MASK_WORDS` in shaders/constants.glsl.
const MASK_BYTES: u64 = 32;
/// The suffix of names of the second view's resources and passes.
pub(crate) const INSET: &str = "_inset";
/// The picture's sides divided by those of the second view.
const INSET_SHARE: u32 = 4;

const ZERO: LoadOp = LoadOp::Clear(ClearValue::ZERO);
// Depth is reversed: far away is 0.
const FAR: LoadOp = LoadOp::Clear(ClearValue::DepthStencil(0.0, 0));
// Reach of the shaders, in texels of the image they read; all shaders know the origin of their strip.
const PIXEL: ReadReach = ReadReach::PIXEL;
const FREE: Bytes = Bytes::ZERO;
fn within(texels: u32) -> ReadReach {
    ReadReach::Texels(texels)
}

/// The size of the second view in a picture.
pub(crate) fn inset(extent: vk::Extent2D) -> vk::Extent2D {
    sizes::extent(
        extent.width.div_ceil(INSET_SHARE),
        extent.height.div_ceil(INSET_SHARE),
    )
}

pub(crate) fn describe(extent: vk::Extent2D, output: Output) -> tileheap::Result<Deferred> {
    let mut frame = FrameBuilder::default();
    let parts = declare(&mut frame, extent, output, USUAL);
    parts.of(frame.build()?)
}

/// Describes the frame with some switches on, in a builder that is reused.
pub(crate) fn declare(frame: &mut FrameBuilder, extent: vk::Extent2D, output: Output, on: Switches) -> Parts {
    frame.reset("deferred", extent);
    let side = SHADOW_SIZE >> u32::from(on & FINE_SHADOWS == 0);
    let maps = if on & CASCADES != 0 { 2 } else { 1 };
    let shadow_extent = sizes::extent(side * maps, side);
    let shadow = frame.image("shadow", ImageDesc::new(vk::Format::D16_UNORM, shadow_extent));
    let main = View::declare(frame, "", extent, 1);
    let second = (on & SECOND_VIEW != 0).then(|| View::declare(frame, INSET, inset(extent), INSET_SHARE));
    let views = || [&main].into_iter().chain(&second);
    let picture = output.picture(frame, extent);

    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let submit = frame.submit(graphics);
    let scene = frame.batch(submit);
    let geometry = frame.command_buffer(scene, "geometry");
    for (map, name) in (0..maps).zip(["shadow", "shadow_near"]) {
        let pass = frame.render_pass(geometry, name).depth(shadow, FAR);
        if maps > 1 {
            pass.area(sizes::area(map * side, 0, sizes::extent(side, side)));
        }
    }
    views().for_each(|view| view.draw(frame, geometry, on));
    let lighting = frame.command_buffer(scene, "lighting");
    views().for_each(|view| view.light(frame, lighting, shadow, on));

    let compute = (on & ASYNC_EXPOSURE != 0).then(|| frame.queue("compute", vk::QueueFlags::COMPUTE));
    let meter = compute.map(|compute| {
        let submit = frame.submit(compute);
        let batch = frame.batch(submit);
        hand_over(frame, "lit", scene, batch);
        let meter = frame.command_buffer(batch, "meter");
        // Before antialiasing, so that it need not wait for antialiasing.
        views().for_each(|view| view.meter(frame, meter, view.hdr));
        batch
    });
    let submit = if meter.is_some() {
        frame.submit(graphics)
    } else {
        submit
    };
    let mut batch = frame.batch(submit);
    let mut post = frame.command_buffer(batch, "post");
    for view in views() {
        view.antialias(frame, post);
        if meter.is_none() {
            view.meter(frame, post, view.resolved);
        }
        view.bloom(frame, post, on);
    }
    if let Some(meter) = meter {
        batch = frame.batch(submit);
        hand_over(frame, "metered", meter, batch);
        post = frame.command_buffer(batch, "finish");
    }
    let tone_map = main.tone_map(frame, post, (picture, extent));
    if let Some(second) = &second {
        second.tone_map(frame, post, (picture, extent));
    }
    let (read_back, semaphores) = output.finish(frame, extent, batch, post, picture);
    Parts {
        graphics,
        compute,
        tone_map,
        picture,
        read_back,
        semaphores,
    }
}

/// Makes a batch wait for a batch of another queue.
fn hand_over(frame: &mut FrameBuilder, name: &str, from: BatchId, to: BatchId) {
    let (semaphore, all) = (frame.semaphore(name), vk::PipelineStageFlags2::ALL_COMMANDS);
    frame.signal(from, semaphore, all);
    frame.wait(to, semaphore, all);
}

/// The resources of one view.
struct View {
    /// The suffix of the names of the view's resources and passes.
    suffix: &'static str,
    extent: vk::Extent2D,
    /// The G-buffer's images, in the order of [`GBUFFER`].
    gbuffer: [ResourceId; 4],
    light_masks: ResourceId,
    /// Ambient occlusion, noisy and blurred.
    ao: [ResourceId; 2],
    reflection: ResourceId,
    hdr: ResourceId,
    /// The antialiased image, which is averaged with that of the next frame.
    resolved: ResourceId,
    exposure: ResourceId,
    /// The images that the bloom passes write: one threshold pass, three downsampling and three upsampling passes.
    bloom: [ResourceId; 7],
}

const GBUFFER: [(&str, vk::Format); 4] = [
    ("albedo", vk::Format::R8G8B8A8_SRGB),
    ("normal", vk::Format::A2B10G10R10_UNORM_PACK32),
    ("motion", vk::Format::R16G16_SFLOAT),
    ("depth", vk::Format::D32_SFLOAT),
];

impl View {
    fn declare(frame: &mut FrameBuilder, suffix: &'static str, extent: vk::Extent2D, share: u32) -> View {
        const HDR: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
        let name = |name: &str| format!("{name}{suffix}");
        let desc = |format, shrunk: u32| {
            let scale = 1.0 / (share * shrunk) as f32;
            ImageDesc::scaled(format, scale, scale)
        };
        let image =
            |frame: &mut FrameBuilder, of: &str, format, shrunk| frame.image(name(of), desc(format, shrunk));
        // G-buffer, light lists, occlusion, reflections: written and read within batch 0.
        let [albedo, normal, depth] =
            [GBUFFER[0], GBUFFER[1], GBUFFER[3]].map(|(of, format)| image(frame, of, format, 1));
        let tiles = u64::from(extent.width.div_ceil(TILE)) * u64::from(extent.height.div_ceil(TILE));
        let masks = BufferDesc::new(Bytes(tiles * MASK_BYTES));
        let light_masks = frame.buffer(name("light_masks"), masks);
        let ao = ["ao_noisy", "ao"].map(|of| image(frame, of, vk::Format::R8_UNORM, 2));
        let reflection = image(frame, "reflection", HDR, 2);
        // Batch 1 uses these two, to average them with the previous frame's result.
        let hdr = image(frame, "hdr", HDR, 1);
        let motion = image(frame, GBUFFER[2].0, GBUFFER[2].1, 1);
        View {
            suffix,
            extent,
            gbuffer: [albedo, normal, motion, depth],
            light_masks,
            ao,
            reflection,
            hdr,
            resolved: frame.resource(name("resolved"), desc(HDR, 1), Persistence::History),
            exposure: frame.buffer(name("exposure"), BufferDesc::new(Bytes(4))),
            bloom: [
                ("bright", 2),
                ("down_0", 4),
                ("down_1", 8),
                ("down_2", 16),
                ("up_2", 8),
                ("up_1", 4),
                ("up_0", 2),
            ]
            .map(|(of, shrunk)| image(frame, of, HDR, shrunk)),
        }
    }

    fn pass<'a>(
        &self,
        frame: &'a mut FrameBuilder,
        commands: CommandBufferId,
        name: &str,
    ) -> PassBuilder<'a> {
        frame.render_pass(commands, format!("{name}{}", self.suffix))
    }

    /// Declares the passes that draw surfaces. The sky keeps the clear value: passes that read it check the depth first, and motion is 0 there.
    fn draw(&self, frame: &mut FrameBuilder, commands: CommandBufferId, on: Switches) {
        let (mut targets, mut name) = (self.gbuffer, "gbuffer");
        if on & MULTISAMPLING != 0 {
            name = "gbuffer_4x";
            targets = GBUFFER.map(|(of, format)| {
                let desc = ImageDesc {
                    samples: vk::SampleCountFlags::TYPE_4,
                    ..ImageDesc::new(format, self.extent)
                };
                frame.image(format!("{of}_4x{}", self.suffix), desc)
            });
        }
        let mut pass = self.pass(frame, commands, name);
        for color in &targets[..3] {
            pass = pass.color(*color, ZERO);
        }
        pass = pass.depth(targets[3], FAR);
        for (sampled, target) in targets.into_iter().zip(self.gbuffer) {
            if sampled != target {
                pass = pass.resolve(sampled, target);
            }
        }
    }

    /// Declares a pass that computes an image from the images that it samples, each with its reach.
    fn screen<'a>(
        &self,
        frame: &'a mut FrameBuilder,
        (commands, name): (CommandBufferId, &str),
        sampled: &[(ResourceId, ReadReach)],
        to: ResourceId,
    ) -> PassBuilder<'a> {
        let pass = self.pass(frame, commands, name).in_strips(FREE);
        let reads = sampled.iter();
        let pass = reads.fold(pass, |pass, &(from, reach)| pass.sampled(from).reaching(reach));
        pass.color(to, LoadOp::DontCare)
    }

    /// Declares the passes that compute the light of every surface.
    fn light(&self, frame: &mut FrameBuilder, commands: CommandBufferId, shadow: ResourceId, on: Switches) {
        let [albedo, normal, _, depth] = self.gbuffer;
        let [ao_noisy, ao] = self.ao;
        frame
            .compute_pass(commands, format!("cull{}", self.suffix))
            .sampled(depth)
            .reaching(within(TILE - 1))
            .storage_write(self.light_masks)
            .in_strips(FREE);
        if on & OCCLUSION != 0 {
            // `reach` in shaders/ao.frag.
            let reach = within(self.extent.height * 12 / 100 + 2);
            let read = [(depth, reach), (normal, PIXEL)];
            self.screen(frame, (commands, "ao"), &read, ao_noisy).fragment();
            let read = [(ao_noisy, within(2)), (depth, within(4))];
            self.screen(frame, (commands, "ao_blur"), &read, ao).fragment();
        } else {
            let open = LoadOp::Clear(ClearValue::Float([1.0; 4]));
            self.pass(frame, commands, "no_ao").color(ao, open);
        }
        if on & REFLECTIONS != 0 {
            let read = [(albedo, PIXEL), (normal, PIXEL), (depth, ReadReach::Anywhere)];
            let pass = self.screen(frame, (commands, "reflection"), &read, self.reflection);
            pass.sampled_previous(self.resolved).fragment();
        } else {
            let pass = self.pass(frame, commands, "no_reflection");
            pass.color(self.reflection, ZERO);
        }
        let read = [
            (albedo, PIXEL),
            (normal, PIXEL),
            (depth, within(2)),
            (shadow, ReadReach::Anywhere),
            (ao, within(1)),
            (self.reflection, within(1)),
        ];
        self.screen(frame, (commands, "lighting"), &read, self.hdr)
            .storage_read(self.light_masks)
            .reaching(PIXEL)
            .fragment();
        self.pass(frame, commands, "glow")
            .color(self.hdr, LoadOp::Load)
            .depth_read_only(depth)
            .in_strips(FREE);
    }

    /// Declares the pass that averages the image with earlier frames.
    fn antialias(&self, frame: &mut FrameBuilder, commands: CommandBufferId) {
        let read = [(self.hdr, within(1)), (self.gbuffer[2], PIXEL)];
        let pass = self.screen(frame, (commands, "temporal"), &read, self.resolved);
        pass.sampled_previous(self.resolved).fragment();
    }

    /// Declares the pass that computes the exposure of an image.
    fn meter(&self, frame: &mut FrameBuilder, commands: CommandBufferId, of: ResourceId) {
        let pass = frame.compute_pass(commands, format!("exposure{}", self.suffix));
        pass.sampled(of).storage_write(self.exposure);
    }

    fn bloom(&self, frame: &mut FrameBuilder, commands: CommandBufferId, on: Switches) {
        let [bright, down_0, down_1, down_2, up_2, up_1, up_0] = self.bloom;
        if on & BLOOM == 0 {
            self.pass(frame, commands, "no_bloom").color(up_0, ZERO);
            return;
        }
        for (name, from, with, to) in [
            ("threshold", self.resolved, None, bright),
            ("down_0", bright, None, down_0),
            ("down_1", down_0, None, down_1),
            ("down_2", down_1, None, down_2),
            ("up_2", down_2, Some(down_1), up_2),
            ("up_1", up_2, Some(down_0), up_1),
            ("up_0", up_1, Some(bright), up_0),
        ] {
            let mut read = vec![(from, within(2))];
            read.extend(with.map(|with| (with, PIXEL)));
            self.screen(frame, (commands, name), &read, to).fragment();
        }
    }

    /// Declares the pass that fills the picture, or the second view's part of it.
    fn tone_map(
        &self,
        frame: &mut FrameBuilder,
        commands: CommandBufferId,
        (picture, whole): (ResourceId, vk::Extent2D),
    ) -> PassId {
        let read = [(self.resolved, PIXEL), (self.bloom[6], within(2))];
        let mut pass = self.screen(frame, (commands, "tone_map"), &read, picture);
        if self.extent != whole {
            let extent = self.extent;
            let (x, y) = (whole.width - extent.width, whole.height - extent.height);
            pass = pass.area(sizes::area(x, y, extent));
        }
        pass.storage_read(self.exposure).fragment().id()
    }
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
                let mut frame = FrameBuilder::default();
                for on in 0..=Switches::MAX {
                    declare(&mut frame, extent, output, on);
                    let switched = frame.to_frame();
                    assert!(switched.is_ok(), "switches {on:#b}: {switched:?}");
                }
            }
        }
    }
}
