//! Positions in the tables, and what they stand for.

use serde::{Deserialize, Serialize};

/// A queue of the device, numbered densely: declared queues with the same number are one `VkQueue`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeviceQueueIndex(pub u32);

/// An image or a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Object {
    /// Row of [`Lowered::images`](super::Lowered::images).
    Image(u32),
    /// Row of [`Lowered::buffers`](super::Lowered::buffers).
    Buffer(u32),
}
