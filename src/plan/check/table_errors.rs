//! What the tables of a plan break, as seen without replaying it.

use ash::vk;

use crate::plan::MemoryKind;
use crate::units::{Alignment, Bytes, Span};

/// Tables that do not refer to each other soundly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StructureError {
    /// A table that must run parallel to one of the frame does not.
    #[error("the plan has {entries} entries in `{table}` and its frame has {needs}: they must run parallel")]
    Length {
        /// The table.
        table: &'static str,
        /// Its length.
        entries: usize,
        /// The length it must have.
        needs: usize,
    },
    /// More memory types than Vulkan has (`VK_MAX_MEMORY_TYPES`).
    #[error("the profile has {entries} memory types: at most 32 are possible")]
    MemoryTypes {
        /// How many.
        entries: usize,
    },
    /// An index past the end of a table.
    #[error("{by} refers to entry {index} of `{table}`, which has {entries}")]
    Index {
        /// What refers.
        by: String,
        /// The table.
        table: &'static str,
        /// The index.
        index: usize,
        /// The table's length.
        entries: usize,
    },
    /// A run that is not inside its table.
    #[error("{by} refers to entries [{first}, {end}) of `{table}`, which has {entries}")]
    RunOutside {
        /// What refers.
        by: String,
        /// The table.
        table: &'static str,
        /// The run's first index.
        first: u32,
        /// The index after its last.
        end: u32,
        /// The table's length.
        entries: usize,
    },
    /// An entry that is in no run, or in several.
    #[error("entry {index} of `{table}` is in {times} runs: each belongs to exactly one")]
    Covered {
        /// The table.
        table: &'static str,
        /// The entry.
        index: usize,
        /// How many runs hold it.
        times: usize,
    },
    /// Something refers to another resource's placement.
    #[error("{by} is of `{resource}` and refers to placement {placement}, which is of `{owner}`")]
    Foreign {
        /// What refers.
        by: String,
        /// Its resource.
        resource: String,
        /// The placement.
        placement: usize,
        /// The resource that is placed there.
        owner: String,
    },
    /// A resource with too few or too many placements.
    #[error("resource `{resource}` has {has} placements and needs {needs}")]
    PlacementCount {
        /// The resource.
        resource: String,
        /// What it has.
        has: usize,
        /// What it needs: none if unused, one for each version that is kept, at least one if transient.
        needs: &'static str,
    },
    /// An access to the wrong version of a history resource.
    #[error(
        "pass `{pass}` uses the {version} version of `{resource}` and refers to the placement of the other one"
    )]
    WrongVersion {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// The version that the frame asks for.
        version: &'static str,
    },
    /// A placement that nothing uses.
    #[error("placement {placement} of `{resource}` is used by no pass")]
    Idle {
        /// The placement.
        placement: usize,
        /// The resource.
        resource: String,
    },
    /// A use outside the span of its placement.
    #[error("pass `{pass}` uses `{resource}` at step {step}, outside the span {span} of its placement")]
    SpanMissesUse {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// The pass's step.
        step: u32,
        /// The span.
        span: Span,
    },
    /// A span that is empty or leaves the frame.
    #[error("the placement of `{resource}` spans {span}, and the frame has steps [0, {steps})")]
    SpanOutside {
        /// The resource.
        resource: String,
        /// The span.
        span: Span,
        /// Number of passes.
        steps: usize,
    },
    /// The reason names another kind of memory than the placements have.
    #[error("resource `{resource}` is placed in {memory:?}, and its reason is {reason}")]
    PlacementReason {
        /// The resource.
        resource: String,
        /// Where it is placed.
        memory: MemoryKind,
        /// The reason's name.
        reason: &'static str,
    },
}

