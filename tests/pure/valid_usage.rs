//! Every rule of valid usage refuses violations, and accepts frames that are one step away.

use std::collections::BTreeSet;

use ash::vk::{self, ImageLayout as L, ImageUsageFlags as U};
use tileheap::Error;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::{ResourceKind, ViewDesc};
use tileheap::frame::valid_usage::{InvalidUsage, RuleRow, rules};
use tileheap::frame::{AccessKind, FrameBuilder, FrameError, LoadOp, Persistence};

use super::described;

/// The rule that a description breaks.
fn broken(describe: described::Describe) -> Option<InvalidUsage> {
    match described::frame("f", describe) {
        Ok(_) => None,
        Err(Error::Frame(FrameError::InvalidUsage(found))) => Some(found),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn rules_refuse_what_breaks_them_and_nothing_else() {
    for case in described::rules::all() {
        let found = broken(case.broken).unwrap_or_else(|| panic!("{} is not found", case.rule));
        assert_eq!(found.rule, case.rule, "{found}");
        let found = broken(case.valid).map(|found| found.to_string());
        assert_eq!(found, None, "beside {}", case.rule);
    }
}

#[test]
fn every_rule_has_a_case() {
    let broken = described::rules::all().filter_map(|case| broken(case.broken));
    let tested: BTreeSet<RuleRow> = broken.map(|found| found.row).collect();
    let rows = rules().into_iter();
    let untested: Vec<_> = rows.filter(|(row, _)| !tested.contains(row)).collect();
    assert!(untested.is_empty(), "{untested:?}");
}

#[test]
fn what_breaks_no_rule_is_a_frame() {
    for (name, describe) in described::valid() {
        let found = broken(describe).map(|found| found.to_string());
        assert_eq!(found, None, "{name}");
    }
}

#[test]
fn external_images_have_the_usage_that_their_layouts_need() {
    const COLOR: vk::Format = described::FORMAT;
    const DEPTH: vk::Format = vk::Format::D24_UNORM_S8_UINT;
    let attached_and_read = U::INPUT_ATTACHMENT | U::COLOR_ATTACHMENT;
    for (format, layout, expected) in [
        (COLOR, L::GENERAL, U::empty()),
        (COLOR, L::COLOR_ATTACHMENT_OPTIMAL, U::COLOR_ATTACHMENT),
        (COLOR, L::TRANSFER_SRC_OPTIMAL, U::TRANSFER_SRC),
        (COLOR, L::TRANSFER_DST_OPTIMAL, U::TRANSFER_DST),
        (COLOR, L::SHADER_READ_ONLY_OPTIMAL, U::SAMPLED),
        (COLOR, L::READ_ONLY_OPTIMAL, U::SAMPLED),
        (COLOR, L::ATTACHMENT_OPTIMAL, U::COLOR_ATTACHMENT),
        (COLOR, L::RENDERING_LOCAL_READ_KHR, attached_and_read),
        (
            COLOR,
            L::FRAGMENT_DENSITY_MAP_OPTIMAL_EXT,
            U::FRAGMENT_DENSITY_MAP_EXT,
        ),
        (
            COLOR,
            L::FRAGMENT_SHADING_RATE_ATTACHMENT_OPTIMAL_KHR,
            U::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR,
        ),
        (
            COLOR,
            L::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT,
            U::ATTACHMENT_FEEDBACK_LOOP_EXT | U::COLOR_ATTACHMENT | U::SAMPLED,
        ),
        (COLOR, L::VIDEO_DECODE_DST_KHR, U::VIDEO_DECODE_DST_KHR),
        (
            DEPTH,
            L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
            U::DEPTH_STENCIL_ATTACHMENT,
        ),
        (
            DEPTH,
            L::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
            U::DEPTH_STENCIL_ATTACHMENT,
        ),
        (
            DEPTH,
            L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
            U::DEPTH_STENCIL_ATTACHMENT,
        ),
        (
            DEPTH,
            L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL,
            U::DEPTH_STENCIL_ATTACHMENT,
        ),
        (DEPTH, L::ATTACHMENT_OPTIMAL, U::DEPTH_STENCIL_ATTACHMENT),
        (DEPTH, L::READ_ONLY_OPTIMAL, U::SAMPLED),
        (
            vk::Format::D16_UNORM,
            L::DEPTH_ATTACHMENT_OPTIMAL,
            U::DEPTH_STENCIL_ATTACHMENT,
        ),
        (vk::Format::D16_UNORM, L::DEPTH_READ_ONLY_OPTIMAL, U::SAMPLED),
        (
            vk::Format::S8_UINT,
            L::STENCIL_ATTACHMENT_OPTIMAL,
            U::DEPTH_STENCIL_ATTACHMENT,
        ),
        (vk::Format::S8_UINT, L::STENCIL_READ_ONLY_OPTIMAL, U::SAMPLED),
    ] {
        for entry in [layout, L::GENERAL] {
            let usage = usage_of_copied(format, entry, layout);
            assert_eq!(usage, U::TRANSFER_SRC | expected, "{layout:?}");
        }
    }
}

/// The usage of an external image that a frame only copies.
fn usage_of_copied(format: vk::Format, entry: L, exit: L) -> U {
    let mut frame = FrameBuilder::new("f", described::EXTENT);
    let external = ExternalDesc {
        entry: ExternalDesc::in_layout(entry).entry,
        exit: ExternalDesc::in_layout(exit).exit,
    };
    let external = Persistence::External(external);
    let image = frame.resource("image", described::of_format(format), external);
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    frame.transfer_pass(commands, "copy").transfer_source(image);
    let frame = frame.build().unwrap();
    let ResourceKind::Image { usage, .. } = frame.resource(image).kind else {
        unreachable!()
    };
    usage
}

/// A resolve overwrites what a clear would write, and validation takes such a clear for that of a later input attachment.
#[test]
fn resolve_attachments_are_not_cleared() {
    let resolved = |load_op| {
        let describe = move |frame: &mut FrameBuilder, commands| {
            let samples = frame.image("samples", described::with_samples(described::FORMAT));
            let image = frame.image("image", described::plain());
            let out = frame.image("out", described::plain());
            let pass = frame
                .render_pass(commands, "draw")
                .color(samples, described::CLEAR);
            let pass = pass.access(image, AccessKind::ResolveAttachment, false, true, load_op);
            let pass = pass.resolving(samples).next_subpass().input(image);
            pass.color(out, described::CLEAR);
        };
        let mut frame = FrameBuilder::new("f", described::EXTENT);
        let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, "commands");
        describe(&mut frame, commands);
        frame.build().unwrap()
    };
    assert_eq!(resolved(described::CLEAR), resolved(LoadOp::DontCare));
}

#[test]
fn transfers_have_no_views() {
    let copied = |view: ViewDesc| {
        let mut frame = FrameBuilder::new("f", described::EXTENT);
        let image = frame.image("image", described::plain());
        let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, "commands");
        frame.render_pass(commands, "draw").color(image, described::CLEAR);
        let copy = frame.transfer_pass(commands, "copy");
        copy.transfer_source(image).viewed(view);
        frame.build().unwrap()
    };
    let incompatible = described::as_format(vk::Format::R16_SNORM);
    assert_eq!(copied(incompatible), copied(ViewDesc::default()));
}

#[test]
fn messages_name_the_thing_the_rule_and_the_limit() {
    let found = described::rules::all()
        .find(|case| case.rule.ends_with("viewType-02960"))
        .unwrap();
    assert_eq!(
        broken(found.broken).unwrap().to_string(),
        "pass `render 2` uses image `image`: views of type CUBE must have 6 layers, but this one has 3 \
         (VUID-VkImageViewCreateInfo-viewType-02960)"
    );
}
