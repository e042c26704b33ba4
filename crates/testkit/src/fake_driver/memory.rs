//! Requirements, memory objects, binding, mapping.

use ash::vk;
use ash::vk::{ExternalMemoryHandleTypeFlags as HandleType, Handle};
use tileheap::ffi;
use tileheap::runtime::Capabilities;
use tileheap_layer::{chained, given, store};

use super::config::Config;
use super::entry::{V1_0, V1_1, V1_2, V1_3, entry_points};
use super::journal::{Call, Object};
use super::records::{BufferFacts, Detail, ImageFacts, Memory};
use super::state::Entered;

/// The requirements of a resource, in ordinary and in tile memory.
#[derive(Clone, Copy, Default)]
struct ResourceRequirements {
    ordinary: vk::MemoryRequirements,
    /// Size and alignment in tile memory; both are 0 if the resource cannot be placed there.
    tile: (u64, u64),
    dedicated: bool,
}

/// Returns true if the tile heap can hold an image: only images that the extension guarantees to support.
pub(super) fn tile_can_hold_image(image: &ImageFacts) -> bool {
    use vk::ImageUsageFlags as U;
    let allowed = U::SAMPLED
        | U::STORAGE
        | U::COLOR_ATTACHMENT
        | U::DEPTH_STENCIL_ATTACHMENT
        | U::INPUT_ATTACHMENT
        | ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
    image.usage.contains(ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM)
        && allowed.contains(image.usage)
        && image.kind == vk::ImageType::TYPE_2D
        && (image.mips, image.layers, image.samples) == (1, 1, 1)
        && image.tiling == vk::ImageTiling::OPTIMAL
}

fn tile_can_hold_buffer(config: &Config, buffer: &BufferFacts) -> bool {
    use vk::BufferUsageFlags as U;
    let mut allowed = U::UNIFORM_TEXEL_BUFFER
        | U::STORAGE_TEXEL_BUFFER
        | U::UNIFORM_BUFFER
        | U::STORAGE_BUFFER
        | U::SHADER_DEVICE_ADDRESS
        | ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
    if config.tile.buffer_transfers {
        allowed |= U::TRANSFER_SRC | U::TRANSFER_DST;
    }
    buffer.usage.contains(ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM) && allowed.contains(buffer.usage)
}

/// The memory type bits of a resource: all types, including tile types even without the tile usage bit, so that the caller has to choose;
/// lazily allocated types only if `lazy` is true.
fn types(config: &Config, lazy: bool) -> u32 {
    let memory = config.memory();
    let kinds = memory.memory_types_as_slice().iter().enumerate();
    kinds
        .filter(|(_, kind)| {
            lazy || !kind
                .property_flags
                .contains(vk::MemoryPropertyFlags::LAZILY_ALLOCATED)
        })
        .fold(0, |bits, (index, _)| bits | 1 << index)
}

fn tile_requirements(config: &Config, there: bool, size: u64) -> (u64, u64) {
    let alignment = config.tile.alignment;
    if there && config.tile.requirements {
        (size.next_multiple_of(alignment), alignment)
    } else {
        (0, 0)
    }
}

fn image_requirements(config: &Config, image: &ImageFacts, created: bool) -> ResourceRequirements {
    let bytes = tileheap::format::texel_block(image.format).map_or(4, |block| u64::from(block.bytes));
    let mut texels = 0;
    for mip in 0..image.mips {
        let side = |texels: u32| u64::from((texels >> mip).max(1));
        texels += side(image.extent.width) * side(image.extent.height) * side(image.extent.depth);
    }
    let size = texels * bytes * u64::from(image.layers) * u64::from(image.samples);
    let size = if image.compressed { size / 2 } else { size };
    let grown = if created {
        config.extra_bytes_when_created
    } else {
        0
    };
    ResourceRequirements {
        ordinary: vk::MemoryRequirements {
            size: (size + grown).next_multiple_of(config.image_alignment),
            alignment: config.image_alignment,
            memory_type_bits: types(
                config,
                image.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT),
            ),
        },
        tile: tile_requirements(config, tile_can_hold_image(image), size),
        dedicated: config.dedicated_images,
    }
}

