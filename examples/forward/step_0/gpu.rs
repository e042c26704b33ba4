//! The device, its queue and its memory.

use ash::vk;

use crate::machine::Machine;
use crate::support::error::{Called, Result};
use crate::support::memory::Allocator;

pub(crate) struct Gpu {
    pub(crate) machine: Machine,
    pub(crate) device: ash::Device,
    pub(crate) queue: vk::Queue,
}

impl Gpu {
    pub(crate) fn new() -> Result<Gpu> {
        let machine = Machine::new()?;
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(machine.family)
            .queue_priorities(&priorities)];
        let mut features = vk::PhysicalDeviceVulkan13Features::default()
            .dynamic_rendering(true)
            .synchronization2(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .push_next(&mut features);
        // SAFETY: every device of Vulkan 1.3 has these features, and this one the queue family.
        let device = unsafe {
            machine
                .instance
                .create_device(machine.physical_device, &info, None)
        }
        .called("vkCreateDevice")?;
        // SAFETY: the device was created with this queue.
        let queue = unsafe { device.get_device_queue(machine.family, 0) };
        Ok(Gpu {
            machine,
            device,
            queue,
        })
    }

    /// Gives each image and buffer its own memory, of the first type that fits.
    pub(crate) fn memory(&self) -> Allocator<'_> {
        Allocator::of_all(&self.device, &self.machine.memory)
    }

    /// # Safety
    /// Everything created from the device is destroyed.
    pub(crate) unsafe fn destroy(&self) {
        // SAFETY: the caller's duty.
        unsafe {
            self.device.destroy_device(None);
            self.machine.destroy();
        }
    }
}
