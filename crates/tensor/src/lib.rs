//! Plans the memory of compute tensors: layouts, buffers or images, offsets, loops without copies.
//!
//! ```text
//! Graph ──► storage (a policy) ──► Layout of each tensor ──► requirements ──► TensorPlan
//!            images or buffers       index maps both ways      of a driver,     offsets, lifetimes,
//!                                                              or estimated     aliasing
//! ```
//! [`choose`] decides the storage, [`plan()`] the memory; a separate checker, [`check()`], accepts or refuses every plan. All of it is pure.
//! With the feature `vulkan`, the module `vulkan` records planned graphs on a device.
//!
//! ```
//! use tileheap_tensor::plan::Backing;
//! use tileheap_tensor::units::Alignment;
//! use tileheap_tensor::{
//!     ElementType, GraphBuilder, StorageOptions, TensorPlanOptions, TensorRequirements, choose, plan,
//! };
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
//! assert_eq!(plan.tensor(w).backing, Backing::Constant); // outside of the planned memory
//! assert_eq!(plan.size(), plan.lower_bound());
//! # Ok::<(), tileheap_tensor::Error>(())
//! ```
//!
//! Storage policies ([`StoragePolicy`]) and placement strategies ([`PlacementStrategy`]) are traits: a caller's own enters as the built-in ones do.
//!
//! It is no neural-network runtime: it computes no gradients, tunes no kernels and stores no weights, and `vulkan` has kernels for
//! common operators only.
//!
//! # Sources
//! Cited by a word elsewhere, with the title of a section:
//! - TVM's *RFC*: "Texture memory support", <https://discuss.tvm.apache.org/t/rfc-texture-memory-support/9467>; a number such as
//!   ce22736e is a commit of apache/tvm.
//! - NNC's *article*: Liu Liu, "The NNC Tensor Allocation Algorithm", <https://libnnc.org/tech/nnc-alloc/>.
//! - ExecuTorch's *document*: "Memory Planning", `docs/source/compiler-memory-planning.md` of pytorch/executorch at 523fa7a6.

mod check;
mod error;
pub mod graph;
pub mod import;
pub mod layout;
pub mod plan;
pub mod storage;
#[cfg(feature = "vulkan")]
pub mod vulkan;

pub use check::check;
pub use error::{Error, Result};
pub use graph::{ElementType, Graph, GraphBuilder, Shape, TensorId};
pub use layout::{Layout, LayoutRule, Storage};
pub use plan::{MemoryDesc, PlacementStrategy, TensorPlan, TensorPlanOptions, TensorRequirements, plan};
pub use storage::{StorageChoice, StorageOptions, StoragePolicy, choose};
pub use tileheap_units as units;
