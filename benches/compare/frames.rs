//! A frame that changes: the time from a description to a frame that is ready to record, and the allocations made on the way.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use tileheap::frame::tables::HistoryVersion;
use tileheap::frame::{Frame, FrameBuilder};
use tileheap::lower::{DeviceQueues, Lowerer, LoweringDesc};
use tileheap::measure::estimate;
use tileheap::plan::{PlanOptions, Planner, ResidencyStrategy, plan};
use tileheap::profile::DeviceProfile;
use tileheap::runtime::Capabilities;
use tileheap_testkit::counting;
use tileheap_testkit::fake_driver::Config;
use tileheap_testkit::runtime_rig::{Rig, on_fake};

use crate::planning::random;
use crate::rows::{Better, Rows, Side, Table, Unit};

/// Per frame size, the numbers of passes and resources, and the times of the project's first version in microseconds: describing, fast planning,
/// optimal planning, and planning an equal frame.
///
/// Source: measurements of that version on two quiet cores of this kind of machine.
const SIZES: [(u32, u32, [Option<f64>; 4]); 3] = [
    (30, 40, [Some(49.0), Some(21.0), Some(310.0), Some(1.4)]),
    (256, 400, [None, Some(256.0), Some(7400.0), Some(28.0)]),
    (1024, 2048, [None, Some(2600.0), Some(49_000.0), None]),
];

/// Declares a frame again in a builder whose memory is reused, with the calls that a renderer makes.
fn declare(builder: &mut FrameBuilder, frame: &Frame, name: &str) {
    builder.reset(name, frame.base_extent());
    for one in frame.resources() {
        builder.resource(one.name.as_str(), one.kind, one.persistence);
    }
    for queue in frame.queues() {
        builder.queue(queue.name.as_str(), queue.capabilities);
    }
    for semaphore in frame.semaphores() {
        builder.semaphore(semaphore.name.as_str());
    }
    for submit in frame.submits() {
        let id = builder.submit(submit.queue);
        for batch in submit.batches.of(frame.batches()) {
            let id = builder.batch(id);
            for op in &batch.waits {
                builder.wait(id, op.semaphore, op.stages);
            }
            for op in &batch.signals {
                builder.signal(id, op.semaphore, op.stages);
            }
            for commands in batch.command_buffers.of(frame.command_buffers()) {
                let id = builder.command_buffer(id, commands.name.as_str());
                for pass in commands.passes.of(frame.passes()) {
                    let mut declared = builder.pass(id, pass.name.as_str(), pass.kind);
                    for one in pass.accesses.of(frame.accesses()) {
                        declared = declared
                            .access(one.resource, one.kind, one.reads, one.writes, one.load_op)
                            .at(one.stages);
                        if let Some(source) = one.resolves {
                            declared = declared.resolving(source);
                        }
                        if one.version == HistoryVersion::Previous {
                            declared = declared.previous();
                        }
                    }
                }
            }
        }
    }
}

/// Measures how long binding a frame takes if all images, buffers and memory are created, and if all are in the pool.
fn bind(rows: &mut Rows, frame: &Frame, options: &PlanOptions) {
    for (name, keep) in [
        ("everything is created", false),
        ("everything is in the pool", true),
    ] {
        // The fake driver keeps records of all objects it has created, so each row starts with a new driver.
        let rig = Rig::new(Config::modern(), Capabilities::empty());
        let tile = rig.runtime().expect("the fake driver");
        let needs = tile.measure(frame).expect("the fake driver supports all of it");
        let plan = plan(frame, &needs, tile.profile(), options).expect("the frame fits");
        let plan = Arc::new(plan);
        let median = rows.median_microseconds(|| {
            let before = Instant::now();
            let bound = tile.bind(&plan).expect("the fake driver has enough memory");
            let time = before.elapsed();
            match keep {
                true => bound.retire(),
                // Nothing was submitted.
                false => on_fake!(bound.destroy()),
            }
            tile.collect().expect("nothing is in flight");
            time
        });
        let (passes, resources) = (frame.passes().len(), frame.resources().len());
        let case = format!("bind where {name}, {passes} passes, {resources} resources");
        rows.add(&case, "now", Side::Ours, Some(median));
        on_fake!(tile.destroy());
    }
}

/// The number of smaller descriptions that are selected before a larger one.
const BOUND: usize = 256;

