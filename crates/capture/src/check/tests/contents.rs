//! Lost contents.

use super::*;
use crate::document::UnresolvedKind;
use crate::document::recording::UnfollowedAccess;

/// Two images that occupy the same bytes.
fn images() -> (Rig, u32, u32) {
    let mut rig = Rig::new();
    let (x, y) = (rig.image("x", 0), rig.image("y", 0));
    (rig, x, y)
}

fn all() -> Command {
    mb(EVERYTHING, EVERYTHING)
}

/// A barrier that orders everything and transitions an image.
fn all_with(image: u32) -> Command {
    ib(image, EVERYTHING, EVERYTHING, NEW)
}

#[test]
fn a_transition_of_an_alias_from_undefined_loses_contents() {
    let (rig, x, y) = images();
    let commands = |transitions: bool| {
        let mut commands = vec![all_with(x), image_write(x), all()];
        commands.extend(transitions.then(|| all_with(y)));
        commands.extend([all(), image_read(x)]);
        commands
    };
    assert_eq!(found(rig.clone(), commands(true)), [(Certain, Overwritten, 4, 6)]);
    assert_eq!(found(rig, commands(false)), NONE);
}

#[test]
fn a_write_through_an_incompatible_alias_loses_contents() {
    let (rig, x, y) = images();
    let commands = vec![
        all_with(x),
        image_write(x),
        all(),
        all_with(y),
        image_write(y),
        all(),
        image_read(x),
    ];
    let mut rig = rig;
    let buffer = rig.commands(commands);
    rig.submit(&[buffer]);
    let findings = rig.report().findings;
    assert_eq!(rig.found().len(), 1, "{findings:?}");
    let [finding] = &findings[..] else {
        panic!("{findings:?}")
    };
    assert_eq!((finding.verdict, finding.problem), (Certain, Overwritten));
    let first = finding.first.as_ref().expect("the write");
    assert_eq!(
        (first.resource.as_str(), finding.second.resource.as_str()),
        ("y", "x")
    );
    assert_eq!(finding.second.description, "R8G8B8A8_UNORM, 64x64");
}

#[test]
fn a_read_after_a_write_through_a_compatible_alias_is_possible() {
    let mut rig = Rig::new();
    let (a, b) = (rig.buffer("a", 0), rig.buffer("b", 0));
    let commands = vec![write(a), all(), write(b), all(), read(a)];
    assert_eq!(found(rig, commands), [(Possible, WrittenThrough, 3, 5)]);
}

#[test]
fn images_that_are_created_alike_share_contents() {
    let (mut rig, x, y) = images();
    for resource in &mut rig.0.resources {
        if let ResourceKind::Image { alias_group, .. } = &mut resource.kind {
            *alias_group = Some(3);
        }
    }
    let commands = vec![all_with(x), image_write(y), all(), image_read(x)];
    assert_eq!(found(rig.clone(), commands), NONE);
    let unordered = vec![all_with(x), image_write(y), image_read(x)];
    assert_eq!(found(rig.clone(), unordered), [(Certain, Unordered, 2, 3)]);
    // The program may still need the contents of `x`.
    let replaced = vec![
        all_with(x),
        image_write(x),
        all(),
        image_write(y),
        all(),
        image_read(x),
    ];
    assert_eq!(found(rig, replaced), [(Possible, WrittenThrough, 4, 6)]);
}

#[test]
fn only_a_load_operation_that_loads_reads_discarded_contents() {
    let (rig, x, y) = images();
    let pass = |load| {
        color_pass(Attachment {
            load,
            ..attachment(y, [L::UNDEFINED, L::COLOR_ATTACHMENT_OPTIMAL])
        })
    };
    let commands = |load| {
        vec![
            all_with(x),
            image_write(x),
            all(),
            begin(pass(load)),
            end(),
            all(),
        ]
    };
    let ordered = |load| {
        let mut commands = commands(load);
        if let CommandEffect::Begin(instance) = &mut commands[3].action {
            instance.dependencies = vec![dependency(None, Some(0), EVERYTHING, EVERYTHING)];
        }
        commands
    };
    assert_eq!(found(rig.clone(), ordered(Load::DONT_CARE)), NONE);
    // Draws may cover everything that is loaded.
    assert_eq!(found(rig, ordered(Load::LOAD)), [(Possible, Discarded, 4, 4)]);
}

