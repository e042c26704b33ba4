//! Errors of shader compilation.

use std::path::{Path, PathBuf};

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error in finding or running the compiler, in a shader, or in reading the compiled module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No compiler is installed, and none is bundled.
    #[error(
        "no shader compiler found: install glslangValidator (package glslang-tools) or glslc, name one in GLSLANG, or enable the feature \
         `bundled` of tileheap-shaders"
    )]
    NoCompiler,
    /// The compiler rejected the shader.
    #[error("{}", .lines.join("\n"))]
    Compile {
        /// The compiler's error messages, each with file and line if the compiler reports them.
        lines: Vec<String>,
    },
    /// A file could not be read or written, or a program could not be started.
    #[error("{}: {message}", .path.display())]
    Io {
        /// The path of the file, or of the program.
        path: PathBuf,
        /// The system's message.
        message: String,
    },
    /// SPIRV-Reflect cannot read the module.
    #[error("SPIRV-Reflect: {0}")]
    Reflect(String),
}

impl Error {
    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Error {
        Error::Io {
            path: path.to_owned(),
            message: error.to_string(),
        }
    }
}
