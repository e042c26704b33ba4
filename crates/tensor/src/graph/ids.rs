//! Ids of tensors, nodes and blocks.

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into its table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
ids!(
    /// A tensor, by its index in [`Graph::tensors`](crate::graph::Graph::tensors).
    TensorId,
    /// A node, by its index in [`Graph::nodes`](crate::graph::Graph::nodes).
    NodeId,
    /// A block, by its index in [`Graph::blocks`](crate::graph::Graph::blocks); the graph itself is block 0.
    BlockId
);

impl BlockId {
    /// The block of the graph itself, which contains all others.
    pub const ROOT: BlockId = BlockId(0);
}

impl Default for BlockId {
    fn default() -> BlockId {
        BlockId::ROOT
    }
}
