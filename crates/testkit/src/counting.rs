//! Counts the heap allocations of a thread, and their bytes. A test program uses it as its allocator:
//! `#[global_allocator] static ALLOCATOR: CountingAllocator = CountingAllocator;`

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator with a counter; allocations of the fake driver do not count.
pub struct CountingAllocator;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// Bytes allocated and not freed by this thread; negative if it frees what others have allocated.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    /// Maximum of [`LIVE`].
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: everything is forwarded to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !is_exempt() {
            ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        }
        LIVE.set(LIVE.get() + layout.size() as isize);
        PEAK.set(PEAK.get().max(LIVE.get()));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[cfg(feature = "runtime")]
fn is_exempt() -> bool {
    crate::fake_driver::inside()
}

#[cfg(not(feature = "runtime"))]
fn is_exempt() -> bool {
    false
}

/// The number of allocations of this thread so far.
pub fn allocation_count() -> usize {
    ALLOCATIONS.get()
}

/// Runs `work`; returns its result, and the maximum number of bytes that it had allocated at any time on this thread.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = work();
    (result, PEAK.get().saturating_sub(before).max(0) as usize)
}
