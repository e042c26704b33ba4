//! Checks that memory objects, images, buffers and views match the frame, the device and the needs of the passes.

use ash::vk;
use ash::vk::{ImageUsageFlags as I, ImageViewType as V};
use tileheap_units::CompactSort;

use super::checker::{CheckedRow, Checker};
use super::parts::last_layer;
use crate::ffi::{BUFFER_USAGE_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM};
use crate::frame::tables::ResourceKind;
use crate::frame::{AccessKind, ClearValue, Persistence, SubresourceRange};
use crate::lower::tables::objects::{ImageRow, MemoryBinding, MemoryRow, Sharing};
use crate::lower::tables::{DeviceQueueIndex, ImageOrBuffer};
use crate::measure::DedicatedRequirement;
use crate::plan::MemoryKind;
use crate::profile::{TILE_IMAGE_USES, tile_buffer_uses};
use crate::units::{Bytes, Run};

pub(super) fn check(checker: &mut Checker<'_>) {
    for row in 0..checker.tables.memory.len() {
        check_memory(checker, row);
    }
    for object in checker.objects() {
        match object {
            ImageOrBuffer::Image(row) => check_image(checker, row),
            ImageOrBuffer::Buffer(row) => check_buffer(checker, row),
        }
        check_binding(checker, object);
        check_sharing(checker, object);
    }
    check_company(checker);
    for row in 0..checker.tables.views.len() {
        check_view(checker, row);
    }
}

fn check_memory(checker: &mut Checker<'_>, row: usize) {
    let memory = checker.tables.memory[row];
    let profile = &*checker.device.profile;
    let mut at = checker.at(format!("memory object {row}"));
    let Some(kind) = profile.memory_types.get(memory.memory_type as usize) else {
        let needs = format!("below {}, the number of memory types", profile.memory_types.len());
        return at.wrong("memoryTypeIndex", &memory.memory_type, &needs);
    };
    let bit = 1 << memory.memory_type;
    let tile = profile.tile_type_bits() & bit != 0;
    let lazy = profile.lazy_type_bits() & bit != 0;
    let fits = match memory.kind {
        MemoryKind::Tile => profile.tile.is_some_and(|usable| usable.heap == kind.heap),
        MemoryKind::Lazy => lazy && !tile,
        MemoryKind::Arena | MemoryKind::Dedicated => !lazy && !tile,
    };
    let needs = format!("a memory type for memory of kind {:?}", memory.kind);
    at.demand(fits, "memoryTypeIndex", memory.memory_type, needs);
    let heap = profile.heaps[kind.heap as usize].size;
    let usable = profile.tile.filter(|_| memory.kind == MemoryKind::Tile);
    let most = usable
        .map_or(heap, |usable| usable.size.min(heap))
        .min(profile.limits.max_allocation);
    let needs = "more than 0 (VUID-VkMemoryAllocateInfo-allocationSize-07897)";
    at.demand(memory.size != Bytes::ZERO, "allocationSize", memory.size, needs);
    let needs = format!("at most {most} (VUID-vkAllocateMemory-pAllocateInfo-01713)");
    at.demand(memory.size <= most, "allocationSize", memory.size, needs);
    // VUID-vkBindBufferMemory-bufferDeviceAddress-03339
    let mut buffers = at.checker.tables.buffers.iter();
    let addressed = buffers.any(|buffer| {
        buffer.binding.memory.get() == Some(row as u32)
            && buffer.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS)
    });
    let needs = match addressed {
        true => vk::MemoryAllocateFlags::DEVICE_ADDRESS,
        false => vk::MemoryAllocateFlags::empty(),
    };
    at.equal("flags", memory.flags, needs);
    let granularity = profile.limits.buffer_image_granularity.get();
    let ordinary = matches!(memory.kind, MemoryKind::Arena | MemoryKind::Dedicated);
    let fits = !ordinary || memory.alignment.get() % granularity == 0;
    let needs = format!("a multiple of {granularity}, the device's bufferImageGranularity");
    at.demand(fits, "alignment", memory.alignment, needs);
    check_dedicated(&mut at, row as u32, memory);
}

