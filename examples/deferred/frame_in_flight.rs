//! Data of a frame in flight: command buffers, and a buffer that all its shaders read.

use std::mem::offset_of;

use ash::vk;

use crate::camera::Constants;
use crate::frame::inset;
use crate::scene::{Instance, Light, MAX_LIGHTS, Scene};
use crate::support::commands::command_buffers;
use crate::support::descriptors::SetLayout;
use crate::support::error::{Called, Result};
use crate::support::memory::{Allocator, HostBuffer};

/// Data of a frame in flight.
pub(crate) struct FrameInFlight {
    pub(crate) pool: vk::CommandPool,
    /// The frame's command buffers on the graphics queue.
    pub(crate) command_buffers: [vk::CommandBuffer; 4],
    /// The command buffer of the other queue, if there is one.
    other: Option<(vk::CommandPool, [vk::CommandBuffer; 1])>,
    /// [`Constants`] of each view, then lights, then instances, in the layout of [`SharedLayout`].
    pub(crate) data: HostBuffer,
    /// Set 0 of each view.
    pub(crate) shared: [vk::DescriptorSet; 2],
}

/// Bytes of a view's constants, padded to the offset of the next view's.
const CONSTANTS: usize = size_of::<Constants>().next_multiple_of(256);

/// The start of a slot's data; instances follow. No device requires an alignment above 256.
#[repr(C, align(256))]
#[derive(Clone, Copy)]
struct SharedLayout {
    constants: [[u8; CONSTANTS]; 2],
    lights: [Light; MAX_LIGHTS],
}

impl FrameInFlight {
    pub(crate) fn new(
        (device, memory): (&ash::Device, Allocator<'_>),
        family: u32,
        descriptors: vk::DescriptorPool,
        layout: &SetLayout,
        objects: usize,
    ) -> Result<FrameInFlight> {
        let (pool, command_buffers) = command_buffers(device, family)?;
        let instances = (objects * size_of::<Instance>()) as vk::DeviceSize;
        let size = size_of::<SharedLayout>() as vk::DeviceSize + instances;
        let usage = vk::BufferUsageFlags::UNIFORM_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER;
        let data = HostBuffer::new(memory, size, usage)?;
        let mut shared = [vk::DescriptorSet::null(); 2];
        for (view, set) in shared.iter_mut().enumerate() {
            *set = layout.allocate(device, descriptors)?;
            let parts = [
                (view * CONSTANTS, size_of::<Constants>()),
                (offset_of!(SharedLayout, lights), MAX_LIGHTS * size_of::<Light>()),
                (size_of::<SharedLayout>(), instances as usize),
            ];
            for (binding, (offset, range)) in (0..).zip(parts) {
                let part = (offset as u64, range as u64);
                layout.write_buffer(device, *set, binding, data.handle, part);
            }
        }
        Ok(FrameInFlight {
            pool,
            command_buffers,
            other: None,
            data,
            shared,
        })
    }

    /// Begins a frame in the slot: resets its command buffers and writes its data.
    pub(crate) fn begin(
        &mut self,
        device: &ash::Device,
        scene: &Scene,
        frame: u32,
        extent: vk::Extent2D,
    ) -> Result<()> {
        for pool in [self.pool].into_iter().chain(self.other.map(|other| other.0)) {
            // SAFETY: the frame that used it is complete.
            unsafe { device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) }
                .called("vkResetCommandPool")?;
        }
        let (start, instances) = self.data.bytes().split_at_mut(size_of::<SharedLayout>());
        for (view, extent) in [extent, inset(extent)].into_iter().enumerate() {
            let constants = Constants::of(frame, extent, scene.light_count(), view > 0);
            start[view * CONSTANTS..][..size_of::<Constants>()]
                .copy_from_slice(bytemuck::bytes_of(&constants));
        }
        let lights = &mut start[offset_of!(SharedLayout, lights)..];
        scene.write(
            frame,
            bytemuck::cast_slice_mut(instances),
            bytemuck::cast_slice_mut(lights),
        );
        Ok(())
    }

    /// The command buffer for a queue of another family.
    pub(crate) fn other(&mut self, device: &ash::Device, family: u32) -> Result<vk::CommandBuffer> {
        let other = match self.other {
            Some(other) => other,
            None => *self.other.insert(command_buffers(device, family)?),
        };
        Ok(other.1[0])
    }

    /// # Safety
    /// The slot's frame is complete.
    pub(crate) unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty; the pool frees its command buffers.
        unsafe {
            device.destroy_command_pool(self.pool, None);
            if let Some((pool, _)) = self.other {
                device.destroy_command_pool(pool, None);
            }
            self.data.destroy(device);
        }
    }
}
