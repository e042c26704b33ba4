//! Batches, semaphores, fences and the presentation engine.

use super::*;
use crate::check::finding::{self, Fix};

/// A batch with one command.
fn one(rig: &mut Rig, queue: u32, command: Command) -> Batch {
    let buffer = rig.commands(vec![command]);
    batch(queue, &[buffer])
}

fn semaphore(semaphore: u32, value: u64, stages: S) -> SemaphoreUse {
    SemaphoreUse {
        semaphore,
        value,
        stages,
    }
}

fn buffer() -> (Rig, u32) {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    (rig, a)
}

const ORDERED: &[FindingSummary] = NONE;
const UNORDERED: &[FindingSummary] = &[(Certain, Unordered, 1, 1)];

#[test]
fn fences_order_what_the_host_submits_after_it_has_waited() {
    for waits in [true, false] {
        let (mut rig, a) = buffer();
        let first = Batch {
            fence: Some(4),
            ..one(&mut rig, 0, write(a))
        };
        let second = one(&mut rig, 1, read(a));
        rig.step(RecordedStep::Submit(first));
        if waits {
            rig.step(RecordedStep::WaitFence(4));
            rig.step(RecordedStep::ResetFence(4));
        }
        rig.step(RecordedStep::Submit(second));
        assert_eq!(rig.found(), if waits { ORDERED } else { UNORDERED });
    }
}

#[test]
fn waiting_for_the_right_queue_or_the_device_orders_batches() {
    for (idle, expected) in [
        (Some(RecordedStep::WaitIdle(None)), ORDERED),
        (Some(RecordedStep::WaitIdle(Some(0))), ORDERED),
        (Some(RecordedStep::WaitIdle(Some(1))), UNORDERED),
        (None, UNORDERED),
    ] {
        let (mut rig, a) = buffer();
        let (first, second) = (one(&mut rig, 0, write(a)), one(&mut rig, 1, read(a)));
        rig.step(RecordedStep::Submit(first));
        idle.into_iter().for_each(|idle| rig.step(idle));
        rig.step(RecordedStep::Submit(second));
        assert_eq!(rig.found(), expected);
    }
}

#[test]
fn semaphores_order_batches_at_the_stages_that_wait() {
    for (stages, expected) in [
        (CS, ORDERED),
        (S::ALL_COMMANDS, ORDERED),
        (S::FRAGMENT_SHADER, UNORDERED),
    ] {
        let (mut rig, a) = buffer();
        let first = Batch {
            signals: vec![semaphore(5, 0, S::ALL_COMMANDS)],
            ..one(&mut rig, 0, write(a))
        };
        let second = Batch {
            waits: vec![semaphore(5, 0, stages)],
            ..one(&mut rig, 1, read(a))
        };
        rig.step(RecordedStep::Submit(first));
        rig.step(RecordedStep::Submit(second));
        assert_eq!(rig.found(), expected, "{stages:?}");
        if expected == UNORDERED {
            let fix = rig.report().findings[0].fix.clone();
            assert_eq!(fix, Some(Fix::Semaphore { stages: CS }));
        }
    }
}

#[test]
fn timelines_may_be_waited_for_before_they_are_signaled() {
    for value in [3, 2] {
        let (mut rig, a) = buffer();
        rig.0.timelines = vec![(5, 2)];
        let waits = Batch {
            waits: vec![semaphore(5, value, CS)],
            ..one(&mut rig, 1, read(a))
        };
        let signals = Batch {
            signals: vec![semaphore(5, 3, S::ALL_COMMANDS)],
            ..one(&mut rig, 0, write(a))
        };
        rig.0.resources[0].created = false;
        rig.step(RecordedStep::Submit(waits));
        rig.step(RecordedStep::Submit(signals));
        // The value that the semaphore had before the frame orders nothing.
        let expected = if value == 3 { ORDERED } else { UNORDERED };
        assert_eq!(rig.found(), expected, "{value}");
    }
}

