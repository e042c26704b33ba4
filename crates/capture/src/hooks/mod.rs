//! The entry points, and the state of dispatchable handles.
//!
//! An entry point converts Vulkan's arguments, updates the model, and calls the next layer; panics are caught inside it.

pub(crate) mod actions;
pub(crate) mod bindings;
pub(crate) mod copies;
pub(crate) mod descriptors;
pub(crate) mod device;
pub(crate) mod documents;
pub(crate) mod frames;
pub(crate) mod instance;
pub(crate) mod look_up;
pub(crate) mod objects;
pub(crate) mod passes;
pub(crate) mod program_name;
pub(crate) mod queues;
pub(crate) mod recorder;
pub(crate) mod synchronization;
pub(crate) mod timed_submits;
pub(crate) mod timestamps;
