//! Command buffers, shaders and submissions of the rig.

use ash::vk;
use tileheap_device::ffi::TileMemoryBindInfoQCOM;
use tileheap_testkit::objects;

use super::{Descriptor, Pipeline, Rig, TILE, TestDevice, area, whole_image};

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

/// Copies texels of an image with sides of 64 texels from binding 0 to binding 1.
pub const COPY_TEXELS: &str = "layout(local_size_x = 64) in;
layout(set = 0, binding = 0, r32ui) readonly uniform uimage2D from;
layout(set = 0, binding = 1, std430) buffer To { uint to[]; };
layout(push_constant) uniform Constants { uint value; };
void main() {
    uint at = gl_GlobalInvocationID.x;
    to[at] = imageLoad(from, ivec2(at % 64, at / 64)).x;
}";

/// All stages, before and after a barrier.
const EVERYTHING: vk::PipelineStageFlags = vk::PipelineStageFlags::ALL_COMMANDS;
const ACCESSES: vk::AccessFlags =
    vk::AccessFlags::from_raw(vk::AccessFlags::MEMORY_READ.as_raw() | vk::AccessFlags::MEMORY_WRITE.as_raw());

impl TestDevice {
    /// Records a dispatch of a pipeline over `words` words, between barriers.
    pub fn dispatch(
        &self,
        commands: vk::CommandBuffer,
        pipeline: &Pipeline,
        set: vk::DescriptorSet,
        value: u32,
        words: u32,
    ) {
        self.barrier(commands);
        self.bind_work(commands, pipeline, set);
        let (device, stages, constants) = (&self.device, vk::ShaderStageFlags::COMPUTE, value.to_ne_bytes());
        // SAFETY: Recording; all of one device.
        unsafe {
            device.cmd_push_constants(commands, pipeline.layout, stages, 0, &constants);
            device.cmd_dispatch(commands, words.div_ceil(64), 1, 1);
        }
        self.barrier(commands);
    }

    /// Records a shader fill of every word of a storage buffer with `value`.
    pub fn fill(&self, commands: vk::CommandBuffer, buffer: vk::Buffer, words: u32, value: u32) {
        let (pipeline, set) = self.work(FILL, &[Descriptor::buffer(buffer)]);
        self.dispatch(commands, &pipeline, set, value, words);
    }

    /// Records a copy from a storage buffer to another by a shader.
    pub fn copy(&self, commands: vk::CommandBuffer, from: vk::Buffer, to: vk::Buffer, words: u32) {
        let (pipeline, set) = self.work(COPY, &[Descriptor::buffer(from), Descriptor::buffer(to)]);
        self.dispatch(commands, &pipeline, set, 0, words);
    }

    /// Records a copy of the texels of an R32_UINT image with sides of 64 texels in layout GENERAL.
    pub fn copy_texels(&self, commands: vk::CommandBuffer, view: vk::ImageView, to: vk::Buffer) {
        let reached = [Descriptor::storage_image(view), Descriptor::buffer(to)];
        let (pipeline, set) = self.work(COPY_TEXELS, &reached);
        self.dispatch(commands, &pipeline, set, 0, 64 * 64);
    }

    /// Records a fill by a transfer.
    pub fn fill_buffer(&self, commands: vk::CommandBuffer, buffer: vk::Buffer, value: u32) {
        // SAFETY: Recording; a transfer destination.
        unsafe {
            self.device
                .cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, value)
        };
    }

    /// Records a barrier between everything before and everything after it.
    pub fn barrier(&self, commands: vk::CommandBuffer) {
        let all = vk::MemoryBarrier::default()
            .src_access_mask(ACCESSES)
            .dst_access_mask(ACCESSES);
        self.pipeline_barrier(commands, &[all], &[]);
    }

    /// Records a transition of a color image, from everything to everything.
    pub fn transition(
        &self,
        commands: vk::CommandBuffer,
        image: vk::Image,
        from: vk::ImageLayout,
        to: vk::ImageLayout,
    ) {
        let barrier = vk::ImageMemoryBarrier::default()
            .src_access_mask(ACCESSES)
            .dst_access_mask(ACCESSES)
            .old_layout(from)
            .new_layout(to)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image)
            .subresource_range(whole_image(vk::ImageAspectFlags::COLOR));
        self.pipeline_barrier(commands, &[], &[barrier]);
    }

    /// Records the transition of a new image to layout GENERAL.
    pub fn to_general(&self, commands: vk::CommandBuffer, image: vk::Image) {
        self.transition(
            commands,
            image,
            vk::ImageLayout::UNDEFINED,
            vk::ImageLayout::GENERAL,
        );
    }

    fn pipeline_barrier(
        &self,
        commands: vk::CommandBuffer,
        memory: &[vk::MemoryBarrier<'_>],
        images: &[vk::ImageMemoryBarrier<'_>],
    ) {
        let (device, none) = (&self.device, vk::DependencyFlags::empty());
        // SAFETY: Recording, outside render passes.
        unsafe { device.cmd_pipeline_barrier(commands, EVERYTHING, EVERYTHING, none, memory, &[], images) };
    }

    /// Binds a tile memory object, or nothing.
    pub fn bind(&self, commands: vk::CommandBuffer, object: Option<vk::DeviceMemory>) {
        let info = object.map(|memory| TileMemoryBindInfoQCOM::default().memory(memory));
        // SAFETY: Recording, outside render passes; a tile memory object.
        unsafe { self.tile.cmd_bind_tile_memory(commands, info.as_ref()) };
    }

    /// Records a primary command buffer with `record`; it can be submitted any number of times.
    pub fn record(&self, record: impl FnOnce(vk::CommandBuffer)) -> vk::CommandBuffer {
        let commands = self.allocate_commands(vk::CommandBufferLevel::PRIMARY);
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
        self.record_into(commands, &info, record);
        commands
    }

    /// Records a secondary command buffer that runs outside render passes.
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
        objects::record(&self.device, commands, info, || record(commands));
    }

    /// Records the execution of a secondary command buffer.
    pub fn execute(&self, commands: vk::CommandBuffer, secondary: vk::CommandBuffer) {
        // SAFETY: Recording, and the secondary may run at this point.
        unsafe { self.device.cmd_execute_commands(commands, &[secondary]) };
    }

    /// Submits these batches in one call, and waits until they are complete.
    pub fn submit(&self, batches: &[&[vk::CommandBuffer]]) {
        let batches = batches.iter();
        let infos: Vec<_> = batches
            .map(|batch| vk::SubmitInfo::default().command_buffers(batch))
            .collect();
        // SAFETY: Recorded command buffers of this device.
        let submitted = unsafe { self.device.queue_submit(self.queue, &infos, vk::Fence::null()) };
        self.wait(submitted);
    }

    /// Like `submit`, by `vkQueueSubmit2`.
    pub fn submit2(&self, batches: &[&[vk::CommandBuffer]]) {
        let info =
            |handle: &vk::CommandBuffer| vk::CommandBufferSubmitInfo::default().command_buffer(*handle);
        let batch = |batch: &&[vk::CommandBuffer]| batch.iter().map(info).collect();
        let commands: Vec<Vec<_>> = batches.iter().map(batch).collect();
        let batch = |commands| vk::SubmitInfo2::default().command_buffer_infos(commands);
        let infos: Vec<_> = commands.iter().map(|commands| batch(commands)).collect();
        // SAFETY: Recorded command buffers of this device.
        let submitted = unsafe { self.device.queue_submit2(self.queue, &infos, vk::Fence::null()) };
        self.wait(submitted);
    }

    fn wait(&self, submitted: Result<(), vk::Result>) {
        submitted.expect("a submission");
        // SAFETY: A queue of this device.
        unsafe { self.device.queue_wait_idle(self.queue) }.expect("an idle queue");
    }
}

