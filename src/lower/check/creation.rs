//! Created objects: memory, images, buffers and views are what the frame describes, the device allows and the passes need.

use std::fmt::Debug;

use ash::vk;
use ash::vk::{ImageUsageFlags as I, ImageViewType as V};

use super::checker::Checker;
use crate::ffi::{BUFFER_USAGE_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM};
use crate::frame::tables::ResourceKind;
use crate::frame::{AccessKind, ClearValue, Persistence};
use crate::lower::tables::objects::{Binding, ImageRow, Sharing};
use crate::lower::tables::{DeviceQueueIndex, Object};
use crate::measure::Dedicated;
use crate::plan::MemoryKind;
use crate::profile::{TILE_IMAGE_USES, tile_buffer_uses};
use crate::units::Bytes;

pub(super) fn check(checker: &mut Checker<'_>) {
    for row in 0..checker.tables.memory.len() {
        check_memory(checker, row);
    }
    for object in checker.objects() {
        match object {
            Object::Image(row) => check_image(checker, row),
            Object::Buffer(row) => check_buffer(checker, row),
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
    let what = format!("memory object {row}");
    let profile = &*checker.device.profile;
    let Some(kind) = profile.memory_types.get(memory.memory_type as usize) else {
        let needs = format!("one of {} types", profile.memory_types.len());
        return checker.wrong(&what, "memoryTypeIndex", memory.memory_type, needs);
    };
    let bit = 1 << memory.memory_type;
    let tile = profile.tile_type_bits() & bit != 0;
    let lazy = profile.lazy_type_bits() & bit != 0;
    let fits = match memory.kind {
        MemoryKind::Tile => profile.tile.is_some_and(|usable| usable.heap == kind.heap),
        MemoryKind::Lazy => lazy && !tile,
        MemoryKind::Arena | MemoryKind::Dedicated => !lazy && !tile,
    };
    let heap = profile.heaps[kind.heap as usize].size;
    let most = match profile.tile.filter(|_| memory.kind == MemoryKind::Tile) {
        Some(usable) => usable.size.min(heap),
        None => heap,
    };
    let most = most.min(profile.limits.max_allocation);
    if !fits {
        let needs = format!("a type for memory of kind {:?}", memory.kind);
        checker.wrong(&what, "memoryTypeIndex", memory.memory_type, needs);
    }
    if memory.size == Bytes::ZERO || memory.size > most {
        let needs = format!("more than 0 and at most {most} (VUID-vkAllocateMemory-pAllocateInfo-01713)");
        checker.wrong(&what, "allocationSize", memory.size, needs);
    }
}

/// The usage that a resource may have beyond what the frame describes.
fn is_cleared(checker: &Checker<'_>, object: Object) -> bool {
    checker.is_history(checker.resource_of(object))
}

fn check_image(checker: &mut Checker<'_>, row: u32) {
    let image = checker.tables.images[row as usize];
    let described = checker.frame.resource(image.resource);
    let ResourceKind::Image { desc, extent, usage } = described.kind else {
        return;
    };
    let what = format!("image `{}`", described.name);
    checker.equal(&what, "imageType", image.image_type, desc.image_type);
    checker.equal(&what, "format", image.format, desc.format);
    checker.equal(&what, "extent", image.extent, extent);
    checker.equal(&what, "mipLevels", image.mip_levels, desc.mip_levels);
    checker.equal(&what, "arrayLayers", image.array_layers, desc.array_layers);
    checker.equal(&what, "samples", image.samples, desc.samples);
    checker.equal(&what, "tiling", image.tiling, vk::ImageTiling::OPTIMAL);
    let flags = image.flags & !vk::ImageCreateFlags::ALIAS | desc.flags & vk::ImageCreateFlags::ALIAS;
    checker.equal(&what, "flags", flags, desc.flags);
    let object = Object::Image(row);
    let memory = checker.memory_of(object);
    let mut allowed = usage;
    if is_cleared(checker, object) {
        allowed |= I::TRANSFER_DST;
    }
    let mut needs = usage;
    if memory == Some(MemoryKind::Tile) {
        needs |= IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        tile_image(checker, &what, &image);
    }
    if memory == Some(MemoryKind::Lazy) {
        needs |= I::TRANSIENT_ATTACHMENT;
        let attached = I::COLOR_ATTACHMENT | I::DEPTH_STENCIL_ATTACHMENT | I::INPUT_ATTACHMENT;
        if !(attached | I::TRANSIENT_ATTACHMENT).contains(image.usage) {
            let needs = "an attachment's alone (VUID-VkImageCreateInfo-usage-00963)";
            checker.wrong(&what, "usage", image.usage, needs);
        }
    }
    usage_between(
        checker,
        &what,
        image.usage.as_raw(),
        needs.as_raw(),
        (needs | allowed).as_raw(),
    );
}

fn tile_image(checker: &mut Checker<'_>, what: &str, image: &ImageRow) {
    if !(TILE_IMAGE_USES | IMAGE_USAGE_TILE_MEMORY_BIT_QCOM).contains(image.usage) {
        checker.wrong(what, "usage", image.usage, "one that tile memory permits");
    }
    let resolved = checker.frame.accesses().iter();
    let resolved = resolved.filter(|access| access.kind == AccessKind::ResolveAttachment);
    if resolved
        .into_iter()
        .any(|access| access.resource == image.resource)
    {
        let needs =
            "ordinary memory: it is resolved into (VUID-VkRenderingAttachmentInfo-resolveImageView-10728)";
        checker.wrong(what, "memory", MemoryKind::Tile, needs);
    }
}

fn check_buffer(checker: &mut Checker<'_>, row: u32) {
    let buffer = checker.tables.buffers[row as usize];
    let described = checker.frame.resource(buffer.resource);
    let ResourceKind::Buffer { desc, usage } = described.kind else {
        return;
    };
    let what = format!("buffer `{}`", described.name);
    checker.equal(&what, "size", buffer.size, desc.size);
    let object = Object::Buffer(row);
    let (mut needs, mut allowed) = (usage, usage);
    if is_cleared(checker, object) {
        allowed |= vk::BufferUsageFlags::TRANSFER_DST;
    }
    if checker.memory_of(object) == Some(MemoryKind::Tile) {
        needs |= BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
        let transfers = checker
            .device
            .profile
            .tile
            .is_some_and(|tile| tile.buffer_transfers);
        let permitted = tile_buffer_uses(transfers) | BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
        if !permitted.contains(buffer.usage) {
            let needs = "one that tile memory permits (VUID-VkBufferCreateInfo-usage-10764)";
            checker.wrong(&what, "usage", buffer.usage, needs);
        }
    }
    usage_between(
        checker,
        &what,
        buffer.usage.as_raw(),
        needs.as_raw(),
        (needs | allowed).as_raw(),
    );
}

fn usage_between(checker: &mut Checker<'_>, what: &str, usage: u32, needs: u32, allowed: u32) {
    if usage & needs != needs || usage & !allowed != 0 {
        let needs = format!("{needs:#x}, or with {:#x}", allowed & !needs);
        checker.wrong(what, "usage", format_args!("{usage:#x}"), needs);
    }
}

fn check_binding(checker: &mut Checker<'_>, object: Object) {
    let id = checker.resource_of(object);
    let what = format!("`{}`", checker.resource(id));
    let external = matches!(checker.frame.resource(id).persistence, Persistence::External(_));
    let (memory, offset, size) = match checker.binding_of(object) {
        Binding::Imported if external => return,
        Binding::Imported => {
            return checker.wrong(
                &what,
                "binding",
                Binding::Imported,
                "memory: no caller hands it in",
            );
        }
        Binding::Memory { memory, offset, size } => (memory, offset, size),
    };
    if external {
        checker.wrong(&what, "binding", memory, "the caller's memory");
    }
    let row = checker.tables.memory[memory as usize];
    let requirement = checker.device.requirements.resources[id.index()];
    let (least, alignment, types) = match (row.kind, requirement.tile) {
        (MemoryKind::Tile, Some(tile)) => {
            let types = checker.device.profile.tile_type_bits();
            (tile.size, tile.alignment, types)
        }
        (MemoryKind::Tile, None) => {
            return checker.wrong(
                &what,
                "memory",
                MemoryKind::Tile,
                "ordinary: the driver refuses tile memory",
            );
        }
        (MemoryKind::Lazy, _) => (
            requirement.size,
            requirement.alignment,
            requirement.lazy_type_bits,
        ),
        _ => (
            requirement.size,
            requirement.alignment,
            requirement.memory_type_bits,
        ),
    };
    if row.memory_type >= 32 || types & 1 << row.memory_type == 0 {
        checker.wrong(
            &what,
            "memoryTypeIndex",
            row.memory_type,
            format!("one of bits {types:#x}"),
        );
    }
    if !offset.is_aligned(alignment) {
        let needs = format!(
            "a multiple of {} (VUID-VkBindImageMemoryInfo-pNext-01616)",
            alignment.get()
        );
        checker.wrong(&what, "memoryOffset", offset, needs);
    }
    if size < least {
        checker.wrong(&what, "size", size, format!("{least} at least"));
    }
    if offset.0.checked_add(size.0).is_none_or(|end| end > row.size.0) {
        let needs = format!("inside the {} of memory object {memory}", row.size);
        checker.wrong(&what, "memoryOffset", (offset, size), needs);
    }
    if requirement.dedicated == Dedicated::Required && offset != Bytes::ZERO {
        checker.wrong(
            &what,
            "memoryOffset",
            offset,
            "0: it requires a dedicated allocation",
        );
    }
}

/// `VK_SHARING_MODE_CONCURRENT` names at least two families, each once, and those that use the resource.
fn check_sharing(checker: &mut Checker<'_>, object: Object) {
    let Sharing { families, reason } = match object {
        Object::Image(row) => checker.tables.images[row as usize].sharing,
        Object::Buffer(row) => checker.tables.buffers[row as usize].sharing,
    };
    let families = families.of(&checker.tables.families);
    let what = format!("`{}`", checker.name_of(object));
    let parameter = "pQueueFamilyIndices";
    if reason.is_shared() == families.is_empty() {
        checker.wrong(
            &what,
            parameter,
            families,
            format!("those that share it: {reason:?}"),
        );
    }
    if families.is_empty() {
        return;
    }
    let mut distinct = families.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < 2 || distinct.len() != families.len() {
        let needs = "two families or more, each once (VUID-VkImageCreateInfo-sharingMode-00942)";
        checker.wrong(&what, parameter, families, needs);
    }
    let known = checker.device.families.len() as u32;
    if families.iter().any(|&family| family >= known) {
        checker.wrong(
            &what,
            parameter,
            families,
            format!("below {known}, the families of the device"),
        );
    }
    let resource = checker.resource_of(object);
    let users = checker.frame.uses_of(resource).iter();
    let users = users.map(|&index| checker.frame.accesses()[index as usize].pass);
    let outside = users
        .map(|pass| checker.family(checker.queue_of(pass)))
        .find(|family| !families.contains(family));
    if let Some(family) = outside {
        checker.wrong(
            &what,
            parameter,
            families,
            format!("with family {family}, which uses it"),
        );
    }
}

/// What shares a memory object may do so; images that share contents say so.
fn check_company(checker: &mut Checker<'_>) {
    let objects: Vec<Object> = checker.objects().collect();
    for (index, &a) in objects.iter().enumerate() {
        for &b in &objects[..index] {
            let (one, other) = (checker.binding_of(a), checker.binding_of(b));
            let (
                Binding::Memory { memory, offset, size },
                Binding::Memory {
                    memory: other_memory,
                    offset: other_offset,
                    size: other_size,
                },
            ) = (one, other)
            else {
                continue;
            };
            let kind = checker.tables.memory[memory as usize].kind;
            let alone = |object: Object| {
                let needs = checker.device.requirements.resources[checker.resource_of(object).index()];
                needs.dedicated == Dedicated::Required || kind == MemoryKind::Dedicated
            };
            if memory == other_memory && (alone(a) || alone(b)) {
                let what = format!("`{}`", checker.name_of(a));
                let needs = format!(
                    "another memory object than that of `{}`: one of them is alone in its own",
                    checker.name_of(b)
                );
                checker.wrong(&what, "memory", memory, needs);
            }
            let both_tile = checker.memory_of(b) == Some(MemoryKind::Tile) && kind == MemoryKind::Tile;
            let same = checker.resource_of(a) == checker.resource_of(b);
            let (Object::Image(first), Object::Image(second)) = (a, b) else {
                continue;
            };
            if !(both_tile && same && offset == other_offset && size == other_size) {
                continue;
            }
            let images = [first, second].map(|row| checker.tables.images[row as usize]);
            if !images
                .iter()
                .all(|image| image.flags.contains(vk::ImageCreateFlags::ALIAS))
            {
                let what = format!("image `{}`", checker.name_of(a));
                checker.wrong(
                    &what,
                    "flags",
                    images[0].flags,
                    "with ALIAS: another image shares its contents",
                );
            }
        }
    }
}

fn check_view(checker: &mut Checker<'_>, row: usize) {
    let view = checker.tables.views[row];
    let image = checker.tables.images[view.image as usize];
    let what = format!(
        "view {row}, of image `{}`",
        checker.name_of(Object::Image(view.image))
    );
    let listed = image.view_formats.of(&checker.tables.formats);
    if view.format != image.format && !listed.contains(&view.format) {
        let needs = format!("{:?} (VUID-VkImageViewCreateInfo-image-01762)", image.format);
        checker.wrong(&what, "format", view.format, needs);
    }
    let aspects = crate::format::aspects(image.format);
    if view.range.aspects.is_empty() || !aspects.contains(view.range.aspects) {
        checker.wrong(
            &what,
            "aspectMask",
            view.range.aspects,
            format!("among {aspects:?}"),
        );
    }
    let slices = image.image_type == vk::ImageType::TYPE_3D && view.view_type != V::TYPE_3D;
    let layers = if slices {
        image.extent.depth
    } else {
        image.array_layers
    };
    for (parameter, run, count) in [
        ("levels", view.range.levels, image.mip_levels),
        ("layers", view.range.layers, layers),
    ] {
        if run.is_empty() || run.end > count {
            checker.wrong(&what, parameter, run, format!("not empty, inside [0, {count})"));
        }
    }
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
    if !fits {
        let needs = format!("one for {layers} layers of {:?}", image.image_type);
        checker.wrong(&what, "viewType", view.view_type, needs);
    }
    one_usage(checker, &what, image.usage);
}

fn one_usage(checker: &mut Checker<'_>, what: &str, usage: impl Into<I> + Debug + Copy) {
    let viewed = I::SAMPLED
        | I::STORAGE
        | I::COLOR_ATTACHMENT
        | I::DEPTH_STENCIL_ATTACHMENT
        | I::INPUT_ATTACHMENT
        | I::TRANSIENT_ATTACHMENT;
    if !viewed.intersects(usage.into()) {
        checker.wrong(
            what,
            "usage",
            usage,
            "one with views (VUID-VkImageViewCreateInfo-image-04441)",
        );
    }
}

/// A clear of all of an object to zero, on a queue that can record it.
pub(super) fn check_clear(
    checker: &mut Checker<'_>,
    what: &str,
    queue: DeviceQueueIndex,
    object: Object,
    value: ClearValue,
) {
    use vk::QueueFlags as Q;
    let (usage, needs, zero) = match object {
        Object::Image(row) => {
            let image = checker.tables.images[row as usize];
            let color = crate::format::aspects(image.format).contains(vk::ImageAspectFlags::COLOR);
            let queues = if color {
                Q::GRAPHICS | Q::COMPUTE
            } else {
                Q::GRAPHICS
            };
            let usage = image.usage.contains(I::TRANSFER_DST);
            (usage, queues, ClearValue::zero_of(image.format))
        }
        Object::Buffer(row) => {
            let usage = checker.tables.buffers[row as usize].usage;
            let usage = usage.contains(vk::BufferUsageFlags::TRANSFER_DST);
            (usage, Q::GRAPHICS | Q::COMPUTE | Q::TRANSFER, ClearValue::ZERO)
        }
    };
    checker.equal(what, "value", value, zero);
    if !usage {
        checker.wrong(
            what,
            "usage",
            object,
            "with TRANSFER_DST (VUID-vkCmdClearColorImage-image-00002)",
        );
    }
    let flags = checker.flags(queue);
    if !flags.intersects(needs) {
        let needs = format!("a queue with {needs:?} (VUID-vkCmdClearColorImage-commandBuffer-cmdpool)");
        checker.wrong(what, "queue", flags, needs);
    }
}
