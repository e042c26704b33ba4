//! Graphs: tensors, the nodes that make them, blocks of nodes for loops and branches.
//!
//! ```text
//! block 0 (the graph itself)          node 0  conv2d     x, w -> a
//!   inputs x, outputs y               node 1  loop       a    -> y      its body is block 1
//! block 1 (the body of node 1)        node 2  tanh       p    -> q      carried: q into p
//! ```
//! All tensors and nodes of all blocks are in one table each, so that an id says all. A block sees its own tensors and
//! constants; what a body needs from outside comes in as a parameter, one per input of its node.

mod builder;
mod element;
mod infer;
mod shape;
mod validate;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::TensorError;
use crate::units::Bytes;

pub use builder::GraphBuilder;
pub use element::ElementType;
pub use shape::{Dim, Shape, Symbol, SymbolId};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
ids!(
    /// A tensor, by its place in [`Graph::tensors`].
    TensorId,
    /// A node, by its place in [`Graph::nodes`].
    NodeId,
    /// A block, by its place in [`Graph::blocks`]; the graph itself is block 0.
    BlockId
);

impl BlockId {
    /// The graph itself.
    pub const ROOT: BlockId = BlockId(0);
}

/// A validated graph: single assignment, nodes in topological order, every dimension bounded or an example.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    pub(super) name: String,
    pub(super) symbols: Vec<Symbol>,
    pub(super) tensors: Vec<Tensor>,
    pub(super) nodes: Vec<Node>,
    pub(super) blocks: Vec<Block>,
}

/// Nodes in topological order, what comes in and what goes out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Of the graph: its inputs. Of a body: its parameters, one per input of its node.
    pub inputs: Vec<TensorId>,
    /// Of the graph and of a branch's arm: what it gives. Empty for a loop, whose exits say it.
    pub outputs: Vec<TensorId>,
    /// In the order they run.
    pub nodes: Vec<NodeId>,
}

/// A value that is assigned once (in a loop: once a round).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its name; unique.
    pub name: String,
    /// What its elements are.
    pub element: ElementType,
    /// Its logical dimensions; activations `[n, c, h, w]`, weights `[o, i, h, w]`.
    pub shape: Shape,
    /// Where its value comes from.
    pub source: Source,
    /// The larger tensor whose bytes it is a part of.
    pub view: Option<View>,
    /// The pool entry that was given to it elsewhere, to be honoured.
    pub storage_id: Option<u32>,
    /// The storage scope that was given to it elsewhere: `global.texture`.
    pub scope: Option<String>,
    /// The name of the memory it has to be in.
    pub memory: Option<String>,
}

/// Where a tensor's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The graph's input or a body's parameter, of this block.
    Input(BlockId),
    /// Weights and the like: outside of the planned arenas.
    Constant,
    /// A node's output.
    Node(NodeId),
}

/// A part of another tensor's bytes.
///
/// The base lives as long as any of its views. A reshape is a view at 0 of its operand; the operands of a concatenation
/// along the outermost dimension may be views of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The tensor whose bytes they are; may be a view itself.
    pub base: TensorId,
    /// Where they start in it, in the tensor's plain row-major form.
    pub offset: Bytes,
}

/// One step of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What it does.
    pub kind: NodeKind,
    /// The block it is in.
    pub block: BlockId,
    /// What it reads.
    pub inputs: Vec<TensorId>,
    /// What it makes.
    pub outputs: Vec<TensorId>,
    /// Which outputs may take over the bytes of which inputs.
    pub in_place: Vec<InPlace>,
}

/// An output that may be written over an input that nothing reads later, because each element depends on the same one alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InPlace {
    /// Place among the node's outputs.
    pub output: u32,
    /// Place among its inputs.
    pub input: u32,
}

/// What a node does.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A computation.
    Operator(Operator),
    /// A block that runs round after round.
    Loop(Loop),
    /// One of several blocks.
    Branch(Branch),
}

/// A computation by name: `conv2d`, `add`. See [`GraphBuilder::operator`] for those whose shapes are known here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Operator {
    /// Its name.
    pub name: String,
    /// What it is told besides its inputs: `strides`, `padding`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Attribute>,
}

/// What an operator is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Attribute {
    /// A whole number.
    Int(i64),
    /// Several.
    Ints(Vec<i64>),
    /// A number.
    Float(f64),
    /// A word.
    Text(String),
}

