use std::collections::BTreeSet;

use ash::vk::AccessFlags2 as A;
use tileheap_sync::program::{Command, HostStep, Program, ResourcePart, Tag};

use super::{Coverage, describe, edit, is_valid, program, shrink};

const SEEDS: u64 = 2_000;

/// The rules that `change` breaks, over some programs; empty if it breaks none.
fn broken(change: impl Fn(&mut Program)) -> BTreeSet<String> {
    let check = |seed| {
        let mut changed = program(seed);
        change(&mut changed);
        is_valid(&changed).err()
    };
    (0..200)
        .filter_map(check)
        .map(|rule| rule.split(':').next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_generator_draws_every_feature() {
    let mut coverage = Coverage::default();
    for seed in 0..SEEDS {
        let drawn = program(seed);
        if let Err(rule) = is_valid(&drawn) {
            panic!("seed {seed}: {rule}\n{}", describe(&drawn));
        }
        assert!(
            (2..=8).contains(&drawn.steps.len()),
            "seed {seed} has {} steps",
            drawn.steps.len()
        );
        coverage.count(&drawn);
    }
    for (name, count) in &coverage.features {
        println!(
            "{:5.1} % {name}",
            100.0 * *count as f64 / coverage.programs as f64
        );
    }
    let rare: Vec<_> = coverage
        .features
        .iter()
        .filter(|(_, count)| **count * 100 < coverage.programs)
        .collect();
    assert!(rare.is_empty(), "{rare:?}");
}

#[test]
fn the_same_seed_draws_the_same_program() {
    assert_eq!(program(7), program(7));
    assert_ne!(program(7), program(8));
}

/// Returns true if a command of a primary command buffer writes in a copy.
fn copies(program: &Program) -> bool {
    let writes = |command: &Command| match command {
        Command::Action(accesses) => accesses.iter().any(|one| one.access == A::TRANSFER_WRITE),
        _ => false,
    };
    program.steps.iter().any(|step| match step {
        HostStep::Submit(batch) => batch
            .command_buffers
            .iter()
            .any(|buffer| buffer.commands.iter().any(|(_, command)| writes(command))),
        _ => false,
    })
}

#[test]
fn shrinking_leaves_one_access() {
    for seed in (0..100).filter(|seed| copies(&program(*seed))) {
        let small = shrink(program(seed), copies);
        assert_eq!(is_valid(&small), Ok(()));
        assert_eq!(small.steps.len(), 1, "{}", describe(&small));
        let lines = describe(&small).lines().filter(|line| line.contains('#')).count();
        assert_eq!(lines, 1, "{}", describe(&small));
    }
}

#[test]
fn broken_programs_are_not_valid() {
    let expect = |rule: &str, broken: BTreeSet<String>| {
        assert!(broken.contains(rule), "{rule} is not among {broken:?}")
    };
    let each = |program: &mut Program, change: &dyn Fn(&mut Command)| {
        edit::commands(program, &mut |all| {
            all.iter_mut().for_each(|(_, command)| change(command))
        });
    };
    assert_eq!(broken(|_| ()), BTreeSet::new());
    let same = broken(|program| {
        edit::commands(program, &mut |all| {
            all.iter_mut().for_each(|(tag, _)| *tag = Tag(1))
        })
    });
    expect("a tag that is used twice", same);
    let outside = broken(|program| {
        each(program, &|command| {
            let Command::Action(accesses) = command else {
                return;
            };
            for access in accesses {
                if let ResourcePart::Bytes(_, end) = &mut access.part {
                    *end += 64;
                }
            }
        });
    });
    expect("a part outside of its resource", outside);
    let without = |gone: fn(&Command) -> bool| {
        broken(move |program| edit::commands(program, &mut |all| all.retain(|(_, command)| !gone(command))))
    };
    expect(
        "an attachment outside of instances",
        without(|command| matches!(command, Command::BeginRendering { .. })),
    );
    expect(
        "an instance that does not end",
        without(|command| matches!(command, Command::EndRendering)),
    );
    expect(
        "a wait for an event that is not set",
        without(|command| matches!(command, Command::SetEvent(..))),
    );
    let lost = broken(|program| {
        for step in &mut program.steps {
            if let HostStep::Submit(batch) = step {
                batch.signals.clear();
            }
        }
    });
    expect("a binary wait without a signal", lost.clone());
    expect("a batch that never runs", lost);
    expect(
        "out of turn",
        broken(|program| program.steps.retain(|step| !matches!(step, HostStep::Submit(_)))),
    );
}
