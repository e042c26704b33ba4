//! How long it takes from a description to tables: synthetic frames on the one device whose tile heap is known.
//!
//! `describe` declares and validates a frame, `estimate` gives its requirements. `fast`, `greedy` and `optimal` (the default: a fixed
//! number of steps) are whole plans: placements, offsets, bindings, reasons. `lower` gives the tables of a first frame, `lower-next` those of
//! one that finds what the last one left. `same-frame-again` is what a renderer pays for handing in a frame that has not changed;
//! `equal-frame-again` for describing it anew.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::frame::tables::Version;
use tileheap::frame::{Frame, FrameBuilder};
use tileheap::lower::{DeviceQueues, Situation, lower};
use tileheap::measure::{Requirements, estimate};
use tileheap::plan::{PlanOptions, Planner, Strategy, plan};
use tileheap::profile::DeviceProfile;

/// Passes and resources of the frames: those of published measurements.
const SIZES: [(u32, u32); 3] = [(30, 40), (256, 400), (1024, 2048)];

fn frame_of(passes: u32, resources: u32) -> Frame {
    let desc = SyntheticDesc {
        passes,
        resources,
        batches: passes / 15,
        ..SyntheticDesc::default()
    };
    synthetic(7, desc)
}

/// Declares the frame again, by the calls that a renderer makes.
fn describe(frame: &Frame) -> Frame {
    let mut builder = FrameBuilder::new(frame.name(), frame.base_extent());
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
                        if one.version == Version::Previous {
                            declared = declared.previous();
                        }
                    }
                }
            }
        }
    }
    builder.build().expect("as it was")
}

fn plans(criterion: &mut Criterion) {
    let profile = Arc::new(DeviceProfile::preset("adreno-830").expect("the preset is there"));
    let mut group = criterion.benchmark_group("plan");
    for (passes, resources) in SIZES {
        let frame = frame_of(passes, resources);
        let needs: Arc<Requirements> = Arc::new(estimate(&frame, &profile).expect("the frame is no giant"));
        let size = format!("{passes}x{resources}");
        group.bench_function(BenchmarkId::new("describe", &size), |bencher| {
            bencher.iter(|| describe(black_box(&frame)))
        });
        group.bench_function(BenchmarkId::new("estimate", &size), |bencher| {
            bencher.iter(|| estimate(black_box(&frame), &profile).expect("the frame is no giant"))
        });
        for strategy in [Strategy::Fast, Strategy::Greedy, Strategy::Optimal] {
            let options = PlanOptions {
                strategy,
                ..PlanOptions::default()
            };
            group.bench_function(BenchmarkId::new(strategy.name(), &size), |bencher| {
                bencher.iter(|| {
                    plan(black_box(&frame), &needs, &profile, &options).expect("the frame fits into memory")
                })
            });
        }
        let options = PlanOptions::default();
        let planned = plan(&frame, &needs, &profile, &options).expect("as before");
        let first = Situation::first(DeviceQueues::one(&frame));
        let next = first.after(&lower(&planned, &first).expect("one queue runs it"));
        for (name, situation) in [("lower", &first), ("lower-next", &next)] {
            group.bench_function(BenchmarkId::new(name, &size), |bencher| {
                bencher.iter(|| lower(black_box(&planned), situation).expect("as before"))
            });
        }
        let mut planner = Planner::new();
        group.bench_function(BenchmarkId::new("same-frame-again", &size), |bencher| {
            bencher.iter(|| {
                planner
                    .plan(black_box(&frame), &needs, &profile, &options)
                    .expect("as before")
            })
        });
        let equal = frame_of(passes, resources);
        let equal_needs = Arc::new((*needs).clone());
        group.bench_function(BenchmarkId::new("equal-frame-again", &size), |bencher| {
            let mut planner = Planner::new();
            planner
                .plan(&frame, &needs, &profile, &options)
                .expect("as before");
            bencher.iter(|| {
                planner
                    .plan(black_box(&equal), &equal_needs, &profile, &options)
                    .expect("as before")
            })
        });
    }
}

criterion_group!(benches, plans);
criterion_main!(benches);
