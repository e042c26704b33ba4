//! A renderer with memory, barriers and submissions of its own.

use ash::vk;
use tileheap::plan::PlanOptions;

use super::frame::describe;
use super::gpu::{Buffer, COLOR_TARGET, COPIED, DEPTH_TARGET, FAR, Gpu, Image, NOTHING, SAMPLED, attachment};
use crate::drawing::{DEPTH, Drawing, HDR, Inputs, PICTURE, SHADOW, SHADOW_EXTENT};
use crate::scene::{self, Constants};
use crate::support::error::{Called, Result};
use crate::support::picture::Rendered;

/// Renders so many frames, one after the other; the last one's picture.
pub(crate) fn render(extent: vk::Extent2D, frames: u32) -> Result<Rendered> {
    let mut renderer = Renderer::new(extent)?;
    for frame in 0..frames {
        renderer.draw(frame)?;
    }
    let texels = renderer.texels.bytes().to_vec();
    // SAFETY: every frame was waited for.
    unsafe { renderer.destroy() };
    Ok(Rendered { extent, texels })
}

struct Renderer {
    gpu: Gpu,
    extent: vk::Extent2D,
    sun: Image,
    lamp: Image,
    depth: Image,
    hdr: Image,
    picture: Image,
    texels: Buffer,
    vertices: Buffer,
    constants: Buffer,
    drawing: Drawing,
    pool: vk::CommandPool,
    /// For the shadow maps, and for what is seen.
    commands: [vk::CommandBuffer; 2],
    done: vk::Fence,
}

impl Renderer {
    fn new(extent: vk::Extent2D) -> Result<Renderer> {
        let gpu = Gpu::new()?;
        let plan = gpu.tile.plan(&describe(extent)?.frame, &PlanOptions::default())?;
        println!("{plan}");

        let (depth_target, color_target) = (
            vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
            vk::ImageUsageFlags::COLOR_ATTACHMENT,
        );
        let sampled = vk::ImageUsageFlags::SAMPLED;
        let sun = gpu.image(SHADOW, SHADOW_EXTENT, depth_target | sampled)?;
        let lamp = gpu.image(SHADOW, SHADOW_EXTENT, depth_target | sampled)?;
        let depth = gpu.image(DEPTH, extent, depth_target)?;
        let hdr = gpu.image(HDR, extent, color_target | sampled)?;
        let picture = gpu.image(PICTURE, extent, color_target | vk::ImageUsageFlags::TRANSFER_SRC)?;
        let size = u64::from(extent.width) * u64::from(extent.height) * 4;
        let texels = gpu.buffer(size, vk::BufferUsageFlags::TRANSFER_DST)?;

        let scene = scene::vertices();
        let bytes: &[u8] = bytemuck::cast_slice(&scene);
        let mut vertices = gpu.buffer(bytes.len() as u64, vk::BufferUsageFlags::VERTEX_BUFFER)?;
        vertices.bytes().copy_from_slice(bytes);
        let constants = gpu.buffer(
            size_of::<Constants>() as u64,
            vk::BufferUsageFlags::UNIFORM_BUFFER,
        )?;
        let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        let inputs = Inputs {
            sun: (sun.view, layout),
            lamp: (lamp.view, layout),
            hdr: (hdr.view, layout),
        };
        let drawing = Drawing::new(
            &gpu.device,
            vertices.handle,
            scene.len() as u32,
            constants.handle,
            &inputs,
        )?;
        let (pool, commands) = gpu.command_buffers()?;
        // SAFETY: the description is complete.
        let done = unsafe { gpu.device.create_fence(&vk::FenceCreateInfo::default(), None) }
            .called("vkCreateFence")?;
        Ok(Renderer {
            gpu,
            extent,
            sun,
            lamp,
            depth,
            hdr,
            picture,
            texels,
            vertices,
            constants,
            drawing,
            pool,
            commands,
            done,
        })
    }

    /// Draws a frame, and waits for it.
    fn draw(&mut self, frame: u32) -> Result<()> {
        let constants = Constants::of(frame, self.extent);
        self.constants
            .bytes()
            .copy_from_slice(bytemuck::bytes_of(&constants));
        let device = &self.gpu.device;
        // SAFETY: the frame before was waited for.
        unsafe { device.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()) }
            .called("vkResetCommandPool")?;
        let [shadows, seen] = self.commands;

        self.gpu.begin(shadows)?;
        for (light, map) in [&self.sun, &self.lamp].into_iter().enumerate() {
            self.gpu.transition(shadows, map, NOTHING, DEPTH_TARGET);
            let target = attachment(map, vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL, FAR);
            self.gpu.begin_pass(shadows, SHADOW_EXTENT, &[], Some(&target));
            self.drawing.shadow(shadows, light as u32);
            self.gpu.end_pass(shadows);
            self.gpu.transition(shadows, map, DEPTH_TARGET, SAMPLED);
        }
        self.gpu.end(shadows)?;

        self.gpu.begin(seen)?;
        self.gpu.transition(seen, &self.depth, NOTHING, DEPTH_TARGET);
        self.gpu.transition(seen, &self.hdr, NOTHING, COLOR_TARGET);
        let [r, g, b] = scene::SKY.to_array();
        let sky = vk::ClearValue {
            color: vk::ClearColorValue {
                float32: [r, g, b, 1.0],
            },
        };
        let hdr = attachment(&self.hdr, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL, sky);
        let depth = attachment(&self.depth, vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL, FAR)
            .store_op(vk::AttachmentStoreOp::DONT_CARE);
        self.gpu.begin_pass(seen, self.extent, &[hdr], Some(&depth));
        self.drawing.forward(seen, self.extent);
        self.gpu.end_pass(seen);
        self.gpu.transition(seen, &self.hdr, COLOR_TARGET, SAMPLED);

        self.gpu.transition(seen, &self.picture, NOTHING, COLOR_TARGET);
        let picture = attachment(&self.picture, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL, FAR)
            .load_op(vk::AttachmentLoadOp::DONT_CARE);
        self.gpu.begin_pass(seen, self.extent, &[picture], None);
        self.drawing.tone_map(seen, self.extent);
        self.gpu.end_pass(seen);
        self.gpu.transition(seen, &self.picture, COLOR_TARGET, COPIED);
        self.gpu.copy(seen, &self.picture, &self.texels, self.extent);
        self.gpu.end(seen)?;

        self.gpu.submit(&[shadows, seen], self.done)
    }

    /// # Safety
    /// No frame is under way.
    unsafe fn destroy(self) {
        let device = &self.gpu.device;
        // SAFETY: the caller's duty; users go before what they use.
        unsafe {
            device.destroy_fence(self.done, None);
            device.destroy_command_pool(self.pool, None);
            self.drawing.destroy();
            for image in [self.sun, self.lamp, self.depth, self.hdr, self.picture] {
                image.destroy(device);
            }
            for buffer in [self.texels, self.vertices, self.constants] {
                buffer.destroy(device);
            }
            self.gpu.destroy();
        }
    }
}
