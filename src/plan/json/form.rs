//! The document: the plan's own types, and around them what is nested, named or added for readers.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tileheap_json::is_default;

use crate::execute::ChargeCause;
use crate::frame::tables::Version;
use crate::frame::{AccessKind, PassId, QueueId, ResourceId};
use crate::measure::ResourceRequirements;
use crate::plan::{MemoryKind, NotTile, Object, ObjectId, Optimality, PlacementReason, PlanOptions, Totals};
use crate::units::{Bytes, Step};
use tileheap_device::profile::DeviceProfile;

/// The value of the field `format`.
pub(super) const FORMAT: &str = "tileheap-plan";
/// The version that is read and written.
pub(super) const VERSION: u64 = 3;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) format: String,
    pub(super) version: u64,
    pub(super) frame: String,
    pub(super) base_extent: [u32; 2],
    pub(super) options: PlanOptions,
    /// What the frame does not have and the plan has: passes that end stretches in tile memory.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) stores: Vec<Store>,
    pub(super) profile: DeviceProfile,
    pub(super) objects: Vec<Object>,
    pub(super) resources: Vec<Resource>,
    pub(super) passes: Vec<Pass>,
    /// Follows from the rest: for readers.
    pub(super) binning_cost_bytes: Bytes,
    /// Null where the strategy does not search.
    #[serde(default)]
    pub(super) optimality: Option<OptimalityEntry>,
    pub(super) totals: Totals,
    /// What running the frame another way costs, where it is charged anything.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) charges: Option<Charges>,
    /// What `tileheap plan --advice` found would help: for readers, neither read back nor compared.
    #[serde(default, skip_serializing, rename = "advice")]
    pub(super) _advice: Option<serde::de::IgnoredAny>,
    /// How `tileheap plan --best` arranged the frame: for readers, too.
    #[serde(default, skip_serializing, rename = "arrangement")]
    pub(super) _arrangement: Option<serde::de::IgnoredAny>,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Charges {
    pub(super) passes: Vec<Charge>,
    /// What a byte of a halo costs, in thousandths.
    pub(super) halo_thousandths: u32,
    /// What the frame moves as described first, where its description was changed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) described_traffic_bytes: Option<Bytes>,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Charge {
    pub(super) pass: PassId,
    pub(super) cause: ChargeCause,
    pub(super) bytes: Bytes,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Store {
    /// The resource whose lifetime is split.
    pub(super) resource: String,
    /// The pass of the planned frame after which it is stored.
    pub(super) after: String,
    /// The store itself. Follows from the others: for readers.
    pub(super) pass: String,
    /// What is stored: the resource's stretch in tile memory. Follows from the others: for readers.
    pub(super) from: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct OptimalityEntry {
    /// Follows from the others: for readers.
    pub(super) proved: bool,
    #[serde(flatten)]
    pub(super) found: Optimality,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Resource {
    pub(super) name: ResourceId,
    /// The described resource, where a rewritten frame was planned. Follows from the frame.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) origin: Option<String>,
    pub(super) reason: ReasonEntry,
    pub(super) accesses: Vec<ResourceAccess>,
    pub(super) first_placement: u32,
    pub(super) placements: Vec<Placement>,
    pub(super) requirements: ResourceRequirements,
}

/// Unknown fields are found by the comparison with what would be written: `flatten` cannot deny them.
#[derive(Serialize, Deserialize)]
pub(super) struct ReasonEntry {
    /// Not [`PlacementReason::Dedicated`]: `dedicated` says so.
    #[serde(flatten, deserialize_with = "reason")]
    pub(super) reason: PlacementReason,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) first_conflict: Option<u32>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) conflicts: Option<Vec<ResourceId>>,
    /// The driver wants an allocation of its own besides.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) dedicated: bool,
    /// For people; not read back.
    #[serde(default)]
    pub(super) text: String,
}

/// One `kind` says what is two enums in a plan.
fn reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PlacementReason, D::Error> {
    #[derive(Deserialize)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    enum Placed {
        Unused,
        External,
        Lazy { pass: PassId },
        Tile { savings: Bytes },
    }
    let fields = Value::deserialize(deserializer)?;
    let reason = match fields["kind"].as_str() {
        Some("unused" | "external" | "lazy" | "tile") => {
            Placed::deserialize(fields).map(|placed| match placed {
                Placed::Unused => PlacementReason::Unused,
                Placed::External => PlacementReason::External,
                Placed::Lazy { pass } => PlacementReason::Lazy { pass },
                Placed::Tile { savings } => PlacementReason::Tile { savings },
            })
        }
        _ => NotTile::deserialize(fields).map(PlacementReason::Arena),
    };
    reason.map_err(D::Error::custom)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResourceAccess {
    pub(super) pass: PassId,
    pub(super) kind: AccessKind,
    pub(super) version: Version,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// How often the resource's bytes cross the memory bus.
    pub(super) count: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Placement {
    pub(super) index: u32,
    pub(super) memory: MemoryKind,
    /// `None`: the caller's memory.
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
    /// Where it is recorded and submitted. Follows from the frame: for readers, who may leave it out.
    #[serde(default)]
    pub(super) within: Option<Within>,
    /// The described passes that it runs, where a rewritten frame was planned. Follows from the frame.
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
    /// Its first subpass.
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

/// What is read of a document first: whose plan it is, and the names that the rest of it uses.
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
