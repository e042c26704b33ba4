//! Tensors in textures: graphs, layouts, storage, and where everything goes.
//!
//! ```text
//! Graph ──► storage (a policy) ──► Layout of each tensor ──► requirements ──► TensorPlan
//!            images or buffers       index maps both ways      of a driver,     offsets, lives,
//!                                                              or estimated     hand-overs
//! ```
//! A separate judge ([`check()`]) accepts or refuses every plan. All of it is pure; what runs a planned graph is in the runtime.
//!
//! ```
//! use tileheap_tensor::{
//!     ElementType, GraphBuilder, Home, StorageOptions, TensorPlanOptions, TensorRequirements, choose, plan,
//! };
//! use tileheap_tensor::units::Alignment;
//!
//! let mut graph = GraphBuilder::new("one layer");
//! let x = graph.input("x", ElementType::Float16, [1, 64]); // [n, features]
//! let w = graph.constant("w", ElementType::Float16, [32, 64]); // [out, in]
//! let y = graph.operator("dense", "dense", [], &[x, w])?[0];
//! let z = graph.operator("relu", "relu", [], &[y])?[0];
//! graph.output(z);
//! let graph = graph.build()?;
//!
//! let choice = choose(&graph, &StorageOptions::default())?;
//! let pitch = Alignment::new(64).expect("not 0"); // of image rows, in bytes
//! let needs: Vec<_> = choice.layouts.iter().map(|of| TensorRequirements::of_layout(of, pitch)).collect();
//! let plan = plan(&choice.graph, &choice.layouts, &needs, &TensorPlanOptions::default())?;
//! assert_eq!(plan.tensor(w).home, Home::Constant); // outside of the planned memory
//! assert_eq!(plan.size(), plan.bound());
//! # Ok::<(), tileheap_tensor::TensorError>(())
//! ```
//!
//! # Sources
//! Cited by a word elsewhere, with the title of a section:
//! - TVM's *RFC*: "Texture memory support", <https://discuss.tvm.apache.org/t/rfc-texture-memory-support/9467>; a number such as
//!   ce22736e is a commit of apache/tvm.
//! - NNC's *article*: Liu Liu, "The NNC Tensor Allocation Algorithm", <https://libnnc.org/tech/nnc-alloc/>.
//! - ExecuTorch's *document*: "Memory Planning", `docs/source/compiler-memory-planning.md` of pytorch/executorch at 523fa7a6.

mod check;
mod document;
mod error;
mod fault;
mod flow;
mod graph;
pub mod layout;
#[cfg(feature = "onnx")]
pub mod onnx;
mod plan;
pub mod pools;
mod record;
pub mod relay;
mod storage;
mod timeline;
pub mod tvm;
#[cfg(feature = "vulkan")]
pub mod vulkan;

pub use check::check;
pub use document::read_graph;
pub use error::{Error, Result};
pub use fault::TensorError;
pub use flow::{Flow, flows};
pub use graph::{
    Attribute, Block, BlockId, Bounding, Branch, Carry, Dim, ElementType, Exit, Graph, GraphBuilder, InPlace,
    Loop, Node, NodeId, NodeKind, Operator, Shape, Source, Symbol, SymbolId, Tensor, TensorId, View,
};
pub use layout::{
    Convention, Flattening, Generation, ImageExtent, ImageLimits, Layout, LayoutRule, Location, Oversize,
    Pack, Reason, Storage, fit_layout,
};
pub use plan::{
    CarryRule, CopyTime, Handover, Home, MemoryDesc, MemoryId, MemoryPlan, Moment, MultiView, Place,
    PlacedTensor, Region, Slot, Space, SpaceAlgorithm, SpaceItem, TensorPlan, TensorPlanOptions,
    TensorRequirements, TensorStrategy, ValueCopy, place, place_by, plan,
};
pub use record::{read_lines, read_records};
pub use storage::{CONVERT, ScopeLimits, StorageChoice, StorageOptions, StoragePolicy, adreno_scope, choose};
pub use tileheap_units as units;
pub use timeline::Timeline;
