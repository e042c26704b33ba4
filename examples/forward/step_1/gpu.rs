//! The device, memory, barriers, passes and submission, each wrapped once. Tile memory is enabled where it is there.

use ash::vk;
use tileheap::runtime::{Capabilities, Device, DeviceDesc, DeviceQueue, Support};

use crate::machine::Machine;
use crate::support::error::{Called, Error, Result};

/// Depth is 1 at the far end.
pub(crate) const FAR: vk::ClearValue = vk::ClearValue {
    depth_stencil: vk::ClearDepthStencilValue {
        depth: 1.0,
        stencil: 0,
    },
};

/// What an image was or will be used for: its layout, the stages, the accesses.
pub(crate) type Use = (vk::ImageLayout, vk::PipelineStageFlags2, vk::AccessFlags2);

pub(crate) const NOTHING: Use = (
    vk::ImageLayout::UNDEFINED,
    vk::PipelineStageFlags2::NONE,
    vk::AccessFlags2::NONE,
);
pub(crate) const DEPTH_TARGET: Use = (
    vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL,
    vk::PipelineStageFlags2::from_raw(
        vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS.as_raw()
            | vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS.as_raw(),
    ),
    vk::AccessFlags2::from_raw(
        vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ.as_raw()
            | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw(),
    ),
);
pub(crate) const COLOR_TARGET: Use = (
    vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
    vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
    vk::AccessFlags2::COLOR_ATTACHMENT_WRITE,
);
pub(crate) const SAMPLED: Use = (
    vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
    vk::PipelineStageFlags2::FRAGMENT_SHADER,
    vk::AccessFlags2::SHADER_SAMPLED_READ,
);
pub(crate) const COPIED: Use = (
    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
    vk::PipelineStageFlags2::COPY,
    vk::AccessFlags2::TRANSFER_READ,
);

/// Cleared and stored.
pub(crate) fn attachment(
    image: &Image,
    layout: vk::ImageLayout,
    clear: vk::ClearValue,
) -> vk::RenderingAttachmentInfo<'static> {
    vk::RenderingAttachmentInfo::default()
        .image_view(image.view)
        .image_layout(layout)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(clear)
}

/// The device and its queue, and the calls that a renderer wraps once.
pub(crate) struct Gpu {
    pub(crate) machine: Machine,
    pub(crate) device: ash::Device,
    pub(crate) queue: vk::Queue,
    pub(crate) tile: Device,
}

impl Gpu {
    pub(crate) fn new() -> Result<Gpu> {
        let machine = Machine::new()?;
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(machine.family)
            .queue_priorities(&priorities)];
        let mut features = vk::PhysicalDeviceVulkan13Features::default()
            .dynamic_rendering(true)
            .synchronization2(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .push_next(&mut features);
        let physical_device = machine.physical_device;
        // SAFETY: the physical device is one of the instance, which was created with this version.
        let support = unsafe { Support::query(&machine.instance, physical_device, vk::API_VERSION_1_3) }?;
        for reason in support.missing() {
            println!("no tile memory: {reason}");
        }
        // The instance was created without VK_EXT_debug_utils.
        let wanted = Capabilities::RECOMMENDED - Capabilities::DEBUG_UTILS;
        // SAFETY: names and chain are those above.
        let mut enable = unsafe { support.enable(&info, wanted) };
        // SAFETY: every device of Vulkan 1.3 has these features, this one the queue family and what it offers.
        let device = unsafe {
            machine
                .instance
                .create_device(physical_device, &enable.info(&info), None)
        }
        .called("vkCreateDevice")?;
        // SAFETY: the device was created with this queue.
        let queue = unsafe { device.get_device_queue(machine.family, 0) };
        let desc = DeviceDesc {
            queues: vec![DeviceQueue {
                handle: queue,
                family: machine.family,
                capabilities: vk::QueueFlags::GRAPHICS,
            }],
            enabled: enable.capabilities(),
            ..DeviceDesc::default()
        };
        // SAFETY: they belong together, outlive it, and have these capabilities; one thread uses the queue.
        let tile = unsafe { Device::new(&machine.instance, physical_device, &device, &support, desc) }?;
        Ok(Gpu {
            machine,
            device,
            queue,
            tile,
        })
    }

