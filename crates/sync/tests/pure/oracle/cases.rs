//! Programs with a buffer on one queue, and their hazards.

use ash::vk;
use tileheap_sync::Certainty::{Certain, Possible};
use tileheap_sync::MissingDependency::{Availability, Execution, Visibility};
use tileheap_sync::program::*;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::make::*;

const READ: A = A::TRANSFER_READ;
const WRITE: A = A::TRANSFER_WRITE;

fn memory_barrier(src: S, src_access: A, dst: S, dst_access: A) -> Command {
    barrier(memory(src, src_access, dst, dst_access))
}

fn storage(stage: S, flags: A) -> Command {
    whole(BUFFER, stage, flags)
}

fn some(flags: A) -> Command {
    act(access(
        BUFFER,
        ResourcePart::Bytes(0, 1024),
        S::COMPUTE_SHADER,
        flags,
        AccessKind::Partial,
    ))
}

fn bytes(first: u64, end: u64, flags: A) -> Command {
    act(access(
        BUFFER,
        ResourcePart::Bytes(first, end),
        S::COPY,
        flags,
        AccessKind::Whole,
    ))
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = barriers();
    cases.extend(stages());
    cases.extend(cells());
    cases.extend(events());
    cases
}

/// "Execution and Memory Dependencies".
fn barriers() -> Vec<Case> {
    vec![
        // Data Race: nothing orders the two.
        one(
            "read after write",
            vec![copy_to(BUFFER), copy_from(BUFFER)],
            vec![(0, 1, Execution, Certain)],
        ),
        // Discards of memory are not accesses.
        one(
            "discard between writes and reads",
            vec![
                copy_to(BUFFER),
                copies(),
                Command::Discard(Discard {
                    memory: MemoryId(1),
                    first: 512,
                    end: 2048,
                    reports_contents: true,
                }),
                copy_from(BUFFER),
            ],
            vec![],
        ),
        // The write is made available and then visible.
        one(
            "read after write with a barrier",
            vec![copy_to(BUFFER), copies(), copy_from(BUFFER)],
            vec![],
        ),
        // synchronization-dependencies-memory: an execution dependency makes nothing available.
        one(
            "read after write with an execution barrier",
            vec![
                copy_to(BUFFER),
                barrier(execution(S::COPY, S::COPY)),
                copy_from(BUFFER),
            ],
            vec![(0, 2, Availability, Certain)],
        ),
        // Location-Ordered: after a read, happens-before is enough.
        one(
            "write after read with an execution barrier",
            vec![
                copy_from(BUFFER),
                barrier(execution(S::COPY, S::COPY)),
                copy_to(BUFFER),
            ],
            vec![],
        ),
        // Location-Ordered: two writes only need availability, so the reader's visibility does not matter to the second write.
        one(
            "write, read, write",
            vec![
                copy_to(BUFFER),
                memory_barrier(S::COPY, WRITE, S::COPY, READ),
                copy_from(BUFFER),
                barrier(execution(S::COPY, S::COPY)),
                copy_to(BUFFER),
            ],
            vec![],
        ),
        // synchronization-dependencies-available-and-visible: an available value remains so, through execution dependencies.
        one(
            "availability persists",
            vec![
                copy_to(BUFFER),
                memory_barrier(S::COPY, WRITE, S::COMPUTE_SHADER, A::NONE),
                barrier(execution(S::COMPUTE_SHADER, S::BLIT)),
                memory_barrier(S::BLIT, A::NONE, S::COMPUTE_SHADER, A::SHADER_READ),
                storage(S::COMPUTE_SHADER, A::SHADER_STORAGE_READ),
            ],
            vec![],
        ),
    ]
}

