//! The renderer's own memory, outside the frame: meshes, constants, the picture when there is no swapchain.

use ash::vk;
use bytemuck::Pod;
use tileheap::runtime::Device;

use super::error::{Called, Result};

/// A device, and the memory types that a renderer's own resources may use, as bits.
#[derive(Clone, Copy)]
pub struct Allocator<'a> {
    device: &'a ash::Device,
    device_local: u32,
    host_visible: u32,
}

const HOST_VISIBLE: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw() | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw(),
);

impl<'a> Allocator<'a> {
    /// An allocator that allows any memory type of the device.
    pub fn of_all(device: &'a ash::Device, memory: &vk::PhysicalDeviceMemoryProperties) -> Allocator<'a> {
        let types = || (0..).zip(memory.memory_types_as_slice());
        let having = |wanted| {
            let fitting = types().filter(|(_, kind)| kind.property_flags.contains(wanted));
            fitting.fold(0, |bits, (index, _)| bits | 1 << index)
        };
        Allocator {
            device,
            device_local: having(vk::MemoryPropertyFlags::DEVICE_LOCAL),
            host_visible: having(HOST_VISIBLE),
        }
    }

    fn allocate(&self, needs: vk::MemoryRequirements, usable: u32) -> Result<vk::DeviceMemory> {
        let candidates = usable & needs.memory_type_bits;
        if candidates == 0 {
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY).called("finding a memory type");
        }
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(candidates.trailing_zeros());
        // SAFETY: the memory type is one of the device, and not one that a feature guards.
        unsafe { self.device.allocate_memory(&info, None) }.called("vkAllocateMemory")
    }
}

/// Allows ordinary types only: tile memory is device local too, and must not be used for a renderer's own resources.
impl<'a> From<&'a Device> for Allocator<'a> {
    fn from(tile: &'a Device) -> Allocator<'a> {
        let profile = tile.profile();
        let having =
            |wanted| profile.ordinary_type_bits() & profile.type_bits(|kind| kind.flags.contains(wanted));
        Allocator {
            device: tile.raw(),
            device_local: having(vk::MemoryPropertyFlags::DEVICE_LOCAL),
            host_visible: having(HOST_VISIBLE),
        }
    }
}

/// A buffer that the host writes or reads through a pointer.
pub struct HostBuffer {
    pub handle: vk::Buffer,
    pub size: vk::DeviceSize,
    memory: vk::DeviceMemory,
    mapped: *mut u8,
}

impl HostBuffer {
    pub fn new<'a>(
        memory: impl Into<Allocator<'a>>,
        size: vk::DeviceSize,
        usage: vk::BufferUsageFlags,
    ) -> Result<HostBuffer> {
        let allocator = memory.into();
        let device = allocator.device;
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the info is complete and chains nothing.
        let handle = unsafe { device.create_buffer(&info, None) }.called("vkCreateBuffer")?;
        // SAFETY: the buffer was just created on this device.
        let needs = unsafe { device.get_buffer_memory_requirements(handle) };
        let memory = allocator.allocate(needs, allocator.host_visible)?;
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

    /// A buffer that permanently holds `content`.
    pub fn holding<'a, T: Pod>(
        memory: impl Into<Allocator<'a>>,
        content: &[T],
        usage: vk::BufferUsageFlags,
    ) -> Result<HostBuffer> {
        let mut buffer = HostBuffer::new(memory, size_of_val(content) as vk::DeviceSize, usage)?;
        buffer.bytes().copy_from_slice(bytemuck::cast_slice(content));
        Ok(buffer)
    }

    /// A buffer that receives the texels of a picture, four bytes each.
    pub fn for_texels<'a>(memory: impl Into<Allocator<'a>>, extent: vk::Extent2D) -> Result<HostBuffer> {
        let size = u64::from(extent.width) * u64::from(extent.height) * 4;
        HostBuffer::new(memory, size, vk::BufferUsageFlags::TRANSFER_DST)
    }

    /// The buffer's bytes. The device must not use them while they are borrowed.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping covers the buffer until `destroy`, and is borrowed as long as the slice.
        unsafe { std::slice::from_raw_parts_mut(self.mapped, self.size as usize) }
    }

    /// Destroys the buffer and frees its memory.
    ///
    /// # Safety
    /// The device no longer uses the buffer.
    pub unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty; freeing the memory unmaps it.
        unsafe {
            device.destroy_buffer(self.handle, None);
            device.free_memory(self.memory, None);
        }
    }
}

/// An image of one level and layer, with its view and its own memory.
#[derive(Clone, Copy, Default)]
pub struct Image {
    pub handle: vk::Image,
    pub view: vk::ImageView,
    /// The subresource range of the whole image.
    pub range: vk::ImageSubresourceRange,
    memory: vk::DeviceMemory,
}

/// The usage of a picture that is drawn and read back.
pub const PICTURE_USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw() | vk::ImageUsageFlags::TRANSFER_SRC.as_raw(),
);

impl Image {
    pub fn new<'a>(
        memory: impl Into<Allocator<'a>>,
        format: vk::Format,
        extent: vk::Extent2D,
        usage: vk::ImageUsageFlags,
    ) -> Result<Image> {
        let allocator = memory.into();
        let device = allocator.device;
        let handle = create_image(device, format, extent, usage)?;
        // SAFETY: the image was just created on this device.
        let needs = unsafe { device.get_image_memory_requirements(handle) };
        let memory = allocator.allocate(needs, allocator.device_local)?;
        // SAFETY: the memory is large enough, of a type that the image allows, and nothing else is bound to it.
        unsafe { device.bind_image_memory(handle, memory, 0) }.called("vkBindImageMemory")?;
        let is_depth = usage.contains(vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT);
        let aspect = if is_depth {
            vk::ImageAspectFlags::DEPTH
        } else {
            vk::ImageAspectFlags::COLOR
        };
        Ok(Image {
            memory,
            ..Image::viewed(device, handle, format, aspect)?
        })
    }

    /// An image whose memory is owned elsewhere, with a new view.
    pub fn viewed(
        device: &ash::Device,
        handle: vk::Image,
        format: vk::Format,
        aspect: vk::ImageAspectFlags,
    ) -> Result<Image> {
        let range = vk::ImageSubresourceRange {
            aspect_mask: aspect,
            level_count: 1,
            layer_count: 1,
            ..vk::ImageSubresourceRange::default()
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        // SAFETY: the image is one of the device, of this format, with one level and layer, and has memory.
        let view = unsafe { device.create_image_view(&info, None) }.called("vkCreateImageView")?;
        Ok(Image {
            handle,
            view,
            range,
            memory: vk::DeviceMemory::null(),
        })
    }

    /// Destroys the image and its view, and frees its memory.
    ///
    /// # Safety
    /// The device no longer uses the image.
    pub unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty; the view is destroyed before its image, the image before its memory; null is ignored.
        unsafe {
            device.destroy_image_view(self.view, None);
            device.destroy_image(self.handle, None);
            device.free_memory(self.memory, None);
        }
    }
}

/// An image of one level and layer, without memory.
pub fn create_image(
    device: &ash::Device,
    format: vk::Format,
    extent: vk::Extent2D,
    usage: vk::ImageUsageFlags,
) -> Result<vk::Image> {
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(extent.into())
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    // SAFETY: the info is complete and chains nothing.
    unsafe { device.create_image(&info, None) }.called("vkCreateImage")
}
