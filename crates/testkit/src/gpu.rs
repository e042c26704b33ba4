//! A device for the tests of the runtime, and the little around it that a frame needs: command buffers, memory to read
//! back, pipelines from GLSL. Every test ends with [`Gpu::finish`], which is where validation messages fail it.

use std::ffi::CStr;

use crate::glsl::Stage as ShaderStage;
use ash::vk;
use tileheap::runtime::{Buffer, Capabilities, Context, Device, Target};

/// The ways of recording, each forced: the newest, none of synchronization2 and dynamic rendering, and the oldest.
pub fn ways() -> Vec<(&'static str, Capabilities)> {
    use Capabilities as C;
    vec![
        ("newest", C::empty()),
        ("render pass objects", C::DYNAMIC_RENDERING),
        ("older barriers", C::SYNCHRONIZATION_2),
        ("fences", C::TIMELINE_SEMAPHORE),
        (
            "oldest",
            C::SYNCHRONIZATION_2
                | C::DYNAMIC_RENDERING
                | C::TIMELINE_SEMAPHORE
                | C::MAINTENANCE_4
                | C::STORE_OP_NONE
                | C::DEBUG_UTILS,
        ),
    ]
}

/// A device with a command pool.
pub struct Gpu {
    pub context: Context,
    pools: Vec<vk::CommandPool>,
    buffers: Vec<HostBuffer>,
    pipelines: Vec<Pipeline>,
}

/// A buffer that both sides see.
#[derive(Clone, Copy)]
pub struct HostBuffer {
    pub buffer: Buffer,
    memory: vk::DeviceMemory,
    bytes: *mut u8,
}

/// A pipeline with one descriptor set layout.
#[derive(Clone, Copy)]
pub struct Pipeline {
    pub handle: vk::Pipeline,
    pub layout: vk::PipelineLayout,
    pub set_layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    pub bind_point: vk::PipelineBindPoint,
}

/// What a descriptor points to, at the binding of its place in the list.
pub enum Binding {
    Storage(Buffer),
    Image(vk::DescriptorType, vk::ImageView, vk::ImageLayout),
}

impl Gpu {
    pub(crate) fn on(context: Context) -> Gpu {
        Gpu {
            context,
            pools: Vec::new(),
            buffers: Vec::new(),
            pipelines: Vec::new(),
        }
    }

    pub fn device(&self) -> &ash::Device {
        self.context.device()
    }

    pub fn tile(&self) -> &Device {
        self.context.tile()
    }

    /// Command buffers of a new pool that can be reset one by one.
    pub fn command_buffers(
        &mut self,
        family: u32,
        level: vk::CommandBufferLevel,
        count: u32,
    ) -> Vec<vk::CommandBuffer> {
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(family);
        // SAFETY: the device has the family.
        let pool = unsafe { self.device().create_command_pool(&info, None) }.expect("a command pool");
        self.pools.push(pool);
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(level)
            .command_buffer_count(count);
        // SAFETY: the pool was just created.
        unsafe { self.device().allocate_command_buffers(&info) }.expect("command buffers")
    }

    /// Primary command buffers of the first queue.
    pub fn primaries(&mut self, count: u32) -> Vec<vk::CommandBuffer> {
        let family = self.context.queues()[0].family;
        self.command_buffers(family, vk::CommandBufferLevel::PRIMARY, count)
    }

