//! A plan and its tables.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tileheap_json::is_default;

use super::model;
use super::options::PlanOptions;
use crate::execute::{Executed, Origins};
use crate::frame::tables::{Access, Version};
use crate::frame::{AccessKind, Frame, PassId, ResourceId};
use crate::measure::Requirements;
use crate::profile::DeviceProfile;
use crate::units::{Bytes, Run, Span};

/// The placement of every resource of a frame, and which memory is bound when. How it is executed, [`lower`](crate::lower) says.
///
/// The flat tables refer to each other by index; `passes` and `resources` run parallel to the frame's.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The frame that runs: [`Plan::input`]'s, with the stores of split lifetimes.
    pub frame: Frame,
    /// The map from the frame that runs to the [described](Plan::described) one, stores included.
    pub origins: Origins,
    /// The frame that was planned, as described or rewritten, beside the described one. The runtime's calls take its passes.
    pub input: Executed,
    /// The map from the frame that runs to the input's: the stores of split lifetimes, and the stretches that they end.
    pub splits: Origins,
    /// The device it is planned for.
    pub profile: Arc<DeviceProfile>,
    /// What the resources need there.
    pub requirements: Arc<Requirements>,
    /// What the resources of [`Plan::input`] need.
    pub input_requirements: Arc<Requirements>,
    /// The options it was made with.
    pub options: PlanOptions,
    /// Per resource of the frame, its placement and the reason.
    pub resources: Vec<ResourcePlan>,
    /// Every stay of a resource in memory.
    pub placements: Vec<Placement>,
    /// Every memory object.
    pub objects: Vec<Object>,
    /// Per pass of the frame, what is bound.
    pub passes: Vec<PassPlan>,
    /// Residents that kept others out; [`NotTile::NoRoom`] refers to runs of this table.
    pub conflicts: Vec<ResourceId>,
    /// How good the choice of residents is; `None` where the strategy does not search.
    pub optimality: Option<Optimality>,
    /// Sums over the frame.
    pub totals: Totals,
}

/// How good a choice of residents is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Optimality {
    /// Bytes of traffic that it saves a frame, less what stores write, and less the binning cost of what it reserves.
    pub value: i64,
    /// No choice has a higher value.
    pub upper_bound: i64,
    /// Of the choices of this value, none reserves fewer bytes, summed over the passes.
    pub least_reserved: bool,
    /// Branches of the search.
    pub steps: u64,
}

impl Optimality {
    /// Whether no choice is better.
    pub fn is_proved(&self) -> bool {
        self.value >= self.upper_bound
    }
}

/// The kind of memory a resource is placed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum MemoryKind {
    /// A lazily allocated attachment that is used only inside one render pass.
    Lazy,
    /// An offset in the tile heap.
    Tile,
    /// An offset in a planned block of ordinary memory.
    Arena,
    /// An allocation of its own, or the caller's.
    Dedicated,
}

/// One memory object (`VkDeviceMemory`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// What it is for: placements in it have this kind.
    pub memory: MemoryKind,
    /// Its memory type.
    pub memory_type: u32,
    /// Its size in bytes. A tile object covers `[0, size)` of the tile heap, as all of them do.
    pub size: Bytes,
}

macro_rules! plan_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The id of the thing at this position, for plans made by other planners.
            pub const fn new(index: u32) -> $name {
                $name(index)
            }

            /// Position in the plan's table of such things.
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

/// One stay of a resource in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The resource that is placed here.
    pub resource: ResourceId,
    /// Kind of memory.
    pub memory: MemoryKind,
    /// The memory object; `None` for external resources, whose memory is the caller's.
    pub object: Option<ObjectId>,
    /// Offset in the object.
    pub offset: Bytes,
    /// Size there.
    pub size: Bytes,
    /// The steps in which the bytes are taken. A history resource holds its bytes always: the whole frame. Aliases of one
    /// resident, one per memory object, all have its lifetime.
    pub span: Span,
}

