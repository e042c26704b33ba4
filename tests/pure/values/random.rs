//! Values of random frames, checked by the interpreter; and damaged maps, refused by the checker.

use tileheap::execute::{ExecutedFrame, OriginRule, OriginTables, ResourceValue};
use tileheap::frame::{Persistence, ResourceId};
use tileheap::units::SplitMix64;

use super::contents::interpret;
use super::frames::random_frame;
use super::{separate, values};

/// Every access finds the same contents in both frames, and both leave the same contents.
fn assert_same_contents(executed: &ExecutedFrame, seed: u64) {
    let (frame, described) = (executed.frame(), executed.described());
    let before = |id: ResourceId| 100 + id.index() as u64;
    for round in 0..3 {
        let skips: Vec<bool> = described
            .pass_ids()
            .map(|pass| round > 0 && SplitMix64::new(seed * 64 + round).below(7) > pass.index() as u64 % 7)
            .collect();
        let theirs = interpret(
            described,
            |index| index as u64,
            before,
            |pass| skips[pass.index()],
        );
        let origin = |index| executed.described_access(index).expect("no stores") as u64;
        let ours = interpret(
            frame,
            origin,
            |id| before(executed.origins().resource(id).resource),
            |pass| skips[executed.origins().described_pass(pass).index()],
        );
        for (index, found) in ours.found.iter().enumerate() {
            assert_eq!(
                *found,
                theirs.found[origin(index) as usize],
                "seed {seed}, access {index}"
            );
        }
        for id in described.resource_ids() {
            if described.resource(id).persistence != Persistence::Transient {
                assert_eq!(
                    ours.contents[id.index()],
                    theirs.contents[id.index()],
                    "seed {seed}"
                );
            }
        }
    }
}

#[test]
fn accesses_of_random_frames_find_the_same_contents() {
    let (mut built, mut divided, mut kept) = (0, 0, 0);
    for seed in 0..6000 {
        let Some(frame) = random_frame(seed) else { continue };
        built += 1;
        let executed = separate(&frame);
        assert_same_contents(&executed, seed);
        divided += usize::from(!executed.origins().is_identity());
        kept += frame
            .resource_ids()
            .filter(|&id| {
                frame.resource(id).persistence != Persistence::Transient
                    && !values(&executed, &frame.resource(id).name).is_empty()
            })
            .count();
    }
    assert!(
        built > 1500 && divided > 800 && kept > 100,
        "{built} frames, {divided} divided, {kept} persistent"
    );
}

/// The rewrite composes with splits and merges, before and after.
#[test]
fn values_are_split_and_merged() {
    let (mut splits, mut merges) = (0, 0);
    for seed in 0..3000 {
        let Some(frame) = random_frame(seed) else { continue };
        let mut random = SplitMix64::new(seed);
        let mut executed = separate(&frame);
        for _ in 0..6 {
            let count = executed.frame().passes().len() as u64;
            let pass = executed
                .frame()
                .pass_ids()
                .nth(random.below(count) as usize)
                .unwrap();
            let splittable: Vec<_> = executed.splittable().collect();
            let next = match random.one_in(2) && !splittable.is_empty() {
                true => {
                    let (resource, after) = splittable[random.below(splittable.len() as u64) as usize];
                    let split = executed.split(resource, after);
                    splits +=
                        usize::from(matches!(split, Some(Ok(_))) && executed.part(resource).value.is_some());
                    split
                }
                false => {
                    let merged = executed.merged(pass);
                    merges += usize::from(matches!(merged, Some(Ok(_))));
                    merged
                }
            };
            if let Some(Ok(next)) = next {
                executed = next;
                assert_eq!(executed.violations(), [], "seed {seed}");
            }
        }
        // Values of merged and split resources: before and after.
        let again = executed.separate_values().unwrap();
        assert_eq!(again.violations(), [], "seed {seed}");
        let mut late = ExecutedFrame::as_described(&frame);
        for (resource, after) in late.clone().splittable().step_by(3) {
            late = match late.split(resource, after) {
                Some(Ok(split)) => split,
                _ => late,
            };
        }
        assert_eq!(late.separate_values().unwrap().violations(), [], "seed {seed}");
    }
    assert!(splits > 50 && merges > 200, "{splits} splits, {merges} merges");
}

/// A damaged map of values is refused.
fn refused(damage: impl Fn(&mut OriginTables, ResourceId, ResourceId), rules: &[OriginRule]) {
    let mut done = 0;
    for seed in 0..3000 {
        let Some(frame) = random_frame(seed) else { continue };
        let executed = separate(&frame);
        let ids = || executed.frame().resource_ids();
        let number = |id: ResourceId| executed.part(id).value.map(|value| value.number);
        let first = ids().find(|&id| number(id).is_some());
        let Some(first) = first else { continue };
        let same = |id: ResourceId| {
            executed.origins().resource(id).resource == executed.origins().resource(first).resource
        };
        let Some(second) = ids().find(|&id| id != first && number(id).is_some() && same(id)) else {
            continue;
        };
        let (frame, described, origins) = executed.clone().into_parts();
        let mut tables = origins.to_tables(&frame);
        damage(&mut tables, first, second);
        let faults = ExecutedFrame::new(frame, described, tables.into()).violations();
        assert!(
            faults.iter().any(|fault| rules.contains(&fault.rule)),
            "seed {seed}: {faults:?}"
        );
        done += 1;
    }
    assert!(done > 50, "{done} maps");
}

#[test]
fn damaged_maps_of_values_are_refused() {
    let value = |tables: &mut OriginTables, id: ResourceId| tables.resources[id.index()].value;
    refused(
        |tables, first, second| {
            let values = [value(tables, first), value(tables, second)];
            tables.resources[first.index()].value = values[1];
            tables.resources[second.index()].value = values[0];
        },
        &[OriginRule::Value],
    );
    refused(
        |tables, first, second| tables.resources[first.index()].value = value(tables, second),
        &[OriginRule::Value],
    );
    refused(
        |tables, first, _| tables.resources[first.index()].value = None,
        &[OriginRule::Resource],
    );
    refused(
        |tables, first, _| {
            let value = &mut tables.resources[first.index()].value;
            *value = value.map(|value| ResourceValue {
                count: value.count + 1,
                ..value
            });
        },
        &[OriginRule::Value],
    );
}
