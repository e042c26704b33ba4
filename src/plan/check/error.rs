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
    /// A table that parallels one of the frame's tables has the same length.
    Length,
    /// A profile has no more memory types than Vulkan has (`VK_MAX_MEMORY_TYPES`).
    MemoryTypes,
    /// The frame exceeds no limit of the profile and needs no missing feature.
    Device,
    /// Indices and runs are inside their tables.
    Index,
    /// Every placement is in one run.
    Covered,
    /// Runs of a resource contain only its own placements.
    Foreign,
    /// A resource has no placement if unused, one per version that is kept, at least one if transient.
    PlacementCount,
    /// Every placement is used by some pass.
    Idle,
    /// The span of a placement contains its uses.
    SpanMissesUse,
    /// A span is not empty and is inside the frame.
    SpanOutside,
    /// The reason matches the kind of memory of the placements.
    PlacementReason,
    /// Every store of a split lifetime is a valid store.
    Store,
    /// A stretch of a split lifetime ends with its store.
    Stretch,
    /// Without its stores, the frame is the described one.
    Described,
    /// The memory type of an object suits its kind of memory.
    ObjectType,
    /// Objects are not empty (VUID-VkMemoryAllocateInfo-allocationSize-07897).
    ObjectEmpty,
    /// No object is larger than its heap, or than the device can allocate or bind at once.
    ObjectTooLarge,
    /// A placement is in an object of the same kind.
    WrongObject,
    /// The resource allows the memory type (VUID-vkBindImageMemory-memory-01047, -vkBindBufferMemory-memory-01035).
    TypeNotAllowed,
    /// Offsets are multiples of the alignment.
    Misaligned,
    /// A placement has at least the size that the resource requires in that kind of memory.
    TooSmall,
    /// A placement ends inside its object (VUID-VkBindImageMemoryInfo-pNext-12330 and -01617 and similar ones).
    PastObject,
    /// Placements that are alive at the same time share no bytes.
    Overlap,
    /// A buffer and an image alive at the same time share no page (`bufferImageGranularity`).
    Granularity,
    /// Uses of shared bytes on two queues are ordered.
    Concurrent,
    /// A resource that needs a dedicated allocation does not share it.
    Shared,
    /// A resource that requires a dedicated allocation has one (VUID-vkBindImageMemory-image-01445).
    NotDedicated,
    /// No sharing or placement contradicts the options.
    AgainstOptions,
    /// The device has a tile heap.
    NoTileHeap,
    /// Resources in tile memory are transient: their contents may be lost.
    TileNotTransient,
    /// The driver reports a tile requirement for a resource in tile memory.
    TileRefused,
    /// A resource in tile memory does not require a dedicated allocation, since tile memory objects are shared.
    TileDedicated,
    /// A resource in tile memory is used on one queue: each queue has separate tile contents.
    TileTwoQueues,
    /// A resource in tile memory is used in one discard window.
    TileTwoWindows,
    /// A resource in tile memory is not copied, nor declared with transfer usage.
    TileTransfer,
    /// A resource in tile memory is not a resolve target.
    TileResolveTarget,
    /// A tile buffer has only permitted usage (VUID-VkBufferCreateInfo-usage-10764).
    TileBufferUsage,
    /// Only attachments of one render pass are lazily allocated.
    Lazy,
    /// A history keeps its bytes for the whole frame.
    History,
    /// External resources, and no others, are in the caller's memory.
    External,
    /// The memory object of a tile resource is bound where the resource is used (VUID-vkCmdDraw-commandBuffer-10746).
    WrongObjectBound,
    /// While tile memory contents are live, at least that much is bound (VK_QCOM_tile_memory_heap, "Tile Memory").
    BoundTooSmall,
    /// The bound object is tile memory (VUID-VkTileMemoryBindInfoQCOM-memory-10726).
    BoundNotTile,
    /// Tile memory is bound on graphics or compute queues (VUID-vkCmdBindTileMemoryQCOM-commandBuffer-cmdpool).
    BoundOnTransferQueue,
    /// The live bytes of a pass are the sum over its residents.
    Live,
    /// The totals are the sums over the frame.
    Total,
}
