//! Objects that were removed from the pool and are destroyed after its lock is released.

use ash::vk;

use super::device_state::DeviceState;
use super::memory::MemoryBlock;
use crate::units::Bytes;

/// Objects without any references.
///
/// Order of destruction: framebuffers, views, buffers, images, memory.
#[derive(Default)]
pub(super) struct Garbage {
    pub(super) framebuffers: Vec<vk::Framebuffer>,
    pub(super) views: Vec<vk::ImageView>,
    pub(super) buffers: Vec<vk::Buffer>,
    pub(super) images: Vec<vk::Image>,
    pub(super) blocks: Vec<MemoryBlock>,
    /// The bytes of `blocks` that count toward the pool's budget.
    pub(super) bytes: Bytes,
}

impl Garbage {
    /// Destroys everything, and only then returns the bytes to the budget, so that allocations never exceed it.
    ///
    /// # Safety
    /// None of it is in use on the device.
    pub(super) unsafe fn destroy(self, state: &DeviceState) {
        let device = &state.device;
        for framebuffer in self.framebuffers {
            // SAFETY: the caller's duty; the pool, which was its only owner, has removed it.
            unsafe { device.destroy_framebuffer(framebuffer, None) };
        }
        for view in self.views {
            // SAFETY: as above; its framebuffers are destroyed.
            unsafe { device.destroy_image_view(view, None) };
        }
        for buffer in self.buffers {
            // SAFETY: as for framebuffers.
            unsafe { device.destroy_buffer(buffer, None) };
        }
        for image in self.images {
            // SAFETY: as for framebuffers; its views are destroyed.
            unsafe { device.destroy_image(image, None) };
        }
        for block in self.blocks {
            // SAFETY: the caller's duty; everything that was bound to it is destroyed.
            unsafe { state.memory.free(device, block) };
        }
        if self.bytes > Bytes::ZERO {
            state.pool.lock().budget.release(self.bytes);
        }
    }
}
