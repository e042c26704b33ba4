#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

#[cfg(feature = "bundled")]
mod bundled;
mod compiler;
mod error;
#[cfg(feature = "reflect")]
mod folder;
mod output;
#[cfg(feature = "reflect")]
mod reflect;
mod source;

pub use compiler::Compiler;
pub use error::{Error, Result};
#[cfg(feature = "reflect")]
pub use folder::build_folder;
pub use output::{fail, write_output};
#[cfg(feature = "reflect")]
pub use reflect::{Binding, Interface, VertexInput};
pub use source::{Defines, Source, Stage};
