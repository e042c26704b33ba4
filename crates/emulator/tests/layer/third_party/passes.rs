//! Render passes: draws to an attachment whose object is not bound, resolves to tile memory, and secondaries with another size.

use ash::vk;
use tileheap_device::ffi::TileMemoryBindInfoQCOM;
use tileheap_testkit::glsl::Stage;
use tileheap_testkit::objects::framebuffer_info;

use super::suite::{Ask, Suite, commands_of, on_every_profile};
use crate::rig::{TILE, area, image_info, with_triangles};

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const COLOR: vk::ImageUsageFlags = vk::ImageUsageFlags::COLOR_ATTACHMENT;
const SIDE: u32 = 32;
const OPTIMAL: vk::ImageLayout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;

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
    /// Creates a pipeline for one color attachment, of a render pass object or, without one, of dynamic rendering.
    fn pipeline(&self, pass: vk::RenderPass) -> vk::Pipeline {
        let modules = [
            self.module(Stage::Vertex, CORNERS),
            self.module(Stage::Fragment, GREEN),
        ];
        let layout = self.create(&vk::PipelineLayoutCreateInfo::default());
        let formats = [FORMAT];
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        let masks = [vk::ColorComponentFlags::RGBA];
        with_triangles(modules, [area(SIDE, SIDE); 2], &masks, |info| {
            let mut info = info.layout(layout).render_pass(pass);
            if pass == vk::RenderPass::null() {
                info = info.push_next(&mut rendering);
            }
            self.create(&info)
        })
    }

    /// Creates a tile image that is a color attachment, in a separate object, and a view of it.
    fn tile_target(&self) -> vk::ImageView {
        self.tile_view(&image_info(FORMAT, SIDE, COLOR | TILE))
    }

    /// Creates an ordinary color attachment with `samples`.
    fn target(&self, samples: vk::SampleCountFlags) -> vk::ImageView {
        self.ordinary_image(&image_info(FORMAT, SIDE, COLOR).samples(samples))
            .1
    }

    /// Records a draw to an unbound attachment: wrong on purpose, and never submitted.
    fn draw_wrong(&self, commands: vk::CommandBuffer) {
        // SAFETY: Recording a pass.
        self.expect(&["VUID-vkCmdDraw-commandBuffer-10746"], |device| unsafe {
            device.cmd_draw(commands, 3, 1, 0, 0);
        });
    }
}

/// Rendering to an area of these attachments.
fn rendering_to<'a>(targets: &'a [vk::RenderingAttachmentInfo<'_>], side: u32) -> vk::RenderingInfo<'a> {
    vk::RenderingInfo::default()
        .render_area(area(side, side))
        .layer_count(1)
        .color_attachments(targets)
}

/// An attachment of a render pass that neither loads nor needs its initial layout.
fn attachment(samples: vk::SampleCountFlags) -> vk::AttachmentDescription2<'static> {
    vk::AttachmentDescription2::default()
        .format(FORMAT)
        .samples(samples)
        .load_op(vk::AttachmentLoadOp::DONT_CARE)
        .initial_layout(vk::ImageLayout::UNDEFINED)
        .final_layout(vk::ImageLayout::GENERAL)
}

/// In dynamic rendering, which loads contents that were never written, and in a render pass of two subpasses. The draw is the mistake, once in each;
/// the second subpass and the end are never recorded.
#[test]
fn a_draw_reaches_an_attachment_that_is_not_bound() {
    on_every_profile(&DYNAMIC, |suite| {
        let view = suite.tile_target();
        let device = &suite.device;
        let dynamic = commands_of!(suite, khr::dynamic_rendering);
        let pipeline = suite.pipeline(vk::RenderPass::null());
        let targets = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(OPTIMAL)];
        let info = rendering_to(&targets, SIDE);
        let commands = suite.begin();
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: Recording; wrong on purpose, and never submitted; so below.
        suite.expect(&[], |_| unsafe {
            dynamic.cmd_begin_rendering(commands, &info);
            device.cmd_bind_pipeline(commands, graphics, pipeline);
        });
        suite.draw_wrong(commands);
        // The emulator does not see a draw that validation stops.
        let undrawn = &["TILEHEAP-attachment-unbound"][..usize::from(suite.stops())];
        // SAFETY: As above.
        suite.expect(undrawn, |_| unsafe { dynamic.cmd_end_rendering(commands) });

        let references = [vk::AttachmentReference2::default().layout(vk::ImageLayout::GENERAL)];
        let subpasses = [vk::SubpassDescription2::default().color_attachments(&references); 2];
        let attachments = [attachment(vk::SampleCountFlags::TYPE_1)];
        let info = vk::RenderPassCreateInfo2::default().attachments(&attachments);
        let pass = suite.create(&info.subpasses(&subpasses));
        let pipeline = suite.pipeline(pass);
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(suite.create(&framebuffer_info(pass, &[view], SIDE)))
            .render_area(area(SIDE, SIDE));
        // SAFETY: As above.
        suite.expect(&[], |_| unsafe {
            device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(commands, graphics, pipeline);
        });
        suite.draw_wrong(commands);
    });
}

