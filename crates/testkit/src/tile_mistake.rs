//! One deliberate mistake with tile memory: a dispatch that writes to a tile buffer while nothing is bound.

use std::ffi::CStr;

use ash::vk;
use tileheap::ffi::{self, tile_memory_heap};
use tileheap::runtime::{BoundBuffer, Context};

use crate::gpu::{Binding, Gpu};
use crate::objects::record;

/// The name of the object that every deliberate message mentions; readers of the layer's log ignore these messages.
pub(crate) const DELIBERATE_NAME: &CStr = c"deliberate mistake";

/// The resulting messages: one of core validation, and one of the emulator, which is below the validation
/// layer and reports later.
pub(crate) const DELIBERATE: [&str; 2] = ["VUID-vkCmdDispatch-commandBuffer-10746", "TILEHEAP-wrong-object"];

/// Records the mistaken dispatch; nothing is submitted.
///
/// # Panics
/// If the device has no tile memory, or a storage buffer cannot be placed there.
pub(crate) fn record_mistake(context: Context) -> Context {
    let mut gpu = Gpu::on(context);
    let (device, context) = (gpu.device().clone(), &gpu.context);
    let heap = context.runtime().profile().tile.expect("tile memory");
    let info = vk::BufferCreateInfo::default()
        .size(256)
        .usage(vk::BufferUsageFlags::STORAGE_BUFFER | ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM);
    let buffer = gpu.create(&info);
    let mut tile = ffi::TileMemoryRequirementsQCOM::default();
    let mut needs = vk::MemoryRequirements2::default().push_next(&mut tile);
    let of = vk::BufferMemoryRequirementsInfo2::default().buffer(buffer);
    // SAFETY: the buffer is the device's, which supports the chained structure.
    unsafe { device.get_buffer_memory_requirements2(&of, &mut needs) };
    assert!(tile.size > 0, "a storage buffer may live in tile memory");
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(tile.size)
        .memory_type_index(heap.memory_type);
    let memory = gpu.create(&info);
    // SAFETY: both are new, and the size is what the buffer requires.
    unsafe { device.bind_buffer_memory(buffer, memory, 0) }.expect("tile memory binds to a buffer");

    let shader = "layout(local_size_x = 1) in; layout(set = 0, binding = 0) writeonly buffer B { uint b[]; };
        void main() { b[0] = 1u; }";
    let pipeline = gpu.compute(&[vk::DescriptorType::STORAGE_BUFFER], shader);
    let whole = BoundBuffer {
        handle: buffer,
        size: 256,
        ..BoundBuffer::default()
    };
    let set = gpu.set(&pipeline, &[Binding::Storage(whole)]);
    let commands = gpu.primaries(1)[0];
    let utils = ash::ext::debug_utils::Device::new(gpu.context.instance(), &device);
    let name = vk::DebugUtilsObjectNameInfoEXT::default()
        .object_handle(commands)
        .object_name(DELIBERATE_NAME);
    // SAFETY: the command buffer is the device's.
    unsafe { utils.set_debug_utils_object_name(&name) }.expect("a name for a command buffer");
    record(&device, commands, &Default::default(), || {
        pipeline.bind(&device, commands, Some(set));
        // SAFETY: wrong on purpose, since no tile memory is bound; it is never submitted.
        unsafe { device.cmd_dispatch(commands, 1, 1, 1) };
    });

    let loaded = tile_memory_heap::Device::new(gpu.context.instance(), &device);
    assert!(loaded.is_ok(), "the command that was left out is there");
    gpu.clear()
}
