//! Tests of layouts.

use super::*;
use crate::check::finding::Overlap;

fn wrong(is: L, expected: L) -> Problem {
    Problem::Layout { is, expected }
}

fn sampled(image: u32, layout: L) -> Command {
    dispatch(vec![in_layout(
        texels(image, range(), CS, A::SHADER_SAMPLED_READ),
        layout,
    )])
}

/// A barrier that orders everything and changes the layout of an image.
fn change(image: u32, range: SubresourceRange, layouts: [L; 2]) -> Command {
    barrier(vec![transition(image, range, EVERYTHING, EVERYTHING, layouts)])
}

#[test]
fn barriers_name_the_layout_that_the_image_is_in() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let commands = |old| {
        vec![
            change(x, range(), [L::UNDEFINED, L::GENERAL]),
            change(x, range(), [old, L::SHADER_READ_ONLY_OPTIMAL]),
        ]
    };
    assert_eq!(found(rig.clone(), commands(L::GENERAL)), NONE);
    assert_eq!(found(rig.clone(), commands(L::UNDEFINED)), NONE);
    let expected = wrong(L::GENERAL, L::TRANSFER_DST_OPTIMAL);
    assert_eq!(
        found(rig.clone(), commands(L::TRANSFER_DST_OPTIMAL)),
        [(Certain, expected, 1, 2)]
    );
    let buffer = rig.commands(commands(L::TRANSFER_DST_OPTIMAL));
    rig.submit(&[buffer]);
    let finding = &rig.report().findings[0];
    assert_eq!(
        finding.vuid.as_deref(),
        Some("VUID-VkImageMemoryBarrier2-oldLayout-01197")
    );
}

#[test]
fn shaders_expect_a_layout_unless_they_may_not_run() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let commands = |use_of: Command| vec![change(x, range(), [L::UNDEFINED, L::GENERAL]), use_of];
    let read_only = L::SHADER_READ_ONLY_OPTIMAL;
    let expected = [(Certain, wrong(L::GENERAL, read_only), 1, 2)];
    // The contents are undefined in each case.
    let layouts = |found: Vec<FindingSummary>| {
        let found = found
            .into_iter()
            .filter(|one| matches!(one.1, Problem::Layout { .. }));
        found.collect::<Vec<_>>()
    };
    assert_eq!(
        layouts(found(rig.clone(), commands(sampled(x, read_only)))),
        expected
    );
    assert_eq!(
        layouts(found(rig.clone(), commands(sampled(x, L::GENERAL)))),
        NONE
    );
    let access = RecordedAccess {
        conditional: true,
        ..in_layout(texels(x, range(), CS, A::SHADER_SAMPLED_READ), read_only)
    };
    assert_eq!(layouts(found(rig, commands(dispatch(vec![access])))), NONE);
}

#[test]
fn the_first_layout_is_unknown() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let general = L::GENERAL;
    let commands = vec![
        sampled(x, general),
        change(x, range(), [L::TRANSFER_SRC_OPTIMAL, L::TRANSFER_DST_OPTIMAL]),
    ];
    assert_eq!(
        found(rig, commands),
        [(Certain, wrong(general, L::TRANSFER_SRC_OPTIMAL), 0, 2)]
    );
}

#[test]
fn subresources_have_layouts_of_their_own() {
    let mut rig = Rig::new();
    let x = rig.old_image("x", image(vk::Format::R8G8B8A8_UNORM, 4, 1));
    let (dst, src) = (L::TRANSFER_DST_OPTIMAL, L::TRANSFER_SRC_OPTIMAL);
    let commands = |last| {
        vec![
            change(x, levels(0, 4), [L::UNDEFINED, dst]),
            change(x, levels(1, 3), [dst, src]),
            change(x, last, [dst, L::GENERAL]),
        ]
    };
    assert_eq!(found(rig.clone(), commands(levels(3, 4))), NONE);
    let buffer = rig.commands(commands(levels(0, 4)));
    rig.submit(&[buffer]);
    let findings = rig.report().findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].problem, wrong(src, dst));
    let place = ResourcePart::Texels {
        range: levels(1, 3),
        area: None,
    };
    assert_eq!(findings[0].overlap, Overlap::Resource(place));
}

#[test]
fn a_view_of_all_levels_may_read_some_of_them() {
    let mut rig = Rig::new();
    let x = rig.old_image("x", image(vk::Format::R8G8B8A8_UNORM, 2, 1));
    let read_only = L::SHADER_READ_ONLY_OPTIMAL;
    let view = || {
        some(in_layout(
            texels(x, levels(0, 2), CS, A::SHADER_SAMPLED_READ),
            read_only,
        ))
    };
    let commands = |levels| vec![change(x, levels, [L::GENERAL, read_only]), dispatch(vec![view()])];
    let all_general = change(x, levels(0, 2), [read_only, L::GENERAL]);
    let mut some_levels = commands(levels(0, 1));
    some_levels.insert(0, all_general.clone());
    assert_eq!(found(rig.clone(), some_levels), NONE);
    let none = vec![all_general, dispatch(vec![view()])];
    assert_eq!(found(rig, none), [(Certain, wrong(L::GENERAL, read_only), 1, 2)]);
}