/// Half the size of the primary's, inherited after another structure of the chain.
#[test]
fn a_secondary_inherits_another_size() {
    on_every_profile(&DYNAMIC, |suite| {
        let view = suite.target(vk::SampleCountFlags::TYPE_1);
        let dynamic = commands_of!(suite, khr::dynamic_rendering);
        let memory_type = suite.tile_type_of(u32::MAX, 1024);
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
            .image_layout(OPTIMAL)];
        let info = rendering_to(&targets, SIDE).flags(contents);
        let commands = suite.begin();
        // SAFETY: As above.
        suite.expect(&[], |_| unsafe {
            suite.bind(commands, Some(large));
            dynamic.cmd_begin_rendering(commands, &info);
        });
        // SAFETY: Wrong on purpose, and never submitted.
        suite.expect(&["VUID-vkCmdExecuteCommands-memory-10724"], |device| unsafe {
            device.cmd_execute_commands(commands, &[secondary]);
        });
    });
}

/// By dynamic rendering, by a framebuffer with views, and by an imageless one.
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
            .image_layout(OPTIMAL)
            .resolve_mode(vk::ResolveModeFlags::AVERAGE)
            .resolve_image_layout(vk::ImageLayout::GENERAL)
            .resolve_image_view(views[1])];
        let info = rendering_to(&targets, 1);
        let commands = suite.begin();
        let expected = ["VUID-VkRenderingAttachmentInfo-resolveImageView-10728"];
        // SAFETY: Recording; wrong on purpose, and never submitted; so below.
        suite.expect(&expected, |_| unsafe {
            dynamic.cmd_begin_rendering(commands, &info)
        });
        // SAFETY: As above; if the call was stopped, no pass has begun.
        suite.expect(&[], |device| unsafe {
            if !suite.stops() {
                dynamic.cmd_end_rendering(commands);
            }
            device.end_command_buffer(commands).expect("recorded");
        });

        let general = vk::AttachmentReference2::default().layout(vk::ImageLayout::GENERAL);
        let [colors, resolves] = [0, 1].map(|index| [general.attachment(index)]);
        let subpasses = [vk::SubpassDescription2::default()
            .color_attachments(&colors)
            .resolve_attachments(&resolves)];
        let attachments = [attachment(samples), attachment(vk::SampleCountFlags::TYPE_1)];
        let info = vk::RenderPassCreateInfo2::default().attachments(&attachments);
        let pass = suite.create(&info.subpasses(&subpasses));
        let info = framebuffer_info(pass, &views, SIDE);
        suite.create_wrong(&info, &["VUID-VkFramebufferCreateInfo-pAttachments-12327"]);

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
        let info = info
            .flags(vk::FramebufferCreateFlags::IMAGELESS)
            .push_next(&mut later);
        let framebuffer = suite.create(&info);
        let mut given = vk::RenderPassAttachmentBeginInfo::default().attachments(&views);
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(area(SIDE, SIDE))
            .push_next(&mut given);
        let commands = suite.begin();
        let expected = ["VUID-VkRenderPassBeginInfo-framebuffer-12328"];
        // SAFETY: Recording; wrong on purpose, and never submitted.
        suite.expect(&expected, |device| unsafe {
            device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
        });
    });
}
