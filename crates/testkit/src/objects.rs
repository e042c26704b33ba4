//! Objects of a device under test: each created by one call from its create info, and destroyed in reverse order.

use std::any::type_name;
use std::sync::{Mutex, PoisonError};

use ash::prelude::VkResult;
use ash::vk::{self, Handle};

/// A create info, and the Vulkan command that creates an object from it.
pub trait CreateInfo {
    type Handle: Handle + Copy;

    /// # Safety
    /// As for the command.
    unsafe fn create(&self, device: &ash::Device) -> VkResult<Self::Handle>;
}

macro_rules! create_infos {
    ($($info:ident => $handle:ident by $command:ident;)+) => {$(
        impl CreateInfo for vk::$info<'_> {
            type Handle = vk::$handle;

            unsafe fn create(&self, device: &ash::Device) -> VkResult<vk::$handle> {
                // SAFETY: The caller's promise.
                unsafe { device.$command(self, None) }
            }
        }
    )+};
}

create_infos! {
    MemoryAllocateInfo => DeviceMemory by allocate_memory;
    BufferCreateInfo => Buffer by create_buffer;
    BufferViewCreateInfo => BufferView by create_buffer_view;
    ImageCreateInfo => Image by create_image;
    ImageViewCreateInfo => ImageView by create_image_view;
    RenderPassCreateInfo => RenderPass by create_render_pass;
    RenderPassCreateInfo2 => RenderPass by create_render_pass2;
    FramebufferCreateInfo => Framebuffer by create_framebuffer;
    ShaderModuleCreateInfo => ShaderModule by create_shader_module;
    DescriptorSetLayoutCreateInfo => DescriptorSetLayout by create_descriptor_set_layout;
    PipelineLayoutCreateInfo => PipelineLayout by create_pipeline_layout;
    DescriptorPoolCreateInfo => DescriptorPool by create_descriptor_pool;
    DescriptorUpdateTemplateCreateInfo => DescriptorUpdateTemplate by create_descriptor_update_template;
    CommandPoolCreateInfo => CommandPool by create_command_pool;
    QueryPoolCreateInfo => QueryPool by create_query_pool;
    SemaphoreCreateInfo => Semaphore by create_semaphore;
    EventCreateInfo => Event by create_event;
}

macro_rules! pipelines {
    ($($info:ident by $command:ident;)+) => {$(
        impl CreateInfo for vk::$info<'_> {
            type Handle = vk::Pipeline;

            unsafe fn create(&self, device: &ash::Device) -> VkResult<vk::Pipeline> {
                let (cache, allocator) = (vk::PipelineCache::null(), std::ptr::null());
                // On failure, the driver's output is not a handle and must not be used.
                let mut pipeline = vk::Pipeline::null();
                let create = device.fp_v1_0().$command;
                // SAFETY: The caller's promise.
                let result = unsafe { create(device.handle(), cache, 1, self, allocator, &mut pipeline) };
                result.result_with_success(pipeline)
            }
        }
    )+};
}

pipelines! {
    ComputePipelineCreateInfo by create_compute_pipelines;
    GraphicsPipelineCreateInfo by create_graphics_pipelines;
}

/// Live objects of a device.
#[derive(Default)]
pub struct Objects(Mutex<Vec<(vk::ObjectType, u64)>>);

impl Objects {
    /// Creates an object from a create info that is valid, or invalid on purpose.
    pub fn try_create<I: CreateInfo>(&self, device: &ash::Device, info: &I) -> VkResult<I::Handle> {
        // SAFETY: Guaranteed by the tests.
        unsafe { info.create(device) }.map(|object| self.keep(object))
    }

    /// Creates an object; panics if the driver refuses.
    pub fn create<I: CreateInfo>(&self, device: &ash::Device, info: &I) -> I::Handle {
        let created = self.try_create(device, info);
        created.unwrap_or_else(|error| panic!("{}: {error}", type_name::<I>()))
    }

