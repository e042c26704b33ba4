//! `vkGetInstanceProcAddr` and `vkGetDeviceProcAddr`, and the negotiation with the loader.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::LazyLock;

use ash::vk;
use tileheap_layer::dispatch::EntryPoint;
use tileheap_layer::{call_down, command_name, entry_points};

use super::actions::*;
use super::bindings::*;
use super::copies::*;
use super::descriptors::*;
use super::device::device_entry_points;
use super::instance::*;
use super::objects::*;
use super::passes::*;
use super::queues::*;
use super::recorder::*;
use super::synchronization::*;
use crate::tables::{InstanceTable, device_commands};

/// Expands to the layer's entry point for a command; `None` if the layer only calls the command.
macro_rules! entry {
    (down $command:ident) => {
        None
    };
    (hook $command:ident) => {
        Some($command())
    };
}

macro_rules! hooks {
    ($($mode:ident $command:ident: $pointer:ty $(, or $($alias:ident)+)?;)+) => {{
        let mut hooks: HashMap<&'static CStr, EntryPoint> = HashMap::new();
        $(
            let entry: Option<EntryPoint> = entry!($mode $command);
            if let Some(entry) = entry {
                hooks.insert(command_name!($command), entry);
                $($(hooks.insert(command_name!($alias), entry);)+)?
            }
        )+
        hooks
    }};
}

static INSTANCE_HOOKS: LazyLock<HashMap<&'static CStr, EntryPoint>> = LazyLock::new(|| {
    hooks! {
        hook vkGetInstanceProcAddr: vk::PFN_vkGetInstanceProcAddr;
        hook vkCreateInstance: vk::PFN_vkCreateInstance;
        hook vkDestroyInstance: vk::PFN_vkDestroyInstance;
        hook vkCreateDevice: vk::PFN_vkCreateDevice;
        hook vkEnumerateInstanceLayerProperties: vk::PFN_vkEnumerateInstanceLayerProperties;
        hook vkEnumerateInstanceExtensionProperties: vk::PFN_vkEnumerateInstanceExtensionProperties;
        hook vkEnumerateDeviceLayerProperties: vk::PFN_vkEnumerateDeviceLayerProperties;
        hook vkEnumerateDeviceExtensionProperties: vk::PFN_vkEnumerateDeviceExtensionProperties;
    }
});
static DEVICE_HOOKS: LazyLock<HashMap<&'static CStr, EntryPoint>> = LazyLock::new(|| device_commands!(hooks));
/// Commands that are hooked for every device, whether or not its work is captured.
const ALWAYS: [&CStr; 2] = [c"vkGetDeviceProcAddr", c"vkDestroyDevice"];

entry_points! {
    of InstanceTable:
    vkGetInstanceProcAddr(handle, name) {
        // SAFETY: Valid usage: a C string.
        let wanted = unsafe { CStr::from_ptr(name) };
        if let Some(own) = INSTANCE_HOOKS.get(wanted) {
            return Some(*own);
        }
        if handle == vk::Instance::null() {
            return None;
        }
        let instance = INSTANCES.of(handle)?;
        // SAFETY: The next layer's look-up with the application's arguments.
        let below = unsafe { (instance.next_look_up)(handle, name) }?;
        let is_hooked = instance.settings.is_some() || ALWAYS.contains(&wanted);
        let own = DEVICE_HOOKS.get(wanted).filter(|_| is_hooked);
        Some(own.copied().unwrap_or(below))
    }
}

device_entry_points! {
    vkGetDeviceProcAddr(handle, name) |device| {
        // SAFETY: Valid usage: a C string.
        let wanted = unsafe { CStr::from_ptr(name) };
        let below = call_down!(device.next, vkGetDeviceProcAddr(handle, name))?;
        let is_hooked = device.settings.is_some() || ALWAYS.contains(&wanted);
        let own = DEVICE_HOOKS.get(wanted).filter(|_| is_hooked);
        Some(own.copied().unwrap_or(below))
    }
}

tileheap_layer::negotiates!(vkGetInstanceProcAddr, vkGetDeviceProcAddr);
tileheap_layer::export_look_ups! {
    "VK_LAYER_TILEHEAP_captureGetInstanceProcAddr" is vkGetInstanceProcAddr,
    "VK_LAYER_TILEHEAP_captureGetDeviceProcAddr" is vkGetDeviceProcAddr
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The action commands of `vk.xml` and of later extensions, and the commands that bind memory which draws read.
    const COMMANDS: &str = include_str!("action_commands.txt");

    /// Commands that access queries, or other objects that are not images or buffers.
    const WITHOUT_MEMORY: &[&str] = &[
        "vkCmdBeginGpaSampleAMD",
        "vkCmdBeginGpaSessionAMD",
        "vkCmdBeginShaderInstrumentationARM",
        "vkCmdControlVideoCodingKHR",
        "vkCmdEndGpaSampleAMD",
        "vkCmdEndGpaSessionAMD",
        "vkCmdEndQuery",
        "vkCmdEndQueryIndexedEXT",
        "vkCmdEndShaderInstrumentationARM",
        "vkCmdEndVideoCodingKHR",
        "vkCmdResetQueryPool",
        "vkCmdSetCheckpointNV",
        "vkCmdSetPerformanceMarkerINTEL",
        "vkCmdSetPerformanceStreamMarkerINTEL",
        "vkCmdWriteTimestamp",
        "vkCmdWriteTimestamp2",
        "vkCmdWriteTimestamp2KHR",
    ];

    #[test]
    fn every_command_that_accesses_memory_is_followed_or_counted() {
        let is_hooked = |name: &str| {
            let name = std::ffi::CString::new(name).expect("a name");
            DEVICE_HOOKS.contains_key(&*name)
        };
        let missing: Vec<&str> = COMMANDS
            .split_whitespace()
            .filter(|name| !is_hooked(name) && !WITHOUT_MEMORY.contains(name))
            .collect();
        assert_eq!(missing, [""; 0]);
        let known: Vec<&str> = COMMANDS.split_whitespace().collect();
        let stale: Vec<_> = WITHOUT_MEMORY
            .iter()
            .filter(|name| !known.contains(name) || is_hooked(name))
            .collect();
        assert!(stale.is_empty(), "{stale:?}");
    }
}
