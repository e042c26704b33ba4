//! Checks the order of accesses and the contents of memory with `tileheap-sync`.
//!
//! ```text
//! recording   Log: accesses, barriers, events, discards                    per command buffer, without a lock
//! submit      Tracker: the model, which runs each log once it is submitted  per device
//! report      Findings: messages, with the position of each command
//! ```
//! Every queue has separate tile memory: a log is translated for the queue that it is submitted to. Poisoning does not depend on the model: the bytes
//! to poison are known while commands are recorded.

use ash::vk;
use ash::vk::Handle;
use tileheap_sync::program::{EventId, FenceId, QueueId, SemaphoreId};

pub(crate) mod log;
pub(crate) mod mistakes;
pub(crate) mod ordinary;
pub(crate) mod passes;
pub(crate) mod report;
mod sites;
#[cfg(test)]
mod tests;
pub(crate) mod tracker;
pub(crate) mod unseen;

fn event_id(event: vk::Event) -> EventId {
    EventId(event.as_raw())
}

fn fence_id(fence: vk::Fence) -> FenceId {
    FenceId(fence.as_raw())
}

fn queue_id(queue: vk::Queue) -> QueueId {
    QueueId(queue.as_raw())
}

fn semaphore_id(semaphore: vk::Semaphore) -> SemaphoreId {
    SemaphoreId(semaphore.as_raw())
}
