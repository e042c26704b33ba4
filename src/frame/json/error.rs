//! Errors for JSON text that does not describe a frame.

use tileheap_json::{JsonSyntaxError, written_by};

use super::document::VERSION;

/// Error for JSON text that does not describe a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// Not JSON, or not the expected type at this position.
    #[error("frame JSON, {0}")]
    Syntax(#[from] JsonSyntaxError),
    /// JSON of another format.
    #[error("frame JSON has format `{found}`: only `tileheap-frame` can be read")]
    Format {
        /// Format stated by the file.
        found: String,
    },
    /// An unknown version.
    #[error("frame JSON: {}this tileheap reads version {VERSION}", written_by(*.found))]
    Version {
        /// Version stated by the file.
        found: u64,
    },
    /// Well-formed, but not a valid description.
    #[error("frame JSON, {path}: {problem}")]
    Field {
        /// Path of the field.
        path: String,
        /// Description of the problem.
        problem: String,
    },
}
