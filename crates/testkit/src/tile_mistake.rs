//! One deliberate mistake with tile memory: a dispatch that writes to a tile buffer while nothing is bound.

use crate::glsl::Stage as ShaderStage;
use std::ffi::CStr;

use ash::vk;
use tileheap::ffi::{self, tile_memory_heap};
use tileheap::runtime::Context;

use crate::glsl;

/// The name of the object that every deliberate message is about; readers of the layer's log let these through.
pub(crate) const DELIBERATE_NAME: &CStr = c"deliberate mistake";

/// What it earns: one message of core validation, and one of the emulator, which is below and hears of it later.
pub(crate) const DELIBERATE: [&str; 2] = ["VUID-vkCmdDispatch-commandBuffer-10746", "TILEHEAP-wrong-object"];

/// Makes the mistake. Nothing is submitted.
///
/// # Panics
/// If the device has no tile memory, or does not take a storage buffer there.
pub(crate) fn make(context: &Context) {
    let device = context.device();
    let heap = context.tile().profile().tile.expect("tile memory");
    let info = vk::BufferCreateInfo::default()
        .size(256)
        .usage(vk::BufferUsageFlags::STORAGE_BUFFER | ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM);
    // SAFETY: the device is alive, with the feature enabled.
    let buffer = unsafe { device.create_buffer(&info, None) }.expect("a tile buffer");
    let mut tile = ffi::TileMemoryRequirementsQCOM::default();
    let mut needs = vk::MemoryRequirements2::default().push_next(&mut tile);
    let of = vk::BufferMemoryRequirementsInfo2::default().buffer(buffer);
    // SAFETY: the buffer is the device's, and the chained struct is known to it.
    unsafe { device.get_buffer_memory_requirements2(&of, &mut needs) };
    assert!(tile.size > 0, "a storage buffer may live in tile memory");
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(tile.size)
        .memory_type_index(heap.memory_type);
    // SAFETY: the type is the tile heap's.
    let memory = unsafe { device.allocate_memory(&info, None) }.expect("tile memory");
    // SAFETY: both are new, and the size is what the buffer requires.
    unsafe { device.bind_buffer_memory(buffer, memory, 0) }.expect("tile memory binds to a buffer");

    let shader = "layout(local_size_x = 1) in; layout(set = 0, binding = 0) writeonly buffer B { uint b[]; };
        void main() { b[0] = 1u; }";
    let words = glsl::compile(ShaderStage::Compute, shader, 0);
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    // SAFETY: the compiler made the words.
    let module = unsafe { device.create_shader_module(&info, None) }.expect("a shader module");
    let bindings = [vk::DescriptorSetLayoutBinding::default()
        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
        .descriptor_count(1)
        .stage_flags(vk::ShaderStageFlags::COMPUTE)];
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: the description is complete.
    let set_layout = unsafe { device.create_descriptor_set_layout(&info, None) }.expect("a set layout");
    let layouts = [set_layout];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
    // SAFETY: as above.
    let layout = unsafe { device.create_pipeline_layout(&info, None) }.expect("a pipeline layout");
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main");
    let info = [vk::ComputePipelineCreateInfo::default()
        .stage(stage)
        .layout(layout)];
    // SAFETY: the layout has what the shader uses.
    let pipeline = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    let pipeline = pipeline.expect("a pipeline")[0];
    let sizes = [vk::DescriptorPoolSize {
        ty: vk::DescriptorType::STORAGE_BUFFER,
        descriptor_count: 1,
    }];
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(1)
        .pool_sizes(&sizes);
    // SAFETY: the description is complete.
    let descriptors = unsafe { device.create_descriptor_pool(&info, None) }.expect("a descriptor pool");
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(descriptors)
        .set_layouts(&layouts);
    // SAFETY: the pool has room for it.
    let set = unsafe { device.allocate_descriptor_sets(&info) }.expect("a set")[0];
    let whole = [vk::DescriptorBufferInfo::default()
        .buffer(buffer)
        .range(vk::WHOLE_SIZE)];
    let write = vk::WriteDescriptorSet::default()
        .dst_set(set)
        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
        .buffer_info(&whole);
    // SAFETY: nothing uses the set.
    unsafe { device.update_descriptor_sets(&[write], &[]) };

    let info = vk::CommandPoolCreateInfo::default().queue_family_index(context.queues()[0].family);
    // SAFETY: the family is one of the device's.
    let pool = unsafe { device.create_command_pool(&info, None) }.expect("a command pool");
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .command_buffer_count(1);
    // SAFETY: the pool is new.
    let commands = unsafe { device.allocate_command_buffers(&info) }.expect("a command buffer")[0];
    let utils = ash::ext::debug_utils::Device::new(context.instance(), device);
    let name = vk::DebugUtilsObjectNameInfoEXT::default()
        .object_handle(commands)
        .object_name(DELIBERATE_NAME);
    // SAFETY: the command buffer is the device's.
    unsafe { utils.set_debug_utils_object_name(&name) }.expect("a name for a command buffer");
    // SAFETY: new.
    unsafe { device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()) }
        .expect("recording begins");
    let point = vk::PipelineBindPoint::COMPUTE;
    // SAFETY: recording.
    unsafe { device.cmd_bind_pipeline(commands, point, pipeline) };
    // SAFETY: the set is of the layout.
    unsafe { device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]) };
    // SAFETY: wrong on purpose, for no tile memory is bound; it never runs.
    unsafe { device.cmd_dispatch(commands, 1, 1, 1) };
    // SAFETY: recording.
    unsafe { device.end_command_buffer(commands) }.expect("recording ends");

    let loaded = tile_memory_heap::Device::new(context.instance(), device);
    assert!(loaded.is_ok(), "the command that was left out is there");
    // SAFETY: never submitted; users go before what they use.
    unsafe { device.destroy_command_pool(pool, None) };
    // SAFETY: as above.
    unsafe { device.destroy_descriptor_pool(descriptors, None) };
    // SAFETY: as above.
    unsafe { device.destroy_pipeline(pipeline, None) };
    // SAFETY: as above.
    unsafe { device.destroy_pipeline_layout(layout, None) };
    // SAFETY: as above.
    unsafe { device.destroy_descriptor_set_layout(set_layout, None) };
    // SAFETY: as above.
    unsafe { device.destroy_shader_module(module, None) };
    // SAFETY: as above.
    unsafe { device.destroy_buffer(buffer, None) };
    // SAFETY: the buffer in it is gone.
    unsafe { device.free_memory(memory, None) };
}
