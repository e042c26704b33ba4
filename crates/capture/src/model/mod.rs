//! A program's objects, its recorded commands, and the resulting frame.
//!
//! ```text
//! objects ◄── recording ◄── flatten ◄── submits ◄── build ────► frame document: passes, resources, lifetimes, statistics
//! │           │             │           │       ◄── recorded ─► its recording: commands, submissions, steps of the host
//! │           │             │           │       ▲ timeline, contents: uses of the same resources by the previous frame and the next one
//! │           │             │           └ submissions, and steps of the host
//! │           │             └ passes and their accesses, and individual commands, with descriptors as they are at submission
//! │           └ commands as they are recorded, with the timestamps between them (timing)
//! └ images, views, render passes, pipelines, descriptor sets
//! ```

pub(crate) mod access;
pub(crate) mod bound_sets;
pub(crate) mod build;
pub(crate) mod choice;
pub(crate) mod chunked_list;
pub(crate) mod contents;
pub(crate) mod drawn;
pub(crate) mod facts;
pub(crate) mod fetched;
pub(crate) mod flatten;
pub(crate) mod infer;
pub(crate) mod objects;
pub(crate) mod pipelines;
pub(crate) mod recorded;
pub(crate) mod recording;
pub(crate) mod render_passes;
pub(crate) mod resource_table;
pub(crate) mod shader_use;
pub(crate) mod submits;
pub(crate) mod timeline;
pub(crate) mod timing;
