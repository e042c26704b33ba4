//! Offsets, sizes, objects and what shares bytes.

use super::*;

#[test]
fn tile_offsets_are_multiples_of_any_alignment() {
    let found = faults(deferred(), |plan| {
        plan.placement("depth", 0).offset = Bytes(5 * 8192)
    });
    assert_fault!(
        found,
        CheckError::Bytes(BytesError::Misaligned {
            memory: MemoryKind::Tile,
            ..
        })
    );
    let found = faults(deferred(), |plan| plan.placement("hdr", 0).offset = Bytes(128));
    assert_fault!(
        found,
        CheckError::Bytes(BytesError::Misaligned {
            memory: MemoryKind::Arena,
            ..
        })
    );
}

#[test]
fn placements_are_large_enough_and_inside() {
    let found = faults(deferred(), |plan| {
        plan.placement("bloom", 0).size = Bytes(BLOCK - 1)
    });
    assert_fault!(
        found,
        CheckError::Bytes(BytesError::TooSmall {
            needs: Bytes(BLOCK),
            ..
        })
    );
    let found = faults(deferred(), |plan| plan.objects[1].size = Bytes(BLOCK - 1));
    assert_fault!(found, CheckError::Bytes(BytesError::PastObject { resource, .. }) if resource == "bloom");
    let found = faults(deferred(), |plan| plan.placement("hdr", 0).size = Bytes(u64::MAX));
    assert_fault!(found, CheckError::Bytes(BytesError::PastObject { resource, .. }) if resource == "hdr");
}

#[test]
fn overlapping_lifetimes_do_not_share_bytes() {
    let found = faults(deferred(), |plan| {
        plan.placement("depth", 0).offset = Bytes(2 * BLOCK)
    });
    assert_fault!(
        found,
        CheckError::Bytes(BytesError::Overlap { first, second, offset: Bytes(o), bytes: Bytes(b), .. })
            if first == "albedo" && second == "depth" && *o == 2 * BLOCK && *b == BLOCK
    );
    let found = faults(deferred(), |plan| {
        plan.placement("albedo", 0).span = Span::new(0, 4)
    });
    assert_fault!(found, CheckError::Bytes(BytesError::Overlap { second, .. }) if second == "bloom");
}

#[test]
fn buffers_and_images_keep_to_their_pages() {
    let found = faults(deferred(), |plan| {
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
    assert_fault!(
        found,
        CheckError::Bytes(BytesError::Granularity { first, second, .. }) if first == "hdr" && second == "lights"
    );
}

#[test]
fn objects_are_of_the_right_type_and_size() {
    let found = faults(deferred(), |plan| plan.objects[2].memory_type = TILE);
    assert_fault!(
        found,
        CheckError::Bytes(BytesError::ObjectType {
            memory: MemoryKind::Arena,
            ..
        })
    );
    let found = faults(deferred(), |plan| plan.objects[0].memory_type = DEVICE_LOCAL);
    assert_fault!(
        found,
        CheckError::Bytes(BytesError::ObjectType {
            memory: MemoryKind::Tile,
            ..
        })
    );
    let found = faults(deferred(), |plan| plan.objects[2].memory_type = LAZY);
    assert_fault!(
        found,
        CheckError::Bytes(BytesError::ObjectType {
            memory: MemoryKind::Arena,
            ..
        })
    );
    let found = faults(deferred(), |plan| plan.objects[0].size = Bytes(10 * BLOCK + 1));
    assert_fault!(
        found,
        CheckError::Bytes(BytesError::ObjectTooLarge { object: 0, .. })
    );
    let found = faults(deferred(), |plan| plan.objects[2].size = Bytes::mib(33));
    assert_fault!(
        found,
        CheckError::Bytes(BytesError::ObjectTooLarge { object: 2, .. })
    );
    let found = faults(deferred(), |plan| {
        change_requirement(plan, "hdr", |hdr| hdr.memory_type_bits = 0b10)
    });
    assert_fault!(found, CheckError::Bytes(BytesError::TypeNotAllowed { resource, .. }) if resource == "hdr");
    let found = faults(deferred(), |plan| {
        plan.placement("hdr", 0).object = Some(ObjectId::new(0))
    });
    assert_fault!(found, CheckError::Bytes(BytesError::WrongObject { resource, .. }) if resource == "hdr");
}

#[test]
fn dedicated_means_alone() {
    let require = |plan: &mut Plan| {
        change_requirement(plan, "hdr", |hdr| hdr.dedicated = Dedicated::Required);
    };
    let found = faults(deferred(), require);
    assert_fault!(&found, CheckError::Bytes(BytesError::NotDedicated { resource, .. }) if resource == "hdr");
    assert_fault!(&found, CheckError::Bytes(BytesError::Shared { resource, .. }) if resource == "hdr");
    let prefer = |plan: &mut Plan| {
        change_requirement(plan, "hdr", |hdr| hdr.dedicated = Dedicated::Preferred);
    };
    assert_eq!(faults(deferred(), prefer), []);
}

#[test]
fn bytes_are_shared_only_with_aliasing_on() {
    let found = faults(deferred(), |plan| plan.options.aliasing = false);
    assert_fault!(found, CheckError::Bytes(BytesError::AliasedAgainstOptions { first, .. }) if first == "albedo");
}

#[test]
fn shared_bytes_need_an_order_between_queues() {
    // `blurred` is written while `scene` is read, on the other queue and in no order without the semaphore.
    let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
        plan.placement("blurred", 0).offset = Bytes(0);
    });
    assert_fault!(found, CheckError::Bytes(BytesError::Overlap { .. }));
}
