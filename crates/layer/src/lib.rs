#![doc = include_str!("../README.md")]

pub mod android;
pub mod app_folder;
pub mod arrays;
pub mod batches;
pub mod blits;
pub mod chain;
pub mod dependencies;
pub mod descriptors;
pub mod dispatch;
pub mod entry;
pub mod enumerate;
pub mod exclusive;
mod given;
pub mod guard;
pub mod handle_table;
pub mod host_waits;
pub mod layer_desc;
pub mod loader;
pub mod pipelines;
pub mod push_constants;
pub mod registry;
pub mod render_passes;
pub mod set_layouts;
pub mod settings;
pub mod sharded;
pub mod structure_sizes;