fn buffer_requirements(config: &Config, buffer: &BufferFacts) -> ResourceRequirements {
    ResourceRequirements {
        ordinary: vk::MemoryRequirements {
            size: buffer.size.next_multiple_of(256),
            alignment: 256,
            memory_type_bits: types(config, false),
        },
        tile: tile_requirements(config, tile_can_hold_buffer(config, buffer), buffer.size),
        dedicated: false,
    }
}

/// Writes `needs` to a structure and to the structures chained to it.
fn write_requirements(needs: ResourceRequirements, out: &mut vk::MemoryRequirements2<'_>) {
    out.memory_requirements = needs.ordinary;
    if let Some(tile) = chained!(mut out.p_next => ffi::TileMemoryRequirementsQCOM<'_>) {
        (tile.size, tile.alignment) = needs.tile;
    }
    if let Some(dedicated) = chained!(mut out.p_next => vk::MemoryDedicatedRequirements<'_>) {
        dedicated.prefers_dedicated_allocation = needs.dedicated.into();
        dedicated.requires_dedicated_allocation = needs.dedicated.into();
    }
}

pub(super) fn image_facts(info: &vk::ImageCreateInfo<'_>) -> ImageFacts {
    let control = chained!(info.p_next => vk::ImageCompressionControlEXT<'_>);
    let fixed_rate = vk::ImageCompressionFlagsEXT::FIXED_RATE_DEFAULT;
    ImageFacts {
        format: info.format,
        extent: info.extent,
        kind: info.image_type,
        mips: info.mip_levels,
        layers: info.array_layers,
        samples: info.samples.as_raw(),
        tiling: info.tiling,
        usage: info.usage,
        compressed: control.is_some_and(|control| control.flags == fixed_rate),
        external: chained!(info.p_next => vk::ExternalMemoryImageCreateInfo<'_>)
            .map_or(HandleType::empty(), |external| external.handle_types),
        bound: None,
    }
}

pub(super) fn buffer_facts(info: &vk::BufferCreateInfo<'_>) -> BufferFacts {
    BufferFacts {
        size: info.size,
        usage: info.usage,
        external: chained!(info.p_next => vk::ExternalMemoryBufferCreateInfo<'_>)
            .map_or(HandleType::empty(), |external| external.handle_types),
        bound: None,
    }
}

fn requirements_of_image(call: &mut Entered, image: vk::Image) -> ResourceRequirements {
    call.expect(image);
    let config = &call.driver.config;
    call.image(image)
        .map(|facts| image_requirements(config, facts, true))
        .unwrap_or_default()
}

fn requirements_of_buffer(call: &mut Entered, buffer: vk::Buffer) -> ResourceRequirements {
    call.expect(buffer);
    let config = &call.driver.config;
    call.buffer(buffer)
        .map(|facts| buffer_requirements(config, facts))
        .unwrap_or_default()
}

entry_points! {
    look_up:
    V1_0 => vk::PFN_vkGetImageMemoryRequirements(device, image, out) |call| {
        store!(out, requirements_of_image(&mut call, image).ordinary);
    }

    V1_0 => vk::PFN_vkGetBufferMemoryRequirements(device, buffer, out) |call| {
        store!(out, requirements_of_buffer(&mut call, buffer).ordinary);
    }

    V1_1 => vk::PFN_vkGetImageMemoryRequirements2(device, info, out) |call| {
        let needs = requirements_of_image(&mut call, given!(info).image);
        write_requirements(needs, given!(mut out));
    }

    V1_1 => vk::PFN_vkGetBufferMemoryRequirements2(device, info, out) |call| {
        let needs = requirements_of_buffer(&mut call, given!(info).buffer);
        write_requirements(needs, given!(mut out));
    }

    V1_3 => vk::PFN_vkGetDeviceImageMemoryRequirements(device, info, out) |call| {
        let facts = image_facts(given!(given!(info).p_create_info));
        write_requirements(image_requirements(&call.driver.config, &facts, false), given!(mut out));
    }

    V1_3 => vk::PFN_vkGetDeviceBufferMemoryRequirements(device, info, out) |call| {
        let facts = buffer_facts(given!(given!(info).p_create_info));
        write_requirements(buffer_requirements(&call.driver.config, &facts), given!(mut out));
    }

    V1_0 => vk::PFN_vkAllocateMemory(device, info, _, out) |call may fail| {
        let info = given!(info);
        call.note_chain(info.p_next);
        let config = &call.driver.config;
        let (memory_type, size) = (info.memory_type_index, info.allocation_size);
        let offered = config.memory();
        let Some(kind) = offered.memory_types_as_slice().get(memory_type as usize) else {
            // VUID-vkAllocateMemory-pAllocateInfo-01714.
            call.violation(format_args!("memory type {memory_type} does not exist"));
            return call.refuse(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        };
        let tile = config.is_tile(memory_type);
        if tile && !call.enables(Capabilities::TILE_MEMORY) {
            // VUID-vkAllocateMemory-tileMemoryHeap-10976.
            call.violation("a tile memory type without the feature tileMemoryHeap");
        }
        let heap = offered.memory_heaps_as_slice()[kind.heap_index as usize].size;
        if size == 0 || size > heap {
            // VUID-VkMemoryAllocateInfo-allocationSize-07897, VUID-vkAllocateMemory-pAllocateInfo-01713.
            call.violation(format_args!("{size} B of a heap of {heap} B"));
            return call.refuse(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        }
        if let Some(largest) = config.largest_allocation.filter(|largest| size > *largest) {
            call.violation(format_args!("{size} B, but maxMemoryAllocationSize is {largest} B"));
            return call.refuse(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        }
        let dedicated = chained!(info.p_next => vk::MemoryDedicatedAllocateInfo<'_>).and_then(|dedicated| {
            let object = if dedicated.image.is_null() {
                Object::of(dedicated.buffer)
            } else {
                Object::of(dedicated.image)
            };
            (object.handle != 0).then_some(object)
        });
        if let Some(object) = dedicated {
            call.expect_raw(object.handle, object.kind);
        }
        let hardware = chained!(info.p_next => vk::ImportAndroidHardwareBufferInfoANDROID<'_>)
            .map(|_| HandleType::ANDROID_HARDWARE_BUFFER_ANDROID);
        let fd = chained!(info.p_next => vk::ImportMemoryFdInfoKHR<'_>).map(|fd| fd.handle_type);
        let detail = Detail::Memory(Memory {
            memory_type,
            size,
            tile,
            imported: fd.or(hardware).unwrap_or_default(),
            exported: chained!(info.p_next => vk::ExportMemoryAllocateInfo<'_>)
                .map_or(HandleType::empty(), |export| export.handle_types),
            mapped: None,
        });
        let handle = call.make(vk::ObjectType::DEVICE_MEMORY, device.as_raw(), &[], detail);
        let memory = vk::DeviceMemory::from_raw(handle);
        call.journal.push(Call::Allocate {
            memory,
            memory_type,
            size,
            dedicated,
        });
        store!(out, memory);
        vk::Result::SUCCESS
    }

    V1_0 => vk::PFN_vkFreeMemory(device, memory, _) |call| {
        call.destroy(memory);
    }

    V1_0 => vk::PFN_vkBindImageMemory(device, image, memory, offset) |call may fail| {
        bind(&mut call, Object::of(image), memory, offset);
        vk::Result::SUCCESS
    }

    V1_0 => vk::PFN_vkBindBufferMemory(device, buffer, memory, offset) |call may fail| {
        bind(&mut call, Object::of(buffer), memory, offset);
        vk::Result::SUCCESS
    }

    V1_0 => vk::PFN_vkMapMemory(device, memory, offset, _, _, out) |call may fail| {
        call.expect(memory);
        let offered = call.driver.config.memory();
        let visible = call.memory(memory).is_some_and(|facts| {
            let kind = offered.memory_types_as_slice()[facts.memory_type as usize];
            kind.property_flags
                .contains(vk::MemoryPropertyFlags::HOST_VISIBLE)
        });
        if !visible {
            // VUID-vkMapMemory-memory-00682.
            call.violation(format_args!("{memory:?} is not visible to the host"));
            return call.refuse(vk::Result::ERROR_MEMORY_MAP_FAILED);
        }
        call.note(memory);
        let Some(Detail::Memory(facts)) = call.detail_mut(memory) else {
            return vk::Result::ERROR_MEMORY_MAP_FAILED;
        };
        let bytes = facts.mapped.insert(vec![0; facts.size as usize]);
        let start = bytes[offset as usize..].as_mut_ptr();
        store!(out, start.cast());
        vk::Result::SUCCESS
    }

    V1_0 => vk::PFN_vkUnmapMemory(device, memory) |call| {
        call.expect(memory);
        call.note(memory);
        if let Some(Detail::Memory(facts)) = call.detail_mut(memory) {
            facts.mapped = None;
        }
    }

    V1_2 => vk::PFN_vkGetBufferDeviceAddress(device, info) |call| {
        let buffer = given!(info).buffer;
        call.expect(buffer);
        if !call.enables(Capabilities::BUFFER_DEVICE_ADDRESS) {
            // VUID-vkGetBufferDeviceAddress-bufferDeviceAddress-03324.
            call.violation("the feature bufferDeviceAddress is off");
        }
        // The serial number in the upper half makes addresses unique.
        (buffer.as_raw() & 0xffff_ffff) << 32
    }
}

/// Binds one resource; checks offset, size and memory type, including the rules of the tile memory extension.
fn bind(call: &mut Entered, object: Object, memory: vk::DeviceMemory, offset: u64) {
    call.expect_raw(object.handle, object.kind);
    call.expect(memory);
    let config = &call.driver.config;
    let Some(facts) = call.memory(memory) else {
        return;
    };
    let (size_of, memory_type, tile) = (facts.size, facts.memory_type, facts.tile);
    let (imported, exported) = (facts.imported, facts.exported);
    let (needs, bound, external) = match call.objects.get(&object.handle).map(|record| &record.detail) {
        Some(Detail::Image(facts)) => (
            image_requirements(config, facts, true),
            facts.bound,
            facts.external,
        ),
        Some(Detail::Buffer(facts)) => (buffer_requirements(config, facts), facts.bound, facts.external),
        _ => return,
    };
    if bound.is_some() {
        // VUID-VkBindImageMemoryInfo-image-07460, VUID-vkBindBufferMemory-buffer-07459.
        call.violation(format_args!("{object:?} is bound already"));
    }
    if imported & external != imported {
        // VUID-VkBindImageMemoryInfo-memory-02989 and -02990.
        call.violation(format_args!("{object:?} is not for {imported:?}"));
    }
    if !exported.is_empty() && !exported.intersects(external) {
        // VUID-VkBindImageMemoryInfo-memory-02728, VUID-VkBindBufferMemoryInfo-memory-02726.
        call.violation(format_args!("{object:?} is not for {exported:?}"));
    }
    if needs.ordinary.memory_type_bits >> memory_type & 1 == 0 {
        // VUID-VkBindImageMemoryInfo-pNext-01615, VUID-VkBindBufferMemoryInfo-memory-01035.
        call.violation(format_args!("{object:?} cannot be in memory type {memory_type}"));
    }
    let (size, alignment) = if tile {
        needs.tile
    } else {
        (needs.ordinary.size, needs.ordinary.alignment)
    };
    // Tile memory: VUID-VkBindImageMemoryInfo-pNext-12329 and -12330, VUID-VkBindBufferMemoryInfo-memory-10740 and -10742.
    // Other memory: VUID-VkBindImageMemoryInfo-pNext-01616 and -01617, VUID-VkBindBufferMemoryInfo-None-10739 and -10741.
    if alignment == 0 {
        call.violation(format_args!("{object:?} cannot be in tile memory"));
    } else if offset % alignment != 0 {
        call.violation(format_args!(
            "{object:?} at offset {offset}, not a multiple of {alignment}"
        ));
    }
    if offset + size > size_of {
        call.violation(format_args!(
            "{object:?} of {size} B at offset {offset} of {size_of} B"
        ));
    }
    let detail = call
        .objects
        .get_mut(&object.handle)
        .map(|record| &mut record.detail);
    if let Some(Detail::Image(ImageFacts { bound, .. }) | Detail::Buffer(BufferFacts { bound, .. })) = detail
    {
        *bound = Some((memory, offset));
    }
    call.journal.push(Call::Bind {
        object,
        memory,
        offset,
    });
}
