//! Counts the heap allocations of a thread. A test program uses it as its allocator:
//! `#[global_allocator] static ALLOCATOR: Counting = Counting;`

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator with a counter; allocations of the fake driver do not count.
pub struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !exempt() {
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

#[cfg(feature = "runtime")]
fn exempt() -> bool {
    crate::fake_driver::inside()
}

#[cfg(not(feature = "runtime"))]
fn exempt() -> bool {
    false
}

/// The number of allocations of this thread so far.
pub fn so_far() -> usize {
    ALLOCATIONS.get()
}
