//! Records dispatches or draws, so that `scripts/measure-emulator.sh` can count the instructions of each driver call.
//!
//! ```text
//! recording plain dispatches 1000   1,000 rounds on a device without tile memory
//! recording shared draws 1000       the same, with another buffer on the same bytes as the storage buffer
//! recording tile draws 1000         on a device with tile memory bound, which needs the layer
//! ```
//! A round of dispatches has five calls: a pipeline, a descriptor set, constants, a dispatch, a barrier. A round of draws has six: a pipeline, a
//! descriptor set, constants, vertices, indices and a draw, all in one render pass. Two pipelines and two sets alternate; each accesses a storage
//! buffer, in tile memory if there is any. Prints the number of calls.

// Every call of ash is unsafe; a comment states what a group of them relies on.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use ash::vk;
use tileheap_device::ffi;
use tileheap_testkit::glsl::{Stage, compile};
use tileheap_testkit::objects::{
    Descriptor, Objects, area, color_attachment, command_buffers, descriptor_set, framebuffer_info,
    image_info, stage, view_info, with_subpasses, with_triangles,
};

const SHADER: &str = "layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Data { uint data[]; };
layout(push_constant) uniform Constants { uint value; };
void main() { data[gl_GlobalInvocationID.x] = value; }";

const VERTICES: &str = "layout(location = 0) in vec4 position;
void main() { gl_Position = position; }";

const PIXELS: &str = "layout(set = 0, binding = 0, std430) buffer Data { uint data[]; };
layout(push_constant) uniform Constants { uint value; };
layout(location = 0) out vec4 color;
void main() { data[0] = value; color = vec4(1.0); }";

const SIDE: u32 = 64;
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// Objects that the work is recorded with; the process ends before any of them is destroyed.
struct Bench {
    device: ash::Device,
    memory_type: u32,
    tile: bool,
    layout: vk::PipelineLayout,
    sets: [vk::DescriptorSet; 2],
    commands: vk::CommandBuffer,
    objects: Objects,
}

const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::COMPUTE.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw(),
);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [mode, work, rounds] = &arguments[..] else {
        return Err("usage: recording plain|shared|tile dispatches|draws ROUNDS".into());
    };
    let rounds: u32 = rounds.parse()?;
    let bench = Bench::new(mode == "tile", mode == "shared")?;
    let calls = match work.as_str() {
        "dispatches" => {
            bench.dispatches(rounds)?;
            5
        }
        "draws" => {
            bench.draws(rounds)?;
            6
        }
        _ => return Err("expected dispatches or draws".into()),
    };
    println!("{}", u64::from(rounds) * calls);
    Ok(())
}

