//! Recording and submitting a planned frame allocates nothing on the heap after the first frames.

use tileheap::plan::PlanOptions;
use tileheap_testkit::counting;
use tileheap_testkit::fake_driver::Config;

use super::calls::Rig;

/// Number of allocations per frame, from `begin` to the wait after its submission.
fn allocations(config: Config) -> Vec<usize> {
    let rig = Rig::new(config);
    let mut bound = rig.bind(&PlanOptions::default());
    let mut counts = Vec::with_capacity(10);
    for _ in 0..10 {
        let before = counting::allocation_count();
        rig.run(&mut bound);
        counts.push(counting::allocation_count() - before);
    }
    counts
}

#[test]
fn a_frame_in_steady_state_allocates_nothing() {
    let counts = allocations(Config::modern());
    assert_eq!(counts[6..], [0; 4], "{counts:?}");
}

#[test]
fn on_vulkan_1_1_submission_alone_allocates() {
    let counts = allocations(Config::vulkan_1_1());
    // The older structs for each of three batches: lists of waits, stages, values, signals and command buffers.
    assert!(
        counts[6..].iter().all(|&count| count == counts[6] && count <= 15),
        "{counts:?}"
    );
}
