//! Errors that the checker finds in tables.

/// An error that the checker found in the tables of a lowered frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct LoweredCheckError {
    /// The broken rule.
    pub rule: LoweringRule,
    /// Description of the error, with names, the required value and the value found.
    pub message: String,
}

/// The rules for tables, in the order in which they are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoweringRule {
    /// Structure: indices and runs must be inside their tables.
    Index,
    /// Structure: a table must have as many rows as the frame requires.
    Rows,
    /// Structure: the rows must match the frame's items, each once and in order.
    Order,
    /// Structure: an access must name an image or buffer that holds the version that the access declares.
    Object,
    /// The named parameter must have a value that the frame, the device and the specification allow.
    Parameter(&'static str),
    /// Needed contents must be defined.
    Contents,
    /// Layout: a barrier must name the image's current layout (VUID-VkImageMemoryBarrier2-oldLayout-01197).
    OldLayout,
    /// Layout: an image must be used, and leave the frame, in its current layout (VUID-vkCmdDraw-None-09600 and the like).
    Layout,
    /// Layout: contents must be used by the queue family that owns them.
    Owner,
    /// Layout: an acquire must follow the release that belongs to it (VUID-vkQueueSubmit2-commandBuffer-03879).
    NotReleased,
    /// Layout: a release must be acquired before the next use.
    NotAcquired,
    /// Hazard: if one of two uses of the same bytes writes, the later one must wait for the earlier.
    Execution,
    /// Hazard: writes of the earlier use must be made available and visible to the later one.
    Memory,
    /// State after the frame: a history must be in the state that `after` gives.
    AfterContents,
    /// State after the frame: waiting for the uses that `after` lists must imply waiting for all uses.
    AfterUncovered,
    /// State after the frame: listed uses must have timeline values that the frame reaches.
    AfterPoint,
}
