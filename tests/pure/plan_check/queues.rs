//! Transfers between queues, and semaphores.

use super::*;

#[test]
fn halves_of_a_transfer_belong_together() {
    let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
        plan.erase_after("draw", "scene")
    });
    assert_fault!(found, CheckError::Layout(LayoutError::NotReleased { resource, .. }) if resource == "scene");
    let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
        plan.erase_before("blur", "scene")
    });
    assert_fault!(found, CheckError::Layout(LayoutError::NotAcquired { resource, .. }) if resource == "scene");
    let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
        plan.barrier_before("blur", "scene").new_layout = L::GENERAL;
        plan.access("blur", "scene").layout = L::GENERAL;
    });
    assert_fault!(found, CheckError::Layout(LayoutError::NotReleased { resource, .. }) if resource == "scene");
}

#[test]
fn halves_are_on_their_queues() {
    let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
        let transfer = plan.barrier_after("draw", "scene").transfer.as_mut().unwrap();
        std::mem::swap(&mut transfer.from, &mut transfer.to);
    });
    assert_fault!(found, CheckError::Barrier(BarrierError::TransferQueue { .. }));
}

#[test]
fn contents_do_not_change_queues_by_themselves() {
    let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
        plan.barrier_after("draw", "scene").transfer = None;
        plan.barrier_before("blur", "scene").transfer = None;
        plan.barrier_before("blur", "scene").old_layout = L::SHADER_READ_ONLY_OPTIMAL;
    });
    assert_fault!(found, CheckError::Layout(LayoutError::Owner { queue, owner, .. }) if queue == "compute" && owner == "graphics");
}

#[test]
fn a_queue_has_only_its_own_stages() {
    let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
        plan.barrier_before("blur", "blurred").src_stages = S::FRAGMENT_SHADER;
    });
    assert_fault!(found, CheckError::Barrier(BarrierError::Stage { queue, .. }) if queue == "compute");
}

#[test]
fn a_semaphore_holds_only_the_stages_that_wait_for_it() {
    // `blur` reads at the compute stage; the wait holds copies alone, and the acquire does not pass it on.
    let plan = two_queues(S::COPY);
    assert_fault!(
        plan.violations(),
        CheckError::Hazard(HazardError {
            missing: MissingDependency::Execution,
            ..
        })
    );
}

#[test]
fn the_next_frame_waits_for_the_queues_of_this_one() {
    let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
        plan.barrier_before("draw", "scene").src_stages = S::NONE;
    });
    assert_fault!(
        found,
        CheckError::Hazard(HazardError { first: first @ HazardAccess::Read { .. }, second: HazardAccess::Transition { .. }, around: true, .. })
            if first.pass() == Some("blur")
    );
}
