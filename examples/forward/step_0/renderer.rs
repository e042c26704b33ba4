//! A renderer with its own memory, barriers and submissions.

use ash::vk;

use super::encoder::{
    COLOR_TARGET, COPIED, DEPTH_TARGET, Encoder, FAR, NOTHING, SAMPLED, attachment, submit,
};
use super::gpu::Gpu;
use crate::drawing::{DEPTH, Drawing, HDR, Inputs, SHADOW, SHADOW_EXTENT};
use crate::resources::Resources;
use crate::scene::SKY;
use crate::support::commands::whole;
use crate::support::error::{Called, Result};
use crate::support::memory::Image;
use crate::support::output::Output;
use crate::support::picture::Rendered;
use crate::support::pipeline::plain_target;

/// Renders `frames` frames, one after the other; returns the last one's picture.
pub(crate) fn render(extent: vk::Extent2D, frames: u32) -> Result<Rendered> {
    let mut renderer = Renderer::new(extent)?;
    (0..frames).try_for_each(|frame| renderer.draw(frame))?;
    Ok(renderer.finish())
}

struct Renderer {
    gpu: Gpu,
    resources: Resources,
    sun: Image,
    lamp: Image,
    depth: Image,
    hdr: Image,
    drawing: Drawing,
    done: vk::Fence,
}

impl Renderer {
    fn new(extent: vk::Extent2D) -> Result<Renderer> {
        let gpu = Gpu::new()?;
        let memory = gpu.memory();
        let resources = Resources::new(&gpu.device, memory, gpu.machine.family, extent)?;
        let (depth_target, color_target) = (
            vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
            vk::ImageUsageFlags::COLOR_ATTACHMENT,
        );
        let sampled = vk::ImageUsageFlags::SAMPLED;
        let sun = Image::new(memory, SHADOW, SHADOW_EXTENT, depth_target | sampled)?;
        let lamp = Image::new(memory, SHADOW, SHADOW_EXTENT, depth_target | sampled)?;
        let depth = Image::new(memory, DEPTH, extent, depth_target)?;
        let hdr = Image::new(memory, HDR, extent, color_target | sampled)?;
        let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        let inputs = Inputs {
            sun: (sun.view, layout),
            lamp: (lamp.view, layout),
            hdr: (hdr.view, layout),
        };
        let targets = [
            plain_target(None, DEPTH),
            plain_target(None, SHADOW),
            plain_target(Some(HDR), DEPTH),
            plain_target(Some(Output::Buffer.format()), vk::Format::UNDEFINED),
        ];
        let drawing = Drawing::new(&gpu.device, &resources, &[inputs], targets.each_ref())?;
        // SAFETY: the description is complete.
        let done = unsafe { gpu.device.create_fence(&vk::FenceCreateInfo::default(), None) }
            .called("vkCreateFence")?;
        Ok(Renderer {
            gpu,
            resources,
            sun,
            lamp,
            depth,
            hdr,
            drawing,
            done,
        })
    }

    /// Draws a frame and waits for it.
    fn draw(&mut self, frame: u32) -> Result<()> {
        self.resources.begin(frame)?;
        let (drawing, resources) = (&self.drawing, &self.resources);
        let (device, extent) = (&self.gpu.device, resources.canvas.extent);

        let depths = Encoder::begin(device, resources.commands[0])?;
        for (view, map, extent, then) in [
            (0, &self.depth, extent, DEPTH_TARGET),
            (1, &self.sun, SHADOW_EXTENT, SAMPLED),
            (2, &self.lamp, SHADOW_EXTENT, SAMPLED),
        ] {
            depths.transition(map, NOTHING, DEPTH_TARGET);
            let target = attachment(map, vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL, FAR);
            depths.pass(extent, &[], Some(&target), |commands| {
                drawing.depth(commands, whole(extent), view)
            });
            depths.transition(map, DEPTH_TARGET, then);
        }
        depths.end()?;

        let seen = Encoder::begin(device, resources.commands[1])?;
        seen.transition(&self.hdr, NOTHING, COLOR_TARGET);
        let [r, g, b] = SKY.to_array();
        let sky = vk::ClearValue {
            color: vk::ClearColorValue {
                float32: [r, g, b, 1.0],
            },
        };
        let hdr = attachment(&self.hdr, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL, sky);
        let depth = attachment(&self.depth, vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL, FAR)
            .load_op(vk::AttachmentLoadOp::LOAD)
            .store_op(vk::AttachmentStoreOp::DONT_CARE);
        seen.pass(extent, &[hdr], Some(&depth), |commands| {
            drawing.forward(commands, whole(extent))
        });
        seen.transition(&self.hdr, COLOR_TARGET, SAMPLED);

        let picture = &resources.canvas.picture;
        seen.transition(picture, NOTHING, COLOR_TARGET);
        let target = attachment(picture, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL, FAR)
            .load_op(vk::AttachmentLoadOp::DONT_CARE);
        seen.pass(extent, &[target], None, |commands| {
            drawing.tone_map(commands, whole(extent), 0, [0; 2])
        });
        seen.transition(picture, COLOR_TARGET, COPIED);
        seen.read_back(&resources.canvas);
        seen.end()?;

        submit(&self.gpu, &resources.commands, self.done)
    }

    /// Returns the picture; every frame must be complete.
    fn finish(mut self) -> Rendered {
        let rendered = self.resources.canvas.rendered();
        let device = &self.gpu.device;
        // SAFETY: no frame is in flight; objects are destroyed before the objects that they use.
        unsafe {
            device.destroy_fence(self.done, None);
            self.drawing.destroy();
            for image in [self.sun, self.lamp, self.depth, self.hdr] {
                image.destroy(device);
            }
            self.resources.destroy();
            self.gpu.destroy();
        }
        rendered
    }
}
