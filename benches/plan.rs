//! How long planning takes: synthetic frames on the one device whose tile heap is known, requirements at hand.
//!
//! `fast`, `greedy` and `optimal` (with its usual budget) are whole plans: homes, offsets, bindings, barriers, operations,
//! reasons. `same-frame-again` is what a renderer pays for handing in a frame that has not changed; `equal-frame-again` for describing it anew.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tileheap::frame::Frame;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
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

fn plans(criterion: &mut Criterion) {
    let profile = Arc::new(DeviceProfile::preset("adreno-830").expect("the preset is there"));
    let mut group = criterion.benchmark_group("plan");
    for (passes, resources) in SIZES {
        let frame = frame_of(passes, resources);
        let needs: Arc<Requirements> = Arc::new(estimate(&frame, &profile).expect("the frame is no giant"));
        let size = format!("{passes}x{resources}");
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
