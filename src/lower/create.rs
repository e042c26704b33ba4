//! Fills the tables of created objects: memory objects, images, buffers and views.

use ash::vk;

use super::placed::Placed;
use super::sharing::Shared;
use super::tables::objects::{
    BufferRow, ImageRow, MemoryBinding, MemoryRow, Sharing, SubresourceRange, ViewRow,
};
use super::tables::{Lowered, OptionalIndex};
use crate::ffi::{BUFFER_USAGE_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM};
use crate::frame::tables::ViewDesc;
use crate::frame::tables::{Resource, ResourceKind};
use crate::frame::{Persistence, ResourceId};
use crate::measure::DedicatedRequirement;
use crate::plan::{MemoryKind, Placement};
use crate::units::{Alignment, Run};

/// Fills the tables of created objects, in the order of the plan's objects and placements.
pub(super) fn create(placed: &Placed<'_>, shared: &Shared<'_>, lowered: &mut Lowered) {
    let objects = placed.plan.objects.iter();
    let granularity = placed.plan.profile.limits.buffer_image_granularity;
    lowered.memory.extend(objects.map(|object| MemoryRow {
        alignment: match object.memory {
            MemoryKind::Arena | MemoryKind::Dedicated => granularity,
            MemoryKind::Tile | MemoryKind::Lazy => Alignment::ONE,
        },
        ..MemoryRow::new(object.memory, object.memory_type, object.size)
    }));
    lowered.images.reserve(placed.plan.placements.len());
    for placement in &placed.plan.placements {
        let resource = placed.plan.frame.resource(placement.resource);
        let first = lowered.families.len() as u32;
        let (families, reason) = shared.families(placement.resource);
        lowered.families.extend(families);
        let sharing = Sharing {
            families: Run::new(first, lowered.families.len() as u32),
            reason,
        };
        let binding = binding(placement);
        let alias = placed.is_ladder(placement.resource);
        if let Some(mut image) = image(placement.resource, resource, placement.memory, alias) {
            image.view_formats = view_formats(placed, image.format, placement.resource, lowered);
            (image.sharing, image.binding) = (sharing, binding);
            lowered.images.push(image);
        } else if let Some(mut buffer) = buffer(placement.resource, resource, placement.memory) {
            (buffer.sharing, buffer.binding) = (sharing, binding);
            lowered.buffers.push(buffer);
        }
        if let Some(memory) = binding.memory.get() {
            occupy(placed, placement, memory, lowered);
        }
    }
}

/// Adds the requirements of the most recently added image or buffer to its memory object.
fn occupy(placed: &Placed<'_>, placement: &Placement, memory: u32, lowered: &mut Lowered) {
    let needs = &placed.plan.requirements.resources[placement.resource.index()];
    let row = &mut lowered.memory[memory as usize];
    let alignment = match (row.kind, needs.tile) {
        (MemoryKind::Tile, Some(tile)) => tile.alignment,
        _ => needs.alignment,
    };
    if row.alignment.get() % alignment.get() != 0 {
        // If the product overflows, no block satisfies both.
        row.alignment = row.alignment.lcm(alignment).unwrap_or(alignment);
    }
    let dedicated = match row.kind {
        MemoryKind::Dedicated => needs.dedicated != DedicatedRequirement::No,
        MemoryKind::Lazy => needs.dedicated == DedicatedRequirement::Required,
        MemoryKind::Arena | MemoryKind::Tile => false,
    };
    if placed.plan.frame.resource(placement.resource).is_image() {
        let image = lowered.images.len() as u32 - 1;
        row.dedicated_image = dedicated.then_some(image).into();
    } else if let Some(buffer) = lowered.buffers.last() {
        if buffer.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) {
            row.flags |= vk::MemoryAllocateFlags::DEVICE_ADDRESS;
        }
        let buffer = lowered.buffers.len() as u32 - 1;
        row.dedicated_buffer = dedicated.then_some(buffer).into();
    }
}

/// The formats of an image's views, the image's own first; empty if all views have that format.
fn view_formats(placed: &Placed<'_>, own: vk::Format, resource: ResourceId, lowered: &mut Lowered) -> Run {
    let frame = &placed.plan.frame;
    let first = lowered.formats.len();
    for format in frame
        .accesses_to(resource)
        .filter_map(|access| access.view.format)
    {
        if lowered.formats.len() == first {
            lowered.formats.push(own);
        }
        if !lowered.formats[first..].contains(&format) {
            lowered.formats.push(format);
        }
    }
    Run::new(first as u32, lowered.formats.len() as u32)
}

