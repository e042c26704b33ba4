//! Checks of a crate's sources that neither the compiler nor clippy makes: cycles between files, retired names, let chains, file sizes.
//!
//! `cargo run -p tileheap-house` checks the whole repository, `cargo run -p tileheap-house -- crates/pack` one crate.
#![forbid(unsafe_code)]

pub mod cycles;
pub mod language;
mod module;
pub mod names;
mod paths;
pub mod sources;
