#![doc = include_str!("../README.md")]

mod access_kind;
mod error;
pub mod ffi;
pub mod format;
pub mod names;
pub mod profile;
pub mod scopes;

pub use access_kind::{AccessKind, AccessKinds, PassKind};
pub use error::{Error, Result};
pub use tileheap_units as units;
