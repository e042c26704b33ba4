//! Tables, indices and runs: a plan that refers to what is not there.

use super::*;

#[test]
fn tables_run_parallel_to_the_frames() {
    assert_broken(deferred(), Rule::Length, &["`passes`"], |plan| {
        plan.passes.pop();
    });
}

#[test]
fn indices_are_inside_their_tables() {
    assert_broken(deferred(), Rule::Index, &["entry 7 of `objects`"], |plan| {
        plan.planned("bloom").bound_object = Some(ObjectId::new(7))
    });
    assert_broken(deferred(), Rule::Index, &["of `memory_types`"], |plan| {
        plan.objects[0].memory_type = 3
    });
}

fn placements_of<'a>(plan: &'a mut Plan, resource: &str) -> &'a mut Run {
    let id = plan.frame.resource_named(resource).unwrap();
    &mut plan.resources[id.index()].placements
}

#[test]
fn runs_cover_every_placement_once() {
    assert_broken(
        deferred(),
        Rule::Covered,
        &["`placements` is in 2 runs"],
        |plan| placements_of(plan, "albedo").end += 1,
    );
    for resource in ["albedo", "history"] {
        assert_broken(
            deferred(),
            Rule::Covered,
            &["`placements` is in 0 runs"],
            |plan| placements_of(plan, resource).end -= 1,
        );
    }
    for (end, words) in [(1000, "[5, 1000)"), (4, "[5, 4)")] {
        assert_broken(deferred(), Rule::Index, &[words], |plan| {
            *placements_of(plan, "albedo") = Run { first: 5, end }
        });
    }
}

#[test]
fn everything_refers_to_its_own_resource() {
    assert_broken(
        deferred(),
        Rule::Foreign,
        &["is of `bloom`", "which is of `hdr`"],
        |plan| {
            let hdr = *placements_of(plan, "hdr");
            let bloom = std::mem::replace(placements_of(plan, "bloom"), hdr);
            *placements_of(plan, "hdr") = bloom;
        },
    );
}

#[test]
fn spans_hold_the_uses() {
    assert_broken(deferred(), Rule::SpanMissesUse, &["`lighting`"], |plan| {
        plan.placement("albedo", 0).span = Span::new(0, 2)
    });
    assert_broken(deferred(), Rule::SpanOutside, &["[0, 6)"], |plan| {
        plan.placement("bloom", 0).span = Span::new(3, 7)
    });
}

#[test]
fn reasons_name_the_home() {
    assert_broken(deferred(), Rule::PlacementReason, &["in Tile"], |plan| {
        let bloom = plan.frame.resource_named("bloom").unwrap();
        plan.resources[bloom.index()].reason = PlacementReason::External;
    });
}
