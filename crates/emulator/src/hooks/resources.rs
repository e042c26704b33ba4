//! Entry points that create and destroy images, buffers, views, framebuffers and render passes.

use std::sync::{Arc, OnceLock};

use ash::vk;
use ash::vk::Handle;
use tileheap_device::ffi::{BUFFER_USAGE_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM};
use tileheap_device::profile::TileRequirements;
use tileheap_layer::arrays::elements;
use tileheap_layer::{call_down, entry_points};

use super::device::{Device, device_of};
use super::strip;
use crate::model::render_passes;
use crate::model::requirements;
use crate::model::resources::{Framebuffer, Resource, has_two_aspects};
use crate::tables::extended_flags;

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
            return call_down!(device.driver.commands, vkCreateImage(handle, info, allocator, out));
        }
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::image(info) };
        let result = call_down!(device.driver.commands, vkCreateImage(handle, &stripped.info, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The chain is valid.
            let (create, stencil) = unsafe { extended_flags::image(info) };
            // SAFETY: The driver has written it.
            remember_image(&device, unsafe { *out }, &create, stencil);
        }
        result
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
        let result = call_down!(device.driver.commands, vkCreateBuffer(handle, &stripped.info, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The chain is valid.
            let create = unsafe { extended_flags::buffer(info) };
            // SAFETY: The driver has written it.
            remember_buffer(&device, unsafe { *out }, &create);
        }
        result
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
            return call_down!(device.driver.commands, vkCreateImageView(handle, info, allocator, out));
        };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::image_view(info) };
        let result = call_down!(device.driver.commands, vkCreateImageView(handle, &stripped.info, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The driver has written it.
            device.resources.image_views.insert(unsafe { *out }.as_raw(), image);
        }
        result
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
            return call_down!(device.driver.commands, vkCreateBufferView(handle, info, allocator, out));
        };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::buffer_view(info) };
        let result = call_down!(device.driver.commands, vkCreateBufferView(handle, &stripped.info, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The driver has written it.
            device.resources.buffer_views.insert(unsafe { *out }.as_raw(), buffer);
        }
        result
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
        let result = call_down!(device.driver.commands, vkCreateFramebuffer(handle, &stripped.info, allocator, out));
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
        let result = call_down!(device.driver.commands, vkCreateRenderPass(handle, &stripped.info, allocator, out));
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
        let result = call_down!(device.driver.commands, vkCreateRenderPass2(handle, &stripped.info, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The create info is valid.
            let pass = unsafe { render_passes::read2(info) };
            // SAFETY: The driver has written it.
            device.resources.render_passes.insert(unsafe { *out }.as_raw(), Arc::new(pass));
        }
        result
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
        call_down!(device.driver.commands, vkGetDeviceImageSparseMemoryRequirements(handle, &copy, count, out));
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
        call_down!(device.driver.commands, vkGetDeviceImageSubresourceLayoutKHR(handle, &copy, out));
    }
}

/// The tile requirements of an image, given the driver's own.
pub(crate) fn tile_image_needs(
    device: &Device,
    info: &vk::ImageCreateInfo<'_>,
    stencil_usage: vk::ImageUsageFlags,
    driver: &vk::MemoryRequirements,
) -> Option<TileRequirements> {
    let emulation = device.physical.emulation.as_ref()?;
    requirements::tile_image(emulation, device.heap_type()?, info, stencil_usage, driver)
}

/// The tile requirements of a buffer, given the driver's own.
pub(crate) fn tile_buffer_needs(
    device: &Device,
    info: &vk::BufferCreateInfo<'_>,
    driver: &vk::MemoryRequirements,
) -> Option<TileRequirements> {
    let emulation = device.physical.emulation.as_ref()?;
    requirements::tile_buffer(emulation, device.heap_type()?, info, driver)
}

/// Remembers a new image, if it has the tile usage bit.
fn remember_image(
    device: &Device,
    handle: vk::Image,
    info: &vk::ImageCreateInfo<'_>,
    stencil_usage: vk::ImageUsageFlags,
) {
    if info.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT) && device.lazy_bits(u32::MAX) != 0 {
        device.resources.transient_images.insert(handle.as_raw(), ());
    }
    if device.tile.is_none() || !(info.usage | stencil_usage).contains(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM) {
        return;
    }
    let mut driver = vk::MemoryRequirements::default();
    if !info.flags.contains(vk::ImageCreateFlags::DISJOINT) {
        call_down!(
            device.driver.commands,
            vkGetImageMemoryRequirements(device.driver.handle, handle, &mut driver)
        );
    }
    let resource = Resource {
        object: (vk::ObjectType::IMAGE, handle.as_raw()),
        needs: tile_image_needs(device, info, stencil_usage, &driver),
        driver_size: driver.size,
        fits_below: fits_below(device, &driver),
        extent: vk::Extent2D {
            width: info.extent.width,
            height: info.extent.height,
        },
        two_aspects: has_two_aspects(info.format),
        single: info.mip_levels == 1 && info.array_layers == 1,
        addressable: false,
        place: OnceLock::new(),
    };
    device
        .resources
        .images
        .insert(handle.as_raw(), Arc::new(resource));
}

/// Remembers a new buffer, if it has the tile usage bit.
fn remember_buffer(device: &Device, handle: vk::Buffer, info: &vk::BufferCreateInfo<'_>) {
    if device.tile.is_none() || !info.usage.contains(BUFFER_USAGE_TILE_MEMORY_BIT_QCOM) {
        return;
    }
    let mut driver = vk::MemoryRequirements::default();
    call_down!(
        device.driver.commands,
        vkGetBufferMemoryRequirements(device.driver.handle, handle, &mut driver)
    );
    let resource = Resource {
        object: (vk::ObjectType::BUFFER, handle.as_raw()),
        needs: tile_buffer_needs(device, info, &driver),
        driver_size: driver.size,
        fits_below: fits_below(device, &driver),
        extent: vk::Extent2D::default(),
        two_aspects: false,
        single: true,
        addressable: info.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS),
        place: OnceLock::new(),
    };
    device
        .resources
        .buffers
        .insert(handle.as_raw(), Arc::new(resource));
}

fn fits_below(device: &Device, driver: &vk::MemoryRequirements) -> bool {
    let heap_type = device.heap_type();
    heap_type.is_some_and(|heap_type| driver.memory_type_bits >> heap_type & 1 == 1)
}
