//! A validated graph.

use serde::{Deserialize, Serialize};

use super::ids::{BlockId, NodeId, TensorId};
use super::node::{Block, Node};
use super::shape::{Dim, Symbol, SymbolId};
use super::tensor::Tensor;
use crate::error::{Error, Result};

/// A validated graph: single assignment, nodes in topological order, every dimension with a bound or an example value.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    pub(crate) name: String,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) notes: Vec<String>,
}

/// Selects the upper bound on symbolic shapes for which memory is planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShapeBound {
    /// The maximum of each dimension over the ranges of its symbols.
    #[default]
    Ranges,
    /// The dimensions for the example inputs: too small for larger inputs.
    Examples,
}

impl Graph {
    /// The graph's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The symbols in the dimensions of the graph's tensors.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Assumptions that the reader of the graph made, such as the sizes of elements of unknown types.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// This graph, with all inputs marked as keeping their bytes from run to run.
    pub fn with_kept_inputs(mut self) -> Graph {
        for input in self.blocks[0].inputs.clone() {
            self.tensors[input.index()].kept = true;
        }
        self
    }

    /// All tensors of all blocks.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// All nodes of all blocks.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The graph itself, followed by the bodies of loops and branches.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The graph's inputs.
    pub fn inputs(&self) -> &[TensorId] {
        &self.blocks[0].inputs
    }

    /// The graph's outputs.
    pub fn outputs(&self) -> &[TensorId] {
        &self.blocks[0].outputs
    }

    /// The tensor with this id.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.index()]
    }

    /// The node with this id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The block with this id.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// The id of the tensor with this name.
    pub fn find(&self, name: &str) -> Option<TensorId> {
        let index = self.tensors.iter().position(|tensor| tensor.name == name)?;
        Some(TensorId(index as u32))
    }

    /// The ids of all tensors.
    pub fn tensor_ids(&self) -> impl Iterator<Item = TensorId> + use<> {
        (0..self.tensors.len() as u32).map(TensorId)
    }

    /// A tensor's dimensions for these values of the symbols, in the order of [`Graph::symbols`].
    ///
    /// # Errors
    /// A value is missing or outside its symbol's range, or a dimension is negative at these values.
    pub fn shape_at(&self, tensor: TensorId, values: &[u64]) -> Result<Vec<u64>> {
        self.check_values(values)?;
        let value = |symbol: SymbolId| i64::try_from(*values.get(symbol.0 as usize)?).ok();
        let dims = self.tensor(tensor).shape.0.iter();
        dims.map(|dim| {
            let value = dim.at(&value).ok_or_else(|| self.unbounded(tensor, dim))?;
            u64::try_from(value).map_err(|_| self.negative(tensor, dim, value))
        })
        .collect()
    }

    /// The upper bounds on a tensor's dimensions, for which memory is planned; `bounding` selects how they are determined.
    ///
    /// # Errors
    /// A symbol has no range (for [`ShapeBound::Examples`], no example), or the greatest value is negative.
    pub fn shape_bound(&self, tensor: TensorId, bounding: ShapeBound) -> Result<Vec<u64>> {
        let range = |symbol: SymbolId| {
            let symbol = &self.symbols[symbol.0 as usize];
            let (least, most) = match bounding {
                ShapeBound::Ranges => symbol.range?,
                ShapeBound::Examples => (symbol.example?, symbol.example?),
            };
            Some((i64::try_from(least).ok()?, i64::try_from(most).ok()?))
        };
        let dims = self.tensor(tensor).shape.0.iter();
        dims.map(|dim| {
            let (_, most) = dim.bounds(&range).ok_or_else(|| self.unbounded(tensor, dim))?;
            u64::try_from(most).map_err(|_| self.negative(tensor, dim, most))
        })
        .collect()
    }

    /// Checks that these values of the symbols are within their ranges.
    ///
    /// # Errors
    /// A value is missing, or is outside its symbol's range, so that a plan for the range cannot hold it; the error names the first such symbol.
    pub fn check_values(&self, values: &[u64]) -> Result<()> {
        for (index, symbol) in self.symbols.iter().enumerate() {
            let value = values.get(index).copied();
            let inside = |value: u64| {
                symbol
                    .range
                    .is_none_or(|(least, most)| (least..=most).contains(&value))
            };
            if !value.is_some_and(inside) {
                let range = symbol
                    .range
                    .map(|(least, most)| format!("from {least} to {most}"));
                let problem = match (value, range) {
                    (Some(value), Some(range)) => format!("is {value}, but must be {range}"),
                    (None, Some(range)) => format!("has no value, but must have one {range}"),
                    (_, None) => "has no value".to_owned(),
                };
                let symbol = symbol.name.clone();
                return Err(Error::Symbol { symbol, problem });
            }
        }
        Ok(())
    }

    pub(super) fn unbounded(&self, tensor: TensorId, dim: &Dim) -> Error {
        let symbol = dim
            .symbol()
            .and_then(|symbol| self.symbols.get(symbol.0 as usize));
        let tensor = &self.tensor(tensor).name;
        match symbol {
            Some(symbol) => Error::Unbounded {
                tensor: tensor.clone(),
                dimension: dim.to_string(),
                symbol: symbol.name.clone(),
            },
            None => Error::tensor(tensor, format!("its size exceeds 2^63 with dimension {dim}")),
        }
    }

    pub(super) fn negative(&self, tensor: TensorId, dim: &Dim, value: i64) -> Error {
        let problem = format!("dimension {dim} is {value}; dimensions cannot be negative");
        Error::tensor(&self.tensor(tensor).name, problem)
    }
}
