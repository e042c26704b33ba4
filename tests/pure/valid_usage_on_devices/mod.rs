//! Every rule of devices refuses a frame on one device, and accepts it on one whose limit is one step further.

use std::collections::BTreeSet;
use std::sync::Arc;

use ash::vk::{
    self, Format as F, ImageAspectFlags as Aspects, ImageLayout as L, ImageUsageFlags as Usage,
    PipelineStageFlags2 as S, SampleCountFlags as Samples,
};
use tileheap::Error;
use tileheap::frame::external::{ExternalDesc, ExternalFamily, ResourceState};
use tileheap::frame::valid_usage::{InvalidUsage, RuleRow, device_rules};
use tileheap::frame::{AccessKind, BufferDesc, ClearValue, Frame, ImageDesc, LoadOp, Persistence};
use tileheap::plan::{PlanError, PlanOptions};
use tileheap::profile::{DeviceProfile, Features, Limits, OptionalFeatures as Feature, PRESETS};
use tileheap::units::Bytes;

use super::described::{
    self, CLEAR, CLEAR_DEPTH, Describe, Scene, as_format, as_type, of_format, of_size, plain, solid,
    with_layers,
};

/// A rule, a frame, a device that can just run it, and a change to that device that prevents it.
struct Case {
    rule: &'static str,
    describe: Describe,
    fits: fn(&mut DeviceProfile),
    lacks: fn(&mut DeviceProfile),
}

fn case(
    rule: &'static str,
    describe: Describe,
    fits: fn(&mut DeviceProfile),
    lacks: fn(&mut DeviceProfile),
) -> Case {
    Case {
        rule,
        describe,
        fits,
        lacks,
    }
}

/// A rule about a limit.
macro_rules! limit {
    ($rule:literal, $describe:expr, $limit:ident, $most:expr, $less:expr) => {
        case(
            $rule,
            $describe,
            |device| device.limits.$limit = $most,
            |device| device.limits.$limit = $less,
        )
    };
}

/// A rule about a feature.
macro_rules! feature {
    ($rule:expr, $describe:expr, $feature:ident) => {
        case(
            $rule,
            $describe,
            |device| device.optional_features = Some(Feature::$feature),
            |device| device.optional_features = Some(Feature::all() - Feature::$feature),
        )
    };
    // One of several features is enough.
    ($rule:expr, $describe:expr, $feature:ident, $($other:ident)|+) => {
        case(
            $rule,
            $describe,
            |device| device.optional_features = Some(Feature::$feature),
            |device| device.optional_features = Some(Feature::all() - Feature::$feature $(- Feature::$other)+),
        )
    };
}

mod features;
mod limits;
mod stages;
mod tiles;

fn drawn(scene: &mut Scene, desc: ImageDesc) {
    scene.cleared("image", desc);
}

fn samples(format: F) -> ImageDesc {
    ImageDesc {
        samples: Samples::TYPE_8,
        ..of_format(format)
    }
}

fn depth(scene: &mut Scene, format: F) {
    let image = scene.frame.image("image", samples(format));
    scene.render().depth(image, CLEAR_DEPTH);
}

/// Views the blocks of a compressed image with two layers as texels.
fn blocks_of_layers(scene: &mut Scene) {
    use vk::ImageCreateFlags as Flags;
    let flags = Flags::BLOCK_TEXEL_VIEW_COMPATIBLE | Flags::MUTABLE_FORMAT | Flags::EXTENDED_USAGE;
    let desc = ImageDesc {
        flags,
        array_layers: 2,
        ..of_format(F::BC1_RGB_UNORM_BLOCK)
    };
    let image = scene.frame.image("image", desc);
    scene.transfer().transfer_destination(image);
    scene.sample(image, as_format(F::R32G32_UINT));
}

