//! Storage choice: which tensors become images and which buffers, and where one is made from the other.
//!
//! ```text
//! x (plain) ─► convert ─► conv2d ─► relu ─► conv2d ─► convert ─► reshape      two conversions: what has to be plain
//!                         image     image   image                             at both ends, and nothing between
//! ```
//! An operator wants its activations `packed`, four channels side by side, or `plain`, row-major in a buffer. Operators over packed
//! tensors read them from images and buffers alike; so a conversion is needed between the two forms, and not between the storages.
//! The kernels of compilers take their operands as they are: a shape that ends in 4 is packed, and nothing is converted.
//!
//! Source: TVM's [RFC](crate#sources), L1.1 (`CollectStorageInfo`); its rules for Adreno, TVM at ce22736e.

mod choice;
mod form;
pub(crate) mod kernel;
mod policies;
mod policy;
mod rewrite;
mod scope;

pub use choice::{StorageChoice, StorageOptions, choose};
pub use policies::{Adreno, AdrenoLayered, Balanced, Buffers, Given, POLICIES, Policies, default_policy};
pub use policy::{PackedTensor, StoragePolicy};
pub use rewrite::CONVERT;
pub use scope::{ScopeLimits, adreno_scope};
