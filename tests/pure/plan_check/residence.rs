//! What may be in which memory.

use super::*;

fn to_tile(plan: &mut Plan, resource: &str) {
    let stay = plan.placement(resource, 0);
    (stay.memory, stay.object) = (MemoryKind::Tile, Some(ObjectId::new(0)));
}

fn rule(found: &[CheckError], of: &str) -> TileRule {
    let mut rules = found.iter().filter_map(|fault| match fault {
        CheckError::Residence(ResidenceError::Tile { resource, rule }) if resource == of => {
            Some(rule.clone())
        }
        _ => None,
    });
    rules
        .next_back()
        .unwrap_or_else(|| panic!("no rule keeps `{of}` out: {found:#?}"))
}

#[test]
fn only_what_the_rules_admit_is_in_tile_memory() {
    let of = |resource| rule(&faults(deferred(), |plan| to_tile(plan, resource)), resource);
    assert_eq!(of("history"), TileRule::NotTransient);
    assert_eq!(of("screen"), TileRule::NotTransient);
    assert_eq!(of("hdr"), TileRule::Refused);
    let found = faults(deferred(), |plan| {
        change_profile(plan, |profile| profile.tile = None)
    });
    assert_eq!(rule(&found, "bloom"), TileRule::NoTileHeap);
}

#[test]
fn tile_memory_is_of_one_queue() {
    let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
        change_requirement(plan, "scene", |scene| {
            scene.tile = crate::hand::requirement(0, 3).tile
        });
        to_tile(plan, "scene");
    });
    let (first, second) = ("draw".to_owned(), "blur".to_owned());
    assert_eq!(rule(&found, "scene"), TileRule::TwoQueues { first, second });
}

#[test]
fn a_tile_resource_is_used_with_its_own_object_bound() {
    // Object 1 has the same size, and even holds the same bytes.
    let found = faults(deferred(), |plan| {
        plan.objects[1].size = plan.objects[0].size;
        plan.planned("lighting").bound_object = Some(ObjectId::new(1));
    });
    assert_fault!(
        found,
        CheckError::Residence(ResidenceError::WrongObjectBound { pass, resource, object: 0, .. })
            if pass == "lighting" && resource == "albedo"
    );
    let found = faults(deferred(), |plan| plan.planned("lighting").bound_object = None);
    assert_fault!(
        found,
        CheckError::Residence(ResidenceError::WrongObjectBound { bound, .. }) if bound == "nothing"
    );
}

#[test]
fn only_tile_objects_are_bound() {
    let found = faults(deferred(), |plan| {
        plan.planned("tonemap").bound_object = Some(ObjectId::new(2))
    });
    assert_fault!(
        found,
        CheckError::Residence(ResidenceError::BoundNotTile { object: 2, .. })
    );
}

#[test]
fn lazy_memory_is_for_attachments_of_one_pass() {
    let found = faults(deferred(), |plan| {
        let object = plan.objects.len() as u32;
        plan.objects.push(tileheap::plan::Object {
            memory: MemoryKind::Lazy,
            memory_type: LAZY,
            size: Bytes(1 << 16),
        });
        let stay = plan.placement("hdr", 0);
        (stay.memory, stay.object) = (MemoryKind::Lazy, Some(ObjectId::new(object)));
    });
    assert_fault!(found, CheckError::Residence(ResidenceError::Lazy { resource, .. }) if resource == "hdr");
}

#[test]
fn a_history_keeps_its_bytes() {
    let found = faults(deferred(), |plan| {
        plan.placement("history", 1).span = Span::new(4, 5)
    });
    assert_fault!(found, CheckError::Residence(ResidenceError::History { .. }));
}

#[test]
fn external_memory_is_the_callers() {
    let found = faults(deferred(), |plan| {
        plan.placement("screen", 0).object = Some(ObjectId::new(2))
    });
    assert_fault!(found, CheckError::Residence(ResidenceError::External { .. }));
    let found = faults(deferred(), |plan| plan.placement("hdr", 0).object = None);
    assert_fault!(found, CheckError::Residence(ResidenceError::External { .. }));
}

#[test]
fn options_are_followed() {
    let found = faults(deferred(), |plan| plan.options.strategy = Strategy::Off);
    assert_fault!(
        found,
        CheckError::Residence(ResidenceError::AgainstOptions {
            memory: MemoryKind::Tile,
            ..
        })
    );
}
