//! What is wrong with a plan.

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct CheckError {
    /// The rule that is broken.
    pub rule: Rule,
    /// How: with the names, the demand and the limit.
    pub message: String,
}

/// The rules of plans, in the order in which they are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// A table that must run parallel to one of the frame does so.
    Length,
    /// A profile has no more memory types than Vulkan has (`VK_MAX_MEMORY_TYPES`).
    MemoryTypes,
    /// The frame breaks no limit and needs no missing feature of the profile.
    Device,
    /// Indices and runs are inside their tables.
    Index,
    /// Every placement is in one run.
    Covered,
    /// Runs refer to placements of their own resource.
    Foreign,
    /// A resource has no placement if unused, one for each version that is kept, at least one if transient.
    PlacementCount,
    /// Some pass uses each placement.
    Idle,
    /// The span of a placement holds its uses.
    SpanMissesUse,
    /// A span is not empty and inside the frame.
    SpanOutside,
    /// The reason names the kind of memory of the placements.
    PlacementReason,
    /// Every store of a split lifetime is one.
    Store,
    /// A stretch of a split lifetime ends with its store.
    Stretch,
    /// Without its stores, the frame is the one that was described.
    Described,
    /// The memory type of an object is one for its kind of memory.
    ObjectType,
    /// Objects have bytes (VUID-VkMemoryAllocateInfo-allocationSize-07897).
    ObjectEmpty,
    /// No object is larger than its heap, or than what the device allocates or binds at once.
    ObjectTooLarge,
    /// A placement is in an object of its kind.
    WrongObject,
    /// The resource allows the memory type (VUID-vkBindImageMemory-memory-01047, -vkBindBufferMemory-memory-01035).
    TypeNotAllowed,
    /// Offsets are multiples of the alignment there.
    Misaligned,
    /// A placement has the bytes that the resource needs there.
    TooSmall,
    /// A placement ends inside of its object (VUID-VkBindImageMemoryInfo-pNext-12330 and -01617 and their like).
    PastObject,
    /// What is alive at once shares no bytes.
    Overlap,
    /// Nor does a buffer share a page with an image (`bufferImageGranularity`).
    Granularity,
    /// Uses of shared bytes on two queues are in an order.
    Concurrent,
    /// What needs an allocation of its own shares none.
    Shared,
    /// What requires a dedicated allocation is in one (VUID-vkBindImageMemory-image-01445).
    NotDedicated,
    /// Nothing is shared, or placed, that the options forbid.
    AgainstOptions,
    /// The device has a tile heap.
    NoTileHeap,
    /// What is in tile memory is transient: its contents may be forgotten.
    TileNotTransient,
    /// The driver reports a tile requirement for it.
    TileRefused,
    /// It requires no dedicated allocation, which cannot be one of many aliases of the heap.
    TileDedicated,
    /// It is used on one queue: each has tile contents of its own.
    TileTwoQueues,
    /// It is used in one discard window.
    TileTwoWindows,
    /// It is not copied, nor declared so.
    TileTransfer,
    /// Nothing resolves into it.
    TileResolveTarget,
    /// A tile buffer has no usage but the permitted (VUID-VkBufferCreateInfo-usage-10764).
    TileBufferUsage,
    /// Only attachments of one render pass are lazily allocated.
    Lazy,
    /// A history keeps its bytes for the whole frame.
    History,
    /// External resources, and no others, are in the caller's memory.
    External,
    /// The object of a tile resource is bound where it is used (VUID-vkCmdDraw-commandBuffer-10746).
    WrongObjectBound,
    /// While contents of tile memory are live, as much is bound (VK_QCOM_tile_memory_heap, "Tile Memory").
    BoundTooSmall,
    /// What is bound is tile memory (VUID-VkTileMemoryBindInfoQCOM-memory-10726).
    BoundNotTile,
    /// It is bound on queues that draw or compute (VUID-vkCmdBindTileMemoryQCOM-commandBuffer-cmdpool).
    BoundOnTransferQueue,
    /// The live bytes of a pass are the sum of its residents.
    Live,
    /// The totals are the sums over the frame.
    Total,
}