    /// Takes ownership of an object.
    pub fn keep<T: Handle + Copy>(&self, object: T) -> T {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push((T::TYPE, object.as_raw()));
        object
    }

    /// A buffer with its own memory, of the first memory type in the mask `types` that supports it.
    pub fn buffer(
        &self,
        device: &ash::Device,
        info: &vk::BufferCreateInfo<'_>,
        types: u32,
    ) -> (vk::Buffer, vk::DeviceMemory) {
        let buffer = self.create(device, info);
        // SAFETY: New.
        let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
        let memory = self.memory(device, needs, types);
        // SAFETY: New, and compatible.
        unsafe { device.bind_buffer_memory(buffer, memory, 0) }.expect("bound memory");
        (buffer, memory)
    }

    /// An image with its own memory, of the first memory type in the mask `types` that supports it.
    pub fn image(&self, device: &ash::Device, info: &vk::ImageCreateInfo<'_>, types: u32) -> vk::Image {
        let image = self.create(device, info);
        // SAFETY: New.
        let needs = unsafe { device.get_image_memory_requirements(image) };
        let memory = self.memory(device, needs, types);
        // SAFETY: New, and compatible.
        unsafe { device.bind_image_memory(image, memory, 0) }.expect("bound memory");
        image
    }

    fn memory(&self, device: &ash::Device, needs: vk::MemoryRequirements, types: u32) -> vk::DeviceMemory {
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index((needs.memory_type_bits & types).trailing_zeros());
        self.create(device, &info)
    }

    /// Destroys everything, in reverse order of creation, on an idle device.
    pub fn destroy(&self, device: &ash::Device) {
        let kept = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for (kind, object) in kept.into_iter().rev() {
            macro_rules! destroy {
                ($($kind:ident $handle:ident $command:ident;)+) => {
                    match kind {
                        // SAFETY: Of this device and idle, and objects created from it are gone.
                        $(vk::ObjectType::$kind => unsafe { device.$command(vk::$handle::from_raw(object), None) },)+
                        other => panic!("objects of {other:?} are not kept"),
                    }
                };
            }
            destroy! {
                DEVICE_MEMORY DeviceMemory free_memory;
                BUFFER Buffer destroy_buffer;
                BUFFER_VIEW BufferView destroy_buffer_view;
                IMAGE Image destroy_image;
                IMAGE_VIEW ImageView destroy_image_view;
                RENDER_PASS RenderPass destroy_render_pass;
                FRAMEBUFFER Framebuffer destroy_framebuffer;
                SHADER_MODULE ShaderModule destroy_shader_module;
                DESCRIPTOR_SET_LAYOUT DescriptorSetLayout destroy_descriptor_set_layout;
                PIPELINE_LAYOUT PipelineLayout destroy_pipeline_layout;
                DESCRIPTOR_POOL DescriptorPool destroy_descriptor_pool;
                DESCRIPTOR_UPDATE_TEMPLATE DescriptorUpdateTemplate destroy_descriptor_update_template;
                COMMAND_POOL CommandPool destroy_command_pool;
                QUERY_POOL QueryPool destroy_query_pool;
                SEMAPHORE Semaphore destroy_semaphore;
                EVENT Event destroy_event;
                PIPELINE Pipeline destroy_pipeline;
            }
        }
    }
}

/// Allocates command buffers from a pool.
pub fn command_buffers(
    device: &ash::Device,
    pool: vk::CommandPool,
    level: vk::CommandBufferLevel,
    count: u32,
) -> Vec<vk::CommandBuffer> {
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .level(level)
        .command_buffer_count(count);
    // SAFETY: A pool of this device.
    unsafe { device.allocate_command_buffers(&info) }.expect("command buffers")
}

