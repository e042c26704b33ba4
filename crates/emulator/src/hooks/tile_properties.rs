//! `VK_QCOM_tile_properties`: the tiles of a render pass according to the binning model. Reserving less memory gives fewer and
//! larger tiles.

use ash::vk;
use ash::vk::Handle;
use tileheap_device::profile::binning::binning;
use tileheap_layer::{array, entry_points, fill, given};

use super::device::{DEVICES, Device};
use crate::model::render_passes::declared_size;
use crate::model::resources::RenderPass;
use crate::tables::own_commands::OwnTable;

entry_points! {
    of OwnTable:
    /// Returns the tile properties of each subpass.
    vkGetFramebufferTilePropertiesQCOM(handle, framebuffer, count, out) {
        let Some(device) = DEVICES.of(handle) else {
            return vk::Result::ERROR_UNKNOWN;
        };
        let resources = &device.resources;
        let framebuffer = resources.framebuffers.get(framebuffer.as_raw());
        let pass = framebuffer.as_ref().and_then(|framebuffer| resources.render_passes.get(framebuffer.render_pass));
        let (Some(framebuffer), Some(pass)) = (framebuffer, pass) else {
            return fill!(&[], count, out);
        };
        let tiles = pass.subpass_bytes.iter().map(|bytes| tile(&device, pass.tile_size, *bytes, framebuffer.extent));
        let mut tiles: Vec<_> = tiles.map(properties).collect();
        if !out.is_null() {
            let room = *given!(count) as usize;
            for (index, tiles) in tiles.iter_mut().enumerate().take(room) {
                // SAFETY: Below the count.
                let slot = unsafe { out.add(index) };
                tiles.p_next = given!(slot).p_next;
            }
        }
        fill!(&tiles, count, out)
    }

    /// Returns the tile properties of dynamic rendering.
    vkGetDynamicRenderingTilePropertiesQCOM(handle, info, out) {
        let Some(device) = DEVICES.of(handle) else {
            return vk::Result::ERROR_UNKNOWN;
        };
        let info = given!(info);
        let reserved = declared_size(info.p_next);
        let out = given!(mut out);
        let p_next = out.p_next;
        *out = properties(tile_of_rendering(&device, reserved, info));
        out.p_next = p_next;
        vk::Result::SUCCESS
    }
}

/// The size of a tile of dynamic rendering with `reserved` bytes reserved, assuming 4 bytes per pixel for each attachment.
pub(crate) fn tile_of_rendering(
    device: &Device,
    reserved: u64,
    info: &vk::RenderingInfo<'_>,
) -> vk::Extent2D {
    let colors = array!(info.p_color_attachments, info.color_attachment_count);
    let depth = array!(info.p_depth_attachment, 1).first();
    let is_used = |target: &&vk::RenderingAttachmentInfo<'_>| target.image_view != vk::ImageView::null();
    // Formats of ordinary views are not tracked: four bytes are assumed for each.
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
    let bytes = pass.subpass_bytes.first().copied().unwrap_or(0);
    tile(device, reserved, bytes, extent)
}

fn tile(device: &Device, reserved: u64, bytes_per_pixel: u64, extent: vk::Extent2D) -> vk::Extent2D {
    let emulation = device.physical.emulation.as_ref();
    let gmem = emulation.map_or(0, |emulation| emulation.profile.gmem);
    let (width, height) = binning(gmem, reserved, bytes_per_pixel, (extent.width, extent.height)).tile;
    vk::Extent2D { width, height }
}

fn properties(tile: vk::Extent2D) -> vk::TilePropertiesQCOM<'static> {
    vk::TilePropertiesQCOM::default().tile_size(tile.into())
}