    /// A buffer of `size` bytes that both sides see, filled with 0xEE.
    pub fn host_buffer(&mut self, size: u64) -> HostBuffer {
        let usage = vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::STORAGE_BUFFER;
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the size is not 0.
        let handle = unsafe { self.device().create_buffer(&info, None) }.expect("a buffer");
        // SAFETY: just created.
        let needs = unsafe { self.device().get_buffer_memory_requirements(handle) };
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let profile = self.context.support().profile();
        let fits = profile.type_bits(|kind| kind.flags.contains(wanted)) & needs.memory_type_bits;
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index((fits & !profile.tile_type_bits()).trailing_zeros());
        // SAFETY: the type is one of the device's.
        let memory = unsafe { self.device().allocate_memory(&info, None) }.expect("memory");
        // SAFETY: both just created, and made for each other.
        unsafe { self.device().bind_buffer_memory(handle, memory, 0) }.expect("bound memory");
        let all = vk::MemoryMapFlags::empty();
        // SAFETY: host visible, and mapped once.
        let bytes =
            unsafe { self.device().map_memory(memory, 0, vk::WHOLE_SIZE, all) }.expect("mapped memory");
        let bytes: *mut u8 = bytes.cast();
        // SAFETY: the mapping is at least that long.
        unsafe { bytes.write_bytes(0xEE, size as usize) };
        let buffer = HostBuffer {
            buffer: Buffer {
                handle,
                offset: 0,
                size,
                address: 0,
            },
            memory,
            bytes,
        };
        self.buffers.push(buffer);
        buffer
    }

    /// A compute pipeline with `types` at bindings 0, 1, …
    pub fn compute(&mut self, types: &[vk::DescriptorType], glsl: &str) -> Pipeline {
        let mut pipeline = self.layout(types, vk::PipelineBindPoint::COMPUTE);
        let module = self.module(ShaderStage::Compute, glsl);
        let stage = stage(vk::ShaderStageFlags::COMPUTE, module);
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(pipeline.layout);
        // SAFETY: module and layout are alive and match.
        let made = unsafe {
            self.device()
                .create_compute_pipelines(vk::PipelineCache::null(), &[info], None)
        };
        pipeline.handle = made.expect("a compute pipeline")[0];
        // SAFETY: pipelines keep nothing of it.
        unsafe { self.device().destroy_shader_module(module, None) };
        self.pipelines.push(pipeline);
        pipeline
    }

    /// A pipeline that draws a triangle over everything, with `types` at bindings 0, 1, … of the fragment shader.
    pub fn fullscreen(&mut self, target: &Target, types: &[vk::DescriptorType], fragment: &str) -> Pipeline {
        self.draw(target, types, None, fragment, true)
    }

    /// A pipeline that draws triangles, nearest first, with viewport and scissor as dynamic state.
    pub fn triangles(
        &mut self,
        target: &Target,
        types: &[vk::DescriptorType],
        vertex: Option<&str>,
        fragment: &str,
    ) -> Pipeline {
        self.draw(target, types, Some(vertex.unwrap_or(FULLSCREEN)), fragment, true)
    }

    /// [`Gpu::fullscreen`] that leaves depth alone.
    pub fn fullscreen_reading_depth(
        &mut self,
        target: &Target,
        types: &[vk::DescriptorType],
        fragment: &str,
    ) -> Pipeline {
        self.draw(target, types, None, fragment, false)
    }

