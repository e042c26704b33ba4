//! Policies, replay, traces and the paper's claims, without a driver.

mod allocations;
mod limiter;
mod paper;
mod rules;
mod tournament;

/// Counts allocations per thread, so that tests in other threads do not interfere.
#[global_allocator]
static ALLOCATOR: tileheap_testkit::counting::CountingAllocator =
    tileheap_testkit::counting::CountingAllocator;