/// Checks that a dedicated allocation names exactly the image or buffer that is bound to it, and that memory is dedicated if a resource requires that.
///
/// Source: VUID-VkMemoryDedicatedAllocateInfo-image-01432, VUID-VkBindImageMemoryInfo-memory-02628.
fn check_dedicated(at: &mut CheckedRow<'_, '_>, row: u32, memory: MemoryRow) {
    let image = memory.dedicated_image.get().map(ImageOrBuffer::Image);
    let buffer = memory.dedicated_buffer.get().map(ImageOrBuffer::Buffer);
    let wanted: Vec<ImageOrBuffer> = image.into_iter().chain(buffer).collect();
    let mut bound: Vec<ImageOrBuffer> = at.checker.objects().collect();
    bound.retain(|&object| at.checker.binding_of(object).memory.get() == Some(row));
    let required = bound.iter().any(|&object| {
        let resource = at.checker.resource_of(object);
        at.checker.device.requirements.resources[resource.index()].dedicated == DedicatedRequirement::Required
    });
    let single = [MemoryKind::Dedicated, MemoryKind::Lazy].contains(&memory.kind);
    let only = wanted == bound && single;
    let fits = if wanted.is_empty() { !required } else { only };
    let needs = match required {
        true => "the one image or buffer that is bound to the memory: it requires a dedicated allocation",
        false => "the one image or buffer that is bound to the memory, or none",
    };
    at.demand(fits, "VkMemoryDedicatedAllocateInfo", wanted, needs);
}

/// Returns true if an object may also have the usage for clears, which the frame does not declare.
fn is_cleared(checker: &Checker<'_>, object: ImageOrBuffer) -> bool {
    checker.is_history(checker.resource_of(object))
}

fn check_image(checker: &mut Checker<'_>, row: u32) {
    let image = checker.tables.images[row as usize];
    let described = checker.frame.resource(image.resource);
    let ResourceKind::Image { desc, extent, usage } = described.kind else {
        return;
    };
    let object = ImageOrBuffer::Image(row);
    let memory = checker.memory_of(object);
    let cleared = is_cleared(checker, object);
    let mut at = checker.at(format!("image `{}`", described.name));
    at.equal("imageType", image.image_type, desc.image_type);
    at.equal("format", image.format, desc.format);
    at.equal("extent", image.extent, extent);
    at.equal("mipLevels", image.mip_levels, desc.mip_levels);
    at.equal("arrayLayers", image.array_layers, desc.array_layers);
    at.equal("samples", image.samples, desc.samples);
    at.equal("hook", image.hook, desc.hook);
    at.equal("tiling", image.tiling, vk::ImageTiling::OPTIMAL);
    let flags = image.flags & !vk::ImageCreateFlags::ALIAS | desc.flags & vk::ImageCreateFlags::ALIAS;
    at.equal("flags", flags, desc.flags);
    let mut needs = usage;
    if memory == Some(MemoryKind::Tile) {
        needs |= IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        tile_image(&mut at, &image);
    }
    if memory == Some(MemoryKind::Lazy) {
        needs |= I::TRANSIENT_ATTACHMENT;
        let attached = I::COLOR_ATTACHMENT | I::DEPTH_STENCIL_ATTACHMENT | I::INPUT_ATTACHMENT;
        let fits = (attached | I::TRANSIENT_ATTACHMENT).contains(image.usage);
        let needs = "only attachment usages (VUID-VkImageCreateInfo-usage-00963)";
        at.demand(fits, "usage", image.usage, needs);
    }
    let clears = if cleared { I::TRANSFER_DST } else { I::empty() };
    usage_between(
        &mut at,
        image.usage.as_raw(),
        needs.as_raw(),
        (needs | clears).as_raw(),
    );
}

fn tile_image(at: &mut CheckedRow<'_, '_>, image: &ImageRow) {
    let fits = (TILE_IMAGE_USES | IMAGE_USAGE_TILE_MEMORY_BIT_QCOM).contains(image.usage);
    at.demand(fits, "usage", image.usage, "one that tile memory permits");
    let mut accesses = at.checker.frame.accesses().iter();
    let resolved = accesses
        .any(|access| access.kind == AccessKind::ResolveAttachment && access.resource == image.resource);
    let needs = "ordinary memory: a pass resolves into the image (VUID-VkRenderingAttachmentInfo-resolveImageView-10728)";
    at.demand(!resolved, "memory", MemoryKind::Tile, needs);
}

fn check_buffer(checker: &mut Checker<'_>, row: u32) {
    let buffer = checker.tables.buffers[row as usize];
    let described = checker.frame.resource(buffer.resource);
    let ResourceKind::Buffer { desc, usage } = described.kind else {
        return;
    };
    let object = ImageOrBuffer::Buffer(row);
    let cleared = is_cleared(checker, object);
    let in_tile = checker.memory_of(object) == Some(MemoryKind::Tile);
    let tile = checker.device.profile.tile;
    let mut at = checker.at(format!("buffer `{}`", described.name));
    at.equal("size", buffer.size, desc.size);
    at.equal("hook", buffer.hook, desc.hook);
    let mut needs = usage;
    if in_tile {
        needs |= BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
        let transfers = tile.is_some_and(|tile| tile.buffer_transfers);
        let permitted = tile_buffer_uses(transfers) | BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
        let needs = "one that tile memory permits (VUID-VkBufferCreateInfo-usage-10764)";
        at.demand(permitted.contains(buffer.usage), "usage", buffer.usage, needs);
    }
    let mut allowed = needs;
    if cleared {
        allowed |= vk::BufferUsageFlags::TRANSFER_DST;
    }
    usage_between(&mut at, buffer.usage.as_raw(), needs.as_raw(), allowed.as_raw());
}

