//! The renderer's own memory, outside the frame: meshes, constants, the picture when there is no swapchain.

use ash::vk;
use bytemuck::Pod;
use tileheap::runtime::Device;

use super::error::{Called, Result};

/// A buffer that the host writes or reads through a pointer.
pub struct HostBuffer {
    pub handle: vk::Buffer,
    pub size: vk::DeviceSize,
    memory: vk::DeviceMemory,
    mapped: *mut u8,
}

impl HostBuffer {
    pub fn new(tile: &Device, size: vk::DeviceSize, usage: vk::BufferUsageFlags) -> Result<HostBuffer> {
        let device = tile.raw();
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the info is complete and chains nothing.
        let handle = unsafe { device.create_buffer(&info, None) }.called("vkCreateBuffer")?;
        // SAFETY: the buffer was just created on this device.
        let needs = unsafe { device.get_buffer_memory_requirements(handle) };
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let memory = allocate(tile, needs, wanted)?;
        // SAFETY: the memory is large enough, of a type that the buffer allows, and nothing else is bound to it.
        unsafe { device.bind_buffer_memory(handle, memory, 0) }.called("vkBindBufferMemory")?;
        // SAFETY: the memory is host visible and not mapped yet.
        let mapped = unsafe { device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) }
            .called("vkMapMemory")?;
        Ok(HostBuffer {
            handle,
            size,
            memory,
            mapped: mapped.cast(),
        })
    }

    /// A buffer that holds `content` for good.
    pub fn holding<T: Pod>(tile: &Device, content: &[T], usage: vk::BufferUsageFlags) -> Result<HostBuffer> {
        let mut buffer = HostBuffer::new(tile, size_of_val(content) as vk::DeviceSize, usage)?;
        buffer.bytes().copy_from_slice(bytemuck::cast_slice(content));
        Ok(buffer)
    }

    /// The content. The device must not use it meanwhile.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping covers the buffer until `destroy`, and is borrowed as long as the slice.
        unsafe { std::slice::from_raw_parts_mut(self.mapped, self.size as usize) }
    }

    /// # Safety
    /// The device does not use the buffer any more.
    pub unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty; freeing the memory unmaps it.
        unsafe {
            device.destroy_buffer(self.handle, None);
            device.free_memory(self.memory, None);
        }
    }
}

/// The image that the frame renders to where there is no swapchain.
pub struct Picture {
    pub image: vk::Image,
    pub view: vk::ImageView,
    memory: vk::DeviceMemory,
}

impl Picture {
    pub fn new(tile: &Device, format: vk::Format, extent: vk::Extent2D) -> Result<Picture> {
        let device = tile.raw();
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC);
        // SAFETY: the info is complete and chains nothing.
        let image = unsafe { device.create_image(&info, None) }.called("vkCreateImage")?;
        // SAFETY: the image was just created on this device.
        let needs = unsafe { device.get_image_memory_requirements(image) };
        let memory = allocate(tile, needs, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
        // SAFETY: the memory is large enough, of a type that the image allows, and nothing else is bound to it.
        unsafe { device.bind_image_memory(image, memory, 0) }.called("vkBindImageMemory")?;
        let view = color_view(device, image, format)?;
        Ok(Picture { image, view, memory })
    }

    /// # Safety
    /// The device does not use the image any more.
    pub unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty; the view goes before its image, the image before its memory.
        unsafe {
            device.destroy_image_view(self.view, None);
            device.destroy_image(self.image, None);
            device.free_memory(self.memory, None);
        }
    }
}

/// A view of a whole colour image of one level and layer.
pub fn color_view(device: &ash::Device, image: vk::Image, format: vk::Format) -> Result<vk::ImageView> {
    let range = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: 0,
        layer_count: 1,
    };
    let info = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(format)
        .subresource_range(range);
    // SAFETY: the image is one of the device, of this format, with one level and layer.
    unsafe { device.create_image_view(&info, None) }.called("vkCreateImageView")
}

fn allocate(
    tile: &Device,
    needs: vk::MemoryRequirements,
    wanted: vk::MemoryPropertyFlags,
) -> Result<vk::DeviceMemory> {
    // Tile memory is device local too: a renderer's own resources must never land there.
    let profile = tile.profile();
    let usable = profile.ordinary_type_bits() & profile.type_bits(|kind| kind.flags.contains(wanted));
    let candidates = usable & needs.memory_type_bits;
    if candidates == 0 {
        return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY).called("finding a memory type");
    }
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(candidates.trailing_zeros());
    // SAFETY: the memory type is one of the device, and not one that a feature guards.
    unsafe { tile.raw().allocate_memory(&info, None) }.called("vkAllocateMemory")
}