/// The image of a resource in memory of this kind, not yet bound; `None` for buffers.
///
/// Images that merely alias the same bytes need no `VK_IMAGE_CREATE_ALIAS_BIT`: each starts from `UNDEFINED`. `alias`
/// is for images that share bytes *and contents*, one per memory object of a tile resident.
#[inline]
pub(crate) fn image(
    id: ResourceId,
    resource: &Resource,
    memory: MemoryKind,
    alias: bool,
) -> Option<ImageRow> {
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
    if is_cleared(resource, memory) {
        usage |= vk::ImageUsageFlags::TRANSFER_DST;
    }
    let alias = if alias {
        vk::ImageCreateFlags::ALIAS
    } else {
        vk::ImageCreateFlags::empty()
    };
    Some(ImageRow {
        resource: id,
        flags: desc.flags | alias,
        image_type: desc.image_type,
        format: desc.format,
        extent,
        mip_levels: desc.mip_levels,
        array_layers: desc.array_layers,
        samples: desc.samples,
        tiling: vk::ImageTiling::OPTIMAL,
        usage,
        hook: desc.hook,
        view_formats: Run::default(),
        sharing: Sharing::default(),
        binding: MemoryBinding::IMPORTED,
    })
}

/// The buffer of a resource in memory of this kind, not yet bound; `None` for images.
pub(crate) fn buffer(id: ResourceId, resource: &Resource, memory: MemoryKind) -> Option<BufferRow> {
    let ResourceKind::Buffer { desc, mut usage } = resource.kind else {
        return None;
    };
    if memory == MemoryKind::Tile {
        usage |= BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
    }
    if is_cleared(resource, memory) {
        usage |= vk::BufferUsageFlags::TRANSFER_DST;
    }
    Some(BufferRow {
        resource: id,
        hook: desc.hook,
        size: desc.size,
        usage,
        sharing: Sharing::default(),
        binding: MemoryBinding::IMPORTED,
    })
}

/// Returns true if a resource may have to be cleared: a history is cleared before a frame reads contents that no frame has written. A history in tile
/// memory is never cleared, since the frame writes it before reading it.
fn is_cleared(resource: &Resource, memory: MemoryKind) -> bool {
    resource.persistence == Persistence::History && memory != MemoryKind::Tile
}

fn binding(placement: &Placement) -> MemoryBinding {
    match placement.object {
        Some(object) => MemoryBinding {
            memory: OptionalIndex::some(object.index() as u32),
            offset: placement.offset,
            size: placement.size,
        },
        None => MemoryBinding::IMPORTED,
    }
}

/// The image usages for attachments of any kind.
pub(crate) const ATTACHED: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::INPUT_ATTACHMENT.as_raw(),
);

/// The image usages that need a view (VUID-VkImageViewCreateInfo-image-04441).
const VIEWED: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::SAMPLED.as_raw()
        | vk::ImageUsageFlags::STORAGE.as_raw()
        | vk::ImageUsageFlags::FRAGMENT_DENSITY_MAP_EXT.as_raw()
        | ATTACHED.as_raw(),
);

/// The usage of a view of `format`: empty, which inherits the image's, unless the format may allow less than the image's usage.
///
/// In that case, sRGB views for several usages are not for storing: few devices allow that (VUID-VkImageViewCreateInfo-usage-02275).
fn view_usage(image: &ImageRow, format: vk::Format, usage: vk::ImageUsageFlags) -> vk::ImageUsageFlags {
    let extended = image.flags.contains(vk::ImageCreateFlags::EXTENDED_USAGE);
    let several = usage != vk::ImageUsageFlags::STORAGE;
    match extended || format != image.format {
        true if several && crate::format::info(format).is_some_and(|info| info.srgb) => {
            image.usage & usage & !vk::ImageUsageFlags::STORAGE
        }
        true => image.usage & usage,
        false => vk::ImageUsageFlags::empty(),
    }
}

/// The layers `[0, VK_REMAINING_ARRAY_LAYERS)`: all slices. With `VK_KHR_maintenance9`, an explicit count selects individual slices.
pub(crate) const ALL_SLICES: Run = Run::new(0, vk::REMAINING_ARRAY_LAYERS);

