//! Programs with resolves of single aspects, conditional rendering and images that interpret the same bytes in the same way.

use ash::vk;
use tileheap_testkit::objects::{area, framebuffer_info, image_info, view_info, whole_image};
use vk::{AccessFlags2 as A, ImageAspectFlags as Aspects, PipelineStageFlags2 as S};

use super::{COPIES, FILLED, Rig, SIDE};

const DEPTH: vk::Format = vk::Format::D32_SFLOAT_S8_UINT;
const BOTH: Aspects = Aspects::from_raw(Aspects::DEPTH.as_raw() | Aspects::STENCIL.as_raw());
/// Transitions to `GENERAL` before render passes.
const TESTS: (S, A) = (
    S::from_raw(
        S::EARLY_FRAGMENT_TESTS.as_raw()
            | S::LATE_FRAGMENT_TESTS.as_raw()
            | S::COLOR_ATTACHMENT_OUTPUT.as_raw(),
    ),
    A::from_raw(
        A::DEPTH_STENCIL_ATTACHMENT_READ.as_raw()
            | A::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw()
            | A::COLOR_ATTACHMENT_WRITE.as_raw(),
    ),
);
const RESOLVED: (S, A) = (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE);

/// The way to resolve depth.
#[derive(Clone, Copy, PartialEq)]
enum Resolve {
    /// Dynamic rendering with this attachment only.
    Depth,
    /// Dynamic rendering with depth and stencil, of which depth is resolved.
    DepthOfBoth,
    /// A render pass object with a resolve mode for depth only.
    RenderPass,
}

impl Rig {
    /// A multisampled image of depth and stencil, and one that receives its samples, with their views.
    fn depths(&self) -> [(vk::Image, vk::ImageView); 2] {
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        [vk::SampleCountFlags::TYPE_4, vk::SampleCountFlags::TYPE_1].map(|samples| {
            let info = image_info(DEPTH, SIDE, usage).samples(samples);
            let image = self.objects.image(&self.device, &info, u32::MAX);
            let view = self.objects.create(&self.device, &view_info(image, DEPTH, BOTH));
            (image, view)
        })
    }

    /// Makes the contents of an image undefined, and changes it to `GENERAL`.
    fn begin_general(&self, commands: vk::CommandBuffer, image: vk::Image, aspects: Aspects, dst: (S, A)) {
        let barriers = [vk::ImageMemoryBarrier2::default()
            .dst_stage_mask(dst.0)
            .dst_access_mask(dst.1)
            .new_layout(vk::ImageLayout::GENERAL)
            .image(image)
            .subresource_range(whole_image(aspects))];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        // SAFETY: Valid usage.
        unsafe { self.device.cmd_pipeline_barrier2(commands, &info) };
    }

    /// Copies an aspect of a whole image in `GENERAL` to a buffer.
    fn copy_aspect(&self, commands: vk::CommandBuffer, image: vk::Image, aspect: Aspects) {
        let layers = vk::ImageSubresourceLayers {
            aspect_mask: aspect,
            layer_count: 1,
            ..Default::default()
        };
        let extent = vk::Extent3D {
            width: SIDE,
            height: 8,
            depth: 1,
        };
        let regions = [vk::BufferImageCopy::default()
            .image_subresource(layers)
            .image_extent(extent)];
        let layout = vk::ImageLayout::GENERAL;
        // SAFETY: Valid usage, except for contents and order.
        unsafe {
            self.device
                .cmd_copy_image_to_buffer(commands, image, layout, self.other, &regions);
        };
    }

