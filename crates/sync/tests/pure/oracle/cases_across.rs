//! Programs with several queues, and with the host.

use ash::vk;
use tileheap_sync::Certainty::Certain;
use tileheap_sync::MissingDependency::{Availability, Execution, Visibility};
use tileheap_sync::program::*;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::make::*;

const ALL: S = S::ALL_COMMANDS;
const FENCE: FenceId = FenceId(1);

fn write(queue: u64, tag: u64) -> Batch {
    batch(queue, tag, vec![copy_to(BUFFER)])
}

fn read(queue: u64, tag: u64) -> Batch {
    batch(queue, tag, vec![copy_from(BUFFER)])
}

fn signaling(batch: Batch, semaphore: SemaphoreId, value: u64, stages: S) -> HostStep {
    HostStep::Submit(Batch {
        signals: uses(semaphore, value, stages),
        ..batch
    })
}

fn waiting(batch: Batch, semaphore: SemaphoreId, value: u64, stages: S) -> HostStep {
    HostStep::Submit(Batch {
        waits: uses(semaphore, value, stages),
        ..batch
    })
}

fn host(tag: u64, flags: A) -> HostStep {
    HostStep::Host(
        9,
        Tag(tag),
        access(
            BUFFER,
            ResourcePart::Bytes(0, 1024),
            S::HOST,
            flags,
            AccessKind::Whole,
        ),
    )
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = semaphores();
    cases.extend(transfers());
    cases.extend(with_the_host());
    cases
}

/// "Semaphore Signaling" and "Semaphore Waiting".
fn semaphores() -> Vec<Case> {
    let from_copies = memory(
        S::COPY,
        A::TRANSFER_WRITE,
        S::COPY,
        A::TRANSFER_READ | A::TRANSFER_WRITE,
    );
    vec![
        steps(
            "queues without a semaphore",
            vec![HostStep::Submit(write(0, 0)), HostStep::Submit(read(1, 1))],
            vec![(0, 1, Execution, Certain)],
        ),
        // A signal makes all accesses at its stages available, a wait makes them visible to all at its stages.
        steps(
            "two queues",
            vec![
                signaling(write(0, 0), TIMELINE, 1, S::COPY),
                waiting(read(1, 1), TIMELINE, 1, S::COPY),
            ],
            vec![],
        ),
        steps(
            "signal at another stage",
            vec![
                signaling(write(0, 0), TIMELINE, 1, S::BLIT),
                waiting(read(1, 1), TIMELINE, 1, S::COPY),
            ],
            vec![(0, 1, Execution, Certain)],
        ),
        steps(
            "wait at another stage",
            vec![
                signaling(write(0, 0), TIMELINE, 1, S::COPY),
                waiting(read(1, 1), TIMELINE, 1, S::BLIT),
            ],
            vec![(0, 1, Execution, Certain)],
        ),
        // The wait is submitted first, and kept.
        steps(
            "wait before signal",
            vec![
                waiting(read(1, 1), TIMELINE, 1, ALL),
                signaling(write(0, 0), TIMELINE, 1, ALL),
            ],
            vec![],
        ),
        // A signal covers earlier batches, and through earlier signals everything that those cover at other stages.
        steps(
            "signal after another batch",
            vec![
                HostStep::Submit(write(0, 0)),
                signaling(batch(0, 1, vec![]), TIMELINE, 1, ALL),
                waiting(read(1, 2), TIMELINE, 1, ALL),
            ],
            vec![],
        ),
        steps(
            "signal after another signal",
            vec![
                signaling(write(0, 0), TIMELINE, 1, S::COPY),
                signaling(batch(0, 1, vec![]), TIMELINE, 2, S::BLIT),
                waiting(read(1, 2), TIMELINE, 2, ALL),
            ],
            vec![],
        ),
        // The wait for 1 may end before the second batch.
        steps(
            "lowest value",
            vec![
                signaling(batch(0, 0, vec![]), TIMELINE, 1, ALL),
                signaling(write(0, 1), TIMELINE, 2, ALL),
                waiting(read(1, 2), TIMELINE, 1, ALL),
            ],
            vec![(1, 2, Execution, Certain)],
        ),
        // The first wait consumes the signal of a binary semaphore.
        steps(
            "unsignaled",
            vec![
                signaling(write(0, 0), BINARY, 0, ALL),
                waiting(batch(1, 1, vec![]), BINARY, 0, ALL),
                waiting(read(2, 2), BINARY, 0, ALL),
            ],
            vec![(0, 2, Execution, Certain)],
        ),
        // Events are limited to one queue.
        steps(
            "event of another queue",
            vec![
                HostStep::Submit(batch(
                    0,
                    0,
                    vec![copy_to(BUFFER), Command::SetEvent(EventId(1), S::COPY)],
                )),
                HostStep::Submit(batch(
                    1,
                    2,
                    vec![
                        Command::WaitEvents(vec![EventId(1)], vec![from_copies]),
                        copy_from(BUFFER),
                    ],
                )),
            ],
            vec![(0, 3, Execution, Certain)],
        ),
    ]
}

