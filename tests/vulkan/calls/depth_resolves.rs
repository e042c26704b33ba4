//! Depth and stencil resolves in render pass objects: the arguments of `vkCreateRenderPass2`.

use ash::vk;
use tileheap::frame::{ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp};
use tileheap::plan::PlanOptions;
use tileheap::runtime::Capabilities;
use tileheap_testkit::fake_driver::{Call, Config, DepthResolve, Reference, Subpass};
use tileheap_testkit::frames::one_queue;
use tileheap_testkit::runtime_rig::{EXTENT, on_fake};

use super::Rig;

/// A device without dynamic rendering that has `vkCreateRenderPass2`.
fn objects() -> Config {
    Config {
        api_version: vk::API_VERSION_1_2,
        ..Config::vulkan_1_1().without_tile_memory()
    }
}

/// ```text
/// subpass 0   color (4 samples)   depth (4 samples) ──resolved──► flat
/// subpass 1   color out           input flat
/// ```
fn frame() -> Frame {
    let mut frame = FrameBuilder::new("resolved", EXTENT);
    let image = |format, samples| ImageDesc {
        samples,
        ..ImageDesc::new(format, EXTENT)
    };
    let [one, four] = [vk::SampleCountFlags::TYPE_1, vk::SampleCountFlags::TYPE_4];
    let (rgba, both) = (vk::Format::R8G8B8A8_UNORM, vk::Format::D32_SFLOAT_S8_UINT);
    let color = frame.image("color", image(rgba, four));
    let depth = frame.image("depth", image(both, four));
    let flat = frame.image("flat", image(both, one));
    let out = frame.image("out", image(rgba, one));
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let pass = frame.render_pass(scene, "draw");
    pass.color(color, LoadOp::Clear(ClearValue::ZERO))
        .depth(depth, LoadOp::Clear(ClearValue::DepthStencil(1.0, 0)))
        .resolve(depth, flat)
        .next_subpass()
        .input(flat)
        .color(out, LoadOp::DontCare);
    frame.build().expect("a sound frame")
}

fn reference(attachment: u32, layout: vk::ImageLayout) -> Reference {
    Reference {
        attachment,
        layout,
        aspects: vk::ImageAspectFlags::empty(),
    }
}

#[test]
fn a_depth_resolve_is_chained_to_its_subpass() {
    let rig = Rig::new(objects());
    let frame = frame();
    let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
    let bound = rig.tile.bind(&plan).unwrap();
    let color = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
    let depth = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
    // It is a resolve target and read in place.
    let flat = reference(3, vk::ImageLayout::GENERAL);
    let subpass = Subpass {
        view_mask: 0,
        colors: vec![reference(0, color)],
        resolves: Vec::new(),
        inputs: Vec::new(),
        depth: Some(reference(2, depth)),
        depth_resolve: Some(DepthResolve {
            target: flat,
            depth: vk::ResolveModeFlags::SAMPLE_ZERO,
            stencil: vk::ResolveModeFlags::SAMPLE_ZERO,
        }),
        preserved: Vec::new(),
    };
    let next = Subpass {
        colors: vec![reference(1, color)],
        inputs: vec![Reference {
            aspects: vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL,
            ..flat
        }],
        depth: None,
        depth_resolve: None,
        ..subpass.clone()
    };
    let created = || {
        let journal = rig.fake.driver.journal().into_iter();
        let subpasses = journal.filter_map(|call| match call {
            Call::Subpasses { subpasses, .. } => Some(subpasses),
            _ => None,
        });
        subpasses.collect::<Vec<_>>()
    };
    assert_eq!(created(), [[subpass, next]]);
    // Another bound frame finds the render pass object in the pool.
    let again = rig.tile.bind(&plan).unwrap();
    assert_eq!(created().len(), 1);
    drop((bound, again));
}

#[test]
fn devices_that_cannot_resolve_depth_in_render_pass_objects_are_named() {
    for (config, without) in [
        (objects(), Capabilities::DEPTH_STENCIL_RESOLVE),
        (Config::vulkan_1_1(), Capabilities::empty()),
    ] {
        let mut rig = Rig::new(config);
        on_fake!(rig.tile.clone().destroy());
        rig.fake.desc.without = without;
        rig.tile = rig.fake.runtime().unwrap();
        let plan = rig.tile.plan(&frame(), &PlanOptions::default()).unwrap();
        let refused = rig.tile.bind(&plan).unwrap_err().to_string();
        let said = refused.contains("`draw`") && refused.contains("VK_KHR_depth_stencil_resolve");
        assert!(said, "{refused}");
    }
}

#[test]
fn a_failure_to_create_the_render_pass_is_named() {
    let rig = Rig::new(objects());
    let plan = rig.tile.plan(&frame(), &PlanOptions::default()).unwrap();
    let result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
    rig.fake.driver.fail("vkCreateRenderPass2", 0, result);
    let error = rig.tile.bind(&plan).unwrap_err().to_string();
    assert!(
        error.contains("vkCreateRenderPass2") && error.contains("`draw`"),
        "{error}"
    );
}
