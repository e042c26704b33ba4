//! A plan and its tables.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tileheap_json::is_default;

use super::model;
use super::options::PlanOptions;
use crate::execute::{ExecutedFrame, Origins};
use crate::frame::tables::{Access, HistoryVersion};
use crate::frame::{AccessKind, Frame, PassId, ResourceId};
use crate::measure::Requirements;
use crate::profile::DeviceProfile;
use crate::units::{Bytes, Run, Span};

/// The placement of every resource of a frame, and the memory bound in each pass. [`lower`](crate::lower) determines how it is executed.
///
/// The flat tables refer to each other by index; `passes` and `resources` run parallel to the frame's.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The executed frame: the frame of [`Plan::input`], with the stores of split lifetimes.
    pub frame: Frame,
    /// The map from the executed frame to the [described](Plan::described) one, including stores.
    pub origins: Origins,
    /// The planned frame, described or rewritten, paired with the described one. The runtime's functions take its passes.
    pub input: ExecutedFrame,
    /// The map from the executed frame to the frame of [`Plan::input`]: the stores of split lifetimes, and the stretches that they end.
    pub splits: Origins,
    /// The device for which the frame is planned.
    pub profile: Arc<DeviceProfile>,
    /// The requirements of the resources of [`Plan::frame`] on that device.
    pub requirements: Arc<Requirements>,
    /// The requirements of the resources of [`Plan::input`].
    pub input_requirements: Arc<Requirements>,
    /// The options with which the plan was made.
    pub options: PlanOptions,
    /// Per resource of the frame, its placement and the reason.
    pub resources: Vec<ResourcePlan>,
    /// Every placement of a resource.
    pub placements: Vec<Placement>,
    /// Every memory object.
    pub objects: Vec<MemoryObject>,
    /// Per pass of the frame, the bound tile memory.
    pub passes: Vec<PassPlan>,
    /// Residents that keep other resources out of tile memory; [`OffChipReason::NoRoom`] refers to runs of this table.
    pub conflicts: Vec<ResourceId>,
    /// Quality of the choice of residents; `None` if the strategy does not search.
    pub optimality: Option<Optimality>,
    /// Sums over the frame.
    pub totals: PlanTotals,
}

/// Quality of a choice of residents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Optimality {
    /// Bytes of traffic saved per frame, minus the bytes that stores write and the binning cost of the reservation.
    pub value: i64,
    /// Upper bound on the value of any choice.
    pub upper_bound: i64,
    /// True if it is proved that no choice of the same value reserves fewer bytes, summed over the passes.
    pub least_reserved: bool,
    /// Number of steps that the searches took.
    pub steps: u64,
}

impl Optimality {
    /// Returns true if the choice is proved optimal.
    pub fn is_proved(&self) -> bool {
        self.value >= self.upper_bound
    }
}

/// The kind of memory a resource is placed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum MemoryKind {
    /// Lazily allocated memory of an attachment that is used only inside one render pass.
    Lazy,
    /// A range of the tile heap.
    Tile,
    /// A range of a planned block of ordinary memory.
    Arena,
    /// A dedicated allocation, or the caller's memory.
    Dedicated,
}

/// One memory object (`VkDeviceMemory`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryObject {
    /// Kind of memory, the same as that of all placements in the object.
    pub memory: MemoryKind,
    /// The object's memory type, by index.
    pub memory_type: u32,
    /// Size in bytes. Every tile memory object starts at offset 0 of the tile heap, so tile memory objects overlap.
    pub size: Bytes,
}

macro_rules! plan_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Creates an id from a position, for plans made by other planners.
            pub const fn new(index: u32) -> $name {
                $name(index)
            }

            /// Position in the corresponding table of the plan.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

plan_ids! {
    /// A placement of a plan.
    PlacementId;
    /// A memory object of a plan.
    ObjectId;
}

/// A range of memory that a resource occupies over a span of passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The resource that is placed here.
    pub resource: ResourceId,
    /// Kind of memory; [`MemoryKind::Dedicated`] for external resources.
    pub memory: MemoryKind,
    /// The memory object; `None` for external resources, whose memory is the caller's.
    pub object: Option<ObjectId>,
    /// Offset in the object.
    pub offset: Bytes,
    /// Size in that kind of memory.
    pub size: Bytes,
    /// The steps in which the bytes are reserved. A history resource keeps its bytes for the whole frame. Aliases of one resident, one per memory
    /// object, all have the lifetime of the resident.
    pub span: Span,
}

/// The placements of a resource, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourcePlan {
    /// The resource's placements: none if it is unused; two for a history whose previous version is read; for a tile resident, one for each memory object
    /// that is bound in a pass that uses it, beginning with the object of the first use; one otherwise.
    ///
    /// For a history pair, the first is the current version in even frames and the previous one in odd frames.
    pub placements: Run,
    /// The reason for the resource's placement.
    pub reason: PlacementReason,
}