/// Operations of a pass on the image that it renders to.
#[derive(Clone, Copy, Debug)]
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

/// Side length of the images that passes render to.
pub const SIDE: u32 = 64;

/// Value of every texel after a clear.
pub const CLEARED: u32 = 0x0BAD_CAFE;

/// A clear value of integers.
pub fn clear_value(value: u32) -> vk::ClearValue {
    let color = vk::ClearColorValue { uint32: [value; 4] };
    vk::ClearValue { color }
}

impl TestDevice {
    /// Records a pass by dynamic rendering without draws, over an area of that height.
    pub fn render(
        &self,
        commands: vk::CommandBuffer,
        view: vk::ImageView,
        operations: Operations,
        height: u32,
    ) {
        self.render_with(commands, view, operations, height, |_| ());
    }

    pub fn render_with(
        &self,
        commands: vk::CommandBuffer,
        view: vk::ImageView,
        operations: Operations,
        height: u32,
        inside: impl FnOnce(vk::CommandBuffer),
    ) {
        let color = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(operations.load)
            .store_op(operations.store)
            .clear_value(clear_value(CLEARED))];
        let info = vk::RenderingInfo::default()
            .render_area(area(SIDE, height))
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

    /// Creates a render pass object for one R32_UINT attachment, and a framebuffer of that view; optionally imageless.
    pub fn pass_object(
        &self,
        view: vk::ImageView,
        operations: Operations,
        imageless: bool,
        tile_size: u64,
    ) -> (vk::RenderPass, vk::Framebuffer) {
        let attachment = objects::color_attachment(vk::Format::R32_UINT)
            .load_op(operations.load)
            .store_op(operations.store)
            .initial_layout(operations.from);
        let mut size = tileheap_device::ffi::TileMemorySizeInfoQCOM::default().size(tile_size);
        let pass = objects::with_subpasses(&[attachment], 1, |info| self.create(&info.push_next(&mut size)));
        (pass, self.framebuffer(pass, &[view], imageless))
    }

    /// Creates a framebuffer of R32_UINT images with [`SIDE`] texels per side; optionally imageless.
    pub fn framebuffer(
        &self,
        pass: vk::RenderPass,
        views: &[vk::ImageView],
        imageless: bool,
    ) -> vk::Framebuffer {
        let formats = [vk::Format::R32_UINT];
        let image = vk::FramebufferAttachmentImageInfo::default()
            .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::STORAGE | TILE)
            .width(SIDE)
            .height(SIDE)
            .layer_count(1)
            .view_formats(&formats);
        let images = vec![image; views.len()];
        let mut later = vk::FramebufferAttachmentsCreateInfo::default().attachment_image_infos(&images);
        let mut info = objects::framebuffer_info(pass, views, SIDE);
        if imageless {
            info.flags = vk::FramebufferCreateFlags::IMAGELESS;
            info = info.push_next(&mut later);
        }
        self.create(&info)
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
        let clears = [clear_value(CLEARED)];
        let views: Vec<_> = imageless_view.into_iter().collect();
        let mut later = vk::RenderPassAttachmentBeginInfo::default().attachments(&views);
        let mut info = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(area(SIDE, SIDE))
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

/// Breaks VUID-vkCmdDispatch-commandBuffer-10746 and verifies that validation reports it.
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
