//! Texture caches on Vulkan: their calls on a fake driver, and every texel on a real one.

use tileheap_testkit::{fake_driver, gpu};

mod allocations;
mod calls;
mod failures;
mod rig;
mod stories;
mod texels;

/// Counts allocations per thread, except those of the fake driver.
#[global_allocator]
static ALLOCATOR: tileheap_testkit::counting::CountingAllocator =
    tileheap_testkit::counting::CountingAllocator;
