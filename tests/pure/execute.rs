//! Rewritten frames: one map leads back to the described frame, and a map with a wrong origin is refused.

use tileheap::execute::{ExecutedFrame, OriginError, OriginRule, OriginTables, Origins, PassOrigin, PassRun};
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::frame::tables::CommandSource;
use tileheap::frame::{Frame, PassId, ResourceId};
use tileheap::units::SplitMix64;

use crate::damage::{self, Amount};

const AMOUNT: Amount = Amount {
    enough: 60,
    seeds: 600,
    per_seed: 3,
};

fn described(seed: u64) -> Frame {
    let desc = SyntheticDesc {
        passes: 4 + seed as u32 % 20,
        resources: 5 + seed as u32 % 25,
        batches: 1 + seed as u32 % 3,
        queues: 1 + seed as u32 % 2,
        ..SyntheticDesc::default()
    };
    synthetic(seed, desc)
}

/// One random rewrite of the executed frame, as a rewrite of that frame only.
fn rewrite(frame: &Frame, random: &mut SplitMix64) -> Option<ExecutedFrame> {
    let itself = ExecutedFrame::as_described(frame);
    let pass = frame
        .pass_ids()
        .nth(random.below(frame.passes().len() as u64) as usize)?;
    let resource = frame
        .resource_ids()
        .nth(random.below(frame.resources().len() as u64) as usize)?;
    let rewritten = match random.one_in(2) {
        true => itself.split(resource, pass),
        false => itself.merged(pass),
    };
    // The name may already be used.
    rewritten?.ok()
}

/// A frame after some random rewrites, and each rewrite.
fn rewritten(seed: u64) -> (ExecutedFrame, Vec<ExecutedFrame>) {
    let mut random = SplitMix64::new(seed);
    let mut executed = ExecutedFrame::as_described(&described(seed));
    let mut rewrites = Vec::new();
    for _ in 0..40 {
        if let Some(rewrite) = rewrite(executed.frame(), &mut random) {
            executed = executed.then(&rewrite);
            rewrites.push(rewrite);
        }
    }
    (executed, rewrites)
}

#[test]
fn random_rewrites_compose_to_one_map() {
    let (mut stores, mut merges) = (0, 0);
    for seed in 0..300 {
        let (executed, rewrites) = rewritten(seed);
        assert_eq!(executed.violations(), [], "seed {seed}");
        let (frame, described, origins) = (executed.frame(), executed.described(), executed.origins());
        assert_eq!(origins.is_identity(), rewrites.is_empty());

        // The rewrites applied one by one lead to the same frame.
        for pass in frame.pass_ids() {
            let mut passes = vec![pass];
            for rewrite in rewrites.iter().rev() {
                let runs = passes.iter().flat_map(|&pass| rewrite.described_passes(pass));
                passes = runs.map(|run| run.pass).collect();
            }
            let runs: Vec<PassId> = executed.described_passes(pass).map(|run| run.pass).collect();
            let first = rewrites
                .iter()
                .rev()
                .fold(pass, |pass, rewrite| rewrite.origins().described_pass(pass));
            merges += usize::from(runs.len() > 1);
            assert_eq!(runs, passes, "seed {seed}");
            if frame.pass(pass).contents == CommandSource::Store {
                stores += 1;
                assert!(runs.is_empty());
                // The last of the passes that were merged before the store.
                let after = origins
                    .stores()
                    .find(|store| store.0 == pass)
                    .expect("it is a store")
                    .2;
                assert_eq!(origins.described_pass(pass), after);
                assert!(executed.executed_passes(after).all(|before| before < pass));
            } else {
                assert_eq!(origins.described_pass(pass), first);
            }
        }
        for resource in frame.resource_ids() {
            let back = rewrites.iter().rev();
            let declared = back.fold(resource, |id, rewrite| rewrite.origins().resource(id).resource);
            assert_eq!(executed.described_resource(resource), declared);
        }
        // Every described pass and access exists in the executed frame.
        for pass in described.pass_ids() {
            let executed_passes: Vec<PassId> = executed.executed_passes(pass).collect();
            assert_eq!(executed_passes, [origins.executed_pass(pass)], "seed {seed}");
            assert!(
                executed
                    .described_passes(executed_passes[0])
                    .any(|run| run.pass == pass)
            );
        }
        let mut found: Vec<usize> = Vec::new();
        for (index, access) in frame.accesses().iter().enumerate() {
            let Some(origin) = executed.described_access(index) else {
                assert_eq!(frame.pass(access.pass).contents, CommandSource::Store);
                continue;
            };
            let theirs = described.accesses()[origin];
            assert_eq!((access.kind, access.version), (theirs.kind, theirs.version));
            assert_eq!(executed.described_resource(access.resource), theirs.resource);
            found.push(origin);
        }
        found.sort_unstable();
        assert!(found.into_iter().eq(0..described.accesses().len()), "seed {seed}");
    }
    assert!(
        stores > 100 && merges > 100,
        "{stores} stores, {merges} merged passes"
    );
}

