//! The resources and the commands of the recordings.

use ash::vk;
use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use ash::vk::{AttachmentLoadOp as Load, AttachmentStoreOp as Store, ImageLayout as Layout};
use tileheap_testkit::glsl::Stage;

use crate::rig::{self, Descriptor, Pipeline, Rig, SIDE};

/// Bytes of the buffers.
pub(super) const SPAN: u64 = 256;
/// The offset of the images, in the block after that of the buffers.
pub(super) const IMAGES: u64 = 12_288;
pub(super) const USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::INPUT_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::STORAGE.as_raw(),
);

/// The dynamic offsets of the halves of a buffer.
pub(super) const HALVES: [u32; 2] = [0, SPAN as u32 / 2];

/// Stages and accesses of one side of a dependency.
pub(super) type Side = (S, A);

pub(super) const NOTHING: Side = (S::NONE, A::NONE);
pub(super) const EVERYTHING: Side = (
    S::ALL_COMMANDS,
    A::from_raw(A::MEMORY_READ.as_raw() | A::MEMORY_WRITE.as_raw()),
);
pub(super) const CS_NONE: Side = (S::COMPUTE_SHADER, A::NONE);
pub(super) const CS_READ: Side = (S::COMPUTE_SHADER, A::SHADER_STORAGE_READ);
pub(super) const CS_WRITE: Side = (S::COMPUTE_SHADER, A::SHADER_STORAGE_WRITE);
pub(super) const COLOR_WRITE: Side = (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE);
pub(super) const DEPTH_WRITE: Side = (
    S::from_raw(S::EARLY_FRAGMENT_TESTS.as_raw() | S::LATE_FRAGMENT_TESTS.as_raw()),
    A::DEPTH_STENCIL_ATTACHMENT_WRITE,
);
pub(super) const COPY_READ: Side = (S::COPY, A::TRANSFER_READ);
pub(super) const COPY_WRITE: Side = (S::COPY, A::TRANSFER_WRITE);
pub(super) const CLEAR_WRITE: Side = (S::CLEAR, A::TRANSFER_WRITE);

/// Writes the constant into every texel.
const WRITE_TEXELS: &str = "layout(local_size_x = 64) in;
layout(set = 0, binding = 0, r32ui) writeonly uniform uimage2D to;
layout(push_constant) uniform Constants { uint value; };
void main() {
    uint at = gl_GlobalInvocationID.x;
    imageStore(to, ivec2(at % 64, at / 64), uvec4(value));
}";
/// Reads a texel without a sampler.
const FETCH: &str = "#extension GL_EXT_samplerless_texture_functions : require
layout(set = 0, binding = 0) uniform utexture2D from;
layout(set = 0, binding = 1) writeonly buffer To { uint to[]; };
layout(push_constant) uniform Constants { uint at; };
void main() { to[0] = uint(texelFetch(from, ivec2(at), 0).x); }";
/// Copies words unless the constant is 7.
const COPY_UNLESS: &str = "layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(set = 0, binding = 1) writeonly buffer To { uint to[]; };
layout(push_constant) uniform Constants { uint value; };
void main() { if (value != 7) to[gl_GlobalInvocationID.x] = from[gl_GlobalInvocationID.x]; }";
/// Copies the number of words given by the constant.
const COPY_SOME: &str = "layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(set = 0, binding = 1) writeonly buffer To { uint to[]; };
layout(push_constant) uniform Constants { uint count; };
void main() {
    if (gl_GlobalInvocationID.x >= count) return;
    to[gl_GlobalInvocationID.x] = from[gl_GlobalInvocationID.x];
}";
const CORNERS: &str = "void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0, 0.0, 1.0); }";
const SEVEN: &str = "layout(location = 0) out uint color; void main() { color = 7; }";
const READ_INPUT: &str =
    "layout(input_attachment_index = 0, set = 0, binding = 0) uniform usubpassInput from;
void main() { if (subpassLoad(from).x == 1000) discard; }";

/// The resources of a recording, and the recording.
pub(super) struct Scene<'a> {
    pub(super) rig: &'a Rig,
    pub(super) object: vk::DeviceMemory,
    pub(super) commands: vk::CommandBuffer,
    pub(super) a: vk::Buffer,
    pub(super) b: vk::Buffer,
    /// A buffer in ordinary memory.
    pub(super) other: vk::Buffer,
    pub(super) x: (vk::Image, vk::ImageView),
    pub(super) y: (vk::Image, vk::ImageView),
}