/// The reason for a resource's placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlacementReason {
    /// No pass uses the resource: it gets no memory.
    Unused,
    /// Only one render pass uses the resource, as an attachment whose contents are not needed afterwards.
    Lazy {
        /// The pass.
        pass: PassId,
    },
    /// The resource is in tile memory.
    Tile {
        /// Bytes per frame that do not cross the memory bus.
        savings: Bytes,
    },
    /// The caller owns the resource.
    External,
    /// The resource shares a block of ordinary memory.
    #[serde(untagged)]
    Arena(OffChipReason),
    /// The resource has a dedicated allocation, because it requires or prefers one.
    #[serde(untagged)]
    Dedicated(OffChipReason),
}

/// The reason why a resource is not in tile memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OffChipReason {
    /// The device has no tile heap, or the strategy does not use it.
    NoTileHeap,
    /// The next frame reads the resource, and tile memory does not keep its contents beyond a discard window.
    History,
    /// The resource is used in two discard windows.
    CrossesWindows {
        /// Last pass that uses the resource in the first window.
        last: PassId,
        /// First pass that uses the resource in another window.
        next: PassId,
    },
    /// The resource is used on two queues, which have separate tile contents.
    CrossesQueues {
        /// Last pass on the first queue.
        last: PassId,
        /// First pass on another queue.
        next: PassId,
    },
    /// The resource is copied: not allowed on tile images, and on tile buffers only with `tileBufferTransfers`.
    Transfer {
        /// The first pass that copies the resource.
        pass: PassId,
    },
    /// The resource is used on a queue that cannot bind tile memory, because it supports neither graphics nor compute
    /// (VUID-vkCmdBindTileMemoryQCOM-commandBuffer-cmdpool).
    TransferQueue {
        /// The first pass on such a queue.
        pass: PassId,
    },
    /// The resource is a resolve target, which must not be in tile memory (VUID-VkRenderingAttachmentInfo-resolveImageView-10728).
    ResolveTarget {
        /// The pass that resolves into the resource.
        pass: PassId,
    },
    /// The resource was in tile memory until a pass stored it.
    Stored {
        /// The store pass, which the runtime records.
        pass: PassId,
    },
    /// The buffer is used in a way that is not permitted in tile memory (VUID-VkBufferCreateInfo-usage-10764).
    BufferUse {
        /// The first pass that uses the buffer in such a way.
        pass: PassId,
        /// The kind of that use.
        #[serde(rename = "access")]
        kind: AccessKind,
    },
    /// Only one render pass uses the resource, as an attachment: the driver's binning already keeps it on chip, and the device has no lazily allocated memory
    /// to save its bytes.
    OnePass {
        /// The pass.
        pass: PassId,
    },
    /// The usage that the resource declares in addition to that of its accesses is not permitted in tile memory.
    DeclaredUsage,
    /// The driver reports no tile requirement for the resource, or requires a dedicated allocation.
    Refused,
    /// The resource is larger than the whole heap.
    TooLarge {
        /// The resource's size in tile memory.
        size: Bytes,
        /// The heap's size.
        heap: Bytes,
    },
    /// There is room, but the reservation would cost more than it saves; see [`model`].
    CostExceedsSavings {
        /// Potential savings, in bytes of traffic per frame.
        savings: Bytes,
        /// The binning cost that the resource would add to the passes of its lifetime at the lowest free offset.
        binning_cost: Bytes,
    },
    /// The frame requests ordinary memory ([`TileConstraint::Excluded`](crate::frame::TileConstraint::Excluded)), and no other rule keeps the resource out of
    /// tile memory.
    Excluded {
        /// Potential savings, in bytes of traffic per frame.
        savings: Bytes,
    },
    /// Other residents leave no room for the resource during its lifetime.
    NoRoom {
        /// Potential savings, in bytes of traffic per frame.
        savings: Bytes,
        /// The residents that are alive at the same time as the resource: a run of [`Plan::conflicts`].
        #[serde(skip)]
        conflicts: Run,
    },
}

/// The tile memory that is bound and live in one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassPlan {
    /// The tile memory object that is bound while the pass runs.
    pub bound_object: Option<ObjectId>,
    /// Bytes of the tile residents of the pass's queue that are alive in the pass.
    pub live_tile: Bytes,
}

