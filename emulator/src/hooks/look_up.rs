//! `vkGetInstanceProcAddr` and `vkGetDeviceProcAddr`, and the negotiation with the loader.

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::LazyLock;

use ash::vk;

use crate::device::{Device, device_of};
use crate::dispatch::{EntryPoint, Hook, Mode, hook};
use crate::guard::{down, entry_points};
use crate::hooks::actions::ActionTable;
use crate::hooks::device::DeviceTable;
use crate::hooks::instance::InstanceTable;
use crate::hooks::recording::vkCmdBindTileMemoryQCOM;
use crate::instance::instance_of;
use crate::loader::{INTERFACE_VERSION, NEGOTIATE_INTERFACE, NegotiateLayerInterface};
use crate::tile_properties::{vkGetDynamicRenderingTilePropertiesQCOM, vkGetFramebufferTilePropertiesQCOM};
use crate::tile_shading::{
    vkCmdBeginPerTileExecutionQCOM, vkCmdDispatchTileQCOM, vkCmdEndPerTileExecutionQCOM,
};

type Names = HashMap<&'static CStr, Hook>;

static INSTANCE_HOOKS: LazyLock<Names> = LazyLock::new(|| InstanceTable::hooks().into_iter().collect());
static DEVICE_HOOKS: LazyLock<Names> = LazyLock::new(|| {
    DeviceTable::hooks()
        .into_iter()
        .chain(ActionTable::hooks())
        .collect()
});

/// Commands that exist before there is an instance, and those that a layer answers whatever lies below.
const ALWAYS_THERE: [&CStr; 6] = [
    c"vkGetInstanceProcAddr",
    c"vkCreateInstance",
    c"vkEnumerateInstanceExtensionProperties",
    c"vkEnumerateInstanceLayerProperties",
    c"vkEnumerateDeviceLayerProperties",
    c"vkEnumerateDeviceExtensionProperties",
];

/// The commands of the layer's own extensions, if the device enabled theirs.
fn own_command(name: &CStr, device: &Device) -> Option<EntryPoint> {
    let hook: Option<Hook> = match name.to_bytes() {
        b"vkCmdBindTileMemoryQCOM" if device.enabled.tile_memory_heap => {
            hook!(tile vkCmdBindTileMemoryQCOM tileheap::ffi::tile_memory_heap::PFN_vkCmdBindTileMemoryQCOM)
        }
        b"vkGetFramebufferTilePropertiesQCOM" if device.enabled.tile_properties => {
            hook!(tile vkGetFramebufferTilePropertiesQCOM vk::PFN_vkGetFramebufferTilePropertiesQCOM)
        }
        b"vkGetDynamicRenderingTilePropertiesQCOM" if device.enabled.tile_properties => {
            hook!(tile vkGetDynamicRenderingTilePropertiesQCOM vk::PFN_vkGetDynamicRenderingTilePropertiesQCOM)
        }
        b"vkCmdBeginPerTileExecutionQCOM" if device.enabled.tile_shading => {
            hook!(tile vkCmdBeginPerTileExecutionQCOM crate::tile_shading::PerTileCommand)
        }
        b"vkCmdEndPerTileExecutionQCOM" if device.enabled.tile_shading => {
            hook!(tile vkCmdEndPerTileExecutionQCOM crate::tile_shading::PerTileCommand)
        }
        b"vkCmdDispatchTileQCOM" if device.enabled.tile_shading => {
            hook!(tile vkCmdDispatchTileQCOM crate::tile_shading::PerTileCommand)
        }
        _ => None,
    };
    hook.map(|(_, entry)| entry)
}

entry_points! {
    /// The layer's entry point of that name, if the next layer has the command too, or the next layer's.
    fn vkGetInstanceProcAddr(handle: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
        // SAFETY: Valid usage: a C string.
        let asked = unsafe { CStr::from_ptr(name) };
        let hook = INSTANCE_HOOKS.get(asked).or_else(|| DEVICE_HOOKS.get(asked)).map(|(_, entry)| *entry);
        if ALWAYS_THERE.contains(&asked) {
            return hook;
        }
        if handle == vk::Instance::null() {
            return None;
        }
        let instance = instance_of(handle)?;
        // SAFETY: The next layer's look-up with the application's arguments.
        let below = unsafe { (instance.next_look_up)(handle, name) }?;
        Some(hook.unwrap_or(below))
    }

    /// The layer's entry point, where the device needs it; the next layer's otherwise.
    fn vkGetDeviceProcAddr(handle: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
        // SAFETY: Valid usage: a C string.
        let asked = unsafe { CStr::from_ptr(name) };
        let device = device_of(handle)?;
        if let Some(own) = own_command(asked, &device) {
            return Some(own);
        }
        let below = down!(device.next, vkGetDeviceProcAddr(handle, name))?;
        let hook = DEVICE_HOOKS.get(asked).filter(|(mode, _)| match mode {
            Mode::Always => true,
            Mode::Tile => device.tile.is_some(),
        });
        Some(hook.map_or(below, |(_, entry)| *entry))
    }
}

/// Agrees on the interface with the loader. The one symbol that the library exports.
///
/// # Safety
/// `interface` is null or points to the loader's structure.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    interface: *mut NegotiateLayerInterface,
) -> vk::Result {
    crate::guard::guard("vkNegotiateLoaderLayerInterfaceVersion", move || {
        // SAFETY: The caller's promise.
        let Some(interface) = (unsafe { interface.as_mut() }) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        if interface.s_type != NEGOTIATE_INTERFACE || interface.version < INTERFACE_VERSION {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        }
        interface.version = INTERFACE_VERSION;
        interface.get_instance_proc_addr = Some(vkGetInstanceProcAddr);
        interface.get_device_proc_addr = Some(vkGetDeviceProcAddr);
        interface.get_physical_device_proc_addr = None;
        vk::Result::SUCCESS
    })
}
