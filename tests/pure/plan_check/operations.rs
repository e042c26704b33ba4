//! Loads and stores.

use super::*;

#[test]
fn loads_do_what_is_declared() {
    let found = faults(deferred(), |plan| {
        plan.access("gbuffer", "albedo").load_op = AttachmentLoadOp::DONT_CARE;
    });
    assert_fault!(
        found,
        CheckError::Operation(OperationError::Load { needs: "CLEAR", .. })
    );
    let found = faults(deferred(), |plan| {
        plan.access("lighting", "hdr").load_op = AttachmentLoadOp::LOAD;
    });
    assert_fault!(found, CheckError::Operation(OperationError::Load { .. }));
}

#[test]
fn a_device_may_lack_store_op_none() {
    let none = |plan: &mut Plan| plan.access("tonemap", "screen").store_op = AttachmentStoreOp::NONE;
    let found = faults(deferred(), none);
    assert_fault!(found, CheckError::Operation(OperationError::Store { .. }));
    let found = faults(deferred(), |plan| {
        none(plan);
        change_profile(plan, |profile| profile.features |= Features::STORE_OP_NONE);
    });
    // What a pass writes and does not store is lost all the same.
    assert_fault!(found, CheckError::Contents(ContentsError::Exit { .. }));
}
