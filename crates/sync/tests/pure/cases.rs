//! Recordings with known verdicts, each with the section that decides it.

use std::sync::Arc;

use crate::recordings::*;
use tileheap_sync::Certainty::{Certain, Pedantic};
use tileheap_sync::MissingDependency::{Availability, Execution, Visibility};
use tileheap_sync::program::{
    AccessKind, BarrierChange, Command, CommandBuffer, Dependency, DependencyMemory, EventId, FenceId,
    HostStep, Resource, ResourcePart, SemaphoreId, SemaphoreUse, Tag,
};
use tileheap_sync::{Action, Certainty, Hazard, LossReason, MissingDependency, Model};

const NONE: [(u64, u64, MissingDependency, Certainty); 0] = [];
const COLOR: ImageLayout = ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
const GENERAL: ImageLayout = ImageLayout::GENERAL;

/// "Location-Ordered": an available write needs no other availability operation before the next write; "Execution and Memory Dependencies": a write
/// after a read only needs an execution dependency.
#[test]
fn an_available_write_stays_available() {
    let commands = vec![
        write(A),
        memory(CS_WRITE, CS_READ),
        read(A),
        memory(CS_NONE, CS_NONE),
        write(B),
    ];
    assert_eq!(hazards(&commands), NONE);
    let mut ends = commands.clone();
    ends[3] = memory((S::BOTTOM_OF_PIPE, Mask::NONE), (S::TOP_OF_PIPE, Mask::NONE));
    assert_eq!(hazards(&ends), NONE);
    let without_memory = [write(A), memory(CS_NONE, CS_NONE), write(B)];
    assert_eq!(hazards(&without_memory), [(0, 2, Availability, Certain)]);
    let without_last = [&commands[..3], &commands[4..]].concat();
    assert_eq!(hazards(&without_last), [(2, 3, Execution, Certain)]);
}

#[test]
fn a_copy_source_may_be_overwritten_after_an_execution_dependency() {
    let commands = [
        write(A),
        memory(CS_WRITE, COPY_READ),
        act(A, COPY_READ),
        memory((S::COPY, Mask::NONE), CS_NONE),
        write(B),
    ];
    assert_eq!(hazards(&commands), NONE);
}

#[test]
fn an_aliasing_image_is_ordered_by_its_first_transition() {
    let commands = |last: Command| {
        [
            image(X, NOTHING, CS_WRITE),
            write(X),
            memory(CS_WRITE, CS_READ),
            read(X),
            last,
            write(Y),
        ]
    };
    assert_eq!(hazards(&commands(image(Y, CS_NONE, CS_WRITE))), NONE);
    let late = hazards(&commands(image(Y, NOTHING, CS_WRITE)));
    assert_eq!(late, [(1, 4, Execution, Certain), (3, 4, Execution, Certain)]);
}

/// "Image Layout Transitions": transitions of one queue execute in submission order; "Memory Aliasing" requires a dependency between uses of two
/// aliases.
#[test]
fn transitions_are_in_submission_order() {
    let twice = [image(X, NOTHING, NOTHING), image(X, NOTHING, CS_WRITE), write(X)];
    assert_eq!(hazards(&twice), NONE);
    let aliases = [image(X, NOTHING, NOTHING), image(Y, NOTHING, CS_WRITE), write(Y)];
    assert_eq!(hazards(&aliases), [(0, 1, Execution, Pedantic)]);
    // That does not order other commands.
    let unordered = [image(X, NOTHING, CS_WRITE), image(X, NOTHING, NOTHING), write(X)];
    assert_eq!(hazards(&unordered), [(1, 2, Execution, Certain)]);
}

/// "Pipeline Stages": COPY, CLEAR, BLIT and RESOLVE are different stages; `vkCmdFillBuffer` and `vkCmdUpdateBuffer` are clear commands.
#[test]
fn fills_are_at_the_clear_stage() {
    let fill = |stages| {
        let barrier = memory((stages, Mask::TRANSFER_WRITE), CS_READ);
        hazards(&[act(A, CLEAR), barrier, read(A)])
    };
    assert_eq!(fill(S::COPY), [(0, 2, Execution, Certain)]);
    assert_eq!(fill(S::CLEAR), NONE);
    assert_eq!(fill(S::ALL_TRANSFER), NONE);
    for stage in [S::BLIT, S::RESOLVE] {
        assert_eq!(fill(stage), [(0, 2, Execution, Certain)]);
        let write = act(A, (stage, Mask::TRANSFER_WRITE));
        let barrier = memory((stage, Mask::TRANSFER_WRITE), CS_READ);
        assert_eq!(hazards(&[write, barrier, read(A)]), NONE);
    }
}

