//! Resources that the renderer owns in every step: the picture and its readback buffer, the scene, command buffers.

use ash::vk;

use crate::scene::{self, Constants};
use crate::support::commands::command_buffers;
use crate::support::error::{Called, Result};
use crate::support::memory::{Allocator, HostBuffer};
use crate::support::picture::Canvas;

pub(crate) struct Resources {
    device: ash::Device,
    pub(crate) canvas: Canvas,
    pub(crate) vertices: HostBuffer,
    pub(crate) vertex_count: u32,
    pub(crate) constants: HostBuffer,
    pool: vk::CommandPool,
    /// Command buffers: one for depth passes, one for visible output.
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
            canvas: Canvas::new(memory, extent)?,
            vertices: HostBuffer::holding(memory, &scene, vk::BufferUsageFlags::VERTEX_BUFFER)?,
            vertex_count: scene.len() as u32,
            constants: HostBuffer::new(memory, size, vk::BufferUsageFlags::UNIFORM_BUFFER)?,
            pool,
            commands,
        })
    }

    /// Writes a frame's constants and resets the command buffers; the previous frame must be complete.
    pub(crate) fn begin(&mut self, frame: u32) -> Result<()> {
        let constants = Constants::of(frame, self.canvas.extent);
        self.constants
            .bytes()
            .copy_from_slice(bytemuck::bytes_of(&constants));
        // SAFETY: the previous frame is complete.
        unsafe {
            self.device
                .reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())
        }
        .called("vkResetCommandPool")
    }

    /// # Safety
    /// The device no longer uses it.
    pub(crate) unsafe fn destroy(&self) {
        let device = &self.device;
        // SAFETY: the caller's duty.
        unsafe {
            device.destroy_command_pool(self.pool, None);
            self.canvas.destroy(device);
            self.vertices.destroy(device);
            self.constants.destroy(device);
        }
    }
}
