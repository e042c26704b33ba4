//! Variations of the recordings in `cases`: other stages, queues, events, semaphores, host accesses, secondary command buffers and repeated
//! submissions, each with the section that decides it.

use std::sync::Arc;

use crate::recordings::*;
use tileheap_sync::Certainty::Certain;
use tileheap_sync::MissingDependency::{Availability, Execution, Visibility};
use tileheap_sync::program::{
    AccessKind, Batch, Command, CommandBuffer, EventId, FenceId, HostStep, Program, QueueId, SemaphoreId,
    SemaphoreUse, Tag,
};
use tileheap_sync::{Certainty, LossReason, MissingDependency, Model};

type Hazards = Vec<(u64, u64, MissingDependency, Certainty)>;

const NONE: [(u64, u64, MissingDependency, Certainty); 0] = [];
const VERTEX_READ: Side = (S::VERTEX_SHADER, Mask::SHADER_STORAGE_READ);
const FRAGMENT_READ: Side = (S::FRAGMENT_SHADER, Mask::SHADER_STORAGE_READ);
const FRAGMENT_WRITE: Side = (S::FRAGMENT_SHADER, Mask::SHADER_STORAGE_WRITE);
const RESOLVE: Side = (S::RESOLVE, Mask::TRANSFER_WRITE);
const HOST_READ: Side = (S::HOST, Mask::HOST_READ);
const HOST_WRITE: Side = (S::HOST, Mask::HOST_WRITE);
const FIRST: SemaphoreId = SemaphoreId(1);

/// Commands with tags from `first`.
fn recorded(first: u64, commands: &[Command]) -> Arc<CommandBuffer> {
    let commands = commands.iter().cloned().zip(first..);
    let commands = commands.map(|(command, tag)| (Tag(tag), command));
    Arc::new(CommandBuffer {
        commands: commands.collect(),
    })
}

fn on_queue(queue: u64, commands: &Arc<CommandBuffer>) -> Batch {
    Batch {
        queue: QueueId(queue),
        command_buffers: vec![commands.clone()],
        ..Batch::default()
    }
}

fn signals(value: u64, batch: Batch) -> Batch {
    Batch {
        signals: vec![at(value, S::ALL_COMMANDS)],
        ..batch
    }
}

fn waits(value: u64, stages: S, batch: Batch) -> Batch {
    Batch {
        waits: vec![at(value, stages)],
        ..batch
    }
}

fn at(value: u64, stages: S) -> SemaphoreUse {
    SemaphoreUse {
        semaphore: FIRST,
        value,
        stages,
    }
}

fn host(number: u64, tag: u64, side: Side) -> HostStep {
    HostStep::Host(number, Tag(tag), access(A, all(A), side, AccessKind::Whole))
}

/// The hazards of a program with these steps, and numbered batches; its semaphore is a timeline, or binary.
fn of_steps(mut steps: Vec<HostStep>, is_timeline: bool) -> Hazards {
    for (step, number) in steps.iter_mut().zip(1..) {
        if let HostStep::Submit(batch) = step {
            batch.number = number;
        }
    }
    let timelines = if is_timeline { vec![(FIRST, 0)] } else { Vec::new() };
    let found = Model::check(&Program {
        steps,
        timelines,
        ..program(&[])
    });
    let hazards = found.hazards.iter().map(|one| {
        let (before, after) = (one.before.tag.0, one.after.tag.0);
        (before, after, one.missing, one.verdict)
    });
    hazards.collect()
}

fn of_batches(batches: Vec<Batch>) -> Hazards {
    of_steps(batches.into_iter().map(HostStep::Submit).collect(), false)
}

/// "Pipeline Barriers": the first scope includes all commands earlier in submission order, also those of other batches; submission order by itself
/// orders nothing.
#[test]
fn barriers_cover_earlier_batches_of_their_queue() {
    let judged = |second: &[Command]| {
        let (first, second) = (recorded(0, &[read(A)]), recorded(10, second));
        of_batches(vec![on_queue(0, &first), on_queue(0, &second)])
    };
    assert_eq!(judged(&[write(B)]), [(0, 10, Execution, Certain)]);
    assert_eq!(judged(&[memory(CS_NONE, CS_NONE), write(B)]), NONE);
    // It only includes commands of its own queue.
    let (first, second) = (
        recorded(0, &[read(A)]),
        recorded(10, &[memory(CS_NONE, CS_NONE), write(B)]),
    );
    let apart = of_batches(vec![on_queue(0, &first), on_queue(1, &second)]);
    assert_eq!(apart, [(0, 11, Execution, Certain)]);
}

