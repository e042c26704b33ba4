//! Every rule of valid usage refuses violations, and accepts frames that are one step away.

use std::collections::BTreeSet;

use ash::vk;
use tileheap::Error;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::{ResourceKind, ViewDesc};
use tileheap::frame::valid_usage::{InvalidUsage, RuleRow, rules};
use tileheap::frame::{FrameBuilder, FrameError, Persistence};

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
    use vk::{ImageLayout as L, ImageUsageFlags as U};
    for (layout, expected) in [
        (L::GENERAL, U::empty()),
        (L::TRANSFER_SRC_OPTIMAL, U::TRANSFER_SRC),
        (L::TRANSFER_DST_OPTIMAL, U::TRANSFER_DST),
        (L::SHADER_READ_ONLY_OPTIMAL, U::SAMPLED),
        (L::RENDERING_LOCAL_READ_KHR, U::INPUT_ATTACHMENT),
        (L::FRAGMENT_DENSITY_MAP_OPTIMAL_EXT, U::FRAGMENT_DENSITY_MAP_EXT),
        (L::VIDEO_DECODE_DST_KHR, U::VIDEO_DECODE_DST_KHR),
    ] {
        let mut frame = FrameBuilder::new("f", described::EXTENT);
        let external = Persistence::External(ExternalDesc::in_layout(layout));
        let image = frame.resource("image", described::plain(), external);
        let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, "commands");
        frame.render_pass(commands, "draw").color(image, described::CLEAR);
        let frame = frame.build().unwrap();
        let ResourceKind::Image { usage, .. } = frame.resource(image).kind else {
            unreachable!()
        };
        assert_eq!(usage, U::COLOR_ATTACHMENT | expected, "{layout:?}");
    }
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
        "pass `render 2` uses image `image`: views of type CUBE have 6 layers, but it uses 3 \
         (VUID-VkImageViewCreateInfo-viewType-02960)"
    );
}