#[test]
fn loads_of_new_attachments_are_counted() {
    let mut rig = Rig::new();
    let x = rig.image("x", 0);
    let pass = || {
        let layouts = [L::COLOR_ATTACHMENT_OPTIMAL; 2];
        begin(color_pass(Attachment {
            load: Load::LOAD,
            ..attachment(x, layouts)
        }))
    };
    let discard = || {
        ib(
            x,
            EVERYTHING,
            EVERYTHING,
            [L::UNDEFINED, L::COLOR_ATTACHMENT_OPTIMAL],
        )
    };
    let loaded = |rig: &Rig, commands: Vec<Command>| {
        let mut rig = rig.clone();
        let buffer = rig.commands(commands);
        rig.submit(&[buffer]);
        let report = rig.report();
        let loads = report
            .unchecked
            .iter()
            .find(|one| one.what.starts_with("attachments are loaded"));
        (rig.found(), loads.map_or(0, |one| one.count))
    };
    // Draws may cover them, as they do in the first frames of many programs.
    let new = vec![discard(), pass(), draw(vec![]), end()];
    assert_eq!(loaded(&rig, new.clone()), (NONE.to_vec(), 1));
    // Here something was drawn and is then discarded.
    let mut twice = new.clone();
    twice.extend([all(), discard(), pass(), draw(vec![]), end()]);
    assert_eq!(loaded(&rig, twice), (vec![(Possible, Discarded, 6, 7)], 1));
    rig.0.resources[0].created = false;
    assert_eq!(loaded(&rig, new), (vec![(Possible, Discarded, 1, 2)], 0));
}

#[test]
fn descriptors_of_unwritten_resources_are_counted() {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    let skipped = || {
        dispatch(vec![RecordedAccess {
            conditional: true,
            ..some(bytes(a, (0, SIZE), CS, STORAGE_READ))
        }])
    };
    let buffer = rig.commands(vec![skipped()]);
    rig.submit(&[buffer]);
    let report = rig.report();
    let notes = report
        .unchecked
        .iter()
        .filter(|one| one.what.starts_with("descriptors"));
    assert_eq!((rig.found(), notes.count()), (NONE.to_vec(), 1));
}

#[test]
fn reads_of_contents_that_nothing_wrote_are_found() {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    assert_eq!(found(rig.clone(), vec![read(a)]), [(Certain, NeverWritten, 0, 1)]);
    let half = dispatch(vec![bytes(a, (0, 1), CS, STORAGE_WRITE)]);
    assert_eq!(found(rig.clone(), vec![half, all(), read(a)]), NONE);
    // Regardless of the part that a shader reads.
    let some_of_it = dispatch(vec![some(bytes(a, (0, SIZE), CS, STORAGE_READ))]);
    assert_eq!(
        found(rig.clone(), vec![some_of_it]),
        [(Certain, NeverWritten, 0, 1)]
    );
    let mut old = rig.clone();
    old.0.resources[0].created = false;
    assert_eq!(found(old, vec![read(a)]), NONE);
    // The host may have written it.
    rig.0.memories[0].mapped = true;
    assert_eq!(found(rig, vec![read(a)]), NONE);
}

