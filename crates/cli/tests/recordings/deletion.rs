//! Recordings of which one dependency that they need is deleted.

use tileheap_units::SplitMix64;

use crate::bench::{Bench, number};
use crate::generate::careful;
use crate::mutate::{delete, sites};
use crate::recording::Recording;
use crate::resources::Form;
use crate::shrink::written;

/// Deletions of one recording.
const DELETIONS: usize = 3;

/// The share of deletions that is reported, in percent.
const LEAST: u64 = 95;

fn is_silent(bench: &mut Bench, recording: &Recording, form: Form) -> bool {
    let verdicts = bench.judge(recording, form);
    assert!(
        verdicts.unexpected.is_empty(),
        "{:?}\n{}",
        verdicts.unexpected,
        written(recording)
    );
    let of_layer = verdicts.certain.is_empty() && verdicts.possible.is_empty();
    of_layer && (form == Form::Aliased || verdicts.validation.is_empty())
}

/// Deletes dependencies of recordings that are silent with all of them, and counts those that validation needs, on recordings without
/// aliased buffers, and of which the layer reports the lack, with or without aliased buffers.
fn deleted(aliased: bool, count: u64) {
    let Some(mut bench) = Bench::new() else { return };
    let form = if aliased { Form::Aliased } else { Form::Merged };
    let (mut needed, mut certain, mut possible, mut missed) = (0, 0, 0, Vec::new());
    for seed in number("TILEHEAP_SEED", 1)..number("TILEHEAP_SEED", 1) + count {
        let recording = careful(seed, aliased);
        assert!(
            is_silent(&mut bench, &recording, form),
            "seed {seed}\n{}",
            written(&recording)
        );
        let sites = sites(&recording);
        let mut random = SplitMix64::new(seed ^ 0xDE1E7E);
        for _ in 0..DELETIONS.min(sites.len()) {
            let mut without = recording.clone();
            let site = random.pick(&sites);
            if !delete(&mut without, site) || bench.judge(&without, Form::Merged).validation.is_empty() {
                continue;
            }
            let verdicts = bench.judge(&without, form);
            needed += 1;
            certain += u64::from(!verdicts.certain.is_empty());
            possible += u64::from(verdicts.certain.is_empty() && !verdicts.possible.is_empty());
            if verdicts.certain.is_empty() && verdicts.possible.is_empty() {
                missed.push(format!("seed {seed}: {site:?}"));
            }
        }
    }
    println!(
        "{needed} deletions that validation reports: {certain} certain, {possible} possible, missed {missed:#?}"
    );
    assert!(needed > count / 2, "{needed} of {count}");
    assert!((certain + possible) * 100 >= needed * LEAST, "missed {missed:#?}");
}

#[test]
fn deleted_dependencies_are_reported() {
    deleted(false, number("TILEHEAP_RECORDINGS", 150));
}

/// Synchronization validation reports them on the same recording with one buffer in place of several.
#[test]
fn deleted_dependencies_between_aliases_are_reported() {
    deleted(true, number("TILEHEAP_RECORDINGS", 150));
}
