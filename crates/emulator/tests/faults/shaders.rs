//! The rest of the application: shaders, pipelines, descriptors, a pass by `vkCmdBeginRenderPass2`, and a secondary command buffer in it.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::sync::LazyLock;

use ash::prelude::VkResult;
use ash::vk;
use tileheap_device::ffi;
use tileheap_testkit::glsl::{Stage, compile};
use tileheap_testkit::objects::{area, stage};

use crate::program::{FORMAT, Owned, SIDE};

static WORDS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let source = "layout(local_size_x = 64) in;
        layout(set = 0, binding = 0, std430) buffer Data { uint data[]; };
        void main() { data[gl_GlobalInvocationID.x] = 7; }";
    compile(Stage::Compute, source, 3)
});

const KIND: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;

impl Owned {
    /// A dispatch that writes to the first tile buffer, and a secondary command buffer in a pass over the first tile image.
    pub(crate) fn run_shaders(&self, queue: vk::Queue) -> VkResult<()> {
        let (pipeline, layout, pool, sets) = self.make_pipeline()?;
        let (pass, framebuffer) = self.make_pass2()?;
        let [secondary] = self.allocate(vk::CommandBufferLevel::SECONDARY)?;
        let [commands] = self.allocate(vk::CommandBufferLevel::PRIMARY)?;
        let (tile, device) = (self.tile(), self.handles().1);
        let all = area(SIDE, SIDE);
        self.begin_inside::<vk::CommandBufferInheritanceRenderingInfo<'_>>(secondary, |inherited| {
            let mut info = vk::CommandBufferInheritanceInfo::default()
                .render_pass(pass)
                .framebuffer(framebuffer);
            info.p_next = inherited;
            (info, None)
        })?;
        // SAFETY: Handles of this device, and recording by Vulkan's rules; `Owned` waits before it destroys.
        unsafe {
            let clear = [vk::ClearAttachment::default().aspect_mask(vk::ImageAspectFlags::COLOR)];
            let rects = [vk::ClearRect::default().rect(all).layer_count(1)];
            device.cmd_clear_attachments(secondary, &clear, &rects);
            device.end_command_buffer(secondary)?;

            self.begin(commands)?;
            let bind = ffi::TileMemoryBindInfoQCOM::default().memory(self.memory);
            tile.cmd_bind_tile_memory(commands, Some(&bind));
            let point = vk::PipelineBindPoint::COMPUTE;
            device.cmd_bind_pipeline(commands, point, pipeline);
            for set in sets {
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
                device.cmd_dispatch(commands, 1, 1, 1);
            }
            let info = vk::RenderPassBeginInfo::default()
                .render_pass(pass)
                .framebuffer(framebuffer)
                .render_area(all);
            let contents =
                vk::SubpassBeginInfo::default().contents(vk::SubpassContents::SECONDARY_COMMAND_BUFFERS);
            device.cmd_begin_render_pass2(commands, &self.chained(info), &self.chained(contents));
            device.cmd_execute_commands(commands, &[secondary]);
            device.cmd_end_render_pass2(commands, &vk::SubpassEndInfo::default());
            device.end_command_buffer(commands)?;
            self.submit(queue, &[commands])?;
            device.reset_descriptor_pool(pool, vk::DescriptorPoolResetFlags::empty())
        }
    }

    /// Creates a compute pipeline, and three sets of the first tile buffer: written, copied, and written by a template.
    #[allow(clippy::type_complexity, reason = "for the one caller")]
    fn make_pipeline(
        &self,
    ) -> VkResult<(
        vk::Pipeline,
        vk::PipelineLayout,
        vk::DescriptorPool,
        Vec<vk::DescriptorSet>,
    )> {
        let device = self.handles().1;
        let module = self.make(vk::ShaderModuleCreateInfo::default().code(&WORDS))?;
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(KIND)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let set_layout = self.make(vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings))?;
        let set_layouts = [set_layout; 3];
        let layout = self.make(vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts[..1]))?;
        let info = vk::ComputePipelineCreateInfo::default().layout(layout);
        let pipeline = self.make(info.stage(stage(vk::ShaderStageFlags::COMPUTE, module)))?;
        let sizes = [vk::DescriptorPoolSize::default().ty(KIND).descriptor_count(3)];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(3);
        let pool = self.make(info.pool_sizes(&sizes))?;
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool);
        let info = self.chained(info.set_layouts(&set_layouts));
        // SAFETY: A pool and layouts of this device.
        let sets = unsafe { device.allocate_descriptor_sets(&info) }?;
        let entries = [vk::DescriptorUpdateTemplateEntry::default()
            .descriptor_count(1)
            .descriptor_type(KIND)];
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(&entries)
            .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
            .descriptor_set_layout(set_layout);
        let template = self.make(info)?;
        let buffers = [vk::DescriptorBufferInfo::default()
            .buffer(self.buffers[0])
            .range(vk::WHOLE_SIZE)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(sets[0])
            .descriptor_type(KIND)
            .buffer_info(&buffers);
        let copy = vk::CopyDescriptorSet::default().src_set(sets[0]).dst_set(sets[1]);
        // SAFETY: New sets, whose resources are alive.
        unsafe {
            device.update_descriptor_sets(&[self.chained(write)], &[]);
            device.update_descriptor_sets(&[], &[self.chained(copy.descriptor_count(1))]);
            device.update_descriptor_set_with_template(sets[2], template, buffers.as_ptr().cast());
        }
        Ok((pipeline, layout, pool, sets))
    }

    /// Creates a pass by `vkCreateRenderPass2` over the first tile image, which clears it, and a framebuffer for it.
    fn make_pass2(&self) -> VkResult<(vk::RenderPass, vk::Framebuffer)> {
        let attachment = vk::AttachmentDescription2::default()
            .format(FORMAT)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::DONT_CARE)
            .store_op(vk::AttachmentStoreOp::STORE)
            .final_layout(vk::ImageLayout::GENERAL);
        let reference = vk::AttachmentReference2::default()
            .layout(vk::ImageLayout::GENERAL)
            .aspect_mask(vk::ImageAspectFlags::COLOR);
        let (attachments, references) = ([self.chained(attachment)], [self.chained(reference)]);
        let subpass = vk::SubpassDescription2::default().color_attachments(&references);
        let subpasses = [self.chained(subpass)];
        let info = vk::RenderPassCreateInfo2::default().attachments(&attachments);
        let pass = self.make(info.subpasses(&subpasses))?;
        Ok((pass, self.make_framebuffer(pass)?))
    }
}
