//! `VK_QCOM_tile_properties`: the tiles of a render pass by the binning model, fewer and larger the less is reserved.

use ash::vk;
use ash::vk::Handle;
use tileheap_device::profile::binning::binning;

use tileheap_layer::arrays::{elements, write_array};

use super::device::{Device, device_entry_points};
use crate::model::render_passes::declared_size;
use crate::model::resources::RenderPass;

device_entry_points! {
    /// The tiles of each subpass.
    fn vkGetFramebufferTilePropertiesQCOM(
        handle: vk::Device,
        framebuffer: vk::Framebuffer,
        count: *mut u32,
        out: *mut vk::TilePropertiesQCOM<'_>,
    ) -> vk::Result |device| {
        let resources = &device.resources;
        let framebuffer = resources.framebuffers.get(framebuffer.as_raw());
        let pass = framebuffer.as_ref().and_then(|framebuffer| resources.render_passes.get(framebuffer.render_pass));
        let (Some(framebuffer), Some(pass)) = (framebuffer, pass) else {
            // SAFETY: Vulkan's two-call idiom.
            return unsafe { write_array::<vk::TilePropertiesQCOM<'_>>(&[], count, out) };
        };
        let tiles = pass.subpass_bytes.iter().map(|bytes| tiles(&device, pass.tile_size, *bytes, framebuffer.extent));
        let tiles: Vec<_> = tiles.collect();
        let mut tiles = tiles;
        if !out.is_null() {
            // SAFETY: Valid usage: room for so many.
            let room = unsafe { *count } as usize;
            for (index, tiles) in tiles.iter_mut().enumerate().take(room) {
                // SAFETY: Below the count.
                let slot = unsafe { out.add(index) };
                // SAFETY: Valid usage: a valid structure, whose chain stays.
                tiles.p_next = unsafe { (*slot).p_next };
            }
        }
        // SAFETY: Vulkan's two-call idiom.
        unsafe { write_array(&tiles, count, out) }
    }

    /// The tiles of dynamic rendering.
    fn vkGetDynamicRenderingTilePropertiesQCOM(
        handle: vk::Device,
        info: *const vk::RenderingInfo<'_>,
        out: *mut vk::TilePropertiesQCOM<'_>,
    ) -> vk::Result |device| {
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        // SAFETY: As above.
        let reserved = unsafe { declared_size(info.p_next) };
        // SAFETY: Valid usage: a valid structure.
        let out = unsafe { &mut *out };
        let p_next = out.p_next;
        // SAFETY: As above.
        let tile_size = unsafe { tile_of_rendering(&device, reserved, info) };
        *out = vk::TilePropertiesQCOM { tile_size: vk::Extent3D { width: tile_size.width, height: tile_size.height, depth: 1 }, ..Default::default() };
        out.p_next = p_next;
        vk::Result::SUCCESS
    }
}

/// The size of a tile of dynamic rendering, with so many bytes reserved.
///
/// # Safety
/// `info` is valid.
pub(crate) unsafe fn tile_of_rendering(
    device: &Device,
    reserved: u64,
    info: &vk::RenderingInfo<'_>,
) -> vk::Extent2D {
    // SAFETY: The caller's promise.
    let colors = unsafe { elements(info.p_color_attachments, info.color_attachment_count) };
    // SAFETY: As above; null where there is none.
    let depth = unsafe { info.p_depth_attachment.as_ref() };
    let is_used = |target: &&vk::RenderingAttachmentInfo<'_>| target.image_view != vk::ImageView::null();
    // Formats of ordinary views are not tracked: four bytes each.
    let bytes = colors.iter().chain(depth).filter(is_used).count() as u64 * 4;
    let area = info.render_area;
    let extent = vk::Extent2D {
        width: area.extent.width.saturating_add_signed(area.offset.x),
        height: area.extent.height.saturating_add_signed(area.offset.y),
    };
    tile(device, reserved, bytes, extent)
}

/// The size of a tile of a render pass object with one subpass.
pub(crate) fn tile_of_pass(
    device: &Device,
    reserved: u64,
    pass: &RenderPass,
    extent: vk::Extent2D,
) -> vk::Extent2D {
    tile(
        device,
        reserved,
        pass.subpass_bytes.first().copied().unwrap_or(0),
        extent,
    )
}

fn tile(device: &Device, reserved: u64, bytes_per_pixel: u64, extent: vk::Extent2D) -> vk::Extent2D {
    let size = tiles(device, reserved, bytes_per_pixel, extent).tile_size;
    vk::Extent2D {
        width: size.width,
        height: size.height,
    }
}

fn tiles(
    device: &Device,
    reserved: u64,
    bytes_per_pixel: u64,
    extent: vk::Extent2D,
) -> vk::TilePropertiesQCOM<'static> {
    let gmem = device
        .physical
        .emulation
        .as_ref()
        .map_or(0, |emulation| emulation.profile.gmem);
    let (width, height) = binning(gmem, reserved, bytes_per_pixel, (extent.width, extent.height)).tile;
    vk::TilePropertiesQCOM {
        tile_size: vk::Extent3D {
            width,
            height,
            depth: 1,
        },
        ..Default::default()
    }
}
