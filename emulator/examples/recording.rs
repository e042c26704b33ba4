//! Records dispatches, for `scripts/measure-emulator.sh` to count the instructions of each driver call.
//!
//! ```text
//! recording plain 1000      1,000 rounds on a device without tile memory
//! recording tile 1000       on one with tile memory bound, which needs the layer
//! ```
//! A round is five calls: a pipeline, a descriptor set, constants, a dispatch, a barrier. Prints the number of calls.

// Every call of ash is unsafe; a comment says what a stretch of them relies on.
#![allow(clippy::multiple_unsafe_ops_per_block)]

#[path = "../../tests/support/glsl.rs"]
mod glsl;

use ash::vk;
use tileheap::ffi;

const CALLS: u32 = 5;

const SHADER: &str = "layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Data { uint data[]; };
layout(push_constant) uniform Constants { uint value; };
void main() { data[gl_GlobalInvocationID.x] = value; }";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [mode, rounds] = &arguments[..] else {
        return Err("usage: recording plain|tile ROUNDS".into());
    };
    let tile = mode == "tile";
    let rounds: u32 = rounds.parse()?;
    // SAFETY: The library found is a loader. One device, whose objects are made for each other and live until the process ends
    // or they are destroyed, users first; nothing is submitted.
    unsafe {
        let entry = ash::Entry::load()?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        let instance = entry.create_instance(&info, None)?;
        let physical = *instance
            .enumerate_physical_devices()?
            .first()
            .ok_or("no Vulkan device")?;
        let mut heap = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default().tile_memory_heap(true);
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let extensions = [ffi::tile_memory_heap::NAME.as_ptr()];
        let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        if tile {
            info = info.enabled_extension_names(&extensions).push_next(&mut heap);
        }
        let device = instance.create_device(physical, &info, None)?;

        let types = instance.get_physical_device_memory_properties(physical);
        let wanted = |kind: &vk::MemoryType| {
            let flags = types.memory_heaps[kind.heap_index as usize].flags;
            flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM) == tile
        };
        let memory_type = types
            .memory_types_as_slice()
            .iter()
            .position(wanted)
            .ok_or("no memory type")?;
        let mut usage = vk::BufferUsageFlags::STORAGE_BUFFER;
        if tile {
            usage |= ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
        }
        let info = vk::BufferCreateInfo::default().size(4096).usage(usage);
        let buffer = device.create_buffer(&info, None)?;
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(1 << 20)
            .memory_type_index(memory_type as u32);
        let memory = device.allocate_memory(&info, None)?;
        device.bind_buffer_memory(buffer, memory, 0)?;

        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let set_layouts = [device.create_descriptor_set_layout(&info, None)?];
        let constants = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: 4,
        }];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&set_layouts)
            .push_constant_ranges(&constants);
        let layout = device.create_pipeline_layout(&info, None)?;
        let words = glsl::compile(glslang::ShaderStage::Compute, SHADER, 3);
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let module = device.create_shader_module(&info, None)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let infos = [vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(layout)];
        let pipeline = device
            .create_compute_pipelines(vk::PipelineCache::null(), &infos, None)
            .map_err(|(_, error)| error)?[0];
        let sizes = [vk::DescriptorPoolSize {
            ty: vk::DescriptorType::STORAGE_BUFFER,
            descriptor_count: 1,
        }];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(1)
            .pool_sizes(&sizes);
        let sets = device.create_descriptor_pool(&info, None)?;
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(sets)
            .set_layouts(&set_layouts);
        let set = device.allocate_descriptor_sets(&info)?;
        let buffers = [vk::DescriptorBufferInfo {
            buffer,
            offset: 0,
            range: vk::WHOLE_SIZE,
        }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set[0])
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&buffers);
        device.update_descriptor_sets(&[write], &[]);

        let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?[0];
        device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        if tile {
            let binder = ffi::tile_memory_heap::Device::new(&instance, &device)?;
            let bind = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
            binder.cmd_bind_tile_memory(commands, Some(&bind));
        }
        let point = vk::PipelineBindPoint::COMPUTE;
        let stages = vk::PipelineStageFlags::COMPUTE_SHADER;
        let none = vk::DependencyFlags::empty();
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::SHADER_WRITE)];
        for round in 0..rounds {
            device.cmd_bind_pipeline(commands, point, pipeline);
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &set, &[]);
            let value = round.to_ne_bytes();
            device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, &value);
            device.cmd_dispatch(commands, 16, 1, 1);
            device.cmd_pipeline_barrier(commands, stages, stages, none, &barrier, &[], &[]);
        }
        device.end_command_buffer(commands)?;
        device.destroy_command_pool(pool, None);
        device.destroy_descriptor_pool(sets, None);
        device.destroy_pipeline(pipeline, None);
        device.destroy_shader_module(module, None);
        device.destroy_pipeline_layout(layout, None);
        device.destroy_descriptor_set_layout(set_layouts[0], None);
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
        device.destroy_device(None);
        instance.destroy_instance(None);
    }
    println!("{}", u64::from(rounds) * u64::from(CALLS));
    Ok(())
}
