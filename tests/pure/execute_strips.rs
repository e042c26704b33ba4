//! Strips in the map of a frame: accepted as made by arrangements, and refused with a single fault.

use ash::vk;
use tileheap::arrange::{ArrangedBatch, Arrangement, GroupMode, PassGroup, StripGrid};
use tileheap::execute::{ExecutedFrame, OriginRule, OriginTables, PassOrigin, Strip};
use tileheap::frame::tables::CommandSource;
use tileheap::frame::{Frame, FrameBuilder, ImageDesc, LoadOp, PassId, ReadReach};
use tileheap::lower::{DeviceQueues, LoweringDesc, lower};
use tileheap::plan::{MemoryKind, Plan, PlanOptions};
use tileheap::profile::DeviceProfile;
use tileheap::units::{Bytes, Run};
use tileheap_testkit::frames::extent;

use crate::lowered_check::device;
use crate::planned::plan_with;

/// Three passes in two batches; the second one reads within three texels.
pub(crate) fn blurred() -> Frame {
    let mut frame = FrameBuilder::new("blurred", extent(1920, 1080));
    let image = ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, extent(1920, 1080));
    let [lit, blurred, out] = ["lit", "blurred", "out"].map(|name| frame.image(name, image));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let first = frame.batch(submit);
    let scene = frame.command_buffer(first, "scene");
    let light = frame.render_pass(scene, "light");
    light.color(lit, LoadOp::DontCare).in_strips(Bytes::mib(1));
    let blur = frame.render_pass(scene, "blur");
    let blur = blur.sampled(lit).reaching(ReadReach::Texels(3));
    blur.color(blurred, LoadOp::DontCare).in_strips(Bytes::ZERO);
    let last = frame.batch(submit);
    let post = frame.command_buffer(last, "post");
    let tone = frame.render_pass(post, "tone");
    let tone = tone.sampled(blurred).reaching(ReadReach::PIXEL);
    tone.color(out, LoadOp::DontCare).in_strips(Bytes::ZERO);
    frame.build().unwrap()
}

/// All passes in one batch and four strips.
pub(crate) fn in_strips(frame: &Frame) -> ExecutedFrame {
    let strips = GroupMode::Strips(StripGrid { columns: 1, rows: 4 });
    let group = PassGroup::new(frame.pass_ids().collect(), strips);
    let arrangement = Arrangement {
        changes: Vec::new(),
        batches: vec![ArrangedBatch {
            batches: Run::new(0, 2),
            groups: vec![group],
        }],
    };
    arrangement.apply(frame).unwrap()
}

#[test]
fn strips_lead_back_to_the_described_frame() {
    let frame = blurred();
    let executed = in_strips(&frame);
    executed.check().unwrap();
    assert_eq!(executed.frame().passes().len(), 12);
    let lit = frame.resource_named("lit").unwrap();
    for pass in frame.pass_ids() {
        let runs: Vec<PassId> = executed.executed_passes(pass).collect();
        assert_eq!(runs.len(), 4);
        for (number, &run) in (0..).zip(&runs) {
            let strip = executed.strip(run).unwrap();
            assert_eq!((strip.number, strip.count), (number, 4));
            assert_eq!(executed.subpass_in(run, pass), Some(0));
        }
    }
    let light = executed.executed_passes(frame.pass_ids().next().unwrap()).last();
    let light = light.unwrap();
    let part = executed.resource_in(light, lit);
    assert_eq!(executed.described_resource(part), lit);
    let area = executed.part(part).area.unwrap();
    assert_eq!(executed.first_texel(part), area.offset);
    assert!(area.offset.y > 0 && area.extent.height < 1080);
    // The described frame again, if the arrangement is the described one.
    let same = Arrangement::described(&frame).apply(&frame).unwrap();
    assert!(same.is_as_described());
}

#[test]
fn plans_of_strips_count_the_described_frame() {
    let frame = blurred();
    let executed = in_strips(&frame);
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let options = PlanOptions::default();
    let plan = plan_with(&executed, &profile, &options);
    let as_described = plan_with(&frame, &profile, &options);
    plan.check().unwrap();
    assert_eq!(plan.totals.traffic_bytes, as_described.totals.traffic_bytes);
    assert!(plan.totals.on_chip_bytes > as_described.totals.on_chip_bytes);
    // `light` runs three more times, at a mebibyte each.
    let sum = plan.totals.on_chip_bytes + plan.dram_traffic() + Bytes::mib(3);
    assert_eq!(sum, plan.totals.traffic_bytes);
    assert_eq!(Plan::from_json(&executed, &plan.to_json()).unwrap(), *plan);
}