/// "Pipeline Stages" and "Access Types".
fn stages() -> Vec<Case> {
    vec![
        // Access Types: SHADER_READ is not UNIFORM_READ.
        one(
            "uniform reads are not shader reads",
            vec![
                copy_to(BUFFER),
                memory_barrier(S::COPY, WRITE, S::COMPUTE_SHADER, A::SHADER_READ),
                storage(S::COMPUTE_SHADER, A::UNIFORM_READ),
            ],
            vec![(0, 2, Visibility, Certain)],
        ),
        // synchronization-dependencies-chains: the scopes do not have a stage in common.
        one(
            "broken chain",
            vec![
                copy_from(BUFFER),
                barrier(execution(S::COPY, S::BLIT)),
                barrier(execution(S::COMPUTE_SHADER, S::CLEAR)),
                whole(BUFFER, S::CLEAR, WRITE),
            ],
            vec![(0, 3, Execution, Certain)],
        ),
        // A barrier for copies does not wait for a clear.
        one(
            "fill with a barrier for copies",
            vec![whole(BUFFER, S::CLEAR, WRITE), copies(), copy_from(BUFFER)],
            vec![(0, 2, Execution, Certain)],
        ),
        // synchronization-pipeline-stages-order: vertex shaders are before fragment shaders, but in the access scope only if named.
        one(
            "logically earlier stages",
            vec![
                storage(S::VERTEX_SHADER, A::SHADER_STORAGE_READ),
                memory_barrier(S::FRAGMENT_SHADER, A::SHADER_WRITE, S::COPY, WRITE),
                copy_to(BUFFER),
            ],
            vec![],
        ),
        one(
            "logically earlier stages have no availability",
            vec![
                storage(S::VERTEX_SHADER, A::SHADER_STORAGE_WRITE),
                memory_barrier(S::FRAGMENT_SHADER, A::SHADER_WRITE, S::COPY, WRITE),
                copy_to(BUFFER),
            ],
            vec![(0, 2, Availability, Certain)],
        ),
        one(
            "logically later stages",
            vec![
                copy_from(BUFFER),
                barrier(execution(S::COPY, S::VERTEX_SHADER)),
                storage(S::FRAGMENT_SHADER, A::SHADER_STORAGE_WRITE),
            ],
            vec![],
        ),
        one(
            "logically later stages have no visibility",
            vec![
                copy_to(BUFFER),
                memory_barrier(S::COPY, WRITE, S::VERTEX_SHADER, A::SHADER_READ),
                storage(S::FRAGMENT_SHADER, A::SHADER_STORAGE_READ),
            ],
            vec![(0, 2, Visibility, Certain)],
        ),
        // BOTTOM_OF_PIPE as a source means all commands, and so does TOP_OF_PIPE as a destination.
        one(
            "bottom to top",
            vec![
                copy_from(BUFFER),
                barrier(execution(S::BOTTOM_OF_PIPE, S::TOP_OF_PIPE)),
                copy_to(BUFFER),
            ],
            vec![],
        ),
    ]
}