#[test]
fn the_host_waits_for_and_signals_timelines() {
    let (mut rig, a) = buffer();
    let first = Batch {
        signals: vec![semaphore(5, 1, S::ALL_COMMANDS)],
        ..one(&mut rig, 0, write(a))
    };
    let second = Batch {
        waits: vec![semaphore(6, 1, CS)],
        ..one(&mut rig, 1, read(a))
    };
    rig.0.timelines = vec![(5, 0), (6, 0)];
    let mut wrong = rig.clone();
    rig.step(RecordedStep::Submit(first.clone()));
    rig.step(RecordedStep::Submit(second.clone()));
    rig.step(RecordedStep::WaitSemaphore {
        semaphore: 5,
        value: 1,
    });
    rig.step(RecordedStep::SignalSemaphore {
        semaphore: 6,
        value: 1,
    });
    assert_eq!(rig.found(), ORDERED);
    wrong.step(RecordedStep::Submit(first));
    wrong.step(RecordedStep::Submit(second));
    wrong.step(RecordedStep::SignalSemaphore {
        semaphore: 6,
        value: 1,
    });
    assert_eq!(wrong.found(), UNORDERED);
}

#[test]
fn signals_that_were_not_recorded_may_order_anything() {
    let (mut rig, a) = buffer();
    let first = one(&mut rig, 0, write(a));
    rig.step(RecordedStep::Submit(first));
    let mut timeline = rig.clone();
    let second = Batch {
        waits: vec![semaphore(5, 0, CS)],
        ..one(&mut rig, 1, read(a))
    };
    rig.step(RecordedStep::Submit(second.clone()));
    assert_eq!(rig.found(), [(Possible, Unordered, 1, 1)]);
    let unchecked = rig.report().unchecked;
    assert!(
        unchecked
            .iter()
            .any(|one| one.what.contains("was not recorded") && one.count == 1),
        "{unchecked:?}"
    );
    // It was signaled before the frame, so it orders nothing in the frame.
    rig.0.signaled = vec![5];
    assert_eq!(rig.found(), UNORDERED);
    timeline.0 = Recording {
        timelines: vec![(5, 0)],
        command_buffers: rig.0.command_buffers.clone(),
        ..timeline.0
    };
    let second = Batch {
        waits: vec![semaphore(5, 7, CS)],
        ..second
    };
    timeline.step(RecordedStep::Submit(second));
    assert_eq!(timeline.found(), [(Possible, Unordered, 1, 1)]);
}

#[test]
fn events_of_the_host_may_order_anything() {
    let (mut rig, a) = buffer();
    let events = vec![9];
    let wait = CommandEffect::WaitEvents {
        events,
        dependencies: vec![global((S::HOST, A::NONE), READ)],
    };
    let first = one(&mut rig, 0, write(a));
    let buffer = rig.commands(vec![call("vkCmdWaitEvents2", wait), read(a)]);
    rig.step(RecordedStep::Submit(first));
    rig.submit(&[buffer]);
    assert_eq!(rig.found(), [(Certain, Unordered, 1, 2)]);
    rig.step(RecordedStep::HostEvent(9));
    assert_eq!(rig.found(), [(Possible, Unordered, 1, 2)]);
    let unchecked = rig.report().unchecked;
    assert!(
        unchecked.iter().any(|one| one.what.contains("by the host")),
        "{unchecked:?}"
    );
}

fn swapchain() -> (Rig, u32) {
    let mut rig = Rig::new();
    let kind = match image(vk::Format::B8G8R8A8_UNORM, 1, 1) {
        ResourceKind::Image {
            format,
            extent,
            levels,
            layers,
            is_3d,
            linear,
            alias_group,
            ..
        } => ResourceKind::Image {
            format,
            extent,
            levels,
            layers,
            is_3d,
            linear,
            alias_group,
            swapchain: true,
        },
        buffer => buffer,
    };
    let image = rig.old_image("swapchain 0", kind);
    (rig, image)
}