/// A block that runs round after round until an exit is taken.
///
/// ```text
/// (while (c < 5) { y = conv(x, w) })(x <= y)      inputs x, w; exit before node 0 of the body, results x; carried y into x
/// ```
/// Source: NNC's [article](crate#sources), "Loop Representation"; several exits with phi: "Handling loops".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// What runs.
    pub body: BlockId,
    /// What becomes of parameters at the end of a round; the others stay what they were.
    pub carried: Vec<Carry>,
    /// Where the loop may be left, in the order of the body's nodes; one before the first node that is not needed for its
    /// condition makes zero rounds possible.
    pub exits: Vec<Exit>,
}

/// At the end of a round, the parameter's next value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carry {
    /// A tensor of the body; may be a parameter, for values of several rounds ago.
    pub value: TensorId,
    /// A parameter of the body.
    pub into: TensorId,
}

/// A place where a loop may be left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// How many of the body's nodes have run in this round.
    pub after: u32,
    /// The loop is left where this is 0.
    pub condition: TensorId,
    /// What the loop's outputs are when it is left here, in their order; the outputs are the phi of all exits.
    pub results: Vec<TensorId>,
}

/// One of several blocks, chosen by the first input. The arms see all of the node's inputs; memory of one arm is free in
/// the others; the outputs are whichever arm's outputs, in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// The blocks; block `i` runs where the first input is `i`.
    pub arms: Vec<BlockId>,
}

/// Which of two upper bounds of shapes memory is planned for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bounding {
    /// The greatest value that a dimension takes over the ranges of its symbols.
    #[default]
    Ranges,
    /// The value at the shapes of example inputs: the older way, too little for larger inputs.
    Examples,
}

impl Graph {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Symbols of its dimensions.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// All tensors of all blocks.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// All nodes of all blocks.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The graph itself, then bodies.
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

    /// A tensor.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.index()]
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// A block.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// A tensor by its name.
    pub fn find(&self, name: &str) -> Option<TensorId> {
        let index = self.tensors.iter().position(|tensor| tensor.name == name)?;
        Some(TensorId(index as u32))
    }

    /// All ids of tensors.
    pub fn tensor_ids(&self) -> impl Iterator<Item = TensorId> + use<> {
        (0..self.tensors.len() as u32).map(TensorId)
    }

    /// A tensor's dimensions where the symbols have these values, in the order of [`Graph::symbols`].
    ///
    /// # Errors
    /// A value is missing or outside its symbol's range, or a dimension is negative at these values.
    pub fn shape_at(&self, tensor: TensorId, values: &[u64]) -> Result<Vec<u64>, TensorError> {
        self.check_values(values)?;
        let value = |symbol: SymbolId| i64::try_from(*values.get(symbol.0 as usize)?).ok();
        let dims = self.tensor(tensor).shape.0.iter();
        dims.map(|dim| {
            let value = dim.at(&value).ok_or_else(|| self.unbounded(tensor, dim))?;
            u64::try_from(value).map_err(|_| self.negative(tensor, dim, value))
        })
        .collect()
    }

    /// A tensor's largest dimensions: what memory is planned for.
    ///
    /// # Errors
    /// A symbol has no range (or no example, where that was asked for), or the greatest value is negative.
    pub fn shape_bound(&self, tensor: TensorId, bounding: Bounding) -> Result<Vec<u64>, TensorError> {
        let range = |symbol: SymbolId| {
            let symbol = &self.symbols[symbol.0 as usize];
            let (least, most) = match bounding {
                Bounding::Ranges => symbol.range?,
                Bounding::Examples => (symbol.example?, symbol.example?),
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

    /// Whether these values of the symbols are within their ranges.
    ///
    /// # Errors
    /// The first that is not, with its range; a plan made for the range does not hold it.
    pub fn check_values(&self, values: &[u64]) -> Result<(), TensorError> {
        for (index, symbol) in self.symbols.iter().enumerate() {
            let value = values.get(index).copied();
            let inside = |value: u64| {
                symbol
                    .range
                    .is_none_or(|(least, most)| (least..=most).contains(&value))
            };
            if !value.is_some_and(inside) {
                return Err(TensorError::SymbolOutOfRange {
                    symbol: symbol.name.clone(),
                    value,
                    range: symbol.range,
                });
            }
        }
        Ok(())
    }

    fn unbounded(&self, tensor: TensorId, dim: &Dim) -> TensorError {
        let symbol = dim
            .symbol()
            .map(|symbol| self.symbols[symbol.0 as usize].name.clone());
        TensorError::Unbounded {
            tensor: self.tensor(tensor).name.clone(),
            dim: dim.to_string(),
            symbol: symbol.unwrap_or_default(),
        }
    }

    fn negative(&self, tensor: TensorId, dim: &Dim, value: i64) -> TensorError {
        TensorError::Negative {
            tensor: self.tensor(tensor).name.clone(),
            dim: dim.to_string(),
            value,
        }
    }
}
