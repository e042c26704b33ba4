//! Nodes and blocks: operators, loops, branches.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::{BlockId, NodeId, TensorId};

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

impl Node {
    /// An operator of the graph itself that neither reads nor makes anything yet.
    pub(crate) fn operator(name: &str, operator: Operator) -> Node {
        Node {
            name: name.to_owned(),
            kind: NodeKind::Operator(operator),
            block: BlockId::ROOT,
            inputs: Vec::new(),
            outputs: Vec::new(),
            in_place: Vec::new(),
        }
    }
}

/// An output that may be written over an input that nothing reads later, because each element depends on the same one alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InPlace {
    /// Placement among the node's outputs.
    pub output: u32,
    /// Placement among its inputs.
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

/// A computation by name: `conv2d`, `add`. See [`GraphBuilder::operator`](crate::graph::GraphBuilder::operator) for those whose shapes are known here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Operator {
    /// Its name.
    pub name: String,
    /// What it is told besides its inputs: `strides`, `padding`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Attribute>,
}

impl Operator {
    /// An operator without attributes.
    pub fn named(name: impl Into<String>) -> Operator {
        let (name, attributes) = (name.into(), BTreeMap::new());
        Operator { name, attributes }
    }
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
    /// The number of complete rounds, if it is known: the only exit is taken in the round of this number, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
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

impl From<i64> for Attribute {
    fn from(value: i64) -> Attribute {
        Attribute::Int(value)
    }
}

impl From<Vec<i64>> for Attribute {
    fn from(values: Vec<i64>) -> Attribute {
        Attribute::Ints(values)
    }
}

impl From<f64> for Attribute {
    fn from(value: f64) -> Attribute {
        Attribute::Float(value)
    }
}

impl From<&str> for Attribute {
    fn from(value: &str) -> Attribute {
        Attribute::Text(value.to_owned())
    }
}
