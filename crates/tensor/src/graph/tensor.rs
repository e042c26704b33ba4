//! Tensors: values that are assigned once, and views of them.

use serde::{Deserialize, Serialize};

use super::element::ElementType;
use super::ids::{BlockId, NodeId, TensorId};
use super::shape::Shape;
use crate::units::Bytes;

/// A value that is assigned once (in a loop, once per round).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The tensor's name, which is unique.
    pub name: String,
    /// The type of the tensor's elements.
    pub element: ElementType,
    /// The logical dimensions: `[n, c, h, w]` for activations, `[o, i, h, w]` for weights.
    pub shape: Shape,
    /// The source of the tensor's value.
    pub source: TensorSource,
    /// For a view: the tensor that it is a part of, and its offset there.
    pub view: Option<TensorView>,
    /// The pool entry that another tool assigned to the tensor.
    pub storage_id: Option<u32>,
    /// The storage scope that another tool assigned to the tensor, such as `global.texture`.
    pub scope: Option<String>,
    /// The name of the memory that the tensor is pinned to.
    pub memory: Option<String>,
    /// For an input: true if its bytes persist from run to run, so that nothing may overwrite them.
    pub kept: bool,
}

/// The source of a tensor's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorSource {
    /// An input of this block: an input of the graph, or a parameter of a body.
    Input(BlockId),
    /// A constant, such as weights, outside the planned arenas.
    Constant,
    /// A node's output.
    Node(NodeId),
}

/// A part of another tensor's bytes.
///
/// The base is live as long as any of its views. A reshape is a view of its operand at offset 0; the operands of a
/// concatenation along the outermost dimension may be views of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorView {
    /// The tensor that the view is a part of; may itself be a view.
    pub base: TensorId,
    /// The offset of the view's first byte in the base, if the base is stored in plain row-major form.
    pub offset: Bytes,
}
