//! Entry points that create and destroy images, buffers, views, framebuffers and render passes.

use std::ptr::null;
use std::sync::{Arc, OnceLock};

use ash::vk;
use ash::vk::Handle;
use tileheap_device::ffi::{BUFFER_USAGE_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM};
use tileheap_device::profile::TileRequirements;
use tileheap_layer::render_passes::RenderPassDesc;
use tileheap_layer::sharded::Sharded;
use tileheap_layer::{array, call_down, chained};
use tileheap_sync::program::{SharingMode, Tiling};
use tileheap_units::spread;

use super::creates::creates;
use super::device::Device;
use super::driver::create_object;
use super::strip;
use crate::model::objects::Object;
use crate::model::render_passes::render_pass;
use crate::model::requirements;
use crate::model::resources::{Framebuffer, Resource, View, image_tiling};
use crate::tables::extended_flags;
use crate::tables::unseen_writes::UnseenWrites;

/// Creates the render pass that resumes a tile shading pass of one subpass: it loads what the interrupted pass
/// stored.
macro_rules! resuming {
    ($device:ident, $info:ident, strip::$strip:ident, $command:ident) => {{
        let mut stripped = strip::$strip($info);
        let given = array!(stripped.info.p_attachments, stripped.info.attachment_count);
        let mut attachments = given.to_vec();
        for attachment in &mut attachments {
            attachment.load_op = vk::AttachmentLoadOp::LOAD;
            attachment.stencil_load_op = vk::AttachmentLoadOp::LOAD;
            attachment.initial_layout = attachment.final_layout;
        }
        stripped.info.p_attachments = attachments.as_ptr();
        let (next, handle) = (&$device.driver.commands, $device.driver.handle);
        create_object(|out| call_down!(next, $command(handle, &stripped.info, null(), out))).ok()
    }};
}

creates! {
    /// Removes the tile usage bit, and registers the image if it is tracked.
    vkCreateImage, strip::image;
    |device, info, image| [_ in device.physical.emulation.as_ref().map(drop).or(device.check.as_ref().map(drop))] {
        let (create, stencil) = extended_flags::image(info);
        remember_image(&device, image, &create, stencil);
    }

    /// Removes the tile usage bit, and registers the buffer if it is tracked.
    vkCreateBuffer, strip::buffer;
    |device, info, buffer| {
        remember_buffer(&device, buffer, &extended_flags::buffer(info));
    }

    /// Registers the sharing mode of the swapchain's images.
    vkCreateSwapchainKHR;
    |device, info, swapchain| {
        let concurrent = &device.resources.concurrent_swapchains;
        note_sharing(&device, concurrent, swapchain.as_raw(), info.image_sharing_mode);
    }

    /// Removes the tile usage bit, and registers views of tracked images.
    vkCreateImageView, strip::image_view;
    |device, info, view| [image in device.resources.images.get(info.image.as_raw())] {
        device.resources.image_views.insert(view.as_raw(), Arc::new(View::of_image(image, info)));
    }

    /// Removes the tile usage bit, and registers views of tracked buffers.
    vkCreateBufferView, strip::buffer_view;
    |device, info, view| [buffer in device.resources.buffers.get(info.buffer.as_raw())] {
        device.resources.buffer_views.insert(view.as_raw(), Arc::new(View::of_buffer(buffer, info)));
    }

    /// Removes the tile usage bit from attachment descriptions, and registers the attachments that are tracked images.
    vkCreateFramebuffer, strip::framebuffer;
    |device, info, framebuffer| {
        let imageless = info.flags.contains(vk::FramebufferCreateFlags::IMAGELESS);
        let views = if imageless { &[] } else { array!(info.p_attachments, info.attachment_count) };
        let attachments: Vec<_> = views.iter().map(|view| device.resources.image_views.get(view.as_raw())).collect();
        if imageless || device.enabled.tile_properties || attachments.iter().any(Option::is_some) {
            let remembered = Framebuffer {
                attachments,
                imageless,
                extent: vk::Extent2D { width: info.width, height: info.height },
                layers: info.layers,
                render_pass: info.render_pass.as_raw(),
            };
            device.resources.framebuffers.insert(framebuffer.as_raw(), Arc::new(remembered));
        }
    }

    /// Removes the layer's structures, and registers the attachments, their load and store operations, and the subpasses.
    vkCreateRenderPass, strip::render_pass;
    |device, info, pass| {
        let mut remembered = render_pass(&RenderPassDesc::from_v1(info), info.p_next);
        if device.tile_shading.is_some() && remembered.is_tile_shading && info.subpass_count == 1 {
            remembered.resuming_pass = resuming!(device, info, strip::render_pass, vkCreateRenderPass);
        }
        device.resources.render_passes.insert(pass.as_raw(), Arc::new(remembered));
    }

    /// Same as `vkCreateRenderPass`.
    vkCreateRenderPass2, strip::render_pass2;
    |device, info, pass| {
        let mut remembered = render_pass(&RenderPassDesc::from_v2(info), info.p_next);
        if device.tile_shading.is_some() && remembered.is_tile_shading && info.subpass_count == 1 {
            remembered.resuming_pass = resuming!(device, info, strip::render_pass2, vkCreateRenderPass2);
        }
        device.resources.render_passes.insert(pass.as_raw(), Arc::new(remembered));
    }
}

