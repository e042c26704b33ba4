//! What can be wrong with a frame's description.

/// What is wrong with a frame's description. Every message names the pass or resource and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A rule of descriptions is broken.
    #[error("{message}")]
    Broken {
        /// The rule.
        rule: FrameRule,
        /// How, and what to do.
        message: String,
    },
    /// A rule of Vulkan is broken that holds on every device.
    #[error(transparent)]
    InvalidUsage(#[from] super::valid_usage::InvalidUsage),
    /// A text that is no list of weights.
    #[error("weights JSON: {0}")]
    Weights(#[source] tileheap_json::Error),
    /// A text that is no description of a frame.
    #[error(transparent)]
    Json(#[from] super::json::JsonError),
    /// A loose description that means nothing, or contradicts itself.
    #[error(transparent)]
    Import(#[from] super::import::ImportError),
}

/// What breaks the rules of descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameRule {
    /// A batch, command buffer or pass was added to something that is not the last of its kind.
    OutOfOrder,
    /// No pass at all.
    Empty,
    /// Two things of one kind share a name.
    DuplicateName,
    /// An id or name that the frame does not have.
    Unknown,
    /// A pass without tiles is marked as one with tile shading.
    TileShading,
    /// A weight that cannot be.
    Weight,
    /// An external image whose levels are to be images of their own, or an image that cannot be the level of another one.
    SeparateLevels,
    /// An image without texels.
    ZeroExtent,
    /// A buffer without bytes, or an image without levels, layers or samples.
    ZeroCount,
    /// An access that resources of this type or format cannot have.
    Misuse,
    /// An access to levels, layers or slices that the image does not have.
    Range,
    /// Contents are needed that nothing wrote.
    ReadBeforeWrite,
    /// One pass writes one resource through two accesses.
    TwoWriters,
    /// Subpasses that share more than the pixels of attachments, or are no run of numbers.
    Subpass,
    /// A pass that keeps its outputs when it is left out, and overwrites one.
    Optional,
    /// The previous version of something that has none, or is written.
    Previous,
    /// A pass on a queue that cannot run it.
    QueueCapability,
    /// A wait that can never end, or only by an earlier frame.
    Cyclic,
    /// More than one signal, or more than one wait, of a semaphore inside the frame.
    SemaphoreReuse,
    /// A frame semaphore that is signalled and never waited for, which would leave a binary one signalled.
    NeverWaited,
    /// A use on one queue that neither follows nor precedes a use on another.
    Unordered,
    /// A resolve attachment whose source is not an attachment of the pass.
    ResolveSource,
    /// Secondary contents outside a render pass.
    SecondaryContents,
    /// A pass that the runtime is to record is no store.
    StoreContents,
    /// A name that cannot be printed on one line, or none.
    Name,
    /// A table larger than any real frame's.
    TooMany,
    /// A resource larger than any memory.
    TooLarge,
    /// A scale that is not a positive number.
    Scale,
    /// A clear value that is not a number.
    ClearValue,
}

impl FrameRule {
    /// The error that a description breaks the rule, in these words.
    pub(super) fn broken(self, message: String) -> FrameError {
        FrameError::Broken { rule: self, message }
    }
}
