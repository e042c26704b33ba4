//! Describe: a frame as plain data.
//!
//! ```text
//! Frame ─ submits ─ batches ─ command buffers ─ passes ─ accesses ──► resources
//!           │          │                          │
//!         queue   semaphores               step 0, 1, 2, …
//! ```
//! A [`FrameBuilder`] takes the description in submission order; [`FrameBuilder::build`] validates it and gives a
//! [`Frame`]: immutable, cheap to clone, known to be sound. Everything is kept in flat tables indexed by the ids, and a
//! pass's id is its [`Step`](crate::units::Step) on the timeline.
//!
//! Access tracking is per whole resource: all mip levels and layers of an image share one state.

mod access;
mod access_kind;
mod builder;
mod edit;
mod error;
mod ids;
pub mod import;
pub mod json;
mod resource;
#[cfg(feature = "reflect")]
pub mod shaders;
mod split;
mod store;
mod synthetic;
mod tables;
mod validate;
mod weights;

pub use access::{Access, ClearValue, LoadOp, Version};
pub use access_kind::{AccessKind, PassKind};
pub use builder::{FrameBuilder, PassBuilder};
pub use error::FrameError;
pub use ids::{BatchId, CommandBufferId, PassId, QueueId, ResourceId, SemaphoreId, SubmitId};
pub use resource::{
    BufferDesc, Extent, ExternalDesc, ImageDesc, Persistence, Resource, ResourceKind, ResourceState,
    TileConstraint,
};
#[cfg(all(feature = "runtime", feature = "shaders"))]
pub(crate) use store::{Texels, texels_of};
pub use synthetic::{SyntheticDesc, synthetic};
pub use tables::{Batch, CommandBuffer, Contents, Frame, Pass, Queue, Semaphore, SemaphoreOp, Submit};
pub use tileheap_device::{TexelBlock, aspects, names, texel_block};
pub use weights::{Weight, Weights};
