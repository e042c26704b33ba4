//! Recordings with known verdicts about order.

use super::*;

const ALIASES: u64 = 0;

fn buffers() -> (Rig, u32, u32) {
    let mut rig = Rig::new();
    let (a, b) = (rig.buffer("a", ALIASES), rig.buffer("b", ALIASES));
    (rig, a, b)
}

fn images() -> (Rig, u32, u32) {
    let mut rig = Rig::new();
    let (x, y) = (rig.image("x", ALIASES), rig.image("y", ALIASES));
    (rig, x, y)
}

#[test]
fn an_execution_dependency_orders_a_write_after_a_read() {
    let (rig, a, b) = buffers();
    let last = |last: Command| vec![write(a), mb(WRITTEN, READ), read(a), last, write(b)];
    assert_eq!(found(rig.clone(), last(mb(NOTHING, NOTHING))), NONE);
    // A barrier for other stages orders nothing.
    let other = (S::VERTEX_SHADER, A::NONE);
    assert_eq!(found(rig, last(mb(other, other))), [(Certain, Unordered, 3, 5)]);
}

#[test]
fn an_execution_dependency_orders_a_write_to_an_alias_after_a_read() {
    let (rig, x, y) = images();
    let commands = |transitions: bool| {
        let mut commands = vec![
            ib(x, TOP, WRITTEN, NEW),
            image_write(x),
            mb(WRITTEN, READ),
            image_read(x),
        ];
        commands.push(match transitions {
            true => ib(y, NOTHING, WRITTEN, NEW),
            false => mb(NOTHING, WRITTEN),
        });
        commands.push(dispatch(vec![in_layout(
            texels(y, range(), CS, STORAGE_WRITE),
            L::GENERAL,
        )]));
        commands
    };
    assert_eq!(found(rig.clone(), commands(true)), NONE);
    let undefined = Problem::Layout {
        is: L::UNDEFINED,
        expected: L::GENERAL,
    };
    assert_eq!(found(rig, commands(false)), [(Certain, undefined, 0, 6)]);
}

#[test]
fn a_first_kind_barrier_from_bottom_to_top_orders_all_commands() {
    let (rig, a, b) = buffers();
    let commands = |dst| vec![write(a), mb(WRITTEN, READ), read(a), mb(BOTTOM, dst), write(b)];
    // BOTTOM_OF_PIPE as the first scope means ALL_COMMANDS in barriers of the first kind; TOP_OF_PIPE as the second scope also means ALL_COMMANDS.
    let first_kind = |commands: Vec<Command>| {
        let mut commands = commands;
        if let CommandEffect::Barrier(dependencies) = &mut commands[3].action {
            dependencies[0].scopes.src_stages = S::ALL_COMMANDS;
            dependencies[0].scopes.dst_stages = S::ALL_COMMANDS;
        }
        commands
    };
    assert_eq!(found(rig, first_kind(commands(TOP))), NONE);
}

#[test]
fn a_barrier_orders_only_the_stages_it_names() {
    let (rig, a, b) = buffers();
    let copied = (S::COPY, A::TRANSFER_READ);
    let copy = || {
        call(
            "vkCmdCopyBuffer",
            CommandEffect::Access(vec![bytes(a, (0, SIZE), copied.0, copied.1)]),
        )
    };
    let commands = |src| vec![write(a), mb(WRITTEN, copied), copy(), mb(src, NOTHING), write(b)];
    assert_eq!(found(rig.clone(), commands((S::COPY, A::NONE))), NONE);
    assert_eq!(
        found(rig, commands((S::BLIT, A::NONE))),
        [(Certain, Unordered, 1, 5), (Certain, Unordered, 3, 5)]
    );
}

#[test]
fn consecutive_transitions_of_an_image_need_no_barrier() {
    let (rig, x, _) = images();
    let sampled = [L::UNDEFINED, L::SHADER_READ_ONLY_OPTIMAL];
    let twice = vec![
        ib(x, TOP, BOTTOM, sampled),
        ib(x, TOP, WRITTEN, NEW),
        image_write(x),
    ];
    assert_eq!(found(rig, twice), NONE);
}

