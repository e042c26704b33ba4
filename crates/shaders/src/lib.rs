//! Compiles GLSL to SPIR-V at build time, with the shader compiler that is installed.
//!
//! The compiler is `glslangValidator`, `glslang` or `glslc`, whichever is first found on the `PATH`; the environment variable
//! `GLSLANG` names another. Where there is none, the feature `bundled` builds glslang from source, which takes minutes.
//!
//! ```no_run
//! // In a build script: every shader of a folder as a `static` in `OUT_DIR/shaders.rs`.
//! tileheap_shaders::build_folder("shaders".as_ref());
//! ```
#![forbid(unsafe_code)]

#[cfg(feature = "bundled")]
mod bundled;
mod compiler;
mod folder;

pub use compiler::{CompileError, Compiler, Defines, Source, Stage};
pub use folder::{build_folder, fail, write_output};
