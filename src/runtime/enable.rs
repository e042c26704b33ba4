//! What has to be added to a caller's `VkDeviceCreateInfo`.

use ash::vk;

use super::Capabilities;

/// Extension names and feature structs to add to the creation of a device, without doubling what is there.
///
/// ```no_run
/// # use ash::vk;
/// # fn f(support: &tileheap::runtime::Support, info: vk::DeviceCreateInfo<'_>) {
/// // SAFETY: the names and the chain of `info` are alive.
/// let mut enable = unsafe { support.enable(&info) };
/// let info = enable.info(&info); // give this to vkCreateDevice
/// let enabled = enable.capabilities(); // and this to `DeviceDesc::enabled`
/// # }
/// ```
#[derive(Debug)]
pub struct Enable {
    capabilities: Capabilities,
}

impl Enable {
    /// What the device will have enabled.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// `info` with the additions; `info` itself is not changed.
    pub fn info<'a>(&'a mut self, _info: &vk::DeviceCreateInfo<'a>) -> vk::DeviceCreateInfo<'a> {
        unimplemented!()
    }
}
