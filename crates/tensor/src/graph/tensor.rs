//! Tensors: values that are assigned once, and views of them.

use serde::{Deserialize, Serialize};

use super::element::ElementType;
use super::ids::{BlockId, NodeId, TensorId};
use super::shape::Shape;
use crate::units::Bytes;

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
    /// Of an input: it keeps its bytes from run to run, and nothing takes them.
    pub kept: bool,
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