/// Acquires an image, renders to it after a barrier, and presents it, with optional waits for semaphores 1 and 2.
fn frame(first: (S, A), waits: bool, presents_after: bool) -> Rig {
    let (mut rig, image) = swapchain();
    let layout = L::COLOR_ATTACHMENT_OPTIMAL;
    let commands = vec![
        ib(image, first, OUTPUT, [L::UNDEFINED, layout]),
        begin(color_pass(attachment(image, [layout, layout]))),
        draw(vec![]),
        end(),
        ib(image, OUTPUT, BOTTOM, [layout, L::PRESENT_SRC_KHR]),
    ];
    let buffer = rig.commands(commands);
    rig.step(RecordedStep::Acquire {
        resource: image,
        semaphore: Some(1),
        fence: None,
    });
    let wait = semaphore(1, 0, S::COLOR_ATTACHMENT_OUTPUT);
    rig.step(RecordedStep::Submit(Batch {
        waits: waits.then_some(wait).into_iter().collect(),
        signals: vec![semaphore(2, 0, S::ALL_COMMANDS)],
        ..batch(0, &[buffer])
    }));
    rig.step(RecordedStep::Present {
        resources: vec![image],
        waits: presents_after.then_some(2).into_iter().collect(),
    });
    rig
}

#[test]
fn frames_are_acquired_and_presented() {
    let output = (S::COLOR_ATTACHMENT_OUTPUT, A::NONE);
    assert_eq!(frame(output, true, true).found(), NONE);
    assert_eq!(frame((S::ALL_COMMANDS, A::NONE), true, true).found(), NONE);
    // The transition may happen before the stage that waits.
    let top = frame(TOP, true, true);
    assert_eq!(top.found(), [(Certain, Unordered, 0, 1)]);
    let finding = &top.report().findings[0];
    let first = finding.first.as_ref().expect("the presentation engine");
    assert_eq!(
        (first.call.as_str(), first.action),
        ("vkAcquireNextImageKHR", finding::Action::Present)
    );
    assert_eq!(finding.section, "WSI Swapchain");
    let Some(Fix::Barrier(scopes)) = &finding.fix else {
        panic!("{finding:?}")
    };
    assert_eq!(scopes.src_stages, S::COLOR_ATTACHMENT_OUTPUT);
    // No batch waits for the image.
    assert_eq!(frame(output, false, true).found(), [(Certain, Unordered, 0, 1)]);
    // The presentation engine does not wait.
    let early = frame(output, true, false);
    assert_eq!(early.found(), [(Certain, Unordered, 5, 0)]);
    let second = &early.report().findings[0].second;
    assert_eq!(
        (second.call.as_str(), second.submission),
        ("vkQueuePresentKHR", 1)
    );
}

#[test]
fn images_are_acquired_with_a_fence() {
    for waits in [true, false] {
        let mut rig = frame((S::COLOR_ATTACHMENT_OUTPUT, A::NONE), false, true);
        rig.0.steps[0] = RecordedStep::Acquire {
            resource: 0,
            semaphore: None,
            fence: Some(8),
        };
        if waits {
            rig.0.steps.insert(1, RecordedStep::WaitFence(8));
        }
        let expected: &[FindingSummary] = if waits {
            NONE
        } else {
            &[(Certain, Unordered, 0, 1)]
        };
        assert_eq!(rig.found(), expected);
    }
}

/// A transfer of a whole buffer from one queue family to another.
fn transfer(buffer: u32, src: (S, A), dst: (S, A), families: [u32; 2]) -> Dependency {
    Dependency {
        scopes: scopes(src, dst),
        memory: AffectedMemory::Buffer {
            resource: buffer,
            first: 0,
            end: SIZE,
        },
        families: Some(families),
    }
}

/// Queue 0 writes and releases a buffer; queue 1 waits at a stage, if there is one, acquires the buffer if `acquires` is true, and reads it.
fn transferred(concurrent: bool, waits: Option<S>, acquires: bool) -> Vec<FindingSummary> {
    let (mut rig, a) = buffer();
    rig.0.resources[a as usize].concurrent = concurrent;
    let transfer = |src, dst| transfer(a, src, dst, [0, 1]);
    let first = rig.commands(vec![write(a), barrier(vec![transfer(WRITTEN, BOTTOM)])]);
    let acquire = acquires.then(|| barrier(vec![transfer(TOP, READ)]));
    let second = rig.commands(acquire.into_iter().chain([read(a)]).collect());
    rig.step(RecordedStep::Submit(Batch {
        signals: vec![semaphore(5, 0, S::ALL_COMMANDS)],
        ..batch(0, &[first])
    }));
    rig.step(RecordedStep::Submit(Batch {
        waits: waits.map(|stages| semaphore(5, 0, stages)).into_iter().collect(),
        ..batch(1, &[second])
    }));
    rig.found()
}

