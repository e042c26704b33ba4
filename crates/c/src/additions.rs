//! Extensions and features that tileheap adds to the program's device.

use ash::vk;
use tileheap::profile::OptionalFeatures;
use tileheap::runtime::Capabilities;
use tileheap::runtime::detect::DeviceAdditions;

use crate::boundary::run;
use crate::handles::{Handle, object};
use crate::loader;
use crate::opaque::{DeviceAdditionsHandle, DeviceAdditionsT, ErrorHandle};
use crate::status::{Fault, Status};
use crate::structs::{Array, begin, plain_elements, put, read, sized};
use crate::vulkan::OptionalGetInstanceProcAddr;

sized! { Input: DeviceAdditionsDesc to debug_names; }

object!(DeviceAdditionsT, DeviceAdditionsObject: DeviceAdditions);

/// The extensions and features that tileheap adds to a device.
pub struct DeviceAdditionsObject {
    pub(crate) instance: vk::Instance,
    pub(crate) physical_device: vk::PhysicalDevice,
    pub(crate) api_version: u32,
    pub(crate) capabilities: Capabilities,
    pub(crate) optional_features: OptionalFeatures,
    info: CreateInfo,
}

/// Describes the device that the program is going to create.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DeviceAdditionsDesc {
    /// `sizeof(ThDeviceAdditionsDesc)`.
    pub struct_size: u32,
    /// `apiVersion` of the `VkApplicationInfo` that the instance was created with; at least `VK_API_VERSION_1_1`.
    pub api_version: u32,
    /// `vkGetInstanceProcAddr` of the Vulkan loader.
    pub get_instance_proc_addr: OptionalGetInstanceProcAddr,
    /// The instance.
    pub instance: vk::Instance,
    /// The physical device.
    pub physical_device: vk::PhysicalDevice,
    /// The program's own creation info. Its names, chain and queue infos must stay valid until `vkCreateDevice` has returned.
    /// Feature structures in its chain are not changed: a feature that they disable stays disabled.
    pub create_info: *const vk::DeviceCreateInfo<'static>,
    /// `VK_TRUE` not to add `VK_QCOM_tile_memory_heap`.
    pub without_tile_memory: vk::Bool32,
    /// `VK_TRUE` to name objects and label passes. `VK_EXT_debug_utils` must be enabled on the instance.
    pub debug_names: vk::Bool32,
}

/// The creation info with the additions, and the structures that it points to.
struct CreateInfo {
    /// The additions, which this structure owns; `info` points into them.
    enable: *mut DeviceAdditions,
    info: vk::DeviceCreateInfo<'static>,
}

// SAFETY: it is not changed after its creation, and only the program follows the pointers.
unsafe impl Send for CreateInfo {}
// SAFETY: as above.
unsafe impl Sync for CreateInfo {}

impl CreateInfo {
    fn new(enable: DeviceAdditions, info: &vk::DeviceCreateInfo<'static>) -> CreateInfo {
        let enable = Box::into_raw(Box::new(enable));
        // SAFETY: it was just allocated, and stays allocated until this is dropped.
        let info = unsafe { &mut *enable }.info(info);
        CreateInfo { enable, info }
    }
}

impl Drop for CreateInfo {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and nothing else frees it.
        drop(unsafe { Box::from_raw(self.enable) });
    }
}

/// Finds the extensions and features that tileheap uses and the physical device supports.
///
/// Create the device with `thGetDeviceCreateInfo`, then call `thCreateDevice`.
///
/// Fails with `TH_STATUS_ERROR_VULKAN` if the driver fails, lacks a function, or offers less than Vulkan 1.1.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateDeviceAdditions")]
pub unsafe extern "C" fn create_device_additions(
    desc: *const DeviceAdditionsDesc,
    additions: *mut DeviceAdditionsHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateDeviceAdditions", error, || {
        // SAFETY: null or writable.
        unsafe { begin(additions, "additions") }?;
        // SAFETY: the caller's structure.
        let desc = unsafe { read(desc) }?;
        // SAFETY: the caller's handles.
        let object = unsafe { additions_of(&desc) };
        let object = object.map_err(|fault| fault.within("ThDeviceAdditionsDesc"))?;
        let handle = DeviceAdditionsHandle::create(object)?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(additions, handle, "additions") }
    })
}

unsafe fn additions_of(desc: &DeviceAdditionsDesc) -> Result<DeviceAdditionsObject, Fault> {
    if desc.create_info.is_null() {
        return Err(Fault::null("createInfo"));
    }
    // SAFETY: not null, so it points to a structure.
    let info = unsafe { desc.create_info.read_unaligned() };
    if info.s_type != vk::StructureType::DEVICE_CREATE_INFO {
        let message = format!(
            "is {}, not VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO ({})",
            info.s_type.as_raw(),
            vk::StructureType::DEVICE_CREATE_INFO.as_raw()
        );
        return Err(Fault::argument(message).within("createInfo.sType"));
    }
    // SAFETY: the caller's array.
    let names = unsafe {
        plain_elements(
            info.pp_enabled_extension_names,
            info.enabled_extension_count,
            Array("ppEnabledExtensionNames", "enabledExtensionCount"),
        )
    };
    let mut names = names.map_err(|fault| fault.within("createInfo"))?;
    if let Some(null) = names.position(|name| name.is_null()) {
        return Err(Fault::null("").at("createInfo.ppEnabledExtensionNames", null));
    }
    let (function, instance) = (desc.get_instance_proc_addr, desc.instance);
    // SAFETY: the caller's handles.
    let (_, support) = unsafe { loader::query(function, instance, desc.physical_device, desc.api_version) }?;
    let mut wanted = Capabilities::RECOMMENDED;
    wanted.set(Capabilities::TILE_MEMORY, desc.without_tile_memory == vk::FALSE);
    wanted.set(Capabilities::DEBUG_UTILS, desc.debug_names != vk::FALSE);
    // SAFETY: the names and the chain are alive (the caller's duty).
    let enable = unsafe { support.enable(&info, wanted) };
    Ok(DeviceAdditionsObject {
        instance,
        physical_device: desc.physical_device,
        api_version: desc.api_version,
        capabilities: enable.capabilities(),
        optional_features: enable.optional_features(),
        info: CreateInfo::new(enable, &info),
    })
}

/// Returns the program's creation info with the additions, for `vkCreateDevice`. It is valid until the additions are destroyed, provided that the
/// program's own creation info, its names and its chain are still valid.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetDeviceCreateInfo")]
pub unsafe extern "C" fn get_device_create_info(
    additions: DeviceAdditionsHandle,
    create_info: *mut *const vk::DeviceCreateInfo<'static>,
    error: ErrorHandle,
) -> Status {
    run("thGetDeviceCreateInfo", error, || {
        let object = additions.get("additions")?;
        // SAFETY: null or writable.
        unsafe { put(create_info, &raw const object.info.info, "createInfo") }
    })
}

/// Destroys the additions. Devices that were created with them stay valid. A null handle is ignored.
///
/// Thread safety: no other thread may use the handle during the call.
#[unsafe(export_name = "thDestroyDeviceAdditions")]
pub extern "C" fn destroy_device_additions(additions: DeviceAdditionsHandle) -> Status {
    run("thDestroyDeviceAdditions", std::ptr::null_mut(), || {
        additions.destroy()
    })
}