impl Scene<'_> {
    /// Dispatches a number of groups.
    fn act(&self, source: &str, descriptors: &[Descriptor], groups: u32) {
        let (pipeline, set) = self.rig.work(source, descriptors);
        self.rig.bind_work(self.commands, &pipeline, set);
        let (device, stages) = (&self.rig.device, vk::ShaderStageFlags::COMPUTE);
        // SAFETY: Recording; all of one device.
        unsafe {
            device.cmd_push_constants(self.commands, pipeline.layout, stages, 0, &7u32.to_ne_bytes());
            device.cmd_dispatch(self.commands, groups, 1, 1);
        }
    }

    pub(super) fn write(&self, buffer: vk::Buffer) {
        self.act(rig::FILL, &[Descriptor::buffer(buffer)], 1);
    }

    /// Dispatches with one set, whose first buffer has a dynamic offset: once for each offset.
    fn act_on_parts(&self, source: &str, buffers: &[vk::Buffer], offsets: &[u32]) {
        let kinds = [
            vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
            vk::DescriptorType::STORAGE_BUFFER,
        ];
        let kinds = &kinds[..buffers.len()];
        let pipeline = self.rig.compute(kinds, source);
        let device = &self.rig.device;
        let layouts = [pipeline.set_layout];
        let sizes = kinds.iter().map(|kind| vk::DescriptorPoolSize {
            ty: *kind,
            descriptor_count: 1,
        });
        let sizes: Vec<_> = sizes.collect();
        let pool = vk::DescriptorPoolCreateInfo::default()
            .max_sets(1)
            .pool_sizes(&sizes);
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.rig.create(&pool))
            .set_layouts(&layouts);
        // SAFETY: A new pool with room for the set.
        let set = unsafe { device.allocate_descriptor_sets(&info) }.expect("a descriptor set")[0];
        for (binding, (buffer, kind)) in (0..).zip(buffers.iter().zip(kinds)) {
            let bytes = [vk::DescriptorBufferInfo::default()
                .buffer(*buffer)
                .range(SPAN / 2)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(binding)
                .descriptor_type(*kind);
            // SAFETY: A set that nothing uses yet.
            unsafe { device.update_descriptor_sets(&[write.buffer_info(&bytes)], &[]) };
        }
        let (point, stages) = (vk::PipelineBindPoint::COMPUTE, vk::ShaderStageFlags::COMPUTE);
        for offset in offsets {
            let sets = [set];
            // SAFETY: Recording; all of one device.
            unsafe {
                device.cmd_bind_pipeline(self.commands, point, pipeline.handle);
                device.cmd_bind_descriptor_sets(self.commands, point, pipeline.layout, 0, &sets, &[*offset]);
                device.cmd_push_constants(self.commands, pipeline.layout, stages, 0, &7u32.to_ne_bytes());
                device.cmd_dispatch(self.commands, 1, 1, 1);
            }
        }
    }

    /// Writes halves of a buffer, which begin at these dynamic offsets.
    pub(super) fn write_halves(&self, buffer: vk::Buffer, offsets: &[u32]) {
        self.act_on_parts(rig::FILL, &[buffer], offsets);
    }

    /// Reads halves of a buffer, which begin at these dynamic offsets.
    pub(super) fn read_halves(&self, buffer: vk::Buffer, offsets: &[u32]) {
        self.act_on_parts(rig::COPY, &[buffer, self.other], offsets);
    }

    /// Dispatches no workgroups.
    pub(super) fn read_nothing(&self, buffer: vk::Buffer) {
        self.act(rig::COPY, &[buffer, self.other].map(Descriptor::buffer), 0);
    }

    pub(super) fn read(&self, buffer: vk::Buffer) {
        self.act(rig::COPY, &[buffer, self.other].map(Descriptor::buffer), 1);
    }

    /// Dispatches a shader that reads a buffer under a condition.
    pub(super) fn read_unless(&self, buffer: vk::Buffer) {
        self.act(COPY_UNLESS, &[buffer, self.other].map(Descriptor::buffer), 1);
    }

    /// Dispatches a shader that reads the first 7 words of a buffer.
    pub(super) fn read_some(&self, buffer: vk::Buffer) {
        self.act(COPY_SOME, &[buffer, self.other].map(Descriptor::buffer), 1);
    }

    /// Like `read_some`, with a computed number of words.
    pub(super) fn read_computed_count(&self, buffer: vk::Buffer) {
        let copy = COPY_SOME.replace(">= count", ">= count + 1");
        self.act(&copy, &[buffer, self.other].map(Descriptor::buffer), 1);
    }

    /// Dispatches a shader that reads a buffer, with the dispatch size in another buffer.
    pub(super) fn read_indirectly(&self, buffer: vk::Buffer) {
        let (pipeline, set) = self
            .rig
            .work(rig::COPY, &[buffer, self.other].map(Descriptor::buffer));
        self.rig.bind_work(self.commands, &pipeline, set);
        let size = self.rig.host_buffer(3).buffer;
        // SAFETY: Recording; a buffer with three words, which are zero.
        unsafe { self.rig.device.cmd_dispatch_indirect(self.commands, size, 0) };
    }

    pub(super) fn write_image(&self, image: (vk::Image, vk::ImageView)) {
        let groups = SIDE * SIDE / 64;
        self.act(WRITE_TEXELS, &[Descriptor::storage_image(image.1)], groups);
    }

    pub(super) fn read_image(&self, image: (vk::Image, vk::ImageView)) {
        let both = [Descriptor::storage_image(image.1), Descriptor::buffer(self.other)];
        self.act(rig::COPY_TEXELS, &both, 1);
    }

    pub(super) fn fill(&self, buffer: vk::Buffer) {
        self.rig.fill_buffer(self.commands, buffer, 7);
    }

    pub(super) fn update(&self, buffer: vk::Buffer) {
        let device = &self.rig.device;
        // SAFETY: Recording; a transfer destination.
        unsafe { device.cmd_update_buffer(self.commands, buffer, 0, &[7; SPAN as usize]) };
    }

    /// Copies bytes `[first, end)`.
    pub(super) fn copy(&self, from: vk::Buffer, to: vk::Buffer, (first, end): (u64, u64)) {
        let region = vk::BufferCopy::default().src_offset(first).dst_offset(first);
        let regions = [region.size(end - first)];
        let device = &self.rig.device;
        // SAFETY: Recording; buffers for transfers.
        unsafe { device.cmd_copy_buffer(self.commands, from, to, &regions) };
    }

    pub(super) fn depend(&self, info: &vk::DependencyInfo<'_>) {
        // SAFETY: Recording, outside render passes.
        unsafe { self.rig.device.cmd_pipeline_barrier2(self.commands, info) };
    }

    pub(super) fn memory(&self, from: Side, to: Side) {
        let barriers = [memory_barrier(from, to)];
        self.depend(&vk::DependencyInfo::default().memory_barriers(&barriers));
    }

    /// Records a transition from `UNDEFINED` to `GENERAL`.
    pub(super) fn transition(&self, image: (vk::Image, vk::ImageView), from: Side, to: Side) {
        let barriers = [transition(image, Layout::GENERAL, from, to)];
        self.depend(&vk::DependencyInfo::default().image_memory_barriers(&barriers));
    }

    /// Records dynamic rendering to `x` without draws, over columns `[first, end)`.
    pub(super) fn clear_columns(&self, (first, end): (u32, u32)) {
        let color = [vk::RenderingAttachmentInfo::default()
            .image_view(self.x.1)
            .image_layout(Layout::GENERAL)
            .load_op(Load::CLEAR)
            .store_op(Store::STORE)];
        let mut area = rig::area(end - first, SIDE);
        area.offset.x = first as i32;
        let info = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(1)
            .color_attachments(&color);
        let device = &self.rig.device;
        // SAFETY: Recording, outside render passes; a view of this device.
        unsafe { device.cmd_begin_rendering(self.commands, &info) };
        // SAFETY: As above.
        unsafe { device.cmd_end_rendering(self.commands) };
    }

    /// Records a render pass over all of `x` with `inside` in it.
    pub(super) fn pass(
        &self,
        pass: vk::RenderPass,
        contents: vk::SubpassContents,
        inside: impl FnOnce(vk::Framebuffer),
    ) {
        let framebuffer = self.rig.framebuffer(pass, &[self.x.1], false);
        let clears = [rig::clear_value(0)];
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(rig::area(SIDE, SIDE))
            .clear_values(&clears);
        let device = &self.rig.device;
        // SAFETY: Recording, outside render passes.
        unsafe { device.cmd_begin_render_pass(self.commands, &info, contents) };
        inside(framebuffer);
        // SAFETY: As above.
        unsafe { device.cmd_end_render_pass(self.commands) };
    }

    /// Draws a triangle in a subpass, with `x` as its color attachment or as its input attachment.
    pub(super) fn draw(&self, pass: vk::RenderPass, subpass: u32) {
        let kinds: (_, &[_], &[_]) = match subpass {
            0 => (SEVEN, &[vk::ColorComponentFlags::R], &[]),
            _ => (READ_INPUT, &[], &[vk::DescriptorType::INPUT_ATTACHMENT]),
        };
        self.draw_by(pass, subpass, kinds);
    }

    /// Draws a triangle with a fragment shader, masks of color attachments, and `x` as its descriptors.
    pub(super) fn draw_by(
        &self,
        pass: vk::RenderPass,
        subpass: u32,
        (source, masks, kinds): (&str, &[vk::ColorComponentFlags], &[vk::DescriptorType]),
    ) {
        let modules = [
            self.rig.module(Stage::Vertex, CORNERS),
            self.rig.module(Stage::Fragment, source),
        ];
        let (layout, set_layout) = self.rig.layout(kinds, vk::ShaderStageFlags::FRAGMENT);
        let handle = rig::with_triangles(modules, [rig::area(SIDE, SIDE); 2], masks, |info| {
            self.rig
                .create(&info.layout(layout).render_pass(pass).subpass(subpass))
        });
        let pipeline = Pipeline {
            handle,
            layout,
            set_layout,
        };
        let input = |kind: &_| Descriptor::Image(*kind, self.x.1, Layout::GENERAL);
        let inputs: Vec<_> = kinds.iter().map(input).collect();
        let set = self.rig.set(&pipeline, &inputs);
        let (device, point) = (&self.rig.device, vk::PipelineBindPoint::GRAPHICS);
        // SAFETY: Recording a pass with this attachment; all of one device.
        unsafe {
            device.cmd_bind_pipeline(self.commands, point, handle);
            device.cmd_bind_descriptor_sets(self.commands, point, layout, 0, &[set], &[]);
            device.cmd_draw(self.commands, 3, 1, 0, 0);
        }
    }

    /// Runs a secondary command buffer that fills a buffer.
    pub(super) fn fill_by_secondary(&self, buffer: vk::Buffer) {
        let secondary = self.rig.record_secondary(|commands| {
            self.rig.bind(commands, Some(self.object));
            self.rig.fill_buffer(commands, buffer, 7);
        });
        self.rig.execute(self.commands, secondary);
    }
}

