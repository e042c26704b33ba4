//! Look: what every Vulkan device of this machine offers, without creating one.

use ash::vk;

use super::fault::Called;
use super::instance::Instance;
use super::support::text_of;
use super::{ContextDesc, RuntimeFault, Support};
use crate::{Error, Result};

/// A physical device that was asked.
#[derive(Debug)]
pub struct Surveyed {
    /// Its name.
    pub name: String,
    /// Discrete, integrated, virtual, CPU.
    pub kind: vk::PhysicalDeviceType,
    /// What it offers, or why it cannot be used at all.
    pub support: Result<Support>,
}

/// Asks every device of this machine what it offers, in Vulkan's order. At least one is there.
///
/// # Errors
/// When there is no loader or no device: one line that says what to do.
pub fn survey() -> Result<Vec<Surveyed>> {
    let none = || -> Error {
        let (wanted, found) = ("at all".to_owned(), "none".to_owned());
        RuntimeFault::NoDevice { wanted, found }.into()
    };
    // Dropped at the end of this function, it destroys itself.
    let instance = match Instance::new(&ContextDesc::from_env("tileheap")) {
        // What the loader says where no driver is installed.
        Err(Error::Runtime(RuntimeFault::Vulkan {
            result: vk::Result::ERROR_INCOMPATIBLE_DRIVER,
            ..
        })) => {
            return Err(none());
        }
        instance => instance?,
    };
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.raw.enumerate_physical_devices() }
        .called("vkEnumeratePhysicalDevices", || "the instance")?;
    if devices.is_empty() {
        return Err(none());
    }
    let ask = |physical_device| {
        // SAFETY: one of the instance's.
        let properties = unsafe { instance.raw.get_physical_device_properties(physical_device) };
        // SAFETY: one of the instance's, which was created with this version.
        let support = unsafe { Support::query(&instance.raw, physical_device, instance.api_version) };
        Surveyed {
            name: text_of(&properties.device_name),
            kind: properties.device_type,
            support,
        }
    };
    Ok(devices.into_iter().map(ask).collect())
}
