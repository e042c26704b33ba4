//! Offsets, sizes, objects and what shares bytes.

use super::*;

#[test]
fn tile_offsets_are_multiples_of_any_alignment() {
    assert_broken(deferred(), Rule::Misaligned, &["in Tile"], |plan| {
        plan.placement("depth", 0).offset = Bytes(5 * 8192)
    });
    assert_broken(deferred(), Rule::Misaligned, &["in Arena"], |plan| {
        plan.placement("hdr", 0).offset = Bytes(128)
    });
}

#[test]
fn placements_are_large_enough_and_inside() {
    let block = format!("needs {}", Bytes(BLOCK));
    assert_broken(deferred(), Rule::TooSmall, &[&block], |plan| {
        plan.placement("bloom", 0).size = Bytes(BLOCK - 1)
    });
    assert_broken(deferred(), Rule::PastObject, &["`bloom`"], |plan| {
        plan.objects[1].size = Bytes(BLOCK - 1)
    });
    assert_broken(deferred(), Rule::PastObject, &["`hdr`"], |plan| {
        plan.placement("hdr", 0).size = Bytes(u64::MAX)
    });
}

#[test]
fn overlapping_lifetimes_do_not_share_bytes() {
    let bytes = format!("share {} from offset {}", Bytes(BLOCK), Bytes(2 * BLOCK));
    assert_broken(
        deferred(),
        Rule::Overlap,
        &["`albedo`", "`depth`", &bytes],
        |plan| plan.placement("depth", 0).offset = Bytes(2 * BLOCK),
    );
    assert_broken(deferred(), Rule::Overlap, &["`bloom`"], |plan| {
        plan.placement("albedo", 0).span = Span::new(0, 4)
    });
}

#[test]
fn buffers_and_images_keep_to_their_pages() {
    assert_broken(deferred(), Rule::Granularity, &["`hdr` and `lights`"], |plan| {
        change_requirement(plan, "hdr", |hdr| hdr.size = Bytes(1000));
        plan.placement("hdr", 0).size = Bytes(1000);
        change_requirement(plan, "lights", |lights| lights.size = Bytes(1024));
        let lights = plan.placement("lights", 0);
        (lights.offset, lights.size) = (Bytes(1024), Bytes(1024));
        // Until here they do not touch; one page holds both when it is twice as large.
        change_profile(plan, |profile| {
            profile.limits.buffer_image_granularity = Alignment::new(2048).unwrap();
        });
    });
}

#[test]
fn objects_are_of_the_right_type_and_size() {
    for (object, memory_type, words) in [
        (2, TILE, "memory Arena"),
        (0, DEVICE_LOCAL, "memory Tile"),
        (2, LAZY, "memory Arena"),
    ] {
        assert_broken(deferred(), Rule::ObjectType, &[words], |plan| {
            plan.objects[object].memory_type = memory_type
        });
    }
    for (object, size) in [(0, Bytes(10 * BLOCK + 1)), (2, Bytes::mib(33))] {
        let words = format!("object {object} ");
        assert_broken(deferred(), Rule::ObjectTooLarge, &[&words], |plan| {
            plan.objects[object].size = size
        });
    }
    assert_broken(deferred(), Rule::TypeNotAllowed, &["`hdr`"], |plan| {
        change_requirement(plan, "hdr", |hdr| hdr.memory_type_bits = 0b10)
    });
    assert_broken(deferred(), Rule::WrongObject, &["`hdr`"], |plan| {
        plan.placement("hdr", 0).object = Some(ObjectId::new(0))
    });
}

#[test]
fn dedicated_means_alone() {
    for rule in [Rule::NotDedicated, Rule::Shared] {
        assert_broken(deferred(), rule, &["resource `hdr`"], |plan| {
            change_requirement(plan, "hdr", |hdr| hdr.dedicated = Dedicated::Required);
        });
    }
    let prefer = |plan: &mut Plan| {
        change_requirement(plan, "hdr", |hdr| hdr.dedicated = Dedicated::Preferred);
    };
    assert_eq!(faults(deferred(), prefer), []);
}

#[test]
fn bytes_are_shared_only_with_aliasing_on() {
    assert_broken(deferred(), Rule::AgainstOptions, &["`albedo` and"], |plan| {
        plan.options.aliasing = false
    });
}

#[test]
fn shared_bytes_need_an_order_between_queues() {
    // `blurred` is written while `scene` is read, on the other queue and in no order without the semaphore.
    assert_broken(two_queues(S::ALL_COMMANDS), Rule::Overlap, &[], |plan| {
        plan.placement("blurred", 0).offset = Bytes(0);
    });
}
