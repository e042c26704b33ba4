//! What is lost while it is needed.

use super::*;

#[test]
fn a_pass_discards_what_is_above_what_it_binds() {
    for (object, bound) in [(None, Bytes::ZERO), (Some(ObjectId::new(1)), Bytes(BLOCK))] {
        let bound = format!("pass `cull` binds {bound} of");
        let end = format!("`albedo` is live up to {} of it", Bytes(3 * BLOCK));
        assert_broken(deferred(), Rule::BoundTooSmall, &[&bound, &end], |plan| {
            plan.planned("cull").bound_object = object
        });
    }
}

#[test]
fn tile_memory_forgets_at_the_end_of_the_batch_or_of_the_submit() {
    let words = ["`bloom` must not", "passes `bloom` and `late`"];
    assert_broken(late_in_submit(), Rule::TileTwoWindows, &words, |plan| {
        *plan = late()
    });
}
