//! Lower: turns a plan into tables of Vulkan parameters.
//!
//! ```text
//! Plan, LoweringDesc ─► chains ─► dependencies ─► created objects ─► passes ─► batches ─► Lowered
//!  placements        epochs    barriers,        images, buffers,   render     waits,
//!  on real queues    of uses   waits            memory             passes     signals
//! ```
//! Takes a [`Plan`](crate::plan::Plan), the queues that run it, the current copies of histories and the memory state that earlier work left. Returns
//! flat tables that leave no decisions to the executor of the frame: this crate's runtime, or an engine's own encoder. No driver is called; the same
//! inputs give the same tables. An executor takes [`Checked`](crate::Checked) tables: those of [`lower`], or any others that [`Lowered::check`]
//! accepts.
//!
//! ```
//! # use std::sync::Arc;
//! # use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
//! # use tileheap::{measure::estimate, plan::{PlanOptions, plan}, profile::DeviceProfile};
//! use tileheap::lower::{DeviceQueues, LoweringDesc, lower};
//! # let frame = synthetic(7, SyntheticDesc::default());
//! # let profile = Arc::new(DeviceProfile::preset("adreno-830")?);
//! # let needs = Arc::new(estimate(&frame, &profile)?);
//! let plan = plan(&frame, &needs, &profile, &PlanOptions::default())?;
//! let first = lower(&plan, &LoweringDesc::first(DeviceQueues::single_queue(&frame)))?;
//! for pass in &first.passes {
//!     let barriers = pass.before.images.of(&first.image_barriers); // one `VkImageMemoryBarrier2` each
//!     # let _ = barriers;
//! }
//! // The next frame starts from the state that this one leaves.
//! let next = lower(&plan, &LoweringDesc::first(DeviceQueues::single_queue(&frame)).after(&first))?;
//! # let _ = next;
//! # Ok::<(), tileheap::Error>(())
//! ```

mod access_use;
mod aliasing;
mod chain_dependencies;
mod chains;
#[cfg(feature = "check")]
pub mod check;
pub(crate) mod create;
mod dependencies;
mod entry_exit;
mod error;
mod first_uses;
mod ids;
mod instances;
mod json;
mod layouts;
mod lowering_desc;
mod make;
mod names;
mod operations;
mod pass_use;
mod pieces;
mod placed;
mod queries;
mod recording;
mod resolver;
mod sharing;
mod sources;
mod state;
mod submits;
mod subpasses;
pub mod tables;
mod targets;
mod words;

pub use aliasing::{Aliasing, AliasingRow, PreviousUser, aliasing};
pub use error::LowerError;
pub use lowering_desc::{DeviceQueues, FamilyQueue, LoweringDesc, Parity};
pub use make::{Lowerer, lower};
pub use names::FrameNames;
pub use queries::{
    QueriedObject, RequirementQuery, UnsupportedResource, requirement_queries, requirements_from,
};
#[cfg(feature = "runtime")]
pub(crate) use queries::{add_answer, queries_of};
#[cfg(feature = "runtime")]
pub(crate) use recording::STORE_GROUP;
pub use state::{AddressSpace, AddressSpaceKind, ByteUse, ContentState, LastUse, MemoryState};
pub use tables::Lowered;
pub use targets::{LocalReadMapping, PipelineTarget, PipelineTargets, RenderingInfo};
