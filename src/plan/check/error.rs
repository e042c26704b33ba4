//! Violations of the rules of plans.

/// A violation of a rule by a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct PlanCheckError {
    /// The broken rule.
    pub rule: PlanRule,
    /// Description, with the names, the demand and the limit.
    pub message: String,
}

/// The rules of plans, in the order in which they are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanRule {
    /// A table that parallels one of the frame's tables must have the same length.
    Length,
    /// A profile must not have more memory types than Vulkan allows (`VK_MAX_MEMORY_TYPES`).
    MemoryTypes,
    /// The frame must not exceed the limits of the profile, or need features that the profile does not have.
    Device,
    /// Indices and runs must be inside their tables.
    Index,
    /// Every placement must be in the run of exactly one resource.
    NotInOneRun,
    /// Runs of a resource must contain only its own placements.
    ForeignPlacement,
    /// A resource must have no placement if unused, at least one if transient, one if external, and one per kept version if it is a history.
    PlacementCount,
    /// Every placement must be used by at least one pass.
    Idle,
    /// The span of a placement must contain its uses.
    SpanMissesUse,
    /// A span must not be empty, and must be inside the frame.
    SpanOutside,
    /// The reason for a placement must match the kind of memory of the resource's placements.
    PlacementReason,
    /// Every store of a split lifetime must copy from one stretch of the lifetime to the next.
    Store,
    /// A stretch that a store ends must be a transient resource in tile memory that no later pass uses, and no earlier pass may use the stored resource.
    Stretch,
    /// Without its stores and rewrites, the executed frame must be equivalent to the described one.
    Described,
    /// The memory type of an object must suit its kind of memory.
    ObjectType,
    /// Objects must not be empty (VUID-VkMemoryAllocateInfo-allocationSize-07897).
    ObjectEmpty,
    /// An object must not be larger than its heap, or than the largest size that the device can allocate or bind.
    ObjectTooLarge,
    /// A placement must be in an object of the same kind of memory.
    WrongObject,
    /// The resource must allow the memory type (VUID-vkBindImageMemory-memory-01047, -vkBindBufferMemory-memory-01035).
    TypeNotAllowed,
    /// Offsets must be multiples of the alignment.
    Misaligned,
    /// The size that a resource requires must not be smaller than its contents, unless sizes are only for comparison ([`WindowRule::WholeFrame`](crate::plan::WindowRule)).
    RequirementTooSmall,
    /// A placement must have at least the size that the resource requires in that kind of memory.
    TooSmall,
    /// A placement must end inside its object (VUID-VkBindImageMemoryInfo-pNext-12330 and -01617 and similar ones).
    PastObject,
    /// Placements that are alive at the same time must not share bytes.
    Overlap,
    /// A buffer and an image alive at the same time must not share a page (`bufferImageGranularity`).
    Granularity,
    /// Uses of shared bytes on two queues must be ordered.
    UnorderedQueues,
    /// A resource that needs a dedicated allocation must not share it.
    SharedDedicated,
    /// A resource that requires a dedicated allocation must have one (VUID-vkBindImageMemory-image-01445).
    NotDedicated,
    /// Placements may only share bytes and use kinds of memory as the options allow.
    AgainstOptions,
    /// The device must have a tile heap.
    NoTileHeap,
    /// Resources in tile memory must be transient: their contents may be lost.
    TileNotTransient,
    /// The driver must report a tile requirement for a resource in tile memory.
    TileRefused,
    /// A resource in tile memory must not require a dedicated allocation, since tile memory objects are shared.
    TileDedicated,
    /// A resource in tile memory must be used on only one queue: each queue has separate tile contents.
    TileTwoQueues,
    /// A resource in tile memory must be used in only one discard window.
    TileTwoWindows,
    /// A resource in tile memory must not be copied or declared with transfer usage.
    TileTransfer,
    /// A resource in tile memory must not be a resolve target.
    TileResolveTarget,
    /// A tile buffer must have only permitted usage (VUID-VkBufferCreateInfo-usage-10764).
    TileBufferUsage,
    /// Only attachments of one render pass may be lazily allocated.
    Lazy,
    /// A history must keep its bytes for the whole frame.
    History,
    /// External resources, and no others, must be in the caller's memory.
    External,
    /// The memory object of a tile resource must be bound in every pass that uses the resource (VUID-vkCmdDraw-commandBuffer-10746).
    WrongObjectBound,
    /// While contents of tile memory are live, the bound tile memory must contain them (VK_QCOM_tile_memory_heap, "Tile Memory").
    BoundTooSmall,
    /// The bound object must be tile memory (VUID-VkTileMemoryBindInfoQCOM-memory-10726).
    BoundNotTile,
    /// Tile memory may only be bound on graphics or compute queues (VUID-vkCmdBindTileMemoryQCOM-commandBuffer-cmdpool).
    BoundOnTransferQueue,
    /// The live bytes of a pass must be the sum of the sizes of the tile residents alive in it.
    Live,
    /// The totals must be the sums over the frame.
    Total,
}