fn usage_between(at: &mut CheckedRow<'_, '_>, usage: u32, needs: u32, allowed: u32) {
    let fits = usage & needs == needs && usage & !allowed == 0;
    let needs = format!("{needs:#x}, optionally with bits of {:#x}", allowed & !needs);
    at.demand(fits, "usage", format_args!("{usage:#x}"), needs);
}

fn check_binding(checker: &mut Checker<'_>, object: ImageOrBuffer) {
    let (id, binding) = (checker.resource_of(object), checker.binding_of(object));
    let external = matches!(checker.frame.resource(id).persistence, Persistence::External(_));
    let (tables, device) = (checker.tables, checker.device);
    let mut at = checker.at(format!("`{}`", checker.resource(id)));
    let MemoryBinding { memory, offset, size } = binding;
    let Some(memory) = memory.get() else {
        return at.demand(
            external,
            "binding",
            binding,
            "in a memory object: the caller does not supply the memory",
        );
    };
    at.demand(!external, "binding", memory, "the caller's memory");
    let row = tables.memory[memory as usize];
    let requirement = device.requirements.resources[id.index()];
    let (of_tile, of_lazy) = (device.profile.tile_type_bits(), requirement.lazy_type_bits);
    let (least, alignment, types) = match (row.kind, requirement.tile) {
        (MemoryKind::Tile, Some(tile)) => (tile.size, tile.alignment, of_tile),
        (MemoryKind::Tile, None) => {
            return at.wrong(
                "memory",
                &row.kind,
                &"ordinary memory: the driver refuses the resource in tile memory",
            );
        }
        (MemoryKind::Lazy, _) => (requirement.size, requirement.alignment, of_lazy),
        _ => (
            requirement.size,
            requirement.alignment,
            requirement.memory_type_bits,
        ),
    };
    let fits = row.memory_type < 32 && types & 1 << row.memory_type != 0;
    at.demand(
        fits,
        "memoryTypeIndex",
        row.memory_type,
        format_args!("the index of a bit that is set in {types:#x}"),
    );
    let multiple = alignment.get();
    let needs = format!("a multiple of {multiple} (VUID-VkBindImageMemoryInfo-pNext-01616)");
    at.demand(offset.is_aligned(alignment), "memoryOffset", offset, needs);
    let fits = row.alignment.get() % multiple == 0;
    let needs = format!("a multiple of {multiple}");
    at.demand(fits, "alignment", row.alignment, needs);
    at.demand(size >= least, "size", size, format_args!("at least {least}"));
    let inside = offset.0.checked_add(size.0).is_some_and(|end| end <= row.size.0);
    let end = Bytes(offset.0.saturating_add(size.0));
    at.demand(
        inside,
        "range",
        format_args!("[{offset}, {end})"),
        format_args!("inside memory object {memory} of {}", row.size),
    );
    let fits = requirement.dedicated != DedicatedRequirement::Required || offset == Bytes::ZERO;
    at.demand(
        fits,
        "memoryOffset",
        offset,
        "0: the resource requires a dedicated allocation",
    );
}