/// A subpass writes a color attachment and the next one reads it: the textbook's G-buffer.
fn subpass_input(stores: bool, dependency: (Side, Side)) -> Vec<(u64, u64, MissingDependency, Certainty)> {
    let (from, to) = dependency;
    let mut store = crate::recordings::access(Z, all(Z), COLOR_WRITE, AccessKind::Store);
    store.discards = !stores;
    hazards(&[
        begin(
            &[
                (None, Some(0), NOTHING, COLOR_WRITE),
                (Some(0), Some(1), from, to),
                (Some(1), None, EVERYTHING, NOTHING),
            ],
            &[attachment(Z, GENERAL, &[(0, COLOR), (1, COLOR)], GENERAL)],
        ),
        act_on(Z, all(Z), COLOR_WRITE, AccessKind::Load),
        act_on(Z, all(Z), COLOR_WRITE, AccessKind::Attachment),
        Command::NextSubpass,
        act_on(Z, all(Z), INPUT, AccessKind::Attachment),
        Command::Action(vec![store]),
        Command::EndRendering,
    ])
}

#[test]
fn a_color_to_input_attachment_dependency_orders_subpasses() {
    for stores in [true, false] {
        assert_eq!(subpass_input(stores, (COLOR_WRITE, INPUT)), NONE);
        let hazards = subpass_input(stores, ((COLOR_WRITE.0, Mask::NONE), INPUT));
        assert_eq!(hazards, [(2, 4, Availability, Certain)]);
        let hazards = subpass_input(stores, (COLOR_WRITE, (INPUT.0, Mask::SHADER_SAMPLED_READ)));
        assert_eq!(hazards, [(2, 4, Visibility, Certain)]);
    }
}

/// Source: `VkSubpassDependency`: commands before the render pass instance are not in the first scope of a dependency between subpasses.
#[test]
fn subpass_dependencies_do_not_cover_earlier_commands() {
    let commands = |from: Option<u32>| {
        hazards(&[
            act(Z, COLOR_WRITE),
            begin(
                &[(from, Some(1), COLOR_WRITE, INPUT)],
                &[attachment(Z, GENERAL, &[(1, COLOR)], COLOR)],
            ),
            Command::NextSubpass,
            act_on(Z, all(Z), INPUT, AccessKind::Attachment),
            Command::EndRendering,
        ])
    };
    assert_eq!(commands(None), NONE);
    assert_eq!(commands(Some(0)), [(0, 2, Execution, Certain)]);
}

/// A render pass writes an image, and a dispatch reads it after a barrier.
fn read_after_pass(transitions: bool, from: Side) -> Vec<(u64, u64, MissingDependency, Certainty)> {
    let last = if transitions { GENERAL } else { COLOR };
    hazards(&[
        begin(&[], &[attachment(Z, GENERAL, &[(0, COLOR)], last)]),
        act_on(Z, all(Z), COLOR_WRITE, AccessKind::Load),
        act_on(Z, all(Z), COLOR_WRITE, AccessKind::Store),
        Command::EndRendering,
        memory(from, CS_READ),
        read(Z),
    ])
}

/// "Render Pass", implicit subpass dependencies: the one of a final transition ends at BOTTOM_OF_PIPE without access, and only exists with it.
#[test]
fn a_final_transition_is_not_at_the_color_output_stage() {
    assert_eq!(read_after_pass(true, COLOR_WRITE), [(3, 5, Execution, Certain)]);
    assert_eq!(read_after_pass(true, EVERYTHING), NONE);
    assert_eq!(read_after_pass(false, COLOR_WRITE), NONE);
}

