//! Packing strategies, tensor pools and texture policies of other projects: the baselines of tests, benchmarks and the command.
//!
//! Each module names its source. Everything here implements the same public traits as a user's own strategy or policy, so each baseline is also an
//! example. No published crate depends on this one; the command `tileheap` does, which is not published.

#![forbid(unsafe_code)]
#![allow(clippy::missing_errors_doc)] // Not published: errors are those of the traits.

pub mod pack;
#[cfg(feature = "tensor")]
pub mod tensor;
#[cfg(feature = "textures")]
pub mod textures;