fn change(executed: &ExecutedFrame, change: impl Fn(&mut OriginTables)) -> ExecutedFrame {
    let mut tables = executed.origins().to_tables(executed.frame());
    change(&mut tables);
    ExecutedFrame::new(
        executed.frame().clone(),
        executed.described().clone(),
        tables.into(),
    )
}

fn strip(tables: &mut OriginTables, pass: usize) -> &mut Option<Strip> {
    match &mut tables.passes[pass] {
        PassOrigin::Runs(runs) => &mut runs[0].strip,
        PassOrigin::Store { .. } | PassOrigin::Border { .. } => panic!("the runtime records it"),
    }
}

#[test]
fn damaged_strips_are_refused() {
    let executed = in_strips(&blurred());
    let refused = |rule: OriginRule, damage: &dyn Fn(&mut OriginTables)| {
        let fault = change(&executed, damage).check().unwrap_err();
        assert_eq!(fault.rule, rule, "{fault}");
    };
    let last = executed.frame().passes().len() - 1;
    let parts = executed.described().resources().len();
    refused(OriginRule::Pass, &|tables| *strip(tables, 0) = None);
    refused(OriginRule::Pass, &|tables| {
        strip(tables, 0).as_mut().unwrap().number = 4;
    });
    refused(OriginRule::Pass, &|tables| {
        strip(tables, last).as_mut().unwrap().area.extent.height -= 1;
    });
    refused(OriginRule::Coverage, &|tables| {
        strip(tables, last).as_mut().unwrap().number = 2;
    });
    refused(OriginRule::Coverage, &|tables| {
        strip(tables, 0).as_mut().unwrap().count = 5;
    });
    // A strip of the same size elsewhere: no strip computes the last rows.
    refused(OriginRule::Coverage, &|tables| {
        let strip = strip(tables, last).as_mut().unwrap();
        strip.area.offset.y -= 8;
        strip.origin.y -= 8;
    });
    refused(OriginRule::Resource, &|tables| {
        tables.resources[parts].area = None
    });
    refused(OriginRule::Resource, &|tables| {
        tables.resources[parts].area.as_mut().unwrap().offset.y = 1080;
    });
    refused(OriginRule::Resource, &|tables| {
        tables.resources[0].area = Some(extent(64, 64).into());
    });
    refused(OriginRule::Access, &|tables| tables.accesses.swap(0, 1));
}

/// Two passes, each in a batch; the first may signal an external semaphore, and the second may be in another submit.
fn two_batches(signals: bool, apart: bool) -> Frame {
    let mut frame = FrameBuilder::new("two batches", extent(64, 64));
    let image = ImageDesc::new(vk::Format::R8_UNORM, extent(64, 64));
    let [a, b] = ["a", "b"].map(|name| frame.image(name, image));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let done = frame.external_semaphore("done");
    let submit = frame.submit(queue);
    let first = frame.batch(submit);
    if signals {
        frame.signal(first, done, vk::PipelineStageFlags2::ALL_COMMANDS);
    }
    let commands = frame.command_buffer(first, "first");
    frame.render_pass(commands, "draw").color(a, LoadOp::DontCare);
    let submit = if apart { frame.submit(queue) } else { submit };
    let last = frame.batch(submit);
    if !signals {
        frame.signal(last, done, vk::PipelineStageFlags2::ALL_COMMANDS);
    }
    let commands = frame.command_buffer(last, "last");
    let pass = frame.render_pass(commands, "read").sampled(a);
    pass.color(b, LoadOp::DontCare);
    frame.build().unwrap()
}

#[test]
fn batches_are_fused_where_nothing_waits_or_signals() {
    for apart in [false, true] {
        let frame = two_batches(false, apart);
        let groups = frame
            .pass_ids()
            .map(|pass| PassGroup::new(vec![pass], GroupMode::Once));
        let arrangement = Arrangement {
            changes: Vec::new(),
            batches: vec![ArrangedBatch {
                batches: Run::new(0, 2),
                groups: groups.collect(),
            }],
        };
        let fused = arrangement.apply(&frame).unwrap();
        fused.check().unwrap();
        assert_eq!(fused.frame().batches().len(), 1);
        // Not possible with a frame that signals in between.
        let other = two_batches(true, apart);
        let wrong = ExecutedFrame::new(fused.frame().clone(), other, fused.origins().clone());
        assert_eq!(wrong.check().unwrap_err().rule, OriginRule::Batches);
    }
    // Batches stay in their submits.
    let [one, two] = [false, true].map(|apart| two_batches(false, apart));
    let tables = ExecutedFrame::as_described(&one).origins().to_tables(&one);
    let wrong = ExecutedFrame::new(one, two, tables.into());
    assert_eq!(wrong.check().unwrap_err().rule, OriginRule::Batches);
}

