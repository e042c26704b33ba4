//! Barriers and copies of images, and the lists in which a frame collects them.

use ash::vk;
use tileheap::runtime::objects::full_subresource_range;

/// Lists that a frame fills.
#[derive(Default)]
pub(super) struct BarrierLists {
    pub(super) before: Vec<vk::ImageMemoryBarrier<'static>>,
    pub(super) after: Vec<vk::ImageMemoryBarrier<'static>>,
    pub(super) copies: Vec<vk::BufferImageCopy>,
}

impl BarrierLists {
    pub(super) fn clear(&mut self) {
        self.before.clear();
        self.after.clear();
        self.copies.clear();
    }

    /// The barriers around the copies to an image: from nothing, to reading.
    pub(super) fn add(&mut self, image: vk::Image) {
        use vk::ImageLayout as L;
        let (none, copied) = (vk::AccessFlags::empty(), vk::AccessFlags::TRANSFER_WRITE);
        let before = image_barrier(image, (L::UNDEFINED, L::TRANSFER_DST_OPTIMAL), (none, copied));
        let layouts = (L::TRANSFER_DST_OPTIMAL, L::SHADER_READ_ONLY_OPTIMAL);
        let after = image_barrier(image, layouts, (copied, vk::AccessFlags::SHADER_READ));
        self.before.push(before);
        self.after.push(after);
    }
}

/// The barrier before copies from an image that was read.
pub(super) fn leaving(image: vk::Image) -> vk::ImageMemoryBarrier<'static> {
    use vk::ImageLayout as L;
    let layouts = (L::SHADER_READ_ONLY_OPTIMAL, L::TRANSFER_SRC_OPTIMAL);
    image_barrier(
        image,
        layouts,
        (vk::AccessFlags::empty(), vk::AccessFlags::TRANSFER_READ),
    )
}

fn image_barrier(
    image: vk::Image,
    (old, new): (vk::ImageLayout, vk::ImageLayout),
    (before, after): (vk::AccessFlags, vk::AccessFlags),
) -> vk::ImageMemoryBarrier<'static> {
    vk::ImageMemoryBarrier::default()
        .image(image)
        .old_layout(old)
        .new_layout(new)
        .src_access_mask(before)
        .dst_access_mask(after)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .subresource_range(full_subresource_range(vk::ImageAspectFlags::COLOR))
}

/// Barriers of Vulkan 1.0, which suffice here.
pub(super) fn barrier(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    (before, after): (vk::PipelineStageFlags, vk::PipelineStageFlags),
    images: &[vk::ImageMemoryBarrier<'_>],
) {
    let none = vk::DependencyFlags::empty();
    // SAFETY: recording, with images that are alive (the callers' duty).
    unsafe { device.cmd_pipeline_barrier(commands, before, after, none, &[], &[], images) };
}

pub(super) fn copy(extent: &vk::Extent2D, mip: u32, offset: u64) -> vk::BufferImageCopy {
    vk::BufferImageCopy {
        buffer_offset: offset,
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: mip,
            base_array_layer: 0,
            layer_count: 1,
        },
        image_extent: (*extent).into(),
        ..Default::default()
    }
}
