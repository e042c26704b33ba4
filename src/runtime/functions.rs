//! The commands beyond Vulkan 1.1 that the runtime may use. Only commands that the device allows are loaded, so a loaded command may be called.

use std::ffi::{CStr, c_void};

use ash::vk;

use super::capabilities::Capabilities;
use crate::ffi::{tile_memory_heap, tile_properties, tile_shading};

/// The loaded commands of the features and extensions enabled on the device.
///
/// Commands that were promoted to core have the names that `ash` gives to their extensions, whichever name they were loaded by; the types are the
/// same.
pub(super) struct Functions {
    pub(super) synchronization_2: Option<ash::khr::synchronization2::DeviceFn>,
    pub(super) dynamic_rendering: Option<ash::khr::dynamic_rendering::DeviceFn>,
    pub(super) render_pass_2: Option<ash::khr::create_renderpass2::DeviceFn>,
    pub(super) local_read: Option<ash::khr::dynamic_rendering_local_read::DeviceFn>,
    pub(super) timeline_semaphore: Option<ash::khr::timeline_semaphore::DeviceFn>,
    pub(super) maintenance_4: Option<ash::khr::maintenance4::DeviceFn>,
    pub(super) buffer_device_address: Option<ash::khr::buffer_device_address::DeviceFn>,
    pub(super) debug_utils: Option<ash::ext::debug_utils::Device>,
    pub(super) tile_memory: Option<tile_memory_heap::Device>,
    pub(super) tile_properties: Option<tile_properties::Device>,
    pub(super) tile_shading: Option<tile_shading::Device>,
}

impl Functions {
    /// Loads the commands of `capabilities`. `version` is the lower of the instance's and the device's.
    pub(super) fn load(
        instance: &ash::Instance,
        device: &ash::Device,
        version: u32,
        capabilities: Capabilities,
    ) -> Functions {
        use Capabilities as C;
        // A command that is core since version `core` is loaded by its core name from that version on, otherwise by its KHR name.
        let loader = |core: u32| {
            move |name: &CStr| -> *const c_void {
                let mut core_name = name.to_bytes_with_nul().to_vec();
                if version >= core && name.to_bytes().ends_with(b"KHR") {
                    let end = core_name.len() - 4;
                    core_name.truncate(end);
                    core_name.push(0);
                }
                // SAFETY: the device is one of the instance's, and the name ends with 0.
                let pointer =
                    unsafe { instance.get_device_proc_addr(device.handle(), core_name.as_ptr().cast()) };
                pointer.map_or(std::ptr::null(), |function| function as *const c_void)
            }
        };
        let with = |wanted: Capabilities| capabilities.contains(wanted);
        let (v1_2, v1_3) = (vk::API_VERSION_1_2, vk::API_VERSION_1_3);
        let v1_4 = vk::make_api_version(0, 1, 4, 0);
        Functions {
            synchronization_2: with(C::SYNCHRONIZATION_2)
                .then(|| ash::khr::synchronization2::DeviceFn::load(loader(v1_3))),
            dynamic_rendering: with(C::DYNAMIC_RENDERING)
                .then(|| ash::khr::dynamic_rendering::DeviceFn::load(loader(v1_3))),
            render_pass_2: capabilities
                .intersects(C::DEPTH_STENCIL_RESOLVE | C::SUBPASS_MERGE_FEEDBACK)
                .then(|| ash::khr::create_renderpass2::DeviceFn::load(loader(v1_2))),
            local_read: with(C::LOCAL_READ | C::DYNAMIC_RENDERING)
                .then(|| ash::khr::dynamic_rendering_local_read::DeviceFn::load(loader(v1_4))),
            timeline_semaphore: with(C::TIMELINE_SEMAPHORE)
                .then(|| ash::khr::timeline_semaphore::DeviceFn::load(loader(v1_2))),
            maintenance_4: with(C::MAINTENANCE_4)
                .then(|| ash::khr::maintenance4::DeviceFn::load(loader(v1_3))),
            buffer_device_address: with(C::BUFFER_DEVICE_ADDRESS)
                .then(|| ash::khr::buffer_device_address::DeviceFn::load(loader(v1_2))),
            debug_utils: with(C::DEBUG_UTILS).then(|| ash::ext::debug_utils::Device::new(instance, device)),
            tile_memory: with(C::TILE_MEMORY)
                .then(|| tile_memory_heap::Device::new(instance, device).ok())
                .flatten(),
            tile_properties: with(C::TILE_PROPERTIES)
                .then(|| tile_properties::Device::new(instance, device).ok())
                .flatten(),
            tile_shading: with(C::TILE_SHADING)
                .then(|| tile_shading::Device::new(instance, device).ok())
                .flatten(),
        }
    }
}
