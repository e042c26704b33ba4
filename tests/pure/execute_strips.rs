//! Strips in the map of a frame: accepted as arrangements make them, and refused with one thing wrong.

use ash::vk;
use tileheap::arrange::{ArrangedBatch, Arrangement, Grid, Group, Way};
use tileheap::execute::{Executed, OriginRule, OriginTables, PassOrigin, Strip};
use tileheap::frame::{Frame, FrameBuilder, ImageDesc, LoadOp, PassId, ReadReach};
use tileheap::plan::{Plan, PlanOptions};
use tileheap::profile::DeviceProfile;
use tileheap::units::{Bytes, Run};
use tileheap_testkit::frames::extent;

use crate::planned::plan_with;

/// Three passes of which the second looks three texels far, in two batches.
fn blurred() -> Frame {
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

/// All of it in one batch and four strips.
fn in_strips(frame: &Frame) -> Executed {
    let group = Group {
        passes: frame.pass_ids().collect(),
        way: Way::Strips(Grid { columns: 1, rows: 4 }),
    };
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
            assert_eq!((strip.number, strip.of), (number, 4));
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
    // The described frame again, where the arrangement is that.
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
    let sum = plan.totals.on_chip_bytes + plan.dram_traffic();
    assert_eq!(sum, plan.totals.traffic_bytes);
    assert_eq!(Plan::from_json(&executed, &plan.to_json()).unwrap(), *plan);
}

fn change(executed: &Executed, change: impl Fn(&mut OriginTables)) -> Executed {
    let mut tables = executed.origins().to_tables(executed.frame());
    change(&mut tables);
    Executed::new(
        executed.frame().clone(),
        executed.described().clone(),
        tables.into(),
    )
}

fn strip(tables: &mut OriginTables, pass: usize) -> &mut Option<Strip> {
    match &mut tables.passes[pass] {
        PassOrigin::Runs(runs) => &mut runs[0].strip,
        PassOrigin::Store { .. } => panic!("no lifetime is split"),
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
        strip(tables, 0).as_mut().unwrap().of = 5;
    });
    // A strip elsewhere: as large, and the last rows are computed by none.
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

/// Two passes, each in a batch; the first may signal an external semaphore, and the second may be in a submit of its own.
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
        let groups = frame.pass_ids().map(|pass| Group {
            passes: vec![pass],
            way: Way::Once,
        });
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
        // Not of a frame that signals in between.
        let other = two_batches(true, apart);
        let wrong = Executed::new(fused.frame().clone(), other, fused.origins().clone());
        assert_eq!(wrong.check().unwrap_err().rule, OriginRule::Batches);
    }
    // Batches stay in their submits.
    let [one, two] = [false, true].map(|apart| two_batches(false, apart));
    let tables = Executed::as_described(&one).origins().to_tables(&one);
    let wrong = Executed::new(one, two, tables.into());
    assert_eq!(wrong.check().unwrap_err().rule, OriginRule::Batches);
}
