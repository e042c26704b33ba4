//! Queries a physical device, and decides whether to emulate on it.

use std::ptr::null;

use ash::vk;
use tileheap_device::ffi;
use tileheap_layer::arrays::read_array;
use tileheap_layer::call_down;

use crate::model::objects::Object;
use crate::model::reporter::Reporter;
use crate::tables::emulation::{Emulation, PhysicalDeviceInfo};
use crate::tables::instance_commands::InstanceTable;
use crate::tables::layer::Layer;
use crate::tables::messages::MessageId;
use crate::tables::settings::Settings;

/// Queries the driver's properties of a physical device, and decides whether to emulate on it.
pub(crate) fn query(
    next: &InstanceTable,
    settings: &Settings,
    reporter: &Reporter,
    handle: vk::PhysicalDevice,
) -> PhysicalDeviceInfo {
    let listed = read_array(|count, out| {
        call_down!(
            next,
            vkEnumerateDeviceExtensionProperties(handle, null(), count, out)
        )
    });
    let (extensions, failure) = match listed {
        Ok(extensions) => (extensions, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let about = Object(vk::ObjectType::PHYSICAL_DEVICE, vk::Handle::as_raw(handle));
    let is_native =
        |known: &vk::ExtensionProperties| known.extension_name_as_c_str() == Ok(ffi::tile_memory_heap::NAME);
    let emulation = if Layer::loaded() == Layer::Aliasing {
        None
    } else if extensions.iter().any(is_native) && !settings.force {
        let text = "the driver has VK_QCOM_tile_memory_heap itself: the emulator is inactive; its setting `force` makes it emulate anyway";
        reporter.report(MessageId::StepsAside, about, text);
        None
    } else {
        let mut driver = vk::PhysicalDeviceMemoryProperties::default();
        call_down!(next, vkGetPhysicalDeviceMemoryProperties(handle, &mut driver));
        let mut properties = vk::PhysicalDeviceProperties::default();
        call_down!(next, vkGetPhysicalDeviceProperties(handle, &mut properties));
        let bound_sets = properties.limits.max_bound_descriptor_sets;
        Emulation::new(settings.profile.clone(), settings.lazy_type, driver, bound_sets)
            .map_err(|why| {
                let text = format!("no tile heap is emulated on this device: {why}");
                reporter.report(MessageId::CannotEmulate, about, &text);
            })
            .ok()
    };
    PhysicalDeviceInfo {
        handle,
        extensions,
        failure,
        emulation,
    }
}