/// `lit` is drawn whole, and read around each strip; `graded` is written in strips, and read anywhere after them.
fn graded() -> Frame {
    let mut frame = FrameBuilder::new("graded", extent(1920, 1080));
    let image = ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, extent(1920, 1080));
    let [lit, toned, graded, out] = ["lit", "toned", "graded", "out"].map(|name| frame.image(name, image));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    frame.render_pass(commands, "light").color(lit, LoadOp::DontCare);
    let tone = frame.render_pass(commands, "tone");
    let tone = tone.sampled(lit).reaching(ReadReach::PIXEL);
    tone.color(toned, LoadOp::DontCare).in_strips(Bytes::ZERO);
    let grade = frame.render_pass(commands, "grade");
    let grade = grade.sampled(lit).reaching(ReadReach::Texels(2));
    let grade = grade.sampled(toned).reaching(ReadReach::Texels(3));
    grade.color(graded, LoadOp::DontCare).in_strips(Bytes::ZERO);
    let vignette = frame
        .render_pass(commands, "vignette")
        .sampled(lit)
        .reaching(ReadReach::PIXEL);
    vignette.color(graded, LoadOp::Load).in_strips(Bytes::ZERO);
    frame
        .render_pass(commands, "distort")
        .sampled(graded)
        .color(out, LoadOp::DontCare);
    frame.build().unwrap()
}

const STRIPS: u32 = 8;

fn with_borders(frame: &Frame, borders: &[&str]) -> Arrangement {
    in_strips_with_borders(frame, 1..4, borders)
}

/// The passes of `run` in strips, with copies of `borders`; each other pass in a group of its own.
fn in_strips_with_borders(frame: &Frame, run: std::ops::Range<usize>, borders: &[&str]) -> Arrangement {
    let passes: Vec<PassId> = frame.pass_ids().collect();
    let borders = borders.iter().map(|name| frame.resource_named(name).unwrap());
    let alone = |&pass: &PassId| PassGroup::new(vec![pass], GroupMode::Once);
    let mut groups: Vec<PassGroup> = passes.iter().map(alone).collect();
    let grid = StripGrid {
        columns: 1,
        rows: STRIPS,
    };
    let strips = PassGroup {
        borders: borders.collect(),
        ..PassGroup::new(passes[run.clone()].to_vec(), GroupMode::Strips(grid))
    };
    groups.splice(run, [strips]);
    Arrangement {
        changes: Vec::new(),
        batches: vec![ArrangedBatch {
            batches: Run::new(0, 1),
            groups,
        }],
    }
}

#[test]
fn images_at_the_border_are_copied_once_in_and_once_out() {
    let frame = graded();
    let arrangement = with_borders(&frame, &["lit", "graded"]);
    let executed = arrangement.apply(&frame).unwrap();
    executed.check().unwrap();
    let copies: Vec<&str> = executed
        .frame()
        .passes()
        .iter()
        .filter(|pass| matches!(pass.contents, CommandSource::Border { .. }))
        .map(|pass| pass.name.as_str())
        .collect();
    assert_eq!(copies.len(), 2 * STRIPS as usize);
    assert_eq!(
        copies[..2],
        ["load lit #0 from tone", "store graded #0 from tone"]
    );
    let text = arrangement.to_json(&frame);
    assert_eq!(Arrangement::from_json(&text, &frame).unwrap(), arrangement);

    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let plan = plan_with(&executed, &profile, &PlanOptions::default());
    plan.check().unwrap();
    assert_eq!(Plan::from_json(&executed, &plan.to_json()).unwrap(), *plan);
    for part in plan
        .frame
        .resource_ids()
        .filter(|&id| executed.part(id).area.is_some())
    {
        assert_eq!(
            plan.memory_of(part),
            Some(MemoryKind::Tile),
            "{}",
            plan.frame.resource(part).name
        );
    }
    // Computed by hand, in rows: `lit` is drawn once and loaded with 3 rows on each side of all strips but the outermost; `graded` is stored and read
    // once, and `out` is kept on chip by its pass.
    let rows = 1080 + (1080 + 3 * 2 * (STRIPS - 1)) + 1080 + 1080;
    let needs = |name: &str| {
        let id = frame.resource_named(name).unwrap();
        plan.requirements.resources[id.index()].tile.unwrap().size.0
    };
    assert_eq!(needs("lit"), needs("graded"));
    let moved = plan.dram_traffic().0;
    let wanted = needs("lit") * u64::from(rows) / 1080;
    assert!(
        moved.abs_diff(wanted) < u64::from(STRIPS) * 2,
        "{moved} instead of {wanted}"
    );
}

