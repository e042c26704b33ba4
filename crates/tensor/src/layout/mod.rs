//! Layouts: the arrangement of a tensor's elements in a buffer or in images, with index maps in both directions.
//!
//! ```text
//! logical        [1, 32, 40, 40]        n c h w
//!   │ packs      channels by 4          NCHW4c
//! blocked        [1, 8, 40, 40] x 4     texels, and lanes in each
//!   │ flattening layers 0, rows 3       `texture`: [A, B, C, D, 4] -> [A*B*C, D, 4]
//! image          320 rows of 40 texels
//! ```
//! Source: TVM's [RFC](crate#sources), "Texture Layout"; later forms and byte sizes: TVM at ce22736e.

mod applied;
mod convention;
mod extent;
mod map;
mod oversize;
mod rule;

pub use applied::Layout;
pub use convention::{Convention, ConventionForm};
pub use extent::ImageExtent;
pub use map::Location;
pub use oversize::{ImageLimits, OversizeFallback, OversizePolicy, StorageReason, fit_layout};
pub use rule::{AxisPacking, Flattening, LayoutRule, Storage};
