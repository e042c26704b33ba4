//! Instances, and the creation of devices.

use std::ffi::CStr;
use std::sync::Arc;

use ash::vk;
use tileheap_layer::android::Severity;
use tileheap_layer::loader::{create_instance, device_creation};
use tileheap_layer::ownership::enables_maintenance9;
use tileheap_layer::registry::Registry;
use tileheap_layer::settings::of_instance;
use tileheap_layer::{call_down, entry_points, enumerate, export_enumerations, fill, given};

use super::device::{Device, PhysicalProperties, report};
use crate::settings::{LAYER, Settings, folder};
use crate::tables::{DeviceTable, InstanceTable};

/// The layer's state of an instance.
pub(crate) struct Instance {
    handle: vk::Instance,
    api_version: u32,
    next: InstanceTable,
    pub(crate) next_look_up: vk::PFN_vkGetInstanceProcAddr,
    /// The settings; `None` if nothing is captured.
    pub(crate) settings: Option<Arc<Settings>>,
}

/// All instances, by dispatch key.
pub(crate) static INSTANCES: Registry<Instance> = Registry::new();

entry_points! {
    of InstanceTable:
    vkCreateInstance(info, allocator, out) {
        let given = given!(info);
        // SAFETY: The loader's arguments.
        let (handle, look_up) = match unsafe { create_instance(given, allocator, out) } {
            Ok(created) => created,
            Err(error) => return error,
        };
        let below = |name: &CStr| {
            // SAFETY: The next layer's look-up, the instance that it created and a C string.
            unsafe { look_up(handle, name.as_ptr()) }
        };
        // SAFETY: The look-up returns null or the command of this name.
        let next = unsafe { InstanceTable::load(below) };
        let values = of_instance(&LAYER, given);
        let get = |key: &str| values.get(key).cloned();
        let settings = Settings::read(get).unwrap_or_else(|error| {
            let text = format!("{error}; nothing is captured");
            report(folder(get).as_deref(), Severity::Error, &text);
            None
        });
        // SAFETY: Valid usage: null or a valid structure.
        let application = unsafe { given.p_application_info.as_ref() };
        INSTANCES.insert(handle, Instance {
            handle,
            api_version: application.map_or(0, |one| one.api_version).max(vk::API_VERSION_1_0),
            next,
            next_look_up: look_up,
            settings: settings.map(Arc::new),
        });
        vk::Result::SUCCESS
    }
    vkDestroyInstance(handle, allocator) {
        if handle == vk::Instance::null() {
            return;
        }
        if let Some(instance) = INSTANCES.remove(handle) {
            call_down!(instance.next, vkDestroyInstance(handle, allocator));
        }
    }
    vkCreateDevice(physical, info, allocator, out) {
        let Some(instance) = INSTANCES.of(physical) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        // SAFETY: The chain is the loader's.
        let Some((create, look_up)) = (unsafe { device_creation(instance.handle, given!(info).p_next) }) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        // SAFETY: The application's arguments.
        let result = unsafe { create(physical, info, allocator, out) };
        if result == vk::Result::SUCCESS {
            let handle = *given!(out);
            let below = |name: &CStr| {
                // SAFETY: The next layer's look-up, the device that it created and a C string.
                unsafe { look_up(handle, name.as_ptr()) }
            };
            // SAFETY: The look-up returns null or the command of this name.
            let next = unsafe { DeviceTable::load(below) };
            let known = PhysicalProperties {
                has_maintenance9: enables_maintenance9(given!(info)),
                ..instance.known(physical)
            };
            Device::remember(handle, next, instance.settings.clone(), known);
        }
        result
    }
    vkEnumerateInstanceLayerProperties(count, out) {
        // SAFETY: The application's arguments.
        unsafe { enumerate::layers(&LAYER, count, out) }
    }
    vkEnumerateInstanceExtensionProperties(layer, count, out) {
        // SAFETY: The application's arguments.
        unsafe { enumerate::instance_extensions(&LAYER, layer, count, out) }
    }
    vkEnumerateDeviceLayerProperties(_physical, count, out) {
        // SAFETY: The application's arguments.
        unsafe { enumerate::layers(&LAYER, count, out) }
    }
    vkEnumerateDeviceExtensionProperties(physical, layer, count, out) {
        // SAFETY: Valid usage: null or a C string.
        if physical == vk::PhysicalDevice::null() || unsafe { enumerate::is_name_of(&LAYER, layer) } {
            return fill!(&[], count, out);
        }
        let Some(instance) = INSTANCES.of(physical) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        call_down!(instance.next, vkEnumerateDeviceExtensionProperties(physical, layer, count, out))
    }
}

export_enumerations!();

impl Instance {
    fn known(&self, physical: vk::PhysicalDevice) -> PhysicalProperties {
        let mut properties = vk::PhysicalDeviceProperties::default();
        call_down!(
            self.next,
            vkGetPhysicalDeviceProperties(physical, &mut properties)
        );
        let mut count = 0;
        let null = std::ptr::null_mut();
        call_down!(
            self.next,
            vkGetPhysicalDeviceQueueFamilyProperties(physical, &mut count, null)
        );
        let mut families = vec![vk::QueueFamilyProperties::default(); count as usize];
        call_down!(
            self.next,
            vkGetPhysicalDeviceQueueFamilyProperties(physical, &mut count, families.as_mut_ptr())
        );
        let name = properties.device_name_as_c_str().unwrap_or_default();
        PhysicalProperties {
            device: name.to_string_lossy().into_owned(),
            api_version: self.api_version,
            families: families.iter().map(|family| family.queue_flags).collect(),
            has_maintenance9: false,
            granularity: properties.limits.buffer_image_granularity,
            timestamp_period: properties.limits.timestamp_period,
            timestamp_bits: families
                .iter()
                .map(|family| {
                    let resets = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
                    if family.queue_flags.intersects(resets) {
                        family.timestamp_valid_bits
                    } else {
                        0
                    }
                })
                .collect(),
        }
    }
}