#[test]
fn unordered_transitions_of_aliases_are_pedantic_findings() {
    let (rig, x, y) = images();
    let commands = vec![ib(x, TOP, BOTTOM, NEW), ib(y, TOP, WRITTEN, NEW), image_write(y)];
    assert_eq!(
        found(rig.clone(), commands.clone()),
        [(Pedantic, Unordered, 1, 2)]
    );
    // The bytes of linear images are not known, and matter only to the letter of the specification.
    let mut linear = rig;
    for resource in &mut linear.0.resources {
        if let ResourceKind::Image { linear, .. } = &mut resource.kind {
            *linear = true;
        }
    }
    let transitions = commands[..2].to_vec();
    assert_eq!(found(linear, transitions), [(Pedantic, Unordered, 1, 2)]);
}

#[test]
fn fills_are_in_all_transfer_but_not_in_copy() {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    let fill = || {
        let access = bytes(a, (0, SIZE), S::CLEAR, A::TRANSFER_WRITE);
        call("vkCmdFillBuffer", CommandEffect::Access(vec![access]))
    };
    let commands = |stage| vec![fill(), mb((stage, A::TRANSFER_WRITE), READ), read(a)];
    assert_eq!(
        found(rig.clone(), commands(S::COPY)),
        [(Certain, Unordered, 1, 3)]
    );
    assert_eq!(found(rig, commands(S::ALL_TRANSFER)), NONE);
}

#[test]
fn accesses_without_a_barrier_are_unordered() {
    let (rig, a, b) = buffers();
    assert_eq!(
        found(rig.clone(), vec![write(a), read(a)]),
        [(Certain, Unordered, 1, 2)]
    );
    let fill = |resource| {
        let access = bytes(resource, (0, SIZE), S::CLEAR, A::TRANSFER_WRITE);
        call("vkCmdFillBuffer", CommandEffect::Access(vec![access]))
    };
    assert_eq!(
        found(rig.clone(), vec![fill(a), fill(a)]),
        [(Certain, Unordered, 1, 2)]
    );
    // Two secondary command buffers that write the same bytes, through two buffers.
    let secondary = |resource, name: &str| Command {
        secondary: name.to_owned(),
        ..fill(resource)
    };
    let mut rig = rig;
    let buffer = rig.commands(vec![secondary(a, "one"), secondary(b, "two")]);
    rig.submit(&[buffer]);
    let findings = rig.report().findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    let first = findings[0].first.as_ref().expect("two commands");
    assert_eq!(
        (first.secondary.as_str(), findings[0].second.secondary.as_str()),
        ("one", "two")
    );
    assert_eq!(findings[0].section, "Memory Aliasing");
}

#[test]
fn copies_to_disjoint_texels_need_no_order() {
    let mut rig = Rig::new();
    let x = rig.image("x", 0);
    let to = L::TRANSFER_DST_OPTIMAL;
    let write = |area| within(texels(x, range(), S::COPY, A::TRANSFER_WRITE), area);
    let copy = |area| call("vkCmdCopyBufferToImage", CommandEffect::Access(vec![write(area)]));
    let commands = |second| {
        vec![
            ib(x, TOP, (S::COPY, A::TRANSFER_WRITE), [L::UNDEFINED, to]),
            copy([[0, 32], [0, 64]]),
            copy(second),
        ]
    };
    assert_eq!(found(rig.clone(), commands([[32, 64], [0, 64]])), NONE);
    assert_eq!(
        found(rig, commands([[31, 64], [0, 64]])),
        [(Certain, Unordered, 2, 3)]
    );
}

#[test]
fn each_transfer_stage_covers_only_its_own_commands() {
    for stage in [S::COPY, S::CLEAR, S::BLIT, S::RESOLVE] {
        for named in [S::COPY, S::CLEAR, S::BLIT, S::RESOLVE] {
            let mut rig = Rig::new();
            let x = rig.color("x");
            let access = texels(x, range(), stage, A::TRANSFER_WRITE);
            let transfer = call("vkCmdTransfer", CommandEffect::Access(vec![access]));
            let commands = vec![transfer, mb((named, A::TRANSFER_WRITE), READ), image_read(x)];
            let expected: &[FindingSummary] = match stage == named {
                true => NONE,
                false => &[(Certain, Unordered, 1, 3)],
            };
            assert_eq!(found(rig, commands), expected, "{stage:?} {named:?}");
        }
    }
}

