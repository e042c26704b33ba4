//! Graphs from files: the crate's own JSON, CSV and JSON lines of records, TVM's graph JSON, ONNX.

mod columns;
mod document;
mod document_schema;
mod document_write;
mod input;
#[cfg(feature = "onnx")]
pub mod onnx;
mod producers;
mod records;
pub mod tvm;

pub use columns::{SpanEnds, TableColumns, parse_number};
pub use document::read_graph;
pub use input::ImportedInput;
pub use records::{read_lines, read_records};
