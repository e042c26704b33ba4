//! Why a text is no description of a frame.

use tileheap_json::{JsonSyntaxError, written_by};

use super::document::VERSION;

/// Why a text is no description of a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// Not JSON, or not what is expected at this place.
    #[error("frame JSON, {0}")]
    Syntax(#[from] JsonSyntaxError),
    /// JSON of something else.
    #[error("frame JSON has format `{found}`, and only `tileheap-frame` can be read")]
    Format {
        /// What the file says.
        found: String,
    },
    /// A version that is not known.
    #[error("frame JSON: {}this tileheap reads version {VERSION}", written_by(*.found))]
    Version {
        /// What the file says.
        found: u64,
    },
    /// Well-formed, and still no description.
    #[error("frame JSON, {path}: {problem}")]
    Field {
        /// What the problem concerns.
        path: String,
        /// What is wrong.
        problem: String,
    },
}
