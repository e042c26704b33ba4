//! The rest of the application: shaders, pipelines, descriptors, a pass of the second kind, and a secondary command buffer in it.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::sync::LazyLock;

use ash::vk;
use tileheap_device::ffi;

use crate::driver::Any;
use crate::glsl;
use crate::program::{FORMAT, Owned};

static WORDS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let source = "layout(local_size_x = 64) in;
        layout(set = 0, binding = 0, std430) buffer Data { uint data[]; };
        void main() { data[gl_GlobalInvocationID.x] = 7; }";
    glsl::compile(tileheap_testkit::glsl::Stage::Compute, source, 3)
});

impl Owned {
    /// A dispatch that writes to the first tile buffer, and a secondary command buffer in a pass over the first tile image.
    pub(crate) fn run_shaders(&mut self, queue: vk::Queue, p_next: Any) -> Result<(), vk::Result> {
        let (instance, device) = (
            self.instance.clone().expect("created"),
            self.device.clone().expect("created"),
        );
        let tile = ffi::tile_memory_heap::Device::new(&instance, &device).expect("vkCmdBindTileMemoryQCOM");
        let (pipeline, layout, sets) = self.create_pipeline(&device, p_next)?;
        let (pass, framebuffer) = self.create_pass2(&device, p_next)?;
        let bind = ffi::TileMemoryBindInfoQCOM::default().memory(self.memory[0]);
        // SAFETY: Handles of this device, and recording as Vulkan wants it; `Owned` waits before it destroys.
        unsafe {
            let secondary = self.allocate(vk::CommandBufferLevel::SECONDARY, p_next)?;
            let mut inherited = bind;
            inherited.p_next = p_next;
            let mut inheritance = vk::CommandBufferInheritanceInfo::default()
                .render_pass(pass)
                .framebuffer(framebuffer);
            inheritance.p_next = (&raw const inherited).cast();
            let info = vk::CommandBufferBeginInfo {
                p_next,
                ..vk::CommandBufferBeginInfo::default()
                    .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
                    .inheritance_info(&inheritance)
            };
            device.begin_command_buffer(secondary, &info)?;
            let clear = [vk::ClearAttachment::default().aspect_mask(vk::ImageAspectFlags::COLOR)];
            let area = vk::Rect2D::default().extent(vk::Extent2D {
                width: 64,
                height: 64,
            });
            let rects = [vk::ClearRect::default().rect(area).layer_count(1)];
            device.cmd_clear_attachments(secondary, &clear, &rects);
            device.end_command_buffer(secondary)?;

            let commands = self.allocate(vk::CommandBufferLevel::PRIMARY, p_next)?;
            let info = vk::CommandBufferBeginInfo {
                p_next,
                ..Default::default()
            };
            device.begin_command_buffer(commands, &info)?;
            tile.cmd_bind_tile_memory(commands, Some(&bind));
            let point = vk::PipelineBindPoint::COMPUTE;
            device.cmd_bind_pipeline(commands, point, pipeline);
            for set in &sets {
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[*set], &[]);
                device.cmd_dispatch(commands, 1, 1, 1);
            }
            let mut info = vk::RenderPassBeginInfo::default()
                .render_pass(pass)
                .framebuffer(framebuffer)
                .render_area(area);
            info.p_next = p_next;
            let mut contents =
                vk::SubpassBeginInfo::default().contents(vk::SubpassContents::SECONDARY_COMMAND_BUFFERS);
            contents.p_next = p_next;
            device.cmd_begin_render_pass2(commands, &info, &contents);
            device.cmd_execute_commands(commands, &[secondary]);
            device.cmd_end_render_pass2(commands, &vk::SubpassEndInfo::default());
            device.end_command_buffer(commands)?;
            let all = [commands];
            let info = vk::SubmitInfo::default().command_buffers(&all);
            device.queue_submit(queue, &[info], vk::Fence::null())?;
            device.queue_wait_idle(queue)?;
            device.reset_descriptor_pool(self.set_pools[0], vk::DescriptorPoolResetFlags::empty())
        }
    }

    /// A compute pipeline, and three sets of the first tile buffer: written, copied, and written by a template.
    fn create_pipeline(
        &mut self,
        device: &ash::Device,
        p_next: Any,
    ) -> Result<(vk::Pipeline, vk::PipelineLayout, Vec<vk::DescriptorSet>), vk::Result> {
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        // SAFETY: Valid create infos, and handles of this device.
        unsafe {
            let mut info = vk::ShaderModuleCreateInfo::default().code(&WORDS);
            info.p_next = p_next;
            let module = device.create_shader_module(&info, None)?;
            self.modules.push(module);
            let bindings = [vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)];
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = device.create_descriptor_set_layout(&info, None)?;
            self.set_layouts.push(set_layout);
            let set_layouts = [set_layout; 3];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts[..1]);
            let layout = device.create_pipeline_layout(&info, None)?;
            self.layouts.push(layout);
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let mut info = vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(layout);
            info.p_next = p_next;
            // Where it fails, the handle is what the driver left there: nothing that may be read.
            let mut pipeline = vk::Pipeline::null();
            let create = device.fp_v1_0().create_compute_pipelines;
            let none = (vk::PipelineCache::null(), std::ptr::null());
            create(device.handle(), none.0, 1, &info, none.1, &mut pipeline).result()?;
            self.pipelines.push(pipeline);

            let sizes = [vk::DescriptorPoolSize {
                ty: kind,
                descriptor_count: 3,
            }];
            let mut info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(3)
                .pool_sizes(&sizes);
            info.p_next = p_next;
            let pool = device.create_descriptor_pool(&info, None)?;
            self.set_pools.push(pool);
            let mut info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&set_layouts);
            info.p_next = p_next;
            let sets = device.allocate_descriptor_sets(&info)?;
            let entries = [vk::DescriptorUpdateTemplateEntry {
                descriptor_count: 1,
                descriptor_type: kind,
                ..Default::default()
            }];
            let mut info = vk::DescriptorUpdateTemplateCreateInfo::default()
                .descriptor_update_entries(&entries)
                .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
                .descriptor_set_layout(set_layout);
            info.p_next = p_next;
            let template = device.create_descriptor_update_template(&info, None)?;
            self.templates.push(template);
            let buffers = [vk::DescriptorBufferInfo {
                buffer: self.buffers[0],
                offset: 0,
                range: vk::WHOLE_SIZE,
            }];
            let mut write = vk::WriteDescriptorSet::default()
                .dst_set(sets[0])
                .descriptor_type(kind)
                .buffer_info(&buffers);
            write.p_next = p_next;
            device.update_descriptor_sets(&[write], &[]);
            let copy = vk::CopyDescriptorSet {
                p_next,
                src_set: sets[0],
                dst_set: sets[1],
                descriptor_count: 1,
                ..Default::default()
            };
            device.update_descriptor_sets(&[], &[copy]);
            device.update_descriptor_set_with_template(sets[2], template, buffers.as_ptr().cast());
            Ok((pipeline, layout, sets))
        }
    }

    /// A pass of the second kind over the first tile image, which clears it, and a framebuffer for it.
    fn create_pass2(
        &mut self,
        device: &ash::Device,
        p_next: Any,
    ) -> Result<(vk::RenderPass, vk::Framebuffer), vk::Result> {
        let attachments = [vk::AttachmentDescription2 {
            p_next,
            format: FORMAT,
            samples: vk::SampleCountFlags::TYPE_1,
            load_op: vk::AttachmentLoadOp::DONT_CARE,
            store_op: vk::AttachmentStoreOp::STORE,
            final_layout: vk::ImageLayout::GENERAL,
            ..Default::default()
        }];
        let references = [vk::AttachmentReference2 {
            p_next,
            layout: vk::ImageLayout::GENERAL,
            aspect_mask: vk::ImageAspectFlags::COLOR,
            ..Default::default()
        }];
        let mut subpass = vk::SubpassDescription2::default().color_attachments(&references);
        subpass.p_next = p_next;
        let subpasses = [subpass];
        let mut info = vk::RenderPassCreateInfo2::default()
            .attachments(&attachments)
            .subpasses(&subpasses);
        info.p_next = p_next;
        // SAFETY: Valid create infos, and handles of this device.
        unsafe {
            let pass = device.create_render_pass2(&info, None)?;
            self.passes.push(pass);
            let mut info = vk::FramebufferCreateInfo::default()
                .render_pass(pass)
                .attachments(&self.image_views[..1])
                .width(64)
                .height(64)
                .layers(1);
            info.p_next = p_next;
            let framebuffer = device.create_framebuffer(&info, None)?;
            self.framebuffers.push(framebuffer);
            Ok((pass, framebuffer))
        }
    }
}