/// Checks the families of a resource: none for `VK_SHARING_MODE_EXCLUSIVE`; for `VK_SHARING_MODE_CONCURRENT`, at least two families of the device, each once,
/// among them all that use the resource.
fn check_sharing(checker: &mut Checker<'_>, object: ImageOrBuffer) {
    let Sharing { families, reason } = match object {
        ImageOrBuffer::Image(row) => checker.tables.images[row as usize].sharing,
        ImageOrBuffer::Buffer(row) => checker.tables.buffers[row as usize].sharing,
    };
    let families = families.of(&checker.tables.families);
    let known = checker.device.families.len() as u32;
    let users = checker.frame.accesses_to(checker.resource_of(object));
    let outside = users
        .map(|access| checker.family(checker.queue_of(access.pass)))
        .find(|family| !families.contains(family));
    let mut at = checker.at(format!("`{}`", checker.name_of(object)));
    let parameter = "pQueueFamilyIndices";
    let fits = reason.is_shared() != families.is_empty();
    let needs = match reason.is_shared() {
        true => "the families that share the resource",
        false => "empty",
    };
    at.demand(
        fits,
        parameter,
        families,
        format_args!("{needs}, because the reason for the sharing mode is {reason:?}"),
    );
    if families.is_empty() {
        return;
    }
    let mut distinct = families.to_vec();
    distinct.compact_sort();
    distinct.dedup();
    let fits = distinct.len() >= 2 && distinct.len() == families.len();
    let needs = "two families or more, each once (VUID-VkImageCreateInfo-sharingMode-00942)";
    at.demand(fits, parameter, families, needs);
    let fits = families.iter().all(|&family| family < known);
    at.demand(
        fits,
        parameter,
        families,
        format_args!("below {known}, the number of queue families of the device"),
    );
    if let Some(family) = outside {
        at.wrong(
            parameter,
            &families,
            &format_args!("a list with family {family}, which uses the resource"),
        );
    }
}

/// Checks that resources in the same memory object may share it, and that images that share contents have the alias flag.
fn check_company(checker: &mut Checker<'_>) {
    let objects: Vec<ImageOrBuffer> = checker.objects().collect();
    for (index, &a) in objects.iter().enumerate() {
        let MemoryBinding { memory, offset, size } = checker.binding_of(a);
        let Some(memory) = memory.get() else { continue };
        let kind = checker.tables.memory[memory as usize].kind;
        let alone = |checker: &Checker<'_>, object: ImageOrBuffer| {
            let needs = checker.device.requirements.resources[checker.resource_of(object).index()];
            needs.dedicated == DedicatedRequirement::Required || kind == MemoryKind::Dedicated
        };
        for &b in &objects[..index] {
            let MemoryBinding {
                memory: its,
                offset: from,
                size: of,
            } = checker.binding_of(b);
            let Some(its) = its.get() else { continue };
            if memory == its && (alone(checker, a) || alone(checker, b)) {
                let other = checker.name_of(b);
                let needs = format!(
                    "a different memory object than `{other}`: one of them requires a dedicated allocation"
                );
                checker
                    .at(format!("`{}`", checker.name_of(a)))
                    .wrong("memory", &memory, &needs);
            }
            let both_tile = checker.memory_of(b) == Some(MemoryKind::Tile) && kind == MemoryKind::Tile;
            let same = checker.resource_of(a) == checker.resource_of(b) && (offset, size) == (from, of);
            let (ImageOrBuffer::Image(first), ImageOrBuffer::Image(second), true) = (a, b, both_tile && same)
            else {
                continue;
            };
            let flags = [first, second].map(|row| checker.tables.images[row as usize].flags);
            let fits = flags
                .iter()
                .all(|flags| flags.contains(vk::ImageCreateFlags::ALIAS));
            let mut at = checker.at(format!("image `{}`", checker.name_of(a)));
            at.demand(
                fits,
                "flags",
                flags[0],
                "a mask that includes ALIAS, because another image shares the contents",
            );
        }
    }
}

/// Checks that a range of levels or layers is not empty, and that all of it exists.
pub(super) fn demand_inside(at: &mut CheckedRow<'_, '_>, parameter: &'static str, run: Run, count: u32) {
    let fits = !run.is_empty() && run.end <= count;
    at.demand(
        fits,
        parameter,
        run,
        format_args!("a non-empty range inside [0, {count})"),
    );
}

