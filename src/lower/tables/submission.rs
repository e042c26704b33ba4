//! What is submitted: command buffers, batches, and the semaphores that they wait for and signal.

use ash::vk;
use serde::{Deserialize, Serialize};

use crate::frame::{BatchId, CommandBufferId, SubmitId};
use crate::lower::ids::DeviceQueueIndex;
use crate::names;
use crate::units::Run;

/// A command buffer of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandBufferRow {
    /// The frame's command buffer.
    pub commands: CommandBufferId,
    /// A run of [`Lowered::passes`](super::Lowered::passes).
    pub passes: Run,
}

/// What a batch waits for or signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Semaphore {
    /// A semaphore that the frame declares.
    Declared(u32),
    /// The timeline semaphore of a device queue. The value counts from the batches that had been submitted to the queue before this
    /// frame: 1 is the frame's first batch there, 0 the last one before it.
    Queue {
        /// The queue.
        queue: DeviceQueueIndex,
        /// The value, relative to the frame's begin.
        value: i64,
    },
}

/// `VkSemaphoreSubmitInfo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SemaphoreRow {
    /// Which.
    pub semaphore: Semaphore,
    /// `stageMask`.
    #[serde(with = "names::bits")]
    pub stages: vk::PipelineStageFlags2,
}

/// `VkSubmitInfo2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchRow {
    /// The frame's batch.
    pub batch: BatchId,
    /// A run of [`Lowered::waits`](super::Lowered::waits).
    pub waits: Run,
    /// A run of [`Lowered::command_buffers`](super::Lowered::command_buffers).
    pub command_buffers: Run,
    /// A run of [`Lowered::signals`](super::Lowered::signals).
    pub signals: Run,
}

/// `vkQueueSubmit2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmitRow {
    /// The frame's submit.
    pub submit: SubmitId,
    /// The queue.
    pub queue: DeviceQueueIndex,
    /// A run of [`Lowered::batches`](super::Lowered::batches).
    pub batches: Run,
}
