//! The model only remembers state that later findings may need.

use std::collections::BTreeSet;
use std::sync::Arc;

use tileheap_sync::program::*;
use tileheap_sync::{Findings, MemoryUse, Model, ModelStatistics};

use crate::generator::program as random_program;
use crate::recordings::*;

const EVERYTHING_TO_EVERYTHING: (Side, Side) = {
    let all = (
        S::ALL_COMMANDS,
        Mask::from_raw(Mask::MEMORY_READ.as_raw() | Mask::MEMORY_WRITE.as_raw()),
    );
    (all, all)
};

fn full_barrier() -> Command {
    memory(EVERYTHING_TO_EVERYTHING.0, EVERYTHING_TO_EVERYTHING.1)
}

/// A batch of commands whose tags start at `first`.
fn batch(number: u64, first: u64, commands: Vec<Command>) -> Batch {
    let commands = (first..).map(Tag).zip(commands).collect();
    Batch {
        number,
        command_buffers: vec![Arc::new(CommandBuffer { commands })],
        ..Batch::default()
    }
}

/// Resources of a round: a buffer, an image, and an alias of the image.
fn resources(round: u64) -> [Resource; 2] {
    let first = 64 * (round * 7 % 16);
    let resource = |memory, tiling| Resource {
        memory: MemoryId(memory),
        first,
        end: first + 64,
        tiling,
        alias_of: None,
        sharing: SharingMode::Concurrent,
    };
    [
        resource(0, Tiling::Linear),
        resource(1, Tiling::Optimal(texels(None))),
    ]
}

/// The commands of a round, which use its resources.
fn commands(buffer: ResourceId, image: ResourceId, same: ResourceId) -> Vec<Command> {
    let bytes = ResourcePart::Bytes(0, 64);
    let of_buffer = |side| act_on(buffer, bytes, side, AccessKind::Partial);
    let discard = |memory, first| {
        Command::Discard(Discard {
            memory: MemoryId(memory),
            first,
            end: 1024,
            reports_contents: true,
        })
    };
    vec![
        full_barrier(),
        crate::recordings::image(image, EVERYTHING_TO_EVERYTHING.0, EVERYTHING_TO_EVERYTHING.1),
        of_buffer(COPY_WRITE),
        act_on(buffer, bytes, CLEAR, AccessKind::Whole),
        act_on(image, all(image), CS_WRITE, AccessKind::Whole),
        full_barrier(),
        of_buffer(CS_READ),
        act_on(same, columns(0, 4), CS_READ, AccessKind::Whole),
        discard(0, 512),
        discard(1, 768),
    ]
}

/// Runs one round; the only unordered accesses are the two writes of the buffer.
fn round(model: &mut Model, number: u64) -> Findings {
    let [buffer, image] = resources(number);
    let (buffer, image) = (model.add(buffer), model.add(image));
    let same = model.add(Resource {
        alias_of: Some(image),
        ..resources(number)[1]
    });
    let mut batch = batch(number, number << 32, commands(buffer, image, same));
    let (fence, semaphore) = (FenceId(number % 3), |number| SemaphoreUse {
        semaphore: SemaphoreId(number),
        value: 0,
        stages: S::ALL_COMMANDS,
    });
    batch.fence = Some(fence);
    batch.waits.extend((number > 0).then(|| semaphore(number - 1)));
    batch.signals.push(semaphore(number));
    let findings = model.step(&HostStep::Submit(batch));
    if number > 0 {
        model.destroy_semaphore(SemaphoreId(number - 1));
    }
    model.remove(image);
    model.remove(buffer);
    model.remove(same);
    findings
}

#[test]
fn the_size_of_the_model_does_not_grow_with_the_number_of_submits() {
    const ROUNDS: u64 = 100_000;
    let mut model = Model::new(1);
    // The maximum size in characters and number of uses in each half of the rounds after the first ones.
    let mut most = [(0, 0); 2];
    for number in 0..ROUNDS {
        let findings = round(&mut model, number);
        assert!(findings.unchecked.is_empty());
        assert_eq!(findings.hazards.len(), 1, "round {number}: {findings:?}");
        // Odd, so that logs of different lengths are tested.
        if number >= ROUNDS / 10 && number % 497 == 0 {
            let half = &mut most[usize::from(number >= ROUNDS * 11 / 20)];
            let mut uses = 0;
            model.each_use(|_| uses += 1);
            half.0 = half.0.max(format!("{model:?}").len());
            half.1 = half.1.max(uses);
        }
    }
    println!("{most:?} {:?}", model.statistics());
    assert!(most[1].0 < most[0].0 + most[0].0 / 10, "{most:?}");
    assert_eq!(most[0].1, most[1].1);
}

