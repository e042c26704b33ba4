//! Errors in the description of a frame.

/// Error in the description of a frame. Every message names the pass or resource and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A rule of frame descriptions is broken.
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
    /// Text that is not a valid list of weights.
    #[error("weights JSON: {0}")]
    Weights(#[source] tileheap_json::Error),
    /// Text that is not a valid list of assumptions of reach.
    #[error("reach JSON, {0}")]
    Reaches(#[source] tileheap_json::JsonSyntaxError),
    /// Text that is not a valid description of a frame.
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
    /// A batch, command buffer or pass was added to a submit, batch or command buffer other than the last one.
    OutOfOrder,
    /// The frame has no passes.
    Empty,
    /// Two objects of one kind share a name.
    DuplicateName,
    /// A reference to an id or name that the frame does not declare.
    Unknown,
    /// A compute or transfer pass that is marked for tile shading.
    TileShading,
    /// An invalid weight, or a cost of repeating a pass that exceeds the limit.
    Weight,
    /// An external image with separate levels, or an image that is declared as a level of another image, but cannot be such a level.
    SeparateLevels,
    /// An image without texels.
    ZeroExtent,
    /// A buffer without bytes, or an image without levels, layers or samples.
    ZeroCount,
    /// An access that the pass, or the type or format of the resource, does not allow.
    Misuse,
    /// An access to levels, layers or slices that the image does not have.
    Range,
    /// An access needs contents that were never written.
    ReadBeforeWrite,
    /// One pass writes one resource through two accesses.
    TwoWriters,
    /// Subpasses that share data in another way than through attachments at the same pixel, or whose numbers are not consecutive.
    Subpass,
    /// A pass that is declared to keep its outputs when it is skipped, but overwrites one.
    Optional,
    /// An access to the previous version of a resource that has none, or a write to a previous version.
    Previous,
    /// A pass on a queue that cannot run it.
    QueueCapability,
    /// A wait for a semaphore that no earlier batch of the frame signals.
    Cyclic,
    /// More than one signal, or more than one wait, of a semaphore inside the frame.
    SemaphoreReuse,
    /// A frame semaphore that is signaled but never waited for, which would leave a binary semaphore signaled.
    NeverWaited,
    /// Uses of a resource on two queues, neither of which is ordered before the other.
    Unordered,
    /// A resolve attachment whose source is not an attachment of the pass.
    ResolveSource,
    /// A pass recorded in secondary command buffers that is not a render pass.
    SecondaryContents,
    /// A pass that the runtime would record, but that is not a valid store or border copy.
    StoreContents,
    /// A name that is empty or cannot be printed on one line.
    Name,
    /// More objects of one kind, or more parts of images, than the limit.
    TooMany,
    /// A resource larger than the limit of 1 TiB.
    TooLarge,
    /// Tile lists that are not in a buffer, do not fit in it, have no bytes, or whose tiles have no pixels.
    Lists,
    /// A scale that is not a finite positive number.
    Scale,
    /// A clear value that is not a number.
    ClearValue,
}

impl FrameRule {
    /// The error for a description that breaks this rule.
    pub(super) fn broken(self, message: String) -> FrameError {
        FrameError::Broken { rule: self, message }
    }
}