/// A render pass with a subpass for each number, which has that many input attachments.
fn read_in_place(scene: &mut Scene, numbers: [u32; 2]) {
    let most = numbers.into_iter().max().unwrap_or(0);
    let inputs: Vec<_> = (0..most)
        .map(|n| scene.cleared(&format!("input {n}"), plain()))
        .collect();
    let out = scene.out;
    let mut pass = scene.render().color(out, CLEAR);
    for (subpass, number) in numbers.into_iter().enumerate() {
        if subpass > 0 {
            pass = pass.next_subpass().color(out, LoadOp::Load);
        }
        pass = inputs[..number as usize]
            .iter()
            .fold(pass, |pass, input| pass.input(*input));
    }
}

/// An image with 8 samples that a shader reads.
fn sampled(scene: &mut Scene, format: F) {
    let image = scene.frame.image("image", samples(format));
    let color = tileheap::format::aspects(format) == vk::ImageAspectFlags::COLOR;
    match color {
        true => scene.render().color(image, CLEAR),
        false => scene.render().depth(image, CLEAR_DEPTH),
    };
    let out = scene.out;
    scene.render().sampled(image).color(out, CLEAR);
}

fn buffer(scene: &mut Scene, usage: vk::BufferUsageFlags) {
    let desc = BufferDesc {
        usage,
        ..BufferDesc::new(Bytes(4096))
    };
    let buffer = scene.frame.buffer("buffer", desc);
    scene.compute().storage_write(buffer);
}

/// Reads a buffer in a render pass, at these stages and others.
fn read_at(scene: &mut Scene, stages: S) {
    let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
    scene.transfer().transfer_destination(buffer);
    let out = scene.out;
    let pass = scene.render().read(buffer, AccessKind::StorageBuffer);
    pass.at(stages | S::FRAGMENT_SHADER).color(out, CLEAR);
}

/// Writes a buffer in a compute pass, at these stages and others.
fn written_at(scene: &mut Scene, stages: S) {
    let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
    scene
        .compute()
        .storage_write(buffer)
        .at(stages | S::COMPUTE_SHADER);
}

/// A buffer that leaves the frame for these stages.
fn handed_over_at(scene: &mut Scene, stages: S) {
    let state = |stages| ResourceState::new(vk::ImageLayout::UNDEFINED, stages, vk::AccessFlags2::NONE);
    let external = ExternalDesc {
        entry: state(S::NONE),
        exit: state(stages),
    };
    let (desc, persistence) = (BufferDesc::new(Bytes(256)), Persistence::External(external));
    let buffer = scene.frame.resource("buffer", desc, persistence);
    scene.compute().storage_write(buffer);
}

/// An image that enters and leaves the frame in these layouts.
fn handed_over_in(scene: &mut Scene, desc: ImageDesc, [entry, exit]: [L; 2]) {
    let state = |layout| ResourceState::new(layout, S::ALL_COMMANDS, vk::AccessFlags2::MEMORY_READ);
    let external = ExternalDesc {
        entry: state(entry),
        exit: state(exit),
    };
    let image = scene
        .frame
        .resource("image", desc, Persistence::External(external));
    scene.render().color(image, CLEAR);
}

/// A depth and stencil image of which a pass uses one aspect.
fn one_aspect(scene: &mut Scene, aspect: Aspects, layout: L) {
    let persistence = Persistence::External(ExternalDesc::in_layout(layout));
    let desc = of_format(F::D24_UNORM_S8_UINT);
    let image = scene.frame.resource("image", desc, persistence);
    scene.render().depth(image, CLEAR_DEPTH).aspect(aspect);
}

/// A semaphore that is signaled after these stages.
fn signaled_at(scene: &mut Scene, stages: S) {
    let out = scene.out;
    scene.render().color(out, CLEAR);
    let semaphore = scene.frame.semaphore("semaphore");
    scene.frame.signal(scene.batch, semaphore, stages);
    let submit = scene.frame.submit(scene.queue);
    let batch = scene.frame.batch(submit);
    scene.frame.wait(batch, semaphore, S::ALL_COMMANDS);
}

