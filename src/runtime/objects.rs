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
use crate::ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
use crate::frame::tables::{Resource, ResourceKind};
use crate::frame::valid_usage::accepts_image;
use crate::frame::{ImageDesc, Persistence, TileConstraint};

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
    /// Creates an empty set of objects.
    pub fn owned_objects(&self) -> OwnedObjects {
        OwnedObjects::new(self.state().clone())
    }

    /// Returns true if the device can create such an image: its format, usage, flags, size, levels, layers and samples. Also for images that frames
    /// have only as external resources, such as those with the usage `ATTACHMENT_FEEDBACK_LOOP_EXT`. The driver is only queried about images that
    /// break no rule of [valid usage](crate::frame::valid_usage).
    ///
    /// Returns false for images that may be valid, but need features, structures or memory that tileheap does not have: sparse, protected, disjoint and
    /// video images, images whose tiling is a DRM format modifier, and, among the formats that need a sampler Y'CbCr conversion, images with several
    /// layers and those of `VK_EXT_ycbcr_2plane_444_formats`.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn supports_image(&self, name: &str, info: &vk::ImageCreateInfo<'_>) -> Result<bool> {
        let tilings = [vk::ImageTiling::OPTIMAL, vk::ImageTiling::LINEAR];
        let vk::Extent3D { width, height, depth } = info.extent;
        let counts = [width, height, depth, info.mip_levels, info.array_layers];
        let has_tile = info.usage.contains(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM) && self.profile().tile.is_none();
        if !tilings.contains(&info.tiling) || counts.contains(&0) || has_tile {
            return Ok(false);
        }
        let desc = ImageDesc {
            image_type: info.image_type,
            mip_levels: info.mip_levels,
            array_layers: info.array_layers,
            samples: info.samples,
            flags: info.flags,
            ..ImageDesc::new(info.format, info.extent)
        };
        let image = Resource {
            name: name.to_owned(),
            kind: ResourceKind::Image {
                desc,
                extent: info.extent,
                usage: info.usage,
            },
            persistence: Persistence::Transient,
            tile_constraint: TileConstraint::None,
            level_of: None,
        };
        if !accepts_image(&image, self.profile()) {
            return Ok(false);
        }
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

    /// Names an object for debuggers, if `VK_EXT_debug_utils` is enabled.
    ///
    /// # Safety
    /// The object is alive, this device's, and not used by another thread meanwhile.
    pub unsafe fn set_name(&self, handle: impl vk::Handle, name: &str) {
        self.state().set_name(handle, name);
    }
}
