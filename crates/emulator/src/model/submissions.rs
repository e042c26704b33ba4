//! Submission: contents that survive from one command buffer to the next, and discards at the end of a batch.
//!
//! ```text
//! application   [ A  B ]                  [ C ]                       batches of one call
//! below         [wait] [ A  p  B ] [ P ] [signal]  [ C ] ...
//! ```
//! `p` poisons what `B` discards at its first action command, since that depends on what ran before it; `P` poisons all that
//! can be live where the window ends. Both are command buffers of the layer's own, and everything between the application's
//! batches is a batch of the layer's: the application's semaphores, fence and chained structures stay where they are, and
//! submission order makes it right. Waits and signals are there on devices with several queues, which use tile memory one after
//! the other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::batches;
use tileheap_layer::sharded::Sharded;

use super::contents::Window;
use super::finding::Finding;
use super::history::DiscardReason;
use super::objects::Object;
use super::position::Submit;
use super::trace::Trace;
use crate::tables::messages::MessageId;

/// The queues of a device, and the order in which they use tile memory.
pub(crate) struct Queues {
    families: Sharded<u32>,
    /// The device has timeline semaphores, which order its queues.
    pub(crate) has_timeline: bool,
    order: Mutex<QueueOrder>,
    /// The heap has the driver's initial contents.
    pub(crate) is_raw: AtomicBool,
    submits: AtomicU64,
}

/// The timeline semaphore of a device's queues.
#[derive(Default)]
pub(crate) struct QueueOrder {
    /// Null until it is needed.
    pub(crate) semaphore: vk::Semaphore,
    /// The value that the last use of tile memory signals.
    pub(crate) value: u64,
    /// The queue of the last use.
    pub(crate) last: Option<vk::Queue>,
    /// Tile memory as the last use left it; `None` until then.
    window: Option<Window>,
}

impl Queues {
    pub(crate) fn new(has_timeline: bool) -> Queues {
        Queues {
            families: Sharded::default(),
            has_timeline,
            order: Mutex::default(),
            is_raw: AtomicBool::new(true),
            submits: AtomicU64::new(0),
        }
    }

    /// The number of a new submit call, from 1.
    pub(crate) fn count_submit(&self) -> u64 {
        self.submits.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Records a queue's family.
    pub(crate) fn remember(&self, queue: vk::Queue, family: u32) {
        self.families.insert(queue.as_raw(), family);
    }

    /// A queue's family.
    pub(crate) fn family(&self, queue: vk::Queue) -> u32 {
        self.families.get(queue.as_raw()).unwrap_or(0)
    }

    /// The order of the queues, locked.
    pub(crate) fn order(&self) -> MutexGuard<'_, QueueOrder> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A batch below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Batch {
    /// The application's, by index; with other command buffers than its own, if not `None`.
    Application(usize, Option<Vec<vk::CommandBuffer>>),
    /// A poison command buffer.
    Poison(vk::CommandBuffer),
    /// Waits for the last use of tile memory on another queue.
    Wait(vk::Semaphore, u64),
    /// Signals the end of this use.
    Signal(vk::Semaphore, u64),
}

/// A batch of the application.
pub(crate) struct Given {
    pub(crate) batch: batches::Batch,
    /// It chains structures with an entry per command buffer: none may be added.
    pub(crate) is_fixed: bool,
    /// One of its command buffers has bound tile memory.
    pub(crate) uses_tile: bool,
}

/// A submission that uses tile memory.
pub(crate) struct Submission<'a> {
    pub(crate) device: vk::Device,
    pub(crate) queue: vk::Queue,
    /// Which submit call of the device it is.
    pub(crate) number: u64,
    pub(crate) given: &'a [Given],
    /// Bytes of the tile heap.
    pub(crate) heap: u64,
    /// Contents survive from batch to batch of one submission.
    pub(crate) queue_submit_boundary: bool,
    pub(crate) has_timeline: bool,
    /// Nothing was submitted before.
    pub(crate) is_raw: bool,
    pub(crate) trace: Option<&'a Trace>,
}

/// The batches to submit below, and the value that the last one signals.
pub(crate) struct Batches {
    pub(crate) batches: Vec<Batch>,
    pub(crate) value: u64,
}

