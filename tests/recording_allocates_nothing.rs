//! Recording and submitting a planned frame allocates nothing on the heap, once the first frames have gone by.
#![cfg(feature = "runtime")]

#[path = "support/fake_driver/mod.rs"]
mod fake_driver;
#[path = "runtime_books/rig.rs"]
#[allow(dead_code)]
mod rig;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use fake_driver::Config;
use rig::{Outside, Pool, Rig, frame, run};

/// Counts what a thread allocates outside the driver.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !fake_driver::inside() {
            ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

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
        let before = ALLOCATIONS.get();
        let number = run(rig.context(), &mut bound, &frame, &pool, &outside).expect("submitted");
        assert!(bound.wait(number, u64::MAX).expect("waited"));
        counts.push(ALLOCATIONS.get() - before);
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