#[test]
fn later_findings_name_only_uses_and_tags_that_are_told() {
    let mut findings_with_a_past = 0;
    for seed in 0..2_000 {
        let program = random_program(seed);
        let mut model = model_of(&program);
        for step in &program.steps {
            let (mut uses, mut tags): (Vec<MemoryUse>, BTreeSet<Tag>) = (Vec::new(), BTreeSet::new());
            model.each_use(|used| uses.push(*used));
            model.each_tag(|tag| _ = tags.insert(tag));
            assert!(uses.iter().all(|used| tags.contains(&used.tag)));
            let own = own_tags(step);
            for hazard in model.step(step).hazards {
                let is_known = uses.contains(&hazard.before);
                let is_own = own.contains(&hazard.before.tag);
                assert!(
                    is_known || is_own || tags.contains(&hazard.before.tag),
                    "seed {seed}: {hazard:?}"
                );
                findings_with_a_past += u32::from(is_known && !is_own);
            }
        }
    }
    assert!(findings_with_a_past > 100, "{findings_with_a_past}");
}

/// The tags of the commands of a step.
fn own_tags(step: &HostStep) -> BTreeSet<Tag> {
    fn add(commands: &CommandBuffer, tags: &mut BTreeSet<Tag>) {
        for (tag, command) in &commands.commands {
            tags.insert(*tag);
            if let Command::Execute(secondary) = command {
                add(secondary, tags);
            }
        }
    }
    let mut tags = BTreeSet::new();
    match step {
        HostStep::Submit(batch) => batch.command_buffers.iter().for_each(|one| add(one, &mut tags)),
        HostStep::Host(_, tag, _) => _ = tags.insert(*tag),
        _ => {}
    }
    tags
}

/// The tags of losses are returned, both of accesses and of discards of memory.
#[test]
fn tags_of_losses_are_told() {
    let mut model = Model::new(1);
    let a = model.add(resources(0)[0]);
    let write = act_on(a, ResourcePart::Bytes(0, 64), CS_WRITE, AccessKind::Whole);
    let discard = Command::Discard(Discard {
        memory: MemoryId(0),
        first: 0,
        end: 8,
        reports_contents: false,
    });
    model.step(&HostStep::Submit(batch(0, 5, vec![write, discard])));
    let mut tags = BTreeSet::new();
    model.each_tag(|tag| _ = tags.insert(tag));
    assert_eq!(tags, BTreeSet::from([Tag(5), Tag(6)]));
    model.free(MemoryId(0));
    model.each_tag(|tag| panic!("{tag:?} is still known"));
}

/// Findings may name commands of batches that wait for a signal, once they run.
#[test]
fn tags_of_pending_batches_are_told() {
    let mut model = Model::new(1);
    model.create_timeline(SemaphoreId(1), 0);
    let mut pending = batch(0, 5, vec![full_barrier()]);
    pending.waits.push(SemaphoreUse {
        semaphore: SemaphoreId(1),
        value: 1,
        stages: S::ALL_COMMANDS,
    });
    model.step(&HostStep::Submit(pending));
    let mut tags = Vec::new();
    model.each_tag(|tag| tags.push(tag));
    assert_eq!(tags, [Tag(5)]);
}

#[test]
fn commands_with_unknown_resources_are_not_checked() {
    let unknown = ResourceId(7);
    let part = ResourcePart::Bytes(0, 64);
    let barrier = Command::Barrier(vec![Dependency {
        scopes: scopes(CS_WRITE, CS_READ),
        memory: DependencyMemory::Part(unknown, part),
        change: BarrierChange::None,
    }]);
    let commands = vec![
        act_on(unknown, part, CS_WRITE, AccessKind::Whole),
        barrier,
        image(unknown, CS_WRITE, CS_READ),
        begin(
            &[],
            &[PassAttachment {
                part,
                ..attachment(
                    unknown,
                    ImageLayout::UNDEFINED,
                    &[(0, ImageLayout::GENERAL)],
                    ImageLayout::GENERAL,
                )
            }],
        ),
        Command::EndRendering,
    ];
    for follows_order in [true, false] {
        let mut model = Model::new(1);
        model.set_follows_order(follows_order);
        model.remove(unknown);
        model.assume_written(unknown);
        let findings = model.step(&HostStep::Submit(batch(0, 0, commands.clone())));
        let tags: Vec<u64> = findings.unchecked.iter().map(|used| used.tag.0).collect();
        assert_eq!(tags, [0, 2, 3], "{findings:?}");
        let host = access(unknown, part, (S::HOST, Mask::HOST_READ), AccessKind::Whole);
        let findings = model.step(&HostStep::Host(1, Tag(9), host));
        assert_eq!(findings.unchecked.len(), 1);
        assert_eq!((findings.hazards.len(), findings.lost.len()), (0, 0));
    }
}

