//! Barriers and copies of images, and the lists in which a frame collects them.

use std::ops::Range;

use ash::vk;

use super::shape::TextureShape;
use crate::Level;
use tileheap::runtime::objects::{full_subresource_range, image_barrier};

/// The uploads of a frame's command buffer, and the barriers around them.
#[derive(Default)]
pub(super) struct BarrierLists {
    /// Images to upload to, each with the number of its regions in `copies`.
    pub(super) uploads: Vec<(vk::Image, usize)>,
    pub(super) before: Vec<vk::ImageMemoryBarrier<'static>>,
    pub(super) after: Vec<vk::ImageMemoryBarrier<'static>>,
    pub(super) copies: Vec<vk::BufferImageCopy>,
}

impl BarrierLists {
    pub(super) fn clear(&mut self) {
        self.uploads.clear();
        self.before.clear();
        self.after.clear();
        self.copies.clear();
    }

    /// Adds the barriers around copies to mip levels of an image: from layout `UNDEFINED` before, and to shader reads after.
    pub(super) fn add(&mut self, image: vk::Image, mips: Range<u8>) {
        use vk::ImageLayout as L;
        let (none, copied) = (vk::AccessFlags::empty(), vk::AccessFlags::TRANSFER_WRITE);
        let levels = subresources(mips);
        let layouts = (L::UNDEFINED, L::TRANSFER_DST_OPTIMAL);
        let before = image_barrier(image, levels, layouts, (none, copied));
        let layouts = (L::TRANSFER_DST_OPTIMAL, L::SHADER_READ_ONLY_OPTIMAL);
        let after = image_barrier(image, levels, layouts, (copied, vk::AccessFlags::SHADER_READ));
        self.before.push(before);
        self.after.push(after);
    }
}

/// The barrier after reads and before copies from mip levels of an image.
pub(super) fn leaving(image: vk::Image, mips: Range<u8>) -> vk::ImageMemoryBarrier<'static> {
    use vk::ImageLayout as L;
    let layouts = (L::SHADER_READ_ONLY_OPTIMAL, L::TRANSFER_SRC_OPTIMAL);
    let access = (vk::AccessFlags::empty(), vk::AccessFlags::TRANSFER_READ);
    image_barrier(image, subresources(mips), layouts, access)
}

/// The subresource range of all layers of some mip levels.
pub(super) fn subresources(mips: Range<u8>) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        base_mip_level: mips.start.into(),
        level_count: (mips.end - mips.start).into(),
        ..full_subresource_range(vk::ImageAspectFlags::COLOR)
    }
}

/// Records a Vulkan 1.0 barrier, which is sufficient here.
pub(super) fn barrier(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    (before, after): (vk::PipelineStageFlags, vk::PipelineStageFlags),
    images: &[vk::ImageMemoryBarrier<'_>],
) {
    let none = vk::DependencyFlags::empty();
    // SAFETY: recording, with images that are alive (the caller's duty).
    unsafe { device.cmd_pipeline_barrier(commands, before, after, none, &[], &[], images) };
}

/// All layers of a mip level, for copies.
pub(super) fn layers(shape: &TextureShape, mip: u32) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        mip_level: mip,
        base_array_layer: 0,
        layer_count: shape.layers.count(),
    }
}

/// The copy of all layers of a level, which is mip level `mip` of the image, to or from a buffer.
pub(super) fn copy(shape: &TextureShape, level: Level, mip: u32, offset: u64) -> vk::BufferImageCopy {
    vk::BufferImageCopy {
        buffer_offset: offset,
        image_subresource: layers(shape, mip),
        image_extent: shape.extent_at(level).into(),
        ..Default::default()
    }
}
