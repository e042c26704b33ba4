//! What is wrong with tables.

use crate::frame::ResourceId;

/// What is wrong with tables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct CheckError {
    /// The rule that is broken.
    pub rule: Rule,
    /// Of a hazard, the resources that are used.
    pub resources: Vec<ResourceId>,
    /// How: with the names, the demand and the limit.
    pub message: String,
}

/// The rules of tables, in the order in which they are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Structure: indices and runs are inside their tables.
    Index,
    /// Structure: a table has as many rows as the frame has of it.
    Rows,
    /// Structure: each row is what the frame has there, once and in order.
    Order,
    /// Structure: an access names an image or buffer that holds the version that it declares.
    Object,
    /// A parameter, by its name, is one that the frame, the device and the specification allow.
    Parameter(&'static str),
    /// Contents that are needed are there.
    Contents,
    /// Layout: a barrier names the layout that the image is in (VUID-VkImageMemoryBarrier2-oldLayout-01197).
    OldLayout,
    /// Layout: an image is used, and leaves the frame, in the layout that it is in (VUID-vkCmdDraw-None-09600 and the like).
    Layout,
    /// Layout: contents are used by the queue family that owns them.
    Owner,
    /// Layout: an acquire follows the release that belongs to it (VUID-vkQueueSubmit2-commandBuffer-03879).
    NotReleased,
    /// Layout: a release is acquired before the next use.
    NotAcquired,
    /// Hazard: of two uses of the same bytes, one of which writes, the later one waits for the earlier.
    Execution,
    /// Hazard: and what was written is made available and visible to it.
    Memory,
    /// What the frame leaves: a history in the state that `after` says.
    AfterContents,
    /// What the frame leaves: whatever waits for the uses that `after` lists waits for all.
    AfterUncovered,
    /// What the frame leaves: uses at values that the frame reaches.
    AfterPoint,
}