/// Memory objects, offsets and sizes that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BytesError {
    /// A memory object of a type that its kind must not, or has to, use.
    #[error("object {object} of memory {memory:?} has memory type {memory_type}, which {why}")]
    ObjectType {
        /// The object.
        object: usize,
        /// The kind of memory.
        memory: MemoryKind,
        /// Its memory type.
        memory_type: u32,
        /// What does not fit.
        why: &'static str,
    },
    /// A memory object of no bytes (VUID-VkMemoryAllocateInfo-allocationSize-07897).
    #[error("object {object} has no bytes (VUID-VkMemoryAllocateInfo-allocationSize-07897)")]
    ObjectEmpty {
        /// The object.
        object: usize,
    },
    /// A memory object larger than its heap, or than the device allocates at once.
    #[error("object {object} has {size}, and {limit} is {most}")]
    ObjectTooLarge {
        /// The object.
        object: usize,
        /// Its size.
        size: Bytes,
        /// Which limit, with its VUID.
        limit: &'static str,
        /// The limit.
        most: Bytes,
    },
    /// A placement in an object of another kind, or in none.
    #[error("resource `{resource}` is placed in {memory:?}, and its object is {object}")]
    WrongObject {
        /// The resource.
        resource: String,
        /// MemoryKind of the placement.
        memory: MemoryKind,
        /// What the object is.
        object: String,
    },
    /// A memory type that the resource does not allow (VUID-vkBindImageMemory-memory-01047, -vkBindBufferMemory-memory-01035).
    #[error(
        "resource `{resource}` is in memory type {memory_type} and allows types {bits:#b} (VUID-vkBindImageMemory-memory-01047)"
    )]
    TypeNotAllowed {
        /// The resource.
        resource: String,
        /// The object's memory type.
        memory_type: u32,
        /// The types that the resource allows in this kind of memory.
        bits: u32,
    },
    /// An offset that is no multiple of the alignment of its memory.
    #[error(
        "resource `{resource}` is at offset {offset} in {memory:?}, no multiple of its alignment {alignment} ({rule})"
    )]
    Misaligned {
        /// The resource.
        resource: String,
        /// The kind of memory.
        memory: MemoryKind,
        /// The offset.
        offset: Bytes,
        /// The alignment there.
        alignment: Alignment,
        /// The VUID.
        rule: &'static str,
    },
    /// Fewer bytes than the requirement there.
    #[error("resource `{resource}` has {size} in {memory:?} and needs {needs} there")]
    TooSmall {
        /// The resource.
        resource: String,
        /// The kind of memory.
        memory: MemoryKind,
        /// What it has.
        size: Bytes,
        /// What it needs.
        needs: Bytes,
    },
    /// A placement that ends past its object (VUID-VkBindImageMemoryInfo-pNext-12330 and -01617 and their like).
    #[error(
        "resource `{resource}` takes {size} at offset {offset} of object {object}, which has {object_size} (VUID-VkBindImageMemoryInfo-pNext-12330)"
    )]
    PastObject {
        /// The resource.
        resource: String,
        /// Its offset.
        offset: Bytes,
        /// Its size.
        size: Bytes,
        /// The object.
        object: usize,
        /// The object's size.
        object_size: Bytes,
    },
    /// Two resources alive at once share bytes.
    #[error(
        "`{first}` {first_span} and `{second}` {second_span} are alive at once and share {bytes} from offset {offset}"
    )]
    Overlap {
        /// The one resource.
        first: String,
        /// Its span.
        first_span: Span,
        /// The other.
        second: String,
        /// Its span.
        second_span: Span,
        /// The first shared byte.
        offset: Bytes,
        /// Shared bytes.
        bytes: Bytes,
    },
    /// A buffer and an image alive at once in one page.
    #[error(
        "`{first}` and `{second}`, one a buffer and one an image, are alive at once in one page of {granularity} (bufferImageGranularity)"
    )]
    Granularity {
        /// The one resource.
        first: String,
        /// The other.
        second: String,
        /// The page.
        granularity: Alignment,
    },
    /// Two resources share bytes, and their uses on different queues are in no order.
    #[error(
        "`{first}` and `{second}` share bytes, and their uses in passes `{first_pass}` and `{second_pass}` are on two queues in no order"
    )]
    Concurrent {
        /// The one resource.
        first: String,
        /// The other.
        second: String,
        /// A use of the first.
        first_pass: String,
        /// A use of the second.
        second_pass: String,
    },
    /// A resource that must have an allocation of its own shares one.
    #[error("resource `{resource}` shares object {object} with `{other}`: {why}")]
    Shared {
        /// The resource.
        resource: String,
        /// The object.
        object: usize,
        /// Who else is there.
        other: String,
        /// Why it must not.
        why: &'static str,
    },
    /// A resource that requires a dedicated allocation is not in one (VUID-vkBindImageMemory-image-01445).
    #[error(
        "resource `{resource}` requires a dedicated allocation and is placed in {memory:?} at offset {offset} (VUID-vkBindImageMemory-image-01445)"
    )]
    NotDedicated {
        /// The resource.
        resource: String,
        /// The kind of memory.
        memory: MemoryKind,
        /// Its offset.
        offset: Bytes,
    },
    /// Bytes are shared although the options forbid it.
    #[error("`{first}` and `{second}` share bytes, and the options forbid aliasing")]
    AliasedAgainstOptions {
        /// The one resource.
        first: String,
        /// The other.
        second: String,
    },
}