    /// Memory for one image or buffer.
    fn allocate(
        &self,
        needs: vk::MemoryRequirements,
        wanted: vk::MemoryPropertyFlags,
    ) -> Result<vk::DeviceMemory> {
        let types = self.machine.memory.memory_types_as_slice().iter();
        // The tile heap's type is device local too, and may be listed first.
        let allowed = needs.memory_type_bits & self.tile.profile().ordinary_type_bits();
        let fits = |(index, kind): (usize, &vk::MemoryType)| {
            let allowed = allowed & (1 << index) != 0;
            (allowed && kind.property_flags.contains(wanted)).then_some(index as u32)
        };
        let Some(kind) = types.enumerate().find_map(fits) else {
            return Err(Error::NoDevice("no memory type fits".to_owned()));
        };
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(kind);
        // SAFETY: the type is one of the device's.
        unsafe { self.device.allocate_memory(&info, None) }.called("vkAllocateMemory")
    }

    pub(crate) fn image(
        &self,
        format: vk::Format,
        extent: vk::Extent2D,
        usage: vk::ImageUsageFlags,
    ) -> Result<Image> {
        let is_depth = usage.contains(vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT);
        let range = vk::ImageSubresourceRange {
            aspect_mask: if is_depth {
                vk::ImageAspectFlags::DEPTH
            } else {
                vk::ImageAspectFlags::COLOR
            },
            level_count: 1,
            layer_count: 1,
            ..vk::ImageSubresourceRange::default()
        };
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        // SAFETY: the description is complete.
        let handle = unsafe { self.device.create_image(&info, None) }.called("vkCreateImage")?;
        // SAFETY: the image was just created.
        let needs = unsafe { self.device.get_image_memory_requirements(handle) };
        let memory = self.allocate(needs, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
        // SAFETY: the memory is the image's alone, and large enough.
        unsafe { self.device.bind_image_memory(handle, memory, 0) }.called("vkBindImageMemory")?;
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        // SAFETY: the image has memory and this format.
        let view = unsafe { self.device.create_image_view(&info, None) }.called("vkCreateImageView")?;
        Ok(Image {
            handle,
            view,
            memory,
            range,
        })
    }

    /// A buffer that the host sees.
    pub(crate) fn buffer(&self, size: u64, usage: vk::BufferUsageFlags) -> Result<Buffer> {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the description is complete.
        let handle = unsafe { self.device.create_buffer(&info, None) }.called("vkCreateBuffer")?;
        // SAFETY: the buffer was just created.
        let needs = unsafe { self.device.get_buffer_memory_requirements(handle) };
        let seen = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let memory = self.allocate(needs, seen)?;
        // SAFETY: the memory is the buffer's alone, and large enough.
        unsafe { self.device.bind_buffer_memory(handle, memory, 0) }.called("vkBindBufferMemory")?;
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: the memory is host visible, and not mapped yet.
        let mapped = unsafe { self.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags) };
        Ok(Buffer {
            handle,
            memory,
            mapped: mapped.called("vkMapMemory")?.cast(),
            size,
        })
    }

    pub(crate) fn command_buffers(&self) -> Result<(vk::CommandPool, [vk::CommandBuffer; 2])> {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(self.machine.family);
        // SAFETY: the device was created with the family.
        let pool = unsafe { self.device.create_command_pool(&info, None) }.called("vkCreateCommandPool")?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(2);
        // SAFETY: the pool was just created.
        let commands =
            unsafe { self.device.allocate_command_buffers(&info) }.called("vkAllocateCommandBuffers")?;
        Ok((pool, [commands[0], commands[1]]))
    }

    pub(crate) fn begin(&self, commands: vk::CommandBuffer) -> Result<()> {
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: its pool was just reset.
        unsafe { self.device.begin_command_buffer(commands, &info) }.called("vkBeginCommandBuffer")
    }

    pub(crate) fn end(&self, commands: vk::CommandBuffer) -> Result<()> {
        // SAFETY: it is recording, outside a pass.
        unsafe { self.device.end_command_buffer(commands) }.called("vkEndCommandBuffer")
    }

