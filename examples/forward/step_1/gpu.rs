//! The device, its queue and its memory. Tile memory is enabled if the device has some.

use ash::vk;
use tileheap::runtime::{Capabilities, Device, DeviceDesc, DeviceQueue, DeviceSupport};

use crate::machine::Machine;
use crate::support::error::{Called, Result};
use crate::support::memory::Allocator;

pub(crate) struct Gpu {
    pub(crate) machine: Machine,
    pub(crate) device: ash::Device,
    pub(crate) queue: vk::Queue,
    pub(crate) tile: Device,
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
        let physical_device = machine.physical_device;
        // SAFETY: the physical device is one of the instance, which was created with this version.
        let support =
            unsafe { DeviceSupport::query(&machine.instance, physical_device, vk::API_VERSION_1_3) }?;
        for reason in support.missing_requirements() {
            println!("no tile memory: {reason}");
        }
        // The instance was created without VK_EXT_debug_utils.
        let wanted = Capabilities::RECOMMENDED - Capabilities::DEBUG_UTILS;
        // SAFETY: names and chain are those above.
        let mut enable = unsafe { support.enable(&info, wanted) };
        // SAFETY: every device of Vulkan 1.3 has these features; this one has the queue family and the features that it reports.
        let device = unsafe {
            machine
                .instance
                .create_device(physical_device, &enable.info(&info), None)
        }
        .called("vkCreateDevice")?;
        // SAFETY: the device was created with this queue.
        let queue = unsafe { device.get_device_queue(machine.family, 0) };
        let desc = DeviceDesc {
            queues: vec![DeviceQueue {
                handle: queue,
                family: machine.family,
                capabilities: vk::QueueFlags::GRAPHICS,
            }],
            enabled: enable.capabilities(),
            optional_features: Some(enable.optional_features()),
            ..DeviceDesc::default()
        };
        // SAFETY: they belong together, outlive it, and have these capabilities; one thread uses the queue.
        let tile = unsafe { Device::new(&machine.instance, physical_device, &device, &support, desc) }?;
        Ok(Gpu {
            machine,
            device,
            queue,
            tile,
        })
    }

    /// Gives each image and buffer its own memory, of the first type of `Profile::ordinary_type_bits` that fits, since the tile heap's type is device
    /// local too, and may be listed first.
    pub(crate) fn memory(&self) -> Allocator<'_> {
        Allocator::from(&self.tile)
    }

    /// # Safety
    /// Everything created from the device is destroyed.
    pub(crate) unsafe fn destroy(&self) {
        // SAFETY: the caller's duty.
        unsafe {
            self.tile.clone().destroy();
            self.device.destroy_device(None);
            self.machine.destroy();
        }
    }
}
