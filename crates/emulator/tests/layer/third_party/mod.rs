//! The scenarios of other people's tests of the extension and of those it comes with, on every profile.
//!
//! The scenarios are those of the Khronos validation layers' own tests (`tests/unit/tile_memory_heap.cpp` and its positive half,
//! of August 2026, with what earlier versions had and the last one has not), and of the Vulkan conformance
//! tests what is generated for every extension. Left out are those about which validation alone has something to say: marks
//! and aprons of tile shading, sizes declared beyond the heap. `suite.rs` starts as those suites start. Below
//! validation each scenario lists its messages, and any other message is a failure; elsewhere the calls
//! and their results count.

mod accesses;
mod conformance;
mod flags;
mod memory;
mod passes;
mod suite;
