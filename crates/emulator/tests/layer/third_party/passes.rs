//! Render passes: drawn to an attachment whose object is not bound, resolved to tile memory, run by secondaries with another size, and
//! declared with more than there is.

use ash::vk;
use tileheap_device::ffi;
use tileheap_device::ffi::{TileMemoryBindInfoQCOM, TileMemorySizeInfoQCOM};
use tileheap_testkit::glsl::Stage;

use super::suite::{Ask, Suite, commands_of, on_every_profile};

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const COLOR: vk::ImageUsageFlags = vk::ImageUsageFlags::COLOR_ATTACHMENT;
const TILE: vk::ImageUsageFlags = ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
const SIDE: u32 = 32;
const WHOLE: vk::Extent2D = vk::Extent2D {
    width: SIDE,
    height: SIDE,
};

/// Dynamic rendering by its extension, as on Vulkan 1.2.
const DYNAMIC: Ask<'_> = Ask {
    extensions: &[ash::khr::dynamic_rendering::NAME],
    dynamic_rendering: true,
    ..Ask::tile_memory(vk::API_VERSION_1_2)
};

const CORNERS: &str = "void main() {
    gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2.0 - 1.0, 0.0, 1.0);
}";
const GREEN: &str = "layout(location = 0) out vec4 color; void main() { color = vec4(0.0, 1.0, 0.0, 1.0); }";

impl Suite {
    /// A pipeline for one color attachment, of a render pass object or, without one, of dynamic rendering.
    fn pipeline(&self, pass: vk::RenderPass) -> vk::Pipeline {
        let stages = [
            (vk::ShaderStageFlags::VERTEX, self.module(Stage::Vertex, CORNERS)),
            (
                vk::ShaderStageFlags::FRAGMENT,
                self.module(Stage::Fragment, GREEN),
            ),
        ]
        .map(|(stage, module)| {
            vk::PipelineShaderStageCreateInfo::default()
                .stage(stage)
                .module(module)
                .name(c"main")
        });
        let input = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let viewports = [vk::Viewport {
            width: SIDE as f32,
            height: SIDE as f32,
            max_depth: 1.0,
            ..Default::default()
        }];
        let scissors = [vk::Rect2D::default().extent(WHOLE)];
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewports(&viewports)
            .scissors(&scissors);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let targets =
            [vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&targets);
        let formats = [FORMAT];
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        // SAFETY: Valid create infos of this device; destroyed idle.
        let layout = unsafe {
            let info = vk::PipelineLayoutCreateInfo::default();
            self.device.create_pipeline_layout(&info, None).expect("a layout")
        };
        // SAFETY: As above.
        self.made(layout, |device, layout| unsafe {
            device.destroy_pipeline_layout(layout, None)
        });
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .color_blend_state(&blend)
            .layout(layout)
            .render_pass(pass);
        if pass == vk::RenderPass::null() {
            info = info.push_next(&mut rendering);
        }
        // SAFETY: As above.
        let made = unsafe {
            self.device
                .create_graphics_pipelines(vk::PipelineCache::null(), &[info], None)
        };
        let pipeline = made.expect("a pipeline")[0];
        // SAFETY: As above.
        self.made(pipeline, |device, pipeline| unsafe {
            device.destroy_pipeline(pipeline, None)
        })
    }

    /// A tile image that is a color attachment, in an object of its own, and a view of it.
    fn tile_target(&self) -> vk::ImageView {
        let image = self.image(&Suite::image_info(COLOR | TILE, SIDE));
        self.bind_tile_image(image);
        self.view(image)
    }

    /// An ordinary color attachment of so many samples.
    fn target(&self, samples: vk::SampleCountFlags) -> vk::ImageView {
        let image = self.image(&Suite::image_info(COLOR, SIDE).samples(samples));
        let (needs, tile) = self.image_needs(image);
        assert_eq!(tile, (0, 0));
        let memory = self.allocate(needs.size, needs.memory_type_bits.trailing_zeros());
        // SAFETY: New, and made for each other.
        unsafe { self.device.bind_image_memory(image, memory, 0) }.expect("bound memory");
        self.view(image)
    }