impl Bench {
    /// A device, two descriptor sets of a storage buffer, and a command buffer that is being recorded.
    fn new(tile: bool, is_shared: bool) -> Result<Bench, Box<dyn std::error::Error>> {
        // SAFETY: The library found is a loader. One device, whose objects match each other and exist until the process ends; nothing is submitted.
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
            let features = vk::PhysicalDeviceFeatures::default().fragment_stores_and_atomics(true);
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
            let extensions = [ffi::tile_memory_heap::NAME.as_ptr()];
            let mut info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_features(&features);
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
                .ok_or("no memory type")? as u32;
            let mut usage = vk::BufferUsageFlags::STORAGE_BUFFER;
            if tile {
                usage |= ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
            }
            let objects = Objects::default();
            let new_buffer =
                || objects.create(&device, &vk::BufferCreateInfo::default().size(4096).usage(usage));
            let buffer = new_buffer();
            let info = vk::MemoryAllocateInfo::default().allocation_size(1 << 20);
            let memory = objects.create(&device, &info.memory_type_index(memory_type));
            device.bind_buffer_memory(buffer, memory, 0)?;
            if is_shared {
                device.bind_buffer_memory(new_buffer(), memory, 0)?;
            }

            let kind = vk::DescriptorType::STORAGE_BUFFER;
            let (layout, set_layout) = objects.pipeline_layout(&device, &[], &[kind], STAGES, 4);
            let sizes = [vk::DescriptorPoolSize::default().ty(kind).descriptor_count(2)];
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(2)
                .pool_sizes(&sizes);
            let descriptors = objects.create(&device, &info);
            let all = [Descriptor::buffer(buffer)];
            let sets = [(); 2].map(|()| descriptor_set(&device, descriptors, set_layout, &all));
            let pool = objects.create(&device, &vk::CommandPoolCreateInfo::default());
            let commands = command_buffers(&device, pool, vk::CommandBufferLevel::PRIMARY, 1)[0];
            device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
            if tile {
                let binder = ffi::tile_memory_heap::Device::new(&instance, &device)?;
                let bind = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
                binder.cmd_bind_tile_memory(commands, Some(&bind));
            }
            // The loader stays loaded until the process ends.
            std::mem::forget(entry);
            Ok(Bench {
                device,
                memory_type,
                tile,
                layout,
                sets,
                commands,
                objects,
            })
        }
    }

    fn module(&self, kind: Stage, source: &str) -> vk::ShaderModule {
        let words = compile(kind, source, 3);
        self.objects
            .create(&self.device, &vk::ShaderModuleCreateInfo::default().code(&words))
    }

    fn dispatches(&self, rounds: u32) -> Result<(), vk::Result> {
        let (device, commands, layout) = (&self.device, self.commands, self.layout);
        let stage = stage(vk::ShaderStageFlags::COMPUTE, self.module(Stage::Compute, SHADER));
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(layout);
        let pipelines = [(); 2].map(|()| self.objects.create(device, &info));
        let point = vk::PipelineBindPoint::COMPUTE;
        let work = vk::PipelineStageFlags::COMPUTE_SHADER;
        let none = vk::DependencyFlags::empty();
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::SHADER_WRITE)];
        // SAFETY: As in `new`.
        unsafe {
            for round in 0..rounds {
                let turn = round as usize % 2;
                device.cmd_bind_pipeline(commands, point, pipelines[turn]);
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.sets[turn]], &[]);
                device.cmd_push_constants(commands, layout, STAGES, 0, &round.to_ne_bytes());
                device.cmd_dispatch(commands, 16, 1, 1);
                device.cmd_pipeline_barrier(commands, work, work, none, &barrier, &[], &[]);
            }
            device.end_command_buffer(commands)
        }
    }

    fn draws(&self, rounds: u32) -> Result<(), vk::Result> {
        let (device, commands, layout) = (&self.device, self.commands, self.layout);
        let modules = [
            self.module(Stage::Vertex, VERTICES),
            self.module(Stage::Fragment, PIXELS),
        ];
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: As in `new`.
        unsafe {
            let (pass, framebuffer) = self.target()?;
            let bindings = [vk::VertexInputBindingDescription::default().stride(16)];
            let attributes =
                [vk::VertexInputAttributeDescription::default().format(vk::Format::R32G32B32A32_SFLOAT)];
            let vertices = vk::PipelineVertexInputStateCreateInfo::default()
                .vertex_binding_descriptions(&bindings)
                .vertex_attribute_descriptions(&attributes);
            let masks = [vk::ColorComponentFlags::RGBA];
            let pipelines = with_triangles(modules, [area(SIDE, SIDE); 2], &masks, |info| {
                let info = info
                    .vertex_input_state(&vertices)
                    .layout(layout)
                    .render_pass(pass);
                [(); 2].map(|()| self.objects.create(device, &info))
            });
            let usage = vk::BufferUsageFlags::VERTEX_BUFFER | vk::BufferUsageFlags::INDEX_BUFFER;
            let info = vk::BufferCreateInfo::default().size(4096).usage(usage);
            let (buffer, _) = self.objects.buffer(device, &info, u32::MAX);

            let clears = [vk::ClearValue::default()];
            let begin = vk::RenderPassBeginInfo::default()
                .render_pass(pass)
                .framebuffer(framebuffer)
                .render_area(area(SIDE, SIDE))
                .clear_values(&clears);
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            for round in 0..rounds {
                let turn = round as usize % 2;
                device.cmd_bind_pipeline(commands, point, pipelines[turn]);
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.sets[turn]], &[]);
                device.cmd_push_constants(commands, layout, STAGES, 0, &round.to_ne_bytes());
                device.cmd_bind_vertex_buffers(commands, 0, &[buffer], &[0]);
                device.cmd_bind_index_buffer(commands, buffer, 0, vk::IndexType::UINT16);
                device.cmd_draw_indexed(commands, 3, 1, 0, 0, 0);
            }
            device.cmd_end_render_pass(commands);
            device.end_command_buffer(commands)
        }
    }

    /// Creates a render pass, and a framebuffer of an image: in tile memory, if there is any.
    fn target(&self) -> Result<(vk::RenderPass, vk::Framebuffer), vk::Result> {
        let (device, objects) = (&self.device, &self.objects);
        let mut usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
        if self.tile {
            usage |= ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        }
        let image = objects.create(device, &image_info(FORMAT, SIDE, usage));
        let info = vk::MemoryAllocateInfo::default().allocation_size(1 << 20);
        let memory = objects.create(device, &info.memory_type_index(self.memory_type));
        // SAFETY: New, and created for each other.
        unsafe { device.bind_image_memory(image, memory, 0) }?;
        let view = view_info(image, FORMAT, vk::ImageAspectFlags::COLOR);
        let views = [objects.create(device, &view)];
        let pass = with_subpasses(&[color_attachment(FORMAT)], 1, |info| {
            objects.create(device, &info)
        });
        Ok((
            pass,
            objects.create(device, &framebuffer_info(pass, &views, SIDE)),
        ))
    }
}