/// "Semaphore Signaling", "Semaphore Waiting": a signal makes all writes available, and a wait makes them visible to all accesses at its stages; a
/// barrier continues the chain from these.
#[test]
fn semaphores_order_the_stages_that_wait_and_chains_from_there() {
    let judged = |stages, second: &[Command]| {
        let (first, second) = (recorded(0, &[write(A)]), recorded(10, second));
        let first = signals(0, on_queue(0, &first));
        of_batches(vec![first, waits(0, stages, on_queue(1, &second))])
    };
    assert_eq!(judged(S::COMPUTE_SHADER, &[read(B)]), NONE);
    assert_eq!(judged(S::ALL_COMMANDS, &[read(B)]), NONE);
    assert_eq!(judged(S::COPY, &[read(B)]), [(0, 10, Execution, Certain)]);
    let chained = [memory((S::COPY, Mask::NONE), CS_READ), read(B)];
    assert_eq!(judged(S::COPY, &chained), NONE);
    assert_eq!(judged(S::CLEAR, &chained), [(0, 11, Execution, Certain)]);
}

/// "Semaphores": a wait for a value of a timeline covers all signals up to that value, and does not order other queues.
#[test]
fn timelines_order_whoever_waits_for_the_value() {
    let (first, second) = (recorded(0, &[write(A)]), recorded(10, &[read(B)]));
    let judged = |reader: Batch| {
        let batches = vec![signals(3, on_queue(0, &first)), reader];
        of_steps(batches.into_iter().map(HostStep::Submit).collect(), true)
    };
    for value in 1..4 {
        let reader = waits(value, S::COMPUTE_SHADER, on_queue(1, &second));
        assert_eq!(judged(reader), NONE, "{value}");
    }
    assert_eq!(judged(on_queue(1, &second)), [(0, 10, Execution, Certain)]);
}

/// "Events": the first scope of a wait includes commands before the set command, not those between both.
#[test]
fn events_order_what_was_recorded_before_they_were_set() {
    let set = || Command::SetEvent(EventId(0), S::COMPUTE_SHADER);
    let wait = || {
        let Command::Barrier(dependencies) = memory(CS_WRITE, CS_READ) else {
            unreachable!("a barrier");
        };
        Command::WaitEvents(vec![EventId(0)], dependencies)
    };
    assert_eq!(hazards(&[write(A), set(), wait(), read(B)]), NONE);
    let late = hazards(&[set(), write(A), wait(), read(B)]);
    assert_eq!(late, [(1, 3, Execution, Certain)]);
    let early = hazards(&[write(A), set(), read(B), wait()]);
    assert_eq!(early, [(0, 2, Execution, Certain)]);
}

/// "Execution and Memory Dependencies": two dependencies form a chain if the second scope of the first has a stage of the first scope of the second.
#[test]
fn chains_need_a_stage_in_common() {
    let judged = |from| {
        hazards(&[
            write(A),
            memory(CS_WRITE, COPY_READ),
            memory((from, Mask::NONE), CS_READ),
            read(B),
        ])
    };
    assert_eq!(judged(S::COPY), NONE);
    assert_eq!(judged(S::ALL_TRANSFER), NONE);
    assert_eq!(judged(S::ALL_COMMANDS), NONE);
    assert_eq!(judged(S::CLEAR), [(0, 3, Execution, Certain)]);
    assert_eq!(judged(S::TOP_OF_PIPE), [(0, 3, Execution, Certain)]);
}

/// "Pipeline Stages": execution scopes also include logically earlier or later stages of the same pipeline, access scopes do not.
#[test]
fn logical_order_extends_execution_but_not_access_scopes() {
    let read_late = |to| hazards(&[write(A), memory(CS_WRITE, to), act(A, FRAGMENT_READ)]);
    assert_eq!(read_late(FRAGMENT_READ), NONE);
    assert_eq!(read_late(VERTEX_READ), [(0, 2, Visibility, Certain)]);
    assert_eq!(read_late(CS_READ), [(0, 2, Execution, Certain)]);
    let graphics = (S::ALL_GRAPHICS, Mask::MEMORY_READ);
    assert_eq!(read_late(graphics), NONE);
    // ALL_GRAPHICS includes DRAW_INDIRECT, which the compute pipeline also begins with.
    let dispatched = hazards(&[write(A), memory(CS_WRITE, graphics), read(A)]);
    assert_eq!(dispatched, [(0, 2, Visibility, Certain)]);
    let written_early = |from| hazards(&[act(A, FRAGMENT_WRITE), memory(from, CS_READ), read(A)]);
    assert_eq!(written_early(FRAGMENT_WRITE), NONE);
    assert_eq!(written_early(COLOR_WRITE), [(0, 2, Availability, Certain)]);
    // A write after a read only needs execution.
    let output = (S::COLOR_ATTACHMENT_OUTPUT, Mask::NONE);
    assert_eq!(
        hazards(&[act(A, FRAGMENT_READ), memory(output, CS_NONE), write(A)]),
        NONE
    );
    // Parameters are read before a dispatch, in its pipeline.
    let parameters = (S::DRAW_INDIRECT, Mask::INDIRECT_COMMAND_READ);
    assert_eq!(
        hazards(&[write(A), memory(CS_WRITE, parameters), act(A, parameters)]),
        NONE
    );
    assert_eq!(
        hazards(&[write(A), memory(CS_WRITE, parameters), read(A)]),
        [(0, 2, Visibility, Certain)]
    );
}

