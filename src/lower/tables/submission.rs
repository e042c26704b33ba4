//! Submissions: command buffers, batches, and the semaphores that they wait for and signal.

use ash::vk;
use serde::{Deserialize, Serialize};

use crate::frame::{BatchId, CommandBufferId, SubmitId};
use crate::lower::ids::DeviceQueueIndex;
use crate::names;
use crate::units::Run;

/// A command buffer of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct CommandBufferRow {
    /// The frame's command buffer.
    pub commands: CommandBufferId,
    /// The device queue that the command buffer is submitted to.
    pub queue: DeviceQueueIndex,
    /// A run of [`Lowered::passes`](super::Lowered::passes).
    pub passes: Run,
}

/// The kind of a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum SemaphoreKind {
    /// A semaphore that the frame declares.
    Declared,
    /// The timeline semaphore of a device queue.
    Queue,
}

/// A semaphore that a batch waits for or signals, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct SemaphoreValue {
    /// Declared, or a queue's timeline.
    pub kind: SemaphoreKind,
    /// The index of the frame's semaphore, or of the device queue.
    pub index: u32,
    /// For a queue's timeline, relative to the start of the frame: 1 is the frame's first batch there, 0 the last one before it. Add the number of
    /// batches that were submitted to the queue before the frame; leave out a wait for a sum of 0 or less. For a declared timeline semaphore, 0: the
    /// caller supplies its value.
    pub value: i64,
}

impl SemaphoreValue {
    /// A semaphore that the frame declares.
    pub const fn declared(index: u32) -> SemaphoreValue {
        let (kind, value) = (SemaphoreKind::Declared, 0);
        SemaphoreValue { kind, index, value }
    }

    /// A value of a queue's timeline.
    pub(crate) const fn of_queue(queue: DeviceQueueIndex, value: i64) -> SemaphoreValue {
        let (kind, index) = (SemaphoreKind::Queue, queue.0);
        SemaphoreValue { kind, index, value }
    }

    /// The queue, if this is a queue's timeline.
    pub fn queue(self) -> Option<DeviceQueueIndex> {
        (self.kind == SemaphoreKind::Queue).then_some(DeviceQueueIndex(self.index))
    }
}

/// `VkSemaphoreSubmitInfo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct SemaphoreRow {
    /// The semaphore and its value.
    pub semaphore: SemaphoreValue,
    /// `stageMask`.
    #[serde(with = "names::bits")]
    pub stages: vk::PipelineStageFlags2,
}

/// `VkSubmitInfo2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct BatchRow {
    /// The frame's batch.
    pub batch: BatchId,
    /// True for the frame's first batch on its device queue. If other work that uses the frame's memory was submitted after the tables were lowered,
    /// add waits at `VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT` here, for the latest value of each queue that ran it: for tile memory only this queue, for
    /// ordinary memory any queue.
    pub is_first: bool,
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
#[repr(C)]
pub struct SubmitRow {
    /// The frame's submit.
    pub submit: SubmitId,
    /// The queue.
    pub queue: DeviceQueueIndex,
    /// A run of [`Lowered::batches`](super::Lowered::batches).
    pub batches: Run,
}