/// Where a resource lives, and why there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourcePlan {
    /// Its placements: none if nothing uses it, two for a history resource of which the previous version is read, one per
    /// memory object that is bound where a tile resident is used, that of its first use first.
    ///
    /// Of a history pair, the first is the current version in even frames and the previous one in odd frames.
    pub placements: Run,
    /// The reason for its placement.
    pub reason: PlacementReason,
}

/// Why a resource is placed where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlacementReason {
    /// No pass uses it: it gets no memory.
    Unused,
    /// One render pass alone uses it, as an attachment whose contents nobody needs afterwards.
    Lazy {
        /// The pass.
        pass: PassId,
    },
    /// It earned its place in tile memory.
    Tile {
        /// Bytes per frame that do not cross the memory bus.
        savings: Bytes,
    },
    /// The caller owns it.
    External,
    /// Shares a block of ordinary memory.
    #[serde(untagged)]
    Arena(NotTile),
    /// The driver asks for an allocation of its own.
    #[serde(untagged)]
    Dedicated(NotTile),
}

/// What kept a resource out of tile memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NotTile {
    /// The device has no tile heap (or the strategy leaves it alone).
    NoTileHeap,
    /// The next frame reads it, and tile contents die with the batch.
    History,
    /// Used in two discard windows.
    CrossesWindows {
        /// Last pass that uses it in the first window.
        last: PassId,
        /// First pass that uses it in another.
        next: PassId,
    },
    /// Used on two queues, each of which has tile contents of its own.
    CrossesQueues {
        /// Last pass on the first queue.
        last: PassId,
        /// First pass on another.
        next: PassId,
    },
    /// Copied: not allowed on tile images, and on tile buffers only with `tileBufferTransfers`.
    Transfer {
        /// The first pass that copies it.
        pass: PassId,
    },
    /// A resolve target must not be tile memory (VUID-VkRenderingAttachmentInfo-resolveImageView-10728).
    ResolveTarget {
        /// The pass that resolves into it.
        pass: PassId,
    },
    /// It was in tile memory until this pass stored it.
    Stored {
        /// The pass, which the runtime records.
        pass: PassId,
    },
    /// A buffer use outside the permitted set (VUID-VkBufferCreateInfo-usage-10764).
    BufferUse {
        /// The first pass that uses it so.
        pass: PassId,
        /// The use.
        #[serde(rename = "access")]
        kind: AccessKind,
    },
    /// One render pass alone uses it, as an attachment: the driver's own binning keeps it on chip already, and the device
    /// has no lazily allocated memory that would spare its bytes.
    OnePass {
        /// The pass.
        pass: PassId,
    },
    /// Usage declared beyond the accesses is outside the permitted set.
    DeclaredUsage,
    /// The driver reports no tile requirement for it, or requires an allocation of its own.
    Refused,
    /// Larger than the whole heap.
    TooLarge {
        /// Its size in tile memory.
        size: Bytes,
        /// The heap's size.
        heap: Bytes,
    },
    /// There is room, but what would have to be reserved for it costs more than it saves; see [`model`].
    CostExceedsSavings {
        /// What it would save, in bytes of traffic a frame.
        savings: Bytes,
        /// The binning cost in its passes, if it lay in the lowest room there is.
        binning_cost: Bytes,
    },
    /// The frame asks for ordinary memory ([`TileConstraint::Excluded`](crate::frame::TileConstraint::Excluded)), and nothing else keeps it out.
    Excluded {
        /// What it would save, in bytes of traffic a frame.
        savings: Bytes,
    },
    /// Residents that save more took the room.
    NoRoom {
        /// What it would save, in bytes of traffic a frame.
        savings: Bytes,
        /// The residents alive with it: a run of [`Plan::conflicts`].
        #[serde(skip)]
        conflicts: Run,
    },
}

/// One pass of the timeline, as planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassPlan {
    /// The tile memory object that is bound while the pass runs.
    pub bound_object: Option<ObjectId>,
    /// Bytes of tile residents alive in the pass, of its own queue.
    pub live_tile: Bytes,
}

