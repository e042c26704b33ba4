//! Plan: from a frame, its requirements and a device profile to the placement of every resource over time.
//!
//! ```text
//! passes      0 gbuffer   1 cull   2 lighting   3 bloom   4 tonemap
//! tile heap   ├── albedo ─────────────┤├─ bloom ──────────┤          placements: offset x span
//! bound       [0, 8 MiB) ─────────────┤[0, 2 MiB) ────────┤ nothing  one object per run of lifetimes
//! arena       ├── hdr … ─────────────────────────────────────────┤
//! barriers    │           │        │            │         │          before each pass, batched
//! ```
//! A [`Plan`] is a value: the same inputs give the same plan on every machine. [`check`](Plan::check) checks a plan independently of the planner.
//! Lowering and binding take a [`Checked`](crate::Checked) plan: one made by [`plan()`], or any other that [`Plan::checked`] accepts.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
//! use tileheap::plan::{MemoryKind, PlanOptions, ResidencyStrategy, plan};
//! use tileheap::measure::estimate;
//! use tileheap::profile::DeviceProfile;
//!
//! let frame = synthetic(7, SyntheticDesc::default()); // any frame
//! let profile = Arc::new(DeviceProfile::preset("adreno-830")?);
//! let needs = Arc::new(estimate(&frame, &profile)?);
//! let best = plan(&frame, &needs, &profile, &PlanOptions::default())?;
//! best.check()?;
//!
//! // The placements, in bytes of the objects that `best.objects` lists.
//! for placement in &best.placements {
//!     let name = &frame.resource(placement.resource).name;
//!     if placement.memory == MemoryKind::Tile {
//!         println!("{name}: {} at {} over passes {}", placement.size, placement.offset, placement.span);
//!     }
//! }
//! // Compare with the vendor's sample.
//! let options = PlanOptions { strategy: ResidencyStrategy::FirstCome, ..PlanOptions::default() };
//! let theirs = plan(&frame, &needs, &profile, &options)?;
//! assert!(best.totals.on_chip_bytes >= theirs.totals.on_chip_bytes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arena;
pub mod check;
mod context;
mod eligible;
mod error;
mod executed;
mod json;
mod make;
pub mod model;
mod options;
mod packing;
mod planner;
mod report;
mod residency;
mod runnable;
mod split;
mod timeline;
mod totals;
pub(crate) mod traffic;
mod types;
mod unsplit;
mod words;

pub use error::PlanError;
pub use json::PlanJsonError;
#[cfg(feature = "arrange")]
pub(crate) use make::make;
pub use make::plan;
#[cfg(feature = "runtime")]
pub(crate) use make::plan_runnable;
pub use options::{DEFAULT_BUDGET, Ladder, PlanOptions, ResidencyStrategy, WindowRule};
pub use planner::Planner;
#[cfg(any(feature = "arrange", feature = "runtime"))]
pub(crate) use runnable::Runnable;
pub use traffic::Traffic;
pub use types::{
    MemoryKind, MemoryObject, ObjectId, OffChipReason, Optimality, PassPlan, Placement, PlacementId,
    PlacementReason, Plan, PlanTotals, PlannedStore, ResourcePlan,
};
