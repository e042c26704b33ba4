//! Queries a physical device, and decides whether to emulate on it.

use ash::vk;
use tileheap_device::ffi;
use tileheap_layer::call_down;

use crate::model::reporter::Reporter;
use crate::tables::emulation::{Emulation, Physical};
use crate::tables::instance_commands::InstanceTable;
use crate::tables::messages::MessageId;
use crate::tables::settings::Settings;

/// Queries what the driver has, and decides whether to emulate.
pub(crate) fn query(
    next: &InstanceTable,
    settings: &Settings,
    reporter: &Reporter,
    handle: vk::PhysicalDevice,
) -> Physical {
    let (extensions, failure) = match driver_extensions(next, handle) {
        Ok(extensions) => (extensions, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let about = (vk::ObjectType::PHYSICAL_DEVICE, vk::Handle::as_raw(handle));
    let is_native =
        |known: &vk::ExtensionProperties| known.extension_name_as_c_str() == Ok(ffi::tile_memory_heap::NAME);
    let emulation = if extensions.iter().any(is_native) && !settings.force {
        let text = "the driver has VK_QCOM_tile_memory_heap itself: the emulator steps aside; its setting `force` \
                    makes it emulate all the same";
        reporter.report(MessageId::StepsAside, about, text);
        None
    } else {
        let mut driver = vk::PhysicalDeviceMemoryProperties::default();
        call_down!(next, vkGetPhysicalDeviceMemoryProperties(handle, &mut driver));
        Emulation::new(settings.profile.clone(), settings.lazy_type, driver)
            .map_err(|why| {
                let text = format!("no tile heap is emulated on this device: {why}");
                reporter.report(MessageId::CannotEmulate, about, &text);
            })
            .ok()
    };
    Physical {
        handle,
        extensions,
        failure,
        emulation,
    }
}

fn driver_extensions(
    next: &InstanceTable,
    handle: vk::PhysicalDevice,
) -> Result<Vec<vk::ExtensionProperties>, vk::Result> {
    let mut extensions = Vec::new();
    loop {
        let mut count = 0;
        let counted = call_down!(
            next,
            vkEnumerateDeviceExtensionProperties(handle, std::ptr::null(), &mut count, std::ptr::null_mut())
        );
        counted.result()?;
        extensions.resize(count as usize, vk::ExtensionProperties::default());
        let listed = call_down!(
            next,
            vkEnumerateDeviceExtensionProperties(
                handle,
                std::ptr::null(),
                &mut count,
                extensions.as_mut_ptr()
            )
        );
        match listed {
            vk::Result::SUCCESS => {
                extensions.truncate(count as usize);
                return Ok(extensions);
            }
            vk::Result::INCOMPLETE => {}
            error => return Err(error),
        }
    }
}