#[test]
fn depth_and_stencil_layouts_are_compared_by_aspect() {
    let mut rig = Rig::new();
    let x = rig.old_image("x", image(vk::Format::D24_UNORM_S8_UINT, 1, 1));
    let of = |aspects| SubresourceRange { aspects, ..range() };
    let both = of(Aspects::DEPTH | Aspects::STENCIL);
    let mixed = L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL;
    let read = |aspects, layout| {
        let access = texels(x, of(aspects), CS, A::SHADER_SAMPLED_READ);
        dispatch(vec![in_layout(access, layout)])
    };
    let first = || change(x, both, [L::GENERAL, mixed]);
    for layout in [
        L::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
        L::DEPTH_READ_ONLY_OPTIMAL,
        L::READ_ONLY_OPTIMAL,
        mixed,
    ] {
        assert_eq!(
            found(rig.clone(), vec![first(), read(Aspects::DEPTH, layout)]),
            NONE
        );
    }
    let stencil = L::DEPTH_STENCIL_READ_ONLY_OPTIMAL;
    assert_eq!(
        found(rig.clone(), vec![first(), read(Aspects::STENCIL, stencil)]),
        [(Certain, wrong(mixed, stencil), 1, 2)]
    );
    let last = change(x, both, [L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL, L::GENERAL]);
    assert_eq!(
        found(rig, vec![first(), last]),
        [(Certain, wrong(mixed, L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL), 1, 2)]
    );
}

#[test]
fn render_passes_change_layouts() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let (color, read_only) = (L::COLOR_ATTACHMENT_OPTIMAL, L::SHADER_READ_ONLY_OPTIMAL);
    let all = || mb(EVERYTHING, EVERYTHING);
    let commands = |initial, used| {
        vec![
            change(x, range(), [L::UNDEFINED, color]),
            begin(color_pass(attachment(x, [initial, read_only]))),
            draw(vec![]),
            end(),
            all(),
            sampled(x, used),
        ]
    };
    assert_eq!(found(rig.clone(), commands(color, read_only)), NONE);
    assert_eq!(found(rig.clone(), commands(L::UNDEFINED, read_only)), NONE);
    assert_eq!(
        found(rig.clone(), commands(color, color)),
        [(Certain, wrong(read_only, color), 4, 6)]
    );
    let mut wrong_initial = rig.clone();
    let buffer = wrong_initial.commands(commands(L::GENERAL, read_only));
    wrong_initial.submit(&[buffer]);
    let findings = wrong_initial.report().findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    let vuid = findings[0].vuid.as_deref();
    assert_eq!(vuid, Some("VUID-vkCmdBeginRenderPass-initialLayout-00900"));
}

#[test]
fn dynamic_rendering_expects_its_layout() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let layout = L::COLOR_ATTACHMENT_OPTIMAL;
    let mut first = begin(color_pass(attachment(x, [layout; 2])));
    first.call = "vkCmdBeginRendering".to_owned();
    let buffer = rig.commands(vec![change(x, range(), [L::UNDEFINED, L::GENERAL]), first, end()]);
    rig.submit(&[buffer]);
    let findings = rig.report().findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].problem, wrong(L::GENERAL, layout));
    let vuid = findings[0].vuid.as_deref();
    assert_eq!(vuid, Some("VUID-vkCmdBeginRendering-pRenderingInfo-09592"));
}

#[test]
fn layers_that_no_view_renders_keep_their_layout() {
    let mut rig = Rig::new();
    let x = rig.old_image("x", image(vk::Format::R8G8B8A8_UNORM, 1, 3));
    let (color, read_only) = (L::COLOR_ATTACHMENT_OPTIMAL, L::SHADER_READ_ONLY_OPTIMAL);
    let pass = RenderPassInstance {
        attachments: vec![Attachment {
            range: layers(0, 3),
            ..attachment(x, [color, read_only])
        }],
        subpasses: vec![Subpass {
            uses: vec![used(0, Role::Color, color)],
            view_mask: 0b101,
        }],
        ..RenderPassInstance::default()
    };
    let commands = vec![
        change(x, layers(0, 3), [L::UNDEFINED, color]),
        change(x, layers(1, 2), [color, L::GENERAL]),
        begin(pass),
        end(),
        mb(EVERYTHING, EVERYTHING),
        change(x, layers(1, 2), [L::GENERAL, color]),
        change(x, layers(2, 3), [read_only, color]),
    ];
    assert_eq!(found(rig, commands), NONE);
}

