//! Storage choice: which tensors become images and which buffers, and where one is made from the other.

mod scope;

pub use scope::{ScopeLimits, adreno_scope};

use super::{Graph, Layout, NodeId, Reason};

/// What a policy chose: a graph with its conversions in it, and the layout of each of its tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct StorageChoice {
    /// The graph, with a node of operator [`CONVERT`] wherever a reader wants a tensor in another layout.
    pub graph: Graph,
    /// One per tensor of that graph.
    pub layouts: Vec<Layout>,
    /// Why each is as it is.
    pub reasons: Vec<Reason>,
    /// The inserted nodes.
    pub conversions: Vec<NodeId>,
}

/// The operator of inserted nodes: one input, one output of the same shape, each in its layout.
pub const CONVERT: &str = "convert";
