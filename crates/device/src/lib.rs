//! What Vulkan devices with tile memory offer: the bindings that `ash` lacks, and profiles of devices in numbers.
pub mod ffi;
mod format;
pub mod names;
pub mod profile;

pub use format::{TexelBlock, aspects, texel_block};
pub use profile::ProfileError;
pub use tileheap_units as units;

/// `Result` with this crate's error.
pub type Result<T, E = ProfileError> = std::result::Result<T, E>;
