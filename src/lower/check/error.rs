//! Errors found in tables.

/// An error found in tables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct LoweredCheckError {
    /// The broken rule.
    pub rule: LoweringRule,
    /// Description with the names, the demand and the limit.
    pub message: String,
}

/// The rules for tables, in the order in which they are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoweringRule {
    /// Structure: indices and runs are inside their tables.
    Index,
    /// Structure: a table has as many rows as the frame requires.
    Rows,
    /// Structure: the rows match the frame's items, each once and in order.
    Order,
    /// Structure: an access names an image or buffer that holds the version that it declares.
    Object,
    /// The named parameter has a value that the frame, the device and the specification allow.
    Parameter(&'static str),
    /// Needed contents are defined.
    Contents,
    /// Layout: a barrier names the image's current layout (VUID-VkImageMemoryBarrier2-oldLayout-01197).
    OldLayout,
    /// Layout: an image is used, and leaves the frame, in its current layout (VUID-vkCmdDraw-None-09600 and the like).
    Layout,
    /// Layout: contents are used by the queue family that owns them.
    Owner,
    /// Layout: an acquire follows the release that belongs to it (VUID-vkQueueSubmit2-commandBuffer-03879).
    NotReleased,
    /// Layout: a release is acquired before the next use.
    NotAcquired,
    /// Hazard: if one of two uses of the same bytes writes, the later one waits for the earlier.
    Execution,
    /// Hazard: writes of the earlier use are made available and visible to the later one.
    Memory,
    /// State after the frame: a history is in the state that `after` gives.
    AfterContents,
    /// State after the frame: waiting for the uses that `after` lists implies waiting for all uses.
    AfterUncovered,
    /// State after the frame: listed uses have values that the frame reaches.
    AfterPoint,
}