/// The bytes are those that both access and to which the verdict applies; adjacent ranges are merged.
#[test]
fn hazards_name_the_bytes_in_common() {
    let bytes = |commands: &[Command]| {
        let hazards = Model::check(&program(commands)).hazards;
        hazards.iter().map(|hazard| hazard.bytes).collect::<Vec<_>>()
    };
    let part = |resource, first, end, side| {
        act_on(resource, ResourcePart::Bytes(first, end), side, AccessKind::Whole)
    };
    assert_eq!(
        bytes(&[part(A, 0, 40, CS_WRITE), part(B, 8, 64, CS_READ)]),
        [(8, 40)]
    );
    assert_eq!(
        bytes(&[image(X, NOTHING, CS_WRITE), write(X), write(Y)]),
        [(0, 64)]
    );
    // The barrier separates the bytes that it makes available from the rest.
    let half = |first, end| {
        Command::Barrier(vec![Dependency {
            scopes: scopes(CS_WRITE, CS_NONE),
            memory: DependencyMemory::Part(A, ResourcePart::Bytes(first, end)),
            change: BarrierChange::None,
        }])
    };
    assert_eq!(bytes(&[write(A), half(0, 16), read(A)]), [(16, 64)]);
    assert_eq!(bytes(&[write(A), half(16, 32), read(A)]), [(0, 16)]);
    assert_eq!(bytes(&[write(A), half(0, 64), read(A)]), [(0, 64)]);
}

#[test]
fn commands_without_a_barrier_are_unordered() {
    assert_eq!(hazards(&[write(A), read(A)]), [(0, 1, Execution, Certain)]);
    assert_eq!(
        hazards(&[act(A, CLEAR), act(A, CLEAR)]),
        [(0, 1, Execution, Certain)]
    );
    assert_eq!(hazards(&[write(A), read(B)]), [(0, 1, Execution, Certain)]);
    assert_eq!(hazards(&[read(A), read(A)]), NONE);
    let secondary = |tag, command| {
        let commands = vec![(Tag(tag), command)];
        Command::Execute(Arc::new(CommandBuffer { commands }))
    };
    let secondaries = [secondary(10, write(A)), secondary(11, write(B))];
    assert_eq!(hazards(&secondaries), [(10, 11, Execution, Certain)]);
}

/// "Render Pass Load Operations", "Render Pass Store Operations": they may write back all of the subresource.
#[test]
fn copies_touch_their_regions_and_stores_may_touch_the_whole_subresource() {
    let copy = |first, end| act_on(X, columns(first, end), COPY_WRITE, AccessKind::Whole);
    assert_eq!(hazards(&[copy(0, 4), copy(4, 8)]), NONE);
    assert_eq!(hazards(&[copy(0, 5), copy(4, 8)]), [(0, 1, Execution, Certain)]);
    let pass = |first, end| {
        let store = act_on(Z, columns(first, end), COLOR_WRITE, AccessKind::Store);
        [begin(&[], &[]), store, Command::EndRendering]
    };
    let apart = hazards(&[pass(0, 4), pass(4, 8)].concat());
    assert_eq!(apart, [(1, 4, Execution, Pedantic)]);
    let overlapping = hazards(&[pass(0, 5), pass(4, 8)].concat());
    assert_eq!(overlapping, [(1, 4, Execution, Certain)]);
}

/// `VkImageMemoryBarrier2`: the first access scope is limited to accesses through its own image.
#[test]
fn an_image_barrier_does_not_make_writes_through_an_alias_available() {
    let before = [image(X, NOTHING, CS_WRITE), write(X)];
    let image_barrier_only = hazards(&[&before[..], &[image(Y, CS_WRITE, CS_WRITE), write(Y)]].concat());
    assert_eq!(image_barrier_only, [(1, 2, Availability, Certain)]);
    // Together with a memory barrier it does.
    let Command::Barrier(mut both) = memory(CS_WRITE, NOTHING) else {
        unreachable!("a barrier");
    };
    both.push(transition(Y, CS_WRITE, CS_WRITE, true));
    let with_memory_barrier = hazards(&[&before[..], &[Command::Barrier(both), write(Y)]].concat());
    assert_eq!(with_memory_barrier, NONE);
}

/// "Memory Aliasing": a write through an alias that interprets the bytes inconsistently makes them undefined, regardless of barriers.
#[test]
fn writes_through_an_inconsistent_alias_lose_contents() {
    let commands = |last: &[Command]| {
        let to_y = image(Y, CS_WRITE, CS_WRITE);
        let all = (S::ALL_COMMANDS, Mask::MEMORY_READ | Mask::MEMORY_WRITE);
        let before = [
            image(X, NOTHING, CS_WRITE),
            write(X),
            memory(all, all),
            to_y,
            write(Y),
            memory(all, all),
        ];
        lost(&[&before[..], last].concat())
    };
    let found = commands(&[read(X)]);
    let [(6, LossReason::Overwritten(by), Certain)] = found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((by.tag.0, by.resource), (3, Y), "its transition came first");
    assert_eq!(commands(&[read(Y)]), []);
    // A new transition from UNDEFINED makes it usable, not defined; the first loss is reported.
    let found = commands(&[image(X, CS_WRITE, CS_READ), read(X)]);
    assert!(
        matches!(found[..], [(7, LossReason::Overwritten(_), Certain)]),
        "{found:?}"
    );
}

