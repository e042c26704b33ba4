//! The C interface of tileheap: what `include/tileheap.h` declares.
//!
//! ```text
//! C caller ─► exported function ─► boundary: panics become a status, faults a message
//!                                     └─► handles ─► objects ─► the crate `tileheap`
//! ```
//! Exported functions convert pointers and call safe functions. Handles are numbers that a table resolves, so that destroyed and foreign ones
//! are recognised. Rows of tables are those of `tileheap::lower::tables`, handed out where they lie.
//!
//! The header is generated from these sources by cbindgen (`tests/header`), and from the rows' own.

// The header says what pointers must point to; every function requires no more than that.
#![allow(clippy::missing_safety_doc)]

pub mod additions;
pub mod aliasing;
pub mod arrangement;
pub mod blocks;
pub mod bound;
mod boundary;
mod callbacks;
pub mod commands;
mod describe;
pub mod device;
pub mod dynamic_frame;
pub mod enums;
pub mod error;
pub mod executed;
pub mod frame;
pub mod frame_desc;
pub mod frame_object;
mod handles;
pub mod imports;
pub mod library;
mod loader;
pub mod lowerer;
pub mod opaque;
pub mod origins;
pub mod plan;
pub mod profile;
mod queues;
pub mod recording;
pub mod requirements;
pub mod status;
pub mod strings;
mod structs;
pub mod text;

pub mod vulkan;
