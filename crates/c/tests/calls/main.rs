//! The exported functions, called as from C.

mod allocations;
mod c;
mod described;
mod documents;
mod executed;
mod misuse;
mod places;
mod planning;
mod rules;
mod runtime;
mod small;
mod threads;

/// Tests of known frames count allocations.
#[global_allocator]
static ALLOCATOR: tileheap_testkit::counting::CountingAllocator =
    tileheap_testkit::counting::CountingAllocator;