pub(super) fn memory_barrier(from: Side, to: Side) -> vk::MemoryBarrier2<'static> {
    vk::MemoryBarrier2::default()
        .src_stage_mask(from.0)
        .src_access_mask(from.1)
        .dst_stage_mask(to.0)
        .dst_access_mask(to.1)
}

pub(super) fn transition(
    image: (vk::Image, vk::ImageView),
    layout: Layout,
    from: Side,
    to: Side,
) -> vk::ImageMemoryBarrier2<'static> {
    vk::ImageMemoryBarrier2::default()
        .src_stage_mask(from.0)
        .src_access_mask(from.1)
        .dst_stage_mask(to.0)
        .dst_access_mask(to.1)
        .new_layout(layout)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image.0)
        .subresource_range(rig::whole_image(vk::ImageAspectFlags::COLOR))
}

/// Creates a render pass of one subpass without draws to `x`, with its layouts before, in and after it.
pub(super) fn render_pass(
    scene: &Scene<'_>,
    (load, store): (Load, Store),
    [from, within, to]: [Layout; 3],
) -> vk::RenderPass {
    let attachments = [vk::AttachmentDescription::default()
        .format(vk::Format::R32_UINT)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(load)
        .store_op(store)
        .initial_layout(from)
        .final_layout(to)];
    let colors = [vk::AttachmentReference::default().layout(within)];
    let subpasses = [vk::SubpassDescription::default().color_attachments(&colors)];
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments);
    scene.rig.create(&info.subpasses(&subpasses))
}

