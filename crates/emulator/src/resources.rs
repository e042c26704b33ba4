//! What the layer remembers of the application's objects: those that have to do with tile memory, and no others.

use std::sync::{Arc, OnceLock};

use ash::vk;
use ash::vk::Handle;
use tileheap_device::ffi::{BUFFER_USAGE_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM};
use tileheap_device::profile::TileRequirements;
use tileheap_device::units::{Alignment, Bytes};

use crate::descriptors::{Set, Template};
use crate::device::Device;
use crate::guard::down;
use crate::physical::{Emulation, ImageRequest};
use crate::shaders::Reached;
use crate::sharded::Sharded;

/// The objects of a device.
#[derive(Default)]
pub(crate) struct Resources {
    /// Tile memory objects, and their sizes in bytes.
    pub(crate) objects: Sharded<u64>,
    pub(crate) images: Sharded<Arc<Resource>>,
    pub(crate) buffers: Sharded<Arc<Resource>>,
    /// Views of tile images.
    pub(crate) image_views: Sharded<Arc<Resource>>,
    /// Views of tile buffers.
    pub(crate) buffer_views: Sharded<Arc<Resource>>,
    /// Framebuffers, by attachment the tile images among them; those of imageless ones come with the render pass.
    pub(crate) framebuffers: Sharded<Arc<Framebuffer>>,
    pub(crate) render_passes: Sharded<Arc<RenderPass>>,
    /// What shader modules and pipelines reach.
    pub(crate) modules: Sharded<Arc<Vec<Reached>>>,
    pub(crate) pipelines: Sharded<Arc<Vec<Reached>>>,
    pub(crate) sets: Sharded<Arc<Set>>,
    pub(crate) templates: Sharded<Arc<Template>>,
    /// Images that are transient attachments, where the device has an emulated lazy type.
    pub(crate) transient_images: Sharded<()>,
}

/// An image or a buffer with the tile usage bit.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) object: (vk::ObjectType, u64),
    /// What it needs of the tile heap; `None` is 0 and 0.
    pub(crate) needs: Option<TileRequirements>,
    /// Bytes that the driver takes of the heap.
    pub(crate) driver_size: u64,
    /// Whether the driver can bind it to the heap's memory.
    pub(crate) fits_below: bool,
    pub(crate) extent: vk::Extent2D,
    /// Depth and stencil: two contents in the same bytes.
    pub(crate) two_aspects: bool,
    /// One mip level and one layer.
    pub(crate) single: bool,
    /// A buffer whose address shaders may have: its accesses are invisible.
    pub(crate) addressable: bool,
    /// Where it lies, once bound to tile memory.
    pub(crate) place: OnceLock<Place>,
}

/// Where a resource lies in tile memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The memory object's handle.
    pub(crate) memory: u64,
    /// The object's size in bytes.
    pub(crate) object_size: u64,
    /// The first byte.
    pub(crate) first: u64,
    /// The end of the driver's bytes.
    pub(crate) end: u64,
}

/// A framebuffer with views.
#[derive(Debug)]
pub(crate) struct Framebuffer {
    /// By attachment; `None` for images in ordinary memory.
    pub(crate) attachments: Vec<Option<Arc<Resource>>>,
    pub(crate) imageless: bool,
    pub(crate) extent: vk::Extent2D,
    pub(crate) render_pass: u64,
}

/// What a render pass does to its attachments.
#[derive(Debug)]
pub(crate) struct RenderPass {
    pub(crate) attachments: Vec<Attachment>,
    /// `VkTileMemorySizeInfoQCOM::size`; 0 without the structure.
    pub(crate) tile_size: u64,
    /// Bytes per pixel of each subpass's attachments.
    pub(crate) subpass_bytes: Vec<u64>,
}

/// What a render pass does to one attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attachment {
    pub(crate) load: vk::AttachmentLoadOp,
    pub(crate) store: vk::AttachmentStoreOp,
    /// The same as above where the format has one aspect.
    pub(crate) stencil_load: vk::AttachmentLoadOp,
    pub(crate) stencil_store: vk::AttachmentStoreOp,
    pub(crate) from_undefined: bool,
    pub(crate) is_resolve: bool,
}

/// Whether a format has depth and stencil.
pub(crate) fn has_two_aspects(format: vk::Format) -> bool {
    use vk::Format as F;
    matches!(
        format,
        F::D16_UNORM_S8_UINT | F::D24_UNORM_S8_UINT | F::D32_SFLOAT_S8_UINT
    )
}

/// Whether a format has a stencil aspect alone.
pub(crate) fn is_stencil_only(format: vk::Format) -> bool {
    format == vk::Format::S8_UINT
}

impl Device {
    /// What an image with the tile usage bit needs, given what the driver needs of it.
    pub(crate) fn tile_image_needs(
        &self,
        info: &vk::ImageCreateInfo<'_>,
        stencil_usage: vk::ImageUsageFlags,
        driver: &vk::MemoryRequirements,
    ) -> Option<TileRequirements> {
        let emulation = self.physical.emulation.as_ref()?;
        let request = ImageRequest {
            format: info.format,
            kind: info.image_type,
            tiling: info.tiling,
            usage: info.usage,
            stencil_usage,
            flags: info.flags,
        };
        if !request.is_tile() || !emulation.grants(&request) {
            return None;
        }
        let model = emulation.profile.tile.image(info);
        let model = match model {
            Some(needs) => needs.size.0,
            // What is granted beyond the guaranteed set has the size that the driver gives it.
            None if emulation.profile.generous => driver.size,
            None => return None,
        };
        self.grown(emulation, model, driver)
    }

