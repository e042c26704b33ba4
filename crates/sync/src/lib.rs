#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod contents;
mod finding;
mod intervals;
mod log;
mod model;
mod operation;
mod plan;
pub mod program;
mod reach;
mod record;
mod records;
mod region;
pub mod render_pass;
mod schedule;
mod usage;

pub use finding::{
    Action, Certainty, DiscardedContents, Findings, Hazard, LossReason, LostContents, MemoryUse,
    MissingDependency,
};
pub use intervals::Intervals;
pub use model::outstanding::{OutstandingAccess, WaitPoint};
pub use model::retention::ModelStatistics;
pub use model::{Model, RunningBatch};
pub use tileheap_device::scopes;
