//! `vkGetInstanceProcAddr` and `vkGetDeviceProcAddr`, and the negotiation with the loader.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::LazyLock;

use ash::vk;

use tileheap_layer::dispatch::EntryPoint;
use tileheap_layer::{call_down, command_name, entry_points};

use super::actions::*;
use super::bindings::*;
use super::command_buffers::*;
use super::descriptor_sets::*;
use super::destroy::*;
use super::device::{EnabledExtensions, device_entry_points};
use super::devices::*;
use super::hook::{Hook, Mode, hook};
use super::host_waits::*;
use super::instance::INSTANCES;
use super::instances::*;
use super::memory::*;
use super::object_names::*;
use super::order_commands::*;
use super::physical_devices::*;
use super::presentation::*;
use super::queues::*;
use super::resources::*;
use super::tile_properties::*;
use super::tile_shading::*;
use crate::tables::action_commands::action_commands;
use crate::tables::device_commands::device_commands;
use crate::tables::instance_commands::{InstanceTable, instance_commands};
use crate::tables::layer::Layer;
use crate::tables::own_commands::own_commands;

type Names = HashMap<&'static CStr, Hook>;

/// Maps the names of the commands in a table to the layer's entry points; commands that are not hooked are left out.
macro_rules! hooks {
    ($($mode:ident $command:ident: $pointer:ty $(, or $($alias:ident)+)?;)+) => {{
        let mut hooks = Names::new();
        $(
            let hook: Option<Hook> = hook!($mode $command);
            if let Some(hook) = hook {
                hooks.insert(command_name!($command), hook);
                $($(hooks.insert(command_name!($alias), hook);)+)?
            }
        )+
        hooks
    }};
}

macro_rules! action_hooks {
    ($($reachable:ident $writes:ident $($command:ident)+: $signature:tt;)+) => {
        hooks! { $($(checked $command: ();)+)+ }
    };
}

static INSTANCE_HOOKS: LazyLock<Names> = LazyLock::new(|| instance_commands!(hooks));
static DEVICE_HOOKS: LazyLock<Names> = LazyLock::new(|| {
    let mut hooks: Names = device_commands!(hooks);
    hooks.extend(action_commands!(action_hooks));
    hooks
});

/// Commands that need no instance, and commands that a layer implements even if the next layer does not have them.
const ALWAYS_THERE: [&CStr; 6] = [
    c"vkGetInstanceProcAddr",
    c"vkCreateInstance",
    c"vkEnumerateInstanceExtensionProperties",
    c"vkEnumerateInstanceLayerProperties",
    c"vkEnumerateDeviceLayerProperties",
    c"vkEnumerateDeviceExtensionProperties",
];

/// Returns true if a device has enabled the extension of a command.
type IsEnabled = fn(&EnabledExtensions) -> bool;

/// Looks up a command of the layer's own extensions: its entry point, and a function that returns true if a device has
/// enabled its extension.
fn own_command(name: &CStr) -> Option<(EntryPoint, IsEnabled)> {
    macro_rules! own {
        ($($command:ident is $entry:ident: $pointer:ty, $enabled:ident;)+) => {
            $(if name == command_name!($command) {
                return Some(($entry(), (|enabled: &EnabledExtensions| enabled.$enabled) as IsEnabled));
            })+
        };
    }
    own_commands!(own);
    None
}

entry_points! {
    of InstanceTable:
    /// Returns the layer's entry point if the layer hooks the command and the next layer has it, or if the layer emulates the command; otherwise the next
    /// layer's.
    vkGetInstanceProcAddr(handle, name) {
        // SAFETY: Valid usage: a C string.
        let wanted = unsafe { CStr::from_ptr(name) };
        let hook = INSTANCE_HOOKS.get(wanted).or_else(|| DEVICE_HOOKS.get(wanted)).map(|(_, entry)| *entry);
        if ALWAYS_THERE.contains(&wanted) {
            return hook;
        }
        if handle == vk::Instance::null() {
            return None;
        }
        let instance = INSTANCES.of(handle)?;
        // SAFETY: The next layer's look-up with the application's arguments.
        let below = unsafe { (instance.next_look_up)(handle, name) };
        let is_emulated = Layer::loaded() == Layer::Emulator && (below.is_none() || instance.settings.force);
        if let Some((own, _)) = own_command(wanted).filter(|_| is_emulated) {
            return Some(own);
        }
        Some(hook.unwrap_or(below?))
    }
}

device_entry_points! {
    /// Returns the layer's entry point if the device needs it, otherwise the next layer's.
    vkGetDeviceProcAddr(handle, name) |device| {
        // SAFETY: Valid usage: a C string.
        let wanted = unsafe { CStr::from_ptr(name) };
        if let Some((own, _)) = own_command(wanted).filter(|(_, is_enabled)| is_enabled(&device.enabled)) {
            return Some(own);
        }
        let below = call_down!(device.driver.commands, vkGetDeviceProcAddr(handle, name))?;
        let hook = DEVICE_HOOKS.get(wanted).filter(|(mode, _)| match mode {
            Mode::Always => true,
            Mode::Checked => device.check.is_some(),
            Mode::Own => device.check.is_some() || device.enabled.any_of_own(),
        });
        Some(hook.map_or(below, |(_, entry)| *entry))
    }
}

tileheap_layer::negotiates!(vkGetInstanceProcAddr, vkGetDeviceProcAddr);

tileheap_layer::export_look_ups! {
    "VK_LAYER_TILEHEAP_emulatorGetInstanceProcAddr" is vkGetInstanceProcAddr,
    "VK_LAYER_TILEHEAP_emulatorGetDeviceProcAddr" is vkGetDeviceProcAddr
}

/// The entry point of `vkGetInstanceProcAddr`, which the aliasing layer exports under its own name.
pub fn get_instance_proc_addr() -> EntryPoint {
    vkGetInstanceProcAddr()
}

/// The entry point of `vkGetDeviceProcAddr`, which the aliasing layer exports under its own name.
pub fn get_device_proc_addr() -> EntryPoint {
    vkGetDeviceProcAddr()
}

/// Makes this library the aliasing layer, which checks ordinary memory and emulates nothing. Called when the library is loaded.
pub fn become_aliasing() {
    Layer::Aliasing.set_loaded();
}