#[test]
fn borders_that_cannot_be_are_refused_by_name() {
    let frame = graded();
    let refused = |borders: &[&str], why: &str| {
        let fault = with_borders(&frame, borders)
            .check(&frame)
            .unwrap_err()
            .to_string();
        assert!(fault.contains(why), "{fault}");
    };
    refused(
        &["toned"],
        "`toned` cannot be copied into strips and out of them: nothing outside the run needs its contents",
    );
    refused(&["out"], "no pass of the run uses it");
    let mut merged = with_borders(&frame, &["lit"]);
    merged.batches[0].groups[1].mode = GroupMode::Once;
    let fault = merged.check(&frame).unwrap_err().to_string();
    assert!(fault.contains("the passes do not run in strips"), "{fault}");
}

#[test]
fn damaged_borders_are_refused() {
    let frame = graded();
    let executed = with_borders(&frame, &["lit", "graded"]).apply(&frame).unwrap();
    let refused = |rule: OriginRule, damage: &dyn Fn(&mut OriginTables)| {
        let fault = change(&executed, damage).check().unwrap_err();
        assert_eq!(fault.rule, rule, "{fault}");
    };
    let is_copy =
        |&pass: &PassId| matches!(executed.frame().pass(pass).contents, CommandSource::Border { .. });
    let copies: Vec<PassId> = executed.frame().pass_ids().filter(is_copy).collect();
    let resource = |name: &str| frame.resource_named(name).unwrap();
    let pass = |name: &str| frame.pass_named(name).unwrap();
    refused(OriginRule::Border, &|tables| {
        tables.passes[copies[0].index()] = PassOrigin::Border {
            resource: resource("graded"),
            beside: pass("tone"),
        };
    });
    refused(OriginRule::Border, &|tables| {
        tables.passes[copies[0].index()] = PassOrigin::Border {
            resource: resource("lit"),
            beside: pass("grade"),
        };
    });
    refused(OriginRule::Store, &|tables| {
        tables.passes[copies[1].index()] = PassOrigin::Store {
            resource: resource("graded"),
            after: pass("vignette"),
        };
    });
    // The part of another area: of the same size, and copied from the original one.
    let part = executed.frame().accesses_of(copies[2])[1].resource;
    refused(OriginRule::Border, &|tables| {
        tables.resources[part.index()].area.as_mut().unwrap().offset.y += 1;
    });
}

/// A frame that differs from its map: with one copy less, or with fewer rows.
#[test]
fn strips_whose_copies_are_missing_are_refused() {
    let frame = graded();
    let executed = with_borders(&frame, &["lit", "graded"]).apply(&frame).unwrap();
    let document = executed.frame().to_json();
    let (before, after) = document.split_once("\"store graded #0 from tone\"").unwrap();
    let narrowed = after.replacen("135\n", "134\n", 1);
    assert_ne!(after, narrowed);
    let narrowed = format!("{before}\"store graded #0 from tone\"{narrowed}");
    let narrowed = Frame::from_json(&narrowed).unwrap();
    let changed = ExecutedFrame::new(narrowed, frame.clone(), executed.origins().clone());
    let fault = changed.check().unwrap_err();
    assert!(
        [OriginRule::Border, OriginRule::Pass].contains(&fault.rule),
        "{fault}"
    );
}

