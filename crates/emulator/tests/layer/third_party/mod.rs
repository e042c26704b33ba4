//! The scenarios of third-party tests of the extension and of related extensions, on every profile.
//!
//! The scenarios are those of the Khronos validation layers' own tests (`tests/unit/tile_memory_heap.cpp` and its positive half, of August 2026, and
//! those that earlier versions had and the last one does not), and the Vulkan conformance tests that are generated for every extension. Scenarios
//! with messages only from validation are left out: marks and aprons of tile shading, sizes declared beyond the heap. `suite.rs` starts as those
//! suites start. Below validation each scenario lists its messages, and any other message is a failure; without it the calls and their results count.

mod accesses;
mod conformance;
mod flags;
mod memory;
mod passes;
mod suite;