/// A part of an image as barriers and clears name it: all slices of a level of a 3D image as [`ALL_SLICES`].
pub(super) fn in_barrier(image: &ImageRow, mut range: SubresourceRange) -> SubresourceRange {
    let depth = image.extent.depth;
    let all = Run::new(0, (depth >> range.levels.first.min(31)).max(1));
    if image.image_type == vk::ImageType::TYPE_3D && range.layers == all {
        range.layers = ALL_SLICES;
    }
    range
}

/// The view of a part of an image for descriptors with this usage; `None` if the image's usage allows no views. Without `cube_arrays`, the default view of
/// several cubes is a 2D array (VUID-VkImageViewCreateInfo-viewType-01004).
pub(crate) fn shader_view(
    (index, image): (u32, &ImageRow),
    range: SubresourceRange,
    desc: ViewDesc,
    usage: vk::ImageUsageFlags,
    cube_arrays: bool,
) -> Option<ViewRow> {
    let mut range = range;
    if !image.usage.intersects(VIEWED) {
        return None;
    }
    if image.image_type == vk::ImageType::TYPE_3D {
        // Shaders see all slices of a level.
        range.layers = Run::new(0, 1);
    }
    let cubes = image.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE) && range.layers.len() % 6 == 0;
    let view_type = match (cubes, range.layers.len()) {
        (true, 6) => vk::ImageViewType::CUBE,
        (true, _) if cube_arrays => vk::ImageViewType::CUBE_ARRAY,
        (_, _) => plain_type(image.image_type, range),
    };
    range.aspects = read_aspects(range);
    let format = desc.format.unwrap_or(image.format);
    Some(ViewRow {
        image: index,
        view_type: desc.view_type.unwrap_or(view_type),
        format,
        usage: view_usage(image, format, usage),
        range,
    })
}

/// The view of a part of an image for the descriptor of an input or tile attachment: as for attachments, faces of cubes are layers, but it has only
/// the aspect that the shader reads.
pub(crate) fn input_view(
    index: u32,
    image: &ImageRow,
    range: SubresourceRange,
    desc: ViewDesc,
    usage: vk::ImageUsageFlags,
) -> ViewRow {
    let mut view = attachment_view(index, image, range, desc, usage);
    view.range.aspects = read_aspects(range);
    view
}

/// The aspect of a range that a shader reads: one (VUID-VkDescriptorImageInfo-imageView-01976), depth before stencil.
fn read_aspects(range: SubresourceRange) -> vk::ImageAspectFlags {
    match range.aspects.contains(vk::ImageAspectFlags::DEPTH) {
        true => vk::ImageAspectFlags::DEPTH,
        false => range.aspects,
    }
}

/// The view usage of attachments that passes with tile shading also access as tile attachments, through the same view.
pub(crate) const TILE_ATTACHED: vk::ImageUsageFlags =
    vk::ImageUsageFlags::from_raw(ATTACHED.as_raw() | vk::ImageUsageFlags::STORAGE.as_raw());

/// The attachment view of a part of an image, with this usage and all aspects; slices of a 3D image are layers.
pub(crate) fn attachment_view(
    index: u32,
    image: &ImageRow,
    range: SubresourceRange,
    desc: ViewDesc,
    usage: vk::ImageUsageFlags,
) -> ViewRow {
    let flat = match image.image_type {
        vk::ImageType::TYPE_3D => vk::ImageType::TYPE_2D,
        other => other,
    };
    let format = desc.format.unwrap_or(image.format);
    ViewRow {
        image: index,
        view_type: desc.view_type.unwrap_or_else(|| plain_type(flat, range)),
        format,
        usage: view_usage(image, format, usage),
        range: SubresourceRange {
            aspects: crate::format::aspects(format),
            ..range
        },
    }
}

fn plain_type(image_type: vk::ImageType, range: SubresourceRange) -> vk::ImageViewType {
    match (image_type, range.layers.len()) {
        (vk::ImageType::TYPE_1D, 1) => vk::ImageViewType::TYPE_1D,
        (vk::ImageType::TYPE_1D, _) => vk::ImageViewType::TYPE_1D_ARRAY,
        (vk::ImageType::TYPE_3D, _) => vk::ImageViewType::TYPE_3D,
        (_, 1) => vk::ImageViewType::TYPE_2D,
        _ => vk::ImageViewType::TYPE_2D_ARRAY,
    }
}
