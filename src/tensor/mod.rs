//! Tensors in textures: graphs, layouts, storage, and where everything goes.
//!
//! ```text
//! Graph ──► storage (a policy) ──► Layout of each tensor ──► requirements ──► TensorPlan
//!            images or buffers       index maps both ways      of a driver,     offsets, lives,
//!                                                              or estimated     hand-overs
//! ```
//! A separate judge ([`check()`]) accepts or refuses every plan. All of it is pure; what runs a planned graph is in the runtime.

mod check;
mod document;
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

pub use check::check;
pub use document::read_graph;
pub use fault::TensorFault;
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
pub use timeline::Timeline;
