//! `vkGetInstanceProcAddr` and `vkGetDeviceProcAddr`, and the negotiation with the loader.

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::LazyLock;

use ash::vk;

use crate::device::{Enabled, device_of};
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

/// Whether a device enabled the extension of a command.
type IsEnabled = fn(&Enabled) -> bool;

/// A command of the layer's own extensions.
fn own_command(name: &CStr) -> Option<(EntryPoint, IsEnabled)> {
    let is_heap: IsEnabled = |enabled| enabled.tile_memory_heap;
    let is_tiles: IsEnabled = |enabled| enabled.tile_properties;
    let is_shading: IsEnabled = |enabled| enabled.tile_shading;
    let (hook, is_enabled): (Option<Hook>, _) = match name.to_bytes() {
        b"vkCmdBindTileMemoryQCOM" => (
            hook!(tile vkCmdBindTileMemoryQCOM tileheap_device::ffi::tile_memory_heap::PFN_vkCmdBindTileMemoryQCOM),
            is_heap,
        ),
        b"vkGetFramebufferTilePropertiesQCOM" => (
            hook!(tile vkGetFramebufferTilePropertiesQCOM vk::PFN_vkGetFramebufferTilePropertiesQCOM),
            is_tiles,
        ),
        b"vkGetDynamicRenderingTilePropertiesQCOM" => (
            hook!(tile vkGetDynamicRenderingTilePropertiesQCOM vk::PFN_vkGetDynamicRenderingTilePropertiesQCOM),
            is_tiles,
        ),
        b"vkCmdBeginPerTileExecutionQCOM" => (
            hook!(tile vkCmdBeginPerTileExecutionQCOM crate::tile_shading::PerTileCommand),
            is_shading,
        ),
        b"vkCmdEndPerTileExecutionQCOM" => (
            hook!(tile vkCmdEndPerTileExecutionQCOM crate::tile_shading::PerTileCommand),
            is_shading,
        ),
        b"vkCmdDispatchTileQCOM" => (
            hook!(tile vkCmdDispatchTileQCOM crate::tile_shading::PerTileCommand),
            is_shading,
        ),
        _ => return None,
    };
    hook.map(|(_, entry)| (entry, is_enabled))
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
        let below = unsafe { (instance.next_look_up)(handle, name) };
        if let Some((own, _)) = own_command(asked).filter(|_| below.is_none() || instance.settings.force) {
            return Some(own);
        }
        Some(hook.unwrap_or(below?))
    }

    /// The layer's entry point, where the device needs it; the next layer's otherwise.
    fn vkGetDeviceProcAddr(handle: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
        // SAFETY: Valid usage: a C string.
        let asked = unsafe { CStr::from_ptr(name) };
        let device = device_of(handle)?;
        if let Some((own, _)) = own_command(asked).filter(|(_, is_enabled)| is_enabled(&device.enabled)) {
            return Some(own);
        }
        let below = down!(device.next, vkGetDeviceProcAddr(handle, name))?;
        let hook = DEVICE_HOOKS.get(asked).filter(|(mode, _)| match mode {
            Mode::Always => true,
            Mode::Tile => device.tile.is_some(),
            Mode::Own => device.enabled.any_of_own(),
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