    fn pass2(&self, info: &vk::RenderPassCreateInfo2<'_>) -> vk::RenderPass {
        // SAFETY: The tests' create infos are valid.
        let pass = unsafe { self.device.create_render_pass2(info, None) }.expect("a render pass");
        // SAFETY: Idle by then.
        self.made(pass, |device, pass| unsafe {
            device.destroy_render_pass(pass, None)
        })
    }

    fn framebuffer(&self, info: &vk::FramebufferCreateInfo<'_>) -> vk::Framebuffer {
        // SAFETY: The tests' create infos are valid.
        let framebuffer = unsafe { self.device.create_framebuffer(info, None) }.expect("a framebuffer");
        // SAFETY: Idle by then.
        self.made(framebuffer, |device, framebuffer| unsafe {
            device.destroy_framebuffer(framebuffer, None);
        })
    }
}

/// An attachment of a render pass that neither loads nor cares about its layout before.
fn attachment(samples: vk::SampleCountFlags) -> vk::AttachmentDescription2<'static> {
    vk::AttachmentDescription2::default()
        .format(FORMAT)
        .samples(samples)
        .load_op(vk::AttachmentLoadOp::DONT_CARE)
        .initial_layout(vk::ImageLayout::UNDEFINED)
        .final_layout(vk::ImageLayout::GENERAL)
}

/// In dynamic rendering, which loads what was never written, and in a render pass of two subpasses; a draw is what is wrong, once
/// in each, and neither the second subpass nor the end is ever recorded.
#[test]
fn a_draw_reaches_an_attachment_that_is_not_bound() {
    const WRONG_DRAW: [&str; 1] = ["VUID-vkCmdDraw-commandBuffer-10746"];
    on_every_profile(&DYNAMIC, |suite| {
        let view = suite.tile_target();
        let device = &suite.device;
        let dynamic = commands_of!(suite, khr::dynamic_rendering);
        let pipeline = suite.pipeline(vk::RenderPass::null());
        let targets = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)];
        let info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D::default().extent(WHOLE))
            .layer_count(1)
            .color_attachments(&targets);
        let commands = suite.begin();
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: Recording; wrong on purpose, and never submitted; so below.
        suite.expect(&[], |_| unsafe {
            dynamic.cmd_begin_rendering(commands, &info);
            device.cmd_bind_pipeline(commands, graphics, pipeline);
        });
        // SAFETY: As above.
        suite.expect(&WRONG_DRAW, |_| unsafe { device.cmd_draw(commands, 3, 1, 0, 0) });
        // A draw that validation stops is none for the emulator.
        let undrawn: &[&str] = if suite.stops() {
            &["TILEHEAP-attachment-unbound"]
        } else {
            &[]
        };
        // SAFETY: As above.
        suite.expect(undrawn, |_| unsafe { dynamic.cmd_end_rendering(commands) });

        let references = [vk::AttachmentReference2::default()
            .attachment(0)
            .layout(vk::ImageLayout::GENERAL)];
        let subpasses = [vk::SubpassDescription2::default().color_attachments(&references); 2];
        let attachments = [attachment(vk::SampleCountFlags::TYPE_1)];
        let info = vk::RenderPassCreateInfo2::default()
            .attachments(&attachments)
            .subpasses(&subpasses);
        let pass = suite.pass2(&info);
        let views = [view];
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(SIDE)
            .height(SIDE)
            .layers(1);
        let framebuffer = suite.framebuffer(&info);
        let pipeline = suite.pipeline(pass);
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(vk::Rect2D::default().extent(WHOLE));
        // SAFETY: As above.
        suite.expect(&[], |_| unsafe {
            device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(commands, graphics, pipeline);
        });
        // SAFETY: As above.
        suite.expect(&WRONG_DRAW, |_| unsafe { device.cmd_draw(commands, 3, 1, 0, 0) });
    });
}

