//! TVM's relay for Adreno, as far as it decides where values live: which scope each value of a built graph has.
//!
//! ```text
//! Graph ──► alter ──────────► fuse ────────────────► collect ─────────► Entry per value, in the order of the graph's JSON
//! NCHW,     NCHW4c, OIHW4o,   primitive functions    who accepts a      "global.texture", "global", ""
//! OIHW      layout_transform  around convolutions    texture, and who
//!           where they meet                          reads it as one
//! ```
//! [`Adreno`](tileheap_tensor::storage::Adreno) is this rule on this crate's own graphs, which are not fused; here is the whole
//! of what relay did, for the same lists.
//!
//! Source: TVM's texture memory RFC, L1.1 (`CollectStorageInfo`); TVM at ce22736e, `annotate_texture_storage.cc`, `fuse_ops.cc` and
//! `graph_partitioner.cc`. That the operands of an operator are fused from the last to the first follows from its published lists: of
//! two convolutions that are added, the later one takes the addition.
//!
//! Not done: layouts of the NHWC kind, Winograd, tuples as values of their own, limits on the size of a fused function.

mod alter;
mod collect;
mod fuse;
mod module;

pub use module::Entry;

use tileheap_tensor::storage::ScopeLimits;
use tileheap_tensor::{Graph, Result};

/// The scope of every value of the graph that `relay.build` makes of this one for Adreno, in the order of its JSON: inputs, then what each
/// function reads before the function. Constants of the graph are bound parameters.
///
/// ```
/// use tileheap_tensor::{ElementType, GraphBuilder};
/// use tileheap_tensor::storage::ScopeLimits;
/// use tileheap_testkit::tensor::relay;
///
/// let mut graph = GraphBuilder::new("two convolutions");
/// let x = graph.input("x", ElementType::Float32, [1, 32, 40, 40]); // [n, c, h, w]
/// let [first, second] = ["first", "second"].map(|name| graph.constant(name, ElementType::Float32, [32, 32, 2, 2]));
/// let y = graph.operator("a", "conv2d", [], &[x, first])?[0];
/// let z = graph.operator("b", "conv2d", [], &[y, second])?[0];
/// graph.output(z);
///
/// let scopes = relay::storage_scopes(&graph.build()?, ScopeLimits::default())?;
/// // What passes from one convolution to the other is a texture.
/// assert!(scopes.iter().any(|entry| entry.scope.starts_with("global.texture")));
/// # Ok::<(), tileheap_tensor::Error>(())
/// ```
///
/// # Errors
/// A dimension is not fixed.
pub fn storage_scopes(graph: &Graph, limits: ScopeLimits) -> Result<Vec<Entry>> {
    let module = alter::alter(graph)?;
    let functions = fuse::fuse(&module);
    Ok(collect::collect(&module, &functions, limits))
}
