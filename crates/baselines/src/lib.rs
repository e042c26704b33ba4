//! Other people's planners, pools and policies, which tests, benches and the command line compare with.
//!
//! Each module names its source. Everything here enters by the same public traits as a user's own strategy or policy, so a
//! baseline is also an example of one. No published crate depends on this one; the command `tileheap` does, which is not published.

#![forbid(unsafe_code)]
#![allow(clippy::missing_errors_doc)] // Read here, not published: errors are those of the traits.

pub mod pack;
#[cfg(feature = "tensor")]
pub mod tensor;
#[cfg(feature = "textures")]
pub mod textures;
