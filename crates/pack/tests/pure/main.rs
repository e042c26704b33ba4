//! Tests of the packing engine: properties against naive oracles, published instances, allocations.

mod allocates_nothing;
mod answers;
mod certificates;
mod instances;
mod perfect;
mod pools;
mod properties;

use std::ops::ControlFlow;

use tileheap_pack::Progress;
use tileheap_testkit::counting;

#[global_allocator]
static ALLOCATOR: counting::CountingAllocator = counting::CountingAllocator;

/// A callback that never ends a search.
fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
