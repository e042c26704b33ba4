//! What is lost, and what is read of it.

use super::*;

fn loss(found: &[CheckError], of: &str) -> ContentsLoss {
    let mut losses = found.iter().filter_map(|fault| match fault {
        CheckError::Contents(ContentsError::Lost { resource, loss, .. }) if resource == of => {
            Some(loss.clone())
        }
        CheckError::Contents(ContentsError::Exit { resource, loss }) if resource == of => Some(loss.clone()),
        _ => None,
    });
    losses
        .next_back()
        .unwrap_or_else(|| panic!("`{of}` loses nothing: {found:#?}"))
}

fn in_pass(pass: &str) -> String {
    pass.to_owned()
}

/// A plan in which `cull` uses no tile memory, but runs while `albedo` lives.
fn bystander() -> Plan {
    let mut plan = deferred();
    plan.planned("cull").bound_object = None;
    plan
}

#[test]
fn a_pass_with_nothing_bound_discards_everything() {
    let found = bystander().violations();
    assert_eq!(
        loss(&found, "albedo"),
        ContentsLoss::Unbound {
            pass: in_pass("cull")
        }
    );
}

#[test]
fn a_pass_with_less_bound_discards_what_is_above() {
    let found = faults(deferred(), |plan| {
        plan.planned("cull").bound_object = Some(ObjectId::new(1))
    });
    let (bound, end) = (Bytes(BLOCK), Bytes(3 * BLOCK));
    let pass = in_pass("cull");
    assert_eq!(
        loss(&found, "albedo"),
        ContentsLoss::BoundTooSmall { pass, bound, end }
    );
}

#[test]
fn tile_memory_forgets_at_the_end_of_the_batch_or_of_the_submit() {
    let found = late().violations();
    let last = in_pass("merge");
    assert_eq!(loss(&found, "bloom"), ContentsLoss::WindowEnded { last });
    let (first, second) = (in_pass("bloom"), in_pass("late"));
    let rule = TileRule::TwoWindows { first, second };
    assert!(
        found.contains(
            &ResidenceError::Tile {
                resource: "bloom".to_owned(),
                rule
            }
            .into()
        ),
        "{found:#?}"
    );
    let mut plan = late();
    change_profile(&mut plan, |profile| {
        profile.tile.as_mut().unwrap().queue_submit_boundary = true
    });
    assert_eq!(plan.violations(), []);
}

#[test]
fn what_is_not_stored_is_lost() {
    let found = faults(deferred(), |plan| {
        plan.access("gbuffer", "albedo").store_op = AttachmentStoreOp::DONT_CARE;
    });
    assert_eq!(
        loss(&found, "albedo"),
        ContentsLoss::NotStored {
            pass: in_pass("gbuffer")
        }
    );
    let found = faults(deferred(), |plan| {
        plan.access("tonemap", "screen").store_op = AttachmentStoreOp::DONT_CARE;
    });
    assert_eq!(
        loss(&found, "screen"),
        ContentsLoss::NotStored {
            pass: in_pass("tonemap")
        }
    );
}

#[test]
fn a_history_is_stored_for_the_next_frame() {
    let found = faults(deferred(), |plan| {
        plan.access("merge", "history").store_op = AttachmentStoreOp::STORE;
        let run = plan.resources[plan.frame.resource_named("history").unwrap().index()].placements;
        // The write of `merge` goes to the version that nobody wrote before, and is dropped.
        let index = plan
            .frame
            .accesses()
            .iter()
            .zip(&plan.accesses)
            .position(|(access, planned)| access.writes && planned.placement.index() == run.first as usize);
        plan.accesses[index.unwrap()].store_op = AttachmentStoreOp::DONT_CARE;
    });
    assert_fault!(
        found,
        CheckError::Contents(ContentsError::Lost { pass, loss: ContentsLoss::NotStored { .. }, .. }) if pass == "tonemap"
    );
}

#[test]
fn a_barrier_from_undefined_discards() {
    let found = faults(deferred(), |plan| {
        plan.barrier_before("lighting", "albedo").old_layout = L::UNDEFINED;
    });
    assert_eq!(
        loss(&found, "albedo"),
        ContentsLoss::Discarded {
            pass: in_pass("lighting")
        }
    );
}

#[test]
fn another_resource_in_the_same_bytes_destroys_contents() {
    let found = faults(deferred(), |plan| {
        plan.placement("hdr", 0).offset = Bytes(64 << 10);
    });
    assert_eq!(
        loss(&found, "lights"),
        ContentsLoss::Overwritten {
            by: "hdr".to_owned(),
            pass: in_pass("lighting")
        }
    );
}