/// Half of what the primary has, inherited behind another structure of the chain.
#[test]
fn a_secondary_inherits_another_size() {
    on_every_profile(&DYNAMIC, |suite| {
        let view = suite.target(vk::SampleCountFlags::TYPE_1);
        let dynamic = commands_of!(suite, khr::dynamic_rendering);
        let memory_type = suite.tile_type(u32::MAX, 1024);
        let [large, small] = [1024, 512].map(|size| suite.allocate(size, memory_type));
        let mut bound = TileMemoryBindInfoQCOM::default().memory(small);
        let formats = [FORMAT];
        let contents = vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
        let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
            .color_attachment_formats(&formats)
            .rasterization_samples(vk::SampleCountFlags::TYPE_1)
            .flags(contents);
        let inheritance = vk::CommandBufferInheritanceInfo::default()
            .push_next(&mut bound)
            .push_next(&mut rendering);
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
            .inheritance_info(&inheritance);
        let secondary = suite.allocate_commands(vk::CommandBufferLevel::SECONDARY);
        // SAFETY: Valid, and recording; so below.
        suite.expect(&[], |device| unsafe {
            device
                .begin_command_buffer(secondary, &begin)
                .expect("recording begins");
            device.end_command_buffer(secondary).expect("recorded");
        });
        let targets = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)];
        let info = vk::RenderingInfo::default()
            .flags(contents)
            .render_area(vk::Rect2D::default().extent(WHOLE))
            .layer_count(1)
            .color_attachments(&targets);
        let bind = TileMemoryBindInfoQCOM::default().memory(large);
        let commands = suite.begin();
        // SAFETY: As above.
        suite.expect(&[], |_| unsafe {
            suite.binder().cmd_bind_tile_memory(commands, Some(&bind));
            dynamic.cmd_begin_rendering(commands, &info);
        });
        // SAFETY: Wrong on purpose, and never submitted.
        suite.expect(&["VUID-vkCmdExecuteCommands-memory-10724"], |device| unsafe {
            device.cmd_execute_commands(commands, &[secondary]);
        });
    });
}

/// One byte more than the largest tile heap has, in a query and in render passes of both kinds.
#[test]
fn no_pass_declares_more_than_the_heap() {
    let ask = Ask {
        extensions: &[ffi::tile_properties::NAME, ash::khr::create_renderpass2::NAME],
        tile_properties: true,
        ..Ask::tile_memory(vk::API_VERSION_1_1)
    };
    const TOO_LARGE: [&str; 1] = ["VUID-VkTileMemorySizeInfoQCOM-size-10729"];
    on_every_profile(&ask, |suite| {
        let tiles = ffi::tile_properties::Device::new(&suite.instance, &suite.device).expect("the queries");
        let passes = commands_of!(suite, khr::create_renderpass2);
        let size = || TileMemorySizeInfoQCOM::default().size(suite.heap_size() + 1);
        let targets = [
            vk::RenderingAttachmentInfo::default().image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
        ];
        let one = vk::Extent2D { width: 1, height: 1 };
        let mut declared = size();
        let info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D::default().extent(one))
            .layer_count(1)
            .color_attachments(&targets)
            .push_next(&mut declared);
        let mut out = vk::TilePropertiesQCOM::default();
        // SAFETY: Wrong on purpose: it asks, and nothing more; so below.
        let asked = suite.expect(&TOO_LARGE, |_| unsafe {
            tiles.get_dynamic_rendering_tile_properties(&info, &mut out)
        });
        assert_eq!(asked.is_err(), suite.stops());

        let attachments = [attachment(vk::SampleCountFlags::TYPE_1).format(vk::Format::R8_UINT)];
        let references = [vk::AttachmentReference2::default().layout(vk::ImageLayout::GENERAL)];
        let subpasses = [vk::SubpassDescription2::default().color_attachments(&references)];
        let mut declared = size();
        let info = vk::RenderPassCreateInfo2::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .push_next(&mut declared);
        // SAFETY: As above.
        let made = suite.expect(&TOO_LARGE, |_| unsafe { passes.create_render_pass2(&info, None) });
        let first = attachments[0];
        let attachments = [vk::AttachmentDescription::default()
            .format(first.format)
            .samples(first.samples)
            .load_op(first.load_op)
            .initial_layout(first.initial_layout)
            .final_layout(first.final_layout)];
        let references = [vk::AttachmentReference::default().layout(vk::ImageLayout::GENERAL)];
        let subpasses = [vk::SubpassDescription::default().color_attachments(&references)];
        let mut declared = size();
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .push_next(&mut declared);
        // SAFETY: As above.
        let other = suite.expect(&TOO_LARGE, |device| unsafe {
            device.create_render_pass(&info, None)
        });
        for pass in [made, other] {
            assert_eq!(pass.is_err(), suite.stops());
            // SAFETY: New and unused; null is nothing.
            unsafe { suite.device.destroy_render_pass(pass.unwrap_or_default(), None) };
        }
    });
}

