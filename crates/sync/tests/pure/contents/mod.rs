//! Compares contents with a model that stores a value for every byte and texel.

mod naive;
mod owners;

use std::collections::BTreeMap;
use std::sync::Arc;

use ash::vk;
use tileheap_sync::program::*;
use tileheap_sync::{DiscardedContents, Findings, LossReason, LostContents, Model};
use tileheap_units::{Run, SplitMix64};

use crate::recordings::*;
use naive::{COLUMNS, ExpectedDiscard, ExpectedLoss, IMPLICIT, Naive, PAGE, Rules, Why, whole};

/// Buffers that share bytes with each other and with an image; images that share a page of a buffer but none of its bytes, and in a separate page. Their
/// sharing modes depend on the seed.
fn resources(seed: u64) -> Vec<Resource> {
    let image = Texels {
        aspects: vk::ImageAspectFlags::COLOR,
        levels: Run::new(0, 2),
        layers: Run::new(0, 2),
        area: None,
    };
    let resource = |first, end, tiling| Resource {
        memory: MemoryId(0),
        first,
        end,
        tiling,
        alias_of: None,
        sharing: SharingMode::Concurrent,
    };
    let optimal = Tiling::Optimal(image);
    let mut resources = vec![
        resource(0, 24, Tiling::Linear),
        resource(8, 40, Tiling::Linear),
        resource(16, 52, optimal),
        resource(56, 64, optimal),
        resource(42, 48, optimal),
    ];
    // An image that interprets its bytes consistently with another one.
    resources.push(Resource {
        alias_of: Some(ResourceId(3)),
        ..resources[3]
    });
    let mut random = SplitMix64::new(seed);
    for resource in &mut resources {
        resource.sharing = random.pick(&[
            SharingMode::Exclusive,
            SharingMode::Exclusive,
            SharingMode::ExclusiveUnlessImplicit,
            SharingMode::Concurrent,
        ]);
    }
    resources
}

/// A command, and the queue family that executes it; `None` for an access by the host.
type Step = (Option<u32>, Command);

/// Random commands, of several queue families or of one.
fn steps(seed: u64, resources: &[Resource]) -> Vec<Step> {
    let mut random = SplitMix64::new(seed);
    let mut family = 0;
    let is_alone = random.one_in(3);
    let mut next = || {
        if !is_alone && random.one_in(4) {
            family = random.below(3) as u32;
        }
        let mut command = command(&mut random, resources, family);
        let by_host = random.one_in(8);
        match &mut command {
            Command::Action(accesses) if by_host && is_of_linear(&accesses[0], resources) => {
                let access = &mut accesses[0];
                access.stage = S::HOST;
                access.access = match access.access == CS_WRITE.1 {
                    true => Mask::HOST_WRITE,
                    false => Mask::HOST_READ,
                };
                (access.kind, access.discards) = (AccessKind::Whole, false);
                (None, command)
            }
            _ => (Some(family), command),
        }
    };
    (0..30).map(|_| next()).collect()
}

fn is_of_linear(access: &MemoryAccess, resources: &[Resource]) -> bool {
    resources[access.resource.0 as usize].tiling == Tiling::Linear
}

/// A random part of a resource.
fn part(random: &mut SplitMix64, resource: &Resource) -> ResourcePart {
    let mut run = |length: u64| {
        let first = random.below(length);
        (first, first + 1 + random.below(length - first))
    };
    let Tiling::Optimal(texels) = resource.tiling else {
        let (first, end) = run(resource.end - resource.first);
        return ResourcePart::Bytes(first, end);
    };
    let [levels, layers, columns] = [2, 2, COLUMNS - 1].map(|length| {
        let (first, end) = run(length);
        Run::new(first as u32, end as u32)
    });
    if random.one_in(2) {
        return whole(resource);
    }
    ResourcePart::Texels(Texels {
        levels,
        layers,
        area: Some([columns, Run::new(0, 8), Run::new(0, 1)]),
        ..texels
    })
}