/// A pass clears `x` in a layout and brings it to `GENERAL`; a dispatch reads it after a barrier.
pub(super) fn read_after_pass(scene: &Scene<'_>, within: Layout, from: Side) {
    let layouts = [Layout::UNDEFINED, within, Layout::GENERAL];
    let pass = render_pass(scene, (Load::CLEAR, Store::STORE), layouts);
    scene.pass(pass, vk::SubpassContents::INLINE, |_| ());
    scene.memory(from, CS_READ);
    scene.read_image(scene.x);
}

/// A subpass writes `x` as a color attachment, the next one reads it as an input attachment.
pub(super) fn two_subpasses(scene: &Scene<'_>, store: Store) {
    let attachments = [vk::AttachmentDescription::default()
        .format(vk::Format::R32_UINT)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(Load::CLEAR)
        .store_op(store)
        .initial_layout(Layout::GENERAL)
        .final_layout(Layout::GENERAL)];
    let uses = [vk::AttachmentReference::default().layout(Layout::GENERAL)];
    let subpasses = [
        vk::SubpassDescription::default().color_attachments(&uses),
        vk::SubpassDescription::default().input_attachments(&uses),
    ];
    let dependencies = [vk::SubpassDependency::default()
        .src_subpass(0)
        .dst_subpass(1)
        .src_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
        .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags::FRAGMENT_SHADER)
        .dst_access_mask(vk::AccessFlags::INPUT_ATTACHMENT_READ)
        .dependency_flags(vk::DependencyFlags::BY_REGION)];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    let pass = scene.rig.create(&info);
    scene.transition(scene.x, NOTHING, COLOR_WRITE);
    scene.pass(pass, vk::SubpassContents::INLINE, |_| {
        scene.draw(pass, 0);
        // SAFETY: Recording a pass with two subpasses.
        unsafe {
            scene
                .rig
                .device
                .cmd_next_subpass(scene.commands, vk::SubpassContents::INLINE)
        };
        scene.draw(pass, 1);
    });
}