    /// What a buffer with the tile usage bit needs, given what the driver needs of it.
    pub(crate) fn tile_buffer_needs(
        &self,
        info: &vk::BufferCreateInfo<'_>,
        driver: &vk::MemoryRequirements,
    ) -> Option<TileRequirements> {
        let emulation = self.physical.emulation.as_ref()?;
        if !info.usage.contains(BUFFER_USAGE_TILE_MEMORY_BIT_QCOM) {
            return None;
        }
        let model = emulation.profile.tile.buffer(info)?;
        self.grown(emulation, model.size.0, driver)
    }

    /// The model's size and alignment, grown until every offset they allow is legal below.
    fn grown(
        &self,
        emulation: &Emulation,
        model: u64,
        driver: &vk::MemoryRequirements,
    ) -> Option<TileRequirements> {
        let tile = self.tile.as_ref()?;
        let heap_type = tile.heap.memory_type()?;
        if driver.memory_type_bits >> heap_type & 1 == 0 {
            return None;
        }
        let profile = &emulation.profile;
        let alignment = profile.tile.block.bytes.lcm(Alignment::new(driver.alignment)?)?;
        let size = Bytes(model.max(driver.size).max(profile.least_size));
        let granularity = if profile.least_size > 1 {
            profile.tile.block.bytes
        } else {
            alignment
        };
        let size = size.checked_align_up(granularity)?;
        let odd = u64::from(profile.odd_sizes);
        Some(TileRequirements {
            size: Bytes(size.0.checked_add(odd)?),
            alignment,
        })
    }

    /// Remembers a new image, if it has the tile usage bit.
    pub(crate) fn remember_image(
        &self,
        handle: vk::Image,
        info: &vk::ImageCreateInfo<'_>,
        stencil_usage: vk::ImageUsageFlags,
    ) {
        if info.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT) && self.lazy_bits(u32::MAX) != 0 {
            self.resources.transient_images.insert(handle.as_raw(), ());
        }
        if self.tile.is_none() || !(info.usage | stencil_usage).contains(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM) {
            return;
        }
        let mut driver = vk::MemoryRequirements::default();
        if !info.flags.contains(vk::ImageCreateFlags::DISJOINT) {
            down!(
                self.next,
                vkGetImageMemoryRequirements(self.handle, handle, &mut driver)
            );
        }
        let resource = Resource {
            object: (vk::ObjectType::IMAGE, handle.as_raw()),
            needs: self.tile_image_needs(info, stencil_usage, &driver),
            driver_size: driver.size,
            fits_below: self.fits_below(&driver),
            extent: vk::Extent2D {
                width: info.extent.width,
                height: info.extent.height,
            },
            two_aspects: has_two_aspects(info.format),
            single: info.mip_levels == 1 && info.array_layers == 1,
            addressable: false,
            place: OnceLock::new(),
        };
        self.resources.images.insert(handle.as_raw(), Arc::new(resource));
    }

    /// Remembers a new buffer, if it has the tile usage bit.
    pub(crate) fn remember_buffer(&self, handle: vk::Buffer, info: &vk::BufferCreateInfo<'_>) {
        if self.tile.is_none() || !info.usage.contains(BUFFER_USAGE_TILE_MEMORY_BIT_QCOM) {
            return;
        }
        let mut driver = vk::MemoryRequirements::default();
        down!(
            self.next,
            vkGetBufferMemoryRequirements(self.handle, handle, &mut driver)
        );
        let resource = Resource {
            object: (vk::ObjectType::BUFFER, handle.as_raw()),
            needs: self.tile_buffer_needs(info, &driver),
            driver_size: driver.size,
            fits_below: self.fits_below(&driver),
            extent: vk::Extent2D::default(),
            two_aspects: false,
            single: true,
            addressable: info.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS),
            place: OnceLock::new(),
        };
        self.resources.buffers.insert(handle.as_raw(), Arc::new(resource));
    }

    fn fits_below(&self, driver: &vk::MemoryRequirements) -> bool {
        let heap_type = self.tile.as_ref().and_then(|tile| tile.heap.memory_type());
        heap_type.is_some_and(|heap_type| driver.memory_type_bits >> heap_type & 1 == 1)
    }

    /// The bits of the emulated lazy type, for a resource with these driver bits.
    pub(crate) fn lazy_bits(&self, driver: u32) -> u32 {
        let emulation = self.physical.emulation.as_ref();
        emulation.map_or(0, |emulation| emulation.remap.lazy_bits(driver))
    }

    /// The driver's memory type bits as the application's.
    pub(crate) fn shown_bits(&self, driver: u32) -> u32 {
        let emulation = self.physical.emulation.as_ref();
        emulation.map_or(driver, |emulation| emulation.remap.bits(driver))
    }

    /// The bit of the tile type, for a resource that can live there.
    pub(crate) fn tile_bit(&self, needs: Option<TileRequirements>) -> u32 {
        let emulation = self.physical.emulation.as_ref().filter(|_| needs.is_some());
        emulation.map_or(0, |emulation| emulation.remap.tile_bit())
    }
}
