//! The aliasing layer and synchronization validation, on the same recordings.

use std::collections::BTreeMap;

use tileheap_units::SplitMix64;

use crate::bench::{Bench, number};
use crate::compare::{Disagreement, Kind, disagreements};
use crate::execute::Executed;
use crate::generate::correct_recording;
use crate::mutate::mutate;
use crate::recording::Recording;
use crate::resources::Form;
use crate::shrink::{shrink, written};
use crate::verdicts::Verdicts;

/// Maximum number of mistakes in a recording.
const MAX_MISTAKES: u64 = 4;

/// Maximum number of recordings to try when a failing one is reduced.
const MAX_TRIES: u32 = 300;

/// A recording with some mistakes, or none.
fn with_mistakes(seed: u64) -> Recording {
    let mut recording = correct_recording(seed, false);
    let mut random = SplitMix64::new(!seed);
    for _ in 0..random.below(MAX_MISTAKES + 1) {
        mutate(&mut recording, &mut random);
    }
    recording
}

/// The unexpected messages, and the disagreements in which the aliasing layer is wrong.
fn faults(recording: &Recording, executed: &Executed) -> Vec<String> {
    let verdicts = Verdicts::new(executed);
    if !verdicts.unexpected.is_empty() {
        return verdicts
            .unexpected
            .iter()
            .map(|(id, _)| format!("unexpected {id}"))
            .collect();
    }
    let all = disagreements(recording, &executed.rows, &verdicts).into_iter();
    let wrong = all.filter(|one| !one.kind.is_justified());
    wrong.map(|one| format!("{:?}", one.kind)).collect()
}

/// The reduced recording, with the messages of both layers.
fn described(bench: &mut Bench, seed: u64, recording: Recording, fault: &str) -> String {
    let mut tries = 0;
    let small = shrink(recording, |one| {
        tries += 1;
        tries <= MAX_TRIES
            && faults(one, &bench.execute(one, Form::Merged))
                .iter()
                .any(|other| other == fault)
    });
    let executed = bench.execute(&small, Form::Merged);
    let messages = executed
        .messages
        .iter()
        .map(|(id, text)| format!("{id}\n{text}\n"));
    let messages: String = messages.collect();
    format!("seed {seed}: {fault}\n{}{messages}", written(&small))
}

/// `TILEHEAP_RECORDINGS` is the number of recordings, `TILEHEAP_SEED` the first seed.
#[test]
fn the_specification_supports_the_layer_in_every_disagreement() {
    let Some(mut bench) = Bench::new() else { return };
    let (first, count) = (number("TILEHEAP_SEED", 1), number("TILEHEAP_RECORDINGS", 400));
    let (mut kinds, mut silent, mut failures) = (BTreeMap::<Kind, (u32, u64)>::new(), 0, Vec::new());
    for seed in first..first + count {
        let recording = with_mistakes(seed);
        let executed = bench.execute(&recording, Form::Merged);
        let verdicts = Verdicts::new(&executed);
        silent += u64::from(verdicts == Verdicts::default());
        for Disagreement { kind, .. } in disagreements(&recording, &executed.rows, &verdicts) {
            let (times, _) = kinds.entry(kind).or_insert((0, seed));
            *times += 1;
        }
        if let Some(fault) = faults(&recording, &executed).first() {
            failures.push(described(&mut bench, seed, recording, fault));
        }
    }
    println!(
        "{count} recordings, {silent} without a message; disagreements, with the first seed of each kind: {kinds:?}"
    );
    assert!(
        (count / 10..count).contains(&silent),
        "{silent} of {count} are silent"
    );
    assert!(
        failures.is_empty(),
        "{} recordings:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