/// Sums over a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanTotals {
    /// The traffic of all resources of the described frame, with nothing in tile memory, by [`Frame::traffic_of`]; if the description was changed, of the
    /// originally described frame. Shares are relative to this sum.
    ///
    /// Attachments of one render pass do not count, since binning already keeps their bytes on chip.
    pub traffic_bytes: Bytes,
    /// The part of `traffic_bytes` that the executed frame does not move, or moves for resources that the rules admit to tile memory, whether they fit or
    /// not. If the strategy does not use tile memory, only the traffic that merged passes save.
    pub eligible_bytes: Bytes,
    /// The part of `traffic_bytes` that stays on chip: all but the bytes that the executed frame moves off chip. That is the traffic of the residents of tile
    /// memory and the savings of merged passes, minus the bytes that stores write and the charges of the arrangement; 0 if the result would be negative.
    pub on_chip_bytes: Bytes,
    /// Charges of the arrangement: repeated passes, merged passes, and additional off-chip transfers of halos.
    #[serde(default, skip_serializing_if = "is_default")]
    pub charged_bytes: Bytes,
    /// Bytes that the stores of split lifetimes write to ordinary memory. The bytes that the stores read do not count: they are read from tile memory.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stored_bytes: Bytes,
    /// Bytes of all arenas.
    pub arena_bytes: Bytes,
    /// Bytes of the arenas' contents without aliasing.
    pub arena_bytes_without_aliasing: Bytes,
    /// The peak number of bytes alive in each arena, summed over the arenas: no packing can need less.
    pub arena_peak_live: Bytes,
    /// The peak number of bytes alive in tile memory.
    pub tile_peak_live: Bytes,
    /// Size of the largest tile memory object.
    pub tile_bytes: Bytes,
    /// Tile memory bound, summed over the passes.
    pub reserved_bytes: Bytes,
    /// Like `reserved_bytes`, if each connected run of lifetimes had one object, which ends at the highest end offset of the run's placements.
    pub reserved_bytes_by_runs: Bytes,
    /// Bytes of tile residents alive, summed over the passes.
    pub live_bytes: Bytes,
}

impl Plan {
    /// The [placements](ResourcePlan::placements) of a resource: none if it is unused, several for a history pair and for a tile resident with an image in
    /// several memory objects.
    pub fn placements_of(&self, resource: ResourceId) -> &[Placement] {
        self.resources[resource.index()].placements.of(&self.placements)
    }

    /// The kind of memory in which a resource is placed; `None` if it is unused.
    pub fn memory_of(&self, resource: ResourceId) -> Option<MemoryKind> {
        self.placements_of(resource)
            .first()
            .map(|placement| placement.memory)
    }

    /// The placement that an access uses: for a history, the placement of the accessed version (as in even frames); for a tile resident with an image in
    /// several memory objects, the placement in the bound object.
    #[inline]
    pub fn placement_of(&self, access: &Access) -> PlacementId {
        let run = self.resources[access.resource.index()].placements;
        match access.version {
            HistoryVersion::Previous => PlacementId(run.first + 1),
            HistoryVersion::Current => self.placement_in(access.resource, access.pass),
        }
    }

    /// The placement of the current version of a resource that a pass uses.
    #[inline]
    pub(crate) fn placement_in(&self, resource: ResourceId, pass: PassId) -> PlacementId {
        let run = self.resources[resource.index()].placements;
        match run.len() {
            1 => PlacementId(run.first),
            _ => self.placement_among(run, pass),
        }
    }

    /// The placement among those of `run` that a pass uses.
    fn placement_among(&self, run: Run, pass: PassId) -> PlacementId {
        let bound = self.passes[pass.index()].bound_object;
        let in_bound = |index: &usize| {
            let placement = &self.placements[*index];
            placement.memory == MemoryKind::Tile && placement.object == bound
        };
        let found = run.indices().find(in_bound);
        PlacementId(found.map_or(run.first, |index| index as u32))
    }

    /// The binning cost of the bound memory by [`model`], in bytes of traffic per frame, summed over the passes.
    ///
    /// Computed on each call: a microsecond per pass.
    pub fn binning_cost(&self) -> Bytes {
        let passes = self.frame.pass_ids().zip(&self.passes);
        let binning_costs = passes.filter_map(|(id, pass)| {
            let reserved = self.objects.get(pass.bound_object?.index())?.size;
            Some(model::binning_cost_in_pass(
                &self.frame,
                &self.profile,
                id,
                reserved,
                self.options.bin_cost,
            ))
        });
        binning_costs.sum()
    }
}

/// A store pass, which ends a stretch in tile memory. The runtime records it, not the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedStore {
    /// The pass, in [`Plan::frame`].
    pub pass: PassId,
    /// The stretch of a lifetime, in tile memory: a resource that only [`Plan::frame`] has.
    pub from: ResourceId,
    /// The resource of [`Plan::frame`] that has the contents afterwards.
    pub to: ResourceId,
}
