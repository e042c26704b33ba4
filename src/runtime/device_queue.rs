//! Queues of the caller's device.

use ash::vk;

/// A queue of the caller's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceQueue {
    /// The queue.
    pub handle: vk::Queue,
    /// The queue's family.
    pub family: u32,
    /// The capabilities of the family.
    pub capabilities: vk::QueueFlags,
}

impl DeviceQueue {
    /// Returns true if the family can run work that requires `needed`. Graphics and compute families can always copy.
    pub(super) fn supports(&self, needed: vk::QueueFlags) -> bool {
        let copies = self
            .capabilities
            .intersects(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        let implied = if copies {
            vk::QueueFlags::TRANSFER
        } else {
            vk::QueueFlags::empty()
        };
        (self.capabilities | implied).contains(needed)
    }
}
