//! Keeps a renderer's short-lived images and buffers on the chip.

#[forbid(unsafe_code)]
pub mod cache;
pub mod error;
pub mod ffi;
#[forbid(unsafe_code)]
pub mod frame;
#[forbid(unsafe_code)]
mod json;
#[forbid(unsafe_code)]
pub mod pack;
#[forbid(unsafe_code)]
pub mod plan;
#[forbid(unsafe_code)]
pub mod profile;
#[cfg(feature = "runtime")]
pub mod runtime;
#[forbid(unsafe_code)]
pub mod tensor;
#[forbid(unsafe_code)]
pub mod units;

pub use error::{Error, Result};

/// The README's example compiles.
#[cfg(all(doctest, feature = "runtime"))]
#[doc = include_str!("../README.md")]
struct Readme;
