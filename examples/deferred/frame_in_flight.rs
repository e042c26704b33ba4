//! What a frame under way needs for itself: command buffers, and the data that all its shaders see.

use std::mem::offset_of;

use ash::vk;
use tileheap::runtime::{Device, FrameNumber};

use crate::camera::Constants;
use crate::scene::{Instance, Light, MAX_LIGHTS, Scene};
use crate::support::commands::command_buffers;
use crate::support::descriptors::SetLayout;
use crate::support::error::{Called, Result};
use crate::support::memory::HostBuffer;

/// What a frame under way needs for itself.
pub(crate) struct FrameInFlight {
    pub(crate) pool: vk::CommandPool,
    /// For the frame's three command buffers.
    pub(crate) command_buffers: [vk::CommandBuffer; 3],
    /// [`Constants`], then lights, then instances, as [`SharedLayout`] says.
    pub(crate) data: HostBuffer,
    /// Set 0.
    pub(crate) shared: vk::DescriptorSet,
    /// The frame that uses the slot.
    pub(crate) pending: Option<Pending>,
}

/// A frame under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    /// The plan that it was recorded by: frames are counted for each.
    pub(crate) plan: u64,
    pub(crate) frame: FrameNumber,
}

/// The start of a slot's data; instances follow. No device asks for a larger alignment than 256.
#[repr(C, align(256))]
#[derive(Clone, Copy)]
struct SharedLayout {
    constants: Constants,
    padding: [u8; 512 - size_of::<Constants>()],
    lights: [Light; MAX_LIGHTS],
}

impl FrameInFlight {
    pub(crate) fn new(
        tile: &Device,
        family: u32,
        descriptors: vk::DescriptorPool,
        layout: &SetLayout,
        objects: usize,
    ) -> Result<FrameInFlight> {
        let device = tile.raw();
        let (pool, command_buffers) = command_buffers(device, family)?;
        let instances = (objects * size_of::<Instance>()) as vk::DeviceSize;
        let size = size_of::<SharedLayout>() as vk::DeviceSize + instances;
        let usage = vk::BufferUsageFlags::UNIFORM_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER;
        let data = HostBuffer::new(tile, size, usage)?;
        let shared = layout.allocate(device, descriptors)?;
        let parts = [
            (0, size_of::<Constants>()),
            (offset_of!(SharedLayout, lights), MAX_LIGHTS * size_of::<Light>()),
            (size_of::<SharedLayout>(), instances as usize),
        ];
        for (binding, (offset, range)) in (0..).zip(parts) {
            layout.write_buffer(
                device,
                shared,
                binding,
                data.handle,
                (offset as u64, range as u64),
            );
        }
        Ok(FrameInFlight {
            pool,
            command_buffers,
            data,
            shared,
            pending: None,
        })
    }

    /// Takes the slot for a frame: resets its command buffers and writes its data.
    pub(crate) fn begin(
        &mut self,
        device: &ash::Device,
        scene: &Scene,
        frame: u32,
        extent: vk::Extent2D,
    ) -> Result<()> {
        // SAFETY: the frame that used them is complete.
        unsafe { device.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()) }
            .called("vkResetCommandPool")?;
        let (start, instances) = self.data.bytes().split_at_mut(size_of::<SharedLayout>());
        let constants = Constants::of(frame, extent, scene.light_count());
        start[..size_of::<Constants>()].copy_from_slice(bytemuck::bytes_of(&constants));
        let lights = &mut start[offset_of!(SharedLayout, lights)..];
        scene.write(
            frame,
            bytemuck::cast_slice_mut(instances),
            bytemuck::cast_slice_mut(lights),
        );
        Ok(())
    }

    /// # Safety
    /// The slot's frame is complete.
    pub(crate) unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty; the pool frees its command buffers.
        unsafe {
            device.destroy_command_pool(self.pool, None);
            self.data.destroy(device);
        }
    }
}
