//! Texture caches on Vulkan: on a driver that keeps books, what they call and leave behind; on a real one, every texel.
#![cfg(feature = "runtime")]

#[path = "../support/fake_driver/mod.rs"]
mod fake_driver;
#[path = "../support/gpu.rs"]
mod gpu;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/validation.rs"]
mod validation;

mod books;
mod failures;
mod rig;
mod texels;