#[test]
fn ownership_transfers_need_a_semaphore_that_waits_in_all_commands() {
    assert_eq!(transferred(false, Some(S::ALL_COMMANDS), true), NONE);
    // Transfers are only in `ALL_COMMANDS`; no known implementation requires this.
    assert_eq!(transferred(false, Some(CS), true), [(Pedantic, Unordered, 2, 1)]);
    assert_eq!(transferred(false, None, true), [(Certain, Unordered, 2, 1)]);
    // After a release, the contents are undefined until the acquire.
    assert_eq!(
        transferred(false, Some(S::ALL_COMMANDS), false),
        [(Certain, Discarded, 2, 1)]
    );
}

/// "Queue Family Ownership Transfer": only resources with exclusive sharing "must have their ownership explicitly transferred". A barrier of a concurrent
/// resource between two families (valid with `synchronization2`) is a memory dependency: nothing is released, and nothing waits to be acquired.
#[test]
fn concurrent_resources_are_not_owned_by_families() {
    for (waits, acquires) in [
        (S::ALL_COMMANDS, true),
        (S::ALL_COMMANDS, false),
        (CS, true),
        (CS, false),
    ] {
        assert_eq!(
            transferred(true, Some(waits), acquires),
            NONE,
            "{waits:?} {acquires}"
        );
    }
    // Queues have to be ordered in any case.
    assert_eq!(transferred(true, None, true), [(Certain, Unordered, 1, 2)]);
    assert_eq!(transferred(true, None, false), [(Certain, Unordered, 1, 1)]);
}

/// "The contents of any portion of another resource which aliases memory that is bound to the transferred buffer (…) are undefined after a release
/// or acquire operation": without a transfer they are not.
#[test]
fn aliases_of_concurrent_resources_keep_their_contents() {
    for concurrent in [true, false] {
        let (mut rig, a) = buffer();
        let b = rig.buffer("b", 0);
        rig.0.resources[a as usize].concurrent = concurrent;
        let families = Dependency {
            memory: AffectedMemory::Buffer {
                resource: a,
                first: 0,
                end: SIZE,
            },
            families: Some([0, 1]),
            ..global(WRITTEN, READ)
        };
        let commands = vec![
            write(b),
            mb(WRITTEN, EVERYTHING),
            barrier(vec![families]),
            mb(EVERYTHING, READ),
            read(b),
        ];
        let found = found(rig, commands);
        let expected: &[FindingSummary] = match concurrent {
            true => NONE,
            false => &[(Certain, Overwritten, 3, 5)],
        };
        assert_eq!(found, expected, "{concurrent}");
    }
}

/// Without a transfer of ownership, both barriers of a concurrent image are layout transitions like any other.
#[test]
fn layouts_of_concurrent_images_change_in_every_barrier() {
    let mut rig = Rig::new();
    let a = rig.image("a", 0);
    rig.0.resources[a as usize].concurrent = true;
    let transfer = |src, dst, layouts| {
        let families = Some([0, 1]);
        barrier(vec![Dependency {
            families,
            ..transition(a, range(), src, dst, layouts)
        }])
    };
    let layouts = [L::GENERAL, L::SHADER_READ_ONLY_OPTIMAL];
    let first = rig.commands(vec![
        ib(a, NOTHING, WRITTEN, NEW),
        image_write(a),
        transfer(WRITTEN, BOTTOM, layouts),
    ]);
    let keeps = rig.commands(vec![
        transfer(READ, READ, [L::SHADER_READ_ONLY_OPTIMAL; 2]),
        image_read(a),
    ]);
    let discards = rig.commands(vec![
        transfer(READ, READ, [L::UNDEFINED, L::SHADER_READ_ONLY_OPTIMAL]),
        image_read(a),
    ]);
    rig.step(RecordedStep::Submit(Batch {
        signals: vec![semaphore(5, 0, S::ALL_COMMANDS)],
        ..batch(0, &[first])
    }));
    for (second, expected) in [(keeps, NONE), (discards, &[(Certain, Discarded, 1, 2)])] {
        let mut rig = rig.clone();
        rig.step(RecordedStep::Submit(Batch {
            waits: vec![semaphore(5, 0, CS)],
            ..batch(1, &[second])
        }));
        assert_eq!(rig.found(), expected);
    }
}