impl Submission<'_> {
    /// Tells the batches at whose ends the contents of tile memory become undefined, before any of them runs. There are no contents after
    /// batches without tile memory where no earlier one had any.
    pub(crate) fn ends(&self, batch: usize) -> bool {
        let mut later = self.given.iter().skip(batch + 1);
        !self.queue_submit_boundary || !later.any(|later| later.uses_tile)
    }

    /// The batches below: those of the application with poison and semaphores between them.
    ///
    /// `poison` returns the command buffer that poisons the heap from an offset on, or `None` where there is nothing to poison.
    /// `run` runs a recording in a window, or does nothing where a command buffer has none.
    ///
    /// # Errors
    /// Those of `poison`.
    pub(crate) fn batches(
        &self,
        order: &mut QueueOrder,
        poison: impl Fn(u64) -> Result<Option<vk::CommandBuffer>, vk::Result>,
        run: impl Fn(&mut Window, vk::CommandBuffer, Submit) -> (Option<u64>, Vec<Finding>),
        findings: &mut Vec<Finding>,
    ) -> Result<Batches, vk::Result> {
        let mut batches = Vec::new();
        let mut value = order.value;
        let mut waits = self.has_timeline && order.last.is_some_and(|last| last != self.queue);
        let mut raw = self.is_raw;
        let mut window = order.window.take().unwrap_or_else(|| Window::new(self.heap));
        let end = match self.queue_submit_boundary {
            true => DiscardReason::SubmitEnd,
            false => DiscardReason::BatchEnd,
        };
        for (index, batch) in self.given.iter().enumerate() {
            let submit = Submit {
                number: self.number,
                batch: index,
                queue: self.queue.as_raw(),
            };
            let takes_part = batch.uses_tile || window.live > 0;
            if !takes_part {
                batches.push(Batch::Application(index, None));
                continue;
            }
            if std::mem::take(&mut waits) {
                batches.push(Batch::Wait(order.semaphore, order.value));
            }
            if std::mem::take(&mut raw) {
                batches.extend(poison(0)?.map(Batch::Poison));
            }
            let mut commands = Vec::with_capacity(batch.batch.commands.len() + 1);
            for handle in &batch.batch.commands {
                let (discards, found) = run(&mut window, *handle, submit);
                findings.extend(found);
                if let Some(first) = discards {
                    commands.extend(poison(first)?);
                }
                commands.push(*handle);
            }
            let added = commands.len() > batch.batch.commands.len();
            if added && batch.is_fixed {
                let device = Object::of(self.device);
                let text = "a batch with VkDeviceGroupSubmitInfo keeps tile contents that an unbound command buffer in it discards";
                let submit = Some(submit);
                findings.push(Finding {
                    submit,
                    ..Finding::new(MessageId::CannotEmulate, device, text)
                });
            }
            batches.push(Batch::Application(
                index,
                (added && !batch.is_fixed).then_some(commands),
            ));
            if let Some(trace) = self.trace {
                let handles = batch.batch.commands.iter().map(|commands| commands.as_raw());
                trace.submit(submit, handles, window.live);
            }
            if self.ends(index) {
                if window.live > 0 {
                    batches.extend(poison(0)?.map(Batch::Poison));
                }
                window.end(end, submit);
                if self.has_timeline {
                    value += 1;
                    batches.push(Batch::Signal(order.semaphore, value));
                }
            }
        }
        order.window = Some(window);
        Ok(Batches { batches, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(queue_submit_boundary: bool, uses: &[bool]) -> Vec<bool> {
        let given = |uses_tile: &bool| Given {
            batch: batches::Batch::default(),
            is_fixed: false,
            uses_tile: *uses_tile,
        };
        let given: Vec<_> = uses.iter().map(given).collect();
        let submission = Submission {
            device: vk::Device::null(),
            queue: vk::Queue::null(),
            number: 1,
            given: &given,
            heap: 0,
            queue_submit_boundary,
            has_timeline: false,
            is_raw: false,
            trace: None,
        };
        (0..uses.len()).map(|batch| submission.ends(batch)).collect()
    }

    #[test]
    fn contents_end_with_their_batch_or_with_the_last_batch_that_uses_them() {
        let uses = [true, false, true, false];
        assert_eq!(ends(false, &uses), [true; 4]);
        assert_eq!(ends(true, &uses), [false, false, true, true]);
        assert_eq!(ends(true, &[false, false]), [true; 2]);
    }
}
