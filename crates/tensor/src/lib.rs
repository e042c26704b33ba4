#![doc = include_str!("../README.md")]

mod check;
mod error;
pub mod file_kind;
pub mod graph;
pub mod import;
pub mod judge;
pub mod layout;
pub mod plan;
pub mod storage;
#[cfg(feature = "vulkan")]
pub mod vulkan;

pub use check::check;
pub use error::{Error, Result, TensorProducer};
pub use graph::{ElementType, Graph, GraphBuilder, Shape, TensorId};
pub use layout::{Layout, LayoutRule, Storage};
pub use plan::{MemoryDesc, PlacementStrategy, TensorPlan, TensorPlanOptions, TensorRequirements, plan};
pub use storage::{StorageChoice, StorageOptions, StoragePolicy, choose};
pub use tileheap_units as units;