#[test]
fn transfers_to_others_in_two_batches_are_never_certain() {
    for family in [vk::QUEUE_FAMILY_EXTERNAL, vk::QUEUE_FAMILY_FOREIGN_EXT] {
        let (mut rig, a) = buffer();
        let transfer = |src, dst, families| barrier(vec![transfer(a, src, dst, families)]);
        let release = rig.commands(vec![write(a), transfer(WRITTEN, BOTTOM, [0, family])]);
        let acquire = rig.commands(vec![transfer(TOP, READ, [family, 0]), read(a)]);
        rig.submit(&[release]);
        rig.submit(&[acquire]);
        let found = rig.found();
        assert!(found.iter().all(|one| one.0 == Possible), "{found:?}");
    }
}

/// "Queue Family Ownership Transfer": the masks of an acquire's first scope are ignored, and only work outside of the batch could order it. Transfers
/// to external queues are needed "regardless of the `VkSharingMode`".
#[test]
fn transfers_to_others_and_back_in_one_batch_are_unordered() {
    let families = [vk::QUEUE_FAMILY_EXTERNAL, vk::QUEUE_FAMILY_FOREIGN_EXT];
    for (family, concurrent) in families
        .into_iter()
        .flat_map(|family| [(family, false), (family, true)])
    {
        let (mut rig, a) = buffer();
        rig.0.resources[a as usize].concurrent = concurrent;
        let transfer = |src, dst, families| barrier(vec![transfer(a, src, dst, families)]);
        let release = transfer(WRITTEN, BOTTOM, [0, family]);
        let acquire = transfer(TOP, READ, [family, 0]);
        let commands = rig.commands(vec![write(a), release, acquire, read(a)]);
        rig.submit(&[commands]);
        assert_eq!(rig.found(), [(Certain, Unordered, 2, 3)]);
    }
}

#[test]
fn images_that_were_presented_are_acquired_again() {
    for acquires in [true, false] {
        let mut rig = frame((S::COLOR_ATTACHMENT_OUTPUT, A::NONE), true, true);
        let wait = semaphore(3, 0, CS);
        let buffer = rig.commands(vec![image_write(0)]);
        if acquires {
            rig.step(RecordedStep::Acquire {
                resource: 0,
                semaphore: Some(3),
                fence: None,
            });
        }
        rig.step(RecordedStep::Submit(Batch {
            waits: acquires.then_some(wait).into_iter().collect(),
            ..batch(0, &[buffer])
        }));
        let found = rig.found();
        let presented = found.iter().filter(|one| one.2 == 0).map(|one| one.0);
        let expected: &[Certainty] = if acquires { &[] } else { &[Possible] };
        assert_eq!(presented.collect::<Vec<_>>(), expected, "{found:?}");
    }
}

#[test]
fn what_a_program_orders_by_exported_fences_is_possible_at_most() {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    let buffer = rig.commands(vec![write(a)]);
    let verdict = |outside: bool| {
        let mut rig = rig.clone();
        rig.submit(&[buffer]);
        if outside {
            rig.step(RecordedStep::Outside("vkGetFenceFdKHR".to_owned()));
        }
        rig.submit(&[buffer]);
        let report = rig.report();
        let is_listed = report
            .unchecked
            .iter()
            .any(|one| one.first == "`vkGetFenceFdKHR`");
        assert_eq!(is_listed, outside);
        report.findings[0].verdict
    };
    assert_eq!([verdict(false), verdict(true)], [Certain, Possible]);
}