/// Images at the border and images of strips, split after every use: by copies and by passes.
#[test]
fn lifetimes_are_split_at_the_border_of_strips() {
    let frame = graded();
    let executed = with_borders(&frame, &["lit", "graded"]).apply(&frame).unwrap();
    let mut split = [[0; 2]; 2];
    for (resource, after) in executed.splittable() {
        let Some(stored) = executed.split(resource, after) else {
            continue;
        };
        let (name, pass) = (
            &executed.frame().resource(resource).name,
            executed.frame().pass(after),
        );
        assert_eq!(stored.unwrap().violations(), [], "`{name}` after `{}`", pass.name);
        let is_part = executed.part(resource).area.is_some();
        let is_copy = matches!(pass.contents, CommandSource::Border { .. });
        split[usize::from(is_part)][usize::from(is_copy)] += 1;
    }
    let kinds = split.as_flattened();
    assert!(kinds.iter().all(|&count| count > 0), "{split:?}");
}

/// The image of a strip is split, and the copy out of its last stretch is missing.
#[test]
fn missing_copies_of_split_lifetimes_are_refused() {
    let frame = graded();
    let executed = with_borders(&frame, &["lit", "graded"]).apply(&frame).unwrap();
    let grade = executed
        .origins()
        .executed_pass(frame.pass_named("grade").unwrap());
    let part = executed.frame().resource_named("graded #0 from tone").unwrap();
    let split = executed.split(part, grade).unwrap().unwrap();
    split.check().unwrap();
    let copy = split.frame().pass_named("store graded #0 from tone").unwrap();
    let mut tables = split.origins().to_tables(split.frame());
    tables.passes.remove(copy.index());
    tables.accesses.drain(split.frame().pass(copy).accesses.indices());
    let without = split.frame().without_pass(copy).unwrap();
    let damaged = ExecutedFrame::new(without, frame.clone(), tables.into());
    let fault = damaged.check().unwrap_err();
    assert_eq!(fault.rule, OriginRule::Border, "{fault}");
    assert!(fault.message.contains("some strips do not copy out"), "{fault}");
}

/// `lit` is on chip until the strips have loaded it, and makes room for `warped` before it is read again. No described pass samples it: only its
/// copies do, all of them in the first stretch.
#[test]
fn plans_split_what_strips_have_loaded() {
    let size = extent(512, 512);
    let mut frame = FrameBuilder::new("kept", size);
    let wide = ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, size);
    let narrow = ImageDesc::new(vk::Format::R8_UNORM, size);
    let [lit, warped] = ["lit", "warped"].map(|name| frame.image(name, wide));
    let [toned, graded, glowing, out] =
        ["toned", "graded", "glowing", "out"].map(|name| frame.image(name, narrow));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    frame.render_pass(commands, "light").color(lit, LoadOp::DontCare);
    let tone = frame.render_pass(commands, "tone").input(lit);
    tone.color(toned, LoadOp::DontCare).in_strips(Bytes::ZERO);
    let grade = frame.render_pass(commands, "grade");
    let grade = grade.sampled(toned).reaching(ReadReach::Texels(3));
    grade.color(graded, LoadOp::DontCare).in_strips(Bytes::ZERO);
    let distort = frame.render_pass(commands, "distort").sampled(graded);
    distort.color(warped, LoadOp::DontCare);
    for (name, load) in [("blur", LoadOp::DontCare), ("glow", LoadOp::Load)] {
        let pass = frame.render_pass(commands, name).sampled(warped);
        pass.color(glowing, load);
    }
    let last = frame.render_pass(commands, "last").input(lit).sampled(glowing);
    last.color(out, LoadOp::DontCare);
    let frame = frame.build().unwrap();
    let arrangement = in_strips_with_borders(&frame, 1..3, &["lit"]);
    let executed = arrangement.apply(&frame).unwrap();
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let profile = profile.with_tile_heap_size(Bytes::mib(3)).unwrap();
    let options = PlanOptions {
        split: true,
        ..PlanOptions::default()
    };
    let plan = plan_with(&executed, &profile, &options);
    let store = plan.stores().find(|store| store.to == lit).unwrap();
    let loads = plan.frame.accesses_to(store.from).filter(|access| {
        let contents = plan.frame.pass(access.pass).contents;
        matches!(contents, CommandSource::Border { .. })
    });
    assert_eq!(loads.count(), STRIPS as usize);
    assert_eq!(plan.memory_of(store.from), Some(MemoryKind::Tile));
    let lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&plan.frame));
    let tables = lower(&plan, &lowering_desc).unwrap();
    let faults = tables.violations(&plan.frame, &lowering_desc, &device(&plan, &lowering_desc));
    assert_eq!(faults, []);
}
