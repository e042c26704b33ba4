//! The runtime on a Vulkan driver, real or fake.
//!
//! `cargo test --test vulkan` needs a Vulkan driver (such as lavapipe); every test on it runs with validation if `TILEHEAP_VALIDATE=1`.

mod calls;
#[path = "../descriptions/mod.rs"]
mod described;
mod descriptions;
mod failures;
mod random_descriptions;
mod recording_allocates_nothing;
mod runtime;
mod testbed;
mod tile_path;

/// Counts each thread's allocations; those of the fake driver do not count.
#[global_allocator]
static ALLOCATOR: tileheap_testkit::counting::CountingAllocator =
    tileheap_testkit::counting::CountingAllocator;
