//! Errors for JSON text that does not describe a frame.

use tileheap_json::{JsonSyntaxError, other_version};

use super::document::VERSION;

/// Error for JSON text that does not describe a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// Text that is not JSON, or a value that does not have the expected form.
    #[error("frame JSON, {0}")]
    Syntax(#[from] JsonSyntaxError),
    /// A document of another format.
    #[error("frame JSON has format `{found}`: only `tileheap-frame` can be read")]
    Format {
        /// Format stated by the file.
        found: String,
    },
    /// A document of a version that cannot be read.
    #[error("frame JSON: {}", other_version(*.found, VERSION))]
    Version {
        /// Version stated by the file.
        found: u64,
    },
    /// A resource that is both or neither of an image and a buffer.
    #[error("frame JSON, {path}: {problem}")]
    Field {
        /// The resource, with its name.
        path: String,
        /// Description of the problem.
        problem: String,
    },
}
