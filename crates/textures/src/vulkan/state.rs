//! The objects of a cache, and their destruction.

use std::fmt;

use ash::vk;

use super::commands::BarrierLists;
use super::image::{Images, Texture};
use super::move_buffer::MoveBuffer;
use super::shape::{Shape, unsupported};
use super::staging::Staging;
use super::transfer::Transfer;
use crate::Result;
use crate::limiter::UploadLimiter;
use crate::{ChainId, Level, TextureId, Textures};
use tileheap::runtime::Device;
use tileheap::runtime::objects::{OwnedObjects, allocate_memory};
use tileheap::units::Bytes;

/// The state of a texture.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CachedTexture {
    pub(super) chain: ChainId,
    /// Offset and level by the policy.
    pub(super) place: Option<(u64, Level)>,
    /// Its image; none before it is uploaded.
    pub(super) live: Option<Texture>,
    /// Whether it is in `pending_uploads`.
    pub(super) listed: bool,
    /// Whether it is in the list of moves.
    pub(super) moving: bool,
}

/// Streamed textures in device memory; see the [module](super).
pub struct TextureCache {
    pub(super) device: Device,
    pub(super) shapes: Vec<Shape>,
    pub(super) textures: Textures,
    pub(super) levelled: UploadLimiter,
    pub(super) cached: Vec<CachedTexture>,
    pub(super) images: Images,
    pub(super) staging: Staging,
    /// Buffers of `staging` and `moves`.
    pub(super) owned: OwnedObjects,
    pub(super) transfer: Option<Transfer>,
    pub(super) moves: MoveBuffer,
    pub(super) memory: vk::DeviceMemory,
    pub(super) memory_type: u32,
    /// Former allocations, which the next recorded frame copies from.
    pub(super) former: Vec<vk::DeviceMemory>,
    pub(super) budget: Bytes,
    pub(super) limits: (Bytes, Bytes),
    pub(super) budget_extension: bool,
    pub(super) reader_stages: vk::PipelineStageFlags,
    pub(super) frame: u64,
    pub(super) complete: u64,
    /// Placed, and not uploaded yet.
    pub(super) pending_uploads: Vec<TextureId>,
    pub(super) changed: Vec<TextureId>,
    pub(super) lists: BarrierLists,
    pub(super) destroyed: bool,
}

impl TextureCache {
    /// Allocates memory for the whole cache.
    pub(super) fn allocate(&self, budget: Bytes) -> Result<vk::DeviceMemory> {
        let profile = self.device.profile();
        let heap = &profile.heaps[profile.memory_types[self.memory_type as usize].heap as usize];
        if budget > heap.size {
            let why = format!("its memory heap has {}", heap.size);
            return Err(unsupported(format!("a texture cache of {budget}"), why));
        }
        // SAFETY: a type of the device, and not above its heap.
        Ok(unsafe { allocate_memory(self.device.raw(), budget, self.memory_type, "a texture cache") }?)
    }

    /// # Safety
    /// None of its objects is in use.
    pub(super) unsafe fn destroy_all(&mut self) {
        let device = self.device.raw();
        for entry in &mut self.cached {
            if let Some(live) = entry.live.take() {
                // SAFETY: the caller's duty.
                unsafe { self.images.destroy(device, live) };
            }
        }
        // SAFETY: the caller's duty.
        unsafe { self.images.destroy_all(device) };
        // SAFETY: as above.
        unsafe { self.owned.destroy() };
        if let Some(transfer) = &mut self.transfer {
            // SAFETY: as above.
            unsafe { transfer.destroy(device) };
        }
        for memory in self.former.drain(..).chain([self.memory]) {
            // SAFETY: no image is bound to it any more; null is ignored.
            unsafe { device.free_memory(memory, None) };
        }
        self.destroyed = true;
    }
}

impl fmt::Debug for TextureCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextureCache")
            .field("budget", &self.budget)
            .field("frame", &self.frame)
            .finish_non_exhaustive()
    }
}

impl Drop for TextureCache {
    fn drop(&mut self) {
        if !self.destroyed {
            tracing::warn!("TextureCache dropped without TextureCache::destroy: its images and memory leak");
        }
    }
}