/// Ids are dropped, and never those of other resources; an alias keeps the first resource's contents.
#[test]
fn removed_resources_are_dropped_once_nothing_is_left_of_them() {
    let mut model = Model::new(1);
    let image = resources(0)[1];
    let first = model.add(image);
    let same = model.add(Resource {
        alias_of: Some(first),
        ..image
    });
    let write = act_on(first, all(first), CS_WRITE, AccessKind::Whole);
    model.step(&HostStep::Submit(batch(0, 0, vec![write])));
    model.remove(first);
    model.remove(first);
    let mut added = BTreeSet::from([first, same]);
    for _ in 0..1_000 {
        let id = model.add(resources(1)[0]);
        assert!(added.insert(id));
        model.remove(id);
    }
    let read = act_on(same, all(same), CS_READ, AccessKind::Whole);
    let findings = model.step(&HostStep::Submit(batch(1, 1, vec![full_barrier(), read.clone()])));
    assert_eq!(findings, Findings::default());
    let text = format!("{model:?}");
    let known = added
        .iter()
        .filter(|id| text.contains(&format!("{id:?}: Placed")));
    assert!(known.count() < 100, "{text}");
    model.remove(same);
    let findings = model.step(&HostStep::Submit(batch(2, 3, vec![read])));
    assert!(
        findings.lost.is_empty(),
        "the contents are gone with the last of them"
    );
}

#[test]
fn contents_do_not_depend_on_whether_order_is_followed() {
    let mut found = 0;
    for seed in 0..2_000 {
        let program = random_program(seed);
        let all = Model::check(&program);
        let mut model = model_of(&program);
        model.set_follows_order(false);
        let mut contents = Findings::default();
        for step in &program.steps {
            contents.extend(model.step(step));
        }
        let expected = Findings {
            hazards: Vec::new(),
            ..all
        };
        assert_eq!(contents, expected, "seed {seed}");
        found += contents.lost.len() + contents.discarded.len();
        let state = format!("{model:?}");
        assert!(
            state.contains("records: {}") && state.contains("operations: []"),
            "{state}"
        );
    }
    assert!(found > 1_000, "{found}");
}

/// A model with the resources and timelines of a program.
fn model_of(program: &Program) -> Model {
    let mut model = Model::new(program.granularity);
    for resource in &program.resources {
        model.add(*resource);
    }
    for (semaphore, value) in &program.timelines {
        model.create_timeline(*semaphore, *value);
    }
    model
}

/// In memory that the host cannot access, no later work can conflict with accesses that the host has waited for.
#[test]
fn hazards_do_not_depend_on_accesses_that_the_host_has_waited_for() {
    let (mut hazards, mut dropped) = (0, 0);
    for seed in 0..5_000 {
        let program = random_program(seed);
        let of_host = program.steps.iter().filter_map(|step| match step {
            HostStep::Host(_, _, access) => Some(program.resources[access.resource.0 as usize].memory),
            _ => None,
        });
        let of_host: BTreeSet<MemoryId> = of_host.collect();
        let (mut all, mut reduced) = (model_of(&program), model_of(&program));
        for resource in &program.resources {
            reduced.set_host_visible(resource.memory, of_host.contains(&resource.memory));
        }
        for step in &program.steps {
            let expected = all.step(step);
            hazards += expected.hazards.len();
            assert_eq!(reduced.step(step), expected, "seed {seed}");
        }
        dropped += all.statistics().records - reduced.statistics().records;
    }
    assert!(hazards > 1_000 && dropped > 1_000, "{hazards}, {dropped}");
}

/// The work caused by some barriers after a write of each of some buffers.
fn work(scopes: (Side, Side)) -> ModelStatistics {
    const BUFFERS: u64 = 64;
    const BARRIERS: u64 = 1_000;
    let mut model = Model::new(1);
    let buffers = (0..BUFFERS).map(|index| Resource {
        first: 64 * index,
        end: 64 * (index + 1),
        ..resources(0)[0]
    });
    let ids: Vec<ResourceId> = buffers.map(|buffer| model.add(buffer)).collect();
    let writes = ids
        .iter()
        .map(|id| act_on(*id, ResourcePart::Bytes(0, 64), CS_WRITE, AccessKind::Whole));
    model.step(&HostStep::Submit(batch(0, 0, writes.collect())));
    let barriers = (0..BARRIERS).map(|_| memory(scopes.0, scopes.1));
    let reads = ids
        .iter()
        .map(|id| act_on(*id, ResourcePart::Bytes(0, 64), COPY_READ, AccessKind::Whole));
    model.step(&HostStep::Submit(batch(
        1,
        BUFFERS,
        barriers.chain(reads).collect(),
    )));
    let statistics = model.statistics();
    let all = statistics.followed_operations + statistics.skipped_operations;
    assert_eq!(all, BUFFERS * BARRIERS);
    assert_eq!(statistics.records as u64, 2 * BUFFERS);
    statistics
}

/// A dependency after a full one changes nothing, and neither does one whose first scope does not include an access.
#[test]
fn dependencies_that_change_nothing_are_skipped() {
    assert_eq!(work(EVERYTHING_TO_EVERYTHING).followed_operations, 64);
    assert_eq!(work((COPY_WRITE, COPY_READ)).followed_operations, 0);
    // Repeating it adds nothing.
    assert_eq!(work((CS_WRITE, COPY_READ)).followed_operations, 64);
}
