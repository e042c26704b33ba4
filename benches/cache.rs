//! What a texture cache costs on the CPU: a hit and a miss at 10,000 resident textures, for every policy; and the slowest one in
//! a thousand, printed before the rest.
//!
//! Hits are a still frame of 10,000 textures of 1,368 bytes. Misses are a walk of three frames' worth through 30,000 of them,
//! so that every request has to make room; a miss includes its share of the frames' ends.

use std::hint::black_box;
use std::time::Instant;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tileheap::cache::{Geometry, Journal, Level, Policy, PolicyKind, Request, TextureId, Textures};
use tileheap::units::Bytes;

const RESIDENT: u32 = 10_000;

/// Requests of level 5, of as many textures as wanted.
fn requests(count: u32) -> Vec<Request> {
    let mut textures = Textures::new(Geometry::wulfram());
    let request = |id| {
        let texture = TextureId(id);
        textures.create(texture, Default::default()).expect("in order");
        textures.request(texture, Level(5)).expect("a level")
    };
    (0..count).map(request).collect()
}

/// A policy that is full, after some frames.
fn full(kind: PolicyKind, requests: &[Request]) -> Box<dyn Policy> {
    // For arenas some more, since other classes keep some blocks.
    let budget = Bytes(u64::from(RESIDENT) * 1368 * 21 / 20 + 1_000_000);
    let mut policy = kind
        .build(&Geometry::wulfram(), budget, 1)
        .expect("a large budget");
    let mut journal = Journal::new();
    for _ in 0..200 {
        frame(&mut *policy, &requests[..RESIDENT as usize], &mut journal);
    }
    policy
}

fn frame(policy: &mut dyn Policy, requests: &[Request], journal: &mut Journal) {
    journal.clear();
    policy.begin_frame(journal);
    for &request in requests {
        black_box(policy.request(request, journal));
    }
    policy.end_frame(journal);
}

/// The 99.9th percentile of single requests, and the slowest, in nanoseconds, clock included.
fn tail(policy: &mut dyn Policy, frames: &[&[Request]]) -> (u128, u128) {
    let mut journal = Journal::new();
    let mut spent = Vec::new();
    for requests in frames {
        journal.clear();
        policy.begin_frame(&mut journal);
        for &request in *requests {
            let start = Instant::now();
            black_box(policy.request(request, &mut journal));
            spent.push(start.elapsed().as_nanos());
        }
        policy.end_frame(&mut journal);
    }
    spent.sort_unstable();
    (spent[spent.len() * 999 / 1000], spent[spent.len() - 1])
}

fn cache(criterion: &mut Criterion) {
    let all = requests(3 * RESIDENT);
    let frames: Vec<&[Request]> = all.chunks(RESIDENT as usize / 10).collect();
    for kind in PolicyKind::ALL {
        let mut policy = full(kind, &all);
        let hits = tail(&mut *policy, &[&all[..RESIDENT as usize]]);
        let misses = tail(&mut *policy, &frames[10..]);
        println!(
            "{:<18} p99.9 and slowest in ns: hit {hits:?}, miss {misses:?}",
            kind.name()
        );
    }
    let mut group = criterion.benchmark_group("frame");
    group.sample_size(20);
    for kind in PolicyKind::ALL {
        let mut policy = full(kind, &all);
        let mut journal = Journal::new();
        group.throughput(criterion::Throughput::Elements(u64::from(RESIDENT)));
        group.bench_function(BenchmarkId::new("hits", kind.name()), |bencher| {
            bencher.iter(|| frame(&mut *policy, &all[..RESIDENT as usize], &mut journal));
        });
        let mut next = frames.iter().cycle().skip(10);
        group.throughput(criterion::Throughput::Elements(u64::from(RESIDENT / 10)));
        group.bench_function(BenchmarkId::new("misses", kind.name()), |bencher| {
            bencher.iter(|| frame(&mut *policy, next.next().expect("a cycle"), &mut journal));
        });
    }
}

criterion_group!(benches, cache);
criterion_main!(benches);
