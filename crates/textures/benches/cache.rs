//! What a texture cache costs on the CPU: a hit and a miss at 10,000 resident textures, for every policy, in nanoseconds.
//!
//! Hits are a still frame of 10,000 textures of 1,368 bytes. Misses are a walk of three frames' worth through 30,000 of them,
//! so that every request has to make room; a miss includes its share of the frames' ends. The mean is that of the quickest of many
//! frames, which says the same on a machine that has other things to do; the 99.9th percentile is that of single requests, the
//! clock included, as a median of several rounds; so is the slowest one. A table that grows in the middle of a frame would be seen
//! there.
//!
//! `cargo bench -p tileheap-textures --bench cache [-- NAME]`

use std::hint::black_box;
use std::time::Instant;
use tileheap_baselines::textures::ALL;
use tileheap_textures::units::Bytes;
use tileheap_textures::{Geometry, Journal, Level, Policy, PolicyDesc, Request, TextureId, Textures};

const RESIDENT: u32 = 10_000;
/// What is to be stayed below, per request.
const LIMITS: (u128, u128) = (100, 500);

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
fn full(kind: PolicyDesc<'static>, requests: &[Request], frames: u32) -> Box<dyn Policy> {
    // For arenas some more, since other classes keep some blocks.
    let budget = Bytes(u64::from(RESIDENT) * 1368 * 21 / 20 + 1_000_000);
    let policy = kind.create(&Geometry::wulfram(), budget, 1);
    let mut policy = policy.expect("a large budget");
    let mut journal = Journal::new();
    for _ in 0..frames {
        frame(&mut *policy, &requests[..RESIDENT as usize], &mut journal);
    }
    policy
}

fn frame(policy: &mut dyn Policy, requests: &[Request], journal: &mut Journal) {
    journal.clear();
    for &request in requests {
        black_box(policy.request(request, journal));
    }
    policy.end_frame(journal);
}

/// Nanoseconds of a request in the quickest of the frames; of single requests the 99.9th percentile, and the slowest: medians of rounds.
fn measure(policy: &mut dyn Policy, frames: &[&[Request]], rounds: u32) -> [u128; 3] {
    let (mut journal, mut least) = (Journal::new(), u128::MAX);
    for requests in (0..rounds).flat_map(|_| frames) {
        let start = Instant::now();
        frame(policy, requests, &mut journal);
        least = least.min(start.elapsed().as_nanos() / requests.len() as u128);
    }
    let [mut late, mut slowest] = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        let mut spent = Vec::new();
        for requests in frames {
            journal.clear();
            for &request in *requests {
                let start = Instant::now();
                black_box(policy.request(request, &mut journal));
                spent.push(start.elapsed().as_nanos());
            }
            policy.end_frame(&mut journal);
        }
        spent.sort_unstable();
        late.push(spent[spent.len() * 999 / 1000]);
        slowest.push(spent[spent.len() - 1]);
    }
    late.sort_unstable();
    slowest.sort_unstable();
    [least, late[late.len() / 2], slowest[slowest.len() / 2]]
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo says so when it measures and not when it tests.
    let measures = arguments.iter().any(|argument| argument == "--bench");
    let name = arguments.iter().find(|argument| !argument.starts_with('-'));
    let (warm, rounds) = if measures { (200, 15) } else { (2, 1) };
    let all = requests(3 * RESIDENT);
    let still = &all[..RESIDENT as usize];
    let frames: Vec<&[Request]> = all.chunks(RESIDENT as usize / 10).collect();
    println!("ns at {RESIDENT} resident     hit   p99.9  slowest    miss   p99.9  slowest");
    for kind in ALL {
        if name.is_some_and(|name| name != kind.name) {
            continue;
        }
        let mut policy = full(kind, &all, warm);
        let hits = measure(&mut *policy, &[still], rounds);
        // What was still there from the frames of hits is gone after one walk.
        measure(&mut *policy, &frames, 1);
        let misses = measure(&mut *policy, &frames, rounds);
        let is_over = hits[0] > LIMITS.0 || misses[0] > LIMITS.1;
        let over = if is_over { "  over" } else { "" };
        print!("{:<20} {:>9} {:>7} {:>8}", kind.name, hits[0], hits[1], hits[2]);
        println!(" {:>7} {:>7} {:>8}{over}", misses[0], misses[1], misses[2]);
    }
}
