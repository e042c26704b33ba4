//! Files of any of the formats.

use super::executorch::{is_program, read_executorch};
use super::iree::{is_dump, read_iree};
use super::relax::{is_script, read_relax};
use super::storage_ids::read_storage_ids;
use super::table::{SpanEnds, read_table};
use super::tflite::{is_model, read_tflite};
use super::types::Allocations;
use crate::error::{Error, Result};

/// What files do not say themselves.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Whether the last step of a lifetime in a table is part of it.
    pub ends: SpanEnds,
    /// The activations among the `null` nodes of a TVM graph, as in [`TvmGraph::read`](crate::import::tvm::TvmGraph::read).
    pub inputs: Vec<String>,
}

/// Reads a file of any format, by its contents.
///
/// # Errors
/// As of the reader of the format.
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Allocations> {
    if is_model(bytes) {
        return read_tflite(bytes);
    }
    if is_program(bytes) {
        return read_executorch(bytes);
    }
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
    if text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        return read_storage_ids(text, &options.inputs);
    }
    if is_dump(text) {
        return read_iree(text);
    }
    if is_script(text) {
        return read_relax(text);
    }
    read_table(text, options.ends)
}