/// "Queue Family Ownership Transfer".
fn transfers() -> Vec<Case> {
    let copies_to = |dst| memory(S::COPY, A::TRANSFER_WRITE, dst, A::TRANSFER_READ);
    let copies_from = |src| memory(src, A::NONE, S::COPY, A::TRANSFER_READ);
    let release = |dst| batch(0, 0, vec![copy_to(BUFFER), transfer(copies_to(dst))]);
    let acquire = |src| batch(1, 2, vec![transfer(copies_from(src)), copy_from(BUFFER)]);
    vec![
        // Release, signal, wait and acquire are in each other's scopes.
        steps(
            "transfer",
            vec![
                signaling(release(S::NONE), BINARY, 0, ALL),
                waiting(acquire(S::NONE), BINARY, 0, ALL),
            ],
            vec![],
        ),
        // The acquire has no first scope, so a wait for copies does not include it.
        steps(
            "acquire after copies",
            vec![
                signaling(release(S::NONE), BINARY, 0, ALL),
                waiting(acquire(S::COPY), BINARY, 0, S::COPY),
            ],
            vec![(1, 2, Execution, Certain)],
        ),
        // The release has no second scope: the signal's scope of copies does not include it.
        steps(
            "release before copies",
            vec![
                signaling(release(S::COPY), BINARY, 0, S::COPY),
                waiting(acquire(S::NONE), BINARY, 0, ALL),
            ],
            vec![(1, 2, Execution, Certain)],
        ),
    ]
}

/// "Fences", "Host Write Ordering Guarantees" and the memory domains of the host and the device.
fn with_the_host() -> Vec<Case> {
    let fenced = |commands| {
        HostStep::Submit(Batch {
            fence: Some(FENCE),
            ..batch(0, 0, commands)
        })
    };
    let to_host = |flags| barrier(memory(S::COPY, A::TRANSFER_WRITE, S::HOST, flags));
    let to_all = || barrier(memory(S::COPY, A::TRANSFER_WRITE, ALL, A::MEMORY_READ));
    vec![
        // The submission makes the host's writes visible to all of the device.
        steps(
            "host write, device read",
            vec![host(0, A::HOST_WRITE), HostStep::Submit(read(0, 1))],
            vec![],
        ),
        steps(
            "host write after submission",
            vec![HostStep::Submit(read(0, 0)), host(1, A::HOST_WRITE)],
            vec![(0, 1, Execution, Certain)],
        ),
        // A fence only makes a write available to the device domain, a dependency with HOST to the host domain.
        steps(
            "fence without HOST",
            vec![
                fenced(vec![copy_to(BUFFER), to_all()]),
                HostStep::WaitFence(FENCE),
                host(2, A::HOST_READ),
            ],
            vec![(0, 2, Visibility, Certain)],
        ),
        steps(
            "fence without HOST before a write",
            vec![
                fenced(vec![copy_to(BUFFER)]),
                HostStep::WaitFence(FENCE),
                host(1, A::HOST_WRITE),
            ],
            vec![(0, 1, Availability, Certain)],
        ),
        steps(
            "fence with HOST",
            vec![
                fenced(vec![copy_to(BUFFER), to_host(A::HOST_READ)]),
                HostStep::WaitFence(FENCE),
                host(2, A::HOST_READ),
                host(3, A::HOST_WRITE),
            ],
            vec![],
        ),
        steps(
            "HOST without a fence",
            vec![
                fenced(vec![copy_to(BUFFER), to_host(A::HOST_READ)]),
                HostStep::ResetFence(FENCE),
                HostStep::WaitFence(FENCE),
                host(2, A::HOST_READ),
            ],
            vec![(0, 2, Execution, Certain)],
        ),
        steps(
            "value with HOST",
            vec![
                signaling(
                    batch(0, 0, vec![copy_to(BUFFER), to_host(A::HOST_READ)]),
                    TIMELINE,
                    1,
                    ALL,
                ),
                HostStep::WaitSemaphore(TIMELINE, 1),
                host(2, A::HOST_READ),
            ],
            vec![],
        ),
        // Work that the host waited for is before later submissions, on any queue.
        steps(
            "idle",
            vec![
                HostStep::Submit(write(0, 0)),
                HostStep::WaitIdle(Some(QueueId(0))),
                HostStep::Submit(read(1, 1)),
            ],
            vec![],
        ),
        // It is not before work that was already submitted and waits for something else.
        steps(
            "idle after submission",
            vec![
                HostStep::Submit(write(0, 0)),
                waiting(read(1, 1), TIMELINE, 1, S::BLIT),
                HostStep::WaitIdle(None),
                HostStep::SignalSemaphore(TIMELINE, 1),
            ],
            vec![(0, 1, Execution, Certain)],
        ),
        // The exception "host signal".
        steps(
            "host signal",
            vec![
                waiting(read(0, 1), TIMELINE, 1, ALL),
                host(0, A::HOST_WRITE),
                HostStep::SignalSemaphore(TIMELINE, 1),
            ],
            vec![],
        ),
        steps(
            "host signal through another batch",
            vec![
                HostStep::Submit(Batch {
                    waits: uses(TIMELINE, 1, ALL),
                    signals: uses(TIMELINE, 2, S::BLIT),
                    ..batch(0, 1, vec![])
                }),
                waiting(read(1, 2), TIMELINE, 2, ALL),
                host(0, A::HOST_WRITE),
                HostStep::SignalSemaphore(TIMELINE, 1),
            ],
            vec![],
        ),
    ]
}
