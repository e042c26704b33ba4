//! Errors in the description of a frame.

/// Error in the description of a frame. Every message names the pass or resource and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A rule of descriptions is broken.
    #[error("{message}")]
    Broken {
        /// The rule.
        rule: FrameRule,
        /// The violation, and what to do.
        message: String,
    },
    /// A rule of Vulkan that holds on every device is broken.
    #[error(transparent)]
    InvalidUsage(#[from] super::valid_usage::InvalidUsage),
    /// A text that is not a list of weights.
    #[error("weights JSON: {0}")]
    Weights(#[source] tileheap_json::Error),
    /// A text that is not a description of a frame.
    #[error(transparent)]
    Json(#[from] super::json::JsonError),
    /// A loose description that is meaningless or contradictory.
    #[cfg(feature = "import")]
    #[error(transparent)]
    Import(#[from] super::import::ImportError),
}

/// Rules of frame descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameRule {
    /// A batch, command buffer or pass was added to something that is not the last of its kind.
    OutOfOrder,
    /// There are no passes.
    Empty,
    /// Two objects of one kind share a name.
    DuplicateName,
    /// An id or name that the frame does not have.
    Unknown,
    /// A pass without tiles is marked as one with tile shading.
    TileShading,
    /// An invalid weight, or a cost above the limit for repeating a pass.
    Weight,
    /// An external image with separate levels, or an image that cannot be the level of another one.
    SeparateLevels,
    /// An image without texels.
    ZeroExtent,
    /// A buffer without bytes, or an image without levels, layers or samples.
    ZeroCount,
    /// An access that is not possible for the type or format of the resource.
    Misuse,
    /// An access to levels, layers or slices that the image does not have.
    Range,
    /// An access needs contents that were never written.
    ReadBeforeWrite,
    /// One pass writes one resource through two accesses.
    TwoWriters,
    /// Subpasses that share more than the pixels of attachments, or whose numbers are not consecutive.
    Subpass,
    /// A pass that keeps its outputs when it is skipped, but overwrites one.
    Optional,
    /// An access to the previous version of a resource that has none, or a write to a previous version.
    Previous,
    /// A pass on a queue that cannot run it.
    QueueCapability,
    /// A wait that can never end, or that only an earlier frame can end.
    Cyclic,
    /// More than one signal, or more than one wait, of a semaphore inside the frame.
    SemaphoreReuse,
    /// A frame semaphore that is signaled but never waited for, which would leave a binary one signaled.
    NeverWaited,
    /// Uses of a resource on two queues, neither of which is ordered before the other.
    Unordered,
    /// A resolve attachment whose source is not an attachment of the pass.
    ResolveSource,
    /// A pass recorded in secondary command buffers that is not a render pass.
    SecondaryContents,
    /// A pass that the runtime is to record, but that is not a valid store or border copy.
    StoreContents,
    /// A name that is empty or cannot be printed on one line.
    Name,
    /// A table with more rows than any real frame has.
    TooMany,
    /// A resource larger than any device's memory.
    TooLarge,
    /// Tile lists that do not fit in the buffer, that have no bytes, or whose tiles have no pixels.
    Lists,
    /// A scale that is not a positive number.
    Scale,
    /// A clear value that is not a number.
    ClearValue,
}

impl FrameRule {
    /// The error that a description breaks this rule, with a message.
    pub(super) fn broken(self, message: String) -> FrameError {
        FrameError::Broken { rule: self, message }
    }
}