    /// Resolves depth, and reads an aspect of the result after a barrier.
    fn resolved(&self, resolve: Resolve, barrier: (S, A), aspect: Aspects) {
        let [(source, source_view), (target, target_view)] = self.depths();
        let general = vk::ImageLayout::GENERAL;
        let attached = |resolved: bool| {
            let one = vk::RenderingAttachmentInfo::default()
                .image_view(source_view)
                .image_layout(general)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::DONT_CARE);
            match resolved {
                true => one
                    .resolve_mode(vk::ResolveModeFlags::SAMPLE_ZERO)
                    .resolve_image_view(target_view)
                    .resolve_image_layout(general),
                false => one,
            }
        };
        let (depth, stencil) = (attached(true), attached(false));
        let info = vk::RenderingInfo::default()
            .render_area(area(SIDE, SIDE))
            .layer_count(1)
            .depth_attachment(&depth);
        let info = match resolve {
            Resolve::DepthOfBoth => info.stencil_attachment(&stencil),
            _ => info,
        };
        let (pass, framebuffer) = self.resolving_pass([source_view, target_view]);
        let clears = [vk::ClearValue::default(); 2];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(area(SIDE, SIDE))
            .clear_values(&clears);
        self.run(|commands| {
            for image in [source, target] {
                self.begin_general(commands, image, BOTH, TESTS);
            }
            // SAFETY: Valid usage.
            unsafe {
                match resolve {
                    Resolve::RenderPass => {
                        let contents = vk::SubpassContents::INLINE;
                        self.device.cmd_begin_render_pass(commands, &begin, contents);
                        self.device.cmd_end_render_pass(commands);
                    }
                    _ => {
                        self.device.cmd_begin_rendering(commands, &info);
                        self.device.cmd_end_rendering(commands);
                    }
                }
            }
            self.barrier(commands, barrier, COPIES);
            self.copy_aspect(commands, target, aspect);
        });
    }

    /// A render pass that resolves depth and not stencil.
    fn resolving_pass(&self, views: [vk::ImageView; 2]) -> (vk::RenderPass, vk::Framebuffer) {
        let general = vk::ImageLayout::GENERAL;
        let description = |samples, load, store| {
            vk::AttachmentDescription2::default()
                .format(DEPTH)
                .samples(samples)
                .load_op(load)
                .stencil_load_op(load)
                .store_op(store)
                .stencil_store_op(store)
                .initial_layout(general)
                .final_layout(general)
        };
        use vk::{AttachmentLoadOp as Load, AttachmentStoreOp as Store};
        let attachments = [
            description(vk::SampleCountFlags::TYPE_4, Load::CLEAR, Store::DONT_CARE),
            description(vk::SampleCountFlags::TYPE_1, Load::DONT_CARE, Store::STORE),
        ];
        let reference = |attachment| {
            vk::AttachmentReference2::default()
                .attachment(attachment)
                .layout(general)
                .aspect_mask(BOTH)
        };
        let [from, to] = [reference(0), reference(1)];
        let mut resolve = vk::SubpassDescriptionDepthStencilResolve::default()
            .depth_resolve_mode(vk::ResolveModeFlags::SAMPLE_ZERO)
            .stencil_resolve_mode(vk::ResolveModeFlags::NONE)
            .depth_stencil_resolve_attachment(&to);
        let subpasses = [vk::SubpassDescription2::default()
            .depth_stencil_attachment(&from)
            .push_next(&mut resolve)];
        let info = vk::RenderPassCreateInfo2::default()
            .attachments(&attachments)
            .subpasses(&subpasses);
        let pass = self.objects.create(&self.device, &info);
        let framebuffer = self
            .objects
            .create(&self.device, &framebuffer_info(pass, &views, SIDE));
        (pass, framebuffer)
    }

    /// Conditional rendering with a predicate that was filled, after this barrier.
    fn predicated(&self, instance: &ash::Instance, dst: (S, A)) {
        let conditional = ash::ext::conditional_rendering::Device::new(instance, &self.device);
        self.run(|commands| {
            self.fill(commands, self.predicate);
            self.barrier(commands, FILLED, dst);
            let info = vk::ConditionalRenderingBeginInfoEXT::default().buffer(self.predicate);
            // SAFETY: Valid usage.
            unsafe {
                (conditional.fp().cmd_begin_conditional_rendering_ext)(commands, &info);
                (conditional.fp().cmd_end_conditional_rendering_ext)(commands);
            }
        });
    }

    /// Two images that interpret the same bytes in the same way.
    fn aliases(&self) -> [vk::Image; 2] {
        let usage = vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC;
        let info = image_info(super::FORMAT, SIDE, usage).flags(vk::ImageCreateFlags::ALIAS);
        let first: vk::Image = self.objects.create(&self.device, &info);
        let second: vk::Image = self.objects.create(&self.device, &info);
        // SAFETY: New images with equal requirements.
        unsafe {
            let needs = self.device.get_image_memory_requirements(first);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(needs.memory_type_bits.trailing_zeros());
            let memory = self.objects.create(&self.device, &info);
            for image in [first, second] {
                self.device
                    .bind_image_memory(image, memory, 0)
                    .expect("bound memory");
            }
        }
        [first, second]
    }

    fn clear(&self, commands: vk::CommandBuffer, image: vk::Image) {
        let ranges = [whole_image(Aspects::COLOR)];
        let value = vk::ClearColorValue::default();
        let layout = vk::ImageLayout::GENERAL;
        // SAFETY: Valid usage, except for order.
        unsafe {
            self.device
                .cmd_clear_color_image(commands, image, layout, &value, &ranges);
        };
    }

    /// Writes an image, and reads another one that interprets the same bytes in the same way; the barriers are optional. `again` writes the other one before.
    fn through_alias(&self, is_ordered: bool, again: bool) {
        let [x, y] = self.aliases();
        self.run(|commands| {
            self.begin_general(commands, x, Aspects::COLOR, FILLED);
            if again {
                self.clear(commands, y);
                self.barrier(commands, FILLED, FILLED);
            }
            self.clear(commands, x);
            if is_ordered {
                self.barrier(commands, FILLED, COPIES);
            }
            self.copy_aspect(commands, y, Aspects::COLOR);
        });
    }
}

/// Runs a program of this module; returns false if there is none of this name.
pub(super) fn run(rig: &Rig, instance: &ash::Instance, name: &str) -> bool {
    match name {
        "depth resolve" => rig.resolved(Resolve::Depth, RESOLVED, Aspects::DEPTH),
        "depth resolve, barrier of tests" => {
            let tests = (S::LATE_FRAGMENT_TESTS, A::DEPTH_STENCIL_ATTACHMENT_WRITE);
            rig.resolved(Resolve::Depth, tests, Aspects::DEPTH);
        }
        "depth resolve of both" => rig.resolved(Resolve::DepthOfBoth, RESOLVED, Aspects::DEPTH),
        "depth resolve of a render pass" => {
            rig.resolved(Resolve::RenderPass, (TESTS.0, A::MEMORY_WRITE), Aspects::DEPTH)
        }
        "stencil that is not resolved" => {
            rig.resolved(Resolve::RenderPass, (TESTS.0, A::MEMORY_WRITE), Aspects::STENCIL)
        }
        "predicate" => rig.predicated(
            instance,
            (S::CONDITIONAL_RENDERING_EXT, A::CONDITIONAL_RENDERING_READ_EXT),
        ),
        "predicate, barrier of parameters" => {
            rig.predicated(instance, (S::DRAW_INDIRECT, A::INDIRECT_COMMAND_READ));
        }
        "image alias" => rig.through_alias(true, false),
        "image alias, no barrier" => rig.through_alias(false, false),
        "image alias, both written" => rig.through_alias(true, true),
        _ => return false,
    }
    true
}
