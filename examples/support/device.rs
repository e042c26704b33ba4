//! The physical devices that a program may use.

use ash::vk;

use crate::error::{Called, Result, no_device};

/// All physical devices, or only those that the variable `TILEHEAP_DEVICE` selects: by index, or by part of their names.
pub fn physical_devices(instance: &ash::Instance) -> Result<Vec<vk::PhysicalDevice>> {
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.enumerate_physical_devices() }.called("vkEnumeratePhysicalDevices")?;
    let Ok(wanted) = std::env::var("TILEHEAP_DEVICE") else {
        return Ok(devices);
    };
    let count = devices.len();
    let is_named = |device: &vk::PhysicalDevice| {
        // SAFETY: the device is one of the instance.
        let properties = unsafe { instance.get_physical_device_properties(*device) };
        let name = properties.device_name_as_c_str().unwrap_or_default();
        let name = name.to_string_lossy().to_lowercase();
        name.contains(&wanted.to_lowercase())
    };
    let found: Vec<vk::PhysicalDevice> = match wanted.parse::<usize>() {
        Ok(index) => devices.get(index).copied().into_iter().collect(),
        Err(_) => devices.into_iter().filter(is_named).collect(),
    };
    if found.is_empty() {
        return Err(no_device(format!(
            "TILEHEAP_DEVICE is `{wanted}`, which no device matches (devices found: {count})"
        )));
    }
    Ok(found)
}