#[test]
fn accesses_that_were_not_followed_may_write() {
    let mut rig = Rig::new();
    let (a, b) = (rig.buffer("a", 0), rig.buffer("b", SIZE));
    let unresolved = |resources: Vec<u32>| Command {
        unresolved: vec![UnfollowedAccess {
            kind: UnresolvedKind::DeviceAddress,
            what: String::new(),
            resources,
        }],
        ..call("vkCmdDispatch", CommandEffect::None)
    };
    let lost = [(Certain, NeverWritten, 0, 2)];
    assert_eq!(found(rig.clone(), vec![unresolved(vec![]), read(a)]), NONE);
    assert_eq!(found(rig.clone(), vec![unresolved(vec![a]), read(a)]), NONE);
    assert_eq!(found(rig.clone(), vec![unresolved(vec![b]), read(a)]), lost);
    // An access of a type that its stage does not perform may also have written it.
    let wrong = |resource| dispatch(vec![bytes(resource, (0, SIZE), S::COPY, STORAGE_WRITE)]);
    assert_eq!(found(rig.clone(), vec![wrong(a), read(a)]), NONE);
    assert_eq!(found(rig.clone(), vec![wrong(b), read(a)]), lost);
    // So may a resource that is not checked, in the same memory.
    let mut sparse = rig.clone();
    sparse.0.resources[b as usize].unchecked = Some("sparse memory".to_owned());
    assert_eq!(found(sparse, vec![write(b), read(a)]), NONE);
    assert_eq!(
        found(rig, vec![read(a), unresolved(vec![])]),
        [(Certain, NeverWritten, 0, 1)]
    );
}

#[test]
fn reused_memory_holds_nothing_for_the_next_resource() {
    let mut rig = Rig::new();
    let old = rig.color("old");
    let reader = |image| vec![image_read(image)];
    rig.0.resources[old as usize].placement = Some(MemoryBinding {
        object: 1,
        offset: 0,
        size: SIZE,
    });
    let other = rig.image("new", 0);
    assert_eq!(found(rig.clone(), reader(old)), NONE);
    assert_eq!(found(rig.clone(), reader(other)), [(Certain, NeverWritten, 0, 1)]);
    // The same offsets in another allocation are different bytes.
    let commands = vec![
        image_write(old),
        all_with(other),
        image_write(other),
        all(),
        image_read(old),
    ];
    assert_eq!(found(rig, commands), NONE);
}

#[test]
fn a_mip_chain_needs_a_barrier_before_each_blit() {
    let count = 4;
    let mut rig = Rig::new();
    let x = rig.add("x", image(vk::Format::R8G8B8A8_UNORM, count, 1), Some(0));
    let (src, dst) = (L::TRANSFER_SRC_OPTIMAL, L::TRANSFER_DST_OPTIMAL);
    let wrote = (S::BLIT, A::TRANSFER_WRITE);
    let reads = (S::BLIT, A::TRANSFER_READ);
    let chain = |left_out: Option<u32>| {
        let uploaded = (S::COPY, A::TRANSFER_WRITE);
        let upload = in_layout(texels(x, levels(0, 1), uploaded.0, uploaded.1), dst);
        let both = (S::COPY | S::BLIT, A::TRANSFER_WRITE);
        let all = transition(x, levels(0, count), TOP, both, [L::UNDEFINED, dst]);
        let mut commands = vec![
            barrier(vec![all]),
            call("vkCmdCopyBufferToImage", CommandEffect::Access(vec![upload])),
        ];
        for level in 1..count {
            let from = if level == 1 { uploaded } else { wrote };
            if left_out != Some(level) {
                let one = transition(x, levels(level - 1, level), from, reads, [dst, src]);
                commands.push(barrier(vec![one]));
            }
            let read = in_layout(texels(x, levels(level - 1, level), reads.0, reads.1), src);
            let write = in_layout(texels(x, levels(level, level + 1), wrote.0, wrote.1), dst);
            commands.push(call("vkCmdBlitImage", CommandEffect::Access(vec![read, write])));
        }
        let last = [
            transition(
                x,
                levels(0, count - 1),
                reads,
                SAMPLED,
                [src, L::SHADER_READ_ONLY_OPTIMAL],
            ),
            transition(
                x,
                levels(count - 1, count),
                wrote,
                SAMPLED,
                [dst, L::SHADER_READ_ONLY_OPTIMAL],
            ),
        ];
        commands.push(barrier(last.to_vec()));
        let sampled = some(texels(x, levels(0, count), CS, A::SHADER_SAMPLED_READ));
        commands.push(dispatch(vec![in_layout(sampled, L::SHADER_READ_ONLY_OPTIMAL)]));
        commands
    };
    let sampled_later = |mut commands: Vec<Command>| {
        // The last reader is a compute shader here.
        for command in &mut commands {
            if let CommandEffect::Barrier(dependencies) = &mut command.action {
                for one in dependencies {
                    if one.scopes.dst_stages == SAMPLED.0 {
                        one.scopes.dst_stages = CS;
                    }
                }
            }
        }
        commands
    };
    assert_eq!(found(rig.clone(), sampled_later(chain(None))), NONE);
    let missing = found(rig, sampled_later(chain(Some(2))));
    assert!(missing.contains(&(Certain, Unordered, 4, 5)), "{missing:?}");
}

