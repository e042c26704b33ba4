//! The caller's device queues that run a frame's declared queues.

use ash::vk;
use tileheap::lower::{DeviceQueues, FamilyQueue};

use crate::status::Fault;
use crate::structs::{Array, check_array};

/// The caller's array of device queues: one for each declared queue, or none if one queue of family 0 runs them all.
pub(crate) struct Queues {
    first: *const FamilyQueue,
    count: u32,
}

impl Queues {
    /// Reads the queues of a call.
    ///
    /// # Safety
    /// `first` is null or points to `count` queues as long as the result is used.
    pub(crate) unsafe fn new(first: *const FamilyQueue, count: u32) -> Result<Queues, Fault> {
        check_array(first, count, Array("queues", "queueCount"))?;
        let queues = Queues { first, count };
        let special = |queue: &FamilyQueue| queue.family >= vk::QUEUE_FAMILY_FOREIGN_EXT;
        if let Some((index, queue)) = queues.iter(0).enumerate().find(|(_, queue)| special(queue)) {
            let message = format!("is {}, which is not the index of a queue family", queue.family);
            return Err(Fault::argument(message).within("family").at("queues", index));
        }
        Ok(queues)
    }

    fn iter(&self, declared: usize) -> impl Iterator<Item = FamilyQueue> {
        let count = if self.count == 0 {
            declared
        } else {
            self.count as usize
        };
        (0..count).map(|index| match self.count {
            0 => FamilyQueue { family: 0, index: 0 },
            // SAFETY: the array has `count` elements.
            _ => unsafe { self.first.wrapping_add(index).read_unaligned() },
        })
    }

    /// The device queues for a frame that declares this number of queues.
    pub(crate) fn on_device(&self, declared: usize) -> DeviceQueues {
        DeviceQueues::new(&self.iter(declared).collect::<Vec<_>>())
    }

    /// Returns `true` if the queues equal `known`, in the order of the declared queues.
    pub(crate) fn equals(&self, known: impl ExactSizeIterator<Item = FamilyQueue>) -> bool {
        let declared = known.len();
        self.iter(declared).eq(known)
    }
}
