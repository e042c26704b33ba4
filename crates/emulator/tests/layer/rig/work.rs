//! Command buffers, shaders and submissions of the rig.

use ash::vk;
use tileheap_device::ffi::TileMemoryBindInfoQCOM;
use tileheap_testkit::glsl::Stage;

use super::{Rig, glsl};

/// A compute pipeline with storage buffers, or other descriptors, at bindings 0, 1, … and one word of constants.
#[derive(Clone, Copy)]
pub struct Pipeline {
    pub handle: vk::Pipeline,
    pub layout: vk::PipelineLayout,
    pub set_layout: vk::DescriptorSetLayout,
}

/// All of an image with one level and one layer.
pub fn whole(aspects: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: aspects,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    }
}

/// What a descriptor points to.
#[derive(Clone, Copy)]
pub enum Descriptor {
    Buffer(vk::Buffer),
    StorageImage(vk::ImageView),
}

impl Descriptor {
    fn kind(self) -> vk::DescriptorType {
        match self {
            Descriptor::Buffer(_) => vk::DescriptorType::STORAGE_BUFFER,
            Descriptor::StorageImage(_) => vk::DescriptorType::STORAGE_IMAGE,
        }
    }
}

/// Writes the constant into every word.
pub const FILL: &str = "layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Data { uint data[]; };
layout(push_constant) uniform Constants { uint value; };
void main() { if (gl_GlobalInvocationID.x < data.length()) data[gl_GlobalInvocationID.x] = value; }";

/// Copies words from binding 0 to binding 1.
pub const COPY: &str = "layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer From { uint from[]; };
layout(set = 0, binding = 1, std430) buffer To { uint to[]; };
layout(push_constant) uniform Constants { uint value; };
void main() { if (gl_GlobalInvocationID.x < from.length()) to[gl_GlobalInvocationID.x] = from[gl_GlobalInvocationID.x]; }";

/// Copies texels of an image of 64 texels a side from binding 0 to binding 1.
const COPY_TEXELS: &str = "layout(local_size_x = 64) in;
layout(set = 0, binding = 0, r32ui) readonly uniform uimage2D from;
layout(set = 0, binding = 1, std430) buffer To { uint to[]; };
layout(push_constant) uniform Constants { uint value; };
void main() {
    uint at = gl_GlobalInvocationID.x;
    if (at < to.length()) to[at] = imageLoad(from, ivec2(at % 64, at / 64)).x;
}";

impl Rig {
    pub fn compute(&self, kinds: &[vk::DescriptorType], source: &str) -> Pipeline {
        self.compute_words(kinds, &glsl::compile(Stage::Compute, source, 3), 4)
    }