    fn draw(
        &mut self,
        target: &Target,
        types: &[vk::DescriptorType],
        dynamic: Option<&str>,
        fragment: &str,
        writes_depth: bool,
    ) -> Pipeline {
        let mut pipeline = self.layout(types, vk::PipelineBindPoint::GRAPHICS);
        let vertex = self.module(ShaderStage::Vertex, dynamic.unwrap_or(FULLSCREEN));
        let fragment = self.module(ShaderStage::Fragment, fragment);
        let stages = [
            stage(vk::ShaderStageFlags::VERTEX, vertex),
            stage(vk::ShaderStageFlags::FRAGMENT, fragment),
        ];
        let input = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let viewports = [vk::Viewport {
            width: target.extent.width as f32,
            height: target.extent.height as f32,
            max_depth: 1.0,
            ..Default::default()
        }];
        let scissors = [vk::Rect2D {
            offset: Default::default(),
            extent: target.extent,
        }];
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewports(&viewports)
            .scissors(&scissors);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let multisample =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(target.samples);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(true)
            .depth_write_enable(writes_depth)
            .depth_compare_op(match dynamic {
                Some(_) => vk::CompareOp::LESS,
                None => vk::CompareOp::ALWAYS,
            });
        let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let states = &states[..2 * usize::from(dynamic.is_some())];
        let states = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(states);
        let blend = vec![
            vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(vk::ColorComponentFlags::RGBA);
            target.color_formats.len()
        ];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blend);
        let mut rendering = target.rendering();
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&states)
            .layout(pipeline.layout);
        let info = target.attach(info, &mut rendering);
        // SAFETY: modules and layout are alive and match.
        let made = unsafe {
            self.device()
                .create_graphics_pipelines(vk::PipelineCache::null(), &[info], None)
        };
        pipeline.handle = made.expect("a graphics pipeline")[0];
        for module in [vertex, fragment] {
            // SAFETY: pipelines keep nothing of it.
            unsafe { self.device().destroy_shader_module(module, None) };
        }
        self.pipelines.push(pipeline);
        pipeline
    }

    fn layout(&self, types: &[vk::DescriptorType], bind_point: vk::PipelineBindPoint) -> Pipeline {
        let stages = vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::FRAGMENT;
        let bindings: Vec<_> = types
            .iter()
            .enumerate()
            .map(|(index, kind)| {
                let stages = if *kind == vk::DescriptorType::INPUT_ATTACHMENT {
                    vk::ShaderStageFlags::FRAGMENT
                } else {
                    stages
                };
                vk::DescriptorSetLayoutBinding::default()
                    .binding(index as u32)
                    .descriptor_type(*kind)
                    .descriptor_count(1)
                    .stage_flags(stages)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: one binding per type.
        let set_layout =
            unsafe { self.device().create_descriptor_set_layout(&info, None) }.expect("a set layout");
        let set_layouts = [set_layout];
        let ranges = [vk::PushConstantRange {
            stage_flags: stages,
            offset: 0,
            size: 32,
        }];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&set_layouts)
            .push_constant_ranges(&ranges);
        // SAFETY: the set layout is alive.
        let layout = unsafe { self.device().create_pipeline_layout(&info, None) }.expect("a pipeline layout");
        let sizes: Vec<_> = types
            .iter()
            .map(|kind| vk::DescriptorPoolSize {
                ty: *kind,
                descriptor_count: 16,
            })
            .collect();
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(16)
            .pool_sizes(&sizes);
        let pool = if types.is_empty() {
            vk::DescriptorPool::null()
        } else {
            // SAFETY: sizes are not 0.
            unsafe { self.device().create_descriptor_pool(&info, None) }.expect("a descriptor pool")
        };
        Pipeline {
            handle: vk::Pipeline::null(),
            layout,
            set_layout,
            pool,
            bind_point,
        }
    }

    /// A descriptor set of `pipeline` that points to `bindings`.
    pub fn set(&self, pipeline: &Pipeline, bindings: &[Binding]) -> vk::DescriptorSet {
        let layouts = [pipeline.set_layout];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pipeline.pool)
            .set_layouts(&layouts);
        // SAFETY: pool and layout are alive.
        let set = unsafe { self.device().allocate_descriptor_sets(&info) }.expect("a descriptor set")[0];
        for (index, binding) in bindings.iter().enumerate() {
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(index as u32);
            let (buffers, images);
            let write = match binding {
                Binding::Storage(buffer) => {
                    buffers = [vk::DescriptorBufferInfo {
                        buffer: buffer.handle,
                        offset: buffer.offset,
                        range: buffer.size,
                    }];
                    write
                        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                        .buffer_info(&buffers)
                }
                Binding::Image(kind, view, layout) => {
                    images = [vk::DescriptorImageInfo::default()
                        .image_view(*view)
                        .image_layout(*layout)];
                    write.descriptor_type(*kind).image_info(&images)
                }
            };
            // SAFETY: the set is not in use.
            unsafe { self.device().update_descriptor_sets(&[write], &[]) };
        }
        set
    }

    fn module(&self, stage: ShaderStage, glsl: &str) -> vk::ShaderModule {
        let words = compile(stage, glsl);
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the words are a module, says the compiler.
        unsafe { self.device().create_shader_module(&info, None) }.expect("a shader module")
    }

    /// Destroys everything but the context.
    pub(crate) fn clear(self) -> Context {
        let device = self.context.device().clone();
        // SAFETY: tests are done with their queues when they come here.
        unsafe { device.device_wait_idle() }.expect("an idle device");
        for pipeline in &self.pipelines {
            // SAFETY: idle.
            unsafe { device.destroy_pipeline(pipeline.handle, None) };
            // SAFETY: idle.
            unsafe { device.destroy_pipeline_layout(pipeline.layout, None) };
            // SAFETY: idle.
            unsafe { device.destroy_descriptor_pool(pipeline.pool, None) };
            // SAFETY: idle.
            unsafe { device.destroy_descriptor_set_layout(pipeline.set_layout, None) };
        }
        for buffer in &self.buffers {
            // SAFETY: idle.
            unsafe { device.destroy_buffer(buffer.buffer.handle, None) };
            // SAFETY: idle; unmaps too.
            unsafe { device.free_memory(buffer.memory, None) };
        }
        for pool in &self.pools {
            // SAFETY: idle.
            unsafe { device.destroy_command_pool(*pool, None) };
        }
        self.context
    }
}