/// The memory requirements of an image for the tile heap, derived from the driver's requirements.
pub(crate) fn tile_image_needs(
    device: &Device,
    info: &vk::ImageCreateInfo<'_>,
    stencil_usage: vk::ImageUsageFlags,
    driver: &vk::MemoryRequirements,
) -> Option<TileRequirements> {
    let emulation = device.physical.emulation.as_ref()?;
    requirements::tile_image(emulation, device.heap_type()?, info, stencil_usage, driver)
}

/// The memory requirements of a buffer for the tile heap, derived from the driver's requirements.
pub(crate) fn tile_buffer_needs(
    device: &Device,
    info: &vk::BufferCreateInfo<'_>,
    driver: &vk::MemoryRequirements,
) -> Option<TileRequirements> {
    let emulation = device.physical.emulation.as_ref()?;
    requirements::tile_buffer(emulation, device.heap_type()?, info, driver)
}

/// Registers the sharing mode of a new object, whose handle may have belonged to a destroyed one.
pub(super) fn note_sharing(device: &Device, concurrent: &Sharded<()>, handle: u64, mode: vk::SharingMode) {
    if mode == vk::SharingMode::CONCURRENT && device.check.is_some() {
        concurrent.insert(handle, ());
    } else {
        concurrent.remove(handle);
    }
}

/// Registers the sharing mode of a new image and, if it has the tile usage bit or can be tracked in ordinary memory, the image.
fn remember_image(
    device: &Device,
    handle: vk::Image,
    info: &vk::ImageCreateInfo<'_>,
    stencil_usage: vk::ImageUsageFlags,
) {
    note_sharing(
        device,
        &device.resources.concurrent_images,
        handle.as_raw(),
        info.sharing_mode,
    );
    if info.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT) && device.lazy_bits(u32::MAX) != 0 {
        device.resources.transient_images.insert(handle.as_raw(), ());
    }
    let is_tile =
        device.tile.is_some() && (info.usage | stencil_usage).contains(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM);
    // In ordinary memory, protected images and images that are bound in parts are not followed.
    let parts = vk::ImageCreateFlags::SPARSE_BINDING
        | vk::ImageCreateFlags::DISJOINT
        | vk::ImageCreateFlags::PROTECTED;
    let external = chained!(info.p_next => vk::ExternalMemoryImageCreateInfo<'_>);
    let is_external = external.is_some_and(|external| !external.handle_types.is_empty());
    let is_ordinary = device.follows_ordinary() && !is_external && !info.flags.intersects(parts);
    if !is_tile && !is_ordinary {
        return;
    }
    let mut driver = vk::MemoryRequirements::default();
    let (below, commands) = (device.driver.handle, &device.driver.commands);
    if !info.flags.contains(vk::ImageCreateFlags::DISJOINT) {
        call_down!(commands, vkGetImageMemoryRequirements(below, handle, &mut driver));
    }
    let resource = Resource {
        object: Object::of(handle),
        number: device.resources.next_number(),
        needs: is_tile
            .then(|| tile_image_needs(device, info, stencil_usage, &driver))
            .flatten(),
        driver_size: driver.size,
        fits_driver_memory: fits_driver_memory(device, &driver),
        size: driver.size,
        tiling: image_tiling(info),
        format: info.format,
        extent: info.extent,
        contents: contents_of(handle, info),
        unseen_writes: UnseenWrites::to_image(info.usage | stencil_usage),
        unseen_through_others: Default::default(),
        is_fetched: false,
        is_input: (info.usage | stencil_usage).contains(vk::ImageUsageFlags::INPUT_ATTACHMENT),
        sharing: SharingMode::of_image(
            info.sharing_mode,
            info.tiling,
            info.usage | stencil_usage,
            device.has_maintenance9,
        ),
        is_followed: false.into(),
        place: OnceLock::new(),
    };
    device
        .resources
        .images
        .insert(handle.as_raw(), Arc::new(resource));
}