/// Something lives where it must not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResidenceError {
    /// A resource in tile memory that the rules keep out.
    #[error("resource `{resource}` must not be placed in tile memory: {rule}")]
    Tile {
        /// The resource.
        resource: String,
        /// The rule.
        rule: TileRule,
    },
    /// A lazily allocated resource that needs real memory.
    #[error("resource `{resource}` must not be lazily allocated: {why}")]
    Lazy {
        /// The resource.
        resource: String,
        /// What it needs.
        why: &'static str,
    },
    /// A history resource whose bytes others may take, or that is placed in memory that forgets.
    #[error(
        "history resource `{resource}` is placed in {memory:?} and spans {span}: it must keep its bytes for the whole frame"
    )]
    History {
        /// The resource.
        resource: String,
        /// The kind of memory.
        memory: MemoryKind,
        /// Its span.
        span: Span,
    },
    /// An external resource in the plan's memory, or another one in the caller's.
    #[error("resource `{resource}` is placed in {memory:?} {object}: {why}")]
    External {
        /// The resource.
        resource: String,
        /// The kind of memory.
        memory: MemoryKind,
        /// `with` or `without` an object.
        object: &'static str,
        /// What is wrong with that.
        why: &'static str,
    },
    /// Memory that the options forbid.
    #[error("resource `{resource}` is placed in {memory:?}, and the options forbid it: {option}")]
    AgainstOptions {
        /// The resource.
        resource: String,
        /// The kind of memory.
        memory: MemoryKind,
        /// The option.
        option: &'static str,
    },
    /// A pass uses a tile resource while another object, or none, is bound (VUID-vkCmdDraw-commandBuffer-10746).
    #[error(
        "pass `{pass}` uses `{resource}` of tile object {object} with {bound} bound: it must be that object (VUID-vkCmdDraw-commandBuffer-10746)"
    )]
    WrongObjectBound {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// The object that the placement is in.
        object: usize,
        /// What is bound.
        bound: String,
    },
    /// Contents of tile memory are live while a pass of their queue binds less (VK_QCOM_tile_memory_heap, "Tile Memory").
    #[error(
        "pass `{pass}` binds {bound} of tile memory while `{resource}` is live up to {end} of it: what lies above is lost"
    )]
    BoundTooSmall {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// What is bound.
        bound: Bytes,
        /// Where its bytes end in the tile heap.
        end: Bytes,
    },
    /// What is bound is no tile memory (VUID-VkTileMemoryBindInfoQCOM-memory-10726).
    #[error(
        "pass `{pass}` binds object {object}, which is {memory:?} memory, as tile memory (VUID-VkTileMemoryBindInfoQCOM-memory-10726)"
    )]
    BoundNotTile {
        /// The pass.
        pass: String,
        /// The object.
        object: usize,
        /// What it is.
        memory: MemoryKind,
    },
    /// Tile memory is bound on a queue that cannot (VUID-vkCmdBindTileMemoryQCOM-commandBuffer-cmdpool).
    #[error(
        "pass `{pass}` binds tile memory on queue `{queue}`, which neither draws nor computes (VUID-vkCmdBindTileMemoryQCOM-commandBuffer-cmdpool)"
    )]
    BoundOnTransferQueue {
        /// The pass.
        pass: String,
        /// Its queue.
        queue: String,
    },
}

