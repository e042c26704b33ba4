//! Feedback of the driver about merged subpasses.

use std::ffi::c_void;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use ash::vk;
use tileheap::frame::{ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp};
use tileheap::plan::PlanOptions;
use tileheap::runtime::{Capabilities, Hooks, SubpassMerge};
use tileheap_testkit::fake_driver::{Call, Config};
use tileheap_testkit::frames::one_queue;
use tileheap_testkit::runtime_rig::{EXTENT, on_fake};

use super::Rig;

/// Pass `lit` has a hook and three subpasses, each of which reads the color of the one before in place; `last` has one.
fn frame(hook: u32) -> Frame {
    let mut frame = FrameBuilder::new("merged", EXTENT);
    let image = || ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
    let [base, lit, graded, shown] =
        ["base", "lit", "graded", "shown"].map(|name| frame.image(name, image()));
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let pass = frame.render_pass(scene, "lit");
    pass.hook(hook)
        .color(base, LoadOp::Clear(ClearValue::ZERO))
        .next_subpass()
        .input(base)
        .color(lit, LoadOp::DontCare)
        .next_subpass()
        .input(lit)
        .color(graded, LoadOp::DontCare);
    let pass = frame.render_pass(scene, "last");
    pass.sampled(graded).color(shown, LoadOp::DontCare);
    frame.build().expect("a sound frame")
}

/// The feedback about `lit` and about `last`, and the number of render passes that were created with `vkCreateRenderPass2`.
fn merges(rig: &Rig, hook: u32) -> ([Vec<SubpassMerge>; 2], usize) {
    let frame = frame(hook);
    let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
    let [first, again] = [(); 2].map(|()| rig.tile.bind(&plan).unwrap());
    let found = ["lit", "last"].map(|name| {
        let pass = frame.pass_named(name).unwrap();
        let merges = first.subpass_merges(pass);
        assert_eq!(
            again.subpass_merges(pass),
            merges,
            "the render pass is found in the pool"
        );
        merges
    });
    let journal = rig.fake.driver.journal();
    let newer = journal
        .iter()
        .filter(|call| matches!(call, Call::Subpasses { .. }));
    (found, newer.count())
}

/// A device of Vulkan 1.2 that gives feedback.
fn with_feedback() -> Config {
    Config {
        api_version: vk::API_VERSION_1_2,
        extensions: vec![ash::ext::subpass_merge_feedback::NAME],
        features: Capabilities::SUBPASS_MERGE_FEEDBACK,
        ..Config::vulkan_1_1().without_tile_memory()
    }
}

#[test]
fn subpasses_have_the_feedback_of_the_driver() {
    use vk::SubpassMergeStatusEXT as Status;
    let merge = |status, description: &str, merged_index| SubpassMerge {
        status,
        description: description.to_owned(),
        merged_index,
    };
    let refused = Status::NOT_MERGED_UNSPECIFIED;
    let expected = vec![
        merge(refused, "an even subpass", 0),
        merge(Status::MERGED, "", 0),
        merge(refused, "an even subpass", 1),
    ];
    let config = with_feedback();
    assert_eq!(merges(&Rig::new(config.clone()), 0), ([expected, Vec::new()], 1));
    let without = [Vec::new(), Vec::new()];
    for features in [Capabilities::empty(), Capabilities::LOCAL_READ] {
        let config = Config {
            features,
            ..config.clone()
        };
        assert_eq!(merges(&Rig::new(config), 0), (without.clone(), 0));
    }
}

/// Chains a structure that extends only `VkRenderPassCreateInfo`.
#[derive(Default)]
struct Restricted(vk::RenderPassInputAttachmentAspectCreateInfo<'static>);

// SAFETY: the structure has no pointers.
unsafe impl Send for Restricted {}
// SAFETY: as above.
unsafe impl Sync for Restricted {}

// SAFETY: the structure may be chained to `VkRenderPassCreateInfo`, and never changes.
unsafe impl Hooks for Restricted {
    fn render_pass(&self, _: u32) -> *const c_void {
        (&raw const self.0).cast()
    }
}

#[test]
fn passes_with_structures_of_a_hook_are_created_as_before() {
    let mut rig = Rig::new(with_feedback());
    on_fake!(rig.tile.clone().destroy());
    rig.fake.desc.hooks = Some(Arc::new(Restricted::default()));
    rig.tile = rig.fake.runtime().unwrap();
    assert_eq!(merges(&rig, 1), ([Vec::new(), Vec::new()], 0));
    let (_, newer) = merges(&rig, 0);
    assert_eq!(newer, 1);
}

/// Called at the event that reports feedback.
struct AtFeedback(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl tracing::Subscriber for AtFeedback {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.is_event()
    }

    fn event(&self, event: &tracing::Event<'_>) {
        if event.fields().any(|field| field.name() == "merged") {
            let work = self.0.lock().unwrap().take();
            work.into_iter().for_each(|work| work());
        }
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

/// Another thread that finds the render pass in the pool finds its feedback, too.
#[test]
fn render_passes_are_never_without_their_feedback() {
    let rig = Rig::new(with_feedback());
    let frame = frame(0);
    let lit = frame.pass_named("lit").unwrap();
    let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
    let (theirs, bound) = channel();
    let (tile, same) = (rig.tile.clone(), plan.clone());
    let meanwhile = move || {
        let bind = move || tile.bind(&same).unwrap();
        let other = std::thread::spawn(bind).join().expect("a bound frame");
        theirs.send(other.subpass_merges(lit)).unwrap();
        other.retire();
    };
    let subscriber = AtFeedback(Mutex::new(Some(Box::new(meanwhile))));
    let own = tracing::subscriber::with_default(subscriber, || rig.tile.bind(&plan).unwrap());
    let own = own.subpass_merges(lit);
    assert_eq!(own.len(), 3);
    assert_eq!(bound.recv().expect("an event"), own);
}
