//! Arrangements: run the passes of a frame in another order, merged, or strip by strip, so that more of its data stays on chip.
//!
//! ```text
//! described   shadow │ gbuffer │ ssao │ light │ taa │ bloom …          depth, normal, albedo: 8 MiB each, a heap of 8 MiB
//!
//! merged      shadow │ gbuffer+light …                                 what is read at its own pixel never leaves the pass
//! in strips   shadow │ gbuffer ssao light taa │ gbuffer ssao light taa │ …  a strip of everything fits where the whole does not
//! reordered   what is read soon after it is written has a short lifetime
//! fused       batches in one submission keep tile memory between them
//! ```
//! An [`Arrangement`] lists the batches, order and groups in which the passes of a described frame run. [`Arrangement::check`] verifies that every
//! read still sees the same writes. [`Arrangement::apply`] builds the executed frame, with the map to the described one
//! ([`ExecutedFrame`](crate::execute::ExecutedFrame)); it is planned, lowered and recorded like any other. [`search`] finds good arrangements.
//!
//! Strips need to know how far from the pixel passes read ([`ReadReach`](crate::frame::ReadReach)): what a pass needs from an earlier one
//! beyond the edge of a strip is computed with that strip, in a *halo*, and again with the neighboring strip. A resource that is read
//! anywhere is completed before the run of strips begins.

mod apply;
mod borders;
mod change;
mod charges;
mod check;
mod crowded;
mod error;
mod finalists;
mod fit;
mod json;
mod laid_strips;
mod layout;
mod least;
mod limits;
mod merge_savings;
mod mergeable;
mod moves;
mod residents;
mod restarts;
mod search;
mod search_options;
mod search_result;
mod shares;
mod small_moves;
mod strip_cost;
mod strips;
mod traffic;
mod types;
mod uses;

pub use change::DescriptionChange;
pub use crowded::CrowdedPass;
pub use error::{ArrangeError, CannotGroup};
pub use limits::{ResourceCap, Shortfall, ShortfallCause, UngroupedPass};
pub use search::{search, search_from};
pub use search_options::SearchOptions;
pub use search_result::SearchResult;
pub use traffic::ArrangementCosts;
pub use types::{ArrangedBatch, Arrangement, GroupMode, PassGroup, StripGrid};