/// A rule that keeps a resource out of tile memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TileRule {
    /// No tile heap.
    #[error("the device has no tile heap")]
    NoTileHeap,
    /// The contents must outlive the frame, or are the caller's.
    #[error("only transient resources may forget their contents")]
    NotTransient,
    /// No tile requirement, or one of no bytes.
    #[error("the driver reports no tile requirement for it")]
    Refused,
    /// An allocation of its own cannot be one of many aliases of the heap.
    #[error("it requires a dedicated allocation (VUID-vkBindImageMemory-image-01445)")]
    Dedicated,
    /// Used on two queues, each of which has tile contents of its own.
    #[error("passes `{first}` and `{second}` use it on two queues")]
    TwoQueues {
        /// A pass on the one queue.
        first: String,
        /// A pass on the other.
        second: String,
    },
    /// Used in two discard windows.
    #[error("passes `{first}` and `{second}` are in two discard windows")]
    TwoWindows {
        /// A pass in the one window.
        first: String,
        /// A pass in the other.
        second: String,
    },
    /// Copied, or declared so.
    #[error("it is copied{}", by_pass(.pass))]
    Transfer {
        /// The pass, if not by declared usage alone.
        pass: Option<String>,
    },
    /// A resolve target.
    #[error(
        "pass `{pass}` resolves into it (VUID-VkRenderingAttachmentInfo-resolveImageView-10728, -VkFramebufferCreateInfo-pAttachments-12327)"
    )]
    ResolveTarget {
        /// The pass.
        pass: String,
    },
    /// A buffer with usage outside the permitted set.
    #[error("a tile buffer cannot have usage {usage:?} (VUID-VkBufferCreateInfo-usage-10764)")]
    BufferUsage {
        /// The usage that is too much.
        usage: vk::BufferUsageFlags,
    },
}

fn by_pass(pass: &Option<String>) -> String {
    match pass {
        Some(pass) => format!(" by pass `{pass}`"),
        None => ", by its declared usage".to_owned(),
    }
}

/// A lifetime that is split as it must not be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// A store that names no store.
    #[error("store {index} of the plan is none: {why}")]
    Store {
        /// Its place in [`Split::stores`](crate::plan::Split::stores).
        index: usize,
        /// What it is not.
        why: &'static str,
    },
    /// A store of a resource that is not what it says.
    #[error("pass `{pass}` stores `{from}` in `{to}`: {why}")]
    Stretch {
        /// The store.
        pass: String,
        /// What is placed in tile memory.
        from: String,
        /// Where it is stored.
        to: String,
        /// What is wrong.
        why: &'static str,
    },
    /// Without the stores, the frame differs from the described one.
    #[error("without its stores, the plan's frame differs from the one that was described: {what}")]
    Described {
        /// Where it differs.
        what: String,
    },
}

/// A sum that is not the sum.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TotalError {
    /// A sum over the frame.
    #[error("the plan's `{total}` says {says}, and it is {is}")]
    Frame {
        /// The field of [`Totals`](crate::plan::Totals).
        total: &'static str,
        /// What the plan says.
        says: Bytes,
        /// What it is.
        is: Bytes,
    },
    /// The tile residents of one pass.
    #[error("the plan says that {says} of tile memory are live in pass `{pass}`, and it is {is}")]
    Live {
        /// The pass.
        pass: String,
        /// What the plan says.
        says: Bytes,
        /// What it is.
        is: Bytes,
    },
}
