//! Memory requirements of tile resources: the profile's model, made large enough for the driver.

use ash::vk;
use tileheap_device::ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
use tileheap_device::profile::TileRequirements;
use tileheap_units::{Alignment, Bytes};

use crate::tables::emulation::{Emulation, ImageRequest};

/// The tile heap requirements of an image, derived from the driver's requirements; `None` if it lacks the tile usage bit or cannot be in tile memory.
/// `heap_type` is the driver's memory type for the heap.
pub(crate) fn tile_image(
    emulation: &Emulation,
    heap_type: u32,
    info: &vk::ImageCreateInfo<'_>,
    stencil_usage: vk::ImageUsageFlags,
    driver: &vk::MemoryRequirements,
) -> Option<TileRequirements> {
    let request = ImageRequest {
        format: info.format,
        kind: info.image_type,
        tiling: info.tiling,
        usage: info.usage,
        stencil_usage,
        flags: info.flags,
    };
    if !request.is_tile() || !emulation.allows_tile_image(&request) {
        return None;
    }
    let model = match emulation.profile.tile.image(info) {
        Some(needs) => needs.size.0,
        // Images beyond the guaranteed set have the driver's size.
        None if emulation.profile.quirks.allows_beyond_guaranteed => driver.size,
        None => return None,
    };
    enlarged(emulation, heap_type, model, driver)
}

/// The tile heap requirements of a buffer, derived from the driver's requirements; `None` if it lacks the tile usage bit or cannot be in tile memory.
pub(crate) fn tile_buffer(
    emulation: &Emulation,
    heap_type: u32,
    info: &vk::BufferCreateInfo<'_>,
    driver: &vk::MemoryRequirements,
) -> Option<TileRequirements> {
    if !info.usage.contains(BUFFER_USAGE_TILE_MEMORY_BIT_QCOM) {
        return None;
    }
    let model = emulation.profile.tile.buffer(info)?;
    enlarged(emulation, heap_type, model.size.0, driver)
}

/// The model's size and alignment, enlarged until every offset that they allow is valid in the driver, and adjusted to the profile's quirks; `None`
/// if the driver cannot bind the resource to the heap's memory.
fn enlarged(
    emulation: &Emulation,
    heap_type: u32,
    model: u64,
    driver: &vk::MemoryRequirements,
) -> Option<TileRequirements> {
    if driver.memory_type_bits >> heap_type & 1 == 0 {
        return None;
    }
    let quirks = emulation.profile.quirks;
    let block = emulation.profile.tile.block.bytes;
    let alignment = block.lcm(Alignment::new(driver.alignment)?)?;
    let size = Bytes(model.max(driver.size)).max(quirks.min_size);
    let granularity = if quirks.min_size.0 > 1 { block } else { alignment };
    let size = size.checked_align_up(granularity)?;
    let odd = u64::from(quirks.unaligned_sizes);
    let size = Bytes(size.0.checked_add(odd)?);
    let is_beyond = quirks.zero_if_larger_than_heap && size > emulation.profile.tile.size;
    (!is_beyond).then_some(TileRequirements { size, alignment })
}
