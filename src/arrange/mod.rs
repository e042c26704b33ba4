//! Arrange: the same frame run another way, so that more of it stays on chip.
//!
//! ```text
//! described   shadow │ gbuffer │ ssao │ light │ taa │ bloom …          depth, normal, albedo: 8 MiB each, a heap of 8 MiB
//!
//! merged      shadow │ gbuffer+light …                                 what is read at its own pixel never leaves the pass
//! in strips   shadow │ gbuffer ssao light taa │ gbuffer ssao light taa │ …  a strip of everything fits where the whole does not
//! reordered   what is read soon after it is written lives shorter
//! fused       batches in one submission keep tile memory between them
//! ```
//! An [`Arrangement`] says in which batches, order and groups the passes of a described frame run. [`Arrangement::check`] judges it: every
//! read must see the writes that it saw. [`Arrangement::apply`] gives the frame that runs, with the map to the described one
//! ([`Executed`](crate::execute::Executed)); it is planned, lowered and recorded as any other. [`search`] finds good ones.
//!
//! Strips need to know how far reads look ([`ReadReach`](crate::frame::ReadReach)): what a pass needs of an earlier one is computed around each strip,
//! a *halo*, again in the neighbouring strip. What is read anywhere is finished before the run of strips begins.

mod apply;
mod borders;
mod change;
mod charges;
mod check;
mod error;
mod found;
mod json;
mod laid_borders;
mod least;
mod limits;
mod merge_savings;
mod search;
mod strips;
mod traffic;
mod types;
mod uses;

pub use change::DescriptionChange;
pub use error::{ArrangeError, CannotGroup};
pub use found::Found;
pub use limits::{Alone, Cap, Cause, Shortfall};
pub use search::{Allowed, search};
pub use traffic::Costs;
pub use types::{ArrangedBatch, Arrangement, Grid, Group, Way};
