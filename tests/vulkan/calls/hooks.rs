//! Structures of the caller that are chained to images and render passes.

use std::ffi::c_void;
use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;
use tileheap::frame::{ClearValue, FrameBuilder, ImageDesc, LoadOp};
use tileheap::lower::Parity;
use tileheap::plan::PlanOptions;
use tileheap::runtime::{Capabilities, Hooks, Imports};
use tileheap_testkit::fake_driver::Config;
use tileheap_testkit::frames::one_queue;
use tileheap_testkit::runtime_rig::{EXTENT, on_fake};

use super::Rig;

/// Images of hook 1 are compressed at a fixed rate; counts what else is asked for.
#[derive(Default)]
struct Compressed {
    control: vk::ImageCompressionControlEXT<'static>,
    counts: [AtomicU32; 2],
}

// SAFETY: the structure has no pointers.
unsafe impl Send for Compressed {}
// SAFETY: as above.
unsafe impl Sync for Compressed {}

impl Compressed {
    fn count(&self, of: usize, hook: u32) -> *const c_void {
        self.counts[of].fetch_add(hook, Ordering::Relaxed);
        null()
    }
}

// SAFETY: the structure may be chained to both, and never changes.
unsafe impl Hooks for Compressed {
    fn image(&self, hook: u32) -> *const c_void {
        let control = &raw const self.control;
        if hook == 1 { control.cast() } else { null() }
    }

    fn image_format(&self, hook: u32) -> *const c_void {
        self.image(hook)
    }

    fn rendering(&self, hook: u32) -> *const c_void {
        self.count(0, hook)
    }

    fn render_pass(&self, hook: u32) -> *const c_void {
        self.count(1, hook)
    }
}

/// Draws two images, of hooks 1 and 2 or of none, in a pass of the same hook as the first.
fn describe(frame: &mut FrameBuilder, hooks: [u32; 2]) {
    frame.reset("hooked", EXTENT);
    let [color, other] = hooks.map(|hook| ImageDesc {
        hook,
        ..ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT)
    });
    let (color, other) = (frame.image("color", color), frame.image("other", other));
    let scene = one_queue(frame, vk::QueueFlags::GRAPHICS);
    let clear = LoadOp::Clear(ClearValue::ZERO);
    let pass = frame.render_pass(scene, "draw").color(color, clear);
    let pass = pass.color(other, clear).hook(hooks[0]);
    // Without a hook, pipelines have the samples of the attachments.
    if hooks[0] > 0 {
        pass.samples(vk::SampleCountFlags::TYPE_4);
    }
}

#[test]
fn hooks_reach_the_driver_and_keep_images_apart() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let dynamic = config.features.contains(Capabilities::DYNAMIC_RENDERING);
        let mut rig = Rig::new(config.without_tile_memory());
        on_fake!(rig.tile.clone().destroy());
        let flags = vk::ImageCompressionFlagsEXT::FIXED_RATE_DEFAULT;
        let hooks = Arc::new(Compressed {
            control: vk::ImageCompressionControlEXT::default().flags(flags),
            ..Compressed::default()
        });
        rig.fake.desc.hooks = Some(hooks.clone());
        rig.fake.desc.optional_features = None;
        rig.tile = rig.fake.runtime().unwrap();
        let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
        let mut builder = FrameBuilder::default();
        let mut seen = Vec::new();
        for pair in [[0, 0], [1, 2], [0, 0]] {
            describe(&mut builder, pair);
            let bound = frames.select(&builder).unwrap();
            let frame = bound.plan().frame.clone();
            let [color, other] = ["color", "other"].map(|name| frame.resource_named(name).unwrap());
            let size = |of: tileheap::frame::ResourceId| bound.plan().requirements.resources[of.index()].size;
            // The planner knows what the chain does.
            assert_eq!(size(color) < size(other), pair[0] == 1);
            let draw = frame.pass_named("draw").unwrap();
            let images = [color, other].map(|image| bound.access(draw, image, Parity::Even).image());
            seen.push(images);
            let samples = [vk::SampleCountFlags::TYPE_1, vk::SampleCountFlags::TYPE_4];
            assert_eq!(bound.target(draw).samples, samples[usize::from(pair[0] > 0)]);
            let scene = frame.pass(draw).command_buffer;
            let recorder = on_fake!(bound.begin(&Imports::default())).unwrap();
            let mut commands = on_fake!(recorder.record(rig.fake.commands[0][0], scene)).unwrap();
            commands.pass(draw, |_| ()).unwrap();
            commands.finish().unwrap();
            let number = on_fake!(recorder.submit()).unwrap();
            assert!(frames.wait(number, u64::MAX).unwrap());
        }
        assert_eq!(seen[0], seen[2]);
        assert!(seen[1].iter().all(|image| !seen[0].contains(image)), "{seen:?}");
        let counts = [0, 1].map(|of| hooks.counts[of].load(Ordering::Relaxed));
        assert_eq!(counts, if dynamic { [1, 0] } else { [0, 1] });
        drop(frames);
        assert_eq!(rig.tile.collect().unwrap(), 0);
    }
}

#[test]
fn hooks_that_are_not_there_are_named() {
    let mut rig = Rig::new(Config::modern());
    on_fake!(rig.tile.clone().destroy());
    rig.fake.desc.optional_features = None;
    rig.tile = rig.fake.runtime().unwrap();
    let mut builder = FrameBuilder::default();
    for (pair, named) in [([1, 0], "`color`"), ([0, 3], "`other`")] {
        describe(&mut builder, pair);
        let plan = rig
            .tile
            .plan(&builder.to_frame().unwrap(), &PlanOptions::default());
        let refused = rig.tile.bind(&plan.unwrap()).unwrap_err().to_string();
        assert!(
            refused.contains(named) && refused.contains("DeviceDesc::hooks"),
            "{refused}"
        );
    }
}
