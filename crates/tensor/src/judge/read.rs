//! Files of any of the formats.

use super::table::{SpanEnds, read_table};
use super::types::Allocations;
use crate::error::{Error, Result};

/// What files do not say themselves.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Whether the last step of a lifetime in a table is part of it.
    pub ends: SpanEnds,
}

/// Reads a file of any format, by its contents.
///
/// # Errors
/// As of the reader of the format.
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Allocations> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        Error::parse(
            "file",
            format!("line {line}: not UTF-8 text, nor a format that is known"),
        )
    })?;
    read_table(text, options.ends)
}
