//! Tables, indices and runs: a plan that refers to what is not there.

use super::*;

#[test]
fn tables_run_parallel_to_the_frames() {
    let found = faults(deferred(), |plan| {
        plan.passes.pop();
    });
    assert_fault!(
        found,
        CheckError::Structure(StructureError::Length { table: "passes", .. })
    );
}

#[test]
fn indices_are_inside_their_tables() {
    let found = faults(deferred(), |plan| {
        plan.planned("bloom").bound_object = Some(ObjectId::new(7))
    });
    assert_fault!(
        found,
        CheckError::Structure(StructureError::Index {
            table: "objects",
            index: 7,
            ..
        })
    );
    let found = faults(deferred(), |plan| plan.objects[0].memory_type = 3);
    assert_fault!(
        found,
        CheckError::Structure(StructureError::Index {
            table: "memory_types",
            ..
        })
    );
}

fn placements_of<'a>(plan: &'a mut Plan, resource: &str) -> &'a mut Run {
    let id = plan.frame.resource_named(resource).unwrap();
    &mut plan.resources[id.index()].placements
}

#[test]
fn runs_cover_every_placement_once() {
    let times = |found: Vec<CheckError>, wanted| {
        assert_fault!(
            found,
            CheckError::Structure(StructureError::Covered { table: "placements", times, .. }) if *times == wanted
        );
    };
    times(
        faults(deferred(), |plan| placements_of(plan, "albedo").end += 1),
        2,
    );
    times(
        faults(deferred(), |plan| placements_of(plan, "albedo").end -= 1),
        0,
    );
    let found = faults(deferred(), |plan| {
        *placements_of(plan, "albedo") = Run { first: 5, end: 1000 }
    });
    assert_fault!(
        found,
        CheckError::Structure(StructureError::RunOutside { end: 1000, .. })
    );
    let found = faults(deferred(), |plan| {
        *placements_of(plan, "albedo") = Run { first: 5, end: 4 }
    });
    assert_fault!(found, CheckError::Structure(StructureError::RunOutside { .. }));
}

#[test]
fn everything_refers_to_its_own_resource() {
    let found = faults(deferred(), |plan| {
        let hdr = *placements_of(plan, "hdr");
        let bloom = std::mem::replace(placements_of(plan, "bloom"), hdr);
        *placements_of(plan, "hdr") = bloom;
    });
    assert_fault!(
        found,
        CheckError::Structure(StructureError::Foreign { resource, owner, .. }) if resource == "bloom" && owner == "hdr"
    );
}

#[test]
fn a_history_that_is_read_has_two_placements() {
    let found = faults(deferred(), |plan| {
        placements_of(plan, "history").end -= 1;
    });
    assert_fault!(
        found,
        CheckError::Structure(StructureError::Covered {
            table: "placements",
            ..
        })
    );
}

#[test]
fn spans_hold_the_uses() {
    let found = faults(deferred(), |plan| {
        plan.placement("albedo", 0).span = Span::new(0, 2)
    });
    assert_fault!(found, CheckError::Structure(StructureError::SpanMissesUse { pass, .. }) if pass == "lighting");
    let found = faults(deferred(), |plan| {
        plan.placement("bloom", 0).span = Span::new(3, 7)
    });
    assert_fault!(
        found,
        CheckError::Structure(StructureError::SpanOutside { steps: 6, .. })
    );
}

#[test]
fn reasons_name_the_home() {
    let found = faults(deferred(), |plan| {
        let bloom = plan.frame.resource_named("bloom").unwrap();
        plan.resources[bloom.index()].reason = PlacementReason::External;
    });
    assert_fault!(
        found,
        CheckError::Structure(StructureError::PlacementReason {
            memory: MemoryKind::Tile,
            ..
        })
    );
}