/// Draws with pipelines of 4 samples and a hook to an attachment with another sample count.
fn drawn_with(scene: &mut Scene, format: F, samples: Samples, hook: u32) {
    let desc = ImageDesc {
        samples,
        ..of_format(format)
    };
    let image = scene.frame.image("image", desc);
    let color = tileheap::format::aspects(format) == vk::ImageAspectFlags::COLOR;
    let pass = match color {
        true => scene.render().color(image, CLEAR),
        false => scene.render().depth(image, CLEAR_DEPTH),
    };
    pass.samples(Samples::TYPE_4).hook(hook);
}

fn drawn_to(scene: &mut Scene, width: u32, height: u32) {
    let image = scene.frame.image("image", of_size(width, height));
    scene.render().color(image, CLEAR);
}

/// Draws to the base extent, without attachments.
fn drawn_without_attachments(scene: &mut Scene) {
    let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
    scene.render().storage_write(buffer).at(S::FRAGMENT_SHADER);
}

fn cases() -> impl Iterator<Item = Case> {
    limits::limits()
        .into_iter()
        .chain(features::features())
        .chain(stages::stages())
        .chain(tiles::tiles())
}

/// A device with unknown limits and optional features, except the features that layouts need.
fn unknown() -> DeviceProfile {
    let device = DeviceProfile::preset("no-tile-memory").unwrap();
    let max_allocation = device.limits.max_allocation;
    DeviceProfile {
        limits: Limits {
            max_allocation,
            ..Limits::UNKNOWN
        },
        features: device.features | Features::LOCAL_READ,
        ..device
    }
}

fn planned(frame: &Frame, device: &DeviceProfile) -> Option<&'static str> {
    refused(frame, device).map(|found| found.rule)
}

fn refused(frame: &Frame, device: &DeviceProfile) -> Option<InvalidUsage> {
    let device = Arc::new(device.clone());
    let requirements = tileheap::measure::estimate(frame, &unknown()).unwrap();
    match tileheap::plan::plan(frame, &requirements.into(), &device, &PlanOptions::default()) {
        Ok(_) => None,
        Err(Error::Plan(PlanError::InvalidUsage(found))) => {
            assert!(found.to_string().contains(&device.name) && found.to_string().contains(found.rule));
            Some(found)
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_device_refuses_what_it_cannot_run_and_nothing_else() {
    for case in cases() {
        let frame =
            described::frame("f", case.describe).unwrap_or_else(|error| panic!("{}: {error}", case.rule));
        let mut device = unknown();
        assert_eq!(planned(&frame, &device), None, "{}, nothing known", case.rule);
        (case.fits)(&mut device);
        assert_eq!(planned(&frame, &device), None, "{}, enough", case.rule);
        (case.lacks)(&mut device);
        assert_eq!(planned(&frame, &device), Some(case.rule));
    }
}

/// A feature that no rule reads would let every frame pass.
#[test]
fn every_optional_feature_has_a_case() {
    // Descriptions do not show atomic operations, dispatches of tiles and draws per tile.
    let mut without = Feature::TILE_SHADING_PER_TILE_DRAW
        | Feature::TILE_SHADING_DISPATCH_TILE
        | Feature::TILE_SHADING_ATOMIC_OPS
        | Feature::TILE_SHADING_SAMPLED_ATTACHMENTS;
    for case in cases() {
        let mut device = unknown();
        (case.lacks)(&mut device);
        without |= device.optional_features.map_or(Feature::empty(), |has| !has);
    }
    assert_eq!(Feature::all() - without, Feature::empty());
}

/// Presets describe devices that can present.
#[test]
fn presets_run_frames_that_present() {
    let frame = described::frame("f", |scene| {
        let screen = Persistence::External(ExternalDesc::SWAPCHAIN);
        let screen = scene.frame.resource("screen", plain(), screen);
        scene.render().color(screen, CLEAR);
    });
    let frame = frame.unwrap();
    for name in PRESETS {
        let device = DeviceProfile::preset(name).unwrap();
        assert_eq!(frame.check_on(&device), Ok(()), "{name}");
    }
}

#[test]
fn sides_and_samples_are_the_drivers_where_it_is_asked() {
    let (frame, external) = (
        described::frame("f", |scene| drawn(scene, of_size(70, 32))).unwrap(),
        described::frame("f", |scene| {
            let persistence = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::GENERAL));
            let image = scene.frame.resource("image", with_layers(70), persistence);
            scene.render().color(image, CLEAR);
        })
        .unwrap(),
    );
    let mut device = unknown();
    device.limits.max_image_dimension_2d = 65;
    assert!(planned(&frame, &device).is_some());
    device.limits.guaranteed = true;
    assert_eq!(planned(&frame, &device), None);
    device.limits.max_image_array_layers = 69;
    assert_eq!(planned(&external, &device), None);
}

#[test]
fn what_others_have_created_needs_no_feature_to_be_created() {
    let frame = described::frame("f", |scene| {
        let external = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::GENERAL));
        let desc = ImageDesc {
            usage: Usage::FRAGMENT_DENSITY_MAP_EXT,
            flags: vk::ImageCreateFlags::SUBSAMPLED_EXT,
            ..plain()
        };
        let image = scene.frame.resource("image", desc, external);
        scene.render().color(image, CLEAR);
        let desc = BufferDesc {
            usage: vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
                | vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR,
            ..BufferDesc::new(Bytes(256))
        };
        let external = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED));
        let buffer = scene.frame.resource("buffer", desc, external);
        scene.compute().storage_write(buffer);
    });
    let mut device = unknown();
    device.optional_features = Some(Feature::empty());
    assert_eq!(planned(&frame.unwrap(), &device), None);
}

