//! A device with one queue, on plain `ash`.

use ash::vk;

use crate::support::device::physical_devices;
use crate::support::error::{Called, Result, no_device};

/// A device of Vulkan 1.3 with one queue that draws and computes.
pub(crate) struct Gpu {
    _entry: ash::Entry,
    instance: ash::Instance,
    pub(crate) device: ash::Device,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
    pub(crate) queue: vk::Queue,
    pub(crate) family: u32,
    pub(crate) name: String,
    /// The functions of `VK_EXT_debug_utils`, which name objects; `None` if it is not available.
    debug: Option<ash::ext::debug_utils::Device>,
}

impl Gpu {
    /// Opens the first device, or the one that `TILEHEAP_DEVICE` selects.
    pub(crate) fn new() -> Result<Gpu> {
        // SAFETY: the loader is the system's.
        let entry = unsafe { ash::Entry::load() }.map_err(no_device)?;
        // SAFETY: the loader is loaded.
        let extensions = unsafe { entry.enumerate_instance_extension_properties(None) };
        let extensions = extensions.called("vkEnumerateInstanceExtensionProperties")?;
        let name = ash::ext::debug_utils::NAME;
        let has_names = extensions
            .iter()
            .any(|one| one.extension_name_as_c_str() == Ok(name));
        let names: Vec<_> = has_names.then_some(name.as_ptr()).into_iter().collect();
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_extension_names(&names);
        // SAFETY: the infos are complete, and the loader has the extension.
        let instance = unsafe { entry.create_instance(&info, None) }.called("vkCreateInstance")?;
        let devices = physical_devices(&instance)?;
        let physical = *devices.first().ok_or_else(|| no_device("no device found"))?;
        // SAFETY: the physical device is one of the instance.
        let (properties, memory, families) = unsafe {
            (
                instance.get_physical_device_properties(physical),
                instance.get_physical_device_memory_properties(physical),
                instance.get_physical_device_queue_family_properties(physical),
            )
        };
        if properties.api_version < vk::API_VERSION_1_3 {
            return Err(no_device("the device does not support Vulkan 1.3"));
        }
        let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let mut families = (0..).zip(&families);
        let family = families.find(|(_, family)| family.queue_flags.contains(wanted));
        let (family, _) =
            family.ok_or_else(|| no_device("no queue family supports both graphics and compute"))?;

        let queue = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&[1.0])];
        let mut of_1_2 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
        let mut of_1_3 = vk::PhysicalDeviceVulkan13Features::default()
            .synchronization2(true)
            .dynamic_rendering(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queue)
            .push_next(&mut of_1_2)
            .push_next(&mut of_1_3);
        // SAFETY: the family has a queue, and every device of Vulkan 1.3 has the features.
        let device = unsafe { instance.create_device(physical, &info, None) }.called("vkCreateDevice")?;
        // SAFETY: the device was created with it.
        let queue = unsafe { device.get_device_queue(family, 0) };
        let debug = has_names.then(|| ash::ext::debug_utils::Device::new(&instance, &device));
        let name = properties.device_name_as_c_str()?.to_string_lossy().into_owned();
        Ok(Gpu {
            _entry: entry,
            instance,
            device,
            memory,
            queue,
            family,
            name,
            debug,
        })
    }

    /// Names an object; messages of layers contain the name.
    pub(crate) fn set_name(&self, object: impl vk::Handle, name: &std::ffi::CStr) -> Result<()> {
        let Some(debug) = &self.debug else { return Ok(()) };
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(object)
            .object_name(name);
        // SAFETY: the extension is enabled, and no other thread uses the object.
        unsafe { debug.set_debug_utils_object_name(&info) }.called("vkSetDebugUtilsObjectNameEXT")
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: everything that was created on them is destroyed.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}
