//! The types of the JSON document: those of the plan, or separate types if the document nests fields, uses names instead of indices, or adds text for
//! readers.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tileheap_json::is_default;

use crate::execute::Charges;
use crate::frame::tables::HistoryVersion;
use crate::frame::{AccessKind, BufferDesc, ImageDesc, PassId, QueueId, ResourceId};
use crate::measure::ResourceRequirements;
use crate::plan::{
    MemoryKind, MemoryObject, ObjectId, OffChipReason, Optimality, PlacementReason, PlanOptions, PlanTotals,
};
use crate::units::{Bytes, Step};
use tileheap_device::profile::DeviceProfile;

/// The value of the document's field `format`.
pub(super) const FORMAT: &str = "tileheap-plan";
/// The version of the document that is written, and the only one that can be read.
pub(super) const VERSION: u64 = 3;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) format: String,
    pub(super) version: u64,
    pub(super) frame: String,
    pub(super) base_extent: [u32; 2],
    pub(super) options: PlanOptions,
    /// Passes that end stretches in tile memory: part of the plan, not of the frame.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) stores: Vec<Store>,
    pub(super) profile: DeviceProfile,
    pub(super) objects: Vec<MemoryObject>,
    pub(super) resources: Vec<Resource>,
    pub(super) passes: Vec<Pass>,
    /// The binning cost of the bound tile memory. Derived, for readers.
    pub(super) binning_cost_bytes: Bytes,
    /// Null if the strategy does not search.
    #[serde(default)]
    pub(super) optimality: Option<OptimalityEntry>,
    pub(super) totals: PlanTotals,
    /// Costs of running the frame as arranged instead of as described, if there are any.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) charges: Option<Charges>,
    /// The output of `tileheap plan --advice`, for human readers; ignored when a plan is read and when its fields are compared.
    #[serde(default, skip_serializing, rename = "advice")]
    pub(super) _advice: Option<serde::de::IgnoredAny>,
    /// The arrangement found by `tileheap plan --best`, for human readers; ignored when a plan is read and when its fields are compared.
    #[serde(default, skip_serializing, rename = "arrangement")]
    pub(super) _arrangement: Option<serde::de::IgnoredAny>,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Store {
    /// The resource whose lifetime is split.
    pub(super) resource: String,
    /// The pass of the planned frame after which it is stored.
    pub(super) after: String,
    /// The store pass. Derived, for readers.
    pub(super) pass: String,
    /// The stored resource: the stretch in tile memory. Derived, for readers.
    pub(super) from: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct OptimalityEntry {
    /// True if the choice is proved optimal. Derived, for readers.
    pub(super) proved: bool,
    #[serde(flatten)]
    pub(super) found: Optimality,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Resource {
    pub(super) name: ResourceId,
    /// The described resource, if a rewritten frame was planned. Derived from the frame.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) origin: Option<String>,
    /// For an image: its description, with the extent in texels and the complete usage. Derived from the frame: for readers, and optional.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) image: Option<ImageDesc>,
    /// For a buffer: its description, with the complete usage. Derived from the frame: for readers, and optional.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) buffer: Option<BufferDesc>,
    pub(super) reason: ReasonEntry,
    pub(super) accesses: Vec<ResourceAccess>,
    pub(super) first_placement: u32,
    pub(super) placements: Vec<Placement>,
    pub(super) requirements: ResourceRequirements,
}

/// The reason for a resource's placement, as written in the document. Unknown fields are found by comparison with the text that would be written, since
/// `flatten` cannot deny them.
#[derive(Serialize, Deserialize)]
pub(super) struct ReasonEntry {
    /// Never [`PlacementReason::Dedicated`], which is represented by `dedicated`.
    #[serde(flatten, deserialize_with = "reason")]
    pub(super) reason: PlacementReason,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) first_conflict: Option<u32>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) conflicts: Option<Vec<ResourceId>>,
    /// True if the driver requests a dedicated allocation.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) dedicated: bool,
    /// The reason as a sentence, for readers; not read back.
    #[serde(default)]
    pub(super) text: String,
}

/// Reads the single `kind` that stands for two nested enums of the plan.
fn reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PlacementReason, D::Error> {
    /// The reasons other than [`OffChipReason`].
    #[derive(Deserialize)]
    #[serde(remote = "PlacementReason", tag = "kind", rename_all = "snake_case")]
    enum Placed {
        Unused,
        External,
        Lazy { pass: PassId },
        Tile { savings: Bytes },
    }
    let fields = Value::deserialize(deserializer)?;
    let reason = match fields["kind"].as_str() {
        Some("unused" | "external" | "lazy" | "tile") => Placed::deserialize(fields),
        _ => OffChipReason::deserialize(fields).map(PlacementReason::Arena),
    };
    reason.map_err(D::Error::custom)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResourceAccess {
    pub(super) pass: PassId,
    pub(super) kind: AccessKind,
    pub(super) version: HistoryVersion,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// Number of times that the resource's bytes cross the memory bus.
    pub(super) count: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Placement {
    pub(super) index: u32,
    pub(super) memory: MemoryKind,
    /// The object; `None` for the caller's memory.
    pub(super) object: Option<ObjectId>,
    pub(super) offset: Bytes,
    pub(super) size: Bytes,
    pub(super) first_pass: Option<PassId>,
    pub(super) last_pass: Option<PassId>,
    pub(super) first: Step,
    pub(super) end: Step,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pass {
    pub(super) name: PassId,
    /// The queue, submit, batch and command buffer of the pass. Derived from the frame: for readers, and optional.
    #[serde(default)]
    pub(super) within: Option<Within>,
    /// The described passes that the pass runs, if a rewritten frame was planned. Derived from the frame.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) runs: Option<Vec<PassRun>>,
    pub(super) bound_object: Option<ObjectId>,
    pub(super) bound_bytes: Bytes,
    pub(super) live_tile_bytes: Bytes,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PassRun {
    /// The described pass.
    pub(super) pass: String,
    /// The subpass of the executed pass in which the described pass begins.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) subpass: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Within {
    pub(super) queue: QueueId,
    pub(super) submit: u32,
    pub(super) batch: u32,
    pub(super) command_buffer: String,
}

/// The part of a document that is read first: the frame's name, and the names used in the rest.
#[derive(Deserialize)]
pub(super) struct Head {
    pub(super) frame: String,
    pub(super) base_extent: [u32; 2],
    #[serde(default)]
    pub(super) stores: Vec<Store>,
    pub(super) resources: Vec<Named>,
    pub(super) passes: Vec<Named>,
}

#[derive(Deserialize)]
pub(super) struct Named {
    pub(super) name: String,
}
