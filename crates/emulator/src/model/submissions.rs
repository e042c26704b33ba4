//! Submission of batches: contents that survive from one command buffer to the next, and discards at the end of a
//! batch.
//!
//! ```text
//! application   [ A  B ]                  [ C ]                       batches of one call
//! driver        [wait] [ A  p  B ] [ P ] [signal]  [ C ] ...
//! ```
//! `p` poisons the bytes that `B` discards at its first action command, since they depend on what ran before it; `P` poisons all that can be live at
//! the end of the window. Both are command buffers of the layer, and everything between the application's batches is a batch of the layer: the
//! application's semaphores, fence and chained structures are unchanged, and submission order makes the result correct. Waits and signals are added
//! on devices with several queues, which use tile memory one after the other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::batches;
use tileheap_layer::sharded::Sharded;

use super::contents::{Contents, Window};
use super::discards::DiscardReason;
use super::finding::Finding;
use super::objects::Object;
use super::position::Submit;
use super::trace::Trace;
use crate::tables::messages::MessageId;

/// The queues of a device, and the order in which they use tile memory.
pub(crate) struct Queues {
    families: Sharded<u32>,
    /// True if the device has timeline semaphores, which order its queues.
    pub(crate) has_timeline: bool,
    order: Mutex<QueueOrder>,
    submits: AtomicU64,
}

/// The last use of tile memory on any queue, and the timeline semaphore that orders the uses of all queues.
#[derive(Default)]
pub(crate) struct QueueOrder {
    /// Null until first needed.
    pub(crate) semaphore: vk::Semaphore,
    /// The value that the last use of tile memory signals.
    pub(crate) value: u64,
    /// The queue of the last use.
    pub(crate) last: Option<vk::Queue>,
    /// The state of tile memory after the last use.
    window: Window,
}

impl Queues {
    pub(crate) fn new(has_timeline: bool) -> Queues {
        Queues {
            families: Sharded::default(),
            has_timeline,
            order: Mutex::default(),
            submits: AtomicU64::new(0),
        }
    }

    /// Counts a submit call, and returns its number, from 1.
    pub(crate) fn count_submit(&self) -> u64 {
        self.submits.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Records a queue's family.
    pub(crate) fn remember(&self, queue: vk::Queue, family: u32) {
        self.families.insert(queue.as_raw(), family);
    }

    /// A queue's family; 0 if it was not recorded.
    pub(crate) fn family(&self, queue: vk::Queue) -> u32 {
        self.families.get(queue.as_raw()).unwrap_or(0)
    }

    /// Locks the order of the queues.
    pub(crate) fn order(&self) -> MutexGuard<'_, QueueOrder> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A batch to submit to the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Batch {
    /// A batch of the application, by index, and the command buffers that replace its own, if any.
    Application(usize, Option<Vec<vk::CommandBuffer>>),
    /// A batch that consists of one command buffer of the layer, which poisons tile memory.
    Poison(vk::CommandBuffer),
    /// Waits for the last use of tile memory on another queue.
    Wait(vk::Semaphore, u64),
    /// Signals that this submission's use of tile memory has ended.
    Signal(vk::Semaphore, u64),
}

/// A batch of the application.
pub(crate) struct ApplicationBatch {
    pub(crate) batch: batches::Batch,
    /// True if the batch chains structures with an entry per command buffer, so that no command buffer may be added.
    pub(crate) is_fixed: bool,
    /// True if one of the batch's command buffers has bound tile memory.
    pub(crate) uses_tile: bool,
}

/// A submission that uses tile memory.
pub(crate) struct Submission<'a> {
    pub(crate) device: vk::Device,
    pub(crate) queue: vk::Queue,
    /// The number of the submit call on the device.
    pub(crate) number: u64,
    pub(crate) application_batches: &'a [ApplicationBatch],
    /// True if contents survive between batches of one submission.
    pub(crate) queue_submit_boundary: bool,
    pub(crate) has_timeline: bool,
    pub(crate) trace: Option<&'a Trace>,
}

/// The batches for the driver, and the value that the last one signals.
pub(crate) struct Batches {
    pub(crate) batches: Vec<Batch>,
    pub(crate) value: u64,
}

