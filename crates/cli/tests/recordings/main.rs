//! Random recordings, checked by the aliasing layer and by synchronization validation at the same time.
//!
//! ```text
//! correct recording ──mutate──► with mistakes ──execute──► messages of both layers ──► pairs of steps
//!        └─delete one dependency──► …                                                     │
//!                                                    order of two accesses by the specification ◄─ if they disagree
//! ```
//! A correct recording does not have hazards, which both layers have to confirm.

// Every call of ash is unsafe; a comment states what a group of them relies on.
#![allow(clippy::multiple_unsafe_ops_per_block)]

mod actions;
mod agreement;
mod barriers;
mod bench;
mod commands;
mod compare;
mod deletion;
mod device;
mod execute;
mod generate;
mod masks;
mod mutate;
mod order;
mod order_cases;
mod ordering;
mod pass_objects;
mod passes;
mod pipelines;
mod recording;
mod resources;
mod shaders;
mod shrink;
mod timeline;
mod tracker;
mod units;
mod verdicts;