/// "Access Types": SHADER_READ is for sampled images, storage resources and binding tables, not for uniform buffers.
#[test]
fn writes_are_visible_to_the_accesses_that_a_barrier_names() {
    let uniform = (S::COMPUTE_SHADER, Mask::UNIFORM_READ);
    let judged = |mask| {
        hazards(&[
            write(A),
            memory(CS_WRITE, (S::COMPUTE_SHADER, mask)),
            act(A, uniform),
        ])
    };
    assert_eq!(judged(Mask::UNIFORM_READ), NONE);
    assert_eq!(judged(Mask::MEMORY_READ), NONE);
    assert_eq!(judged(Mask::SHADER_READ), [(0, 2, Visibility, Certain)]);
    assert_eq!(judged(Mask::SHADER_WRITE), [(0, 2, Visibility, Certain)]);
    let stored = |mask| hazards(&[write(A), memory((S::COMPUTE_SHADER, mask), CS_READ), read(A)]);
    assert_eq!(stored(Mask::SHADER_WRITE), NONE);
    assert_eq!(stored(Mask::MEMORY_WRITE), NONE);
    assert_eq!(stored(Mask::SHADER_READ), [(0, 2, Availability, Certain)]);
}

/// "Pipeline Stages": `vkCmdResolveImage` is at the RESOLVE stage.
#[test]
fn resolves_are_at_their_own_stage() {
    let judged = |stages| {
        hazards(&[
            act(Z, RESOLVE),
            memory((stages, Mask::TRANSFER_WRITE), CS_READ),
            read(Z),
        ])
    };
    assert_eq!(judged(S::RESOLVE), NONE);
    assert_eq!(judged(S::ALL_TRANSFER), NONE);
    for stages in [S::COPY, S::BLIT, S::CLEAR] {
        assert_eq!(judged(stages), [(0, 2, Execution, Certain)]);
    }
}

/// "Memory Aliasing": buffers interpret memory consistently, byte by byte; a non-linear image overlaps with all of its subresources.
#[test]
fn parts_of_aliases_overlap_by_byte_for_buffers_and_as_a_whole_for_images() {
    use tileheap_sync::program::ResourcePart::Bytes;
    let copy = |resource, part| act_on(resource, part, COPY_WRITE, AccessKind::Whole);
    assert_eq!(hazards(&[copy(A, Bytes(0, 32)), copy(B, Bytes(32, 64))]), NONE);
    assert_eq!(
        hazards(&[copy(A, Bytes(0, 33)), copy(B, Bytes(32, 64))]),
        [(0, 1, Execution, Certain)]
    );
    let columns_of = |first, second| hazards(&[copy(first, columns(0, 4)), copy(second, columns(4, 8))]);
    assert_eq!(columns_of(Z, Z), NONE);
    assert_eq!(columns_of(X, Y), [(0, 1, Execution, Certain)]);
}

/// "Host Write Ordering Guarantees": a submission orders earlier writes of the host; the host waits with a fence, and writes that it reads have to be
/// made visible to it.
#[test]
fn the_host_is_ordered_by_submissions_fences_and_barriers() {
    let run = |commands: &[Command]| {
        let batch = on_queue(0, &recorded(0, commands));
        HostStep::Submit(Batch {
            fence: Some(FenceId(1)),
            ..batch
        })
    };
    let fence = || HostStep::WaitFence(FenceId(1));
    assert_eq!(
        of_steps(vec![host(1, 20, HOST_WRITE), run(&[read(A)])], false),
        NONE
    );
    let late = of_steps(vec![run(&[read(A)]), host(1, 20, HOST_WRITE)], false);
    assert_eq!(late, [(0, 20, Execution, Certain)]);
    let overwritten = vec![run(&[read(A)]), fence(), host(1, 20, HOST_WRITE)];
    assert_eq!(of_steps(overwritten, false), NONE);
    let judged = |commands: &[Command]| of_steps(vec![run(commands), fence(), host(1, 20, HOST_READ)], false);
    assert_eq!(judged(&[write(A), memory(CS_WRITE, HOST_READ)]), NONE);
    assert_eq!(judged(&[write(A)]), [(0, 20, Visibility, Certain)]);
    assert_eq!(
        judged(&[write(A), memory(CS_WRITE, CS_READ)]),
        [(0, 20, Visibility, Certain)]
    );
}

