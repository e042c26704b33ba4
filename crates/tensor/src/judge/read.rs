//! Reads files of any supported format.

use super::executorch::{self, read_executorch};
use super::iree::{self, read_iree};
use super::relax::{self, read_relax};
use super::storage_ids::{self, read_storage_ids};
use super::table::{self, read_table};
use super::tflite::{self, read_tflite};
use super::types::Allocations;
use crate::error::{Error, Result};
use crate::file_kind::{is_executorch, is_tflite};
use crate::import::SpanEnds;

/// Options for reading files: information that the files do not contain.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Selects whether the upper ends of lifetimes in a table are inclusive or exclusive.
    pub ends: SpanEnds,
    /// The activations among the `null` nodes of a TVM graph, as in [`TvmGraph::read`](crate::import::tvm::TvmGraph::read).
    pub inputs: Vec<String>,
}

/// The format of a file, detected from its contents.
enum Format<'a> {
    TensorFlowLite,
    ExecuTorch,
    Json(&'a str),
    Iree(&'a str),
    Relax(&'a str),
    Table(&'a str),
}

impl Format<'_> {
    fn of(bytes: &[u8]) -> Result<Format<'_>> {
        if is_tflite(bytes) {
            return Ok(Format::TensorFlowLite);
        }
        if is_executorch(bytes) {
            return Ok(Format::ExecuTorch);
        }
        let text = tileheap_json::decode(bytes).map_err(|error| {
            let problem = format!("{error}; the file is not in a known binary format either");
            Error::parse("file", problem)
        })?;
        let start = text.trim_start();
        Ok(if start.starts_with(['{', '[']) {
            Format::Json(text)
        } else if iree::is_dump(text) {
            Format::Iree(text)
        } else if relax::is_script(text) {
            Format::Relax(text)
        } else {
            Format::Table(text)
        })
    }

    const fn name(&self) -> &'static str {
        match self {
            Format::TensorFlowLite => tflite::FORMAT,
            Format::ExecuTorch => executorch::FORMAT,
            Format::Json(_) => storage_ids::FORMAT,
            Format::Iree(_) => iree::FORMAT,
            Format::Relax(_) => relax::FORMAT,
            Format::Table(_) => table::FORMAT,
        }
    }
}

/// Reads a file of any supported format, which is detected from its contents.
///
/// # Errors
/// Those of the format's reader; [`Error::Parse`] if an option does not apply to the format.
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Allocations> {
    let format = Format::of(bytes)?;
    let unused = [
        (
            options.ends != SpanEnds::ByColumn && !matches!(format, Format::Table(_)),
            "`ends` applies only to tables",
        ),
        (
            !options.inputs.is_empty() && !matches!(format, Format::Json(_)),
            "`inputs` applies only to TVM graphs",
        ),
    ];
    if let Some((_, problem)) = unused.into_iter().find(|&(is_unused, _)| is_unused) {
        return Err(Error::parse(format.name(), problem));
    }
    match format {
        Format::TensorFlowLite => read_tflite(bytes),
        Format::ExecuTorch => read_executorch(bytes),
        Format::Json(text) => read_storage_ids(text, &options.inputs),
        Format::Iree(text) => read_iree(text),
        Format::Relax(text) => read_relax(text),
        Format::Table(text) => read_table(text, options.ends),
    }
}