#[test]
fn contents_that_do_not_matter_are_not_acquired() {
    let frame = described::frame("f", |scene| {
        let mut external = ExternalDesc::in_layout(L::GENERAL);
        external.entry = ResourceState::new(L::UNDEFINED, S::NONE, vk::AccessFlags2::NONE)
            .owned_by(ExternalFamily::Foreign);
        let persistence = Persistence::External(external);
        let image = scene.frame.resource("image", plain(), persistence);
        scene.render().color(image, CLEAR);
    });
    let mut device = unknown();
    device.optional_features = Some(Feature::empty());
    assert_eq!(planned(&frame.unwrap(), &device), None);
}

#[test]
fn layers_of_views_are_not_limited() {
    let frame = described::frame("f", |scene| {
        let image = scene.frame.image("image", with_layers(5));
        scene.render().color(image, CLEAR).views(0b11);
    });
    let mut device = unknown();
    device.features |= Features::MULTIVIEW;
    device.limits.max_framebuffer_layers = 4;
    assert_eq!(planned(&frame.unwrap(), &device), None);
}

#[test]
fn every_rule_of_devices_has_a_case() {
    let broken = cases().filter_map(|case| {
        let frame = described::frame("f", case.describe).unwrap();
        let mut device = unknown();
        (case.lacks)(&mut device);
        refused(&frame, &device)
    });
    let tested: BTreeSet<RuleRow> = broken.map(|found| found.row).collect();
    let rows = device_rules().into_iter();
    let untested: Vec<_> = rows.filter(|(row, _)| !tested.contains(row)).collect();
    assert!(untested.is_empty(), "{untested:?}");
}

#[test]
fn plans_from_elsewhere_are_checked_against_their_device() {
    let frame = described::frame("f", |scene| drawn(scene, plain())).unwrap();
    let device = unknown();
    let requirements = tileheap::measure::estimate(&frame, &device).unwrap();
    let options = PlanOptions::default();
    let plan = tileheap::plan::plan(&frame, &requirements.into(), &device.clone().into(), &options).unwrap();
    let mut plan = plan.into_inner();
    let mut smaller = device;
    smaller.limits.max_framebuffer_height = 63;
    plan.profile = Arc::new(smaller);
    let found = plan.check().unwrap_err();
    assert!(found.to_string().contains("maxFramebufferHeight"), "{found}");
}