#[test]
fn presented_images_are_in_their_layout() {
    for (last, expected) in [
        (L::PRESENT_SRC_KHR, None),
        (L::GENERAL, Some(wrong(L::GENERAL, L::PRESENT_SRC_KHR))),
    ] {
        let mut rig = Rig::new();
        let x = rig.color("x");
        let layouts = [L::SHADER_READ_ONLY_OPTIMAL, last];
        let buffer = rig.commands(vec![image_write(x), change(x, range(), layouts)]);
        rig.submit(&[buffer]);
        rig.step(RecordedStep::WaitIdle(None));
        rig.step(RecordedStep::Present {
            resources: vec![x],
            waits: vec![],
        });
        let problems: Vec<Problem> = rig.found().iter().map(|one| one.1).collect();
        assert_eq!(problems, Vec::from_iter(expected));
    }
}

#[test]
fn transfers_change_the_layout_once() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let (dst, read_only) = (L::TRANSFER_DST_OPTIMAL, L::SHADER_READ_ONLY_OPTIMAL);
    let half = |layouts| {
        let mut one = transition(x, range(), EVERYTHING, EVERYTHING, layouts);
        one.families = Some([0, 1]);
        barrier(vec![one])
    };
    let run = |acquired: L, read: L| {
        let mut rig = rig.clone();
        let first = rig.commands(vec![
            change(x, range(), [L::GENERAL, dst]),
            half([dst, read_only]),
        ]);
        let second = rig.commands(vec![half([dst, acquired]), sampled(x, read)]);
        rig.submit(&[first]);
        rig.step(RecordedStep::WaitIdle(None));
        rig.step(RecordedStep::Submit(batch(1, &[second])));
        rig.found()
    };
    assert_eq!(run(read_only, read_only), NONE);
    assert_eq!(
        run(read_only, L::GENERAL),
        [(Certain, wrong(read_only, L::GENERAL), 1, 2)]
    );
}

#[test]
fn another_queue_makes_the_layout_unknown() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    let first = rig.commands(vec![change(x, range(), [L::UNDEFINED, L::GENERAL])]);
    let second = rig.commands(vec![sampled(x, L::SHADER_READ_ONLY_OPTIMAL)]);
    rig.submit(&[first]);
    rig.step(RecordedStep::WaitIdle(None));
    rig.step(RecordedStep::Submit(batch(1, &[second])));
    let layouts = rig
        .found()
        .into_iter()
        .filter(|one| matches!(one.1, Problem::Layout { .. }));
    assert_eq!(layouts.collect::<Vec<_>>(), NONE);
}

#[test]
fn levels_of_a_3d_image_have_fewer_slices_than_the_first() {
    let mut rig = Rig::new();
    let kind = ResourceKind::Image {
        format: vk::Format::R8G8B8A8_UNORM,
        extent: [64, 64, 8],
        levels: 3,
        layers: 1,
        is_3d: true,
        linear: false,
        swapchain: false,
        alias_group: None,
    };
    let x = rig.old_image("x", kind);
    // A range includes the slices of its first level.
    let slices = |first: u32, end: u32| SubresourceRange {
        layers: Run::new(0, 8 >> first),
        ..levels(first, end)
    };
    let (dst, src) = (L::TRANSFER_DST_OPTIMAL, L::TRANSFER_SRC_OPTIMAL);
    let mut commands = vec![change(x, slices(0, 3), [L::UNDEFINED, dst])];
    commands.extend((0..3).map(|level| change(x, slices(level, level + 1), [dst, src])));
    commands.push(change(x, slices(0, 3), [src, L::SHADER_READ_ONLY_OPTIMAL]));
    assert_eq!(found(rig.clone(), commands.clone()), NONE);
    commands.remove(2);
    let missed = [(Certain, wrong(dst, src), 1, 4)];
    assert_eq!(found(rig, commands), missed);
}

#[test]
fn batches_of_several_queues_and_the_host_may_have_changed_a_layout() {
    let mut rig = Rig::new();
    let x = rig.image("x", 0);
    let read_only = L::SHADER_READ_ONLY_OPTIMAL;
    let first = rig.commands(vec![change(x, range(), NEW)]);
    let second = rig.commands(vec![change(x, range(), [read_only, L::GENERAL])]);
    for queue in [0, 1] {
        let mut rig = rig.clone();
        rig.submit(&[first]);
        rig.submit(&[second]);
        // With and without another queue's work in between.
        rig.step(RecordedStep::Submit(batch(queue, &[first])));
        let of_layout = |one: &FindingSummary| matches!(one.1, Problem::Layout { .. });
        let found = rig.found().into_iter().filter(of_layout).count();
        assert_eq!(found, usize::from(queue == 0), "queue {queue}");
    }
    rig.0.resources[x as usize].host_writes = true;
    rig.submit(&[first]);
    rig.submit(&[second]);
    assert_eq!(rig.found(), NONE);
}
