//! Arrange: runs the same frame in another way, so that more of it stays on chip.
//!
//! ```text
//! described   shadow │ gbuffer │ ssao │ light │ taa │ bloom …          depth, normal, albedo: 8 MiB each, a heap of 8 MiB
//!
//! merged      shadow │ gbuffer+light …                                 what is read at its own pixel never leaves the pass
//! in strips   shadow │ gbuffer ssao light taa │ gbuffer ssao light taa │ …  a strip of everything fits where the whole does not
//! reordered   what is read soon after it is written lives shorter
//! fused       batches in one submission keep tile memory between them
//! ```
//! An [`Arrangement`] lists the batches, order and groups in which the passes of a described frame run. [`Arrangement::check`] verifies that every
//! read still sees the same writes. [`Arrangement::apply`] builds the executed frame, with the map to the described one
//! ([`ExecutedFrame`](crate::execute::ExecutedFrame)); it is planned, lowered and recorded like any other. [`search`] finds good arrangements.
//!
//! Strips need to know how far from the pixel passes read ([`ReadReach`](crate::frame::ReadReach)): what a pass needs of an earlier one is computed
//! around each strip, in a *halo*, and again in the neighboring strip. A resource that is read anywhere is completed before the run of strips
//! begins.

mod allowed;
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
mod search_result;
mod shares;
mod small_moves;
mod strip_cost;
mod strips;
mod traffic;
mod types;
mod uses;

pub use allowed::SearchOptions;
pub use change::DescriptionChange;
pub use crowded::CrowdedPass;
pub use error::{ArrangeError, CannotGroup};
pub use limits::{ResourceCap, Shortfall, ShortfallCause, UngroupedPass};
pub use search::{search, search_from};
pub use search_result::SearchResult;
pub use traffic::ArrangementCosts;
pub use types::{ArrangedBatch, Arrangement, GroupMode, PassGroup, StripGrid};
