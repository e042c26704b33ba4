//! Layouts and hazards.

use super::*;

#[test]
fn layouts_are_tracked() {
    let found = faults(deferred(), |plan| {
        plan.barrier_before("lighting", "albedo").old_layout = L::GENERAL;
    });
    assert_fault!(
        found,
        CheckError::Layout(LayoutError::Old {
            named: L::GENERAL,
            tracked: L::COLOR_ATTACHMENT_OPTIMAL,
            ..
        })
    );
    let found = faults(deferred(), |plan| {
        plan.barrier_before("lighting", "albedo").new_layout = L::GENERAL;
    });
    assert_fault!(
        found,
        CheckError::Layout(LayoutError::Use {
            tracked: L::GENERAL,
            ..
        })
    );
    let found = faults(deferred(), |plan| {
        plan.barrier_before("lighting", "albedo").new_layout = L::UNDEFINED;
    });
    assert_fault!(found, CheckError::Barrier(BarrierError::NewLayout { .. }));
    let found = faults(deferred(), |plan| {
        plan.access("lighting", "albedo").layout = L::TRANSFER_SRC_OPTIMAL
    });
    assert_fault!(found, CheckError::Layout(LayoutError::Unfit { .. }));
    let found = faults(deferred(), |plan| {
        plan.barrier_before("cull", "lights").new_layout = L::GENERAL
    });
    assert_fault!(found, CheckError::Barrier(BarrierError::BufferLayout { .. }));
}

#[test]
fn the_first_layout_of_a_transient_is_undefined() {
    // What the image was left in by the frame before: true from the second frame on, and wrong in the first.
    let found = faults(deferred(), |plan| {
        plan.barrier_before("lighting", "hdr").old_layout = L::SHADER_READ_ONLY_OPTIMAL;
    });
    assert_fault!(
        found,
        CheckError::Layout(LayoutError::Old {
            tracked: L::UNDEFINED,
            ..
        })
    );
}

#[test]
fn an_external_image_leaves_as_agreed() {
    let found = faults(deferred(), |plan| plan.erase_after("tonemap", "screen"));
    assert_fault!(
        found,
        CheckError::Layout(LayoutError::Exit {
            needs: L::PRESENT_SRC_KHR,
            ..
        })
    );
}

#[test]
fn an_external_image_is_waited_for() {
    let found = faults(deferred(), |plan| {
        plan.barrier_before("tonemap", "screen").src_stages = S::NONE;
    });
    assert_fault!(
        found,
        CheckError::Hazard(HazardError {
            first: HazardAccess::Entry { .. },
            missing: MissingDependency::Execution,
            ..
        })
    );
}

#[test]
fn every_hazard_needs_its_barrier() {
    // Read after write, of a buffer.
    let found = faults(deferred(), |plan| plan.erase_before("lighting", "lights"));
    assert_fault!(
        found,
        CheckError::Hazard(HazardError { first: first @ HazardAccess::Write { .. }, second: HazardAccess::Read { .. }, missing: MissingDependency::Execution, .. })
            if first.resource() == "lights"
    );
    // Write after write, around into the next frame, between two resources. The barrier of `depth` orders the two
    // passes, and makes nothing of `scratch` visible.
    let found = faults(deferred(), |plan| plan.erase_before("cull", "lights"));
    assert_fault!(
        found,
        CheckError::Hazard(HazardError { first: first @ HazardAccess::Write { .. }, second: second @ HazardAccess::Write { .. }, around: true, missing: MissingDependency::Memory, .. })
            if first.resource() == "scratch" && second.pass() == Some("cull")
    );
    // Write after read, in one frame and between two resources.
    let found = faults(deferred(), |plan| {
        for resource in ["bloom", "scratch"] {
            plan.barrier_before("bloom", resource).src_stages = S::ALL_TRANSFER;
        }
    });
    assert_fault!(
        found,
        CheckError::Hazard(HazardError { first: first @ HazardAccess::Read { .. }, second: second @ HazardAccess::Transition { .. }, around: false, .. })
            if first.resource() == "albedo" && second.resource() == "bloom"
    );
}

