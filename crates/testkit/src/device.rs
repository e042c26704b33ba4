//! The physical device that tests use.

use ash::prelude::VkResult;
use ash::vk;

/// The physical device that the variable `TILEHEAP_DEVICE` selects, by index or by part of its name; the first one if it is not set.
///
/// # Panics
/// If there is no such device.
pub fn physical_device(instance: &ash::Instance) -> vk::PhysicalDevice {
    try_physical_device(instance).expect("vkEnumeratePhysicalDevices succeeds")
}

/// Like [`physical_device`], for drivers whose calls may fail.
///
/// # Panics
/// If there is no such device.
pub fn try_physical_device(instance: &ash::Instance) -> VkResult<vk::PhysicalDevice> {
    // SAFETY: The instance is alive.
    let devices = unsafe { instance.enumerate_physical_devices() }?;
    let name_of = |device: &vk::PhysicalDevice| {
        // SAFETY: One of the instance's.
        let properties = unsafe { instance.get_physical_device_properties(*device) };
        let name = properties.device_name_as_c_str().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let names: Vec<String> = devices.iter().map(name_of).collect();
    let index = selected(std::env::var("TILEHEAP_DEVICE").ok().as_deref(), &names);
    Ok(devices[index.unwrap_or_else(|fault| panic!("{fault}"))])
}

/// The index of the selected device, given the names of all devices.
fn selected(wanted: Option<&str>, names: &[String]) -> Result<usize, String> {
    let Some(wanted) = wanted else {
        return match names {
            [] => Err("no Vulkan device found".to_owned()),
            _ => Ok(0),
        };
    };
    let part = wanted.to_lowercase();
    let index = match wanted.parse() {
        Ok(index) => Some(index).filter(|&index| index < names.len()),
        Err(_) => names.iter().position(|name| name.to_lowercase().contains(&part)),
    };
    index.ok_or_else(|| format!("TILEHEAP_DEVICE is `{wanted}`, and the devices are {names:?}"))
}

#[cfg(test)]
mod tests {
    use super::selected;

    #[test]
    fn devices_are_selected_by_index_or_by_part_of_their_names() {
        let names = ["NVIDIA H200", "llvmpipe (LLVM 15)"].map(str::to_owned);
        assert_eq!(selected(None, &names), Ok(0));
        assert_eq!(selected(Some("1"), &names), Ok(1));
        assert_eq!(selected(Some("LLVMpipe"), &names), Ok(1));
        for wrong in ["2", "-1", "Adreno"] {
            let fault = selected(Some(wrong), &names).unwrap_err();
            assert!(fault.contains(wrong) && fault.contains("H200"), "{fault}");
        }
        assert!(selected(None, &[]).is_err());
    }
}
