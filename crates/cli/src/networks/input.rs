//! Reading graphs and records.

use serde_json::Value;
use tileheap_tensor::import::tvm::TvmGraph;
use tileheap_tensor::import::{read_graph, read_lines, read_records};
use tileheap_tensor::plan::placement::SpaceItem;
use tileheap_tensor::{Graph, Result};

/// A graph, or records of lifetimes.
pub(crate) enum Input {
    Graph(Graph),
    Tvm(TvmGraph),
    Records(Vec<SpaceItem>),
}

impl Input {
    /// Detects the format: a table, lines of JSON, TVM's JSON, or tileheap's own.
    pub(crate) fn parse(text: &str, inputs: &[String]) -> Result<Input> {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
        if !first.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
            return read_records(text).map(Input::Records);
        }
        if first.contains("\"op_types\"") {
            return read_lines(text).map(Input::Graph);
        }
        let is_tvm = serde_json::from_str::<Value>(text)
            .is_ok_and(|value| value.get("format").is_none() && value.get("heads").is_some());
        if is_tvm {
            return TvmGraph::read(text, inputs).map(Input::Tvm);
        }
        read_graph(text).map(Input::Graph)
    }

    /// Whether [`Input::parse`] accepts a text.
    pub(crate) fn accepts(text: &str) -> bool {
        Input::parse(text, &[]).is_ok()
    }
}
