//! Recording and submitting a planned frame allocates nothing on the heap after the first frames.

use tileheap_testkit::counting;
use tileheap_testkit::fake_driver::Config;

use super::calls::rig::{Outside, Pool, Rig, frame, run};

/// Allocations of one frame, from `begin` to the wait after its submission.
fn allocations(config: Config) -> Vec<usize> {
    let rig = Rig::new(config);
    let frame = frame();
    let (pool, outside) = (
        Pool::new(rig.context()).expect("a pool"),
        Outside::new(rig.context()),
    );
    let mut bound = rig.bind(&frame).expect("bound");
    let mut counts = Vec::with_capacity(6);
    for _ in 0..6 {
        let before = counting::so_far();
        let number = run(rig.context(), &mut bound, &frame, &pool, &outside).expect("submitted");
        assert!(bound.wait(number, u64::MAX).expect("waited"));
        counts.push(counting::so_far() - before);
    }
    bound.retire();
    pool.destroy(rig.context());
    outside.destroy(rig.context());
    rig.finish();
    counts
}

#[test]
fn a_frame_in_steady_state_allocates_nothing() {
    let counts = allocations(Config::modern());
    assert_eq!(counts[2..], [0; 4], "{counts:?}");
}

#[test]
fn on_vulkan_1_1_submission_alone_allocates() {
    let counts = allocations(Config::vulkan_1_1());
    // The older structs of one batch: lists of waits, stages, values, signals and command buffers.
    assert!(
        counts[2..].iter().all(|&count| count == counts[2] && count <= 4),
        "{counts:?}"
    );
}
