//! Memory that resources share: each resource is bound at the offset that the program chooses, without a check for overlaps.

use std::ffi::CStr;

use ash::vk;

use crate::stage::Stage;
use crate::support::error::{Called, Result, bail};
use crate::support::memory::{Image, create_image};

/// Bytes of each block.
const BLOCK: vk::DeviceSize = 4 << 20;
/// Offsets are multiples of this number, which meets the alignments and the `bufferImageGranularity` of most devices.
pub(crate) const PAGE: vk::DeviceSize = 1 << 16;

/// A device memory object, in which resources are placed by hand.
pub(crate) struct Block<'a> {
    stage: &'a Stage<'a>,
    memory: vk::DeviceMemory,
}

/// An image in a block.
#[derive(Clone, Copy)]
pub(crate) struct Texture {
    pub(crate) image: Image,
    pub(crate) extent: vk::Extent2D,
    /// The first page after it.
    pub(crate) end: vk::DeviceSize,
}

/// A buffer in a block.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    pub(crate) handle: vk::Buffer,
    /// The first page after it.
    pub(crate) end: vk::DeviceSize,
}

impl<'a> Block<'a> {
    pub(crate) fn new(stage: &'a Stage<'a>, name: &CStr) -> Result<Block<'a>> {
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(BLOCK)
            .memory_type_index(stage.transient_type);
        // SAFETY: the type is one of the device, and not one that a feature guards.
        let memory = unsafe { stage.device.allocate_memory(&info, None) }.called("vkAllocateMemory")?;
        // SAFETY: run at the end, after everything bound to it is destroyed.
        stage.keep(move |device| unsafe { device.free_memory(memory, None) });
        stage.gpu.set_name(memory, name)?;
        Ok(Block { stage, memory })
    }

    /// Creates an image of one level and layer at an offset.
    pub(crate) fn texture(
        &self,
        name: &CStr,
        (format, extent): (vk::Format, vk::Extent2D),
        usage: vk::ImageUsageFlags,
        offset: vk::DeviceSize,
    ) -> Result<Texture> {
        let (stage, device) = (self.stage, self.stage.device);
        let handle = create_image(device, format, extent, usage)?;
        // SAFETY: run at the end, after its view.
        stage.keep(move |device| unsafe { device.destroy_image(handle, None) });
        stage.gpu.set_name(handle, name)?;
        // SAFETY: the image was just created on this device.
        let needs = unsafe { device.get_image_memory_requirements(handle) };
        let end = self.end(needs, offset)?;
        // SAFETY: offset, size and memory type are what the image needs.
        unsafe { device.bind_image_memory(handle, self.memory, offset) }.called("vkBindImageMemory")?;
        let aspect = match format {
            vk::Format::D16_UNORM => vk::ImageAspectFlags::DEPTH,
            _ => vk::ImageAspectFlags::COLOR,
        };
        let image = Image::viewed(device, handle, format, aspect)?;
        // SAFETY: run at the end, before the image is destroyed.
        stage.keep(move |device| unsafe { device.destroy_image_view(image.view, None) });
        Ok(Texture { image, extent, end })
    }

    /// Creates a buffer at an offset.
    pub(crate) fn buffer(
        &self,
        name: &CStr,
        size: vk::DeviceSize,
        usage: vk::BufferUsageFlags,
        offset: vk::DeviceSize,
    ) -> Result<Buffer> {
        let (stage, device) = (self.stage, self.stage.device);
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the info is complete and chains nothing.
        let handle = unsafe { device.create_buffer(&info, None) }.called("vkCreateBuffer")?;
        // SAFETY: run at the end.
        stage.keep(move |device| unsafe { device.destroy_buffer(handle, None) });
        stage.gpu.set_name(handle, name)?;
        // SAFETY: the buffer was just created on this device.
        let needs = unsafe { device.get_buffer_memory_requirements(handle) };
        let end = self.end(needs, offset)?;
        // SAFETY: offset, size and memory type are what the buffer needs.
        unsafe { device.bind_buffer_memory(handle, self.memory, offset) }.called("vkBindBufferMemory")?;
        Ok(Buffer { handle, end })
    }

    /// The first page after a resource that is placed at an offset.
    fn end(&self, needs: vk::MemoryRequirements, offset: vk::DeviceSize) -> Result<vk::DeviceSize> {
        let end = (offset + needs.size).next_multiple_of(PAGE);
        if offset % needs.alignment != 0 || end > BLOCK {
            let (size, alignment) = (needs.size, needs.alignment);
            bail!(
                "a resource of {size} B with alignment {alignment} does not fit at offset {offset} of a block of {BLOCK} B"
            );
        }
        if needs.memory_type_bits >> self.stage.transient_type & 1 == 0 {
            bail!(
                "memory type {} cannot hold the resource",
                self.stage.transient_type
            );
        }
        Ok(end)
    }
}
