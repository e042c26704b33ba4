//! A device for tests of the runtime, and the objects that a frame needs: command buffers, host-visible buffers, pipelines from GLSL.
//! Dropping the [`Gpu`] fails the test if there are validation messages.

use crate::glsl::Stage as ShaderStage;
use crate::objects::{
    CreateInfo, Descriptor, Objects, area, command_buffers, descriptor_set, stage, with_triangles,
};
use ash::vk;
use std::mem::ManuallyDrop;
use tileheap::runtime::{BoundBuffer, Capabilities, Context, Device, PipelineTarget};

/// Recording paths by name, each with the capabilities to disable in order to select it: the newest path, those without one capability, and the oldest.
pub fn recording_paths() -> Vec<(&'static str, Capabilities)> {
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

/// A device, and the objects that a test created on it. Dropping it destroys everything, and panics with the messages of the
/// validation layers, if there are any.
pub struct Gpu {
    pub context: ManuallyDrop<Context>,
    objects: Objects,
}

/// A host-visible buffer.
#[derive(Clone, Copy)]
pub struct HostBuffer {
    pub buffer: BoundBuffer,
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

/// The resource that a descriptor refers to; its index in the list is the binding number.
pub enum Binding {
    Storage(BoundBuffer),
    Image(vk::DescriptorType, vk::ImageView, vk::ImageLayout),
}

/// The shader stages that can access the descriptors and push constants of test pipelines.
const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::COMPUTE.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw(),
);

impl Gpu {
    pub(crate) fn on(context: Context) -> Gpu {
        Gpu {
            context: ManuallyDrop::new(context),
            objects: Objects::default(),
        }
    }

    pub fn device(&self) -> &ash::Device {
        self.context.device()
    }

    pub fn runtime(&self) -> &Device {
        self.context.runtime()
    }

    pub fn create<I: CreateInfo>(&self, info: &I) -> I::Handle {
        self.objects.create(self.device(), info)
    }

    /// Allocates command buffers that can be reset one by one, from a new pool.
    pub fn command_buffers(
        &mut self,
        family: u32,
        level: vk::CommandBufferLevel,
        count: u32,
    ) -> Vec<vk::CommandBuffer> {
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(family);
        command_buffers(self.device(), self.create(&info), level, count)
    }

    /// Allocates primary command buffers for the family of the first queue.
    pub fn primaries(&mut self, count: u32) -> Vec<vk::CommandBuffer> {
        let family = self.context.queues()[0].family;
        self.command_buffers(family, vk::CommandBufferLevel::PRIMARY, count)
    }

    /// A host-visible buffer of `size` bytes, filled with 0xEE.
    pub fn host_buffer(&mut self, size: u64) -> HostBuffer {
        let usage = vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::STORAGE_BUFFER;
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let (handle, memory) = self.objects.buffer(self.device(), &info, self.types(wanted));
        let all = vk::MemoryMapFlags::empty();
        // SAFETY: host visible, and mapped once.
        let bytes =
            unsafe { self.device().map_memory(memory, 0, vk::WHOLE_SIZE, all) }.expect("mapped memory");
        let bytes: *mut u8 = bytes.cast();
        // SAFETY: the mapping is at least that long.
        unsafe { bytes.write_bytes(0xEE, size as usize) };
        let buffer = BoundBuffer {
            handle,
            offset: 0,
            size,
            address: 0,
        };
        HostBuffer { buffer, bytes }
    }

    /// The ordinary memory types with these properties, as memory type bits.
    fn types(&self, wanted: vk::MemoryPropertyFlags) -> u32 {
        let profile = self.context.support().profile();
        profile.type_bits(|kind| kind.flags.contains(wanted)) & profile.ordinary_type_bits()
    }

    /// An image with its own memory.
    pub fn image(&self, info: &vk::ImageCreateInfo<'_>) -> vk::Image {
        let types = self.types(vk::MemoryPropertyFlags::empty());
        self.objects.image(self.device(), info, types)
    }

    /// A compute pipeline with `types` at bindings 0, 1, …
    pub fn compute(&mut self, types: &[vk::DescriptorType], glsl: &str) -> Pipeline {
        self.compute_after(&[], types, glsl)
    }

    /// Like [`Gpu::compute`], with the caller's descriptor set layouts before that of `types`.
    pub fn compute_after(
        &mut self,
        before: &[vk::DescriptorSetLayout],
        types: &[vk::DescriptorType],
        glsl: &str,
    ) -> Pipeline {
        self.compute_words(before, types, &compile(ShaderStage::Compute, glsl))
    }

    /// Like [`Gpu::compute_after`], from SPIR-V.
    pub fn compute_words(
        &mut self,
        before: &[vk::DescriptorSetLayout],
        types: &[vk::DescriptorType],
        words: &[u32],
    ) -> Pipeline {
        let pipeline = self.layout(before, types, vk::PipelineBindPoint::COMPUTE);
        let module = self.create(&vk::ShaderModuleCreateInfo::default().code(words));
        let info = vk::ComputePipelineCreateInfo::default().layout(pipeline.layout);
        Pipeline {
            handle: self.create(&info.stage(stage(vk::ShaderStageFlags::COMPUTE, module))),
            ..pipeline
        }
    }

    /// A pipeline that covers the target with a triangle, with `types` at bindings 0, 1, … of the fragment shader.
    pub fn fullscreen(
        &mut self,
        target: &PipelineTarget,
        types: &[vk::DescriptorType],
        fragment: &str,
    ) -> Pipeline {
        self.draw(target, types, None, fragment, true)
    }

    /// A pipeline that draws triangles with a depth test that keeps the nearest, and with viewport and scissor as dynamic state.
    pub fn triangles(
        &mut self,
        target: &PipelineTarget,
        types: &[vk::DescriptorType],
        vertex: Option<&str>,
        fragment: &str,
    ) -> Pipeline {
        self.draw(target, types, Some(vertex.unwrap_or(FULLSCREEN)), fragment, true)
    }

    /// Like [`Gpu::fullscreen`], without depth writes.
    pub fn fullscreen_reading_depth(
        &mut self,
        target: &PipelineTarget,
        types: &[vk::DescriptorType],
        fragment: &str,
    ) -> Pipeline {
        self.draw(target, types, None, fragment, false)
    }

    fn draw(
        &mut self,
        target: &PipelineTarget,
        types: &[vk::DescriptorType],
        dynamic: Option<&str>,
        fragment: &str,
        writes_depth: bool,
    ) -> Pipeline {
        let pipeline = self.layout(&[], types, vk::PipelineBindPoint::GRAPHICS);
        let modules = [
            self.module(ShaderStage::Vertex, dynamic.unwrap_or(FULLSCREEN)),
            self.module(ShaderStage::Fragment, fragment),
        ];
        let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(target.samples);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(target.depth_aspects.contains(vk::ImageAspectFlags::DEPTH))
            .depth_write_enable(writes_depth)
            .depth_compare_op(match dynamic {
                Some(_) => vk::CompareOp::LESS,
                None => vk::CompareOp::ALWAYS,
            });
        let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let states = &states[..2 * usize::from(dynamic.is_some())];
        let states = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(states);
        let masks = vec![vk::ColorComponentFlags::RGBA; target.color_formats.len()];
        let all = area(target.extent.width, target.extent.height);
        let mut rendering = target.rendering();
        let handle = with_triangles(modules, [all; 2], &masks, |info| {
            let info = info
                .multisample_state(&samples)
                .depth_stencil_state(&depth)
                .dynamic_state(&states)
                .layout(pipeline.layout);
            self.create(&target.attach(info, &mut rendering))
        });
        Pipeline { handle, ..pipeline }
    }

    /// The layouts and descriptor pool of a pipeline with `types` at bindings 0, 1, …
    fn layout(
        &self,
        before: &[vk::DescriptorSetLayout],
        types: &[vk::DescriptorType],
        bind_point: vk::PipelineBindPoint,
    ) -> Pipeline {
        let (layout, set_layout) = self
            .objects
            .pipeline_layout(self.device(), before, types, STAGES, 32);
        let size = |kind: &vk::DescriptorType| vk::DescriptorPoolSize {
            ty: *kind,
            descriptor_count: 16,
        };
        let sizes: Vec<_> = types.iter().map(size).collect();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(16);
        let pool = match types {
            [] => vk::DescriptorPool::null(),
            _ => self.create(&info.pool_sizes(&sizes)),
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
        let descriptor = |binding: &Binding| match *binding {
            Binding::Storage(buffer) => Descriptor::Bytes(vk::DescriptorBufferInfo {
                buffer: buffer.handle,
                offset: buffer.offset,
                range: buffer.size,
            }),
            Binding::Image(kind, view, layout) => Descriptor::Image(kind, view, layout),
        };
        let descriptors: Vec<_> = bindings.iter().map(descriptor).collect();
        descriptor_set(self.device(), pipeline.pool, pipeline.set_layout, &descriptors)
    }

    fn module(&self, stage: ShaderStage, glsl: &str) -> vk::ShaderModule {
        self.create(&vk::ShaderModuleCreateInfo::default().code(&compile(stage, glsl)))
    }

    /// Destroys everything except the context.
    pub(crate) fn clear(self) -> Context {
        ManuallyDrop::new(self).release()
    }

    /// Destroys everything except the context; the `Gpu` must not be used afterwards.
    pub(crate) fn release(&mut self) -> Context {
        let device = self.device();
        // SAFETY: tests are done with their queues when they come here.
        unsafe { device.device_wait_idle() }.expect("an idle device");
        self.objects.destroy(device);
        // SAFETY: the last use.
        unsafe { ManuallyDrop::take(&mut self.context) }
    }
}

impl HostBuffer {
    /// A copy of the buffer's contents.
    pub fn bytes(&self) -> Vec<u8> {
        // SAFETY: mapped, coherent, and as long; tests wait for the device first.
        unsafe { std::slice::from_raw_parts(self.bytes, self.buffer.size as usize) }.to_vec()
    }

    /// The contents as 32-bit words.
    pub fn words(&self) -> Vec<u32> {
        self.bytes()
            .chunks_exact(4)
            .map(|four| u32::from_ne_bytes(four.try_into().expect("four")))
            .collect()
    }
}

impl Pipeline {
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

    /// Pushes up to eight words of push constants, from offset 0.
    pub fn push(&self, device: &ash::Device, commands: vk::CommandBuffer, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        // SAFETY: recording; within the layout's 32 bytes.
        unsafe { device.cmd_push_constants(commands, self.layout, STAGES, 0, &bytes) };
    }
}

const FULLSCREEN: &str = "#version 460
    void main() {
        gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2.0 - 1.0, 0.5, 1.0);
    }";

/// Compiles GLSL to SPIR-V 1.3.
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
    buffer: &BoundBuffer,
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
