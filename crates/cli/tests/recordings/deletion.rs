//! Deletes needed dependencies from recordings, one at a time.

use tileheap_units::SplitMix64;

use crate::bench::{Bench, number};
use crate::compare::lacks_order;
use crate::generate::correct_recording;
use crate::mutate::{delete, sites};
use crate::recording::Recording;
use crate::resources::Form;
use crate::shrink::written;
use crate::verdicts::Verdicts;

/// Number of deletions per recording.
const DELETIONS: usize = 3;

/// Minimum share of needed dependencies that are reported when deleted, in percent.
const MIN_REPORTED: u64 = 95;

/// The verdicts, without messages of core validation.
fn judged(bench: &mut Bench, recording: &Recording, form: Form) -> Verdicts {
    let verdicts = bench.judge(recording, form);
    assert!(
        verdicts.unexpected.is_empty(),
        "{:?}\n{}",
        verdicts.unexpected,
        written(recording)
    );
    verdicts
}

/// Returns `true` if validation reports a recording, and the specification leaves accesses of it without order.
fn needs_more(bench: &mut Bench, recording: &Recording) -> bool {
    let executed = bench.execute(recording, Form::Merged);
    lacks_order(recording, &executed.rows, &Verdicts::new(&executed))
}

/// Deletes dependencies from correct recordings for which the layer reports nothing; counts the needed ones, and those reported as missing.
fn delete_dependencies(aliased: bool) {
    let Some(mut bench) = Bench::new() else { return };
    let form = if aliased { Form::Aliased } else { Form::Merged };
    let (first, count) = (number("TILEHEAP_SEED", 1), number("TILEHEAP_RECORDINGS", 150));
    let (mut needed, mut certain, mut possible, mut missed) = (0, 0, 0, Vec::new());
    for seed in first..first + count {
        let recording = correct_recording(seed, aliased);
        let verdicts = judged(&mut bench, &recording, form);
        let is_silent = verdicts.certain.is_empty() && verdicts.possible.is_empty();
        assert!(is_silent, "seed {seed}: {verdicts:?}\n{}", written(&recording));
        let sites = sites(&recording);
        let mut random = SplitMix64::new(!seed);
        for _ in 0..DELETIONS.min(sites.len()) {
            let site = random.pick(&sites);
            let mut without = recording.clone();
            if !delete(&mut without, site) || !needs_more(&mut bench, &without) {
                continue;
            }
            let verdicts = judged(&mut bench, &without, form);
            needed += 1;
            match (verdicts.certain.is_empty(), verdicts.possible.is_empty()) {
                (false, _) => certain += 1,
                (true, false) => possible += 1,
                (true, true) => missed.push(format!("seed {seed}: {site:?}")),
            }
        }
    }
    println!(
        "of {needed} needed dependencies, {certain} are reported as certain and {possible} as possible; not reported: {missed:?}"
    );
    assert!(needed > count / 2, "{needed} of {count}");
    assert!((certain + possible) * 100 >= needed * MIN_REPORTED, "{missed:#?}");
}

#[test]
fn deleted_dependencies_are_reported() {
    delete_dependencies(false);
}

/// Synchronization validation checks the same recording with one buffer in place of several.
#[test]
fn deleted_dependencies_between_aliases_are_reported() {
    delete_dependencies(true);
}
