//! Errors of lowering.

/// A count with its noun: `1 queue`, `2 queues`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// An error of lowering.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// The number of device queues differs from the number of queues that the frame declares.
    #[error(
        "frame `{frame}` declares {}, but {} given",
        counted(*.declared, "queue"),
        counted(*.given, "device queue") + if *.given == 1 { " was" } else { " were" }
    )]
    QueueCount {
        /// Name of the frame.
        frame: String,
        /// Number of queues that the frame declares.
        declared: usize,
        /// Number of device queues given.
        given: usize,
    },
    /// The plan was made only for comparison, with `WindowRule::WholeFrame`.
    #[error(
        "the plan of frame `{frame}` treats the whole frame as one discard window, which no device supports: plan with `WindowRule::Device`"
    )]
    WholeFrame {
        /// Name of the frame.
        frame: String,
    },
    /// The plan needs more than barriers between resources that share bytes, or its options permit more, so it cannot be lowered for aliasing only.
    #[error("the plan of frame `{frame}` cannot be used for aliasing only: {why}")]
    NotOnlyAliasing {
        /// Name of the frame.
        frame: String,
        /// The feature beyond aliasing that the plan needs or permits, and how to plan without it.
        why: &'static str,
    },
    /// A render pass cannot be recorded on the device.
    #[error("pass `{pass}` cannot be recorded on this device: {why}")]
    UnsupportedPass {
        /// Name of the pass.
        pass: String,
        /// The operation of the pass, and the feature that it requires.
        why: &'static str,
    },
    /// The contents that earlier work left in a history belong to another queue family.
    #[error(
        "history `{resource}` belongs to queue family {owner} after the previous frame, but family {family} reads it: run all frames on the same queues"
    )]
    HistoryFamily {
        /// Name of the resource.
        resource: String,
        /// The queue family that owns the resource.
        owner: u32,
        /// The queue family that reads the resource.
        family: u32,
    },
    /// The tables were lowered for another frame.
    #[error("the tables are for frame `{tables}`, but this frame is `{frame}`: lower its plan")]
    OtherFrame {
        /// Name of the frame that was lowered.
        tables: String,
        /// Name of the frame that the tables were used with.
        frame: String,
    },
    /// The tables break a rule. Checked only in builds with debug assertions.
    #[cfg(feature = "check")]
    #[error(transparent)]
    Check(#[from] super::check::LoweredCheckError),
    /// Text that is not a valid document of lowered tables.
    #[error(transparent)]
    Json(#[from] tileheap_json::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_queues_agree_with_their_nouns() {
        for (declared, given, expected) in [
            (1, 3, "declares 1 queue, but 3 device queues were given"),
            (2, 1, "declares 2 queues, but 1 device queue was given"),
        ] {
            let frame = "f".to_owned();
            let error = LowerError::QueueCount {
                frame,
                declared,
                given,
            };
            assert_eq!(error.to_string(), format!("frame `f` {expected}"));
        }
    }
}
