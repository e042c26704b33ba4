//! CPU cost of a texture cache: a hit and a miss with 10,000 resident textures, for every policy, in nanoseconds.
//!
//! - hits: a still frame of 10,000 textures of 1,368 bytes;
//! - misses: frames of 1,000 of 30,000 such textures, in an order that is redrawn for every pass, so that no policy can hold the
//!   next ones and every request that misses has to make room;
//! - misses by popularity: frames of 1,000 of 40,000 textures of 5 to 87,381 bytes, as in `Scenario::Zipf`, of which 10,000
//!   fit.
//!
//! Each request is timed individually, less the time of reading the clock: their mean, the 99.9th percentile, and the slowest
//! one, as medians of rounds. A table that grows in the middle of a frame would show up there.
//!
//! `cargo bench -p tileheap-textures --bench cache [-- NAME]`

use std::hint::black_box;
use std::time::Instant;
use tileheap_baselines::textures::ALL;
use tileheap_textures::units::{Bytes, SplitMix64};
use tileheap_textures::{
    Geometry, Journal, Level, Policy, PolicyDesc, Request, RequestOutcome, TextureId, TextureTable,
};

const RESIDENT: u32 = 10_000;
/// Number of requests in a frame of misses.
const FRAME: usize = 1000;

/// `count` requests, each for a different texture.
fn requests(count: u32, mut level: impl FnMut() -> u8) -> Vec<Request> {
    let mut textures = TextureTable::new(Geometry::wulfram());
    let request = |id| {
        let texture = TextureId(id);
        textures.create(texture, Default::default()).expect("in order");
        textures.request(texture, Level(level())).expect("a level")
    };
    (0..count).map(request).collect()
}

/// A policy after some frames of requests for the first [`RESIDENT`] textures, with a budget that holds them.
fn full(kind: PolicyDesc<'static>, requests: &[Request], frames: u32) -> Box<dyn Policy> {
    let held = &requests[..RESIDENT as usize];
    let blocks = held.iter().map(|request| request.size.0.next_multiple_of(8));
    // Arenas get a little more, since other classes keep some blocks.
    let budget = Bytes(blocks.sum::<u64>() * 21 / 20 + 1_000_000);
    let mut policy = kind
        .create(&Geometry::wulfram(), budget, 1)
        .expect("a large budget");
    for _ in 0..frames {
        measure(&mut *policy, &[held.to_vec()], true, 0);
    }
    policy
}

/// The nanoseconds that reading the clock twice takes.
fn clock() -> u128 {
    let read = |_| Instant::now().elapsed().as_nanos();
    (0..10_000).map(read).min().expect("read")
}

/// Nanoseconds of requests that hit or miss: the mean, the 99.9th percentile, and the slowest.
fn measure(policy: &mut dyn Policy, rounds: &[Vec<Request>], hits: bool, clock: u128) -> [u128; 3] {
    let (mut journal, mut figures) = (Journal::new(), [const { Vec::new() }; 3]);
    for requests in rounds {
        let mut spent = Vec::with_capacity(requests.len());
        for requests in requests.chunks(if hits { requests.len() } else { FRAME }) {
            journal.clear();
            for &request in requests {
                let start = Instant::now();
                let outcome = black_box(policy.request(request, &mut journal));
                let time = start.elapsed().as_nanos().saturating_sub(clock);
                if matches!(outcome, RequestOutcome::Hit { .. }) == hits {
                    spent.push(time);
                }
            }
            policy.end_frame(&mut journal);
        }
        spent.sort_unstable();
        let mean = spent.iter().sum::<u128>() / (spent.len() as u128).max(1);
        let late = spent.get(spent.len() * 999 / 1000).copied().unwrap_or_default();
        let all = [mean, late, spent.last().copied().unwrap_or_default()];
        for (figures, figure) in figures.iter_mut().zip(all) {
            figures.push(figure);
        }
    }
    figures.iter_mut().for_each(|figures| figures.sort_unstable());
    let middle = figures[0].len() / 2;
    figures.map(|figures| figures[middle])
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo passes `--bench` when it measures, but not when it tests.
    let measures = arguments.iter().any(|argument| argument == "--bench");
    let name = arguments.iter().find(|argument| !argument.starts_with('-'));
    let (warm, rounds) = if measures { (200, 15) } else { (2, 1) };
    let (clock, mut random) = (clock(), SplitMix64::new(9));
    let all = requests(3 * RESIDENT, || 5);
    let still = vec![all[..RESIDENT as usize].to_vec(); rounds];
    let walk = |_| {
        let mut walk = all.clone();
        (1..walk.len()).for_each(|at| walk.swap(at, random.below(at as u64 + 1) as usize));
        walk
    };
    let walks: Vec<Vec<Request>> = (0..rounds).map(walk).collect();
    let level = || random.pick(&[8, 7, 7, 7, 7, 6, 6, 5, 5, 4, 4, 3, 2]);
    let sizes = requests(4 * RESIDENT, level);
    // Popularity halves with each power of two, and drifts.
    let mut popular = |frame: u64| {
        let low = 1 << random.below(u64::from((4 * RESIDENT).ilog2()));
        let at = low - 1 + random.below(low) + 10 * frame;
        sizes[at as usize % sizes.len()]
    };
    let mut drawn = vec![Vec::new(); rounds];
    for (requests, frame) in drawn.iter_mut().zip(0..) {
        (0..30 * FRAME as u64).for_each(|at| requests.push(popular(30 * frame + at / FRAME as u64)));
    }
    let workloads = [
        (&all, &still, true),
        (&all, &walks, false),
        (&sizes, &drawn, false),
    ];
    println!(
        "ns at {RESIDENT} resident   hit  p99.9 slowest    miss  p99.9 slowest   popular  p99.9 slowest"
    );
    for kind in ALL {
        if name.is_some_and(|name| name != kind.name) {
            continue;
        }
        print!("{:<20}", kind.name);
        for (textures, rounds, hits) in workloads {
            let mut policy = full(kind, textures, warm);
            measure(&mut *policy, &rounds[..1], hits, clock);
            let figures = measure(&mut *policy, rounds, hits, clock);
            print!(" {:>9} {:>6} {:>8}", figures[0], figures[1], figures[2]);
        }
        println!();
    }
}