#[test]
fn composition_is_associative_and_has_an_identity() {
    let mut composed = 0;
    for seed in 0..60 {
        let (executed, rewrites) = rewritten(seed);
        let maps = rewrites.iter().map(ExecutedFrame::origins);
        let from_the_right = maps.rev().fold(Origins::IDENTITY, |later, map| map.then(&later));
        assert_eq!(&from_the_right, executed.origins(), "seed {seed}");
        assert_eq!(executed.origins().then(&Origins::IDENTITY), *executed.origins());
        assert_eq!(Origins::IDENTITY.then(executed.origins()), *executed.origins());
        composed += usize::from(rewrites.len() > 1);
    }
    assert!(composed > 20);
}

#[test]
fn a_level_leads_to_the_image_that_was_declared() {
    let frame = crate::parts::pyramid();
    let id = |name: &str| frame.resource_named(name).expect("a resource of this name");
    let (bloom, half) = (id("bloom"), id("bloom level 1"));
    let last_use = frame.accesses_to(half).next().expect("it is drawn").pass;
    let itself = ExecutedFrame::as_described(&frame);
    let split = itself.split(half, last_use).expect("it is read later").unwrap();
    assert_eq!(split.violations(), []);
    let apart = split.frame().resource_ids().last().expect("the stretch");
    for (resource, until) in [(half, None), (apart, Some(last_use))] {
        assert_eq!(split.described_resource(resource), bloom);
        let part = split.part(resource);
        assert_eq!((part.level, part.until), (Some(1), until));
    }
    assert_eq!(split.part(bloom), tileheap::execute::ResourcePart::default());
}

#[test]
#[should_panic(expected = "cannot follow one that results in")]
fn rewrites_of_another_frame_do_not_compose() {
    let itself = ExecutedFrame::as_described(&described(1));
    let _ = itself.then(&ExecutedFrame::as_described(&described(2)));
}

/// Damages maps and asserts that the checker reports the damage.
fn refused<S: std::fmt::Debug>(
    sites: impl Fn(&ExecutedFrame) -> Vec<S>,
    damage: impl Fn(&mut OriginTables, &S),
    right: impl Fn(&OriginError, &S) -> bool,
) {
    let violations = |executed: &ExecutedFrame, site: &S| {
        let (frame, described, origins) = executed.clone().into_parts();
        let mut tables = origins.to_tables(&frame);
        damage(&mut tables, site);
        ExecutedFrame::new(frame, described, tables.into()).violations()
    };
    let sound = |seed, _: &mut SplitMix64| Some(rewritten(seed).0);
    damage::refused(&AMOUNT, sound, sites, violations, right);
}

fn accesses(executed: &ExecutedFrame) -> Vec<usize> {
    let all = 0..executed.frame().accesses().len();
    all.filter(|&index| executed.described_access(index).is_some())
        .collect()
}