    /// The same of SPIR-V, with so many bytes of push constants.
    pub fn compute_words(&self, kinds: &[vk::DescriptorType], words: &[u32], constants: u32) -> Pipeline {
        let bindings: Vec<_> = (0u32..)
            .zip(kinds)
            .map(|(binding, kind)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(*kind)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        // SAFETY: All of one device, made for each other, alive while used.
        let pipeline = unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = self
                .device
                .create_descriptor_set_layout(&info, None)
                .expect("a set layout");
            let constants = [vk::PushConstantRange {
                stage_flags: vk::ShaderStageFlags::COMPUTE,
                offset: 0,
                size: constants,
            }];
            let set_layouts = [set_layout];
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&set_layouts)
                .push_constant_ranges(&constants);
            let layout = self.device.create_pipeline_layout(&info, None).expect("a layout");
            let info = vk::ShaderModuleCreateInfo::default().code(words);
            let module = self.device.create_shader_module(&info, None).expect("a module");
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let infos = [vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(layout)];
            let made = self
                .device
                .create_compute_pipelines(vk::PipelineCache::null(), &infos, None);
            let handle = made.expect("a pipeline")[0];
            self.device.destroy_shader_module(module, None);
            Pipeline {
                handle,
                layout,
                set_layout,
            }
        };
        self.own(|owned| {
            owned.pipelines.push(pipeline.handle);
            owned.layouts.push(pipeline.layout);
            owned.set_layouts.push(pipeline.set_layout);
        });
        pipeline
    }

    /// A descriptor set for a pipeline.
    pub fn set(&self, pipeline: &Pipeline, descriptors: &[Descriptor]) -> vk::DescriptorSet {
        let layouts = [pipeline.set_layout];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.sets)
            .set_layouts(&layouts);
        // SAFETY: A pool and a layout of this device.
        let set = unsafe { self.device.allocate_descriptor_sets(&info) }.expect("a set")[0];
        for (binding, descriptor) in (0u32..).zip(descriptors) {
            let mut buffers = [vk::DescriptorBufferInfo::default()];
            let mut images = [vk::DescriptorImageInfo::default()];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(binding)
                .descriptor_type(descriptor.kind())
                .descriptor_count(1);
            let write = match *descriptor {
                Descriptor::Buffer(buffer) => {
                    buffers[0] = vk::DescriptorBufferInfo {
                        buffer,
                        offset: 0,
                        range: vk::WHOLE_SIZE,
                    };
                    write.buffer_info(&buffers)
                }
                Descriptor::StorageImage(view) => {
                    images[0] = vk::DescriptorImageInfo::default()
                        .image_view(view)
                        .image_layout(vk::ImageLayout::GENERAL);
                    write.image_info(&images)
                }
            };
            // SAFETY: A new set, and what it points to is alive.
            unsafe { self.device.update_descriptor_sets(&[write], &[]) };
        }
        set
    }

    /// Records a dispatch of a pipeline over so many words, between barriers.
    pub fn dispatch(
        &self,
        commands: vk::CommandBuffer,
        pipeline: &Pipeline,
        set: vk::DescriptorSet,
        value: u32,
        words: u32,
    ) {
        let point = vk::PipelineBindPoint::COMPUTE;
        self.barrier(commands);
        // SAFETY: Recording; all of one device.
        unsafe {
            self.device.cmd_bind_pipeline(commands, point, pipeline.handle);
            self.device
                .cmd_bind_descriptor_sets(commands, point, pipeline.layout, 0, &[set], &[]);
            let stages = vk::ShaderStageFlags::COMPUTE;
            self.device
                .cmd_push_constants(commands, pipeline.layout, stages, 0, &value.to_ne_bytes());
            self.device.cmd_dispatch(commands, words.div_ceil(64), 1, 1);
        }
        self.barrier(commands);
    }

    /// Records that every word of a storage buffer becomes `value`.
    pub fn fill(&self, commands: vk::CommandBuffer, buffer: vk::Buffer, words: u32, value: u32) {
        let pipeline = self.compute(&[vk::DescriptorType::STORAGE_BUFFER], FILL);
        let set = self.set(&pipeline, &[Descriptor::Buffer(buffer)]);
        self.dispatch(commands, &pipeline, set, value, words);
    }

    /// Records a copy from a storage buffer to another, by a shader.
    pub fn copy(&self, commands: vk::CommandBuffer, from: vk::Buffer, to: vk::Buffer, words: u32) {
        let pipeline = self.compute(&[vk::DescriptorType::STORAGE_BUFFER; 2], COPY);
        let set = self.set(&pipeline, &[Descriptor::Buffer(from), Descriptor::Buffer(to)]);
        self.dispatch(commands, &pipeline, set, 0, words);
    }

    /// Records a copy of the texels of an R32_UINT image of 64 texels a side in layout GENERAL.
    pub fn copy_texels(&self, commands: vk::CommandBuffer, view: vk::ImageView, to: vk::Buffer) {
        let kinds = [
            vk::DescriptorType::STORAGE_IMAGE,
            vk::DescriptorType::STORAGE_BUFFER,
        ];
        let pipeline = self.compute(&kinds, COPY_TEXELS);
        let set = self.set(
            &pipeline,
            &[Descriptor::StorageImage(view), Descriptor::Buffer(to)],
        );
        self.dispatch(commands, &pipeline, set, 0, 64 * 64);
    }

    /// Everything before happens before everything behind.
    pub fn barrier(&self, commands: vk::CommandBuffer) {
        let everything = vk::PipelineStageFlags::ALL_COMMANDS;
        let accesses = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(accesses)
            .dst_access_mask(accesses);
        let none = vk::DependencyFlags::empty();
        // SAFETY: Recording, outside render passes.
        unsafe {
            self.device
                .cmd_pipeline_barrier(commands, everything, everything, none, &[barrier], &[], &[])
        };
    }

    /// A transition of a colour image, from everything to everything.
    pub fn transition(
        &self,
        commands: vk::CommandBuffer,
        image: vk::Image,
        from: vk::ImageLayout,
        to: vk::ImageLayout,
    ) {
        let accesses = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let barrier = vk::ImageMemoryBarrier::default()
            .src_access_mask(accesses)
            .dst_access_mask(accesses)
            .old_layout(from)
            .new_layout(to)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image)
            .subresource_range(whole(vk::ImageAspectFlags::COLOR));
        let everything = vk::PipelineStageFlags::ALL_COMMANDS;
        let none = vk::DependencyFlags::empty();
        // SAFETY: Recording, outside render passes.
        unsafe {
            self.device
                .cmd_pipeline_barrier(commands, everything, everything, none, &[], &[], &[barrier])
        };
    }

    /// Binds a tile memory object, or nothing.
    pub fn bind(&self, commands: vk::CommandBuffer, object: Option<vk::DeviceMemory>) {
        let info = object.map(|memory| TileMemoryBindInfoQCOM::default().memory(memory));
        // SAFETY: Recording, outside render passes; a tile memory object.
        unsafe { self.tile.cmd_bind_tile_memory(commands, info.as_ref()) };
    }

    pub fn allocate_commands(&self, level: vk::CommandBufferLevel) -> vk::CommandBuffer {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(level)
            .command_buffer_count(1);
        // SAFETY: A pool of this device.
        unsafe { self.device.allocate_command_buffers(&info) }.expect("a command buffer")[0]
    }

    /// A primary command buffer that `record` fills; it can be submitted any number of times.
    pub fn record(&self, record: impl FnOnce(vk::CommandBuffer)) -> vk::CommandBuffer {
        let commands = self.allocate_commands(vk::CommandBufferLevel::PRIMARY);
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
        self.record_into(commands, &info, record);
        commands
    }

    /// A secondary command buffer that runs outside render passes.
    pub fn record_secondary(&self, record: impl FnOnce(vk::CommandBuffer)) -> vk::CommandBuffer {
        let commands = self.allocate_commands(vk::CommandBufferLevel::SECONDARY);
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let info = vk::CommandBufferBeginInfo::default()
            .inheritance_info(&inheritance)
            .flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
        self.record_into(commands, &info, record);
        commands
    }

    pub fn record_into(
        &self,
        commands: vk::CommandBuffer,
        info: &vk::CommandBufferBeginInfo<'_>,
        record: impl FnOnce(vk::CommandBuffer),
    ) {
        // SAFETY: Not pending.
        unsafe { self.device.begin_command_buffer(commands, info) }.expect("recording begins");
        record(commands);
        // SAFETY: Recording.
        unsafe { self.device.end_command_buffer(commands) }.expect("recording ends");
    }

    /// One submit call with these batches; waits until it is done.
    pub fn submit(&self, batches: &[&[vk::CommandBuffer]]) {
        let infos: Vec<_> = batches
            .iter()
            .map(|batch| vk::SubmitInfo::default().command_buffers(batch))
            .collect();
        // SAFETY: Recorded command buffers of this device.
        unsafe {
            self.device
                .queue_submit(self.queue, &infos, vk::Fence::null())
                .expect("a submission");
            self.device.queue_wait_idle(self.queue).expect("an idle queue");
        }
    }

    /// The same by `vkQueueSubmit2`.
    pub fn submit2(&self, batches: &[&[vk::CommandBuffer]]) {
        let info =
            |handle: &vk::CommandBuffer| vk::CommandBufferSubmitInfo::default().command_buffer(*handle);
        let commands: Vec<Vec<_>> = batches
            .iter()
            .map(|batch| batch.iter().map(info).collect())
            .collect();
        let infos: Vec<_> = commands
            .iter()
            .map(|commands| vk::SubmitInfo2::default().command_buffer_infos(commands))
            .collect();
        // SAFETY: Recorded command buffers of this device.
        unsafe {
            self.device
                .queue_submit2(self.queue, &infos, vk::Fence::null())
                .expect("a submission");
            self.device.queue_wait_idle(self.queue).expect("an idle queue");
        }
    }
}

