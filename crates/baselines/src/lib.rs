//! Planners, pools and policies of other projects, with which tests, benches and the command compare.
//!
//! Each module names its source. Everything here implements the same public traits as a user's own strategy or policy, so each
//! baseline is also an example of one. No published crate depends on this one; the command `tileheap` does, which is not published.

#![forbid(unsafe_code)]
#![allow(clippy::missing_errors_doc)] // Not published: errors are those of the traits.

pub mod pack;
#[cfg(feature = "tensor")]
pub mod tensor;
#[cfg(feature = "textures")]
pub mod textures;
