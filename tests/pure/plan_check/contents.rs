//! What is lost while it is needed.

use super::*;

fn lost(found: &[CheckError], of: &str) -> (String, Bytes, Bytes) {
    let mut losses = found.iter().filter_map(|fault| match fault {
        CheckError::Residence(ResidenceError::BoundTooSmall {
            resource,
            pass,
            bound,
            end,
        }) if resource == of => Some((pass.clone(), *bound, *end)),
        _ => None,
    });
    losses
        .next()
        .unwrap_or_else(|| panic!("`{of}` loses nothing: {found:#?}"))
}

/// A plan in which `cull` uses no tile memory, but runs while `albedo` is live.
fn bystander() -> Plan {
    let mut plan = deferred();
    plan.planned("cull").bound_object = None;
    plan
}

#[test]
fn a_pass_with_nothing_bound_discards_everything() {
    let end = Bytes(3 * BLOCK);
    let found = bystander().violations();
    assert_eq!(lost(&found, "albedo"), ("cull".to_owned(), Bytes::ZERO, end));
}

#[test]
fn a_pass_with_less_bound_discards_what_is_above() {
    let found = faults(deferred(), |plan| {
        plan.planned("cull").bound_object = Some(ObjectId::new(1))
    });
    let end = Bytes(3 * BLOCK);
    assert_eq!(lost(&found, "albedo"), ("cull".to_owned(), Bytes(BLOCK), end));
}

#[test]
fn tile_memory_forgets_at_the_end_of_the_batch_or_of_the_submit() {
    let found = late().violations();
    let (first, second) = ("bloom".to_owned(), "late".to_owned());
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
