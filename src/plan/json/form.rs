//! The JSON form, field by field.

use ash::vk;
use serde::{Deserialize, Serialize};

use crate::frame::AccessKind;
use crate::frame::tables::Version;
use crate::measure::Dedicated;
use crate::names;
use crate::plan::passes::{BarrierCause, TransferHalf};
use crate::plan::{Ladder, MemoryKind, Strategy, Totals, WindowRule};
use crate::units::{Alignment, Bytes, Step};
use tileheap_device::profile::DeviceProfile;

/// The value of the field `format`.
pub(super) const FORMAT: &str = "tileheap-plan";
/// The version that is read and written.
pub(super) const VERSION: u64 = 2;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) format: String,
    pub(super) version: u64,
    pub(super) frame: String,
    pub(super) base_extent: [u32; 2],
    pub(super) options: Options,
    /// What the frame does not have and the plan has: passes that end stretches in tile memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
    /// What `tileheap plan --advice` found would help: for readers, neither read back nor compared.
    #[serde(default, skip_serializing, rename = "advice")]
    pub(super) _advice: Option<serde::de::IgnoredAny>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Store {
    /// The resource whose lifetime is split.
    pub(super) resource: String,
    /// The pass of the frame behind which it is stored.
    pub(super) after: String,
    /// The store itself. Follows from the others: for readers.
    pub(super) pass: String,
    /// What is stored: the resource's stretch in tile memory. Follows from the others: for readers.
    pub(super) from: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OptimalityEntry {
    /// Follows from the others: for readers.
    pub(super) proved: bool,
    pub(super) value: i64,
    pub(super) upper_bound: i64,
    pub(super) least_reserved: bool,
    pub(super) steps: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Options {
    pub(super) strategy: Strategy,
    pub(super) windows: WindowRule,
    pub(super) aliasing: bool,
    pub(super) ladder: Ladder,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) split: bool,
    pub(super) lazy: bool,
    pub(super) budget: u64,
    pub(super) bin_cost: Bytes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tile_limit: Option<Bytes>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Object {
    pub(super) memory: MemoryKind,
    pub(super) memory_type: u32,
    pub(super) size: Bytes,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Resource {
    pub(super) name: String,
    pub(super) reason: ReasonEntry,
    pub(super) accesses: Vec<ResourceAccess>,
    pub(super) first_placement: u32,
    pub(super) placements: Vec<Placement>,
    pub(super) requirements: Requirements,
}

/// Unknown fields are found by the comparison with what would be written: `flatten` cannot deny them.
#[derive(Serialize, Deserialize)]
pub(super) struct ReasonEntry {
    #[serde(flatten)]
    pub(super) reason: PlacementReason,
    /// The driver wants an allocation of its own besides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) dedicated: bool,
    /// For people; not read back.
    #[serde(default)]
    pub(super) text: String,
}

/// [`crate::plan::PlacementReason`] and [`crate::plan::NotTile`] in one, passes and resources by name.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum PlacementReason {
    Unused,
    External,
    Lazy {
        pass: String,
    },
    Tile {
        savings: Bytes,
    },
    NoTileHeap,
    History,
    CrossesWindows {
        last: String,
        next: String,
    },
    CrossesQueues {
        last: String,
        next: String,
    },
    Transfer {
        pass: String,
    },
    ResolveTarget {
        pass: String,
    },
    BufferUse {
        pass: String,
        access: AccessKind,
    },
    Stored {
        pass: String,
    },
    OnePass {
        pass: String,
    },
    DeclaredUsage,
    Refused,
    TooLarge {
        size: Bytes,
        heap: Bytes,
    },
    CostExceedsSavings {
        savings: Bytes,
        binning_cost: Bytes,
    },
    Excluded {
        savings: Bytes,
    },
    NoRoom {
        savings: Bytes,
        first_conflict: u32,
        conflicts: Vec<String>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResourceAccess {
    pub(super) pass: String,
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
    pub(super) object: Option<u32>,
    pub(super) offset: Bytes,
    pub(super) size: Bytes,
    pub(super) first_pass: Option<String>,
    pub(super) last_pass: Option<String>,
    pub(super) first: Step,
    pub(super) end: Step,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Requirements {
    pub(super) size: Bytes,
    pub(super) alignment: Alignment,
    pub(super) memory_type_bits: u32,
    #[serde(with = "DedicatedForm")]
    pub(super) dedicated: Dedicated,
    pub(super) tile: Option<TileRequirements>,
    pub(super) lazy_type_bits: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Dedicated", rename_all = "snake_case")]
enum DedicatedForm {
    No,
    Preferred,
    Required,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TileRequirements {
    pub(super) size: Bytes,
    pub(super) alignment: Alignment,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pass {
    pub(super) name: String,
    /// Where it is recorded and submitted. Follows from the frame: for readers, who may leave it out.
    #[serde(default)]
    pub(super) within: Within,
    pub(super) bound_object: Option<u32>,
    pub(super) bound_bytes: Bytes,
    pub(super) live_tile_bytes: Bytes,
    /// Parallel to the pass's accesses in the frame.
    pub(super) accesses: Vec<PassAccess>,
    pub(super) first_barrier_before: u32,
    pub(super) barriers_before: Vec<Barrier>,
    pub(super) first_barrier_after: u32,
    pub(super) barriers_after: Vec<Barrier>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Within {
    pub(super) queue: String,
    pub(super) submit: u32,
    pub(super) batch: u32,
    pub(super) command_buffer: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PassAccess {
    pub(super) resource: String,
    pub(super) placement: u32,
    #[serde(with = "names::value")]
    pub(super) layout: vk::ImageLayout,
    #[serde(with = "names::value")]
    pub(super) load_op: vk::AttachmentLoadOp,
    #[serde(with = "names::value")]
    pub(super) store_op: vk::AttachmentStoreOp,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Barrier {
    pub(super) resource: String,
    pub(super) placement: u32,
    pub(super) cause: BarrierCause,
    #[serde(with = "names::bits")]
    pub(super) src_stages: vk::PipelineStageFlags2,
    #[serde(with = "names::bits")]
    pub(super) src_access: vk::AccessFlags2,
    #[serde(with = "names::bits")]
    pub(super) dst_stages: vk::PipelineStageFlags2,
    #[serde(with = "names::bits")]
    pub(super) dst_access: vk::AccessFlags2,
    #[serde(with = "names::value")]
    pub(super) old_layout: vk::ImageLayout,
    #[serde(with = "names::value")]
    pub(super) new_layout: vk::ImageLayout,
    pub(super) transfer: Option<QueueTransfer>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QueueTransfer {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) half: TransferHalf,
}
