//! Enumerate: the capabilities of each Vulkan device of this machine, determined without creating the device.

use ash::vk;

use super::context_desc::ContextDesc;
use super::error::VkResultExt;
use super::instance::{Instance, load, no_device};
use super::support::DeviceSupport;
use super::support::text_of;
use crate::Result;

/// A physical device and the capabilities that it supports.
#[derive(Debug)]
pub struct EnumeratedDevice {
    /// The device's name.
    pub name: String,
    /// The kind of device: discrete, integrated, virtual or CPU.
    pub kind: vk::PhysicalDeviceType,
    /// The capabilities that the device supports, or the reason why it cannot be used.
    pub support: Result<DeviceSupport>,
}

/// Queries every physical device of this machine, in Vulkan's order; at least one.
///
/// ```no_run
/// for device in tileheap::runtime::detect::enumerate_devices()? {
///     match device.support {
///         Ok(support) => println!("{}: tile heap {:?}", device.name, support.profile().tile),
///         Err(why) => println!("{}: {why}", device.name),
///     }
/// }
/// # Ok::<(), tileheap::Error>(())
/// ```
///
/// # Errors
/// If there is no Vulkan loader or no device.
pub fn enumerate_devices() -> Result<Vec<EnumeratedDevice>> {
    // It destroys itself when it is dropped at the end of this function.
    let instance = Instance::new(load()?, &ContextDesc::from_env("tileheap"))?;
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.raw.enumerate_physical_devices() }
        .with_call("vkEnumeratePhysicalDevices", || "the instance")?;
    if devices.is_empty() {
        return Err(no_device().into());
    }
    let ask = |physical_device| {
        // SAFETY: one of the instance's.
        let properties = unsafe { instance.raw.get_physical_device_properties(physical_device) };
        // SAFETY: one of the instance's, which was created with this version.
        let support = unsafe { DeviceSupport::query(&instance.raw, physical_device, instance.api_version) };
        EnumeratedDevice {
            name: text_of(properties.device_name_as_c_str()),
            kind: properties.device_type,
            support,
        }
    };
    Ok(devices.into_iter().map(ask).collect())
}
