//! Storage choice: decides which tensors are images and which are buffers, and where conversions are needed.
//!
//! ```text
//! x (plain) ─► convert ─► conv2d ─► relu ─► conv2d ─► convert ─► reshape      two conversions: the ends have to be plain,
//!                         image     image   image                             and none is needed in between
//! ```
//! An operator requires its activations `packed`, four channels per vector, or `plain`, row-major in a buffer. Operators over
//! packed tensors read them from images and buffers alike, so a conversion is needed between the two forms but not between the
//! storages. Compilers' kernels take their operands as they are: a shape that ends in 4 is packed, and nothing is converted.
//!
//! Source: TVM's [RFC](crate#sources), L1.1 (`CollectStorageInfo`); rules for Adreno: TVM at ce22736e.

mod choice;
mod form;
pub(crate) mod kernel;
mod policies;
mod policy;
mod rewrite;
mod scope;

pub use choice::{StorageChoice, StorageOptions, choose};
pub use policies::{
    Adreno, AdrenoLayered, Balanced, BuffersOnly, GivenScopes, POLICIES, RowMajor, StoragePolicies,
    default_policy,
};
pub use policy::{PackedTensor, StoragePolicy};
pub use rewrite::CONVERT;
pub use scope::{ScopeLimits, adreno_scope};
