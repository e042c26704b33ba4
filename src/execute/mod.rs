//! Frames that run in place of described ones, and the map from each executed frame to the described one.
//!
//! A *rewrite* turns a frame into another one with the same meaning: the values of a resource become resources, lifetimes are split by stores, passes
//! are merged, reordered or run strip by strip. Planning, lowering and recording see an ordinary [`Frame`](crate::frame::Frame); [`Origins`] maps its
//! passes, resources and accesses back to the described ones. Rewrites and their maps compose.
//!
//! ```text
//! described   0 draw         1 light                    2 blur          resource: hdr
//! split       0 draw         1 light    2 store hdr     3 blur          hdr, and hdr (until light)
//! merged      0 draw, light             1 store hdr     2 blur
//!             │              subpass 1                  │
//!             runs 0 and 1              stores hdr      runs 2          hdr (until light) is hdr until pass 1
//!                                       after pass 1
//! ```
//! [`ExecutedFrame`] holds both frames and the map, and [checks](ExecutedFrame::check) that they agree. The map of a frame that runs as described has no tables
//! and costs nothing. [`Charges`] are the costs of running a frame in another way, beyond what its accesses move.

mod areas;
mod batches;
mod borders;
mod charges;
mod check;
mod check_values;
mod error;
mod executed;
mod origins;
mod rewrite;
mod strip;
mod values;

pub use charges::{CarriedCharges, Charge, ChargeCause, Charges};
pub use error::{OriginError, OriginRule};
pub use executed::{ExecutedFrame, ResourcePart};
pub use origins::{OriginTables, Origins, PassOrigin, PassRun, ResourceOrigin, ResourceValue};
pub use strip::Strip;
