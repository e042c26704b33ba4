//! Entry points that create and destroy what may have to do with tile memory.

use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;

use crate::chain::elements;
use crate::device::device_of;
use crate::guard::{down, entry_points};
use crate::render_passes;
use crate::resources::Framebuffer;
use crate::strip;
use crate::wide_flags;

entry_points! {
    /// Without the tile bit below; what has it is remembered.
    fn vkCreateImage(
        handle: vk::Device,
        info: *const vk::ImageCreateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Image,
    ) -> vk::Result {
        let Some(device) = device_of(handle) else { return vk::Result::ERROR_UNKNOWN };
        if device.physical.emulation.is_none() {
            return down!(device.next, vkCreateImage(handle, info, allocator, out));
        }
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::image(info) };
        let result = down!(device.next, vkCreateImage(handle, &stripped.info, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The chain is valid.
            let (asked, stencil) = unsafe { wide_flags::image(info) };
            // SAFETY: The driver has written it.
            device.remember_image(unsafe { *out }, &asked, stencil);
        }
        result
    }

    /// Forgets it.
    fn vkDestroyImage(handle: vk::Device, image: vk::Image, allocator: *const vk::AllocationCallbacks<'_>) {
        let Some(device) = device_of(handle) else { return };
        device.resources.images.remove(image.as_raw());
        device.resources.transient_images.remove(image.as_raw());
        down!(device.next, vkDestroyImage(handle, image, allocator));
    }

    /// Without the tile bit below; what has it is remembered.
    fn vkCreateBuffer(
        handle: vk::Device,
        info: *const vk::BufferCreateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Buffer,
    ) -> vk::Result {
        let Some(device) = device_of(handle) else { return vk::Result::ERROR_UNKNOWN };
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::buffer(info) };
        let result = down!(device.next, vkCreateBuffer(handle, &stripped.info, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The chain is valid.
            let asked = unsafe { wide_flags::buffer(info) };
            // SAFETY: The driver has written it.
            device.remember_buffer(unsafe { *out }, &asked);
        }
        result
    }

    /// Forgets it.
    fn vkDestroyBuffer(handle: vk::Device, buffer: vk::Buffer, allocator: *const vk::AllocationCallbacks<'_>) {
        let Some(device) = device_of(handle) else { return };
        device.resources.buffers.remove(buffer.as_raw());
        down!(device.next, vkDestroyBuffer(handle, buffer, allocator));
    }

    /// Without the tile bit below; views of tile images are remembered.
    fn vkCreateImageView(
        handle: vk::Device,
        info: *const vk::ImageViewCreateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::ImageView,
    ) -> vk::Result {
        let Some(device) = device_of(handle) else { return vk::Result::ERROR_UNKNOWN };
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        let Some(image) = device.resources.images.get(info.image.as_raw()) else {
            return down!(device.next, vkCreateImageView(handle, info, allocator, out));
        };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::image_view(info) };
        let result = down!(device.next, vkCreateImageView(handle, &stripped.info, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The driver has written it.
            device.resources.image_views.insert(unsafe { *out }.as_raw(), image);
        }
        result
    }

    /// Forgets it.
    fn vkDestroyImageView(handle: vk::Device, view: vk::ImageView, allocator: *const vk::AllocationCallbacks<'_>) {
        let Some(device) = device_of(handle) else { return };
        device.resources.image_views.remove(view.as_raw());
        down!(device.next, vkDestroyImageView(handle, view, allocator));
    }

    /// Without the tile bit below; views of tile buffers are remembered.
    fn vkCreateBufferView(
        handle: vk::Device,
        info: *const vk::BufferViewCreateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::BufferView,
    ) -> vk::Result {
        let Some(device) = device_of(handle) else { return vk::Result::ERROR_UNKNOWN };
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        let Some(buffer) = device.resources.buffers.get(info.buffer.as_raw()) else {
            return down!(device.next, vkCreateBufferView(handle, info, allocator, out));
        };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::buffer_view(info) };
        let result = down!(device.next, vkCreateBufferView(handle, &stripped.info, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The driver has written it.
            device.resources.buffer_views.insert(unsafe { *out }.as_raw(), buffer);
        }
        result
    }

    /// Forgets it.
    fn vkDestroyBufferView(handle: vk::Device, view: vk::BufferView, allocator: *const vk::AllocationCallbacks<'_>) {
        let Some(device) = device_of(handle) else { return };
        device.resources.buffer_views.remove(view.as_raw());
        down!(device.next, vkDestroyBufferView(handle, view, allocator));
    }

    /// Without the tile bit in attachment descriptions; which attachments are tile images is remembered.
    fn vkCreateFramebuffer(
        handle: vk::Device,
        info: *const vk::FramebufferCreateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Framebuffer,
    ) -> vk::Result {
        let Some(device) = device_of(handle) else { return vk::Result::ERROR_UNKNOWN };
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::framebuffer(info) };
        let result = down!(device.next, vkCreateFramebuffer(handle, &stripped.info, allocator, out));
        if result != vk::Result::SUCCESS {
            return result;
        }
        let imageless = info.flags.contains(vk::FramebufferCreateFlags::IMAGELESS);
        // SAFETY: Valid usage: views, unless it is imageless.
        let views = if imageless { &[] } else { unsafe { elements(info.p_attachments, info.attachment_count) } };
        let attachments: Vec<_> = views.iter().map(|view| device.resources.image_views.get(view.as_raw())).collect();
        let remembered = imageless || device.enabled.tile_properties || attachments.iter().any(Option::is_some);
        if remembered {
            let framebuffer = Framebuffer {
                attachments,
                imageless,
                extent: vk::Extent2D { width: info.width, height: info.height },
                render_pass: info.render_pass.as_raw(),
            };
            // SAFETY: The driver has written it.
            device.resources.framebuffers.insert(unsafe { *out }.as_raw(), Arc::new(framebuffer));
        }
        result
    }

    /// Forgets it.
    fn vkDestroyFramebuffer(
        handle: vk::Device,
        framebuffer: vk::Framebuffer,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        let Some(device) = device_of(handle) else { return };
        device.resources.framebuffers.remove(framebuffer.as_raw());
        down!(device.next, vkDestroyFramebuffer(handle, framebuffer, allocator));
    }

    /// Without the layer's structures below; what it does to attachments is remembered.
    fn vkCreateRenderPass(
        handle: vk::Device,
        info: *const vk::RenderPassCreateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::RenderPass,
    ) -> vk::Result {
        let Some(device) = device_of(handle) else { return vk::Result::ERROR_UNKNOWN };
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::render_pass(info) };
        let result = down!(device.next, vkCreateRenderPass(handle, &stripped.info, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The create info is valid.
            let pass = unsafe { render_passes::read(info) };
            // SAFETY: The driver has written it.
            device.resources.render_passes.insert(unsafe { *out }.as_raw(), Arc::new(pass));
        }
        result
    }

    /// The same.
    fn vkCreateRenderPass2(
        handle: vk::Device,
        info: *const vk::RenderPassCreateInfo2<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::RenderPass,
    ) -> vk::Result {
        let Some(device) = device_of(handle) else { return vk::Result::ERROR_UNKNOWN };
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::render_pass2(info) };
        let result = down!(device.next, vkCreateRenderPass2(handle, &stripped.info, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The create info is valid.
            let pass = unsafe { render_passes::read2(info) };
            // SAFETY: The driver has written it.
            device.resources.render_passes.insert(unsafe { *out }.as_raw(), Arc::new(pass));
        }
        result
    }

    /// Forgets it.
    fn vkDestroyRenderPass(
        handle: vk::Device,
        pass: vk::RenderPass,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        let Some(device) = device_of(handle) else { return };
        device.resources.render_passes.remove(pass.as_raw());
        down!(device.next, vkDestroyRenderPass(handle, pass, allocator));
    }

    /// Without the tile bit below.
    fn vkGetDeviceImageSparseMemoryRequirements(
        handle: vk::Device,
        info: *const vk::DeviceImageMemoryRequirements<'_>,
        count: *mut u32,
        out: *mut vk::SparseImageMemoryRequirements2<'_>,
    ) {
        let Some(device) = device_of(handle) else { return };
        // SAFETY: Valid usage: a valid structure.
        let mut copy = unsafe { *info };
        // SAFETY: As above.
        let create = unsafe { &*copy.p_create_info };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::image(create) };
        copy.p_create_info = &stripped.info;
        down!(device.next, vkGetDeviceImageSparseMemoryRequirements(handle, &copy, count, out));
    }

    /// Without the tile bit below.
    fn vkGetDeviceImageSubresourceLayoutKHR(
        handle: vk::Device,
        info: *const vk::DeviceImageSubresourceInfoKHR<'_>,
        out: *mut vk::SubresourceLayout2KHR<'_>,
    ) {
        let Some(device) = device_of(handle) else { return };
        // SAFETY: Valid usage: a valid structure.
        let mut copy = unsafe { *info };
        // SAFETY: As above.
        let create = unsafe { &*copy.p_create_info };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::image(create) };
        copy.p_create_info = &stripped.info;
        down!(device.next, vkGetDeviceImageSubresourceLayoutKHR(handle, &copy, out));
    }
}
