//! Nodes and blocks: operators, loops, branches.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::{BlockId, NodeId, TensorId};

/// Nodes in topological order, and the inputs and outputs of the block that they form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// For the graph: its inputs. For a body: its parameters, one per input of its node.
    pub inputs: Vec<TensorId>,
    /// For the graph or an arm of a branch: its outputs. Empty for the body of a loop, whose results are listed in [`LoopExit::results`].
    pub outputs: Vec<TensorId>,
    /// The nodes, in execution order.
    pub nodes: Vec<NodeId>,
}

/// One step of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The node's name.
    pub name: String,
    /// The operator, loop or branch.
    pub kind: NodeKind,
    /// The block that the node is in.
    pub block: BlockId,
    /// The tensors that the node reads.
    pub inputs: Vec<TensorId>,
    /// The tensors that the node produces.
    pub outputs: Vec<TensorId>,
    /// Outputs that may overwrite inputs.
    pub in_place: Vec<InPlace>,
}

impl Node {
    /// Creates an operator node of the root block, without inputs or outputs.
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

    /// Returns true if an output may overwrite its input. `has_its_value` returns true for tensors with the same value as that input: no
    /// other operand may have this value, unless the output may overwrite that operand, too.
    pub(crate) fn may_overwrite(
        &self,
        pair: &InPlace,
        mut has_its_value: impl FnMut(TensorId) -> bool,
    ) -> bool {
        self.inputs.iter().enumerate().all(|(index, &other)| {
            let allowed = |other: &InPlace| other.output == pair.output && other.input as usize == index;
            self.in_place.iter().any(allowed) || !has_its_value(other)
        })
    }
}

/// An output that may overwrite an input, provided that nothing reads the input later: each element of the output depends only on the input's
/// element at the same index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InPlace {
    /// Index among the node's outputs.
    pub output: u32,
    /// Index among the node's inputs.
    pub input: u32,
}

/// The kind of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A computation by an operator.
    Operator(Operator),
    /// A block that is repeated.
    Loop(Loop),
    /// One of several blocks, chosen at run time.
    Branch(Branch),
}

/// A computation, identified by a name such as `conv2d` or `add`. See [`GraphBuilder::operator`](crate::graph::GraphBuilder::operator) for
/// the operators whose shapes are inferred.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Operator {
    /// The operator's name.
    pub name: String,
    /// The operator's parameters, such as `strides` and `padding`.
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

/// The value of an operator's attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Attribute {
    /// An integer.
    Int(i64),
    /// A list of integers.
    Ints(Vec<i64>),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(String),
}

/// A block that is repeated until an exit is taken.
///
/// ```text
/// (while (c < 5) { y = conv(x, w) })(x <= y)      inputs x, w; exit before node 0 of the body, results x; carried y into x
/// ```
/// Source: NNC's [article](crate#sources), "Loop Representation"; several exits with phi: "Handling loops".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// The block that runs in each round.
    pub body: BlockId,
    /// The parameters that change at the end of a round; the others stay the same.
    pub carried: Vec<LoopCarry>,
    /// The exits, in the order of the body's nodes. If the only nodes before an exit are those that compute its condition, zero rounds are possible.
    pub exits: Vec<LoopExit>,
    /// The number of complete rounds (iterations of the body), if known: the only exit is taken in the round with this number, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
}

/// A value that becomes a parameter's next value at the end of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopCarry {
    /// A tensor of the body. It may be a parameter, so that values of several rounds ago are available.
    pub value: TensorId,
    /// A parameter of the body.
    pub into: TensorId,
}

/// An exit of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopExit {
    /// The number of the body's nodes that run in each round before this exit.
    pub after: u32,
    /// The loop is left if this is 0.
    pub condition: TensorId,
    /// The values that the loop's outputs have at this exit, one for each output, in order: each output is a phi over the exits.
    pub results: Vec<TensorId>,
}

/// One of several blocks, chosen by the first input. The arms see all of the node's inputs; memory used by one arm is free in the others. The
/// outputs are the results of the arm that runs, in the same bytes if the plan permits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// The blocks; block `i` runs if the first input is `i`.
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
