//! Tile properties and tile shading: what is bound during a pass is declared wherever tiles are spoken of.

use ash::vk;
use tileheap::frame::{
    BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassId,
};
use tileheap::plan::{PlanOptions, Strategy};
use tileheap::profile::DeviceProfile;
use tileheap::profile::binning::binning;
use tileheap::runtime::{Capabilities, Imports};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Gpu, ways};

use super::{submit, wait};
use tileheap_testkit::frames::{by, extent, one_queue};

const EXTENT: vk::Extent2D = extent(960, 540);

/// Four images of four bytes a pixel are drawn, of which the first may live in tile memory; a pass with an input attachment
/// follows, which is recorded as a render pass object.
fn frame(shaded: bool) -> (Frame, CommandBufferId, [PassId; 2]) {
    let mut frame = FrameBuilder::new("tiles", EXTENT);
    let images = [0, 1, 2, 3].map(|n| {
        frame.image(
            format!("image{n}"),
            ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT),
        )
    });
    let blend = frame.image("blend", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let sum = frame.buffer("sum", BufferDesc::new(Bytes(64)));
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let clear = LoadOp::Clear(ClearValue::ZERO);
    let draw = frame.render_pass(scene, "draw");
    let draw = images
        .into_iter()
        .fold(draw, |pass, image| pass.color(image, clear));
    let draw = if shaded { draw.tile_shading() } else { draw }.id();
    let blended = frame
        .render_pass(scene, "blend")
        .read(images[0], tileheap::frame::AccessKind::InputAttachment)
        .color(blend, clear)
        .id();
    let used = frame.compute_pass(scene, "use").storage_write(sum).sampled(blend);
    images.into_iter().fold(used, |pass, image| pass.sampled(image));
    (frame.build().expect("a sound frame"), scene, [draw, blended])
}

#[test]
fn tile_properties_are_those_of_what_is_bound() {
    for (way, without) in ways() {
        let gpu = Gpu::new(without);
        let (frame, _, passes) = frame(false);
        let there = gpu.tile().capabilities().contains(Capabilities::TILE_PROPERTIES);
        for strategy in [Strategy::Optimal, Strategy::Off] {
            let options = by(strategy);
            let plan = gpu.tile().plan(&frame, &options).expect("a plan");
            let mut bound = gpu.tile().bind(&plan).expect("a bound plan");
            // SAFETY: nothing is imported.
            let recorder = unsafe { bound.begin(&Imports::default()) }.expect("a frame");
            for pass in passes {
                let found = recorder.tile_properties(pass).expect("an answer");
                assert_eq!(found.is_some(), there, "{way}");
                let Some(found) = found else { continue };
                // The emulator's model is public, and so is its device.
                let profile = std::env::var("VK_TILEHEAP_EMULATOR_PROFILE").unwrap_or_default();
                let Ok(device) = DeviceProfile::preset(&profile) else {
                    continue;
                };
                let object = plan.passes[pass.index()].bound_object;
                let reserved = object.map_or(0, |object| plan.objects[object.index()].size.0);
                let bytes_per_pixel = if pass == passes[0] { 16 } else { 8 };
                let expected = binning(
                    device.gmem.0,
                    reserved,
                    bytes_per_pixel,
                    (EXTENT.width, EXTENT.height),
                );
                let tile = (found.tile_size.width, found.tile_size.height);
                assert_eq!(
                    tile,
                    expected.tile,
                    "{way}, {strategy:?}, pass {}, {} bytes bound of {}",
                    pass.index(),
                    reserved,
                    device.gmem
                );
            }
        }
    }
}

#[test]
fn passes_with_tile_shading_declare_what_is_bound() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let (frame, scene, _) = frame(true);
    let plan = gpu.tile().plan(&frame, &PlanOptions::default());
    if !gpu.tile().capabilities().contains(Capabilities::TILE_SHADING) {
        let fault = plan.expect_err("no tile shading").to_string();
        assert!(
            fault.contains("pass `draw`") && fault.contains("tileShading"),
            "{fault}"
        );
        return;
    }
    let mut bound = gpu.tile().bind(&plan.expect("a plan")).expect("a bound plan");
    let primary = gpu.primaries(1)[0];
    for number in 0..2 {
        // SAFETY: nothing is imported.
        let recorder = unsafe { bound.begin(&Imports::default()) }.expect("a frame");
        // SAFETY: the frame before is complete.
        let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
        for pass in frame.pass_ids() {
            commands.pass(pass, |_| ()).expect("recorded");
        }
        commands.finish().expect("finished");
        submit(recorder);
        wait(&bound, number);
    }
}
