//! Errors of lowering.

/// An error of lowering.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// The number of device queues differs from that of declared queues.
    #[error("frame `{frame}` declares {declared} queues, but {given} device queues were given")]
    QueueCount {
        /// Name of the frame.
        frame: String,
        /// Number of its queues.
        declared: usize,
        /// Device queues given.
        given: usize,
    },
    /// The plan was made only for comparison.
    #[error(
        "the plan of frame `{frame}` treats the whole frame as one discard window, which no device supports: plan with `WindowRule::Device`"
    )]
    WholeFrame {
        /// Name of the frame.
        frame: String,
    },
    /// Executing the plan needs more than the previous users of bytes.
    #[error("the plan of frame `{frame}` needs more than aliasing: {why}")]
    NotOnlyAliasing {
        /// Name of the frame.
        frame: String,
        /// The need beyond aliasing, and how to plan without it.
        why: &'static str,
    },
    /// A render pass cannot be begun on the device.
    #[error("pass `{pass}` cannot be recorded on this device: {why}")]
    UnsupportedPass {
        /// Name of the pass.
        pass: String,
        /// The demand and the limit.
        why: &'static str,
    },
    /// The contents that earlier work left in a history belong to another queue family.
    #[error(
        "history `{resource}` belongs to queue family {owner} after the previous frame, but family {family} reads it: run all frames on the same queues"
    )]
    HistoryFamily {
        /// Name of the resource.
        resource: String,
        /// The family that owns it.
        owner: u32,
        /// The family that reads it.
        family: u32,
    },
    /// The tables are those of another frame.
    #[error("the tables are for frame `{tables}`, but this frame is `{frame}`: lower its plan")]
    OtherFrame {
        /// The frame that was lowered.
        tables: String,
        /// The frame that the tables were used with.
        frame: String,
    },
    /// The tables break a rule; in builds with debug assertions.
    #[cfg(feature = "check")]
    #[error(transparent)]
    Check(#[from] super::check::LoweredCheckError),
    /// A text is not a table document.
    #[error(transparent)]
    Json(#[from] tileheap_json::Error),
}
