//! How the frame's resources are created: one home for their creation infos, for measuring and for binding.

use ash::vk;

use crate::ffi::{BUFFER_USAGE_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM};
use crate::frame::Persistence;
use crate::frame::tables::{Resource, ResourceKind};
use crate::plan::MemoryKind;

/// The creation info of the image of `resource` in `home`; `None` for buffers.
///
/// Images that merely alias the same bytes need no `VK_IMAGE_CREATE_ALIAS_BIT`: each starts from `UNDEFINED`. `alias`
/// is for images that share bytes *and contents*, one per memory object of a tile resident.
pub(super) fn image_info(
    resource: &Resource,
    memory: MemoryKind,
    alias: bool,
) -> Option<vk::ImageCreateInfo<'static>> {
    let ResourceKind::Image {
        desc,
        extent,
        mut usage,
    } = resource.kind
    else {
        return None;
    };
    usage |= match memory {
        MemoryKind::Tile => IMAGE_USAGE_TILE_MEMORY_BIT_QCOM,
        MemoryKind::Lazy => vk::ImageUsageFlags::TRANSIENT_ATTACHMENT,
        MemoryKind::Arena | MemoryKind::Dedicated => vk::ImageUsageFlags::empty(),
    };
    if resource.persistence == Persistence::History && memory != MemoryKind::Tile {
        // Cleared once, before the first frame reads what no frame wrote. In tile memory is a stretch of it at most, which is written
        // first.
        usage |= vk::ImageUsageFlags::TRANSFER_DST;
    }
    let alias = if alias {
        vk::ImageCreateFlags::ALIAS
    } else {
        vk::ImageCreateFlags::empty()
    };
    Some(
        vk::ImageCreateInfo::default()
            .flags(desc.flags | alias)
            .image_type(desc.image_type)
            .format(desc.format)
            .extent(extent)
            .mip_levels(desc.mip_levels)
            .array_layers(desc.array_layers)
            .samples(desc.samples)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE)
            .initial_layout(vk::ImageLayout::UNDEFINED),
    )
}

/// The creation info of the buffer of `resource` in `home`; `None` for images.
pub(super) fn buffer_info(resource: &Resource, memory: MemoryKind) -> Option<vk::BufferCreateInfo<'static>> {
    let ResourceKind::Buffer { desc, mut usage } = resource.kind else {
        return None;
    };
    if memory == MemoryKind::Tile {
        usage |= BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
    }
    if resource.persistence == Persistence::History && memory != MemoryKind::Tile {
        usage |= vk::BufferUsageFlags::TRANSFER_DST;
    }
    Some(
        vk::BufferCreateInfo::default()
            .size(desc.size.0)
            .usage(usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE),
    )
}

/// The usages that go through a view (VUID-VkImageViewCreateInfo-image-04441).
pub(super) const VIEWED: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::SAMPLED.as_raw() | vk::ImageUsageFlags::STORAGE.as_raw() | ATTACHED.as_raw(),
);

/// The usages as attachment.
pub(super) const ATTACHED: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::INPUT_ATTACHMENT.as_raw(),
);

/// Every mip level and array layer of an image.
pub fn full_subresource_range(aspects: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: aspects,
        base_mip_level: 0,
        level_count: vk::REMAINING_MIP_LEVELS,
        base_array_layer: 0,
        layer_count: vk::REMAINING_ARRAY_LAYERS,
    }
}

/// The views of an image: the one for shaders, and the one for attachments.
///
/// `None` where the usage allows none; the second is `None` too where the first serves for both.
pub(super) fn view_infos(
    resource: &Resource,
    info: &vk::ImageCreateInfo<'_>,
    image: vk::Image,
) -> (
    Option<vk::ImageViewCreateInfo<'static>>,
    Option<vk::ImageViewCreateInfo<'static>>,
) {
    if !info.usage.intersects(VIEWED) {
        return (None, None);
    }
    let aspects = resource.aspects();
    let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    // A shader reads one aspect (VUID-VkDescriptorImageInfo-imageView-01976).
    let read = if aspects.contains(both) {
        vk::ImageAspectFlags::DEPTH
    } else {
        aspects
    };
    let cube = info.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE) && info.array_layers % 6 == 0;
    let plain = match (info.image_type, info.array_layers) {
        (vk::ImageType::TYPE_1D, 1) => vk::ImageViewType::TYPE_1D,
        (vk::ImageType::TYPE_1D, _) => vk::ImageViewType::TYPE_1D_ARRAY,
        (vk::ImageType::TYPE_3D, _) => vk::ImageViewType::TYPE_3D,
        (_, 1) => vk::ImageViewType::TYPE_2D,
        _ => vk::ImageViewType::TYPE_2D_ARRAY,
    };
    let shaped = match (cube, info.array_layers) {
        (true, 6) => vk::ImageViewType::CUBE,
        (true, _) => vk::ImageViewType::CUBE_ARRAY,
        (false, _) => plain,
    };
    let view = vk::ImageViewCreateInfo::default()
        .image(image)
        .format(info.format);
    let reading = view
        .view_type(shaped)
        .subresource_range(full_subresource_range(read));
    let level_0 = vk::ImageSubresourceRange {
        level_count: 1,
        ..full_subresource_range(aspects)
    };
    let attachment = view.view_type(plain).subresource_range(level_0);
    let differ = read != aspects || shaped != plain || info.mip_levels > 1;
    let attached = info.usage.intersects(ATTACHED) && differ;
    (Some(reading), attached.then_some(attachment))
}