/// Dynamic rendering resolves depth into an image in ordinary memory that another one shares; a dispatch reads it after a barrier.
pub(super) fn read_resolved_depth(scene: &Scene<'_>, from: Side) {
    use vk::ImageUsageFlags as U;
    let (rig, format, aspect) = (scene.rig, vk::Format::D32_SFLOAT, vk::ImageAspectFlags::DEPTH);
    let usage = U::DEPTH_STENCIL_ATTACHMENT | U::SAMPLED;
    let image = |samples| rig.create(&rig::image_info(format, SIDE, usage).samples(samples));
    let (source, target, alias): (vk::Image, vk::Image, vk::Image) = (
        image(vk::SampleCountFlags::TYPE_4),
        image(vk::SampleCountFlags::TYPE_1),
        image(vk::SampleCountFlags::TYPE_1),
    );
    let memory = rig.memory_for(&rig.image_needs(target).0);
    rig.bind_image(target, memory, 0);
    rig.bind_image(alias, memory, 0);
    rig.bind_image(source, rig.memory_for(&rig.image_needs(source).0), 0);
    let view = |image| rig.create(&rig::view_info(image, format, aspect));
    let (source, target) = ((source, view(source)), (target, view(target)));
    let to: Side = (DEPTH_WRITE.0 | COLOR_WRITE.0, DEPTH_WRITE.1 | COLOR_WRITE.1);
    let barriers = [source, target].map(|image| {
        transition(image, Layout::GENERAL, NOTHING, to).subresource_range(rig::whole_image(aspect))
    });
    scene.depend(&vk::DependencyInfo::default().image_memory_barriers(&barriers));
    let depth = vk::RenderingAttachmentInfo::default()
        .image_view(source.1)
        .image_layout(Layout::GENERAL)
        .load_op(Load::CLEAR)
        .store_op(Store::DONT_CARE)
        .resolve_mode(vk::ResolveModeFlags::SAMPLE_ZERO)
        .resolve_image_view(target.1)
        .resolve_image_layout(Layout::GENERAL);
    let info = vk::RenderingInfo::default()
        .render_area(rig::area(SIDE, SIDE))
        .layer_count(1)
        .depth_attachment(&depth);
    // SAFETY: Recording, outside render passes; views of this device.
    unsafe { rig.device.cmd_begin_rendering(scene.commands, &info) };
    // SAFETY: As above.
    unsafe { rig.device.cmd_end_rendering(scene.commands) };
    scene.memory(from, (S::COMPUTE_SHADER, A::SHADER_SAMPLED_READ));
    let source = FETCH.replace("utexture", "texture");
    let sampled = Descriptor::Image(vk::DescriptorType::SAMPLED_IMAGE, target.1, Layout::GENERAL);
    scene.act(&source, &[sampled, Descriptor::buffer(scene.other)], 1);
}

