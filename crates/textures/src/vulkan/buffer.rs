//! Buffers in memory objects of their own.

use ash::vk;

use crate::Result;
use tileheap::runtime::Device;
use tileheap::runtime::objects::{MemoryDesc, OwnedObjects, VkResultExt};

/// Creates a buffer and its memory, of the first of the memory types `types` that can hold it.
///
/// # Safety
/// `info` is valid.
pub(super) unsafe fn create_buffer(
    device: &Device,
    owned: &mut OwnedObjects,
    name: &str,
    info: &vk::BufferCreateInfo<'_>,
    types: u32,
) -> Result<(vk::Buffer, vk::DeviceMemory)> {
    // SAFETY: the caller's duty.
    let (buffer, needs) = unsafe { owned.create_buffer(name, info) }?;
    let types = needs.memory_type_bits & types;
    let (memory, offset) = owned
        .allocate(&MemoryDesc {
            own_object: true,
            ..MemoryDesc::new(name, types.trailing_zeros(), needs.size, needs.alignment)
        })?
        .location();
    // SAFETY: of the size and type that the buffer requires, and both are new.
    unsafe { device.raw().bind_buffer_memory(buffer, memory, offset) }
        .with_call("vkBindBufferMemory", || name)?;
    Ok((buffer, memory))
}
