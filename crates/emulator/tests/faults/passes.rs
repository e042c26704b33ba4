//! The application renders: a graphics pipeline in dynamic rendering, inline and by a secondary command buffer, with descriptors
//! pushed in each way there is; and it makes a ray tracing pipeline.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::sync::LazyLock;

use ash::vk;
use tileheap_device::ffi;

use crate::driver::Any;
use crate::glsl;
use crate::program::{FORMAT, Owned};

static VERTICES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let source = "void main() { gl_Position = vec4(gl_VertexIndex & 1, gl_VertexIndex >> 1, 0.0, 1.0); }";
    glsl::compile(tileheap_testkit::glsl::Stage::Vertex, source, 3)
});

static PIXELS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let source = "layout(set = 0, binding = 0, std430) readonly buffer Data { uint data[]; };
        layout(location = 0) out vec4 color;
        void main() { color = vec4(float(data[0])); }";
    glsl::compile(tileheap_testkit::glsl::Stage::Fragment, source, 3)
});

const KIND: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;

/// A graphics pipeline, and how descriptors are pushed for it.
struct Painter {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    template: vk::DescriptorUpdateTemplate,
}

impl Owned {
    /// Two passes over the first tile image: one by a secondary command buffer, one inline.
    pub(crate) fn run_passes(&mut self, queue: vk::Queue, p_next: Any) -> Result<(), vk::Result> {
        let (instance, device) = (
            self.instance.clone().expect("created"),
            self.device.clone().expect("created"),
        );
        let painter = self.create_painter(&device, p_next)?;
        self.create_rays(&instance, &device, p_next)?;
        let tile = ffi::tile_memory_heap::Device::new(&instance, &device).expect("vkCmdBindTileMemoryQCOM");
        let pushes = ash::khr::push_descriptor::Device::new(&instance, &device);
        let bind = ffi::TileMemoryBindInfoQCOM::default().memory(self.memory[0]);
        let buffers = [vk::DescriptorBufferInfo {
            buffer: self.buffers[0],
            offset: 0,
            range: vk::WHOLE_SIZE,
        }];
        let mut write = vk::WriteDescriptorSet::default()
            .descriptor_type(KIND)
            .buffer_info(&buffers);
        write.p_next = p_next;
        let extent = vk::Extent2D {
            width: 64,
            height: 64,
        };
        let area = vk::Rect2D::default().extent(extent);
        let formats = [FORMAT];
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: Handles of this device, and recording as Vulkan wants it; `Owned` waits before it destroys.
        unsafe {
            let secondary = self.allocate(vk::CommandBufferLevel::SECONDARY, p_next)?;
            let mut inherited = bind;
            inherited.p_next = p_next;
            let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
                .color_attachment_formats(&formats)
                .rasterization_samples(vk::SampleCountFlags::TYPE_1);
            rendering.p_next = (&raw const inherited).cast();
            let inheritance = vk::CommandBufferInheritanceInfo {
                p_next: (&raw const rendering).cast(),
                ..Default::default()
            };
            let info = vk::CommandBufferBeginInfo {
                p_next,
                ..vk::CommandBufferBeginInfo::default()
                    .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
                    .inheritance_info(&inheritance)
            };
            device.begin_command_buffer(secondary, &info)?;
            device.cmd_bind_pipeline(secondary, point, painter.pipeline);
            pushes.cmd_push_descriptor_set(secondary, point, painter.layout, 0, &[write]);
            device.cmd_draw(secondary, 3, 1, 0, 0);
            device.end_command_buffer(secondary)?;

            let commands = self.allocate(vk::CommandBufferLevel::PRIMARY, p_next)?;
            let info = vk::CommandBufferBeginInfo {
                p_next,
                ..Default::default()
            };
            device.begin_command_buffer(commands, &info)?;
            for by_secondary in [true, false] {
                // After secondaries nothing is known to be bound.
                tile.cmd_bind_tile_memory(commands, Some(&bind));
                let colors = [vk::RenderingAttachmentInfo {
                    p_next,
                    image_view: self.image_views[0],
                    image_layout: vk::ImageLayout::GENERAL,
                    load_op: vk::AttachmentLoadOp::CLEAR,
                    store_op: vk::AttachmentStoreOp::DONT_CARE,
                    ..Default::default()
                }];
                let mut size = ffi::TileMemorySizeInfoQCOM::default().size(4096);
                size.p_next = p_next;
                let mut info = vk::RenderingInfo::default()
                    .render_area(area)
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
                    device.cmd_bind_pipeline(commands, point, painter.pipeline);
                    let data = buffers.as_ptr().cast();
                    pushes.cmd_push_descriptor_set_with_template(
                        commands,
                        painter.template,
                        painter.layout,
                        0,
                        data,
                    );
                    device.cmd_draw(commands, 3, 1, 0, 0);
                }
                device.cmd_end_rendering(commands);
            }
            device.end_command_buffer(commands)?;
            let info = vk::CommandBufferSubmitInfo {
                p_next,
                command_buffer: commands,
                ..Default::default()
            };
            let infos = [info];
            let mut info = vk::SubmitInfo2::default().command_buffer_infos(&infos);
            info.p_next = p_next;
            device.queue_submit2(queue, &[info], vk::Fence::null())?;
            device.queue_wait_idle(queue)
        }
    }

    fn create_painter(&mut self, device: &ash::Device, p_next: Any) -> Result<Painter, vk::Result> {
        // SAFETY: Valid create infos, and handles of this device.
        unsafe {
            let bindings = [vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(KIND)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
            let info = vk::DescriptorSetLayoutCreateInfo::default()
                .flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
                .bindings(&bindings);
            let set_layouts = [device.create_descriptor_set_layout(&info, None)?];
            self.set_layouts.extend(set_layouts);
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
            let layout = device.create_pipeline_layout(&info, None)?;
            self.layouts.push(layout);
            let entries = [vk::DescriptorUpdateTemplateEntry {
                descriptor_count: 1,
                descriptor_type: KIND,
                ..Default::default()
            }];
            let mut info = vk::DescriptorUpdateTemplateCreateInfo::default()
                .descriptor_update_entries(&entries)
                .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
                .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
                .pipeline_layout(layout);
            info.p_next = p_next;
            let template = device.create_descriptor_update_template(&info, None)?;
            self.templates.push(template);
            let mut stages = Vec::new();
            for (stage, words) in [
                (vk::ShaderStageFlags::VERTEX, &*VERTICES),
                (vk::ShaderStageFlags::FRAGMENT, &*PIXELS),
            ] {
                let mut info = vk::ShaderModuleCreateInfo::default().code(words);
                info.p_next = p_next;
                let module = device.create_shader_module(&info, None)?;
                self.modules.push(module);
                let stage = vk::PipelineShaderStageCreateInfo::default().stage(stage);
                stages.push(stage.module(module).name(c"main"));
            }
            let vertices = vk::PipelineVertexInputStateCreateInfo::default();
            let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
                .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
            let viewports = [vk::Viewport {
                width: 64.0,
                height: 64.0,
                max_depth: 1.0,
                ..Default::default()
            }];
            let areas = [vk::Rect2D::default().extent(vk::Extent2D {
                width: 64,
                height: 64,
            })];
            let viewport = vk::PipelineViewportStateCreateInfo::default()
                .viewports(&viewports)
                .scissors(&areas);
            let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
            let samples = vk::PipelineMultisampleStateCreateInfo::default()
                .rasterization_samples(vk::SampleCountFlags::TYPE_1);
            let attachments = [vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(vk::ColorComponentFlags::RGBA)];
            let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
            let formats = [FORMAT];
            let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
            rendering.p_next = p_next;
            let mut info = vk::GraphicsPipelineCreateInfo::default()
                .stages(&stages)
                .vertex_input_state(&vertices)
                .input_assembly_state(&assembly)
                .viewport_state(&viewport)
                .rasterization_state(&raster)
                .multisample_state(&samples)
                .color_blend_state(&blend)
                .layout(layout);
            info.p_next = (&raw const rendering).cast();
            // Where it fails, the handle is what the driver left there: nothing that may be read.
            let mut pipeline = vk::Pipeline::null();
            let create = device.fp_v1_0().create_graphics_pipelines;
            let none = (vk::PipelineCache::null(), std::ptr::null());
            create(device.handle(), none.0, 1, &info, none.1, &mut pipeline).result()?;
            self.pipelines.push(pipeline);
            Ok(Painter {
                pipeline,
                layout,
                template,
            })
        }
    }

    /// Two ray tracing pipelines, of which the second may fail where the first is made.
    fn create_rays(
        &mut self,
        instance: &ash::Instance,
        device: &ash::Device,
        p_next: Any,
    ) -> Result<(), vk::Result> {
        let rays = ash::khr::ray_tracing_pipeline::Device::new(instance, device);
        let stages = [vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::RAYGEN_KHR)
            .module(self.modules[0])
            .name(c"main")];
        let mut info = vk::RayTracingPipelineCreateInfoKHR::default()
            .stages(&stages)
            .layout(self.layouts[0]);
        info.p_next = p_next;
        let mut pipelines = [vk::Pipeline::null(); 2];
        // SAFETY: Valid create infos, and handles of this device; the driver looks at none of it.
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
        self.pipelines
            .extend(pipelines.iter().filter(|made| **made != vk::Pipeline::null()));
        made.result()
    }
}
