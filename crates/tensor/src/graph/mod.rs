//! Graphs: tensors, the nodes that produce them, and blocks of nodes for loops and branches.
//!
//! ```text
//! block 0 (the graph itself)          node 0  conv2d     x, w -> a
//!   inputs x, outputs y               node 1  loop       a    -> y      its body is block 1
//! block 1 (the body of node 1)        node 2  tanh       p    -> q      carried: q into p
//! ```
//! The tensors of all blocks are in one table, and so are the nodes, so an id identifies one by itself. A block sees
//! its own tensors and constants; anything else that a body reads comes in as a parameter, one per input of its node.

mod builder;
mod element;
mod ids;
mod model;
mod node;
pub mod operators;
mod shape;
mod tensor;
mod validate;

/// Loops and branches: the blocks that they run, the values carried between rounds, and the exits of loops.
pub mod control_flow {
    pub use super::node::{Block, Branch, Loop, LoopCarry, LoopExit};
}

pub use builder::GraphBuilder;
pub use element::ElementType;
pub use ids::{BlockId, NodeId, TensorId};
pub use model::{Graph, ShapeBound};
pub use node::{Attribute, InPlace, Node, NodeKind, Operator};
pub use shape::{Dim, DimOperator, Shape, Symbol, SymbolId};
pub use tensor::{Tensor, TensorSource, TensorView};
