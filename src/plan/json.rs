//! A plan as JSON: versioned, self-contained except for the frame, and with references by name.
//!
//! ```json
//! {
//!   "format": "tileheap-plan", "version": 3, "frame": "two passes",
//!   "options": { "strategy": "greedy", "windows": "device", "aliasing": true, "ladder": "auto", "lazy": true },
//!   "profile": { "format": "tileheap-profile", "…": "the device it is planned for" },
//!   "objects": [{ "memory": "tile", "memory_type": 0, "size": 552960 }],
//!   "resources": [{
//!     "name": "motion",
//!     "image": { "format": "R16G16_SFLOAT", "extent": [480, 288], "usage": ["COLOR_ATTACHMENT", "SAMPLED"] },
//!     "reason": { "kind": "tile", "savings": 1105920, "text": "keeps 1.1 MiB of traffic per frame on chip" },
//!     "accesses": [{ "pass": "draw", "kind": "color_attachment", "version": "current", "reads": false, "writes": true, "count": 1 }],
//!     "first_placement": 0,
//!     "placements": [{ "index": 0, "memory": "tile", "object": 0, "offset": 0, "size": 552960,
//!                      "first_pass": "draw", "last_pass": "blur", "first": 0, "end": 2 }],
//!     "requirements": { "size": 557056, "…": "what it needs there" }
//!   }],
//!   "passes": [{
//!     "name": "draw", "within": { "queue": "graphics", "submit": 0, "batch": 0, "command_buffer": "scene" },
//!     "bound_object": 0, "bound_bytes": 552960, "live_tile_bytes": 552960
//!   }],
//!   "totals": { "eligible_bytes": 1105920, "…": "see Totals" }
//! }
//! ```
//! Sizes and offsets are bytes; `first` and `end` are steps, half-open; a resource's `reason.kind` is the reason why it is not in tile memory, and
//! `"dedicated": true` means that the driver requests a dedicated allocation. Derived numbers (`count`, `bound_bytes`, `first_pass`, `within`, `image`, …) are
//! for readers, and must be consistent. So are `runs` and `origin` in the plan of a rewritten frame: the described passes that a pass runs, and the
//! described resource of a resource. `charges` are the costs of running it:
//! `{ "passes": [{ "pass": "blur #1", "cause": "repeat", "bytes": 1500000 }], "halo_thousandths": 1000 }`. The fields
//! `advice` (from `tileheap plan --json --advice`: the gains of other plans) and `arrangement` (from `tileheap plan --json --best`: how the
//! described frame became this one) are ignored.

mod error;
mod form;
mod read;
mod write;

pub use error::PlanJsonError;

use super::Plan;
use crate::execute::ExecutedFrame;

impl Plan {
    /// The plan as indented JSON; [`Plan::from_json`] returns an equal plan if its tables are in the order of the resources, as those of the planner
    /// are.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
    /// # use tileheap::plan::PlanOptions;
    /// # use tileheap::{measure::estimate, profile::DeviceProfile};
    /// use tileheap::plan::{Plan, plan};
    /// # let frame = synthetic(7, SyntheticDesc::default());
    /// # let profile = Arc::new(DeviceProfile::preset("adreno-830")?);
    /// # let needs = Arc::new(estimate(&frame, &profile)?);
    ///
    /// let plan = plan(&frame, &needs, &profile, &PlanOptions::default())?;
    /// let text = plan.to_json(); // `tileheap report` and `tileheap diff` read it
    /// assert_eq!(Plan::from_json(&frame, &text)?, *plan);
    /// # Ok::<(), tileheap::Error>(())
    /// ```
    pub fn to_json(&self) -> String {
        write::names_of(&self.frame).with(|| tileheap_json::write(&write::document(self)))
    }

    /// Reads the plan of `frame` from JSON. `frame` is a described frame, or a frame rewritten in the same way as for the plan.
    ///
    /// Checks only the format. The plan can be lowered or bound only after [`Plan::checked`] has accepted it.
    ///
    /// # Errors
    /// [`Error::PlanJson`](crate::Error::PlanJson) if the text is not a plan, is the plan of another frame, names something that the frame or the
    /// plan does not have, or is inconsistent.
    pub fn from_json(frame: impl Into<ExecutedFrame>, text: &str) -> crate::Result<Plan> {
        read::plan(frame.into(), text)
    }

    /// Checks that text has the form of a plan, for readers without its frame: `tileheap diff` and `tileheap report`.
    ///
    /// Checks every field and its type, and that all named passes, resources and objects exist. [`Plan::from_json`] checks the plan against its
    /// frame, [`Plan::check`] against the rules.
    ///
    /// ```
    /// let fault = tileheap::plan::Plan::check_json(r#"{ "format": "list", "version": 3 }"#).unwrap_err();
    /// assert!(fault.to_string().contains("tileheap-plan"));
    /// ```
    ///
    /// # Errors
    /// [`Error::PlanJson`](crate::Error::PlanJson) with the position, the value found, and the expected one.
    pub fn check_json(text: &str) -> crate::Result<()> {
        read::check_alone(text)
    }
}