impl Submission<'_> {
    /// The position of a batch.
    pub(crate) fn submit(&self, batch: usize) -> Submit {
        Submit {
            number: self.number,
            batch,
            queue: self.queue.as_raw(),
        }
    }

    /// The reason why contents become undefined at the end of a batch; `None` if they survive it. This is known before the batches
    /// run.
    pub(crate) fn end_discard(&self, batch: usize) -> Option<DiscardReason> {
        if !self.queue_submit_boundary {
            return Some(DiscardReason::BatchEnd);
        }
        let goes_on = self
            .application_batches
            .iter()
            .skip(batch + 1)
            .any(|later| later.uses_tile);
        (!goes_on).then_some(DiscardReason::SubmitEnd)
    }

    /// The batches to submit to the driver: those of the application, with poison and semaphores added.
    ///
    /// From `raw` on, bytes in use have the driver's initial contents: they are poisoned first. `poison` returns the command buffer that poisons the
    /// heap from an offset on, or `None` if there is nothing to poison. `contents` returns the effect of a command buffer, or `None` if it has none.
    ///
    /// # Errors
    /// Those of `poison`.
    pub(crate) fn batches(
        &self,
        order: &mut QueueOrder,
        mut raw: Option<u64>,
        poison: impl Fn(u64) -> Result<Option<vk::CommandBuffer>, vk::Result>,
        contents: impl Fn(vk::CommandBuffer) -> Option<Contents>,
        findings: &mut Vec<Finding>,
    ) -> Result<Batches, vk::Result> {
        let mut batches = Vec::new();
        let mut value = order.value;
        let mut waits = self.has_timeline && order.last.is_some_and(|last| last != self.queue);
        // The first window begins without contents.
        let mut window = std::mem::take(&mut order.window);
        for (index, batch) in self.application_batches.iter().enumerate() {
            let takes_part = batch.uses_tile || window.live > 0;
            if !takes_part {
                batches.push(Batch::Application(index, None));
                continue;
            }
            if std::mem::take(&mut waits) {
                batches.push(Batch::Wait(order.semaphore, order.value));
            }
            if let Some(first) = raw.take() {
                batches.extend(poison(first)?.map(Batch::Poison));
            }
            let mut commands = Vec::with_capacity(batch.batch.commands.len() + 1);
            for handle in &batch.batch.commands {
                let discards = contents(*handle).and_then(|contents| window.run(contents));
                if let Some(first) = discards {
                    commands.extend(poison(first)?);
                }
                commands.push(*handle);
            }
            let added = commands.len() > batch.batch.commands.len();
            if added && batch.is_fixed {
                let device = Object::of(self.device);
                let text = "in a batch with VkDeviceGroupSubmitInfo, to which the emulator cannot add commands, contents stay readable after a command buffer with less tile memory bound discards them";
                findings.push(Finding {
                    submit: Some(self.submit(index)),
                    ..Finding::new(MessageId::CannotEmulate, device, text)
                });
            }
            batches.push(Batch::Application(
                index,
                (added && !batch.is_fixed).then_some(commands),
            ));
            if let Some(trace) = self.trace {
                let handles = batch.batch.commands.iter().map(|commands| commands.as_raw());
                trace.submit(self.submit(index), handles, window.live);
            }
            if self.end_discard(index).is_some() {
                if window.live > 0 {
                    batches.extend(poison(0)?.map(Batch::Poison));
                }
                window.live = 0;
                if self.has_timeline {
                    value += 1;
                    batches.push(Batch::Signal(order.semaphore, value));
                }
            }
        }
        order.window = window;
        Ok(Batches { batches, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(queue_submit_boundary: bool, uses: &[bool]) -> Vec<bool> {
        let given = |uses_tile: &bool| ApplicationBatch {
            batch: batches::Batch::default(),
            is_fixed: false,
            uses_tile: *uses_tile,
        };
        let given: Vec<_> = uses.iter().map(given).collect();
        let submission = Submission {
            device: vk::Device::null(),
            queue: vk::Queue::null(),
            number: 1,
            application_batches: &given,
            queue_submit_boundary,
            has_timeline: false,
            trace: None,
        };
        let all = (0..uses.len()).map(|batch| submission.end_discard(batch).is_some());
        all.collect()
    }

    #[test]
    fn contents_end_with_their_batch_or_with_the_last_batch_that_uses_them() {
        let uses = [true, false, true, false];
        assert_eq!(ends(false, &uses), [true; 4]);
        assert_eq!(ends(true, &uses), [false, false, true, true]);
        assert_eq!(ends(true, &[false, false]), [true; 2]);
    }
}