/// Measures the time to select a description that needs a larger block of memory than the many descriptions that are already bound.
fn select_larger(rows: &mut Rows, options: &PlanOptions) {
    let [small, large] = [(30, 40), (60, 80)].map(|(passes, resources)| random(passes, resources, 2));
    let median = rows.median_microseconds(|| {
        let rig = Rig::new(Config::modern(), Capabilities::empty());
        let tile = rig.runtime().expect("the fake driver");
        let mut frames = tile.dynamic_frame(*options).expect("the fake driver");
        let mut builder = FrameBuilder::default();
        for name in 0..BOUND {
            declare(&mut builder, &small, &name.to_string());
            frames.select_now(&builder).expect("the frame fits");
        }
        declare(&mut builder, &large, "larger");
        let before = Instant::now();
        frames.select_now(&builder).expect("the frame fits");
        let time = before.elapsed();
        assert_eq!(frames.bound().count(), 1, "the others were in a smaller block");
        drop(frames);
        tile.collect().expect("nothing is in flight");
        on_fake!(tile.destroy());
        time
    });
    let case = format!("a larger description, where {BOUND} of 30 passes are bound");
    rows.add(&case, "now", Side::Ours, Some(median));
}

pub(crate) fn compare(rows: &mut Rows) {
    rows.table(Table {
        name: "frames",
        title: "A frame that changes",
        says: "Time of each step from a description to a frame that can be recorded, synthetic frames on one thread, alongside the project's \
               first version on a quiet machine. Changed and known frames are dynamic frames on a driver that does nothing: a changed one \
               finds all images, buffers and memory in the pool.",
        unit: Unit::Microseconds,
        better: Better::Lower,
    });
    let profile = Arc::new(DeviceProfile::preset("adreno-830").expect("the preset is there"));
    let mut allocations = Vec::new();
    let sizes = if rows.quick { &SIZES[..1] } else { &SIZES };
    for &(passes, resources, [described, fast, optimal, equal]) in sizes {
        let frame = random(passes, resources, passes / 15);
        let needs = Arc::new(estimate(&frame, &profile).expect("sizes of the frame fit in 64 bits"));
        let mut builder = FrameBuilder::default();
        let mut step = |name: &str, first: Option<f64>, run: &mut dyn FnMut()| {
            let case = format!("{name}, {passes} passes, {resources} resources");
            rows.add(&case, "first version", Side::Baseline, first);
            rows.add(&case, "now", Side::Ours, Some(rows.microseconds(&mut *run)));
            let before = counting::allocation_count();
            run();
            allocations.push((case, counting::allocation_count() - before));
        };
        step("describe and validate", described, &mut || {
            declare(&mut builder, &frame, frame.name());
            black_box(builder.to_frame().expect("as it was"));
        });
        for (strategy, first) in [
            (ResidencyStrategy::Fast, fast),
            (ResidencyStrategy::Optimal, optimal),
        ] {
            let options = PlanOptions {
                strategy,
                ..PlanOptions::default()
            };
            let name = format!("plan, {}", strategy.name());
            step(&name, first, &mut || {
                black_box(plan(&frame, &needs, &profile, &options).expect("the frame fits"));
            });
        }
        let (options, mut planner) = (PlanOptions::default(), Planner::new());
        let planned = planner
            .plan(&frame, &needs, &profile, &options)
            .expect("as before");
        let (again, same) = (random(passes, resources, passes / 15), Arc::new((*needs).clone()));
        step("plan, an equal frame", equal, &mut || {
            black_box(
                planner
                    .plan(&again, &same, &profile, &options)
                    .expect("as before"),
            );
        });
        let (first, mut lowerer) = (
            LoweringDesc::first(DeviceQueues::single_queue(&frame)),
            Lowerer::default(),
        );
        let next = first.after(&lowerer.lower(&planned, &first).expect("one queue runs it"));
        for (name, lowering_desc) in [("lower", &first), ("lower, after another frame", &next)] {
            step(name, None, &mut || {
                let tables = lowerer.lower(&planned, lowering_desc).expect("as before");
                lowerer.recycle(black_box(tables));
            });
        }
        let rig = Rig::new(Config::modern(), Capabilities::empty());
        let tile = rig.runtime().expect("the fake driver");
        let mut frames = tile.dynamic_frame(options).expect("as before");
        let mut names = 0u64;
        step("changed, from description to bound and back", None, &mut || {
            // No plan is known for another name.
            names += 1;
            declare(&mut builder, &frame, &names.to_string());
            black_box(frames.select_now(&builder).expect("as before"));
            frames.forget(&builder);
        });
        step("known, from description to bound", None, &mut || {
            declare(&mut builder, &frame, frame.name());
            black_box(frames.select_now(&builder).expect("as before"));
        });
        drop(frames);
        on_fake!(tile.destroy());
        bind(rows, &frame, &options);
    }
    select_larger(rows, &PlanOptions::default());
    rows.table(Table {
        name: "allocations",
        title: "Heap allocations",
        says: "Heap allocations of each step.",
        unit: Unit::Count,
        better: Better::Lower,
    });
    for (case, count) in allocations {
        rows.add(&case, "now", Side::Ours, Some(count as f64));
    }
}