fn passes(executed: &ExecutedFrame) -> Vec<PassId> {
    let all = executed.frame().pass_ids();
    all.filter(|&pass| executed.described_passes(pass).next().is_some())
        .collect()
}

fn stores(executed: &ExecutedFrame) -> Vec<PassId> {
    executed.origins().stores().map(|(pass, ..)| pass).collect()
}

fn runs<'a>(tables: &'a mut OriginTables, pass: &PassId) -> &'a mut Vec<PassRun> {
    match &mut tables.passes[pass.index()] {
        PassOrigin::Runs(runs) => runs,
        PassOrigin::Store { .. } | PassOrigin::Border { .. } => panic!("the runtime records it"),
    }
}

#[test]
fn a_row_is_missing() {
    let all = |executed: &ExecutedFrame| vec![(); usize::from(executed.frame().accesses().len() > 1)];
    let index = |fault: &OriginError, _: &()| fault.rule == OriginRule::Index;
    refused(all, |tables, _| _ = tables.passes.pop(), index);
    refused(all, |tables, _| _ = tables.resources.pop(), index);
    refused(all, |tables, _| _ = tables.accesses.pop(), index);
}

#[test]
fn an_origin_is_not_in_the_described_frame() {
    let index = |fault: &OriginError| fault.rule == OriginRule::Index;
    let accesses = |executed: &ExecutedFrame| -> Vec<_> {
        let count = executed.described().accesses().len() as u32;
        accesses(executed)
            .into_iter()
            .map(|index| (index, count))
            .collect()
    };
    refused(
        accesses,
        |tables, (index, count)| tables.accesses[*index] = Some(*count),
        |fault, _| index(fault),
    );
}

#[test]
fn an_access_is_another_one_of_its_pass() {
    // The next access, if the described pass has one.
    let sites = |executed: &ExecutedFrame| -> Vec<(usize, u32)> {
        let theirs = executed.described().accesses();
        let next = |index| {
            let origin = executed.described_access(index)?;
            let next = theirs.get(origin + 1)?;
            (next.pass == theirs[origin].pass).then_some((index, origin as u32 + 1))
        };
        accesses(executed).into_iter().filter_map(next).collect()
    };
    refused(
        sites,
        |tables, (index, next)| tables.accesses[*index] = Some(*next),
        |fault, (index, _)| {
            fault.rule == OriginRule::Access && fault.message.starts_with(&format!("access {index} ("))
        },
    );
}

#[test]
fn an_access_has_no_origin() {
    refused(
        accesses,
        |tables, index| tables.accesses[*index] = None,
        |fault, _| fault.rule == OriginRule::Access && fault.message.contains("has no origin"),
    );
    refused(
        accesses,
        |tables, index| tables.accesses[*index] = None,
        |fault, _| fault.rule == OriginRule::Coverage && fault.message.contains("happens 0 times"),
    );
}

#[test]
fn a_pass_runs_another_one() {
    let sites = |executed: &ExecutedFrame| match executed.described().passes().len() {
        0 | 1 => Vec::new(),
        count => passes(executed)
            .into_iter()
            .map(|pass| (pass, count as u32))
            .collect(),
    };
    refused(
        sites,
        |tables, (pass, count)| {
            let run = &mut runs(tables, pass)[0];
            let next = (run.pass.index() as u32 + 1) % count;
            run.pass = nth_pass(next);
        },
        |fault, _| fault.rule == OriginRule::Coverage,
    );
}

/// Ids are positions: here in the synthetic frame that has enough passes.
fn nth_pass(index: u32) -> PassId {
    let frame = synthetic(
        1,
        SyntheticDesc {
            passes: 64,
            ..SyntheticDesc::default()
        },
    );
    frame.pass_ids().nth(index as usize).expect("64 passes")
}