/// A random command with one access, transition or discard.
fn command(random: &mut SplitMix64, resources: &[Resource], family: u32) -> Command {
    if random.one_in(6) {
        let near = random.pick(resources);
        let first = near.first.saturating_sub(random.below(8)) + random.below(12);
        let end = (first + 1).max((near.end + random.below(8)).saturating_sub(random.below(12)));
        return Command::Discard(Discard {
            memory: MemoryId(0),
            first,
            end,
            reports_contents: random.one_in(2),
        });
    }
    let resource = ResourceId(random.below(resources.len() as u64) as u32);
    let described = &resources[resource.0 as usize];
    let part = part(random, described);
    let kinds = [
        AccessKind::Whole,
        AccessKind::Whole,
        AccessKind::Partial,
        AccessKind::Load,
        AccessKind::Attachment,
        AccessKind::Store,
    ];
    let kind = random.pick(&kinds);
    let side = match kind {
        AccessKind::Store => CS_WRITE,
        _ => random.pick(&[CS_READ, CS_WRITE]),
    };
    let mut access = access(resource, part, side, kind);
    access.discards = side == CS_WRITE && random.one_in(4);
    if random.one_in(12) {
        let mut dependency = transition(resource, NOTHING, NOTHING, false);
        dependency.memory = DependencyMemory::Part(resource, part);
        let other = (family + 1 + random.below(2) as u32) % 3;
        let (from, to) = random.pick(&[(family, other), (other, family)]);
        dependency.change = BarrierChange::Family { from, to };
        return Command::Barrier(vec![dependency]);
    }
    if described.tiling != Tiling::Linear && random.one_in(5) {
        let mut dependency = transition(resource, NOTHING, NOTHING, access.discards);
        dependency.memory = DependencyMemory::Part(resource, whole(described));
        return Command::Barrier(vec![dependency]);
    }
    Command::Action(vec![access])
}

/// The findings that each command should have.
#[derive(Default, PartialEq)]
struct Expected {
    lost: BTreeMap<u64, ExpectedLoss>,
    discarded: BTreeMap<u64, ExpectedDiscard>,
}

fn expected(steps: &[Step], resources: &[Resource], rules: Rules) -> Expected {
    let mut naive = Naive::new(resources, rules);
    let mut expected = Expected::default();
    for (tag, (family, command)) in (0..).zip(steps) {
        naive.family = *family;
        match command {
            Command::Discard(discard) => {
                let defined = naive.defined(discard);
                expected.discarded.extend(defined.map(|defined| (tag, defined)));
                naive.discard(tag, discard.first, discard.end);
            }
            Command::Barrier(dependencies) => {
                let DependencyMemory::Part(resource, part) = dependencies[0].memory else {
                    unreachable!("of a resource");
                };
                let discards = match dependencies[0].change {
                    BarrierChange::Layout { discards } => discards,
                    BarrierChange::Family { from, to } => {
                        naive.transfer(tag, resource, &part, (from, to));
                        continue;
                    }
                    BarrierChange::None => unreachable!("a transition or a transfer"),
                };
                let mut access = access(resource, part, CS_WRITE, AccessKind::Whole);
                access.discards = discards;
                naive.write(tag, &access, !discards);
            }
            Command::Action(accesses) if [CS_WRITE.1, Mask::HOST_WRITE].contains(&accesses[0].access) => {
                naive.write(tag, &accesses[0], false);
            }
            Command::Action(accesses) => {
                let lost = naive.read(tag, &accesses[0]);
                expected.lost.extend(lost.map(|lost| (tag, lost)));
            }
            other => unreachable!("{other:?}"),
        }
    }
    expected
}

fn why(loss: LossReason) -> Why {
    match loss {
        LossReason::NeverWritten => Why::Never,
        LossReason::Discarded(by) => Why::Discarded(by.tag.0),
        LossReason::Overwritten(by) => Why::Overwritten(by.tag.0),
        LossReason::WrittenThrough(by) => Why::Through(by.tag.0),
        LossReason::MemoryDiscarded { tag, .. } => Why::Memory(tag.0),
        LossReason::NotTransferred { by, .. } => Why::Taken(by.tag.0),
    }
}