impl HostBuffer {
    /// The bytes as the device left them.
    pub fn bytes(&self) -> Vec<u8> {
        // SAFETY: mapped, coherent, and as long; tests wait for the device first.
        unsafe { std::slice::from_raw_parts(self.bytes, self.buffer.size as usize) }.to_vec()
    }

    /// The bytes as numbers.
    pub fn words(&self) -> Vec<u32> {
        self.bytes()
            .chunks_exact(4)
            .map(|four| u32::from_ne_bytes(four.try_into().expect("four")))
            .collect()
    }
}

impl Pipeline {
    /// Binds the pipeline and a set.
    pub fn bind(&self, device: &ash::Device, commands: vk::CommandBuffer, set: Option<vk::DescriptorSet>) {
        // SAFETY: recording.
        unsafe { device.cmd_bind_pipeline(commands, self.bind_point, self.handle) };
        if let Some(set) = set {
            // SAFETY: recording; the set is of this layout.
            unsafe {
                device.cmd_bind_descriptor_sets(commands, self.bind_point, self.layout, 0, &[set], &[])
            };
        }
    }

    /// Pushes up to eight numbers.
    pub fn push(&self, device: &ash::Device, commands: vk::CommandBuffer, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let stages = vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::FRAGMENT;
        // SAFETY: recording; within the layout's 32 bytes.
        unsafe { device.cmd_push_constants(commands, self.layout, stages, 0, &bytes) };
    }
}

fn stage(
    stage: vk::ShaderStageFlags,
    module: vk::ShaderModule,
) -> vk::PipelineShaderStageCreateInfo<'static> {
    const MAIN: &CStr = c"main";
    vk::PipelineShaderStageCreateInfo::default()
        .stage(stage)
        .module(module)
        .name(MAIN)
}

const FULLSCREEN: &str = "#version 460
    void main() {
        gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2.0 - 1.0, 0.5, 1.0);
    }";

/// GLSL to SPIR-V 1.3.
pub fn compile(stage: ShaderStage, glsl: &str) -> Vec<u32> {
    crate::glsl::compile(stage, glsl, 3)
}

/// Copies an image in TRANSFER_SRC_OPTIMAL to the start of a buffer, tightly packed.
pub fn copy_to_buffer(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    image: vk::Image,
    aspects: vk::ImageAspectFlags,
    extent: vk::Extent2D,
    buffer: &Buffer,
) {
    let region = vk::BufferImageCopy {
        buffer_offset: buffer.offset,
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: aspects,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        },
        image_extent: extent.into(),
        ..Default::default()
    };
    let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    // SAFETY: recording; the caller's pass declares both accesses.
    unsafe { device.cmd_copy_image_to_buffer(commands, image, layout, buffer.handle, &[region]) };
}
