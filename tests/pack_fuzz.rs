//! Random bytes as packing problems, for a second, or as long as `TILEHEAP_FUZZ_SECONDS` says.
//!
//! The same problems and the same judgement as in `fuzz/`, without coverage: what runs where there is no nightly toolchain. A
//! failure prints the bytes.

#[path = "support/pack_bytes.rs"]
mod pack_bytes;

use std::time::{Duration, Instant};

use tileheap::frame::SplitMix64;

#[test]
fn answers_to_any_problem_are_right() {
    let seconds =
        std::env::var("TILEHEAP_FUZZ_SECONDS").map_or(1, |text| text.parse().expect("a number of seconds"));
    let start = Instant::now();
    let mut judged = 0;
    let mut seed = 0;
    while start.elapsed() < Duration::from_secs(seconds) {
        let mut random = SplitMix64::new(seed);
        let length = 4 + random.below(120);
        let bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        if let Some((problem, worths)) = pack_bytes::problem(&bytes) {
            let outcome = std::panic::catch_unwind(|| pack_bytes::judge(&problem, &worths));
            assert!(outcome.is_ok(), "seed {seed}, bytes {bytes:?}");
            judged += 1;
        }
        seed += 1;
    }
    println!("{judged} problems of {seed} in {seconds} s");
    assert!(judged > 0);
}