/// By dynamic rendering, by a framebuffer with views, and by one whose views come with the pass.
#[test]
fn nothing_is_resolved_to_tile_memory() {
    let ask = Ask {
        imageless_framebuffer: true,
        ..DYNAMIC
    };
    on_every_profile(&ask, |suite| {
        let samples = vk::SampleCountFlags::TYPE_4;
        let views = [suite.target(samples), suite.tile_target()];
        let dynamic = commands_of!(suite, khr::dynamic_rendering);
        let targets = [vk::RenderingAttachmentInfo::default()
            .image_view(views[0])
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .resolve_mode(vk::ResolveModeFlags::AVERAGE)
            .resolve_image_layout(vk::ImageLayout::GENERAL)
            .resolve_image_view(views[1])];
        let one = vk::Extent2D { width: 1, height: 1 };
        let info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D::default().extent(one))
            .layer_count(1)
            .color_attachments(&targets);
        let commands = suite.begin();
        let expected = ["VUID-VkRenderingAttachmentInfo-resolveImageView-10728"];
        // SAFETY: Recording; wrong on purpose, and never submitted; so below.
        suite.expect(&expected, |_| unsafe {
            dynamic.cmd_begin_rendering(commands, &info)
        });
        // SAFETY: As above; where the call was stopped no pass has begun.
        suite.expect(&[], |device| unsafe {
            if !suite.stops() {
                dynamic.cmd_end_rendering(commands);
            }
            device.end_command_buffer(commands).expect("recorded");
        });

        let reference = |index| {
            [vk::AttachmentReference2::default()
                .attachment(index)
                .layout(vk::ImageLayout::GENERAL)]
        };
        let (colors, resolves) = (reference(0), reference(1));
        let subpasses = [vk::SubpassDescription2::default()
            .color_attachments(&colors)
            .resolve_attachments(&resolves)];
        let attachments = [attachment(samples), attachment(vk::SampleCountFlags::TYPE_1)];
        let info = vk::RenderPassCreateInfo2::default()
            .attachments(&attachments)
            .subpasses(&subpasses);
        let pass = suite.pass2(&info);
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .width(SIDE)
            .height(SIDE)
            .layers(1);
        let with_views = info.attachments(&views);
        let expected = ["VUID-VkFramebufferCreateInfo-pAttachments-12327"];
        // SAFETY: Wrong on purpose; a driver makes it or refuses.
        let made = suite.expect(&expected, |device| unsafe {
            device.create_framebuffer(&with_views, None)
        });
        assert_eq!(made.is_err(), suite.stops());
        // SAFETY: New and unused; null is nothing.
        unsafe { suite.device.destroy_framebuffer(made.unwrap_or_default(), None) };

        let formats = [FORMAT];
        let images = [COLOR, COLOR | TILE].map(|usage| {
            vk::FramebufferAttachmentImageInfo::default()
                .usage(usage)
                .width(SIDE)
                .height(SIDE)
                .layer_count(1)
                .view_formats(&formats)
        });
        let mut later = vk::FramebufferAttachmentsCreateInfo::default().attachment_image_infos(&images);
        let mut info = info
            .flags(vk::FramebufferCreateFlags::IMAGELESS)
            .push_next(&mut later);
        info.attachment_count = 2;
        let framebuffer = suite.framebuffer(&info);
        let mut given = vk::RenderPassAttachmentBeginInfo::default().attachments(&views);
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(vk::Rect2D::default().extent(WHOLE))
            .push_next(&mut given);
        let commands = suite.begin();
        let expected = ["VUID-VkRenderPassBeginInfo-framebuffer-12328"];
        // SAFETY: Recording; wrong on purpose, and never submitted.
        suite.expect(&expected, |device| unsafe {
            device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
        });
    });
}
