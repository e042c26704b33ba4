//! Compares the model with the oracle on random programs.

use std::collections::BTreeMap;
use std::sync::Arc;

use tileheap_sync::program::*;
use tileheap_sync::{Action, Certainty, Hazard, MemoryUse, MissingDependency, Model};

use crate::generator::{describe, program, shrink};
use crate::oracle;

/// Hazards as a multiset: counts by pair of uses, missing dependency, verdict and bytes.
type HazardCounts = BTreeMap<(String, MissingDependency, Certainty, (u64, u64)), u32>;

fn counts(hazards: &[Hazard]) -> HazardCounts {
    let mut counts = HazardCounts::new();
    for hazard in hazards {
        let [before, after] = [&hazard.before, &hazard.after].map(|used| format!("{used:?}"));
        let pair = format!("{before} {after}");
        let key = (pair, hazard.missing, hazard.verdict, hazard.bytes);
        *counts.entry(key).or_default() += 1;
    }
    counts
}

fn results_differ(program: &Program) -> bool {
    counts(&Model::check(program).hazards) != counts(&oracle::hazards(program))
}

/// Describes their difference, on the smallest program that still has one.
fn difference(program: Program) -> String {
    let small = shrink(program, results_differ);
    let (model, oracle) = (Model::check(&small).hazards, oracle::hazards(&small));
    let short = |used: &MemoryUse| match used.action {
        Action::Access(stage, access) => format!("{}.{} {stage:?} {access:?}", used.batch, used.tag.0),
        other => format!("{}.{} {other:?}", used.batch, used.tag.0),
    };
    let list = |hazards: &[Hazard]| {
        let line = |one: &Hazard| {
            format!(
                "  {} -> {}: {:?} {:?} {:?}\n",
                short(&one.before),
                short(&one.after),
                one.missing,
                one.verdict,
                one.bytes
            )
        };
        hazards.iter().map(line).collect::<String>()
    };
    format!(
        "{}\nmodel:\n{}oracle:\n{}",
        describe(&small),
        list(&model),
        list(&oracle)
    )
}

fn compare(seeds: std::ops::Range<u64>) -> u64 {
    let mut without = 0;
    for seed in seeds {
        let program = program(seed);
        let model = Model::check(&program).hazards;
        let oracle = oracle::hazards(&program);
        if counts(&model) != counts(&oracle) {
            panic!("seed {seed}: {}", difference(program));
        }
        without += u64::from(model.is_empty());
    }
    without
}

/// `TILEHEAP_PROGRAMS` sets the number of programs.
#[test]
fn the_model_and_the_oracle_agree_about_random_programs() {
    let programs =
        std::env::var("TILEHEAP_PROGRAMS").map_or(15_000, |count| count.parse().expect("a number"));
    let without = compare(0..programs);
    println!("{without} of {programs} programs have no hazard");
    assert!(
        (programs / 10..programs * 9 / 10).contains(&without),
        "{without} of {programs}"
    );
}

/// Finds a command of a batch, if it is recorded directly in it outside of render pass instances: the command buffer and its index.
fn place(batch: &Batch, tag: Tag) -> Option<(usize, usize)> {
    let mut is_inside = false;
    for (buffer, commands) in batch.command_buffers.iter().enumerate() {
        for (index, (known, command)) in commands.commands.iter().enumerate() {
            match command {
                Command::BeginRendering { .. } => is_inside = true,
                Command::EndRendering => is_inside = false,
                _ if *known == tag => return (!is_inside).then_some((buffer, index)),
                _ => {}
            }
        }
    }
    None
}

/// The program with a memory barrier before a command, in a batch that is submitted once.
fn with_barrier(program: &Program, number: u64, tag: Tag, scopes: DependencyScopes) -> Option<Program> {
    let mut program = program.clone();
    let batches = program.steps.iter_mut().filter_map(|step| match step {
        HostStep::Submit(batch) if batch.number == number => Some(batch),
        _ => None,
    });
    let batch = batches.last()?;
    let (buffer, index) = place(batch, tag)?;
    let barrier = Command::Barrier(vec![Dependency {
        scopes,
        memory: DependencyMemory::All,
        change: BarrierChange::None,
    }]);
    let mut commands = CommandBuffer::clone(&batch.command_buffers[buffer]);
    commands.commands.insert(index, (Tag(u64::MAX), barrier));
    batch.command_buffers[buffer] = Arc::new(commands);
    Some(program)
}

#[test]
fn the_suggested_barrier_removes_the_hazard() {
    let mut ordered = 0;
    for seed in 0..3_000 {
        let program = program(seed);
        for hazard in Model::check(&program).hazards {
            let is_one_batch = hazard.before.batch == hazard.after.batch;
            let is_transfer = [hazard.before, hazard.after]
                .iter()
                .any(|used| matches!(used.action, Action::Release | Action::Acquire));
            if !is_one_batch || is_transfer {
                continue;
            }
            let (batch, tag) = (hazard.after.batch, hazard.after.tag);
            let Some(ordered_program) = with_barrier(&program, batch, tag, hazard.remedy()) else {
                continue;
            };
            let is_same = |other: &Hazard| (other.before, other.after) == (hazard.before, hazard.after);
            let left = Model::check(&ordered_program).hazards;
            assert!(!left.iter().any(is_same), "seed {seed}: {hazard:?}");
            ordered += 1;
        }
    }
    assert!(ordered > 1_000, "{ordered}");
}