#[test]
fn an_image_barrier_does_not_make_writes_of_an_alias_available() {
    let (rig, x, y) = images();
    let commands = |accompanied: bool| {
        let mut last = vec![transition(y, range(), WRITTEN, WRITTEN, NEW)];
        if accompanied {
            last.push(global(WRITTEN, NOTHING));
        }
        vec![
            ib(x, TOP, WRITTEN, NEW),
            image_write(x),
            barrier(last),
            image_write(y),
        ]
    };
    assert_eq!(
        found(rig.clone(), commands(false)),
        [(Certain, NotAvailable, 2, 3)]
    );
    assert_eq!(found(rig.clone(), commands(true)), NONE);
    // This is enough if the write is already available.
    let mut early = commands(false);
    early.insert(2, mb(WRITTEN, READ));
    assert_eq!(found(rig, early), NONE);
}

#[test]
fn writes_to_disjoint_bytes_need_no_order() {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    let half = |bytes_of, whole| {
        let access = RecordedAccess {
            whole,
            ..bytes(a, bytes_of, CS, STORAGE_WRITE)
        };
        dispatch(vec![access])
    };
    let halves = |whole| vec![half((0, 2048), whole), half((2048, 4096), whole)];
    assert_eq!(found(rig.clone(), halves(true)), NONE);
    assert_eq!(found(rig.clone(), halves(false)), NONE);
    let both = |whole| vec![half((0, 2048), whole), half((1024, 4096), whole)];
    assert_eq!(found(rig.clone(), both(true)), [(Certain, Unordered, 1, 2)]);
    assert_eq!(found(rig, both(false)), [(Possible, Unordered, 1, 2)]);
}

#[test]
fn accesses_that_may_not_happen_are_possible() {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    let maybe = |command: Command| {
        let CommandEffect::Access(accesses) = command.action else {
            panic!("an access")
        };
        let conditional = |access| RecordedAccess {
            conditional: true,
            ..access
        };
        dispatch(accesses.into_iter().map(conditional).collect())
    };
    assert_eq!(
        found(rig.clone(), vec![maybe(write(a)), read(a)]),
        [(Possible, Unordered, 1, 2)]
    );
    assert_eq!(
        found(rig.clone(), vec![write(a), maybe(read(a))]),
        [(Possible, Unordered, 1, 2)]
    );
    // It does not hide the earlier certain write.
    let last = vec![write(a), mb(WRITTEN, WRITTEN), maybe(write(a)), read(a)];
    let all = found(rig, last);
    assert!(
        all.contains(&(Certain, NotVisible, 1, 4)) || all.contains(&(Certain, Unordered, 1, 4)),
        "{all:?}"
    );
}

#[test]
fn events_order_what_is_before_them() {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    let set = |stages| call("vkCmdSetEvent2", CommandEffect::SetEvent { event: 7, stages });
    let wait = || {
        let dependencies = vec![global(WRITTEN, READ)];
        let events = vec![7];
        call(
            "vkCmdWaitEvents2",
            CommandEffect::WaitEvents { events, dependencies },
        )
    };
    assert_eq!(found(rig.clone(), vec![write(a), set(CS), wait(), read(a)]), NONE);
    assert_eq!(
        found(rig, vec![set(CS), write(a), wait(), read(a)]),
        [(Certain, Unordered, 2, 4)]
    );
}

#[test]
fn unordered_neighbors_in_one_page_are_pedantic_findings() {
    for (granularity, expected) in [(1, NONE), (1024, &[(Pedantic, Unordered, 1, 2)])] {
        let mut rig = Rig::new();
        rig.0.granularity = granularity;
        let a = rig.buffer("a", 0);
        let x = rig.color("x");
        rig.0.resources[a as usize].placement = Some(MemoryBinding {
            object: 0,
            offset: 512,
            size: SIZE,
        });
        rig.0.resources[x as usize].placement = Some(MemoryBinding {
            object: 0,
            offset: SIZE + 512,
            size: SIZE,
        });
        assert_eq!(
            found(rig, vec![write(a), image_write(x)]),
            expected,
            "{granularity}"
        );
    }
}
