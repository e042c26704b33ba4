//! What may be in which memory.

use super::*;

fn to_tile(plan: &mut Plan, resource: &str) {
    let stay = plan.placement(resource, 0);
    (stay.memory, stay.object) = (MemoryKind::Tile, Some(ObjectId::new(0)));
}

#[test]
fn only_what_the_rules_admit_is_in_tile_memory() {
    for (resource, rule) in [
        ("history", Rule::TileNotTransient),
        ("screen", Rule::TileNotTransient),
        ("hdr", Rule::TileRefused),
    ] {
        let name = format!("`{resource}` must not");
        assert_broken(deferred(), rule, &[&name], |plan| to_tile(plan, resource));
    }
    assert_broken(deferred(), Rule::NoTileHeap, &["`bloom`"], |plan| {
        change_profile(plan, |profile| profile.tile = None)
    });
}

#[test]
fn tile_memory_is_of_one_queue() {
    let words = ["`scene`", "passes `draw` and `blur`"];
    assert_broken(two_queues(S::ALL_COMMANDS), Rule::TileTwoQueues, &words, |plan| {
        change_requirement(plan, "scene", |scene| {
            scene.tile = crate::hand::requirement(0, 3).tile
        });
        to_tile(plan, "scene");
    });
}

#[test]
fn a_tile_resource_is_used_with_its_own_object_bound() {
    // Object 1 has the same size, and even holds the same bytes.
    let words = ["`lighting`", "`albedo` of tile object 0"];
    assert_broken(deferred(), Rule::WrongObjectBound, &words, |plan| {
        plan.objects[1].size = plan.objects[0].size;
        plan.planned("lighting").bound_object = Some(ObjectId::new(1));
    });
    assert_broken(
        deferred(),
        Rule::WrongObjectBound,
        &["with nothing bound"],
        |plan| plan.planned("lighting").bound_object = None,
    );
}

#[test]
fn only_tile_objects_are_bound() {
    assert_broken(deferred(), Rule::BoundNotTile, &["object 2"], |plan| {
        plan.planned("tonemap").bound_object = Some(ObjectId::new(2))
    });
}

#[test]
fn lazy_memory_is_for_attachments_of_one_pass() {
    assert_broken(deferred(), Rule::Lazy, &["`hdr`"], |plan| {
        let object = plan.objects.len() as u32;
        plan.objects.push(tileheap::plan::Object {
            memory: MemoryKind::Lazy,
            memory_type: LAZY,
            size: Bytes(1 << 16),
        });
        let stay = plan.placement("hdr", 0);
        (stay.memory, stay.object) = (MemoryKind::Lazy, Some(ObjectId::new(object)));
    });
}

#[test]
fn a_history_keeps_its_bytes() {
    assert_broken(deferred(), Rule::History, &[], |plan| {
        plan.placement("history", 1).span = Span::new(4, 5)
    });
}

#[test]
fn external_memory_is_the_callers() {
    assert_broken(deferred(), Rule::External, &["`screen`"], |plan| {
        plan.placement("screen", 0).object = Some(ObjectId::new(2))
    });
    assert_broken(deferred(), Rule::External, &["`hdr`"], |plan| {
        plan.placement("hdr", 0).object = None
    });
}

#[test]
fn options_are_followed() {
    assert_broken(deferred(), Rule::AgainstOptions, &["in Tile"], |plan| {
        plan.options.strategy = Strategy::Off
    });
}
