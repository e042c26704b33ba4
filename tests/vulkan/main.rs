//! The runtime on a Vulkan driver, real or fake.
//!
//! `cargo test --test vulkan` needs a Vulkan driver (lavapipe will do); every test on it is validated where `TILEHEAP_VALIDATE=1`.

mod calls;
mod failures;
mod runtime;
mod testbed;
mod tile_path;
