//! How long packing takes: the transients of synthetic frames with every strategy, and greedy by size on large problems.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tileheap::frame::Persistence;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::units::SplitMix64;
use tileheap::units::{Alignment, Bytes, Span};
use tileheap_pack::{Item, Packer, Packing, PackingStrategy, Problem, Strategy};

/// The transients of a synthetic frame, with sizes drawn as images of a few scales have them.
fn frame_items(passes: u32, resources: u32) -> Vec<Item> {
    let desc = SyntheticDesc {
        passes,
        resources,
        batches: passes / 15,
        ..SyntheticDesc::default()
    };
    let frame = synthetic(7, desc);
    let mut random = SplitMix64::new(7);
    let page = Alignment::new(4096).expect("4096 is not 0");
    let transient = frame
        .resource_ids()
        .filter(|&id| frame.resource(id).persistence == Persistence::Transient);
    let size = |random: &mut SplitMix64| Bytes((1 << random.below(5)) * 518_400).align_up(page);
    transient
        .map(|id| Item::new(frame.lifetime_of(id), size(&mut random), page))
        .collect()
}

fn frames(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("frame");
    for (passes, resources) in [(30, 40), (256, 400), (1024, 2048)] {
        let items = frame_items(passes, resources);
        let problem = Problem::new(items.clone()).expect("frames are sound");
        let mut packer = Packer::default();
        let mut packing = Packing::default();
        for strategy in Strategy::ALL {
            let id = BenchmarkId::new(strategy.name(), resources);
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    strategy.pack_into(black_box(&problem), &mut packer, &mut packing);
                    packing.height
                })
            });
        }
        group.bench_function(BenchmarkId::new("lower-bound", resources), |bencher| {
            bencher.iter(|| packer.lower_bound(black_box(&problem)))
        });
        group.bench_function(
            BenchmarkId::new("build, first fit, bound", resources),
            |bencher| {
                bencher.iter(|| {
                    let problem = Problem::new(black_box(items.clone())).expect("frames are sound");
                    Strategy::FirstFitByBirth.pack_into(&problem, &mut packer, &mut packing);
                    (packing.height, packer.lower_bound(&problem))
                })
            },
        );
    }
}

fn large(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("large");
    group.sample_size(10);
    let mut random = SplitMix64::new(11);
    let items = (0..30_000).map(|_| {
        let first = random.below(50_000) as u32;
        let end = first + 1 + random.below(4_600) as u32;
        let size = Bytes((1 + random.below(64)) * 4096);
        Item::new(Span::new(first, end), size, Alignment::ONE)
    });
    let problem = Problem::new(items.collect()).expect("items alone are sound");
    let mut packer = Packer::default();
    for strategy in [
        Strategy::FirstFitByBirth,
        Strategy::GreedyBySize,
        Strategy::GreedyByBreadth,
    ] {
        group.bench_function(strategy.name(), |bencher| {
            bencher.iter(|| packer.pack(black_box(&problem), strategy).height)
        });
    }
}

criterion_group!(benches, frames, large);
criterion_main!(benches);
