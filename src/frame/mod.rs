//! Describe: represents a frame as plain data.
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
//! An access uses a whole resource, or a [part](SubresourceRange) of an image: layouts, hazards and contents are tracked per part.

mod access;
mod area;
mod builder;
#[cfg(feature = "runtime")]
mod built_description;
mod edit;
mod error;
mod id_names;
mod ids;
#[cfg(feature = "import")]
pub mod import;
pub mod json;
mod levels;
mod parts;
mod reaches;
mod recycle;
mod resource;
#[cfg(feature = "reflect")]
pub mod shaders;
mod spare;
mod split;
mod store;
mod subresources;
pub mod synthetic;
pub mod tables;
mod traffic;
pub mod valid_usage;
mod validate;
mod values;
pub mod weights;

/// Images and buffers that the caller imports, and their entry and exit states.
pub mod external {
    pub use super::resource::{ExternalDesc, ExternalFamily, ResourceState};
}

pub use access::{ClearValue, LoadOp};
#[cfg(any(feature = "arrange", feature = "runtime"))]
pub(crate) use area::union;
pub(crate) use area::{intersection, viewed_extent, viewport};
pub use builder::{FrameBuilder, PassBuilder};
#[cfg(feature = "runtime")]
pub(crate) use built_description::BuiltDescription;
pub use error::{FrameError, FrameRule};
pub(crate) use id_names::IdNames;
pub use ids::{BatchId, CommandBufferId, PassId, QueueId, ResourceId, SemaphoreId, SubmitId};
pub use reaches::ReachAssumptions;
pub use resource::{BufferDesc, Extent, ImageDesc, Persistence, TileConstraint, TileLists};
pub(crate) use store::{Texels, texels_of, with_usage_of_stores};
pub use subresources::SubresourceRange;
#[doc(inline)]
pub use tables::Frame;
#[doc(inline)]
pub use tileheap_device::AccessKind;
#[doc(inline)]
pub use tileheap_units::ReadReach;
pub(crate) use values::SeparateValue;
