//! What the examples that draw share: faults in one line, memory of their own, pipelines, where pictures go, windows, overlays.

#![allow(dead_code)] // No program uses all of it.

pub(crate) mod fault;
pub(crate) mod input;
pub(crate) mod layer;
pub(crate) mod memory;
pub(crate) mod output;
pub(crate) mod picture;
pub(crate) mod pipeline;
pub(crate) mod program;
pub(crate) mod progress;
pub(crate) mod sheet;
pub(crate) mod sizes;
pub(crate) mod swapchain;
pub(crate) mod window;

/// How many frames may be under way: one is recorded while the device works on the other.
pub(crate) const SLOTS: usize = 2;
