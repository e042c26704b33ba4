//! The buffer through which textures move, and the lists of the moves of a frame.

use ash::vk;

use super::image::BoundImage;
use crate::{Result, TextureId};
use tileheap::runtime::Device;
use tileheap::runtime::objects::{VkResultExt, allocate_memory};
use tileheap::units::Bytes;

/// A texture that moves, with its new image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) texture: TextureId,
    pub(super) live: BoundImage,
    /// Index of its first region in `out` and `back`.
    pub(super) first: usize,
}

/// The buffer, and lists that a frame fills.
pub(super) struct MoveBuffer {
    pub(super) buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    pub(super) size: u64,
    /// Textures whose image differs from the policy in offset or level.
    pub(super) listed: Vec<TextureId>,
    pub(super) arrivals: Vec<Arrival>,
    pub(super) leaving: Vec<vk::ImageMemoryBarrier<'static>>,
    /// Regions of the buffer, by levels of the old images and of the new ones.
    pub(super) out: Vec<vk::BufferImageCopy>,
    pub(super) back: Vec<vk::BufferImageCopy>,
}

impl MoveBuffer {
    /// No buffer, for policies that do not relocate.
    pub(super) fn none() -> MoveBuffer {
        MoveBuffer {
            buffer: vk::Buffer::null(),
            memory: vk::DeviceMemory::null(),
            size: 0,
            listed: Vec::new(),
            arrivals: Vec::new(),
            leaving: Vec::new(),
            out: Vec::new(),
            back: Vec::new(),
        }
    }

    /// Creates the buffer. [`destroy`](MoveBuffer::destroy) also destroys what exists after an error.
    pub(super) fn make(&mut self, device: &Device, size: Bytes) -> Result<()> {
        let (raw, what) = (device.raw(), || format!("a buffer of {size} for moves"));
        let info = vk::BufferCreateInfo::default()
            .size(size.0)
            .usage(vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST);
        // SAFETY: the size is not 0.
        self.buffer = unsafe { raw.create_buffer(&info, None) }.with_call("vkCreateBuffer", what)?;
        // SAFETY: just created.
        let needs = unsafe { raw.get_buffer_memory_requirements(self.buffer) };
        let profile = device.profile();
        let allowed = needs.memory_type_bits & profile.ordinary_type_bits();
        let local = profile.type_bits(|kind| kind.flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL));
        let preferred = if allowed & local == 0 {
            allowed
        } else {
            allowed & local
        };
        let memory_type = preferred.trailing_zeros();
        // SAFETY: a type that the buffer can be bound to, and the size that it requires.
        self.memory = unsafe { allocate_memory(raw, Bytes(needs.size), memory_type, &what()) }?;
        // SAFETY: of the size and type that the buffer requires, and both are new.
        unsafe { raw.bind_buffer_memory(self.buffer, self.memory, 0) }
            .with_call("vkBindBufferMemory", what)?;
        self.size = size.0;
        Ok(())
    }

    /// Number of moves of this frame.
    pub(super) fn count(&self) -> usize {
        self.arrivals.len()
    }

    /// Reserves for moves of all textures, so that frames do not allocate.
    pub(super) fn reserve(&mut self, textures: usize) {
        if self.size > 0 {
            self.listed.reserve(textures - self.listed.len());
        }
    }

    /// # Safety
    /// The device does not use it any more.
    pub(super) unsafe fn destroy(&mut self, device: &ash::Device) {
        // SAFETY: the caller's duty; null is ignored.
        unsafe { device.destroy_buffer(self.buffer, None) };
        // SAFETY: nothing is bound to it any more.
        unsafe { device.free_memory(self.memory, None) };
        *self = MoveBuffer::none();
    }
}