#[test]
fn a_merged_pass_begins_with_another_subpass() {
    let merged = |executed: &ExecutedFrame| -> Vec<PassId> {
        let all = passes(executed).into_iter();
        all.filter(|&pass| executed.described_passes(pass).count() > 1)
            .collect()
    };
    let pass_rule = |fault: &OriginError, _: &PassId| fault.rule == OriginRule::Pass;
    refused(
        merged,
        |tables, pass| runs(tables, pass)[1].subpass += 1,
        pass_rule,
    );
    refused(merged, |tables, pass| runs(tables, pass).swap(0, 1), pass_rule);
    refused(merged, |tables, pass| _ = runs(tables, pass).pop(), pass_rule);
}

#[test]
fn a_resource_is_another_one() {
    let sites = |executed: &ExecutedFrame| -> Vec<(ResourceId, ResourceId)> {
        let count = executed.described().resources().len();
        let ids: Vec<ResourceId> = executed.frame().resource_ids().collect();
        let other = |id: ResourceId| {
            let origin = executed.origins().resource(id);
            (id, ids[(origin.resource.index() + 1) % count])
        };
        let whole = ids.iter().filter(|&&id| executed.part(id).until.is_none());
        whole.filter(|_| count > 1).map(|&id| other(id)).collect()
    };
    refused(
        sites,
        |tables, (id, other)| tables.resources[id.index()].resource = *other,
        |fault, _| fault.rule == OriginRule::Resource,
    );
    refused(
        sites,
        |tables, (id, other)| tables.resources[id.index()].resource = *other,
        |fault, _| fault.rule == OriginRule::Coverage && fault.message.contains("described resource"),
    );
}

#[test]
fn a_store_is_another_one() {
    let store_rule = |fault: &OriginError, _: &PassId| fault.rule == OriginRule::Store;
    refused(
        stores,
        |tables, pass| {
            let PassOrigin::Store { resource, .. } = &mut tables.passes[pass.index()] else {
                panic!("it is a store");
            };
            let other = tables
                .resources
                .iter()
                .find(|origin| origin.resource != *resource);
            *resource = other.expect("a frame has several resources").resource;
        },
        store_rule,
    );
    refused(
        stores,
        |tables, pass| {
            let first = nth_pass(0);
            let PassOrigin::Store { after, .. } = &mut tables.passes[pass.index()] else {
                panic!("it is a store");
            };
            *after = if *after == first { nth_pass(1) } else { first };
        },
        store_rule,
    );
    refused(
        passes,
        |tables, pass| {
            let resource = tables.resources[0].resource;
            let after = runs(tables, pass)[0].pass;
            tables.passes[pass.index()] = PassOrigin::Store { resource, after };
        },
        store_rule,
    );
    // A store claims to run a pass.
    refused(
        stores,
        |tables, pass| {
            let PassOrigin::Store { after, .. } = tables.passes[pass.index()] else {
                panic!("it is a store");
            };
            tables.passes[pass.index()] = PassOrigin::Runs(vec![PassRun::whole(after)]);
        },
        |fault, _| fault.rule == OriginRule::Coverage && fault.message.contains("runs 2 times"),
    );
}

#[test]
fn a_stretch_is_said_to_be_whole() {
    refused(
        |executed| {
            let ids = executed.frame().resource_ids();
            ids.filter(|&id| executed.part(id).until.is_some()).collect()
        },
        |tables, id: &ResourceId| tables.resources[id.index()].until = None,
        |fault, _| fault.rule == OriginRule::Store && fault.message.contains("does not end after the pass"),
    );
}

#[test]
fn another_frame_was_described() {
    for seed in 0..40 {
        let (frame, described, origins) = rewritten(seed).0.into_parts();
        for index in 0..described.accesses().len() {
            let Ok(other) = described.without_access(index) else {
                continue;
            };
            let damaged = ExecutedFrame::new(frame.clone(), other, origins.clone());
            assert!(damaged.check().is_err(), "seed {seed}, access {index}");
        }
    }
}