/// The first difference between the findings of the model and the expected ones.
fn difference(findings: &Findings, expected: &Expected) -> Option<String> {
    let lost: Vec<u64> = findings.lost.iter().map(|one| one.reader.tag.0).collect();
    let discarded: Vec<u64> = findings.discarded.iter().map(|one| one.tag.0).collect();
    if !lost.iter().eq(expected.lost.keys()) || !discarded.iter().eq(expected.discarded.keys()) {
        let keys = (expected.lost.keys(), expected.discarded.keys());
        return Some(format!("{lost:?} and {discarded:?} instead of {keys:?}"));
    }
    let is_lost = |one: &&LostContents| {
        let expected = &expected.lost[&one.reader.tag.0];
        let found = (why(one.loss), one.last.map(|last| last.tag.0), one.bytes);
        (one.is_partial, one.verdict) == (expected.is_partial, expected.verdict)
            && expected.any_of.contains(&found)
    };
    let is_discarded = |one: &&DiscardedContents| {
        let expected = &expected.discarded[&one.tag.0];
        one.verdict == expected.verdict && expected.any_of.contains(&(one.bytes, one.last.tag.0))
    };
    let lost = findings.lost.iter().find(|one| !is_lost(one));
    let lost = lost.map(|one| format!("{one:?} instead of {:?}", expected.lost[&one.reader.tag.0]));
    let discarded = findings.discarded.iter().find(|one| !is_discarded(one));
    lost.or_else(|| discarded.map(|one| format!("{one:?} instead of {:?}", expected.discarded[&one.tag.0])))
}

/// The commands of a seed, and the findings of the model.
fn findings(seed: u64) -> (Vec<Step>, Findings) {
    let resources = resources(seed);
    let steps = steps(seed, &resources);
    let mut model = Model::new(PAGE);
    model.set_follows_order(seed % 2 == 0);
    resources.iter().for_each(|resource| _ = model.add(*resource));
    for (from, to) in IMPLICIT {
        model.set_implicit_transfers(from, to);
    }
    let mut findings = Findings::default();
    for (number, (family, command)) in (0..).zip(&steps) {
        let step = match (family, command) {
            (None, Command::Action(accesses)) => HostStep::Host(number, Tag(number), accesses[0]),
            (family, command) => HostStep::Submit(Batch {
                number,
                queue: QueueId(family.unwrap_or(0).into()),
                family: family.unwrap_or(0),
                command_buffers: vec![Arc::new(CommandBuffer {
                    commands: vec![(Tag(number), command.clone())],
                })],
                ..Batch::default()
            }),
        };
        findings.extend(model.step(&step));
    }
    (steps, findings)
}

#[test]
fn contents_match_an_array_of_every_byte_and_texel() {
    let (mut lost, mut partial, mut discarded) = ([0; 3], [0; 3], [0; 3]);
    let mut taken = [0; 3];
    for seed in 0..8_000 {
        let (commands, findings) = findings(seed);
        let expected = expected(&commands, &resources(seed), Rules::ALL);
        if let Some(difference) = difference(&findings, &expected) {
            panic!("seed {seed}: {difference}\n{commands:#?}");
        }
        for one in &findings.lost {
            let counts = if one.is_partial { &mut partial } else { &mut lost };
            counts[one.verdict as usize] += 1;
            let is_taken = matches!(one.loss, LossReason::NotTransferred { .. });
            taken[one.verdict as usize] += u32::from(is_taken);
        }
        for one in &findings.discarded {
            discarded[one.verdict as usize] += 1;
        }
    }
    println!("lost {lost:?}, in part {partial:?}, discarded {discarded:?}, not transferred {taken:?}");
    assert!(taken[0] > 50 && taken[2] > 500, "{taken:?}");
    assert!(lost.iter().all(|&count| count > 100), "{lost:?}");
    assert!(partial[0] > 100 && partial[2] > 100, "{partial:?}");
    assert!(discarded[0] > 100 && discarded[2] > 100, "{discarded:?}");
}

#[test]
fn every_rule_of_contents_matters() {
    let programs: Vec<(u64, (Vec<Step>, Findings))> = (0..1_500).map(|seed| (seed, findings(seed))).collect();
    let mutations = Rules::mutations();
    let unnoticed: Vec<&str> = mutations
        .iter()
        .filter(|(_, rules)| {
            programs.iter().all(|(seed, (steps, findings))| {
                difference(findings, &expected(steps, &resources(*seed), *rules)).is_none()
            })
        })
        .map(|(name, _)| *name)
        .collect();
    assert!(unnoticed.is_empty(), "no program notices {unnoticed:?}");
}
