//! What the renderer owns at every step: the picture and where it is read back to, the scene, command buffers.

use ash::vk;

use crate::scene::{self, Constants};
use crate::support::commands::command_buffers;
use crate::support::error::{Called, Result};
use crate::support::memory::{Allocator, HostBuffer, Image, PICTURE_USAGE};
use crate::support::picture::Rendered;

pub(crate) const PICTURE: vk::Format = vk::Format::R8G8B8A8_UNORM;

pub(crate) struct Resources {
    device: ash::Device,
    pub(crate) extent: vk::Extent2D,
    pub(crate) picture: Image,
    pub(crate) texels: HostBuffer,
    pub(crate) vertices: HostBuffer,
    pub(crate) vertex_count: u32,
    pub(crate) constants: HostBuffer,
    pool: vk::CommandPool,
    /// For the shadow maps, and for what is seen.
    pub(crate) commands: [vk::CommandBuffer; 2],
}

impl Resources {
    pub(crate) fn new(
        device: &ash::Device,
        memory: Allocator<'_>,
        family: u32,
        extent: vk::Extent2D,
    ) -> Result<Resources> {
        let scene = scene::vertices();
        let size = size_of::<Constants>() as u64;
        let (pool, commands) = command_buffers(device, family)?;
        Ok(Resources {
            device: device.clone(),
            extent,
            picture: Image::new(memory, PICTURE, extent, PICTURE_USAGE)?,
            texels: HostBuffer::for_texels(memory, extent)?,
            vertices: HostBuffer::holding(memory, &scene, vk::BufferUsageFlags::VERTEX_BUFFER)?,
            vertex_count: scene.len() as u32,
            constants: HostBuffer::new(memory, size, vk::BufferUsageFlags::UNIFORM_BUFFER)?,
            pool,
            commands,
        })
    }

    /// Writes a frame's constants and resets the command buffers: the frame before was waited for.
    pub(crate) fn begin(&mut self, frame: u32) -> Result<()> {
        let constants = Constants::of(frame, self.extent);
        self.constants
            .bytes()
            .copy_from_slice(bytemuck::bytes_of(&constants));
        // SAFETY: the frame before was waited for.
        unsafe {
            self.device
                .reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())
        }
        .called("vkResetCommandPool")
    }

    /// What the last frame rendered: it was waited for.
    pub(crate) fn rendered(&mut self) -> Rendered {
        Rendered {
            extent: self.extent,
            texels: self.texels.bytes().to_vec(),
        }
    }

    /// # Safety
    /// The device does not use it any more.
    pub(crate) unsafe fn destroy(&self) {
        let device = &self.device;
        // SAFETY: the caller's duty.
        unsafe {
            device.destroy_command_pool(self.pool, None);
            self.picture.destroy(device);
            for buffer in [&self.texels, &self.vertices, &self.constants] {
                buffer.destroy(device);
            }
        }
    }
}
