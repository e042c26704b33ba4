//! Reads files of any supported format.

use serde_json::Value;
use tileheap_json::without_mark;

use super::tvm::TvmGraph;
use super::{read_graph, read_lines, read_records};
use crate::error::Result;
use crate::graph::Graph;
use crate::plan::placement::SpaceItem;

/// The contents of a file: a graph, or records of lifetimes.
#[derive(Clone, Debug)]
pub enum ImportedInput {
    /// A graph.
    Graph(Graph),
    /// A TVM graph, with the JSON document that it was read from.
    Tvm(TvmGraph),
    /// Records of lifetimes and sizes.
    Records(Vec<SpaceItem>),
}

impl ImportedInput {
    /// Detects the format of a text, and reads it: a table, lines of JSON, TVM's JSON, or tileheap's own. `inputs`
    /// as in [`TvmGraph::read`].
    ///
    /// # Errors
    /// Those of the format's reader.
    pub fn parse(text: &str, inputs: &[String]) -> Result<ImportedInput> {
        let text = without_mark(text);
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
        if !first.trim_start().starts_with('{') {
            return read_records(text).map(ImportedInput::Records);
        }
        if first.contains("\"op_types\"") {
            return read_lines(text).map(ImportedInput::Graph);
        }
        let is_tvm = serde_json::from_str::<Value>(text)
            .is_ok_and(|value| value.get("format").is_none() && value.get("heads").is_some());
        if is_tvm {
            return TvmGraph::read(text, inputs).map(ImportedInput::Tvm);
        }
        read_graph(text).map(ImportedInput::Graph)
    }

    /// Returns true if [`ImportedInput::parse`] accepts the text.
    pub fn accepts(text: &str) -> bool {
        ImportedInput::parse(text, &[]).is_ok()
    }
}