/// Records a command buffer from begin to end; returns the result of `record`.
pub fn record<T>(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    info: &vk::CommandBufferBeginInfo<'_>,
    record: impl FnOnce() -> T,
) -> T {
    // SAFETY: Not pending.
    unsafe { device.begin_command_buffer(commands, info) }.expect("recording begins");
    let recorded = record();
    // SAFETY: Recording.
    unsafe { device.end_command_buffer(commands) }.expect("recording ends");
    recorded
}

/// A rectangle of this size at the origin.
pub fn area(width: u32, height: u32) -> vk::Rect2D {
    vk::Rect2D::default().extent(vk::Extent2D { width, height })
}

/// The subresource range of a whole image with one level and one layer.
pub fn whole_image(aspects: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: aspects,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    }
}

/// The create info of a square image with one level, layer and sample.
pub fn image_info(format: vk::Format, side: u32, usage: vk::ImageUsageFlags) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(area(side, side).extent.into())
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage)
}

/// The create info of a view of these aspects of a whole image.
pub fn view_info(
    image: vk::Image,
    format: vk::Format,
    aspects: vk::ImageAspectFlags,
) -> vk::ImageViewCreateInfo<'static> {
    vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(format)
        .subresource_range(whole_image(aspects))
}

/// A color attachment that is cleared, stored and transitioned to layout GENERAL.
pub fn color_attachment(format: vk::Format) -> vk::AttachmentDescription {
    vk::AttachmentDescription::default()
        .format(format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .final_layout(vk::ImageLayout::GENERAL)
}

/// Calls `create` with the create info of a render pass with `subpasses` subpasses, each of which has all of these color attachments.
pub fn with_subpasses<T>(
    attachments: &[vk::AttachmentDescription],
    subpasses: usize,
    create: impl FnOnce(vk::RenderPassCreateInfo<'_>) -> T,
) -> T {
    let general = vk::AttachmentReference::default().layout(vk::ImageLayout::GENERAL);
    let references = (0..attachments.len() as u32).map(|index| general.attachment(index));
    let references: Vec<_> = references.collect();
    let subpasses = vec![vk::SubpassDescription::default().color_attachments(&references); subpasses];
    let info = vk::RenderPassCreateInfo::default().attachments(attachments);
    create(info.subpasses(&subpasses))
}

/// The create info of a framebuffer of square images.
pub fn framebuffer_info(
    pass: vk::RenderPass,
    views: &[vk::ImageView],
    side: u32,
) -> vk::FramebufferCreateInfo<'_> {
    let info = vk::FramebufferCreateInfo::default().render_pass(pass);
    info.attachments(views).width(side).height(side).layers(1)
}

/// The create info of a shader stage with the entry point `main`.
pub fn stage(
    stage: vk::ShaderStageFlags,
    module: vk::ShaderModule,
) -> vk::PipelineShaderStageCreateInfo<'static> {
    let info = vk::PipelineShaderStageCreateInfo::default().stage(stage);
    info.module(module).name(c"main")
}

/// Calls `create` with the create info of a pipeline that draws triangles in a viewport and a scissor rectangle, without vertex input,
/// blending or depth; `create` adds the layout and the render target. `masks` are the color write masks of the attachments.
pub fn with_triangles<T>(
    [vertex, fragment]: [vk::ShaderModule; 2],
    [viewport, scissor]: [vk::Rect2D; 2],
    masks: &[vk::ColorComponentFlags],
    create: impl FnOnce(vk::GraphicsPipelineCreateInfo<'_>) -> T,
) -> T {
    use vk::ShaderStageFlags as S;
    let stages = [stage(S::VERTEX, vertex), stage(S::FRAGMENT, fragment)];
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let triangles = vk::PrimitiveTopology::TRIANGLE_LIST;
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(triangles);
    let viewports = [vk::Viewport {
        width: viewport.extent.width as f32,
        height: viewport.extent.height as f32,
        max_depth: 1.0,
        ..Default::default()
    }];
    let scissors = [scissor];
    let viewport = vk::PipelineViewportStateCreateInfo::default()
        .viewports(&viewports)
        .scissors(&scissors);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let one = vk::SampleCountFlags::TYPE_1;
    let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(one);
    let target = |mask: &_| vk::PipelineColorBlendAttachmentState::default().color_write_mask(*mask);
    let targets: Vec<_> = masks.iter().map(target).collect();
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&targets);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .color_blend_state(&blend);
    create(info)
}