/// A number shared by images that interpret the same bytes in the same way (section 12.8 of the specification).
fn contents_of(handle: vk::Image, info: &vk::ImageCreateInfo<'_>) -> u64 {
    if !info.flags.contains(vk::ImageCreateFlags::ALIAS) {
        return spread(handle.as_raw()) | 1;
    }
    let created = [
        info.flags.as_raw(),
        info.image_type.as_raw() as u32,
        info.format.as_raw() as u32,
        info.extent.width,
        info.extent.height,
        info.extent.depth,
        info.mip_levels,
        info.array_layers,
        info.samples.as_raw(),
        info.tiling.as_raw() as u32,
        info.usage.as_raw(),
    ];
    created.iter().fold(1, |all, one| spread(all ^ u64::from(*one))) | 1
}

/// Usages of buffers that draws and dispatches fetch from.
const FETCHED: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::VERTEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw(),
);

/// Registers the sharing mode of a new buffer and, if it has the tile usage bit or can be tracked in ordinary memory, the buffer.
fn remember_buffer(device: &Device, handle: vk::Buffer, info: &vk::BufferCreateInfo<'_>) {
    note_sharing(
        device,
        &device.resources.concurrent_buffers,
        handle.as_raw(),
        info.sharing_mode,
    );
    let is_tile = device.tile.is_some() && info.usage.contains(BUFFER_USAGE_TILE_MEMORY_BIT_QCOM);
    let parts = vk::BufferCreateFlags::SPARSE_BINDING | vk::BufferCreateFlags::PROTECTED;
    let is_ordinary = device.follows_ordinary() && !info.flags.intersects(parts);
    if !is_tile && !is_ordinary {
        return;
    }
    let mut driver = vk::MemoryRequirements::default();
    let (below, commands) = (device.driver.handle, &device.driver.commands);
    call_down!(
        commands,
        vkGetBufferMemoryRequirements(below, handle, &mut driver)
    );
    let resource = Resource {
        object: Object::of(handle),
        number: device.resources.next_number(),
        needs: is_tile
            .then(|| tile_buffer_needs(device, info, &driver))
            .flatten(),
        driver_size: driver.size,
        fits_driver_memory: fits_driver_memory(device, &driver),
        size: info.size,
        tiling: Tiling::Linear,
        format: vk::Format::UNDEFINED,
        extent: vk::Extent3D::default(),
        contents: 0,
        unseen_writes: UnseenWrites::to_buffer(info.usage),
        unseen_through_others: Default::default(),
        is_fetched: info.usage.intersects(FETCHED),
        is_input: false,
        sharing: SharingMode::of_buffer(info.sharing_mode, device.has_maintenance9),
        is_followed: false.into(),
        place: OnceLock::new(),
    };
    device
        .resources
        .buffers
        .insert(handle.as_raw(), Arc::new(resource));
}

fn fits_driver_memory(device: &Device, driver: &vk::MemoryRequirements) -> bool {
    let heap_type = device.heap_type();
    heap_type.is_some_and(|heap_type| driver.memory_type_bits >> heap_type & 1 == 1)
}
