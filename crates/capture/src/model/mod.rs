//! A program's objects, what it records, and the frame that follows.
//!
//! ```text
//! objects ◄── recording ◄── flatten ◄── build ──► frame document
//! │           │             │           └ resources, lifetimes, semaphores, statistics
//! │           │             └ passes and their accesses, with descriptors as they are at submission
//! │           └ commands as they are recorded
//! └ images, views, render passes, pipelines, descriptor sets
//! ```

pub(crate) mod build;
pub(crate) mod flatten;
pub(crate) mod infer;
pub(crate) mod objects;
pub(crate) mod pipelines;
pub(crate) mod recording;
pub(crate) mod render_passes;
pub(crate) mod submits;
