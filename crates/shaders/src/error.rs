//! Why a shader was not compiled.

use std::fmt;
use std::path::{Path, PathBuf};

/// `Ok`, or an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// A shader that does not compile, or a compiler that does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No compiler is installed, and none is bundled.
    NoCompiler,
    /// The compiler rejected the shader.
    Compile {
        /// `file:line: message`, one per mistake.
        lines: Vec<String>,
    },
    /// A file could not be read or written, or a program not be started.
    Io {
        /// The file.
        path: PathBuf,
        /// The system's message.
        message: String,
    },
    /// SPIRV-Reflect cannot read the module.
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoCompiler => f.write_str(
                "no shader compiler: install glslangValidator (package glslang-tools) or glslc, name one in GLSLANG, or enable the \
                 feature `bundled` of tileheap-shaders",
            ),
            Error::Compile { lines } => f.write_str(&lines.join("\n")),
            Error::Io { path, message } => write!(f, "{}: {message}", path.display()),
            Error::Reflect(message) => write!(f, "SPIRV-Reflect: {message}"),
        }
    }
}

impl std::error::Error for Error {}