/// "Command Buffer Submission Rules": secondary command buffers are in submission order between the commands of their primary.
#[test]
fn barriers_cover_secondary_command_buffers() {
    let run = |first, commands: &[Command]| Command::Execute(recorded(first, commands));
    assert_eq!(
        hazards(&[write(A), run(10, &[memory(CS_WRITE, CS_READ), read(B)])]),
        NONE
    );
    assert_eq!(
        hazards(&[run(10, &[write(A), memory(CS_WRITE, CS_READ)]), read(B)]),
        NONE
    );
    let between = |barrier| hazards(&[run(10, &[write(A)]), barrier, run(20, &[read(B)])]);
    assert_eq!(between(memory(CS_WRITE, CS_READ)), NONE);
    assert_eq!(between(memory(CLEAR, CS_READ)), [(10, 20, Execution, Certain)]);
}

/// "Command Buffer Lifecycle": each execution of a command buffer is separate.
#[test]
fn repeated_executions_of_a_command_buffer_need_an_order() {
    let twice = |commands: &[Command], queues: [u64; 2], between: &[HostStep]| {
        let commands = recorded(0, commands);
        let [first, second] = queues.map(|queue| HostStep::Submit(on_queue(queue, &commands)));
        of_steps([&[first], between, &[second]].concat(), false)
    };
    let unordered = [(0, 0, Execution, Certain)];
    assert_eq!(twice(&[write(A)], [0, 0], &[]), unordered);
    assert_eq!(twice(&[write(A)], [0, 1], &[]), unordered);
    let guarded = [memory(CS_WRITE, CS_WRITE), write(A)];
    assert_eq!(twice(&guarded, [0, 0], &[]), NONE);
    assert_eq!(twice(&guarded, [0, 1], &[]), [(1, 1, Execution, Certain)]);
    assert_eq!(twice(&[read(A)], [0, 1], &[]), NONE);
    // The same within one batch.
    let commands = recorded(0, &[write(A)]);
    let mut batch = on_queue(0, &commands);
    batch.command_buffers.push(commands);
    assert_eq!(of_batches(vec![batch]), unordered);
}

/// "Image Layout Transitions": a transition reads and writes; reads are not implicitly ordered before it.
#[test]
fn transitions_are_writes_to_those_who_read() {
    let judged = |from| hazards(&[read(Z), image(Z, from, CS_READ)]);
    assert_eq!(judged(CS_NONE), NONE);
    assert_eq!(judged(NOTHING), [(0, 1, Execution, Certain)]);
    // Reads need no order among each other, nor with the transition of another image.
    assert_eq!(hazards(&[read(Z), read(Z), image(X, NOTHING, CS_READ)]), NONE);
}

/// "Memory Aliasing": a write through an alias makes contents undefined; the image needs new contents, even after its own transition.
#[test]
fn an_image_that_gets_its_bytes_back_is_undefined_until_it_is_written() {
    let both = || {
        memory(
            EVERYTHING,
            (S::ALL_COMMANDS, Mask::MEMORY_READ | Mask::MEMORY_WRITE),
        )
    };
    let sides = (
        EVERYTHING,
        (S::ALL_COMMANDS, Mask::MEMORY_READ | Mask::MEMORY_WRITE),
    );
    let judged = |last: &[Command]| {
        let first = [
            image(X, NOTHING, CS_WRITE),
            write(X),
            both(),
            image(Y, sides.0, sides.1),
            write(Y),
            both(),
        ];
        lost(&[&first[..], last].concat())
    };
    assert_eq!(judged(&[read(Y)]), []);
    assert_eq!(
        judged(&[image(X, sides.0, sides.1), write(X), both(), read(X)]),
        []
    );
    let unwritten = judged(&[image(X, sides.0, sides.1), read(X)]);
    assert!(
        matches!(
            unwritten[..],
            [(7, LossReason::Discarded(_) | LossReason::Overwritten(_), Certain)]
        ),
        "{unwritten:?}"
    );
    let stale = judged(&[read(X)]);
    assert!(matches!(stale[..], [(6, _, Certain)]), "{stale:?}");
}