#[test]
fn an_image_that_was_written_in_part_is_bound_whole() {
    let mut rig = Rig::new();
    let x = rig.add("x", image(vk::Format::R8G8B8A8_UNORM, 3, 1), Some(0));
    let write = dispatch(vec![texels(x, levels(0, 1), CS, STORAGE_WRITE)]);
    let sampled = dispatch(vec![some(texels(x, levels(0, 3), CS, A::SHADER_SAMPLED_READ))]);
    let first = barrier(vec![transition(x, levels(0, 3), TOP, WRITTEN, NEW)]);
    assert_eq!(found(rig, vec![first, write, all(), sampled]), NONE);
}

#[test]
fn linear_images_are_exact_unless_they_share_memory() {
    let mut rig = Rig::new();
    let x = rig.color("x");
    rig.0.resources[x as usize].placement = Some(MemoryBinding {
        object: 0,
        offset: 0,
        size: SIZE,
    });
    if let ResourceKind::Image { linear, .. } = &mut rig.0.resources[x as usize].kind {
        *linear = true;
    }
    let halves = |with| {
        let write = |area| dispatch(vec![within(texels(x, range(), CS, STORAGE_WRITE), area)]);
        vec![write([[0, 32], [0, 64]]), write(with)]
    };
    let (apart, over) = ([[32, 64], [0, 64]], [[31, 64], [0, 64]]);
    assert_eq!(found(rig.clone(), halves(apart)), NONE);
    assert_eq!(found(rig.clone(), halves(over)), [(Certain, Unordered, 1, 2)]);
    rig.buffer("neighbor", SIZE - 16);
    assert_eq!(found(rig, halves(apart)), [(Possible, Unordered, 1, 2)]);
}

#[test]
fn the_host_may_have_written_what_a_command_discarded() {
    let mut rig = Rig::new();
    let x = rig.image("x", 0);
    let commands = vec![ib(x, TOP, READ, NEW), image_read(x)];
    assert_eq!(found(rig.clone(), commands.clone()), [(Certain, Discarded, 1, 2)]);
    rig.0.resources[x as usize].host_writes = true;
    assert_eq!(found(rig, commands), NONE);
}

#[test]
fn the_host_may_have_written_what_a_command_wrote_through_an_alias() {
    let mut rig = Rig::new();
    let (a, b, x) = (rig.buffer("a", 0), rig.buffer("b", 0), rig.image("x", 0));
    let through = |other| vec![write(a), all(), other, all(), read(a)];
    let overwritten = || {
        let mut commands = through(image_write(x));
        commands.insert(2, all_with(x));
        commands
    };
    let found_with = |rig: &Rig, commands| found(rig.clone(), commands);
    assert_eq!(
        found_with(&rig, through(write(b))),
        [(Possible, WrittenThrough, 3, 5)]
    );
    assert_eq!(found_with(&rig, overwritten()), [(Certain, Overwritten, 3, 6)]);
    rig.0.resources[a as usize].host_writes = true;
    assert_eq!(found_with(&rig, through(write(b))), NONE);
    // As in memory that programs reuse for another resource.
    assert_eq!(found_with(&rig, overwritten()), NONE);
}