/// Runs a secondary command buffer with an action command inside a pass, without inheriting tile memory.
pub(super) fn run_unbound_secondary(scene: &Scene<'_>, pass: vk::RenderPass, framebuffer: vk::Framebuffer) {
    let secondary = scene.rig.allocate_commands(vk::CommandBufferLevel::SECONDARY);
    let inheritance = vk::CommandBufferInheritanceInfo::default()
        .render_pass(pass)
        .framebuffer(framebuffer);
    use vk::CommandBufferUsageFlags as F;
    let info = vk::CommandBufferBeginInfo::default()
        .flags(F::RENDER_PASS_CONTINUE | F::SIMULTANEOUS_USE)
        .inheritance_info(&inheritance);
    scene.rig.record_into(secondary, &info, |secondary| {
        let clear = [vk::ClearAttachment::default().aspect_mask(vk::ImageAspectFlags::COLOR)];
        let rects = [vk::ClearRect::default()
            .rect(rig::area(SIDE, SIDE))
            .layer_count(1)];
        // SAFETY: Recording, inside the pass of the inheritance.
        unsafe { scene.rig.device.cmd_clear_attachments(secondary, &clear, &rects) };
    });
    scene.rig.execute(scene.commands, secondary);
}

/// A pass writes an image with depth and stencil, of which it stores only depth; a dispatch reads one aspect of it.
pub(super) fn read_aspect(scene: &Scene<'_>, aspect: vk::ImageAspectFlags) {
    use vk::ImageAspectFlags as Aspects;
    let (rig, format) = (scene.rig, vk::Format::D24_UNORM_S8_UINT);
    let (both, usage) = (
        Aspects::DEPTH | Aspects::STENCIL,
        vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::SAMPLED,
    );
    let image = rig.create(&rig::image_info(format, SIDE, usage | rig::TILE));
    rig.bind_image(image, scene.object, 8 * IMAGES);
    let view = |aspects| rig.create(&rig::view_info(image, format, aspects));
    let barrier = transition((image, view(both)), Layout::GENERAL, NOTHING, DEPTH_WRITE);
    let barriers = [barrier.subresource_range(rig::whole_image(both))];
    scene.depend(&vk::DependencyInfo::default().image_memory_barriers(&barriers));
    let attachment = vk::RenderingAttachmentInfo::default()
        .image_view(view(both))
        .image_layout(Layout::GENERAL);
    let depth = attachment.load_op(Load::CLEAR).store_op(Store::STORE);
    let stencil = attachment.load_op(Load::CLEAR).store_op(Store::DONT_CARE);
    let info = vk::RenderingInfo::default()
        .render_area(rig::area(SIDE, SIDE))
        .layer_count(1)
        .depth_attachment(&depth)
        .stencil_attachment(&stencil);
    // SAFETY: Recording, outside render passes; a view of this device.
    unsafe { rig.device.cmd_begin_rendering(scene.commands, &info) };
    // SAFETY: As above.
    unsafe { rig.device.cmd_end_rendering(scene.commands) };
    scene.memory(DEPTH_WRITE, (S::COMPUTE_SHADER, A::SHADER_SAMPLED_READ));
    let source = match aspect {
        Aspects::DEPTH => FETCH.replace("utexture", "texture"),
        _ => FETCH.to_owned(),
    };
    let sampled = Descriptor::Image(vk::DescriptorType::SAMPLED_IMAGE, view(aspect), Layout::GENERAL);
    scene.act(&source, &[sampled, Descriptor::buffer(scene.other)], 1);
}
