//! What other people's tests of the extension do, and of those it comes with: each scenario as they run it, on every profile, and not
//! one that would be skipped.
//!
//! The scenarios are those of the Khronos validation layers' own tests (`tests/unit/tile_memory_heap.cpp`, its positive half and
//! `tile_shading.cpp`, of August 2026, with what earlier versions had and the last one has not), and of the Vulkan conformance
//! tests what is generated for every extension and what each memory type must do. `suite.rs` starts as those suites start. Below
//! validation each scenario names the messages that it earns, and any other message of anybody is a failure; elsewhere the calls
//! and their results count.

mod accesses;
mod conformance;
mod flags;
mod memory;
mod passes;
mod shading;
mod suite;