/// What a pass does to the image that it renders to.
#[derive(Clone, Copy)]
pub struct Operations {
    pub load: vk::AttachmentLoadOp,
    pub store: vk::AttachmentStoreOp,
    pub from: vk::ImageLayout,
}

/// Clears, stores, and keeps the layout.
pub const CLEAR: Operations = Operations {
    load: vk::AttachmentLoadOp::CLEAR,
    store: vk::AttachmentStoreOp::STORE,
    from: vk::ImageLayout::GENERAL,
};

/// The side of the images that passes render to.
pub const SIDE: u32 = 64;

/// What a clear leaves in every texel.
pub const CLEARED: u32 = 0x0BAD_CAFE;

impl Rig {
    /// Records a pass by dynamic rendering that draws nothing, over an area of that height.
    pub fn render(
        &self,
        commands: vk::CommandBuffer,
        view: vk::ImageView,
        operations: Operations,
        height: u32,
    ) {
        self.render_with(
            commands,
            view,
            operations,
            height,
            vk::RenderingFlags::empty(),
            |_| (),
        );
    }

    pub fn render_with(
        &self,
        commands: vk::CommandBuffer,
        view: vk::ImageView,
        operations: Operations,
        height: u32,
        flags: vk::RenderingFlags,
        inside: impl FnOnce(vk::CommandBuffer),
    ) {
        let color = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(operations.load)
            .store_op(operations.store)
            .clear_value(vk::ClearValue {
                color: vk::ClearColorValue { uint32: [CLEARED; 4] },
            })];
        let area = vk::Rect2D::default().extent(vk::Extent2D { width: SIDE, height });
        let info = vk::RenderingInfo::default()
            .flags(flags)
            .render_area(area)
            .layer_count(1)
            .color_attachments(&color);
        self.barrier(commands);
        // SAFETY: Recording, outside render passes; a view of this device.
        unsafe { self.device.cmd_begin_rendering(commands, &info) };
        inside(commands);
        // SAFETY: As above.
        unsafe { self.device.cmd_end_rendering(commands) };
        self.barrier(commands);
    }

    /// A render pass object for one R32_UINT attachment, and a framebuffer of that view; imageless if asked.
    pub fn pass_object(
        &self,
        view: vk::ImageView,
        operations: Operations,
        imageless: bool,
        tile_size: u64,
    ) -> (vk::RenderPass, vk::Framebuffer) {
        let attachments = [vk::AttachmentDescription::default()
            .format(vk::Format::R32_UINT)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(operations.load)
            .store_op(operations.store)
            .initial_layout(operations.from)
            .final_layout(vk::ImageLayout::GENERAL)];
        let references = [vk::AttachmentReference {
            attachment: 0,
            layout: vk::ImageLayout::GENERAL,
        }];
        let subpasses = [vk::SubpassDescription::default().color_attachments(&references)];
        let mut size = tileheap_device::ffi::TileMemorySizeInfoQCOM::default().size(tile_size);
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .push_next(&mut size);
        // SAFETY: Valid create infos of this device.
        let pass = unsafe { self.device.create_render_pass(&info, None) }.expect("a render pass");
        let (views, formats) = ([view], [vk::Format::R32_UINT]);
        let images = [vk::FramebufferAttachmentImageInfo::default()
            .usage(
                vk::ImageUsageFlags::COLOR_ATTACHMENT
                    | vk::ImageUsageFlags::STORAGE
                    | tileheap_device::ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM,
            )
            .width(SIDE)
            .height(SIDE)
            .layer_count(1)
            .view_formats(&formats)];
        let mut later = vk::FramebufferAttachmentsCreateInfo::default().attachment_image_infos(&images);
        let mut info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .width(SIDE)
            .height(SIDE)
            .layers(1);
        if imageless {
            info = info
                .flags(vk::FramebufferCreateFlags::IMAGELESS)
                .push_next(&mut later);
            info.attachment_count = 1;
        } else {
            info = info.attachments(&views);
        }
        // SAFETY: As above.
        let framebuffer = unsafe { self.device.create_framebuffer(&info, None) }.expect("a framebuffer");
        self.own(|owned| {
            owned.passes.push(pass);
            owned.framebuffers.push(framebuffer);
        });
        (pass, framebuffer)
    }

    /// Records a pass by a render pass object.
    pub fn run_pass(
        &self,
        commands: vk::CommandBuffer,
        (pass, framebuffer): (vk::RenderPass, vk::Framebuffer),
        imageless_view: Option<vk::ImageView>,
        contents: vk::SubpassContents,
        inside: impl FnOnce(vk::CommandBuffer),
    ) {
        let clears = [vk::ClearValue {
            color: vk::ClearColorValue { uint32: [CLEARED; 4] },
        }];
        let views: Vec<_> = imageless_view.into_iter().collect();
        let mut later = vk::RenderPassAttachmentBeginInfo::default().attachments(&views);
        let area = vk::Rect2D::default().extent(vk::Extent2D {
            width: SIDE,
            height: SIDE,
        });
        let mut info = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(area)
            .clear_values(&clears);
        if !views.is_empty() {
            info = info.push_next(&mut later);
        }
        self.barrier(commands);
        // SAFETY: Recording, outside render passes.
        unsafe { self.device.cmd_begin_render_pass(commands, &info, contents) };
        inside(commands);
        // SAFETY: As above.
        unsafe { self.device.cmd_end_render_pass(commands) };
        self.barrier(commands);
    }
}

/// Breaks VUID-vkCmdDispatch-commandBuffer-10746 and makes sure that validation says so.
pub fn provoke_validation(rig: &Rig) {
    let object = rig.object(rig.heap_size());
    let buffer = rig.tile_words(64, object, 0);
    rig.record(|commands| rig.fill(commands, buffer, 64, 0));
    let said = rig.take_messages();
    let awake = said
        .iter()
        .any(|(id, _)| id == "VUID-vkCmdDispatch-commandBuffer-10746");
    assert!(
        awake,
        "validation did not see a wrong tile memory object: {said:#?}"
    );
}
