//! What makes lowering impossible.

/// What makes lowering impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// There is not one device queue for each declared queue.
    #[error("frame `{frame}` declares {declared} queues, and {given} are given to run them")]
    QueueCount {
        /// The frame.
        frame: String,
        /// Its queues.
        declared: usize,
        /// Device queues given.
        given: usize,
    },
    /// The plan was made for comparison.
    #[error(
        "the plan of frame `{frame}` takes the whole frame for one discard window, which no device has: plan with `WindowRule::Device`"
    )]
    WholeFrame {
        /// The frame.
        frame: String,
    },
    /// More than the previous users of bytes is needed to execute the plan.
    #[error("the plan of frame `{frame}` needs more than aliasing: {why}")]
    NotOnlyAliasing {
        /// The frame.
        frame: String,
        /// What it needs, and how to plan without it.
        why: &'static str,
    },
    /// A render pass cannot be begun on the device.
    #[error("pass `{pass}` cannot be recorded on this device: {why}")]
    UnsupportedPass {
        /// The pass.
        pass: String,
        /// The demand and the limit.
        why: &'static str,
    },
    /// What earlier work left in a history belongs to another queue family.
    #[error(
        "history `{resource}` was left to queue family {owner}, and family {family} reads it: the frame before must run on the same queues"
    )]
    HistoryFamily {
        /// The resource.
        resource: String,
        /// The family that owns it.
        owner: u32,
        /// The family that reads it.
        family: u32,
    },
    /// The tables are those of another frame.
    #[error("the tables are those of frame `{tables}`, and this frame is `{frame}`: lower its plan")]
    OtherFrame {
        /// The frame that was lowered.
        tables: String,
        /// The frame at hand.
        frame: String,
    },
    /// The tables break a rule; in builds with debug assertions.
    #[error(transparent)]
    Check(#[from] super::check::CheckError),
    /// A text is no table document.
    #[error(transparent)]
    Json(#[from] tileheap_json::Error),
}
