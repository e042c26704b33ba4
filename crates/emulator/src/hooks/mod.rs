//! The entry points, and the names under which they are given.
//!
//! Each converts what Vulkan passes, calls a function of the layer and nothing else; a panic ends inside it.

pub(crate) mod actions;
#[cfg(target_os = "android")]
mod android;
pub(crate) mod bindings;
pub(crate) mod descriptors;
pub(crate) mod device;
pub(crate) mod instance;
pub(crate) mod look_up;
pub(crate) mod memory;
pub(crate) mod physical;
pub(crate) mod queues;
pub(crate) mod recording;
pub(crate) mod resources;