#[test]
fn stages_of_both_sides_count() {
    let found = faults(deferred(), |plan| {
        plan.barrier_before("lighting", "lights").src_stages = S::ALL_TRANSFER;
    });
    assert_fault!(
        found,
        CheckError::Hazard(HazardError {
            missing: MissingDependency::Execution,
            ..
        })
    );
    // Two passes read `depth` after one barrier: its second scope must hold both.
    let found = faults(deferred(), |plan| {
        plan.barrier_before("cull", "depth").dst_stages = S::COMPUTE_SHADER;
    });
    assert_fault!(
        found,
        CheckError::Hazard(HazardError { second: second @ HazardAccess::Read { .. }, .. })
            if second.pass() == Some("lighting") && second.resource() == "depth"
    );
    // Of two readers in the frame before, the one that nothing else waits for is forgotten.
    let found = faults(late_in_submit(), |plan| {
        plan.barrier_before("gbuffer", "albedo").src_stages = S::FRAGMENT_SHADER;
    });
    assert_fault!(
        found,
        CheckError::Hazard(HazardError { first: first @ HazardAccess::Read { .. }, second: HazardAccess::Transition { .. }, around: true, .. })
            if first.pass() == Some("late")
    );
}

#[test]
fn accesses_of_both_sides_count() {
    let found = faults(deferred(), |plan| {
        plan.barrier_before("lighting", "lights").src_access = A::NONE;
    });
    assert_fault!(
        found,
        CheckError::Hazard(HazardError {
            missing: MissingDependency::Memory,
            ..
        })
    );
    let found = faults(deferred(), |plan| {
        plan.barrier_before("lighting", "lights").dst_access = A::SHADER_SAMPLED_READ;
    });
    assert_fault!(
        found,
        CheckError::Hazard(HazardError {
            missing: MissingDependency::Memory,
            ..
        })
    );
    let found = faults(deferred(), |plan| {
        plan.barrier_before("lighting", "lights").dst_access = A::COLOR_ATTACHMENT_READ;
    });
    assert_fault!(found, CheckError::Barrier(BarrierError::Access { .. }));
}

#[test]
fn composite_flags_stand_for_the_others() {
    let found = faults(deferred(), |plan| {
        let barrier = plan.barrier_before("lighting", "lights");
        (barrier.src_stages, barrier.src_access) = (S::ALL_COMMANDS, A::MEMORY_WRITE);
        (barrier.dst_stages, barrier.dst_access) = (S::ALL_GRAPHICS, A::SHADER_READ);
    });
    assert_eq!(found, []);
}

#[test]
fn a_hand_over_is_a_memory_barrier_too() {
    // The hand-over of `bloom`, at the same place, serves `scratch` as well.
    assert_eq!(
        faults(deferred(), |plan| plan.erase_before("bloom", "scratch")),
        []
    );
    // Barriers of images and buffers serve nobody else: the passes are in order, and that is all.
    let found = faults(deferred(), |plan| {
        for resource in ["bloom", "scratch"] {
            plan.barrier_before("bloom", resource).cause = BarrierCause::Hazard;
        }
    });
    assert_fault!(
        found,
        CheckError::Hazard(HazardError { first: first @ HazardAccess::Write { .. }, second: HazardAccess::Write { .. }, missing: MissingDependency::Memory, .. })
            if first.resource() == "lights"
    );
}

#[test]
fn two_transitions_at_once_are_in_no_order() {
    let found = faults(deferred(), |plan| {
        let run = plan.planned("tonemap").before;
        let history = *plan.barrier_before("tonemap", "history");
        plan.barriers[run.end as usize - 1] = history;
    });
    assert_fault!(found, CheckError::Barrier(BarrierError::TwoTransitions { .. }));
}
