//! Reads render pass create infos: operations on attachments, and bytes per pixel.

use std::ffi::c_void;

use ash::vk;
use tileheap_device::ffi::TileMemorySizeInfoQCOM;
use tileheap_device::profile::texel_bytes;
use tileheap_layer::chained;
use tileheap_layer::render_passes::{RenderPassDesc, Subpass};

use super::order::log::Dependency;
use super::resources::{Attachment, RenderPass, has_two_aspects, is_only_read, is_stencil_only};
use super::tile_passes::is_tile_shading;

/// The operations of a render pass with what is chained to its create info.
pub(crate) fn render_pass(desc: &RenderPassDesc, p_next: *const c_void) -> RenderPass {
    let writes = |subpass: &Subpass| -> Vec<(u32, bool)> {
        let colors = subpass.colors.iter().map(|one| (one.0, true));
        let depth = subpass.depth.iter().map(|one| (one.0, !is_only_read(one.1)));
        let inputs = subpass.inputs.iter().map(|one| (one.0, false));
        colors.chain(depth).chain(inputs).collect()
    };
    let subpasses: Vec<_> = desc.subpasses.iter().map(writes).collect();
    let is_resolve = |index: u32| {
        let mut resolves = desc.subpasses.iter().flat_map(|subpass| &subpass.resolves);
        resolves.any(|(_, target)| target.0 == index)
    };
    let is_written = |index: u32| subpasses.iter().flatten().any(|one| *one == (index, true));
    let attachments = (0..)
        .zip(&desc.attachments)
        .map(|(index, description)| Attachment {
            only_read: !is_written(index) && !is_resolve(index),
            ..attachment(description, is_resolve(index))
        });
    let bytes = |index: u32| {
        let description = desc.attachments.get(index as usize);
        description.map_or(0, |description| {
            pixel_bytes(description.format, description.samples)
        })
    };
    let subpass_bytes = |used: &Vec<(u32, bool)>| distinct(used).map(bytes).sum();
    let dependencies = desc.dependencies.iter();
    let (tile_size, is_tile_shading) = (declared_size(p_next), is_tile_shading(p_next));
    RenderPass {
        attachments: attachments.collect(),
        tile_size,
        subpass_bytes: subpasses.iter().map(subpass_bytes).collect(),
        dependencies: dependencies
            .map(|(from, to, one)| (*from, *to, Dependency::global(one)))
            .collect(),
        subpasses,
        is_tile_shading,
        again: None,
    }
}

/// Each attachment once: one that is also read as input has one place in the tile.
fn distinct(attachments: &[(u32, bool)]) -> impl Iterator<Item = u32> {
    let mut attachments: Vec<_> = attachments.iter().map(|one| one.0).collect();
    attachments.sort_unstable();
    attachments.dedup();
    attachments.into_iter()
}

pub(crate) fn declared_size(p_next: *const c_void) -> u64 {
    chained!(p_next => TileMemorySizeInfoQCOM<'_>).map_or(0, |info| info.size)
}

fn has_depth_or_stencil(format: vk::Format) -> bool {
    // D16_UNORM, X8_D24, D32, S8 and the combined ones have consecutive numbers.
    (vk::Format::D16_UNORM.as_raw()..=vk::Format::D32_SFLOAT_S8_UINT.as_raw()).contains(&format.as_raw())
}

fn attachment(description: &vk::AttachmentDescription2<'_>, is_resolve: bool) -> Attachment {
    let depth = (description.load_op, description.store_op);
    let stencil = (description.stencil_load_op, description.stencil_store_op);
    let (first, second) = if has_two_aspects(description.format) {
        (depth, stencil)
    } else if is_stencil_only(description.format) {
        (stencil, stencil)
    } else {
        (depth, depth)
    };
    Attachment {
        load: first.0,
        store: first.1,
        stencil_load: second.0,
        stencil_store: second.1,
        from_undefined: description.initial_layout == vk::ImageLayout::UNDEFINED,
        is_resolve,
        is_depth: has_depth_or_stencil(description.format),
        only_read: false,
    }
}

/// Bytes of a pixel on chip, all samples.
pub(crate) fn pixel_bytes(format: vk::Format, samples: vk::SampleCountFlags) -> u64 {
    texel_bytes(format).unwrap_or(4) * u64::from(samples.as_raw().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_absent_aspects_do_not_count() {
        let mut description = vk::AttachmentDescription2::default()
            .format(vk::Format::R8G8B8A8_UNORM)
            .store_op(vk::AttachmentStoreOp::STORE)
            .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE);
        let (kept, dropped) = (vk::AttachmentStoreOp::STORE, vk::AttachmentStoreOp::DONT_CARE);
        assert_eq!(attachment(&description, false).stencil_store, kept);
        description.format = vk::Format::D24_UNORM_S8_UINT;
        assert_eq!(attachment(&description, false).stencil_store, dropped);
        description.format = vk::Format::S8_UINT;
        assert_eq!(attachment(&description, false).store, dropped);
    }
}