/// The contents of a descriptor.
#[derive(Clone, Copy)]
pub enum Descriptor {
    /// A range of a storage buffer.
    Bytes(vk::DescriptorBufferInfo),
    Texels(vk::BufferView),
    Image(vk::DescriptorType, vk::ImageView, vk::ImageLayout),
}

impl Descriptor {
    /// A whole storage buffer.
    pub fn buffer(buffer: vk::Buffer) -> Descriptor {
        let all = vk::DescriptorBufferInfo::default().range(vk::WHOLE_SIZE);
        Descriptor::Bytes(all.buffer(buffer))
    }

    /// A storage image in layout GENERAL.
    pub fn storage_image(view: vk::ImageView) -> Descriptor {
        Descriptor::Image(vk::DescriptorType::STORAGE_IMAGE, view, vk::ImageLayout::GENERAL)
    }

    pub fn kind(self) -> vk::DescriptorType {
        match self {
            Descriptor::Bytes(_) => vk::DescriptorType::STORAGE_BUFFER,
            Descriptor::Texels(_) => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
            Descriptor::Image(kind, ..) => kind,
        }
    }
}

/// A new descriptor set with `descriptors` at bindings 0, 1, …
pub fn descriptor_set(
    device: &ash::Device,
    pool: vk::DescriptorPool,
    layout: vk::DescriptorSetLayout,
    descriptors: &[Descriptor],
) -> vk::DescriptorSet {
    let layouts = [layout];
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&layouts);
    // SAFETY: A pool and a layout of this device.
    let set = unsafe { device.allocate_descriptor_sets(&info) }.expect("a descriptor set")[0];
    for (binding, descriptor) in (0..).zip(descriptors) {
        let (buffers, views, images);
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(binding)
            .descriptor_type(descriptor.kind());
        let write = match *descriptor {
            Descriptor::Bytes(bytes) => {
                buffers = [bytes];
                write.buffer_info(&buffers)
            }
            Descriptor::Texels(view) => {
                views = [view];
                write.texel_buffer_view(&views)
            }
            Descriptor::Image(_, view, layout) => {
                let info = vk::DescriptorImageInfo::default().image_view(view);
                images = [info.image_layout(layout)];
                write.image_info(&images)
            }
        };
        // SAFETY: A new set, and the objects that it refers to are alive.
        unsafe { device.update_descriptor_sets(&[write], &[]) };
    }
    set
}

impl Objects {
    /// A pipeline layout with the descriptor set layouts `before`, followed by a new one with `kinds` at bindings 0, 1, …, and with `constants` bytes
    /// of push constants. Also returns the new set layout.
    pub fn pipeline_layout(
        &self,
        device: &ash::Device,
        before: &[vk::DescriptorSetLayout],
        kinds: &[vk::DescriptorType],
        stages: vk::ShaderStageFlags,
        constants: u32,
    ) -> (vk::PipelineLayout, vk::DescriptorSetLayout) {
        let binding = |(binding, kind): (u32, &vk::DescriptorType)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(*kind)
                .descriptor_count(1)
                .stage_flags(match *kind {
                    vk::DescriptorType::INPUT_ATTACHMENT => vk::ShaderStageFlags::FRAGMENT,
                    _ => stages,
                })
        };
        let bindings: Vec<_> = (0..).zip(kinds).map(binding).collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let set_layout = self.create(device, &info);
        let set_layouts = [before, &[set_layout]].concat();
        let constants = [vk::PushConstantRange::default()
            .stage_flags(stages)
            .size(constants)];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&set_layouts)
            .push_constant_ranges(&constants);
        (self.create(device, &info), set_layout)
    }
}
