//! A renderer on a planned frame.

use ash::vk;
use tileheap::frame::tables::Version;
use tileheap::plan::PlanOptions;
use tileheap::runtime::import::{ImportedBuffer, ImportedImage};
use tileheap::runtime::{BoundFrame, Imports, Parity};

use super::frame::{Forward, describe};
use super::gpu::{Buffer, Gpu, Image, copy_picture};
use crate::drawing::{Drawing, Inputs, PICTURE};
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
    forward: Forward,
    bound: BoundFrame,
    picture: Image,
    texels: Buffer,
    vertices: Buffer,
    constants: Buffer,
    drawing: Drawing,
    pool: vk::CommandPool,
    /// For the shadow maps, and for what is seen.
    commands: [vk::CommandBuffer; 2],
}

impl Renderer {
    fn new(extent: vk::Extent2D) -> Result<Renderer> {
        let gpu = Gpu::new()?;
        let forward = describe(extent)?;
        let plan = gpu.tile.plan(&forward.frame, &PlanOptions::default())?;
        println!("{plan}");
        let bound = gpu.tile.bind(&plan)?;
        let picture = gpu.image(
            PICTURE,
            extent,
            vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC,
        )?;
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
        let input = |pass, resource| {
            let image = bound.image_in(pass, resource, Version::Current, Parity::Even);
            (image.view, bound.layout_in(pass, resource, Version::Current))
        };
        let inputs = Inputs {
            sun: input(forward.forward, forward.sun),
            lamp: input(forward.forward, forward.lamp),
            hdr: input(forward.tone_map, forward.hdr),
        };
        let drawing = Drawing::new(
            &gpu.device,
            vertices.handle,
            scene.len() as u32,
            constants.handle,
            &inputs,
        )?;
        let (pool, commands) = gpu.command_buffers()?;
        Ok(Renderer {
            gpu,
            extent,
            forward,
            bound,
            picture,
            texels,
            vertices,
            constants,
            drawing,
            pool,
            commands,
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
        let images = [ImportedImage {
            resource: self.forward.picture,
            image: self.picture.handle,
            view: self.picture.view,
        }];
        let buffers = [ImportedBuffer {
            resource: self.forward.texels,
            buffer: self.texels.imported(),
        }];
        let imports = Imports {
            images: &images,
            buffers: &buffers,
            ..Imports::default()
        };
        let (forward, extent) = (&self.forward, self.extent);
        // SAFETY: picture and buffer are as declared, and outlive the frame.
        let recorder = unsafe { self.bound.begin(&imports) }?;

        // SAFETY: its pool was reset, and it is used again after this frame only.
        let mut shadows = unsafe { recorder.record(self.commands[0], forward.commands[0]) }?;
        for (light, pass) in forward.shadows.into_iter().enumerate() {
            shadows.pass(pass, |cmd| {
                self.drawing.shadow(cmd.command_buffer(), light as u32)
            })?;
        }
        shadows.finish()?;

        // SAFETY: as above.
        let mut seen = unsafe { recorder.record(self.commands[1], forward.commands[1]) }?;
        seen.pass(forward.forward, |cmd| {
            self.drawing.forward(cmd.command_buffer(), extent)
        })?;
        seen.pass(forward.tone_map, |cmd| {
            self.drawing.tone_map(cmd.command_buffer(), extent)
        })?;
        seen.pass(forward.read_back, |cmd| {
            let (from, to) = (self.picture.handle, self.texels.handle);
            copy_picture(device, cmd.command_buffer(), from, to, extent);
        })?;
        seen.finish()?;

        // SAFETY: this thread alone uses the queue.
        let number = unsafe { recorder.submit() }?;
        self.bound.wait(number, u64::MAX)?;
        Ok(())
    }

    /// # Safety
    /// No frame is under way.
    unsafe fn destroy(self) {
        let device = &self.gpu.device;
        // SAFETY: the caller's duty; users go before what they use.
        unsafe {
            device.destroy_command_pool(self.pool, None);
            self.drawing.destroy();
            self.bound.destroy();
            self.picture.destroy(device);
            for buffer in [self.texels, self.vertices, self.constants] {
                buffer.destroy(device);
            }
            self.gpu.destroy();
        }
    }
}
