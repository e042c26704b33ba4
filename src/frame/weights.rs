//! Weights: measured savings of on-chip accesses, in place of the model's estimates.
//!
//! ```json
//! {
//!   "format": "tileheap-weights", "version": 2,
//!   "accesses": [
//!     { "pass": "gbuffer", "resource": "albedo", "savings": 5200000 },
//!     { "pass": "lighting", "resource": "albedo", "savings": 9100000 }
//!   ]
//! }
//! ```
//! `savings` is the memory traffic per frame that all accesses of the pass to the resource save together: a difference measured by a counter of the
//! memory bus, or a difference in time in any unit that all weights share. Accesses that are not named keep the model's savings.

use serde::{Deserialize, Serialize};

use super::FrameError;
use crate::units::Bytes;

const FORMAT: &str = "tileheap-weights";
const VERSION: u64 = 2;

/// Measured savings of a frame's accesses; [`Frame::with_weights`](super::Frame::with_weights) applies them.
///
/// ```
/// use tileheap::frame::weights::{Weight, Weights};
/// use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
/// use tileheap::units::Bytes;
///
/// let frame = synthetic(7, SyntheticDesc::default());
/// let pass = &frame.passes()[0];
/// let access = &frame.accesses()[pass.accesses.indices()][0];
/// let weights = Weights {
///     accesses: vec![Weight {
///         pass: pass.name.clone(),
///         resource: frame.resource(access.resource).name.clone(),
///         savings: Bytes::mib(5), // measured by a memory bus counter, per frame
///     }],
/// };
/// let weighed = frame.with_weights(&weights)?; // plan this one
/// # let _ = weighed;
/// # Ok::<(), tileheap::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weights {
    /// One weight per measured pair of pass and resource.
    pub accesses: Vec<Weight>,
}

/// Savings of one pass if one resource is on chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weight {
    /// The pass.
    pub pass: String,
    /// The resource.
    pub resource: String,
    /// The memory traffic that is saved, in bytes per frame.
    pub savings: Bytes,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u64,
    accesses: Vec<Weight>,
}

impl Weights {
    /// Maximum bytes of one weight, so that sums over a frame stay exact.
    pub const MAX: u64 = 1 << 40;

    /// Reads the JSON form.
    ///
    /// # Errors
    /// [`FrameError::Weights`] with line, column and path if the text does not have this form.
    pub fn from_json(text: &str) -> crate::Result<Weights> {
        let document: Document = tileheap_json::read(text, FORMAT, VERSION).map_err(FrameError::Weights)?;
        Ok(Weights {
            accesses: document.accesses,
        })
    }

    /// Writes the JSON form.
    pub fn to_json(&self) -> String {
        tileheap_json::write(&Document {
            format: FORMAT.to_owned(),
            version: VERSION,
            accesses: self.accesses.clone(),
        })
    }
}
