//! Tables, indices and runs: a plan that refers to what is not there.

use super::*;

#[test]
fn tables_run_parallel_to_the_frames() {
    let found = faults(deferred(), |plan| {
        plan.accesses.pop();
    });
    assert_fault!(
        found,
        CheckError::Structure(StructureError::Length {
            table: "accesses",
            ..
        })
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
    let found = faults(deferred(), |plan| {
        plan.access("merge", "hdr").placement = PlacementId::new(99)
    });
    assert_fault!(
        found,
        CheckError::Structure(StructureError::Index {
            table: "placements",
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

#[test]
fn runs_cover_every_barrier_once() {
    let found = faults(deferred(), |plan| plan.planned("cull").before.end += 1);
    assert_fault!(
        found,
        CheckError::Structure(StructureError::Covered {
            table: "barriers",
            times: 2,
            ..
        })
    );
    let found = faults(deferred(), |plan| plan.planned("cull").before.end -= 1);
    assert_fault!(
        found,
        CheckError::Structure(StructureError::Covered {
            table: "barriers",
            times: 0,
            ..
        })
    );
    let found = faults(deferred(), |plan| {
        plan.planned("cull").before = Run { first: 9, end: 1000 }
    });
    assert_fault!(
        found,
        CheckError::Structure(StructureError::RunOutside { end: 1000, .. })
    );
    let found = faults(deferred(), |plan| {
        plan.planned("cull").before = Run { first: 5, end: 4 }
    });
    assert_fault!(found, CheckError::Structure(StructureError::RunOutside { .. }));
}

#[test]
fn everything_refers_to_its_own_resource() {
    let found = faults(deferred(), |plan| {
        let other = plan.access("merge", "hdr").placement;
        plan.access("merge", "bloom").placement = other;
    });
    assert_fault!(
        found,
        CheckError::Structure(StructureError::Foreign { resource, owner, .. }) if resource == "bloom" && owner == "hdr"
    );
}

#[test]
fn a_history_that_is_read_has_two_placements() {
    let found = faults(deferred(), |plan| {
        let previous = plan.access("merge", "history").placement;
        let resource = plan.frame.resource_named("history").unwrap();
        let run = &mut plan.resources[resource.index()].placements;
        run.end -= 1;
        assert_eq!(run.end as usize, previous.index());
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
fn current_and_previous_versions_are_distinguished() {
    let found = faults(deferred(), |plan| {
        let previous = plan.access("merge", "history").placement;
        plan.access("tonemap", "history").placement = previous;
    });
    assert_fault!(
        found,
        CheckError::Structure(StructureError::WrongVersion { pass, version: "current", .. }) if pass == "tonemap"
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