#[test]
fn a_transition_of_an_alias_loses_contents() {
    let commands = [
        image(X, NOTHING, CS_WRITE),
        write(X),
        image(Y, CS_NONE, CS_WRITE),
        read(X),
    ];
    let found = lost(&commands);
    assert!(
        matches!(found[..], [(3, LossReason::Overwritten(_), Certain)]),
        "{found:?}"
    );
}

/// "Memory Aliasing": buffers interpret memory consistently, so data written through one can be read through the other; whether that is intended is
/// unknown.
#[test]
fn writes_through_a_consistent_alias_are_possible_losses() {
    let found = lost(&[write(A), write(B), read(A), read(B)]);
    let [(2, LossReason::WrittenThrough(by), Certainty::Possible)] = found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((by.tag.0, by.resource), (1, B));
    // "Memory Aliasing": B has no contents of its own that could be meant.
    assert_eq!(lost(&[write(A), read(B)]), []);
}

/// "Queue Family Ownership Transfer".
#[test]
fn contents_are_undefined_between_a_release_and_its_acquire() {
    let transfer = |from, to| {
        let mut dependency = transition(A, NOTHING, NOTHING, false);
        dependency.memory = DependencyMemory::Part(A, all(A));
        dependency.change = BarrierChange::Family { from, to };
        Command::Barrier(vec![dependency])
    };
    let (release, acquire) = (|| transfer(0, 1), || transfer(1, 0));
    let found = lost(&[write(A), release(), read(A)]);
    let [(2, LossReason::Discarded(by), Certainty::Certain)] = found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((by.tag.0, by.action), (1, Action::Release));
    assert_eq!(lost(&[write(A), release(), acquire(), read(A)]), []);
    assert_eq!(lost(&[write(A), release(), write(A), read(A)]), []);
    // Transfers may write all of the memory that other resources share.
    for transfer in [release(), acquire()] {
        let found = lost(&[write(B), transfer, read(B)]);
        let [(2, LossReason::Overwritten(by), Certainty::Certain)] = found[..] else {
            panic!("{found:?}");
        };
        assert_eq!((by.tag.0, by.resource), (1, A));
    }
}

#[test]
fn attachments_hold_what_is_loaded_drawn_and_stored() {
    let pass = |load: Option<Side>, is_drawn: bool, is_stored: bool, read: Command| {
        let mut store = crate::recordings::access(Z, all(Z), COLOR_WRITE, AccessKind::Store);
        store.discards = !is_stored;
        let mut commands = vec![begin(&[(None, Some(0), NOTHING, COLOR_WRITE)], &[])];
        commands.extend(load.map(|load| {
            let mut load = crate::recordings::access(Z, all(Z), load, AccessKind::Load);
            load.discards = load.access == COLOR_WRITE.1;
            Command::Action(vec![load])
        }));
        commands.extend(is_drawn.then(|| act_on(Z, all(Z), COLOR_WRITE, AccessKind::Attachment)));
        commands.extend([Command::Action(vec![store]), Command::EndRendering, read]);
        lost(&commands)
            .into_iter()
            .map(|(_, loss, _)| loss)
            .collect::<Vec<_>>()
    };
    // DONT_CARE reads nothing, and later draws are defined.
    assert_eq!(pass(Some(COLOR_WRITE), true, true, read(Z)), []);
    assert!(matches!(
        pass(Some(COLOR_WRITE), true, false, read(Z))[..],
        [LossReason::Discarded(_)]
    ));
    let loaded = (S::COLOR_ATTACHMENT_OUTPUT, Mask::COLOR_ATTACHMENT_READ);
    assert_eq!(
        pass(Some(loaded), true, true, read(Z)),
        [LossReason::NeverWritten]
    );
}

