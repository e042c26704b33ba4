//! Rendering by the application: a graphics pipeline in dynamic rendering, inline and by a secondary command buffer, with descriptors pushed by each
//! command that can push them; and creation of a ray tracing pipeline.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::sync::LazyLock;

use ash::prelude::VkResult;
use ash::vk;
use tileheap_device::ffi;
use tileheap_testkit::glsl::{Stage, compile};
use tileheap_testkit::objects::{area, stage, with_triangles};

use crate::program::{FORMAT, Owned, SIDE};

static VERTICES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let source = "void main() { gl_Position = vec4(gl_VertexIndex & 1, gl_VertexIndex >> 1, 0.0, 1.0); }";
    compile(Stage::Vertex, source, 3)
});

static PIXELS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let source = "layout(set = 0, binding = 0, std430) readonly buffer Data { uint data[]; };
        layout(location = 0) out vec4 color;
        void main() { color = vec4(float(data[0])); }";
    compile(Stage::Fragment, source, 3)
});

const KIND: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;
const POINT: vk::PipelineBindPoint = vk::PipelineBindPoint::GRAPHICS;

/// A graphics pipeline, and the way in which descriptors are pushed for it.
struct Painter {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    template: vk::DescriptorUpdateTemplate,
}

impl Owned {
    /// Two passes over the first tile image: one by a secondary command buffer, one inline.
    pub(crate) fn run_passes(&self, queue: vk::Queue) -> VkResult<()> {
        let painter = self.make_painter()?;
        let [secondary] = self.allocate(vk::CommandBufferLevel::SECONDARY)?;
        let [commands] = self.allocate(vk::CommandBufferLevel::PRIMARY)?;
        let (tile, (instance, device)) = (self.tile(), self.handles());
        let pushes = ash::khr::push_descriptor::Device::new(instance, device);
        let bind = ffi::TileMemoryBindInfoQCOM::default().memory(self.memory);
        let buffers = [vk::DescriptorBufferInfo::default()
            .buffer(self.buffers[0])
            .range(vk::WHOLE_SIZE)];
        let write = vk::WriteDescriptorSet::default().descriptor_type(KIND);
        let write = self.chained(write.buffer_info(&buffers));
        self.begin_inside(secondary, |inherited| {
            let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
                .color_attachment_formats(&[FORMAT])
                .rasterization_samples(vk::SampleCountFlags::TYPE_1);
            rendering.p_next = inherited;
            (vk::CommandBufferInheritanceInfo::default(), Some(rendering))
        })?;
        // SAFETY: Handles of this device, and recording by Vulkan's rules; `Owned` waits before it destroys.
        unsafe {
            device.cmd_bind_pipeline(secondary, POINT, painter.pipeline);
            pushes.cmd_push_descriptor_set(secondary, POINT, painter.layout, 0, &[write]);
            device.cmd_draw(secondary, 3, 1, 0, 0);
            device.end_command_buffer(secondary)?;

            self.begin(commands)?;
            for by_secondary in [true, false] {
                // After secondaries the binding is unknown.
                tile.cmd_bind_tile_memory(commands, Some(&bind));
                let color = vk::RenderingAttachmentInfo::default()
                    .image_view(self.view)
                    .image_layout(vk::ImageLayout::GENERAL)
                    .load_op(vk::AttachmentLoadOp::CLEAR)
                    .store_op(vk::AttachmentStoreOp::DONT_CARE);
                let colors = [self.chained(color)];
                let size = self.chained(ffi::TileMemorySizeInfoQCOM::default().size(4096));
                let mut info = vk::RenderingInfo::default()
                    .render_area(area(SIDE, SIDE))
                    .layer_count(1)
                    .color_attachments(&colors);
                info.p_next = (&raw const size).cast();
                if by_secondary {
                    info.flags = vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
                }
                device.cmd_begin_rendering(commands, &info);
                if by_secondary {
                    device.cmd_execute_commands(commands, &[secondary]);
                } else {
                    let Painter {
                        pipeline,
                        layout,
                        template,
                    } = painter;
                    device.cmd_bind_pipeline(commands, POINT, pipeline);
                    let data = buffers.as_ptr().cast();
                    pushes.cmd_push_descriptor_set_with_template(commands, template, layout, 0, data);
                    device.cmd_draw(commands, 3, 1, 0, 0);
                }
                device.cmd_end_rendering(commands);
            }
            device.end_command_buffer(commands)?;
        }
        self.submit2(queue, &[commands])
    }

    fn make_painter(&self) -> VkResult<Painter> {
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(KIND)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
        let info = vk::DescriptorSetLayoutCreateInfo::default()
            .flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
            .bindings(&bindings);
        let set_layouts = [self.make(info)?];
        let layout = self.make(vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts))?;
        let entries = [vk::DescriptorUpdateTemplateEntry::default()
            .descriptor_count(1)
            .descriptor_type(KIND)];
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(&entries)
            .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
            .pipeline_bind_point(POINT)
            .pipeline_layout(layout);
        let template = self.make(info)?;
        let modules = [
            self.make(vk::ShaderModuleCreateInfo::default().code(&VERTICES))?,
            self.make(vk::ShaderModuleCreateInfo::default().code(&PIXELS))?,
        ];
        let rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&[FORMAT]);
        let rendering = self.chained(rendering);
        let masks = [vk::ColorComponentFlags::RGBA];
        let pipeline = with_triangles(modules, [area(SIDE, SIDE); 2], &masks, |info| {
            let mut info = info.layout(layout);
            info.p_next = (&raw const rendering).cast();
            self.make_as_is(&info)
        })?;
        self.make_rays(modules[0], layout)?;
        Ok(Painter {
            pipeline,
            layout,
            template,
        })
    }

    /// Creates two ray tracing pipelines; the second may fail after the first was created.
    fn make_rays(&self, module: vk::ShaderModule, layout: vk::PipelineLayout) -> VkResult<()> {
        let (instance, device) = self.handles();
        let rays = ash::khr::ray_tracing_pipeline::Device::new(instance, device);
        let stages = [stage(vk::ShaderStageFlags::RAYGEN_KHR, module)];
        let info = vk::RayTracingPipelineCreateInfoKHR::default().stages(&stages);
        let info = self.chained(info.layout(layout));
        let mut pipelines = [vk::Pipeline::null(); 2];
        // SAFETY: Valid create infos, and handles of this device; the driver does not read them.
        let made = unsafe {
            (rays.fp().create_ray_tracing_pipelines_khr)(
                device.handle(),
                vk::DeferredOperationKHR::null(),
                vk::PipelineCache::null(),
                2,
                [info; 2].as_ptr(),
                std::ptr::null(),
                pipelines.as_mut_ptr(),
            )
        };
        for pipeline in pipelines.into_iter().filter(|made| *made != vk::Pipeline::null()) {
            self.keep(pipeline);
        }
        made.result()
    }
}
