//! Feedback of the driver about merged subpasses.

use ash::vk;
use tileheap::frame::{ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp};
use tileheap::plan::PlanOptions;
use tileheap::runtime::{Capabilities, SubpassMerge};
use tileheap_testkit::fake_driver::{Call, Config};
use tileheap_testkit::frames::one_queue;
use tileheap_testkit::runtime_rig::EXTENT;

use super::Rig;

/// Pass `lit` has three subpasses, each of which reads the color of the one before in place; `last` has one.
fn frame() -> Frame {
    let mut frame = FrameBuilder::new("merged", EXTENT);
    let image = || ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
    let [base, lit, graded, shown] =
        ["base", "lit", "graded", "shown"].map(|name| frame.image(name, image()));
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let pass = frame.render_pass(scene, "lit");
    pass.color(base, LoadOp::Clear(ClearValue::ZERO))
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
fn merges(config: Config) -> ([Vec<SubpassMerge>; 2], usize) {
    let rig = Rig::new(config);
    let frame = frame();
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
    let config = Config {
        api_version: vk::API_VERSION_1_2,
        extensions: vec![ash::ext::subpass_merge_feedback::NAME],
        features: Capabilities::SUBPASS_MERGE_FEEDBACK,
        ..Config::vulkan_1_1().without_tile_memory()
    };
    assert_eq!(merges(config.clone()), ([expected, Vec::new()], 1));
    let without = [Vec::new(), Vec::new()];
    for features in [Capabilities::empty(), Capabilities::LOCAL_READ] {
        let config = Config {
            features,
            ..config.clone()
        };
        assert_eq!(merges(config), (without.clone(), 0));
    }
}
