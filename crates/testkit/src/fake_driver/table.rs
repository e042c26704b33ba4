//! Looks up entry points by name, if their version or extension is enabled.

use std::ffi::{CStr, c_char};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::dispatch::EntryPoint;

use super::entry::{Since, V1_0, entry_points};
use super::records::Detail;
use super::state::{Entered, enter};
use super::{instance, memory, objects, recording, rendering, submission, tile_shading};

entry_points! {
    look_up_look_ups:
    Since::Global => vk::PFN_vkGetInstanceProcAddr(instance, name) {
        // SAFETY: The caller's arguments.
        unsafe { vkGetInstanceProcAddr(instance, name) }
    }

    V1_0 => vk::PFN_vkGetDeviceProcAddr(device, name) |call| {
        let name = given_name(name);
        let (since, pointer) = look_up(name.to_str().ok()?)?;
        let config = &call.driver.config;
        if name == c"vkCmdBindTileMemoryQCOM" && !config.tile.command {
            return None;
        }
        let there = match since {
            Since::Global | Since::Instance => false,
            Since::InstanceExtension(extension) => {
                instance_has(&call, call.objects[&device.as_raw()].parent, extension)
            }
            Since::Core(version) => version <= config.api_version,
            Since::Extension(extension) => {
                let enabled = call.enabled().extensions;
                enabled.iter().any(|name| name.as_c_str() == extension)
            }
        };
        there.then_some(pointer)
    }
}

fn look_up(name: &str) -> Option<(Since, EntryPoint)> {
    let modules = [
        look_up_look_ups,
        instance::look_up,
        memory::look_up,
        objects::look_up,
        objects::look_up_pair,
        recording::look_up,
        recording::look_up_plain,
        rendering::look_up,
        submission::look_up,
        tile_shading::look_up,
    ];
    modules.iter().find_map(|look_up| look_up(name))
}

/// Returns true if an instance has an extension enabled.
fn instance_has(call: &Entered, instance: u64, extension: &CStr) -> bool {
    match call.objects.get(&instance).map(|record| &record.detail) {
        Some(Detail::Instance(names)) => names.iter().any(|name| name.as_c_str() == extension),
        _ => false,
    }
}

fn given_name<'a>(name: *const c_char) -> &'a CStr {
    // SAFETY: Valid usage: the name ends in NUL.
    unsafe { CStr::from_ptr(name) }
}

pub(super) unsafe extern "system" fn vkGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let (since, pointer) = look_up(given_name(name).to_str().ok()?)?;
    if instance == vk::Instance::null() {
        return matches!(since, Since::Global).then_some(pointer);
    }
    let call = enter(instance, "vkGetInstanceProcAddr");
    let there = match since {
        Since::InstanceExtension(extension) => instance_has(&call, instance.as_raw(), extension),
        Since::Core(version) => version <= call.driver.config.api_version,
        Since::Extension(extension) => call.driver.config.listed_extensions().contains(&extension),
        Since::Global | Since::Instance => true,
    };
    there.then_some(pointer)
}
