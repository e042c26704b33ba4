//! Shared parts of the JSON formats of frames, profiles and plans: a header, and one-line errors with a position.

mod clip;
mod nearest;
mod objects;
mod path;
mod text;
mod words;
mod writer;

pub use clip::clip;
use clip::clip_to;
pub use nearest::{did_you_mean, nearest};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
pub use text::{EncodingError, decode, without_mark};

/// Parses a document of this `format` and `version`, with or without a byte order mark.
///
/// # Errors
/// The problem with its line, column and path, on one line, whatever the text contains.
pub fn read<T: DeserializeOwned>(text: &str, format: &'static str, version: u64) -> Result<T> {
    #[derive(Deserialize)]
    struct Header {
        format: String,
        version: u64,
    }
    // The header is read first: another version has other fields, whose errors would be less helpful.
    let header: Header = parse(text)?;
    if header.format != format {
        return Err(Error::Format {
            found: clip(&header.format),
            expected: format,
        });
    }
    if header.version != version {
        return Err(Error::Version {
            found: header.version,
            expected: version,
        });
    }
    Ok(parse(text)?)
}

/// `Result` with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error in a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Text that is not JSON, or not of the expected structure.
    #[error(transparent)]
    Syntax(#[from] JsonSyntaxError),
    /// A document of another format.
    #[error("`format` is {found:?}, but {expected:?} is expected")]
    Format {
        /// The document's format.
        found: String,
        /// The expected format.
        expected: &'static str,
    },
    /// A document of another version.
    #[error("{}", other_version(*.found, *.expected))]
    Version {
        /// The document's version.
        found: u64,
        /// The expected version.
        expected: u64,
    },
}

/// Writes a document as indented text, with a line break at the end.
///
/// # Panics
/// For a map whose keys are not strings.
pub fn write<T: Serialize>(document: &T) -> String {
    writer::to_string(document).expect("the keys of every map in a document are strings") + "\n"
}

/// The largest integer that a document may contain: 8 TiB. A resource has at most 1 TiB, a frame at most 2^20 items of each kind,
/// and sums of a million such numbers do not overflow.
pub const MAX_INTEGER: u64 = 1 << 43;

/// The largest integer in a document; 0 if there is none.
pub fn largest_integer(value: &serde_json::Value) -> u64 {
    use serde_json::Value;
    match value {
        Value::Number(number) => number.as_u64().unwrap_or(0),
        Value::Array(elements) => elements.iter().map(largest_integer).max().unwrap_or(0),
        Value::Object(fields) => fields.values().map(largest_integer).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns true if a field has its default value and need not be written.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The default of a field whose default is 1.
pub fn one() -> u32 {
    1
}

/// Returns true if such a field has its default value and need not be written.
pub fn is_one(number: &u32) -> bool {
    *number == 1
}

/// The message about a document whose version is not the expected one.
pub fn other_version(found: u64, expected: u64) -> String {
    match found < expected {
        true => format!(
            "version {found} is older; this tileheap reads version {expected}: write it again with this release"
        ),
        false => {
            format!("version {found}, written by a later tileheap; this tileheap reads version {expected}")
        }
    }
}

/// The position at which text is not valid JSON of the expected structure, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} column {column}{}: {problem}", at(.path))]
pub struct JsonSyntaxError {
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1; 0 for a position before the first.
    pub column: usize,
    /// The path of fields and indices to the position: `submits[0].batches[1].waits`; empty for the document itself.
    pub path: String,
    /// The reason why the text is invalid at this position.
    pub problem: String,
}

fn at(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!(", at `{path}`"),
    }
}

/// Parses text as a document of type `T`, with or without a byte order mark.
///
/// # Errors
/// The first error, with its position and path.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, JsonSyntaxError> {
    let text = without_mark(text);
    if let Some(list) = list_instead(text) {
        return Err(list);
    }
    parse_any(text)
}

/// Parses text as a list of documents of type `T`, with or without a byte order mark.
///
/// # Errors
/// The first error, with its position and path.
pub fn parse_list<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, JsonSyntaxError> {
    parse_any(without_mark(text))
}

fn parse_any<T: DeserializeOwned>(text: &str) -> Result<T, JsonSyntaxError> {
    let error = match objects::from_str(text) {
        Ok(document) => return Ok(document),
        Err(error) => error,
    };
    Err(with_path(text, &error))
}

/// Converts an error of `serde_json`, and adds its path in the text.
fn with_path(text: &str, error: &serde_json::Error) -> JsonSyntaxError {
    let (line, column) = (error.line(), error.column());
    let mut problem = error.to_string();
    // The message must not repeat the position, which comes first.
    let suffix = format!(" at line {line} column {column}");
    problem.truncate(problem.strip_suffix(&suffix).map_or(problem.len(), str::len));
    let path = path::of(text, line, column, |read| words::is_of_last_value(&problem, read));
    // In well-formed JSON, the problem is not the syntax.
    if serde_json::from_str::<IgnoredAny>(text).is_ok() {
        problem = words::reworded(&problem);
    }
    JsonSyntaxError {
        line,
        column,
        path: clip(&path),
        problem: clip_to(&problem, words::MAX_LENGTH),
    }
}

/// Returns an error for a list in place of a document, which `serde` would accept as fields without names.
fn list_instead(text: &str) -> Option<JsonSyntaxError> {
    let before = &text[..text.find(|c: char| !c.is_ascii_whitespace())?];
    text[before.len()..].starts_with('[').then(|| JsonSyntaxError {
        line: 1 + before.matches('\n').count(),
        column: 1 + before.len() - before.rfind('\n').map_or(0, |at| at + 1),
        path: String::new(),
        problem: "a list, where an object is expected".to_owned(),
    })
}