/// "Memory Location" and "Data Race".
fn cells() -> Vec<Case> {
    vec![
        // Copies of different bytes.
        one(
            "disjoint copies",
            vec![
                bytes(0, 512, WRITE),
                bytes(512, 1024, WRITE),
                bytes(256, 512, READ),
            ],
            vec![(0, 2, Execution, Certain)],
        ),
        // A barrier for half of the buffer orders all of it, and makes half of it available.
        one(
            "barrier for a half",
            vec![
                copy_to(BUFFER),
                barrier(Dependency {
                    memory: DependencyMemory::Part(BUFFER, ResourcePart::Bytes(0, 512)),
                    ..memory(S::COPY, WRITE, S::COPY, READ)
                }),
                copy_from(BUFFER),
            ],
            vec![(0, 2, Availability, Certain)],
        ),
        // The missing dependency differs by bytes: the worst is reported.
        one(
            "available in a half",
            vec![
                copy_to(BUFFER),
                barrier(Dependency {
                    memory: DependencyMemory::Part(BUFFER, ResourcePart::Bytes(0, 512)),
                    ..memory(S::COPY, WRITE, S::COPY, A::NONE)
                }),
                copy_from(BUFFER),
            ],
            vec![(0, 2, Availability, Certain)],
        ),
        // Data Race: only the nearest write counts, and the first of equal reads is hidden. Reads do not hide a write.
        one(
            "adjacent accesses",
            vec![
                copy_to(BUFFER),
                copy_to(BUFFER),
                copy_from(BUFFER),
                copy_from(BUFFER),
                copy_to(BUFFER),
            ],
            vec![
                (0, 1, Execution, Certain),
                (1, 2, Execution, Certain),
                (1, 3, Execution, Certain),
                (1, 4, Execution, Certain),
                (3, 4, Execution, Certain),
            ],
        ),
        // Only the stage is known of an imported resource.
        one(
            "unknown access",
            vec![
                storage(S::COMPUTE_SHADER, A::NONE),
                barrier(memory(S::COMPUTE_SHADER, A::NONE, S::COPY, A::TRANSFER_READ)),
                copy_from(BUFFER),
                storage(S::FRAGMENT_SHADER, A::NONE),
            ],
            vec![(0, 3, Execution, Certain), (2, 3, Execution, Certain)],
        ),
        // Unknown elements hide nothing; they certainly overlap if all of them do.
        one(
            "some elements",
            vec![copy_to(BUFFER), some(A::SHADER_STORAGE_WRITE), copy_to(BUFFER)],
            vec![
                (0, 1, Execution, Certain),
                (0, 2, Execution, Certain),
                (1, 2, Execution, Certain),
            ],
        ),
        one(
            "some elements and others",
            vec![
                some(A::SHADER_STORAGE_WRITE),
                some(A::SHADER_STORAGE_WRITE),
                bytes(0, 512, A::TRANSFER_READ),
            ],
            vec![(0, 1, Execution, Possible), (1, 2, Execution, Possible)],
        ),
    ]
}

/// "Events".
fn events() -> Vec<Case> {
    vec![
        // "Events": the signal covers operations before it, the wait nothing else.
        one(
            "event",
            vec![
                copy_to(BUFFER),
                Command::SetEvent(EventId(1), S::COPY),
                copy_from(ALIAS),
                Command::WaitEvents(
                    vec![EventId(1)],
                    vec![memory(S::COPY, WRITE, S::COPY, READ | WRITE)],
                ),
                copy_from(BUFFER),
                copy_to(ALIAS),
            ],
            vec![(2, 5, Execution, Certain)],
        ),
        // "vkCmdSetEvent": the first scope is also limited to its stages, though the copy is in a chain to those of the wait.
        one(
            "event of other stages than the wait",
            vec![
                copy_to(BUFFER),
                barrier(memory(S::COPY, WRITE, S::COMPUTE_SHADER, A::NONE)),
                Command::SetEvent(EventId(1), S::COPY),
                Command::WaitEvents(
                    vec![EventId(1)],
                    vec![memory(S::COMPUTE_SHADER, A::NONE, S::COPY, READ)],
                ),
                copy_from(BUFFER),
            ],
            vec![(0, 4, Execution, Certain)],
        ),
        one(
            "event of more stages than the wait",
            vec![
                copy_to(BUFFER),
                barrier(memory(S::COPY, WRITE, S::COMPUTE_SHADER, A::NONE)),
                Command::SetEvent(EventId(1), S::ALL_COMMANDS),
                Command::WaitEvents(
                    vec![EventId(1)],
                    vec![memory(S::COMPUTE_SHADER, A::NONE, S::COPY, READ)],
                ),
                copy_from(BUFFER),
            ],
            vec![],
        ),
        one(
            "event that is reset",
            vec![
                copy_to(BUFFER),
                Command::SetEvent(EventId(1), S::COPY),
                Command::ResetEvent(EventId(1)),
                Command::WaitEvents(vec![EventId(1)], vec![memory(S::COPY, WRITE, S::COPY, READ)]),
                copy_from(BUFFER),
            ],
            vec![(0, 4, Execution, Certain)],
        ),
    ]
}