fn check_view(checker: &mut Checker<'_>, row: usize) {
    let view = checker.tables.views[row];
    let image = checker.tables.images[view.image as usize];
    let listed = image.view_formats.of(&checker.tables.formats);
    let name = checker.name_of(ImageOrBuffer::Image(view.image));
    let mut at = checker.at(format!("view {row}, of image `{name}`"));
    let fits = view.format == image.format || listed.contains(&view.format);
    let needs = format!(
        "{:?}, or one of the image's view formats (VUID-VkImageViewCreateInfo-image-01762)",
        image.format
    );
    at.demand(fits, "format", view.format, needs);
    let aspects = crate::format::aspects(image.format);
    let fits = !view.range.aspects.is_empty() && aspects.contains(view.range.aspects);
    at.demand(
        fits,
        "aspectMask",
        view.range.aspects,
        format_args!("a non-empty subset of {aspects:?}"),
    );
    let restricts = image.flags.contains(vk::ImageCreateFlags::EXTENDED_USAGE) || view.format != image.format;
    let fits = view.usage.is_empty() || restricts && image.usage.contains(view.usage);
    let needs = "empty, or part of the image's usage (VUID-VkImageViewCreateInfo-pNext-02662)";
    at.demand(fits, "usage", view.usage, needs);
    let slices = image.image_type == vk::ImageType::TYPE_3D && view.view_type != V::TYPE_3D;
    let layers = if slices {
        image.extent.depth
    } else {
        image.array_layers
    };
    demand_inside(&mut at, "levels", view.range.levels, image.mip_levels);
    demand_inside(&mut at, "layers", view.range.layers, layers);
    let of_type: &[V] = match image.image_type {
        vk::ImageType::TYPE_1D => &[V::TYPE_1D, V::TYPE_1D_ARRAY],
        vk::ImageType::TYPE_3D => &[V::TYPE_3D, V::TYPE_2D, V::TYPE_2D_ARRAY],
        _ => &[V::TYPE_2D, V::TYPE_2D_ARRAY, V::CUBE, V::CUBE_ARRAY],
    };
    let single = [V::TYPE_1D, V::TYPE_2D, V::TYPE_3D].contains(&view.view_type);
    let cube = [V::CUBE, V::CUBE_ARRAY].contains(&view.view_type);
    let layers = view.range.layers.end.saturating_sub(view.range.layers.first);
    let fits = of_type.contains(&view.view_type)
        && (!single || layers == 1)
        && (!cube || image.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE) && layers % 6 == 0);
    let needs = format!(
        "one that is valid for image type {:?}, a layer count of {layers}, and the image's flags",
        image.image_type
    );
    at.demand(fits, "viewType", view.view_type, needs);
    let attached = I::COLOR_ATTACHMENT | I::DEPTH_STENCIL_ATTACHMENT | I::INPUT_ATTACHMENT;
    let viewed = I::SAMPLED | I::STORAGE | attached | I::TRANSIENT_ATTACHMENT;
    let needs = "one that allows views (VUID-VkImageViewCreateInfo-image-04441)";
    at.demand(viewed.intersects(image.usage), "usage", image.usage, needs);
}

/// Checks that cleared or kept levels, layers and aspects exist in the image.
///
/// Source: VUID-vkCmdClearColorImage-pRanges-01692, -pRanges-01693 and -aspectMask-02498, and those of vkCmdClearDepthStencilImage.
pub(super) fn check_range(at: &mut CheckedRow<'_, '_>, image: &ImageRow, range: SubresourceRange) {
    demand_inside(at, "levels", range.levels, image.mip_levels);
    if range.layers != Run::new(0, vk::REMAINING_ARRAY_LAYERS) {
        demand_inside(at, "layers", range.layers, last_layer(image, range.levels));
    }
    let aspects = crate::format::aspects(image.format);
    let fits = !range.aspects.is_empty() && aspects.contains(range.aspects);
    at.demand(
        fits,
        "aspectMask",
        range.aspects,
        format_args!("a non-empty subset of {aspects:?}"),
    );
}

/// Checks that a clear is to zero, that its object has the required usage, and that its queue can record it.
pub(super) fn check_clear(
    at: &mut CheckedRow<'_, '_>,
    queue: DeviceQueueIndex,
    object: ImageOrBuffer,
    value: ClearValue,
) {
    use vk::QueueFlags as Q;
    let tables = at.checker.tables;
    let (fits, usage, needs, zero) = match object {
        ImageOrBuffer::Image(row) => {
            let image = tables.images[row as usize];
            let color = crate::format::aspects(image.format).contains(vk::ImageAspectFlags::COLOR);
            let compute = if color { Q::COMPUTE } else { Q::empty() };
            let fits = image.usage.contains(I::TRANSFER_DST);
            let zero = ClearValue::zero_of(image.format);
            (fits, format!("{:?}", image.usage), Q::GRAPHICS | compute, zero)
        }
        ImageOrBuffer::Buffer(row) => {
            let usage = tables.buffers[row as usize].usage;
            let fits = usage.contains(vk::BufferUsageFlags::TRANSFER_DST);
            let queues = Q::GRAPHICS | Q::COMPUTE | Q::TRANSFER;
            (fits, format!("{usage:?}"), queues, ClearValue::ZERO)
        }
    };
    at.equal("value", value, zero);
    at.demand(
        fits,
        "usage",
        format_args!("{usage}"),
        "a mask that includes TRANSFER_DST (VUID-vkCmdClearColorImage-image-00002)",
    );
    let flags = at.checker.flags(queue);
    let needed = format!(
        "that of a queue with at least one of {needs:?} (VUID-vkCmdClearColorImage-commandBuffer-cmdpool)"
    );
    at.demand(flags.intersects(needs), "queue", flags, needed);
}