    pub(crate) fn transition(&self, commands: vk::CommandBuffer, image: &Image, from: Use, to: Use) {
        let barriers = [vk::ImageMemoryBarrier2::default()
            .image(image.handle)
            .subresource_range(image.range)
            .old_layout(from.0)
            .src_stage_mask(from.1)
            .src_access_mask(from.2)
            .new_layout(to.0)
            .dst_stage_mask(to.1)
            .dst_access_mask(to.2)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        // SAFETY: it is recording, outside a pass.
        unsafe { self.device.cmd_pipeline_barrier2(commands, &info) };
    }

    pub(crate) fn begin_pass(
        &self,
        commands: vk::CommandBuffer,
        extent: vk::Extent2D,
        colors: &[vk::RenderingAttachmentInfo<'_>],
        depth: Option<&vk::RenderingAttachmentInfo<'_>>,
    ) {
        let mut info = vk::RenderingInfo::default()
            .render_area(extent.into())
            .layer_count(1)
            .color_attachments(colors);
        if let Some(depth) = depth {
            info = info.depth_attachment(depth);
        }
        // SAFETY: it is recording, and the attachments are in their layouts.
        unsafe { self.device.cmd_begin_rendering(commands, &info) };
    }

    pub(crate) fn end_pass(&self, commands: vk::CommandBuffer) {
        // SAFETY: a pass was begun.
        unsafe { self.device.cmd_end_rendering(commands) };
    }

    /// Copies the picture to where the host reads it.
    pub(crate) fn copy(&self, commands: vk::CommandBuffer, from: &Image, to: &Buffer, extent: vk::Extent2D) {
        copy_picture(&self.device, commands, from.handle, to.handle, extent);
        let barriers = [vk::BufferMemoryBarrier2::default()
            .buffer(to.handle)
            .size(vk::WHOLE_SIZE)
            .src_stage_mask(vk::PipelineStageFlags2::COPY)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::HOST)
            .dst_access_mask(vk::AccessFlags2::HOST_READ)];
        let info = vk::DependencyInfo::default().buffer_memory_barriers(&barriers);
        // SAFETY: it is recording, outside a pass.
        unsafe { self.device.cmd_pipeline_barrier2(commands, &info) };
    }

    /// Submits each command buffer as a batch, and waits for both.
    pub(crate) fn submit(&self, commands: &[vk::CommandBuffer; 2], done: vk::Fence) -> Result<()> {
        let infos =
            commands.map(|commands| [vk::CommandBufferSubmitInfo::default().command_buffer(commands)]);
        let batches = [0, 1].map(|batch| vk::SubmitInfo2::default().command_buffer_infos(&infos[batch]));
        // SAFETY: the command buffers are executable, and this thread alone uses the queue.
        unsafe { self.device.queue_submit2(self.queue, &batches, done) }.called("vkQueueSubmit2")?;
        // SAFETY: the fence was submitted.
        unsafe { self.device.wait_for_fences(&[done], true, u64::MAX) }.called("vkWaitForFences")?;
        // SAFETY: the fence is signalled.
        unsafe { self.device.reset_fences(&[done]) }.called("vkResetFences")
    }

    /// # Safety
    /// Nothing made of the device is left.
    pub(crate) unsafe fn destroy(&self) {
        // SAFETY: the caller's duty.
        unsafe {
            self.tile.clone().destroy();
            self.device.destroy_device(None);
            self.machine.destroy();
        }
    }
}

/// Records the copy of a picture, which is in the layout to be copied from.
pub(crate) fn copy_picture(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    from: vk::Image,
    to: vk::Buffer,
    extent: vk::Extent2D,
) {
    let region = vk::BufferImageCopy::default()
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            layer_count: 1,
            ..vk::ImageSubresourceLayers::default()
        })
        .image_extent(extent.into());
    let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    // SAFETY: the command buffer is recording, and the buffer holds the picture.
    unsafe { device.cmd_copy_image_to_buffer(commands, from, layout, to, &[region]) };
}

/// An image with memory of its own.
pub(crate) struct Image {
    pub(crate) handle: vk::Image,
    pub(crate) view: vk::ImageView,
    memory: vk::DeviceMemory,
    pub(crate) range: vk::ImageSubresourceRange,
}

impl Image {
    /// # Safety
    /// The device does not use it any more.
    pub(crate) unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty.
        unsafe {
            device.destroy_image_view(self.view, None);
            device.destroy_image(self.handle, None);
            device.free_memory(self.memory, None);
        }
    }
}

/// A buffer that the host sees.
pub(crate) struct Buffer {
    pub(crate) handle: vk::Buffer,
    memory: vk::DeviceMemory,
    mapped: *mut u8,
    size: u64,
}

impl Buffer {
    /// The content. The device must not use it meanwhile.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping covers the buffer until `destroy`, and is borrowed as long as the slice.
        unsafe { std::slice::from_raw_parts_mut(self.mapped, self.size as usize) }
    }

    /// # Safety
    /// The device does not use it any more.
    pub(crate) unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty; freeing the memory unmaps it.
        unsafe {
            device.destroy_buffer(self.handle, None);
            device.free_memory(self.memory, None);
        }
    }
}
