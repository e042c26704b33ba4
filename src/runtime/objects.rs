//! Support for crates that create their own resources on a [`Device`]: memory, objects with one owner, one-shot commands.
//!
//! ```text
//! Device::owned_objects ──► OwnedObjects ──► create_image, create_buffer ──► MemoryRequirements
//!                                        ──► allocate(MemoryDesc) ─────────► MemoryBlock ──► bind, map
//!                                        ──► destroy
//! ```
//! Memory comes from the runtime's allocator (or the caller's, [`DeviceDesc::allocator`](super::DeviceDesc::allocator)), never from tile memory types
//! unless the caller requests them. The caller submits by itself, or with [`OneShotCommands`] for uploads.

use ash::vk;

use super::device::Device;
use crate::Result;

pub use super::create_info::{full_subresource_range, image_barrier};
pub use super::device::QueuesGuard;
pub use super::error::VkResultExt;
pub use super::memory::{
    AllocatedBlock, BlockAllocator, BlockError, BlockRequest, DedicatedTo, MemoryBlock, MemoryDesc,
    allocate_memory,
};
pub use super::one_shot::OneShotCommands;
pub use super::owned::OwnedObjects;
pub use crate::measure::MemoryRequirements;

impl Device {
    /// An empty set of objects.
    pub fn owned_objects(&self) -> OwnedObjects {
        OwnedObjects::new(self.state().clone())
    }

    /// Returns true if the device can create such an image: its format, usage, size, levels, layers and samples.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn supports_image(&self, name: &str, info: &vk::ImageCreateInfo<'_>) -> Result<bool> {
        self.state().supports_image(name, (info, 0))
    }

    /// The memory requirements of an image, before it is created.
    ///
    /// # Errors
    /// If the driver fails.
    ///
    /// # Safety
    /// `info` is valid, and [supported](Device::supports_image).
    pub unsafe fn image_requirements(
        &self,
        name: &str,
        info: &vk::ImageCreateInfo<'_>,
    ) -> Result<MemoryRequirements> {
        self.state().image_requirements(name, info)
    }

    /// The memory requirements of a buffer, before it is created.
    ///
    /// # Errors
    /// If the driver fails.
    ///
    /// # Safety
    /// `info` is valid.
    pub unsafe fn buffer_requirements(
        &self,
        name: &str,
        info: &vk::BufferCreateInfo<'_>,
    ) -> Result<MemoryRequirements> {
        self.state().buffer_requirements(name, info)
    }

    /// Names an object for debuggers (`VK_EXT_debug_utils`), if that is enabled.
    ///
    /// # Safety
    /// The object is alive, this device's, and not used by another thread meanwhile.
    pub unsafe fn set_name(&self, handle: impl vk::Handle, name: &str) {
        self.state().set_name(handle, name);
    }
}