#[test]
fn hazards_name_the_section_of_their_rule() {
    let sections = |commands: &[Command]| {
        let hazards = Model::check(&program(commands)).hazards;
        hazards.iter().map(Hazard::section).collect::<Vec<_>>()
    };
    assert_eq!(
        sections(&[write(A), read(A)]),
        ["Execution and Memory Dependencies"]
    );
    assert_eq!(sections(&[write(A), read(B)]), ["Memory Aliasing"]);
    let early = [image(X, NOTHING, NOTHING), write(X)];
    assert_eq!(sections(&early), ["Image Layout Transitions"]);
}

/// A shader may read none of the resources in its descriptors; later buffers contain earlier writes to their bytes.
/// Half of an image was written, and all of it is undefined.
#[test]
fn the_loss_of_written_contents_is_reported_before_contents_that_never_were() {
    let half = act_on(X, columns(0, 4), CS_WRITE, AccessKind::Whole);
    let overwritten = image(Y, EVERYTHING, EVERYTHING);
    let program = program(&[image(X, NOTHING, CS_WRITE), half, overwritten, read(X)]);
    let [lost] = &Model::check(&program).lost[..] else {
        panic!("one read")
    };
    let is_by = |by: u64| matches!(lost.loss, LossReason::Overwritten(used) if used.tag == Tag(by));
    assert!(is_by(2), "{lost:?}");
    assert_eq!(lost.last.map(|last| last.tag), Some(Tag(1)));
}

#[test]
fn whichever_element_of_lost_contents_is_read_is_undefined() {
    let partial = act_on(X, all(X), CS_READ, AccessKind::Partial);
    let found = lost(&[image(X, NOTHING, CS_READ), partial]);
    assert!(
        matches!(found[..], [(1, LossReason::Discarded(_), Certainty::Certain)]),
        "{found:?}"
    );
}

#[test]
fn memory_is_never_written_only_where_no_removed_resource_wrote() {
    let mut model = Model::new(1);
    let resources = program(&[]).resources;
    model.add(resources[0]);
    let step = |command| program(&[command]).steps.remove(0);
    model.step(&step(write(A)));
    model.remove(A);
    model.add(resources[1]);
    assert_eq!(model.step(&step(read(B))).lost, []);
    let apart = Resource {
        first: 64,
        end: 128,
        ..resources[0]
    };
    let apart = model.add(apart);
    let read = act_on(apart, all(A), CS_READ, AccessKind::Whole);
    assert_eq!(model.step(&step(read)).lost.len(), 1, "nothing was written there");
}

/// A host wait that returns proves that pending batches have run, regardless of who signaled them.
#[test]
fn batches_that_the_host_knows_to_be_complete_have_run() {
    let mut program = program(&[write(A), memory(CS_WRITE, (S::HOST, Mask::HOST_READ))]);
    program.timelines = vec![(SemaphoreId(1), 0)];
    let HostStep::Submit(batch) = &mut program.steps[0] else {
        unreachable!("a batch");
    };
    batch.fence = Some(FenceId(1));
    batch.waits = vec![SemaphoreUse {
        semaphore: SemaphoreId(1),
        value: 1,
        stages: S::ALL_COMMANDS,
    }];
    let host = access(A, all(A), (S::HOST, Mask::HOST_READ), AccessKind::Whole);
    program
        .steps
        .extend([HostStep::WaitFence(FenceId(1)), HostStep::Host(1, Tag(0), host)]);
    let findings = Model::check(&program);
    assert_eq!(
        (findings.hazards.len(), findings.lost.len()),
        (0, 0),
        "{findings:?}"
    );
}

/// `vkCmdWaitEvents2`: each dependency of an event has a separate first scope, even if others of the same event include more stages.
#[test]
fn dependencies_of_an_event_have_scopes_of_their_own() {
    let judged = |own: Command| {
        let set = Command::SetEvent(EventId(0), S::COMPUTE_SHADER | S::COPY);
        hazards(&[write(A), set, own, read(A)])
    };
    let wait = |from, to| {
        let Command::Barrier(mut dependencies) = memory(from, to) else {
            unreachable!()
        };
        let Command::Barrier(other) = memory(COPY_WRITE, COPY_READ) else {
            unreachable!()
        };
        dependencies.extend(other);
        Command::WaitEvents(vec![EventId(0)], dependencies)
    };
    assert_eq!(judged(wait(CS_WRITE, CS_READ)), NONE);
    assert_eq!(judged(wait(COPY_WRITE, CS_READ)), [(0, 3, Execution, Certain)]);
}
