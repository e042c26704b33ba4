//! The Vulkan instance, and a physical device that supports graphics.

use ash::vk;

use crate::support::device::physical_devices;
use crate::support::error::{Called, Result, no_device};

/// A Vulkan 1.3 instance, and the first physical device with a graphics queue, of those that `TILEHEAP_DEVICE` selects.
pub(crate) struct Machine {
    /// The loaded Vulkan library.
    _entry: ash::Entry,
    pub(crate) instance: ash::Instance,
    pub(crate) physical_device: vk::PhysicalDevice,
    pub(crate) family: u32,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
}

impl Machine {
    pub(crate) fn new() -> Result<Machine> {
        // SAFETY: the library is Vulkan's loader.
        let entry = unsafe { ash::Entry::load() }.map_err(no_device)?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the description is complete.
        let instance = unsafe { entry.create_instance(&info, None) }.called("vkCreateInstance")?;
        let devices = physical_devices(&instance)?;
        let found = devices.into_iter().find_map(|physical_device| {
            // SAFETY: the device is one of the instance.
            let properties = unsafe { instance.get_physical_device_properties(physical_device) };
            // SAFETY: as above.
            let families = unsafe { instance.get_physical_device_queue_family_properties(physical_device) };
            let draws = families
                .iter()
                .position(|family| family.queue_flags.contains(vk::QueueFlags::GRAPHICS));
            let family = draws.filter(|_| properties.api_version >= vk::API_VERSION_1_3)?;
            Some((physical_device, family as u32))
        });
        let Some((physical_device, family)) = found else {
            // SAFETY: nothing was created from it.
            unsafe { instance.destroy_instance(None) };
            return Err(no_device("no device supports graphics with Vulkan 1.3"));
        };
        // SAFETY: the device is one of the instance.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical_device) };
        Ok(Machine {
            _entry: entry,
            instance,
            physical_device,
            family,
            memory,
        })
    }

    /// # Safety
    /// Everything created from the instance is destroyed.
    pub(crate) unsafe fn destroy(&self) {
        // SAFETY: the caller's duty.
        unsafe { self.instance.destroy_instance(None) };
    }
}