/// Sums over a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// The traffic of all resources of the described frame, with nothing in tile memory, by [`Frame::traffic_of`]: as it was described first,
    /// if its description was changed. Shares are of this.
    ///
    /// Attachments of one render pass do not count, since binning keeps their bytes on chip as it is.
    pub traffic_bytes: Bytes,
    /// The part of it that the frame that runs does not move, or moves of resources that the rules admit to tile memory, whether they fit or
    /// not. If the strategy leaves tile memory alone: what merged passes no longer move.
    pub eligible_bytes: Bytes,
    /// The part of it that stays on chip: all but what the frame that runs moves off chip. That is the traffic of the residents of tile
    /// memory and what merged passes no longer move, less what stores write and what the arrangement is charged; 0 where that is more.
    pub on_chip_bytes: Bytes,
    /// What the arrangement is charged: repeated passes, merged passes, and halos that move off chip once more.
    #[serde(default, skip_serializing_if = "is_default")]
    pub charged_bytes: Bytes,
    /// What the stores of split lifetimes write to ordinary memory. What they read does not count: without them, it would not be read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stored_bytes: Bytes,
    /// Bytes of all arenas.
    pub arena_bytes: Bytes,
    /// Bytes of the arenas' contents if nothing were aliased.
    pub arena_bytes_without_aliasing: Bytes,
    /// The most bytes alive at once in each arena, summed over the arenas: no packing can need less.
    pub arena_peak_live: Bytes,
    /// The most bytes alive at once in tile memory.
    pub tile_peak_live: Bytes,
    /// The largest tile object.
    pub tile_bytes: Bytes,
    /// Tile memory bound, summed over the passes.
    pub reserved_bytes: Bytes,
    /// The same if each connected run of lifetimes had one object, as large as its highest end.
    pub reserved_bytes_by_runs: Bytes,
    /// Bytes of tile residents alive, summed over the passes.
    pub live_bytes: Bytes,
}

impl Plan {
    /// The placements of a resource: none if nothing uses it, two for a history pair.
    pub fn placements_of(&self, resource: ResourceId) -> &[Placement] {
        self.resources[resource.index()].placements.of(&self.placements)
    }

    /// The kind of memory a resource is placed in; `None` if nothing uses it.
    pub fn memory_of(&self, resource: ResourceId) -> Option<MemoryKind> {
        self.placements_of(resource)
            .first()
            .map(|placement| placement.memory)
    }

    /// The placement that an access uses: of a history that of the version (as in even frames), of a tile resident with an image in
    /// several memory objects the one in the object that is bound.
    pub fn placement_of(&self, access: &Access) -> PlacementId {
        let run = self.resources[access.resource.index()].placements;
        match access.version {
            Version::Previous => PlacementId(run.first + 1),
            Version::Current => self.placement_in(access.resource, access.pass),
        }
    }

    /// The placement of the current version of a resource that a pass uses.
    pub(crate) fn placement_in(&self, resource: ResourceId, pass: PassId) -> PlacementId {
        let run = self.resources[resource.index()].placements;
        let bound = self.passes[pass.index()].bound_object;
        let in_bound = |index: &usize| {
            let placement = &self.placements[*index];
            placement.memory == MemoryKind::Tile && placement.object == bound
        };
        let found = (run.len() > 1).then(|| run.indices().find(in_bound)).flatten();
        PlacementId(found.map_or(run.first, |index| index as u32))
    }

    /// The binning cost of what is bound, in bytes of traffic a frame, as [`model`] has it, summed over the passes.
    ///
    /// Worked out when asked for: it takes a microsecond a pass.
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

/// A pass that ends a stretch in tile memory: recorded by the runtime, not by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// The pass, in [`Plan::frame`].
    pub pass: PassId,
    /// The stretch of a lifetime, in tile memory: a resource that only [`Plan::frame`] has.
    pub from: ResourceId,
    /// The resource of [`Plan::frame`] that has the contents from then on.
    pub to: ResourceId,
}
