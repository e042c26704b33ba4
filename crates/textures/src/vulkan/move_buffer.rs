//! The buffer through which textures move, and the lists of the moves of a frame.

use ash::vk;

use super::image::Texture;
use super::staging::create_buffer;
use crate::{Result, TextureId};
use tileheap::runtime::Device;
use tileheap::runtime::objects::OwnedObjects;
use tileheap::units::Bytes;

/// A texture that moves, with its new image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) texture: TextureId,
    pub(super) live: Texture,
    /// Index of its first region in `out` and `back`.
    pub(super) first: usize,
}

/// The buffer (none for policies that do not relocate), and lists that a frame fills.
#[derive(Default)]
pub(super) struct MoveBuffer {
    pub(super) buffer: vk::Buffer,
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
    /// Creates the buffer.
    pub(super) fn make(&mut self, device: &Device, owned: &mut OwnedObjects, size: Bytes) -> Result<()> {
        let name = format!("a buffer of {size} for moves");
        let info = vk::BufferCreateInfo::default()
            .size(size.0)
            .usage(vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST);
        let types = device.profile().ordinary_type_bits();
        // SAFETY: the size is not 0.
        self.buffer = unsafe { create_buffer(device, owned, &name, &info, types) }?.0;
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
}
