//! Compiles GLSL to SPIR-V at build time, with the shader compiler that is installed.
//!
//! The compiler is `glslangValidator`, `glslang` or `glslc`, whichever is first found on the `PATH`; the environment variable
//! `GLSLANG` names another. Where there is none, the feature `bundled` builds glslang from source, which takes minutes.
//!
//! ```no_run
//! # #[cfg(feature = "reflect")]
//! // In a build script: every shader of a folder as a `Shader` in `OUT_DIR/shaders.rs`.
//! tileheap_shaders::build_folder("shaders".as_ref());
//! ```
//!
//! With the feature `reflect`, the generated module says of each shader what it declares: descriptor bindings, bytes of push
//! constants, workgroup size and vertex attributes, so that host code need not repeat them:
//!
//! ```ignore
//! mod shaders {
//!     include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
//! }
//! let bindings = shaders::set_layout_bindings(&[&shaders::LAND_VERT, &shaders::LAND_FRAG], 0);
//! let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
//! ```
//! The module uses `ash::vk`, and nothing else. It is no general reflection library: only what [`Compiler`] made is read, as
//! SPIR-V 1.3 at the latest.
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
